"""Screens of other scripts and other spreadsheets: displayed word for word, kept, called, published; both verifiers agree."""

from __future__ import annotations

import json
from pathlib import Path

import pytest
import rfc8785
from tests.cases.case_study import Trial, arm, boundary, now, seen
from tests.forgeries import both_verifiers
from tests.stages.record.test_other_text import told

from penmark import cards
from penmark.errors import PenmarkError
from penmark.format import canonical_json

WORDS = {"Rédigé par une IA": "ai", "Rédigé par un humain": "human", "ＡＩ": "ai", "人": "human"}
VERDICT = {"kind": "verdict", "source": "help", "date": "2026-09-01"}
PERCENT = {"meaning": "share of text", "direction": "ai", "low": "0", "high": "100", "unit": "percent"}
STANDALONE = both_verifiers._load()


def recorded(trial: Trial, shown: list[str], sign: str = ";") -> Path:
    trial.frozen(A={str(n): f"Text {n} of some words." for n in range(len(shown))})
    lines = [sign.join(("document", "displayed", "date", "version", "operator"))]
    lines += [sign.join((str(n), display, now(), "v1", "AB")) for n, display in enumerate(shown)]
    path = trial.root.parent / "screen.csv"
    path.write_text("\n".join(lines), encoding="utf-8")
    trial.done("record", str(path), "--detector", "seen")
    return trial.published()


def test_verdicts_of_other_scripts_can_be_promised_displayed_and_called(tmp_path: Path) -> None:
    card = seen("seen", verdicts=WORDS, boundary=VERDICT, scale=None)
    shown = [*WORDS, "Re\u0301dige\u0301 par  une ia"]
    trial = Trial(tmp_path / "study", [arm("A", "human", len(shown))], cards=[card])
    bundle = recorded(trial, shown)
    assert told(bundle) == {str(n): ("answered", "", display) for n, display in enumerate(shown)}
    assert rates(bundle) == "3"
    sealed = (bundle / "detectors" / "seen.json").read_bytes()
    assert sealed == rfc8785.dumps(json.loads(sealed))


def rates(bundle: Path) -> str:
    """How many texts were called AI."""
    head, first, *_ = (bundle / "tables" / "rates.csv").read_text().splitlines()
    return first.split(",")[head.split(",").index("k")]


def test_decimal_commas_and_digits_of_other_scripts_are_displayed_and_count(tmp_path: Path) -> None:
    card = seen("seen", scale=PERCENT | {"numerals": "comma"}, boundary=boundary(">=", "50"))
    shown = ["0,4%", "0%", "12,5\u00a0%", "97,8%", "%99,9", "٩٧٫٥٪"]
    trial = Trial(tmp_path / "study", [arm("A", "human", len(shown))], cards=[card])
    bundle = recorded(trial, shown)
    assert told(bundle) == {str(n): ("answered", "", display) for n, display in enumerate(shown)}
    assert rates(bundle) == "3"


def test_only_verdicts_have_keys_beyond_ascii_and_they_stand_in_one_order() -> None:
    value = {"verdicts": {"\U0001f600": "ai", "\ufb01": "human", "é": "ai"}, "a": 1}
    assert canonical_json.encode_json(value) == rfc8785.dumps(value)
    assert (
        canonical_json.decode_json(canonical_json.encode_json(value), place="p")
        == STANDALONE.canonical(canonical_json.encode_json(value))
        == value
    )
    for wrong in ({"é": 1}, {"verdicts": {"é": {"é": 1}}}, {"verdicts": [{"é": 1}]}, {"verdicts": {"\ud800": 1}}):
        with pytest.raises(PenmarkError, match="is not an ASCII string"):
            canonical_json.encode_json(wrong)
    line = '{"verdicts":{"ﬁ":"ai","😀":"ai"}}'.encode()
    with pytest.raises(PenmarkError, match="not in canonical form"):
        canonical_json.decode_json(line, place="p")
    for bad in (line, b'{"\xc3\xa9":1}', b'{"verdicts":{"\xc3\xa9":{"\xc3\xa9":1}}}'):
        with pytest.raises(STANDALONE.Fault):
            STANDALONE.canonical(bad)


def test_a_verdict_is_the_same_however_its_letters_are_composed() -> None:
    assert (
        cards.fold_verdict("Re\u0301dige\u0301")
        == cards.fold_verdict("RÉDIGÉ")
        == STANDALONE.folded("re\u0301dige\u0301")
    )
