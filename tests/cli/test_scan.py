"""`penmark scan` as a user sees it: what is printed, which seals and deviations follow, which exit code."""

from __future__ import annotations

import json
import re
import sys
from pathlib import Path
from typing import Any

import pytest
from tests.acting import CARD, install
from tests.frozen_study import detector, frozen

from penmark import amendments, canon, sealing, seals, study
from penmark.cli import invoke
from penmark.errors import ServiceError, UsageError
from penmark.scan import pilot
from penmark.study import Edition, Study

Said = tuple[int, str, str]


@pytest.fixture(autouse=True)
def _acting(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.delitem(sys.modules, "acting_detector", raising=False)
    monkeypatch.syspath_prepend(str(install(tmp_path / "installed")))


def made(
    tmp_path: Path, texts: dict[str, str | bytes], *detectors: dict[str, Any], **further: Any
) -> tuple[Study, Edition]:
    return frozen(tmp_path / "study", texts, *detectors, **further)


def scan(place: Study, capsys: pytest.CaptureFixture[str], *options: str) -> Said:
    code = invoke(["-C", str(place.root), "scan", *options])
    said = capsys.readouterr()
    return code, said.out, said.err


def test_a_scan_says_what_became_of_each_document(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    place, _edition = made(tmp_path, {"a": "text", "b": "decline it", "c": "plain"})
    code, out, err = scan(place, capsys)
    assert (code, out) == (0, "acting: 3 documents: 2 answered, 1 declined\n")
    assert "acting: 3 of 3" in err
    code, out, err = scan(place, capsys)
    assert (code, out) == (0, "acting: 3 documents: 2 answered, 1 declined\n  ended: nothing was left to ask\n")
    assert "nothing is left to ask" in err


def test_heads_are_sealed_at_each_start_and_stop(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    place, edition = made(tmp_path, {"a": "text", "b": "text 2"}, detector("coin"), detector("length"))
    scan(place, capsys, "--detector", "coin")
    assert sealing.order(edition) == ["promise", "corpus", "heads-0001"]
    scan(place, capsys)
    assert sealing.order(edition) == ["promise", "corpus", "heads-0001", "heads-0002"]
    heads = seals.read(edition, "heads-0002").journals
    assert sorted(heads) == ["journal/coin.jsonl", "journal/length.jsonl"]
    for name, head in heads.items():
        lines = study.read(edition.root / name).splitlines()
        assert (head.lines, head.head) == (len(lines), canon.sha256(lines[-1]))


def test_a_failure_is_exit_code_3_and_the_scan_goes_on(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    place, _ = made(tmp_path, {"a": "raise it", "b": "text", "c": "text 3"})
    code, out, _ = scan(place, capsys)
    assert (code, out) == (3, "acting: 3 documents: 2 answered, 1 failed\n")
    code, _, _ = scan(place, capsys)
    assert code == 0


def test_a_changed_version_is_a_deviation_told_once(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    place, edition = made(tmp_path, {"a": "text", "b": "text 2"}, detector("acting", version="1.0"))
    code, out, err = scan(place, capsys)
    assert code == 1
    assert re.search(r"ended: the version changed from 1.0 to 2.0 \(document [ab]\)", out)
    assert "deviation: acting: the version changed from 1.0 to 2.0" in err
    code, out, _ = scan(place, capsys)
    assert code == 1
    assert "its version changed from 1.0 to 2.0, and the promise says: stop" in out
    [deviation] = amendments.deviations(edition)
    assert deviation.detector == "acting"
    assert deviation.what in place.changes.read_text()


def test_events_for_machines(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    place, _ = made(tmp_path, {f"{n}": f"text {n}" for n in range(5)})
    code, out, err = scan(place, capsys, "--json")
    events = [json.loads(line) for line in out.splitlines()]
    assert (code, err) == (0, "")
    assert {event["event"] for event in events[:-1]} == {"progress"}
    assert events[-2]["done"] == events[-2]["documents"] == 5
    assert events[-1] == {
        "event": "ended",
        "detector": "acting",
        "documents": 5,
        "answered": 5,
        "declined": 0,
        "failed": 0,
        "in_doubt": [],
        "not_scannable": 0,
        "to_ask": 0,
        "why": "done",
        "error": None,
    }


def test_the_plan_asks_nothing(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    place, edition = made(tmp_path, {"a": "text", "fr": "texte"}, fields={"fr": {"language": "fr"}})
    code, out, _ = scan(place, capsys, "--plan")
    assert code == 0
    assert out == ("acting: 1 of 2 documents to ask about\n  1 not scannable: language fr, not en\n")
    assert not edition.journals.exists()
    scan(place, capsys, "--pilot")
    code, out, _ = scan(place, capsys, "--plan", "--json")
    assert json.loads(out)["expected_seconds"] == 0
    scan(place, capsys)
    _, out, _ = scan(place, capsys, "--plan")
    assert out.startswith("acting: 0 of 2 documents to ask about")


def test_check_tells_the_facts_of_each_detector(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    people = CARD.replace("name: acting", "name: seen").replace("{by: plugin, plugin: acting}", "{by: people}")
    place, _ = made(tmp_path, {"a": "text"}, detector("acting"), detector("seen"), cards={"seen": people})
    code, out, _ = scan(place, capsys, "--check")
    assert code == 0
    first, second = out.splitlines()
    assert re.fullmatch(
        r"ok    acting  version 2.0; AI: >= 0.5; acting of acting-detector 1.0 \([0-9a-f]{12}…\)", first
    )
    assert second == "ok    seen  AI: >= 0.5; asked by people"
    module = tmp_path / "installed" / "acting_detector.py"
    module.write_text(module.read_text() + "\n")
    code, out, _ = scan(place, capsys, "--check", "--json")
    found = [json.loads(line) for line in out.splitlines()]
    assert code == 1
    assert "not the promised one" in found[0]["trouble"][0]["fact"]
    assert found[1]["trouble"] == []


def test_check_works_before_the_promise_and_names_every_fault(
    tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    place, edition = made(tmp_path, {"a": "text"}, detector("acting"), detector("coin"))
    unpromised(place, edition)
    (place.cards / "acting.yaml").write_text(
        CARD.replace("name: acting", "name: other").replace('high: "1"', 'high: "-1"')
    )
    code, out, _ = scan(place, capsys, "--check")
    assert code == 1
    assert out.startswith("FAULT acting")
    assert "acting.yaml:1" in out
    assert re.search(r"^ok +coin ", out, re.MULTILINE)
    code, _, _ = scan(place, capsys, "--check", "--detector", "coin")
    assert code == 0


def unpromised(place: Study, edition: Edition) -> None:
    """Take the seals back, and write the protocol as people would."""
    value = study.read_json(edition.protocol_json)
    for path in (*edition.seals.glob("*"), *edition.detectors.glob("*"), edition.protocol_json, edition.manifest):
        path.unlink()
    edition.protocol_yaml.write_text(_yaml(value))


def _yaml(value: Any) -> str:
    """JSON is YAML, with every scalar quoted that must stay a string."""
    return json.dumps(value)


def test_a_pilot_reads_practice_texts_before_the_promise_and_is_counted(
    tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    place, edition = made(tmp_path, {"a": "secret text of the study"}, detector("coin"), detector("length"))
    unpromised(place, edition)
    with pytest.raises(UsageError, match="penmark scan --pilot"):
        scan(place, capsys)
    code, out, _ = scan(place, capsys, "--pilot")
    assert code == 0
    assert re.search(r"^length  ferry: 35\d$", out, re.MULTILINE)
    assert "8 practice readings" in out
    assert pilot.counts(edition) == {"coin": 4, "length": 4}
    code, out, _ = scan(place, capsys, "--pilot", "--detector", "coin", "--json")
    assert [json.loads(line)["event"] for line in out.splitlines()] == ["practised"] * 4
    assert pilot.counts(edition) == {"coin": 8, "length": 4}
    assert not edition.journals.exists()
    written = b"".join(p.read_bytes() for p in edition.pilot.iterdir())
    assert b"secret" not in written


def test_no_pilot_after_the_evidence_seal(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    place, edition = made(tmp_path, {"a": "text"})
    edition.seal("evidence").write_bytes(b"{}")
    with pytest.raises(UsageError, match="the number of pilots"):
        scan(place, capsys, "--pilot")


def test_shards_seal_their_own_journals(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    place, edition = made(tmp_path, {f"{n}": f"text {n}" for n in range(6)})
    for part in (1, 2):
        code, out, _ = scan(place, capsys, "--shard", f"{part}/2")
        assert (code, out) == (0, "acting: 3 documents: 3 answered\n")
    assert sorted(seals.read(edition, "heads-0002").journals) == ["journal/acting.2of2.jsonl"]


def test_choices_that_do_not_go_together_are_refused(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    place, _ = made(tmp_path, {"a": "text"})
    with pytest.raises(UsageError, match="do not go together"):
        scan(place, capsys, "--plan", "--check")


def test_a_text_that_is_gone_leaves_the_work_undone(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    place, _ = made(tmp_path, {"a": "text"})
    for path in place.arm("A").glob("*.txt"):
        path.unlink()
    code, out, _ = scan(place, capsys)
    assert code == 1
    assert "the text of document a is missing" in out


def test_a_plugin_that_cannot_be_loaded_is_exit_code_3(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    place, edition = made(tmp_path, {"a": "text"})
    module = tmp_path / "installed" / "acting_detector.py"
    module.write_text("import nothing_of_that_name\n" + module.read_text())
    sealed = study.read_json(edition.sealed_card("acting"))
    unpromised(place, edition)
    assert sealed["plugin"]["name"] == "acting"
    with pytest.raises(ServiceError, match="cannot be loaded"):
        scan(place, capsys, "--pilot")
