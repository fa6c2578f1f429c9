"""One model's lane: its spots one after the other, each until a text passes the gates or nothing more may be asked.

*Reads* the grid and the standing. *Writes* through ``asking``, and a ``stop`` line. *Never* holds up another model.
"""

from __future__ import annotations

import threading
from collections.abc import Callable
from dataclasses import dataclass

from penmark.cards import judge
from penmark.errors import PenmarkError, ServiceError
from penmark.plugins import Generator, UnansweredError
from penmark.records import Model, Words
from penmark.stages.generate import acceptance_rules
from penmark.stages.generate.arm_progress import ArmProgress, Next
from penmark.stages.generate.budget import TokenBudget
from penmark.stages.generate.design import Grid, Spot
from penmark.stages.generate.exchange_log import Exchanges
from penmark.stages.generate.generation_rules import Rules, filled
from penmark.stages.generate.text_request import Short, WantedText, ask_for_text

PATIENCE = 120.0
"""Seconds: a provider that asks to be left alone for longer is asked by the next run."""


@dataclass(frozen=True)
class Desk:
    """What the lanes of a run share. ``pause``: seconds to wait after the so-manieth failure in a row."""

    grid: Grid
    rules: Rules
    limits: Words | None
    standing: ArmProgress
    exchanges: Exchanges
    purse: TokenBudget
    pause: Callable[[int], float]


class ModelWorker:
    """Runs in a thread of its own. ``ended``: why it did, once it has; ``done``: spots that it has finished in this run."""

    def __init__(self, model: Model, generator: Generator, spots: list[Spot], desk: Desk) -> None:
        self.model, self.spots = model, spots
        self.ended: str | None = None
        self.error: PenmarkError | None = None
        self.done = 0
        self._generator, self._desk = generator, desk

    def run(self, stop: threading.Event, tell: Callable[[], None]) -> None:
        """Ask until all is there, ``stop`` is set, or something ends it. ``tell`` is called after each spot, and at the end."""
        try:
            ended = self._work(stop, tell)
        except Short:
            ended = "the budget does not suffice for the next text"
        except PenmarkError as error:
            self.error, ended = error, judge.clean_reason(error.faults[0].fact)
        except Exception as error:  # a fault of ours: told as one, and the other lanes go on
            self.error = PenmarkError(f"this should not happen ({type(error).__name__}: {error})")
            ended = "a fault of penmark"
        try:
            line = {
                "at": judge.get_time_now(),
                "kind": "stop",
                "model": self.model.model,
                "provider": self.model.provider,
            }
            self._desk.exchanges.append(line | {"reason": ended})
        except PenmarkError as error:
            self.error = self.error or error
        self.ended = ended
        tell()

    def _work(self, stop: threading.Event, tell: Callable[[], None]) -> str:
        for spot in self.spots:
            failures = 0
            while (step := self._desk.standing.next(spot.id, self._desk.rules)) is not None:
                if stop.is_set():
                    return "interrupted"
                wanted = self._wanted(spot, step)
                if wanted is None:
                    break  # no topic is left
                try:
                    ask_for_text(wanted, self._generator, self._desk.exchanges, self._desk.purse)
                    failures = 0
                except UnansweredError as error:
                    failures += 1
                    if stop.wait(self._await_work(error, failures)):
                        return "interrupted"
            self.done += 1
            tell()
        return "done"

    def _await_work(self, error: UnansweredError, failures: int) -> float:
        """Seconds to wait before the same is sent again. Raises where it is not, in this run."""
        fault = error.faults[0]
        if error.stop or not error.again or failures >= self._desk.rules.sends:
            raise ServiceError(fault.fact, place=self.model.model, remedy=fault.remedy) from None
        rest = max(self._desk.pause(failures), error.retry_after or 0.0)
        if rest > PATIENCE:
            raise ServiceError(
                f"{fault.fact}; asks to be left alone for {rest:g} seconds",
                place=self.model.model,
                remedy="Run the same command again after that.",
            ) from None
        return rest

    def _wanted(self, spot: Spot, step: Next) -> WantedText | None:
        desk = self._desk
        lender = desk.grid.lender(spot.id, step.turn)
        if lender is None:
            return None
        topic = desk.grid.topics[lender.id]
        prompt = filled(spot.style.prompt, topic, lender.words)
        about = {"language": lender.language, "matched": lender.id, "prompt": prompt}
        about |= {"style": spot.style.name, "topic": topic}
        return WantedText(
            document=spot.id,
            step=step,
            model=self.model,
            prompt=prompt,
            words=lender.words,
            about=about,
            judge=lambda written: acceptance_rules.judge_text(written, prompt, topic, desk.limits, desk.rules.gates),
        )
