"""The cost plan: what is still to be asked for, about how many tokens it is, and what it may cost.

*Reads* what a run stands on, and the exchanges so far. *Writes* nothing. *Never* asks for anything, or needs a key.
"""

from __future__ import annotations

from collections.abc import Mapping
from decimal import Decimal
from typing import NamedTuple

from penmark.generating import exchanges, opening
from penmark.generating.opening import STEM, Ground
from penmark.generating.purse import cost, expected, key
from penmark.generating.rules import filled
from penmark.generating.standing import Standing
from penmark.records import TokenPrice


class Planned(NamedTuple):
    """What one model is still to be asked for. ``local``: it runs on this machine, and costs nothing. ``cost``: None where
    no price is known; texts in place of rejected ones come on top of it."""

    provider: str
    model: str
    texts: int
    words: int
    tokens_read: int
    tokens_written: int
    cost: Decimal | None
    currency: str | None
    local: bool


def plan(base: Ground, prices: Mapping[str, TokenPrice] | None = None) -> list[Planned]:
    """One row for each model, in the protocol's order."""
    standing = Standing()
    for _, line in exchanges.read(base.files.root, STEM, base.promise_sha256):
        standing.take(line)
    known = opening.priced(base.generation.models, prices or {})
    made = []
    for model in base.generation.models:
        texts = words = read = written = 0
        for spot in base.grid.spots:
            step = standing.next(spot.id, base.rules) if key(spot.model) == key(model) else None
            lender = base.grid.lender(spot.id, step.turn) if step is not None else None
            if lender is None:
                continue
            prompt = filled(spot.style.prompt, base.grid.topics[lender.id], lender.words)
            more = expected(len(prompt), lender.words)
            texts, words, read, written = texts + 1, words + lender.words, read + more[0], written + more[1]
        price, local = known.get(key(model)), opening.here(model)
        amount = Decimal(0) if local else None if price is None else cost(price, read, written)
        currency = None if local or price is None else price.currency
        made.append(Planned(model.provider, model.model, texts, words, read, written, amount, currency, local))
    return made
