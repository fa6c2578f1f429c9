"""The cost plan: what is still to be asked for, about how many tokens it is, and what it may cost.

*Reads* what a run stands on, and the exchanges so far. *Writes* nothing. *Never* asks for anything, or needs a key.
"""

from __future__ import annotations

from collections.abc import Mapping
from decimal import Decimal
from typing import NamedTuple

from penmark.records import TokenPrice
from penmark.stages.generate import exchange_log, open_run
from penmark.stages.generate.arm_progress import ArmProgress
from penmark.stages.generate.budget import compute_token_cost, estimate_tokens, key_model
from penmark.stages.generate.generation_rules import filled
from penmark.stages.generate.open_run import STEM, ArmContext


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


def plan_costs(base: ArmContext, prices: Mapping[str, TokenPrice] | None = None) -> list[Planned]:
    """One row for each model, in the protocol's order."""
    standing = ArmProgress()
    for _, line in exchange_log.read_exchanges(base.files.root, STEM, base.promise_sha256):
        standing.take(line)
    known = open_run.price_models(base.generation.models, prices or {})
    made = []
    for model in base.generation.models:
        texts = words = read = written = 0
        for spot in base.grid.spots:
            step = standing.next(spot.id, base.rules) if key_model(spot.model) == key_model(model) else None
            lender = base.grid.lender(spot.id, step.turn) if step is not None else None
            if lender is None:
                continue
            prompt = filled(spot.style.prompt, base.grid.topics[lender.id], lender.words)
            more = estimate_tokens(len(prompt), lender.words)
            texts, words, read, written = texts + 1, words + lender.words, read + more[0], written + more[1]
        price, local = known.get(key_model(model)), open_run.is_local_model(model)
        amount = Decimal(0) if local else None if price is None else compute_token_cost(price, read, written)
        currency = None if local or price is None else price.currency
        made.append(Planned(model.provider, model.model, texts, words, read, written, amount, currency, local))
    return made
