"""``penmark commit`` as a user runs it, with a real authority on this machine."""

from __future__ import annotations

import json
from collections.abc import Iterator
from pathlib import Path

import pytest
from tests.authority import answering, openssl_agrees, study_of

from penmark import sealing, study, tokens
from penmark.cli import main
from penmark.demo.authority import LocalAuthority, local_authority


@pytest.fixture
def authority(tmp_path: Path) -> Iterator[LocalAuthority]:
    with local_authority(tmp_path / "authority", "one authority") as running:
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
    promise = sealing.read(edition, "promise")
    assert sorted(promise.digests) == ["detectors/length.json", "protocol.json", "protocol.yaml"]
    assert (promise.study, promise.edition) == ("tiny", "TEST-2026-Q4")
    token = (edition.seals / "promise-one.tsr").read_bytes()
    data = edition.seal("promise").read_bytes()
    assert tokens.check(token, data, tokens.Trust.load([authority.root])).state == "ok"
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
        return b"busy" if busy else sealing.post(authority.url, query)

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
    assert len(sealing.token_files(place.edition().seal("promise"))) == 2


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
    with study.locked(place.private / "lock", "penmark commit"):
        assert penmark(place, "commit") == 2
    assert "in use by penmark commit" in capsys.readouterr().err
    assert sealing.order(place.edition()) == []


def test_a_commit_that_was_cut_off_before_its_seal_is_done_again(tmp_path: Path) -> None:
    place = study_of(tmp_path, {})
    assert penmark(place, "commit") == 0
    place.edition().seal("promise").unlink()
    assert penmark(place, "commit") == 0
    assert sealing.order(place.edition()) == ["promise"]


def test_faults_of_the_protocol_come_with_their_place(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    place = study_of(tmp_path, {}, who='"<your name>"')
    assert penmark(place, "commit") == 1
    shown = capsys.readouterr().err
    assert "people.0.name: still says <your name>" in shown
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
