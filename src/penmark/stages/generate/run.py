"""A run: every model's lane side by side, until all texts are there or somebody stops it.

*Reads* the standing. *Writes* through the lanes. *Never* lets one model hold up another.
"""

from __future__ import annotations

import threading
from collections import Counter
from collections.abc import Callable
from decimal import Decimal

from penmark.stages.generate.design import Grid
from penmark.stages.generate.generation_rules import Rules
from penmark.stages.generate.model_worker import Desk, ModelWorker
from penmark.study.stop_signals import catch_stop_signals

Tell = Callable[[ModelWorker], None]


class Run:
    """An opened run. ``lanes``: empty where nothing is left to ask for."""

    def __init__(self, grid: Grid, rules: Rules, lanes: list[ModelWorker], desk: Desk) -> None:
        self.grid, self.rules, self.lanes = grid, rules, lanes
        self._desk = desk
        self._stop = threading.Event()
        self._signals = 0

    def run(self, tell: Tell = lambda lane: None) -> None:
        """Ask until all is there. ``tell`` is called by the lanes, each from its own thread, after each text.

        SIGINT and SIGTERM let the requests in flight end; a second one leaves them in doubt.
        """
        threads = [
            threading.Thread(target=lane.run, args=(self._stop, lambda lane=lane: tell(lane)), daemon=True)
            for lane in self.lanes
        ]
        with catch_stop_signals(self._hear_signal):
            for thread in threads:
                thread.start()
            for thread in threads:
                while thread.is_alive() and self._signals < 2:
                    thread.join(0.2)

    def stop(self) -> None:
        """Ask for nothing more; what is in flight ends."""
        self._stop.set()

    def counts(self, lane: ModelWorker | None = None) -> dict[str, int]:
        """How many spots are accepted, to be asked for, and given up; of one model, or of all."""
        spots = self.grid.spots if lane is None else lane.spots
        states = Counter(self._desk.standing.state(spot.id, self.rules) for spot in spots)
        return {"texts": len(spots), **{state: states[state] for state in ("accepted", "to ask", "given up")}}

    def rejected(self) -> dict[str, int]:
        """How often each gate kept something out of the arm; most first."""
        return dict(self._desk.standing.rejected().most_common())

    @property
    def spent(self) -> tuple[Decimal, str | None]:
        """What the arm has cost so far, all runs together, and in which currency; zero and None where nothing costs."""
        return self._desk.purse.spent, self._desk.purse.currency

    def _hear_signal(self) -> None:
        self._signals += 1
        self._stop.set()
