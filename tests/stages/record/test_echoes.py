"""What comes back as the text that was scanned: the same text in another writing counts, and another text does not."""

from __future__ import annotations

import json
import unicodedata
from html import escape
from pathlib import Path

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from tests.cases.case_study import Trial, arm, card, now
from tests.forgeries import both_verifiers
from tests.stages.record.test_other_text import told

from penmark.cards import judge
from penmark.cards.judge import OTHER_TEXT
from penmark.text import quotation

STANDALONE = both_verifiers._load()
POINTERS = {"displayed": "/score", "score": "/score", "text": "/text"}
WHITE = "the answer echoes the text with other white space"
QUOTES = "the answer echoes the text with other quotes or otherwise composed characters"
ESCAPED = "the answer echoes the text escaped"
SAME = {
    "trimmed": ("One text.\n", "One text.", WHITE),
    "line ends": ("One.\r\nTwo.", "One.\nTwo.", WHITE),
    "folded": ("One,\n\n  two.", "One, two.", WHITE),
    "composed": ("Cafe\u0301.", "Caf\u00e9.", QUOTES),
    "curled": ('"It\'s", he said.', "“It’s”, he said.", QUOTES),
    "html": ("Tom & Jerry <3", "Tom &amp; Jerry &lt;3", ESCAPED),
    "html lines": ("One.\nTwo.", "One.<br/>Two.", ESCAPED),
    "json": ('One.\n"Two" \U0001f600', 'One.\\n\\"Two\\" \\ud83d\\ude00', ESCAPED),
    "entities stay": ("A &amp; B", "A &amp;amp; B", ESCAPED),
    "exact": ("One. \\n Two.", "One. \\n Two.", None),
}
OTHER = {
    "a word less": ("One text of words.", "One text of."),
    "case": ("One text.", "one text."),
    "undone": ("A &amp; B", "A & B"),
    "empty": ("One text.", ""),
    "compatibility": ("ﬁne", "fine"),
    "twice": ("One text.", "One text. One text."),
}


def alone(echo: str, text: str) -> bool:
    """Whether the independent verifier takes an echo for the text."""
    plain = STANDALONE.plain_form(text)
    return echo == text or any(STANDALONE.plain_form(form) == plain for form in STANDALONE.forms(echo))


@pytest.mark.parametrize(("text", "echo", "remark"), SAME.values(), ids=SAME)
def test_another_writing_is_the_same_text_and_told(text: str, echo: str, remark: str | None) -> None:
    assert quotation.same(echo, text)
    assert alone(echo, text)
    assert quotation.echoed(echo, text) == remark
    assert not judge.is_other(echo, text)
    assert judge.is_other(echo, text, 1) is (echo != text)


@pytest.mark.parametrize(("text", "echo"), OTHER.values(), ids=OTHER)
def test_another_text_stays_one(text: str, echo: str) -> None:
    assert not quotation.same(echo, text)
    assert not alone(echo, text)
    assert judge.is_other(echo, text)


@given(st.text(max_size=30), st.text(max_size=30))
@settings(deadline=None, max_examples=300)
def test_both_implementations_forgive_the_same(text: str, other: str) -> None:
    nfc = unicodedata.normalize("NFC", text)
    for echo in (text, nfc, text.strip(), escape(text), json.dumps(text)[1:-1], json.dumps(escape(text))[1:-1]):
        assert quotation.same(echo, text)
        assert alone(echo, text)
    assert quotation.same(other, text) == alone(other, text)


def test_both_verifiers_and_record_take_such_echoes(tmp_path: Path) -> None:
    trial = Trial(
        tmp_path / "study",
        [arm("A", "human", len(SAME) + 1)],
        cards=[card("seen", ask={"by": "people"}, answer=POINTERS)],
    )
    texts = {str(n): text for n, (text, _, _) in enumerate(SAME.values(), 1)} | {"99": "A text of its own."}
    trial.frozen(A=texts)
    echoes = {str(n): echo for n, (_, echo, _) in enumerate(SAME.values(), 1)} | {"99": "A text of another."}
    table = [{"document": name, "score": 0.25, "text": echo, "date": now()} for name, echo in echoes.items()]
    path = tmp_path / "answers.json"
    path.write_text(json.dumps(table))
    trial.done("record", str(path), "--detector", "seen", "--map", "document=document", "--map", "date=date")
    expected = {str(n): ("answered", remark or "", "0.25") for n, (*_, remark) in enumerate(SAME.values(), 1)}
    assert told(trial.published()) == expected | {"99": ("declined", OTHER_TEXT, "0.25")}
