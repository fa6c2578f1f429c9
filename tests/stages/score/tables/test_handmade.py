"""The tables of a study that was made by hand, by another reading of the format: the same bytes."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import pytest
from tests.standalone import handmade

from penmark import study
from penmark.stages import score
from penmark.stages.score import tables


def _as_records_have_it(made: Any) -> None:
    """Quotas that add up, and named plugins: what records ask for and the tables do not look at."""
    for arm in made.protocol["arms"]:
        arm["quotas"] = []
    for name, sealed in made.cards.items():
        if sealed["card"]["ask"]["by"] == "plugin":
            sealed["card"]["ask"]["plugin"] = name


@pytest.mark.parametrize("retrospective", [False, True])
def test_every_table_to_the_byte(tmp_path: Path, retrospective: bool) -> None:
    files = handmade.build({"protocol": _as_records_have_it}, retrospective=retrospective)
    edition = study.Edition(handmade.write(files, tmp_path))
    departures = files["tables/departures.csv"]
    made = tables.make_tables(edition, departures)
    by_hand = {path: data for path, data in files.items() if path.startswith("tables/")}
    assert len(by_hand) >= 8
    for path, data in by_hand.items():
        assert made[path].decode().split("\n") == data.decode().split("\n"), path
    assert score.score_edition(edition).timing == ("retrospective" if retrospective else "prospective")


def test_the_same_bytes_twice_and_from_another_folder(tmp_path: Path) -> None:
    files = handmade.build({"protocol": _as_records_have_it})
    once = tables.make_tables(study.Edition(handmade.write(files, tmp_path / "one")))
    again = tables.make_tables(study.Edition(handmade.write(files, tmp_path / "two" / "deep")))
    assert once == again
    assert "tables/departures.csv" not in once  # its bytes come from whoever knows the templates
