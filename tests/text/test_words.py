"""The word rule against a naive reading of its definition, and word edits against the textbook table."""

import difflib
import random
import unicodedata

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from penmark import text
from penmark.format import canonical_json

# Code points with the property White_Space (Unicode, PropList.txt).
WHITE_SPACE = {
    *range(0x09, 0x0E), 0x20, 0x85, 0xA0, 0x1680, *range(0x2000, 0x200B), 0x2028, 0x2029, 0x202F, 0x205F, 0x3000,
}  # fmt: skip


def naive(value: str) -> list[str]:
    """The definition, character by character."""
    found, run = [], ""
    for i, c in enumerate(value):
        between = 0 < i < len(value) - 1 and value[i - 1].isalpha() and value[i + 1].isalpha()
        if ord(c) in WHITE_SPACE or (c in "—–" and between):
            found.append(run)
            run = ""
        else:
            run += c
    return [run for run in [*found, run] if any(c.isalnum() for c in run)]


def table(before: list[str], after: list[str]) -> int:
    row = list(range(len(after) + 1))
    for i, a in enumerate(before, 1):
        new = [i]
        for j, b in enumerate(after, 1):
            new.append(min(row[j] + 1, new[-1] + 1, row[j - 1] + (a != b)))
        row = new
    return row[-1]


traps = st.text(alphabet="ab1²½_.-'\"—–\u00a0\u200b\u0301\u001c\u0085\u3000é \n\t中", max_size=40)


@settings(max_examples=100)
@given(traps | st.text(max_size=60))
def test_the_rule_is_its_definition(value: str) -> None:
    assert text.list_words(value, text.SPACED) == naive(value)
    assert text.count_words(value, text.SPACED) == len(naive(value))


@pytest.mark.parametrize(
    ("value", "count"),
    [
        ("", 0),
        ("a\u00a0b c", 3),  # no-break space separates
        ("a\u200bb c", 2),  # zero width space does not
        ("three — words", 2),  # a lone dash is no word
        ("one—two–three", 3),
        ("1914–1918", 1),  # a dash between digits joins
        ("½—a", 1),  # a number is not a letter
        ("a——b", 1),  # neither dash stands between letters
        ("well-known don't", 2),
        ("... !!! __ --", 0),
        ("a\u001cb", 1),  # a control character, not White_Space
        ("a\u0085b", 2),
        ("@CAPS1, it's 5°", 3),
    ],
)
def test_words(value: str, count: int) -> None:
    assert text.count_words(value) == count


def test_dash_joins_near_the_limit() -> None:
    """298 words between spaces, three of them pairs joined by an em dash."""
    value = " ".join(["word"] * 295 + ["one—two"] * 3)
    assert len(value.split()) == 298
    assert text.count_words(value) == 301


def test_digests_are_of_the_raw_bytes() -> None:
    assert (
        canonical_json.sha256(b"line one\r\nline two\r\n")
        == "6612d9c94c2da8d2544e1188348fc7baf717ffff1bacde51929a166404a41ffc"
    )
    bom = b"\xef\xbb\xbfline one\nline two\n"
    assert canonical_json.sha256(bom) == "b5a9d9adf7a89dc74ecddb1d067850c75d5afce8c457aad70c3b60c31d00def6"
    assert (
        canonical_json.make_canonical_text(bom)
        == canonical_json.make_canonical_text(b"line one\r\nline two\r\n")
        == b"line one\nline two\n"
    )


@settings(max_examples=60)
@given(traps | st.text(max_size=60))
def test_fold_is_stable_and_keeps_what_is_not_space(value: str) -> None:
    folded = text.fold_white_space(value)
    assert text.fold_white_space(folded) == folded
    assert [c for c in folded if ord(c) not in WHITE_SPACE] == [c for c in value if ord(c) not in WHITE_SPACE]
    assert folded == folded.strip(" ")
    assert "  " not in folded


def test_every_white_space_character_is_known() -> None:
    for point in range(0x110000):
        c = chr(point)
        if unicodedata.category(c) in ("Zs", "Zl", "Zp", "Cc") or point in WHITE_SPACE:
            assert (text.fold_white_space(f"a{c}b") == "a b") == (point in WHITE_SPACE), hex(point)


@settings(max_examples=100)
@given(st.lists(st.sampled_from("abcd"), max_size=24), st.lists(st.sampled_from("abcd"), max_size=24))
def test_distance_is_the_textbook_table(before: list[str], after: list[str]) -> None:
    assert text.count_changed_words(before, after) == table(before, after)


def test_distance_of_one_word_in_four_hundred() -> None:
    """Few different words: a line-oriented differ finds half of this changed."""
    rng = random.Random(7)
    before = [rng.choice(["ab", "cd", "ef", "gh", "ij", "kl", "mn", "op"]) for _ in range(400)]
    after = [*before[:200], "changed", *before[201:]]
    assert text.count_changed_words(before, after) == 1
    assert difflib.SequenceMatcher(None, before, after).ratio() == 0.5
    assert difflib.SequenceMatcher(None, before, after, autojunk=False).ratio() == 0.9975
    assert text.count_changed_words(before, before) == 0
    assert text.count_changed_words(before, []) == 400


def test_a_long_run_of_punctuation_takes_no_square_time() -> None:
    """A rule that looks back in a run would need 10^12 steps here."""
    assert text.count_words("." * 1_000_000 + " " + "—" * 1_000_000 + "a") == 1
