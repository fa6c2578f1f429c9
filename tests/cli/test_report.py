"""``penmark report`` as a user runs it, before its time."""

from __future__ import annotations

from pathlib import Path

import pytest
from tests.cases.trial import Trial, arm, seen, verdicts

CARD = seen(**verdicts(Human="human", AI="ai"))


@pytest.mark.parametrize("further", [(), ("--boundary", "seen=0.5"), ("--close",)])
def test_before_its_time_it_names_the_next_command(tmp_path: Path, further: tuple[str, ...]) -> None:
    trial = Trial(tmp_path / "study", [arm("A", "human", 1)], cards=[CARD])
    said = trial.run("report", *further)
    assert said.code == 2
    assert "is not promised yet, so there is nothing to report\n    Run `penmark commit` first." in said.err
    trial.done("commit")
    said = trial.run("report", *further)
    assert said.code == 2
    assert "has no frozen corpus yet, so there is nothing to report\n    Run `penmark freeze` first." in said.err
