"""The rehearsal: a whole paid run against the vendors' doubles, without an account and without a cent.

*Reads* the vendors' cards. *Writes* copies of them beside the protocol, in which a server on this machine stands for the
vendor. *Never* sends anything to a vendor, or uses a real key: as long as it runs, the environment holds the doubles'.
"""

from __future__ import annotations

import contextlib
import os
from collections.abc import Iterator
from decimal import ROUND_CEILING, Decimal

from penmark import cards, frozen, study
from penmark.doubles import Behaviour, Double, double, placed
from penmark.scan import foresight, plan
from penmark.scan.ready import Limits

TITLE = "Rehearsal of a paid run: doubles answered in the vendors' place, and it measures nothing"
ACTS: dict[str, tuple[str | Behaviour | None, ...]] = {
    "copyleaks": (None, None, Behaviour("expired login")),
    "gptzero": (None, None, None, Behaviour("rate limited", retry_after="1")),
    "originality-lite": (None, None, "busy"),
    "sapling": (None, None, "drop before"),
    "undetectable": (),
    "winston": (),
    "zerogpt": (None, None, "null score"),
}
"""The vendors that are rehearsed, and what goes wrong with them, as it does in life."""
SPARE = Decimal("1.05")
"""A budget that leaves room for what is asked again."""


@contextlib.contextmanager
def doubles() -> Iterator[dict[str, Double]]:
    """The doubles by vendor, and their keys in the environment, while in the block."""
    with contextlib.ExitStack() as open_ones:
        there = {name: open_ones.enter_context(double(name, behaviours=acts)) for name, acts in ACTS.items()}
        keys: dict[str, str] = {}
        for name, each in there.items():
            request = cards.load(cards.find(name, None)).ask.request
            assert request is not None
            keys |= {key.env: each.keys[which] for which, key in request.keys.items()}
        before = {variable: os.environ.get(variable) for variable in keys}
        os.environ.update(keys)
        try:
            yield there
        finally:
            for variable, value in before.items():
                if value is None:
                    del os.environ[variable]
                else:
                    os.environ[variable] = value


def write_cards(place: study.Study, there: dict[str, Double]) -> None:
    """Put the cards beside the protocol, each with its double's address."""
    for name, each in there.items():
        written = cards.find(name, None).read_text(encoding="utf-8")
        study.write(place.cards / f"{name}.yaml", placed(written, each.url).encode())


def detectors() -> list[str]:
    """The lines of the protocol."""
    facts = "surface: api, tier: a double, payer: nobody, relation: none"
    return [f"  - {{name: {name}, card: {name}, {facts}}}" for name in ACTS]


def budgets(place: study.Study, edition: study.Edition) -> list[str]:
    """The options that allow what the plan says, and a little more."""
    ground = frozen.ground(edition, verb="scan")
    made = plan.make(place, ground, plan.chosen(ground.protocol, ground.cards, []))
    options: list[str] = []
    for name, part in made.parts.items():
        price = foresight.look(made, part, Limits(), None).price
        if price is not None:
            amount = (price * SPARE).quantize(Decimal("0.01"), ROUND_CEILING)
            options += ["--budget", f"{name}={amount.normalize():f}"]
    return options
