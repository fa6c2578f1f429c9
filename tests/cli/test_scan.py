"""`penmark scan` as a user sees it: what is printed, which seals and deviations follow, which exit code."""

from __future__ import annotations

import json
import re
import shlex
import sys
from pathlib import Path
from typing import Any

import pytest
from tests.frozen_study import detector, frozen
from tests.scripted_detector import CARD, install

from penmark import study
from penmark.cli import invoke
from penmark.errors import ServiceError, UsageError
from penmark.format import canonical_json
from penmark.protocol import amendments
from penmark.stages.commit import make_seals
from penmark.stages.scan import pilot
from penmark.study import Edition, Study, seal_files

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
    assert make_seals.list_seal_order(edition) == ["promise", "corpus", "heads-0001"]
    scan(place, capsys)
    assert make_seals.list_seal_order(edition) == ["promise", "corpus", "heads-0001", "heads-0002"]
    heads = seal_files.read_seal(edition, "heads-0002").journals
    assert sorted(heads) == ["journal/coin.jsonl", "journal/length.jsonl"]
    for name, head in heads.items():
        lines = study.read_bytes(edition.root / name).splitlines()
        assert (head.lines, head.head) == (len(lines), canonical_json.sha256(lines[-1]))


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
    [deviation] = amendments.read_deviations(edition)
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
        "misses": [],
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
    assert pilot.count_practice_readings(edition) == {"coin": 4, "length": 4}
    code, out, _ = scan(place, capsys, "--pilot", "--detector", "coin", "--json")
    assert [json.loads(line)["event"] for line in out.splitlines()] == ["practised"] * 4
    assert pilot.count_practice_readings(edition) == {"coin": 8, "length": 4}
    assert not edition.journals.exists()
    written = b"".join(p.read_bytes() for p in edition.pilot.iterdir())
    assert b"secret" not in written


def test_a_pilot_tells_what_the_card_makes_nothing_of(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    loose = printed("loose", 'print(\'{"shown": "62%", "score": "62"}\')')
    place, _ = made(tmp_path, {"a": "text"}, detector("loose"), cards={"loose": loose})
    code, out, _ = scan(place, capsys, "--pilot")
    assert (code, out.count(": 62% (it is outside the scale 0 to 1 of its card)\n")) == (0, 4)
    assert "correct it before `penmark commit`" in out
    _, out, _ = scan(place, capsys, "--pilot", "--json")
    assert json.loads(out.splitlines()[0])["miss"] == "is outside the scale 0 to 1 of its card"


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
    assert sorted(seal_files.read_seal(edition, "heads-0002").journals) == ["journal/acting.2of2.jsonl"]


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


# --- answers of which a card makes nothing ---------------------------------------------------------------------------


def printed(name: str, script: str, further: str = "") -> str:
    """A card for a command that prints an answer by what the text says."""
    return f"""\
name: {name}
title: A command for tests
vendor: the tests
homepage: none
ask:
  by: plugin
  plugin: command
  options:
    argv: {json.dumps(shlex.join([sys.executable, "-c", script]))}
answer: {{displayed: /shown, score: /score, label: /label}}
scale: {{meaning: probability, direction: ai, low: "0", high: "1"}}
boundary: {{kind: boundary, operator: ">=", value: "0.5", source: the tests, date: "2026-11-30"}}
display: document
terms: {{where: none, results_may_be_published: "yes"}}
facts_as_of: "2026-11-30"
{further}"""


SAYS = """
import json, sys
said = [*sys.stdin.read().split(), None]
print(json.dumps({"shown": said[0], "score": said[0], "label": said[1]}))
"""
ODD: dict[str, str | bytes] = {"d-1": "0.2", "d-2": "0.9", "d-3": "1.7", "d-4": "-0.1", "d-5": "NaN", "d-6": "62%"}


def test_numbers_that_the_card_makes_nothing_of_are_told(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    place, edition = made(tmp_path, ODD, detector("loose"), cards={"loose": printed("loose", SAYS)})
    code, out, err = scan(place, capsys)
    assert (code, out) == (0, "loose: 6 documents: 6 answered\n")
    outside = r"2 answers are outside the scale 0 to 1 of its card \(the first: (1\.7 about d-3|-0\.1 about d-4)\)"
    assert re.search(rf"warning: loose: {outside}; they are kept as they are and count as no result\n +\S", err)
    assert re.search(r"warning: loose: 2 answers are no decimal numbers \(the first: ('NaN'|'62%') about d-[56]\)", err)
    assert "penmark amend" in err
    journal = edition.journals.joinpath("loose.jsonl").read_text()
    assert journal.count('"state":"answered"') == 6  # what a reading says is not touched

    code, _, again = scan(place, capsys)
    assert (code, again.count("warning: loose: ")) == (0, 2)
    code, out, _ = scan(place, capsys, "--json")
    event = json.loads(out.splitlines()[-1])
    assert (code, event["answered"]) == (0, 6)
    assert {(one["kind"], one["answers"]) for one in event["misses"]} == {
        ("score outside the declared scale", 2),
        ("score is not a decimal number", 2),
    }
    assert all(one["document"] in ODD and one["shown"] == ODD[one["document"]] for one in event["misses"])

    assert invoke(["-C", str(place.root), "status"]) == 0
    out = capsys.readouterr().out
    assert "6 answered, 0 left\n    2 answers are " in out
    assert re.search(rf"\n    {outside}; ", out)
    invoke(["-C", str(place.root), "status", "--json"])
    [journal_of] = json.loads(capsys.readouterr().out)["journals"]
    assert journal_of["misses"] == event["misses"]


def test_verdicts_that_the_card_does_not_know_are_told(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    texts: dict[str, str | bytes] = {"d-1": "0.2 Human", "d-2": "0.9 Cyborg", "d-3": "0.4 AI", "d-4": "0.1 cyborg"}
    both = printed("both", SAYS, "verdicts: {Human: human, AI: ai}\n")
    words = printed("words", SAYS, "verdicts: {Human: human, AI: ai}\n").replace(
        'boundary: {kind: boundary, operator: ">=", value: "0.5",', "boundary: {kind: verdict,"
    )
    place, _ = made(tmp_path, texts, detector("both"), detector("words"), cards={"both": both, "words": words})
    code, out, err = scan(place, capsys)
    assert (code, out.count("4 answered")) == (0, 2)
    first = r"\(the first: '(Cyborg' about d-2|cyborg' about d-4)\)"
    assert re.search(
        rf"warning: both: 2 answers have beside their numbers verdicts that its card does not know {first}; their numbers "
        "alone decide\n",
        err,
    )
    assert re.search(rf"warning: words: 2 answers are verdicts that its card does not know {first}; they are kept", err)
    assert (
        "warning: both: 1 answer has beside its number a verdict that says the contrary ('AI' about d-3"
        in err.replace("(the first: ", "(")
    )
    assert err.count("warning: ") == 3
