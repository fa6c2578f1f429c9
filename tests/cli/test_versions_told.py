"""Another version than promised is told where it comes in, and nobody is sent to ask for what will not be asked."""

from __future__ import annotations

import json
import sys
from pathlib import Path

import pytest
from tests.frozen_study import detector, frozen
from tests.scripted_detector import CARD, install

from penmark.cli import main
from penmark.protocol import amendments

SEEN = CARD.replace("name: acting", "name: seen").replace("{by: plugin, plugin: acting}", "{by: people}")
RECORD = ("record", "--detector", "seen", "--map", "document=id", "--by", "AB", "--retrospective")


def run(place: Path, *words: str) -> int:
    with pytest.raises(SystemExit) as ended:
        main(["-C", str(place), *words])
    return int(ended.value.code or 0)


@pytest.mark.parametrize("asked", ["v1", None])
def test_recorded_answers_of_another_version_are_a_deviation(
    tmp_path: Path, asked: str | None, capsys: pytest.CaptureFixture[str]
) -> None:
    promised = detector("seen", surface="web", version=asked)
    texts = {"001": "first text", "002": "second text", "003": "third text"}
    place, edition = frozen(tmp_path / "study", texts, promised, cards={"seen": SEEN})
    rows = [{"id": name, "score": "0.5", "version": "v2" if name == "003" else "v1"} for name in texts]
    path = tmp_path / "answers.json"
    path.write_text(json.dumps(rows))
    assert run(place.root, *RECORD, str(path)) == 0
    [told] = amendments.read_deviations(edition)
    assert "1 answer of another version than v1: v2 (the first about 003)" in told.what
    capsys.readouterr()
    run(place.root, "status")
    assert "its version changed from v1 to v2" in capsys.readouterr().out


def test_after_a_version_that_stops_the_scan_neither_command_leads_to_the_other(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    monkeypatch.delitem(sys.modules, "acting_detector", raising=False)
    monkeypatch.syspath_prepend(str(install(tmp_path / "installed")))
    words = ["plain", *["new-version"] * 40]
    texts = {f"{n:03d}": f"{word} text number {n}" for n, word in enumerate(words)}
    place, _ = frozen(tmp_path / "study", texts, detector("acting", version="2.0"), on_version_change="stop")
    for _ in range(2):
        assert run(place.root, "scan") == 1
        said = capsys.readouterr()
        assert "its version changed from 2.0 to 3.0, and the promise says: stop; what is left stays not run" in said.err
        assert "to go on" not in said.err
    run(place.root, "status")
    out = capsys.readouterr().out
    assert "what is left stays not run, as promised" in out
    assert "next: penmark report" in out
