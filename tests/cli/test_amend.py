"""``penmark amend`` as a user runs it, over two editions."""

from __future__ import annotations

import json
import re
from collections.abc import Iterator
from pathlib import Path

import pytest
from tests.local_authority import study_of

from penmark import protocol, study, timestamps
from penmark.cli import main
from penmark.demo.authority import LocalAuthority, run_local_authority
from penmark.format import canonical_json
from penmark.protocol import amendments

WORDS = ["--what", "Shorter texts.", "--why", "Few fit.", "--before", "300 words", "--after", "200 words"]


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


def test_an_amendment_is_announced_stamped_told_and_carried(
    tmp_path: Path, authority: LocalAuthority, capsys: pytest.CaptureFixture[str]
) -> None:
    place = study_of(tmp_path / "study", {"one": authority.url})
    first = place.edition()
    assert penmark(place, "commit") == 0
    before = first.seal("promise").read_bytes()
    assert penmark(place, "amend", *WORDS) == 0
    shown = capsys.readouterr()
    assert "Amendment 1, announced " in shown.out
    assert "binds TEST-2027-Q1 and later editions" in shown.out
    file, token = first.amendments / "0001.json", first.amendments / "0001-one.tsr"
    result = timestamps.check_token(token.read_bytes(), file.read_bytes(), timestamps.Trust.load([authority.root]))
    assert result.state == "ok"
    assert "- After: 200 words" in place.changes.read_text(encoding="utf-8")
    assert first.seal("promise").read_bytes() == before

    study_of(tmp_path / "study", {"one": authority.url}, edition="TEST-2027-Q1")
    assert penmark(place, "commit") == 0
    second = place.edition()
    assert second.tag == "TEST-2027-Q1"
    assert (second.amendments / "0001.json").read_bytes() == file.read_bytes()
    assert (second.amendments / "0001-one.tsr").read_bytes() == token.read_bytes()
    assert [a.number for a in amendments.list_in_force(place.editions(), second.tag)] == [1]


def test_json_and_a_later_edition(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    place = study_of(tmp_path, {})
    assert penmark(place, "commit") == 0
    capsys.readouterr()
    assert penmark(place, "amend", *WORDS, "--binds-from", "TEST-2027-Q3", "--json") == 0
    told = json.loads(capsys.readouterr().out)
    assert (told["number"], told["binds_from"], told["warnings"]) == (1, "TEST-2027-Q3", [])
    assert told["file"] == "editions/TEST-2026-Q4/amendments/0001.json"


def test_an_authority_that_is_down_is_a_warning_and_asked_again(
    tmp_path: Path, authority: LocalAuthority, capsys: pytest.CaptureFixture[str]
) -> None:
    place = study_of(tmp_path / "study", {"one": authority.url})
    assert penmark(place, "commit") == 0
    real = place.edition().protocol_json.read_bytes()
    down = real.replace(authority.url.encode(), b"http://127.0.0.1:1/")
    place.edition().protocol_json.write_bytes(down)
    assert penmark(place, "amend", *WORDS) == 0
    assert "warning: 0001.json has no timestamp of one" in capsys.readouterr().err
    place.edition().protocol_json.write_bytes(real)
    assert penmark(place, "commit") == 0
    assert (place.edition().amendments / "0001-one.tsr").is_file()


def test_before_the_promise_there_is_nothing_to_amend(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    place = study_of(tmp_path, {})
    assert penmark(place, "amend", *WORDS) == 2
    shown = capsys.readouterr().err
    assert "nothing is promised in TEST-2026-Q4 yet" in shown
    assert not place.changes.exists()


def test_an_edition_that_is_only_begun_does_not_take_amendments(tmp_path: Path) -> None:
    """They are announced in the edition that is promised, so that the new one is bound by them."""
    place = study_of(tmp_path, {})
    assert penmark(place, "commit") == 0
    study_of(tmp_path, {}, edition="TEST-2027-Q1")
    assert penmark(place, "amend", *WORDS) == 0
    first, second = place.editions()
    assert [p.name for p in first.amendments.iterdir()] == ["0001.json"]
    assert not second.amendments.exists()


@pytest.mark.parametrize(
    ("words", "told"),
    [
        ([], "missing: --what, --why, --before, --after\n    For example: penmark amend --what "),
        (WORDS[:4], "missing: --before, --after\n"),
        ([*WORDS, "--binds-from", "Q1"], "'Q1' is not an edition's tag\n    Name a whole tag: series, year, quarter, such as "
         "--binds-from TEST-2027-Q1."),
        ([*WORDS[:-1], " "], "nothing is said of after"),
    ],
)  # fmt: skip
def test_what_is_missing_is_said_at_once_with_an_example(
    tmp_path: Path, capsys: pytest.CaptureFixture[str], words: list[str], told: str
) -> None:
    place = study_of(tmp_path, {})
    assert penmark(place, "commit") == 0
    assert penmark(place, "amend", *words) == 2
    assert told in capsys.readouterr().err
    assert not place.edition().amendments.exists()


# --- what went otherwise -----------------------------------------------------------------------------------------------


def test_a_deviation_is_one_line_with_the_time_and_told(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    place = study_of(tmp_path, {})
    assert penmark(place, "commit") == 0
    edition = place.edition()
    before = {path: path.read_bytes() for path in edition.root.rglob("*") if path.is_file()}
    assert penmark(place, "amend", "--deviation", 'The power was cut, "twice".') == 0
    assert re.fullmatch(
        r'(?s).*Deviation in TEST-2026-Q4, \S+Z: The power was cut, "twice"\.\n  editions/TEST-2026-Q4/deviations\.jsonl; '
        r"CHANGES\.md is up to date\.\n",
        capsys.readouterr().out,
    )
    name = protocol.read_sealed(edition).detectors[0].name
    assert penmark(place, "amend", "--deviation", "It was down.", "--detector", name, "--json") == 0
    told = json.loads(capsys.readouterr().out)
    assert (told["file"], told["detector"]) == ("editions/TEST-2026-Q4/deviations.jsonl", name)
    first, second = amendments.read_deviations(edition)
    assert (first.detector, first.what) == (None, 'The power was cut, "twice".')
    assert (second.detector, second.what, second.at) == (name, "It was down.", told["at"])
    lines = edition.deviations.read_bytes().splitlines(keepends=True)
    assert lines == [canonical_json.encode_json(each.model_dump(mode="json")) + b"\n" for each in (first, second)]
    changes = place.changes.read_text()
    assert changes.index("It was down.") < changes.index("The power was cut")  # the newest first
    after = {path: path.read_bytes() for path in edition.root.rglob("*") if path.is_file()}
    assert after == before | {edition.deviations: edition.deviations.read_bytes()}  # nothing that is sealed


def test_a_deviation_of_an_edition_that_is_promised(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    place = study_of(tmp_path, {})
    assert penmark(place, "amend", "--deviation", "So.") == 2
    assert "nothing is promised yet, so nothing went otherwise\n    Seal the promise" in capsys.readouterr().err
    assert penmark(place, "commit") == 0
    study_of(tmp_path, {}, edition="TEST-2027-Q1")
    assert penmark(place, "amend", "--deviation", "So.") == 0
    old, new = place.editions()
    assert [each.what for each in amendments.read_deviations(old)] == ["So."]
    assert not new.deviations.exists()


@pytest.mark.parametrize(
    ("words", "told"),
    [
        (["--deviation", "So.", *WORDS], "--deviation changes no rule"),
        (["--deviation", "So.", "--binds-from", "TEST-2027-Q1"], "--deviation changes no rule"),
        (["--deviation", " \n"], "nothing is said of the deviation"),
        (["--deviation", "So.", "--detector", "nobody"], "there is no detector 'nobody' in the promise"),
        ([*WORDS, "--detector", "coin"], "--detector belongs to --deviation"),
    ],
)
def test_a_deviation_that_is_none(
    tmp_path: Path, capsys: pytest.CaptureFixture[str], words: list[str], told: str
) -> None:
    place = study_of(tmp_path, {})
    assert penmark(place, "commit") == 0
    assert penmark(place, "amend", *words) == 2
    assert told in capsys.readouterr().err
    assert not place.edition().deviations.exists()
    assert not place.edition().amendments.exists()
