"""A paid run from the promise to the bundle, with all that may go wrong on the way: both verifiers find nothing amiss."""

from __future__ import annotations

import contextlib
import io
import json
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import pytest
from tests import screen_readings
from tests.forgeries import both_verifiers

from penmark import cards, cli, study
from penmark.study import Study
from penmark.testing.doubles import Double, place_card, run_double

LOCAL = {"surface": "local", "tier": "none", "payer": "N", "relation": "none"}
"""By surface the detectors run on this machine, so that what they say may be published."""
ACTS: dict[str, dict[str, Any]] = {
    "gptzero": {"credit": 4, "behaviours": [None, "drop after", "rate limited", "busy"]},
    "pangram": {"behaviours": [None, "echo key", "failed job"], "version_after": 3},
    "zerogpt": {"behaviours": [None, *["broken"] * 3]},
}


class Run:
    """The study, its doubles, and what each scan said."""

    def __init__(self, root: Path, doubles: dict[str, Double]) -> None:
        for name, there in doubles.items():
            written = place_card(cards.find_card(name, None).read_text(encoding="utf-8"), there.url)
            study.write_bytes(root / "study" / "cards" / f"{name}.yaml", written.encode())
        self.root, self.doubles = root, doubles
        self.place, self.edition = screen_readings.made(
            root, *({"name": name, "card": name, **LOCAL} for name in doubles)
        )

    def scan(self, *options: str) -> tuple[int, dict[str, dict[str, Any]]]:
        """Exit code, and how each detector ended."""
        said = io.StringIO()
        with contextlib.redirect_stdout(said), contextlib.redirect_stderr(io.StringIO()):
            code = cli.invoke(["-C", str(self.place.root), "scan", "--json", "--at-once", "1", *options])
        events = [json.loads(line) for line in said.getvalue().splitlines()]
        return code, {event["detector"]: event for event in events if event["event"] == "ended"}


@pytest.fixture(scope="module")
def bundle(tmp_path_factory: pytest.TempPathFactory) -> Iterator[tuple[Run, Path]]:
    root = tmp_path_factory.mktemp("paid")
    with contextlib.ExitStack() as open_ones, pytest.MonkeyPatch.context() as patch:
        doubles = {name: open_ones.enter_context(run_double(name, **acts)) for name, acts in ACTS.items()}
        for name, there in doubles.items():
            patch.setenv(f"{name.upper()}_API_KEY", there.keys["key"])
        patch.setattr("penmark.stages.scan.open_scan.random.uniform", lambda low, high: 0.02)
        made = Run(root, doubles)
        money = ("--budget", "gptzero=100000", "--budget", "pangram=10")
        code, ended = made.scan(*money)
        assert code == 3
        assert "the words of the plan are used up" in ended["gptzero"]["error"]
        doubles["gptzero"].vendor.credit = None
        code, ended = made.scan(*money)
        assert code in (0, 1), ended
        screen_readings.run(made.place, "report", "--close")
        screen_readings.run(made.place, "publish", "--no-tar")
        yield made, made.place.bundles / screen_readings.TAG


def test_both_verifiers_find_nothing_wrong(bundle: tuple[Run, Path]) -> None:
    one, other = both_verifiers.ours(bundle[1]), both_verifiers.alone(bundle[1])
    assert one.failed == other.failed == set(), [one.faults(n) or other.faults(n) for n in one.failed | other.failed]


def test_what_went_wrong_is_in_the_journals(bundle: tuple[Run, Path]) -> None:
    made, folder = bundle
    lines = {
        name: [value for _, value in study.read_json_lines(folder / "journal" / f"{name}.jsonl")]
        for name in made.doubles
    }
    reasons = {name: [line["reason"] for line in own if line["kind"] == "retry"] for name, own in lines.items()}
    assert any(reason.startswith("stopped: HTTP 429") for reason in reasons["gptzero"])
    assert any(reason.endswith("may have been charged") for reason in reasons["gptzero"])
    [refused] = [
        line for line in lines["gptzero"] if line["kind"] == "retry" and line["reason"].startswith("stopped: HTTP")
    ]
    sent = [x["attempt"] for x in lines["gptzero"] if x["kind"] == "sent" and x["document"] == refused["document"]]
    assert sent == [refused["attempt"]] * 2 or sorted(set(sent)) == list(range(1, refused["attempt"] + 1))
    assert reasons["zerogpt"] == ["HTTP 500 (internal); may have been charged"] * 3
    assert "the vendor's task failed" in {x.get("reason") for x in lines["pangram"]}


def test_texts_without_consent_were_skipped_the_withheld_one_too(bundle: tuple[Run, Path]) -> None:
    _, folder = bundle
    for name, vendor in (("gptzero", "GPTZero"), ("pangram", "Pangram Labs"), ("zerogpt", "ZeroGPT")):
        lines = [value for _, value in study.read_json_lines(folder / "journal" / f"{name}.jsonl")]
        skipped = {line["document"]: line["reason"] for line in lines if line["kind"] == "skipped"}
        assert skipped[screen_readings.WITHHELD] == skipped[screen_readings.SHY] == f"no consent for {vendor}"
        sent = {line["document"] for line in lines if line["kind"] == "sent"}
        assert not sent & {screen_readings.WITHHELD, screen_readings.SHY}


def test_a_version_that_changed_is_a_deviation_in_the_bundle(bundle: tuple[Run, Path]) -> None:
    told = [value for _, value in study.read_json_lines(bundle[1] / "deviations.jsonl")]
    assert any(t["detector"] == "pangram" and "from 4.0 to 4.1" in t["what"] for t in told)


def test_no_key_and_no_private_note_is_in_the_bundle(bundle: tuple[Run, Path]) -> None:
    made, folder = bundle
    everything = b"\n".join(path.read_bytes() for path in folder.rglob("*") if path.is_file())
    for there in made.doubles.values():
        assert there.keys["key"].encode() not in everything
    names = {path.relative_to(folder).parts[0] for path in folder.rglob("*")}
    assert not names & {"private", "pilot"}
    assert (Study(made.place.root).private / "exchanges" / screen_readings.TAG / "gptzero.jsonl").is_file()
