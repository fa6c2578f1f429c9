"""Cases about vendors that are asked over HTTP: keys, money, requests. Their doubles stand on this machine."""

from __future__ import annotations

import contextlib
import json
from collections.abc import Iterator
from pathlib import Path

import pytest
from tests.cases.case_study import Trial, arm

from penmark import cards
from penmark.records import Environment
from penmark.testing.doubles import Double, place_card, run_double

LONG = "Some words about nothing in particular, put in a row to be long enough for everybody. "


@contextlib.contextmanager
def asked(root: Path, texts: dict[str, str], *names: str) -> Iterator[tuple[Trial, dict[str, Double]]]:
    """A frozen study whose detectors are these vendors, their cards leading to doubles."""
    with contextlib.ExitStack() as open_ones:
        there = {name: open_ones.enter_context(run_double(name)) for name in names}
        trial = Trial(root / "study", [arm("A", "human", len(texts))])
        [shown] = trial.protocol["detectors"]
        trial.protocol["detectors"] = [shown | {"name": name, "card": name, "surface": "api"} for name in names]
        trial.promise()
        for name, made in there.items():
            path = trial.place.cards / f"{name}.yaml"
            path.write_text(place_card(cards.find_card(name, None).read_text(encoding="utf-8"), made.url))
        trial.frozen({name: {"language": "en"} for name in texts}, A=texts)
        yield trial, there


def test_c01_a_key_is_needed_by_the_detector_that_is_asked_and_by_no_other(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    for variable in ("GPTZERO_API_KEY", "SAPLING_API_KEY"):
        monkeypatch.delenv(variable, raising=False)
    given = {f"{n}": f"{n} {LONG * 8}" for n in range(3)}
    budget = ["--budget", "gptzero=100000", "--budget", "sapling=100000"]
    with asked(tmp_path, given, "gptzero", "sapling") as (trial, there):
        monkeypatch.setenv("GPTZERO_API_KEY", there["gptzero"].keys["key"])
        said = trial.run("scan", "--detector", "gptzero", *budget)
        assert said.code == 0, said
        assert "gptzero: 3 documents: 3 answered" in said.out
        said = trial.run("scan", "--detector", "sapling", *budget)
        assert (said.code, said.out) == (2, "")
        assert "SAPLING_API_KEY is not set" in said.err
        assert "\n    " in said.err
        assert there["sapling"].ledger.requests.total() == 0
        assert not (trial.edition.journals / "sapling.jsonl").exists()
        secret = there["gptzero"].keys["key"].encode()
        assert not [path for path in trial.root.rglob("*") if path.is_file() and secret in path.read_bytes()]


def test_c26_a_price_is_rounded_text_by_text_and_nothing_is_sent_without_a_budget(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    """90 and 135 words at a credit for each begun hundred: 1 and 2, and 4 for each of the two canary texts."""
    given = {"short": "word " * 90, "longer": "word " * 135}
    with asked(tmp_path, given, "originality-lite") as (trial, there):
        [vendor] = there.values()
        [variable] = [key.env for key in _keys("originality-lite")]
        monkeypatch.setenv(variable, vendor.keys["key"])
        plan = json.loads(trial.done("scan", "--plan", "--json").out.splitlines()[0])
        assert (plan["price"], plan["currency"], plan["to_ask"]) == ("11", "credits", 2)
        said = trial.run("scan")
        assert (said.code, said.out) == (2, "")
        assert "this costs money: originality-lite up to 11 credits" in said.err
        assert "--budget originality-lite=11" in said.err
        said = trial.run("scan", "--budget", "originality-lite=2")
        assert said.code == 1
        assert vendor.ledger.charged <= 2  # it stops before the call that would exceed it
        assert "the budget does not suffice" in said.out
        said = trial.run("scan", "--budget", "originality-lite=11")
        assert said.code == 0, said
        assert vendor.ledger.charged == 11


def _keys(name: str) -> list[Environment]:
    request = cards.load_card(cards.find_card(name, None)).ask.request
    assert request is not None
    return list(request.keys.values())


def test_c33_a_vendor_that_stays_away_leaves_the_rest_for_later(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    given = {f"{n}": f"{n} {LONG * 8}" for n in range(3)}
    with asked(tmp_path, given, "gptzero") as (trial, there):
        monkeypatch.setenv("GPTZERO_API_KEY", "not-the-key-at-all")
        said = trial.run("scan", "--budget", "gptzero=100000")
        assert said.code == 3, said
        assert "3 left" in said.out
        assert "Run the same command again to go on." in said.err
        monkeypatch.setenv("GPTZERO_API_KEY", there["gptzero"].keys["key"])
        said = trial.run("scan", "--budget", "gptzero=100000")
        assert said.code == 0, said
        trial.done("report")
        assert {row["state"] for row in trial.table("readings")} == {"answered"}
        assert trial.whole("A")["no_result"] == "0"
