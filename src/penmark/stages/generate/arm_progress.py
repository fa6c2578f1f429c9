"""How far an arm is: what was asked for at each spot, what came, and what is next. The exchanges decide.

*Reads* lines as they are shown to it. *Writes* nothing. *Never* counts a text that no line holds.
"""

from __future__ import annotations

import threading
from collections import Counter
from dataclasses import dataclass, field
from typing import Any, Literal, NamedTuple

from penmark.stages.generate.exchange_log import Line
from penmark.stages.generate.generation_rules import Rules

State = Literal["accepted", "to ask", "given up"]
_BULK = ("request", "response", "text", "kind", "prev")


@dataclass
class Turn:
    """One topic at one spot. ``sent``: the line of its last sending, without the request's bytes; ``failed``: that
    sending is known to have failed; ``answer``: the line of its answer, without the bytes; ``decided``: why a person says
    that it is no text of the arm."""

    attempts: int
    sent: dict[str, Any]
    failed: bool = False
    answer: dict[str, Any] | None = None
    decided: str | None = None

    @property
    def gates(self) -> list[str]:
        """Why nothing of this turn is in the arm; empty while it is open, and for a text that was taken."""
        if self.answer is not None:
            told = [str(gate) for gate, _ in self.answer["gates"]]
            return [*told, "refused"] if self.decided is not None and "refused" not in told else told
        return [] if self.failed else ["in doubt"]

    @property
    def accepted(self) -> bool:
        """Whether the arm holds this turn's text."""
        return self.answer is not None and not self.gates


class Next(NamedTuple):
    """What is to be asked for next at a spot: the ``turn``-th topic, the ``attempt``-th time."""

    turn: int
    attempt: int


@dataclass
class ArmProgress:
    """What the exchanges say. ``turns``: by spot. ``start``: the first start line. May be read while lanes go on."""

    turns: dict[str, list[Turn]] = field(default_factory=dict)
    start: Line | None = None
    _lock: threading.Lock = field(default_factory=threading.Lock)

    def take(self, line: Line) -> None:
        """Take the next line."""
        with self._lock:
            kind = line["kind"]
            if kind == "start" and self.start is None:
                self.start = line
            elif kind == "sent":
                self._sent(line)
            elif kind == "retry":
                self.turns[line["document"]][line["turn"] - 1].failed = True
            elif kind == "answer":
                turn = self.turns[line["document"]][line["turn"] - 1]
                turn.answer = {name: value for name, value in line.items() if name not in _BULK}
                turn.answer["response_sha256"] = line["response"]["sha256"]
            elif kind == "decision":
                self.turns[line["document"]][line["turn"] - 1].decided = line["because"]

    def _sent(self, line: Line) -> None:
        turns = self.turns.setdefault(line["document"], [])
        slim = {name: value for name, value in line.items() if name not in _BULK}
        slim["request_sha256"] = line["request"]["sha256"]
        if line["turn"] > len(turns):
            turns.append(Turn(line["attempt"], slim))
        else:
            turns[-1].attempts, turns[-1].sent, turns[-1].failed = line["attempt"], slim, False

    def next(self, spot: str, rules: Rules) -> Next | None:
        """What is next at a spot where nothing is under way; None where it is done, or nothing more may be asked for."""
        turns = self.turns.get(spot, [])
        if not turns:
            return Next(1, 1)
        last = turns[-1]
        if last.accepted:
            return None
        lost = last.answer is None and not last.failed
        again = last.failed or (lost and rules.ask_again and last.attempts < rules.sends)
        if last.answer is None and again:
            return Next(len(turns), last.attempts + 1)
        return Next(len(turns) + 1, 1) if len(turns) < rules.turns else None

    def state(self, spot: str, rules: Rules) -> State:
        """Where a spot stands, with nothing under way."""
        turns = self.turns.get(spot, [])
        if turns and turns[-1].accepted:
            return "accepted"
        return "to ask" if self.next(spot, rules) is not None else "given up"

    def rejected(self) -> Counter[str]:
        """How often each gate kept something out of the arm."""
        return Counter(gate for turns in list(self.turns.values()) for turn in turns for gate in turn.gates)
