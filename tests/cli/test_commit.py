"""``penmark commit`` as a user runs it, with a real authority on this machine."""

from __future__ import annotations

import json
import re
from collections.abc import Callable, Iterator
from pathlib import Path

import pytest
from tests.local_authority import answering, openssl_agrees, study_of

from penmark import cards, study, timestamps
from penmark.cli import main
from penmark.demo.authority import LocalAuthority, run_local_authority
from penmark.stages.commit import make_seals
from penmark.study import seal_files


@pytest.fixture
def authority(tmp_path: Path) -> Iterator[LocalAuthority]:
    with run_local_authority(tmp_path / "authority", "one authority") as running:
        yield running


def penmark(place: study.Study, *words: str) -> int:
    """Run the program; its exit code."""
    with pytest.raises(SystemExit) as caught:
        main(["-C", str(place.root), *words])
    assert isinstance(caught.value.code, int)
    return caught.value.code


def test_commit_seals_the_promise(
    tmp_path: Path, authority: LocalAuthority, capsys: pytest.CaptureFixture[str]
) -> None:
    place = study_of(tmp_path / "study", {"one": authority.url})
    assert penmark(place, "commit") == 0
    shown = capsys.readouterr()
    assert shown.err == ""
    edition = place.edition()
    promise = seal_files.read_seal(edition, "promise")
    assert sorted(promise.digests) == ["detectors/length.json", "protocol.json", "protocol.yaml"]
    assert (promise.study, promise.edition) == ("tiny", "TEST-2026-Q4")
    token = (edition.seals / "promise-one.tsr").read_bytes()
    data = edition.seal("promise").read_bytes()
    assert timestamps.check_token(token, data, timestamps.Trust.load([authority.root])).state == "ok"
    line = next(line.strip() for line in shown.out.splitlines() if "openssl ts" in line)
    (edition.root / "ROOTS.pem").write_bytes(authority.root.read_bytes())
    assert openssl_agrees(line, edition.root)


def test_json(tmp_path: Path, authority: LocalAuthority, capsys: pytest.CaptureFixture[str]) -> None:
    place = study_of(tmp_path / "study", {"one": authority.url})
    assert penmark(place, "commit", "--json") == 0
    told = json.loads(capsys.readouterr().out)
    assert (told["edition"], told["seal"], told["warnings"]) == ("TEST-2026-Q4", "seals/promise.json", [])
    assert [(t["file"], t["state"]) for t in told["tokens"]] == [("seals/promise-one.tsr", "unknown authority")]


def test_run_again_it_asks_for_what_is_missing_and_then_refuses(
    tmp_path: Path, authority: LocalAuthority, capsys: pytest.CaptureFixture[str]
) -> None:
    busy = True

    def sometimes(query: bytes) -> bytes:
        return b"busy" if busy else make_seals.post_query(authority.url, query)

    with answering(sometimes) as url:
        place = study_of(tmp_path / "study", {"one": authority.url, "two": url})
        assert penmark(place, "commit") == 0
        assert f"warning: promise.json has no timestamp of two ({url})" in capsys.readouterr().err
        sealed = place.edition().seal("promise").read_bytes()
        assert penmark(place, "commit") == 0
        assert "no timestamp of two" in capsys.readouterr().err
        busy = False
        assert penmark(place, "commit") == 0
        assert capsys.readouterr().err == ""
        assert penmark(place, "commit") == 2
        shown = capsys.readouterr().err
    assert "sealed already, and no timestamp is missing" in shown
    assert "penmark amend" in shown
    assert place.edition().seal("promise").read_bytes() == sealed
    assert len(make_seals.list_token_files(place.edition().seal("promise"))) == 2


def test_a_protocol_that_was_changed_after_the_promise_is_refused(
    tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    place = study_of(tmp_path, {})
    assert penmark(place, "commit") == 0
    edition = place.edition()
    before = {p: p.read_bytes() for p in edition.root.rglob("*.json")}
    text = edition.protocol_yaml.read_text(encoding="utf-8")
    edition.protocol_yaml.write_text(text.replace("documents: 1,", "documents: 2,"), encoding="utf-8")
    assert penmark(place, "commit") == 2
    shown = capsys.readouterr().err
    assert "protocol.yaml: says something else than the promise" in shown
    assert "penmark amend" in shown
    assert {p: p.read_bytes() for p in edition.root.rglob("*.json")} == before


def test_two_at_once(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    place = study_of(tmp_path, {})
    with study.lock_file(place.private / "lock", "penmark commit"):
        assert penmark(place, "commit") == 2
    assert "in use by penmark commit" in capsys.readouterr().err
    assert make_seals.list_seal_order(place.edition()) == []


def test_a_commit_that_was_cut_off_before_its_seal_is_done_again(tmp_path: Path) -> None:
    place = study_of(tmp_path, {})
    assert penmark(place, "commit") == 0
    place.edition().seal("promise").unlink()
    assert penmark(place, "commit") == 0
    assert make_seals.list_seal_order(place.edition()) == ["promise"]


def test_faults_of_the_protocol_come_with_their_place(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    place = study_of(tmp_path, {}, who='"<your name>"')
    assert penmark(place, "commit") == 1
    shown = capsys.readouterr().err
    assert "protocol.yaml:5: people.0.name still says <your name>\n    Write what you promise there" in shown
    assert not place.edition().protocol_json.exists()


# --- what is said of each detector ---------------------------------------------------------------------------------

LINE = "{name: length, card: length, surface: local, tier: none, payer: nobody, relation: own}"


@pytest.mark.parametrize("field", ["surface", "tier", "payer", "relation"])
def test_a_detector_without_one_of_its_facts_is_not_promised(
    tmp_path: Path, capsys: pytest.CaptureFixture[str], field: str
) -> None:
    place = study_of(tmp_path, {})
    path = place.edition().protocol_yaml
    text = path.read_text(encoding="utf-8")
    said = {"surface": "local", "tier": "none", "payer": "nobody", "relation": "own"}[field]
    path.write_text(text.replace(LINE, LINE.replace(f", {field}: {said}", "")), encoding="utf-8")
    assert penmark(place, "commit") == 1
    shown = capsys.readouterr().err
    assert f"protocol.yaml:{text[: text.index(LINE)].count(chr(10)) + 1}: detectors.length.{field}" in shown
    path.write_text(text.replace(LINE, LINE.replace(f"{field}: {said}", f'{field}: " "')), encoding="utf-8")
    assert penmark(place, "commit") == 1
    assert f".{field}: " in capsys.readouterr().err
    assert not place.edition().protocol_json.exists()
    path.write_text(text, encoding="utf-8")
    assert penmark(place, "commit") == 0


@pytest.mark.parametrize(
    ("settings", "fact"),
    [
        ('{mode: ""}', "a setting without its name or value"),
        ('{" ": fast}', "a setting without its name or value"),
    ],
)
def test_a_setting_says_what_is_sent(
    tmp_path: Path, capsys: pytest.CaptureFixture[str], settings: str, fact: str
) -> None:
    place = study_of(tmp_path, {})
    path = place.edition().protocol_yaml
    path.write_text(path.read_text().replace("relation: own}", f"relation: own, settings: {settings}}}"))
    assert penmark(place, "commit") == 1
    assert fact in capsys.readouterr().err


def test_a_setting_that_the_vendor_does_not_have_would_never_be_sent(
    tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    place = study_of(tmp_path, {}, card="copyleaks")
    path = place.edition().protocol_yaml
    text = path.read_text()
    path.write_text(text.replace("relation: own}", "relation: own, settings: {sensitvity: '2'}}"))
    assert penmark(place, "commit") == 1
    shown = capsys.readouterr().err
    assert "the card copyleaks has no setting 'sensitvity' (did you mean sensitivity?)" in shown
    path.write_text(text.replace("relation: own}", "relation: own, settings: {sensitivity: '2'}}"))
    assert penmark(place, "commit") == 0


# --- what status calls a fault is not sealed -----------------------------------------------------------------------


def _yaml(old: str, new: str) -> Callable[[study.Study], object]:
    def spoil(place: study.Study) -> None:
        path = place.edition().protocol_yaml
        text = path.read_text(encoding="utf-8")
        assert old in text
        path.write_text(text.replace(old, new), encoding="utf-8")

    return spoil


FAULTS: dict[str, tuple[Callable[[study.Study], object], str]] = {
    "another template": (
        _yaml("schedule:", f"template: {{name: humanflow, sha256: {'0' * 64}}}\nschedule:"),
        "ships no template humanflow with the digest 000000000000",
    ),
    "a rule of the screening that is none": (
        _yaml("schedule:", "screening: {duplicate-byte: error}\nschedule:"),
        "protocol.yaml:4: screening.duplicate-byte: there is no such rule (did you mean duplicate-bytes?)",
    ),
    "no such card": (_yaml("card: length", "card: lenght"), "there is no card 'lenght' (did you mean length?)"),
    "a boundary beyond the scale": (
        _yaml(
            "relation: own}",
            "relation: own, rule: {kind: boundary, operator: '>', value: '-1', source: s, date: 2026-11-30}}",
        ),
        "detector length: the boundary -1 lies outside the scale of its card",
    ),
    "another tag": (_yaml("edition: TEST-2026-Q4", "edition: TEST-2027-Q1"), "is the protocol of TEST-2027-Q1"),
    "another seed": (lambda place: place.seed.write_bytes(b"x" * 32), "is not the secret seed"),
    "no seed": (lambda place: place.seed.unlink(), "seed: there is no such file"),
    "records that are none": (lambda place: study.write_bytes(place.documents("A"), b"{\n"), "documents.jsonl:1: is "
    "not valid JSON"),
    "a plugin that is not there": (
        lambda place: study.write_bytes(
            place.cards / "length.yaml",
            cards.find_card("length", None).read_bytes().replace(b"plugin: length", b"plugin: lenght"),
        ),
        "there is no detector plugin 'lenght'",
    ),
}  # fmt: skip


@pytest.mark.parametrize("name", FAULTS)
def test_what_status_calls_a_fault_is_not_sealed(tmp_path: Path, capsys: pytest.CaptureFixture[str], name: str) -> None:
    place = study_of(tmp_path, {})
    spoil, said = FAULTS[name]
    spoil(place)
    before = {path: path.read_bytes() for path in tmp_path.rglob("*") if path.is_file()}
    assert penmark(place, "status") == 1
    told = capsys.readouterr().out
    assert said in told
    assert told.endswith("\nnext: mend the fault above, then penmark status\n")
    assert penmark(place, "commit") == 1
    assert said in capsys.readouterr().err
    assert {p: p.read_bytes() for p in tmp_path.rglob("*") if p.is_file() and p.name != "lock"} == before


def test_a_card_that_is_not_there_is_begun_as_the_fault_says(
    tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    place = study_of(tmp_path, {})
    _yaml("card: length", "card: mine")(place)
    assert penmark(place, "commit") == 1
    [command] = re.findall(r"`penmark (init --card \w+)`", capsys.readouterr().err)
    assert penmark(place, *command.split()) == 0
    assert (place.cards / "mine.yaml").is_file()
    assert penmark(place, "commit") == 1
    told = capsys.readouterr().err
    assert "there is no card" not in told
    assert f"{place.cards / 'mine.yaml'}:" in told


def test_without_faults_status_and_commit_agree(tmp_path: Path) -> None:
    place = study_of(tmp_path, {})
    assert penmark(place, "status") == 0
    assert penmark(place, "commit") == 0


def test_many_open_decisions_are_told_by_what_they_say(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    assert penmark(study.Study(tmp_path), "init", "--template", "small", "--name", "mine") == 0
    capsys.readouterr()
    assert penmark(study.Study(tmp_path), "commit") == 1
    head, *lines = capsys.readouterr().err.splitlines()
    path = study.Study(tmp_path).edition().protocol_yaml
    assert head == f"penmark: {path}: 29 places are still to be decided"
    assert len(lines) == 13
    written = path.read_text(encoding="utf-8").splitlines()
    for line in lines[:-1]:
        at, _, told = line.removeprefix(f"{path}:").partition(": ")
        text = told[told.index("<") : told.index(">") + 1]
        for number in [int(at), *map(int, re.findall("[0-9]+", told.partition(" (also")[2]))]:
            assert text in written[number - 1]
    assert lines[-1].strip().startswith("Write what you promise there")
