"""Progress where nobody watches: few lines, and one at the end."""

from __future__ import annotations

from types import SimpleNamespace
from typing import Any

import pytest

from penmark.cli import progress
from penmark.stages.scan.worker import Tally


@pytest.mark.parametrize("pause", [0.01, 1.0, 30.0])
def test_without_a_terminal_there_is_a_line_in_ten_seconds_at_most_and_one_at_the_end(
    monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str], pause: float
) -> None:
    clock = [0.0]
    monkeypatch.setattr(progress.time, "monotonic", lambda: clock[0])
    part: Any = SimpleNamespace(detector=SimpleNamespace(name="slow"))
    counts = {"documents": 80, "to_ask": 80}
    scan: Any = SimpleNamespace(
        plan=SimpleNamespace(parts={"slow": part}, counts=lambda part: counts), purse=SimpleNamespace(accounts={})
    )
    lane: Any = SimpleNamespace(tally=Tally(began=0.0))
    told: list[tuple[float, str]] = []
    with progress.Progress(scan, False) as shown:
        for _ in range(80):
            clock[0] += pause
            lane.tally.answered += 1
            shown.tell(lane, part)
            told += [(clock[0], line) for line in capsys.readouterr().err.splitlines()]
        lane.tally.ended = "done"
        shown.tell(lane, part)
    end = capsys.readouterr().err
    assert end == "slow: 80 of 80\n"
    times = [at for at, _ in told]
    assert all(later - before > progress.PAUSE for before, later in zip([0.0, *times], times, strict=False))
    assert all("80 of 80" not in line for _, line in told)
    assert len(told) == {0.01: 0, 1.0: 7, 30.0: 10}[pause]
