"""Scripts without spaces: characters are counted, alike by both verifiers, and by no label; other texts stay as they were."""

import json
import os
from pathlib import Path

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from penmark import text
from penmark.standalone import verify as alone

SHARED = Path(os.environ.get("PENMARK_SHARED", Path(__file__).parents[3] / "shared")) / "cases2"
ODD = "你好，。ーカなんﾊﾟกำไร้ກໍ່កម្ពុជាမြန်မာ༄བོད་ 々〇〡\U00020000\U0003ffff\u0dff\u0e00\u0f00aé1—–'\u0301\u200b \n\ufeff"


@settings(max_examples=300)
@given(st.text(st.sampled_from(ODD) | st.characters(codec="utf-8"), max_size=60))
def test_both_verifiers_find_the_same_words_by_both_rules(given_text: str) -> None:
    for rule, spaced in ((text.SPACED, True), (text.WORD_RULE, False)):
        assert text.list_words(given_text, rule) == alone.words_of(given_text, spaced)
        assert text.count_words(given_text, rule) == alone.count_words(given_text, spaced)


def test_the_closed_list_has_the_same_characters_in_both() -> None:
    for code in [*range(0xD800), *range(0xE000, 0x40010)]:
        char = chr(code)
        assert alone.lone(char) == (char.isalnum() and text._HAS_UNSPACED.match(char) is not None), hex(code)


@pytest.mark.parametrize(
    ("written", "count"),
    [
        ("今天天气很好。", 6),
        ("私はペンを持っています。", 11),
        ("我用iPhone打电话", 6),  # one word in letters that spaces part
        ("ภาษาไทย", 7),
        ("ກິນເຂົ້າ", 5),  # marks belong to their letters
        ("အမ်", 2),
        ("ភាសា", 2),
        ("Two words — and three, don’t-stop: 7", 6),
        ("한국어는 띄어쓰기를 한다", 3),  # Korean has spaces
    ],
)
def test_what_is_a_word(written: str, count: int) -> None:
    assert text.count_words(written) == count == len(text.list_words(written))


def test_one_character_changed_is_one_of_many() -> None:
    draft, edited = text.list_words("今天我去了村子。"), text.list_words("今天我去了村庄。")
    assert (text.count_changed_words(draft, edited), len(draft)) == (1, 7)
    assert text.count_changed_words(text.list_words("今天我去了村子。", text.SPACED), ["今天我去了村庄。"]) == 1


def test_a_script_that_no_rule_can_count_is_said_to_be_so() -> None:
    tibetan = "བོད་ཀྱི་སྐད་ཡིག་ནི་བོད་མིའི་སྐད་ཡིག་ཡིན།" * 20
    assert not text.countable(tibetan, text.count_words(tibetan))
    for counted in (
        "今天天气很好。" * 100,
        "Donaudampfschifffahrtsgesellschaft " * 50,
        "https://example.org/" + "a" * 300,
    ):
        assert text.countable(counted, text.count_words(counted))


@pytest.mark.skipif(not SHARED.is_dir(), reason="no shared cases here")
def test_essays_and_edits_of_languages_without_spaces() -> None:
    essays = [json.loads(line) for line in (SHARED / "essays-zh-ja.jsonl").read_text("utf-8").splitlines()]
    assert all(400 < text.count_words(each["text"]) < len(each["text"]) for each in essays)
    assert all(text.count_words(each["text"], text.SPACED) < 20 for each in essays)
    edits = [json.loads(line) for line in (SHARED / "edits-zh-ja.jsonl").read_text("utf-8").splitlines()]
    words = {each["id"]: tuple(text.list_words(each[side]) for side in ("draft", "text")) for each in edits}
    assert text.count_changed_words(*words["zh-one-char"]) == 1
    assert len(words["zh-one-char"][0]) > 100
