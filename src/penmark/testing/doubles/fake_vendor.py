"""What all doubles have in common: keys, limits, credit, refusals, versions.

*Reads* and *writes* nothing. *Never* answers anything about a text that was refused.
"""

from __future__ import annotations

import json
import re
import secrets
import threading
from collections.abc import Mapping
from decimal import Decimal
from typing import Any, ClassVar, NamedTuple

from penmark.testing.doubles import invented_scores
from penmark.testing.doubles.misbehaviour import OF_RESULTS, Behaviour
from penmark.testing.doubles.requests_log import Ledger, Tariff


class Request(NamedTuple):
    """A request. ``headers``: by lower-case name. ``found``: what the route found in the path."""

    step: str
    found: dict[str, str]
    headers: dict[str, str]
    body: bytes

    def json(self) -> dict[str, Any]:
        """The body; an empty mapping where it is no JSON object."""
        try:
            value = json.loads(self.body)
        except ValueError:
            return {}
        return value if isinstance(value, dict) else {}


class DoubleAnswer(NamedTuple):
    """An answer."""

    status: int
    value: Any
    headers: Mapping[str, str] = {}


class Vendor:
    """One vendor. ``url``: where it is served, once it is. What differs between vendors is said by those that follow."""

    name: ClassVar[str]
    secrets: ClassVar[tuple[str, ...]] = ("key",)
    routes: ClassVar[tuple[tuple[str, str, str], ...]]
    """Method, path (a regular expression), step."""
    verdict: ClassVar[tuple[str | int, ...]]
    """The way to what the vendor's card reads as score or verdict."""
    echo: ClassVar[tuple[str | int, ...] | None] = None
    refusals: ClassVar[dict[str, DoubleAnswer]]
    versions: ClassVar[tuple[str, str] | None] = None
    """Before and after a change; None where the vendor does not tell."""
    zones: ClassVar[dict[str, str]] = {"human": "0.02", "ai": "0.97", "mixed": "0.5", "uncertain": "0.5"}
    tariff: ClassVar[Tariff] = Tariff("1", "texts", 1, "texts")
    least = 0
    """Characters; shorter texts are refused where ``refusals`` has "too short"."""
    most: int | None = None
    """Characters; longer texts are refused where ``refusals`` has "too long"."""

    def __init__(self, *, credit: int | None, version_after: int | None, polls: int) -> None:
        self.keys = {name: secrets.token_hex(16) for name in self.secrets}
        self.ledger = Ledger(self.tariff)
        self.url = ""
        self.credit, self.version_after, self.polls = credit, version_after, polls
        self._answers = 0
        self._lock = threading.Lock()

    @classmethod
    def able(cls, behaviour: Behaviour) -> None:
        """Raises ValueError for a behaviour that this vendor cannot have."""
        refusals = {*cls.refusals, "broken", "busy"}
        able = {
            "wrong key": "wrong key" in refusals,
            "no credit": "no credit" in refusals,
            "too short": "too short" in refusals,
            "too long": "too long" in refusals,
            "echo changed": cls.echo is not None,
            "failed job": any(step == "poll" for *_, step in cls.routes),
            "endless job": any(step == "poll" for *_, step in cls.routes),
            "expired login": any(step == "login" for *_, step in cls.routes),
        }
        if not able.get(behaviour.kind, True) or behaviour.at not in {step for *_, step in cls.routes}:
            raise ValueError(f"{cls.name} cannot do this: {behaviour.kind}, at {behaviour.at}")

    def route(self, method: str, path: str) -> tuple[str, dict[str, str]] | None:
        """Which step a request is, and what its path holds."""
        for verb, pattern, step in self.routes:
            if verb == method and (match := re.fullmatch(pattern, path)) is not None:
                return step, match.groupdict()
        return None

    def refused(self, kind: str) -> DoubleAnswer:
        """The vendor's own refusal."""
        if kind in self.refusals:
            return self.refusals[kind]
        return {
            "broken": DoubleAnswer(500, {"error": "internal"}),
            "busy": DoubleAnswer(503, {"error": "unavailable"}),
        }[kind]

    def answer(self, asked: Request, act: Behaviour | None) -> DoubleAnswer:
        """What the vendor answers; ``act`` is what goes wrong with this request."""
        if not self.knows(asked):
            return self.refused("wrong key")
        if act is not None and act.kind in (*self.refusals, "broken", "busy"):
            return self.refused(act.kind)
        return self.do(asked, act if act is not None and act.kind in OF_RESULTS else None)

    def do(self, asked: Request, act: Behaviour | None) -> DoubleAnswer:
        """Take the text and judge it."""
        text = self.text(asked)
        if (refusal := self.taken(text)) is not None:
            return refusal
        return DoubleAnswer(200, self.spoilt(self.result(text, self.number(text)), act))

    def taken(self, text: str) -> DoubleAnswer | None:
        """Charge for ``text``, or say why it is not taken."""
        if len(text) < self.least and "too short" in self.refusals:
            return self.refused("too short")
        if self.most is not None and len(text) > self.most and "too long" in self.refusals:
            return self.refused("too long")
        if self.credit is not None and self.ledger.billed >= self.credit and "no credit" in self.refusals:
            return self.refused("no credit")
        self.ledger.charge(text)
        return None

    def number(self, text: str) -> Decimal:
        """How much the vendor says that the text is AI, 0 to 1."""
        return invented_scores.score_text(text, self.zones)

    def version(self) -> str:
        """The version of the answer that is being given."""
        before, after = self.versions or ("", "")
        with self._lock:
            self._answers += 1
            return before if self.version_after is None or self._answers <= self.version_after else after

    def spoilt(self, value: Any, act: Behaviour | None) -> Any:
        """A result with what goes wrong with results."""
        if act is None:
            return value
        if act.kind == "missing field":
            parent = _make_at(value, self.verdict[:-1])
            parent.pop(self.verdict[-1])
        elif act.kind == "null score":
            _make_at(value, self.verdict[:-1])[self.verdict[-1]] = None
        elif act.kind == "extra field":
            _make_at(value, self.verdict[:-1])["new_in_this_version"] = {"nobody": ["knows", 1, None]}
        elif act.kind == "echo changed" and self.echo is not None:
            _make_at(value, self.echo[:-1])[self.echo[-1]] += " And a word more."
        return value

    # What differs between vendors.

    def knows(self, asked: Request) -> bool:
        """Whether the request carries the key."""
        raise NotImplementedError

    def text(self, asked: Request) -> str:
        """The text in a request."""
        raise NotImplementedError

    def result(self, text: str, number: Decimal) -> Any:
        """The vendor's answer."""
        raise NotImplementedError


def _make_at(value: Any, way: tuple[str | int, ...]) -> Any:
    for part in way:
        value = value[part]
    return value
