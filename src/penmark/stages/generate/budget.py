"""The budget: what was spent, what is reserved for texts that are being written, and whether the next one may be asked for.

*Reads* and *writes* nothing. *Never* spends more than it was given, but by what a text costs beyond its estimate.
"""

from __future__ import annotations

import threading
from collections.abc import Mapping
from decimal import Decimal

from penmark.errors import UsageError
from penmark.records import Model, TokenPrice
from penmark.stages.generate.exchange_log import Line

Key = tuple[str, str]
"""Provider and model."""


def key_model(model: Model) -> Key:
    """By which a model is known."""
    return model.provider, model.model


def compute_token_cost(price: TokenPrice, read: int, written: int) -> Decimal:
    """What so many tokens cost."""
    return (Decimal(price.read) * read + Decimal(price.written) * written) / price.per


def estimate_tokens(characters: int, words: int) -> tuple[int, int]:
    """About how many tokens a request and a text of so many words are: rather too many than too few."""
    return characters // 3 + 16, words * 2


class TokenBudget:
    """``limit``: the budget over all runs; None: there is none. Sees every line of the exchanges (``take``): what was
    sent and not answered counts at its estimate, an answer at the tokens that the provider counted."""

    def __init__(self, prices: Mapping[Key, TokenPrice], limit: Decimal | None) -> None:
        currencies = sorted({price.currency for price in prices.values()})
        if len(currencies) > 1:
            raise UsageError(
                f"the prices are in {' and '.join(currencies)}, so no one budget can hold them",
                remedy="Give them all in one currency in the protocol, or with --price.",
            )
        self.currency = currencies[0] if currencies else None
        self._prices, self._limit = prices, limit
        self._paid, self._reserved = Decimal(0), Decimal(0)
        self._open: dict[tuple[str, int, int], Decimal] = {}
        self._most: dict[Key, int] = {}
        self._lock = threading.Lock()

    @property
    def spent(self) -> Decimal:
        """What was spent, as far as it is known."""
        with self._lock:
            return self._known()

    def _known(self) -> Decimal:
        return self._paid + sum(self._open.values(), Decimal(0))

    def estimate(self, model: Key, characters: int, words: int) -> Decimal:
        """What a text will cost: as long as it should be, or as the longest answer so far (a model may think first)."""
        if model not in self._prices:
            return Decimal(0)
        read, written = estimate_tokens(characters, words)
        return compute_token_cost(self._prices[model], read, max(written, self._most.get(model, 0)))

    def reserve(self, amount: Decimal) -> bool:
        """Set an amount aside; False where the budget does not suffice."""
        with self._lock:
            if self._limit is not None and self._known() + self._reserved + amount > self._limit:
                return False
            self._reserved += amount
        return True

    def free(self, amount: Decimal) -> None:
        """Give back what was set aside: by now a line tells of it, or nothing was sent."""
        with self._lock:
            self._reserved -= amount

    def take(self, line: Line) -> None:
        """Take the next line of the exchanges."""
        if line["kind"] not in ("sent", "retry", "answer"):
            return
        request = line["document"], line["turn"], line["attempt"]
        if line["kind"] == "sent":
            estimate = self.estimate(
                (line["provider"], line["model"]), len(line["request"]["body"]), line["word_target"]
            )
            with self._lock:
                self._open[request] = estimate
            return
        with self._lock:
            estimate = self._open.pop(request, Decimal(0))
            if line["kind"] == "retry":
                self._paid += estimate if line["charged"] == "maybe" else 0
            else:
                self._paid += self._price(line, estimate)

    def _price(self, line: Line, estimate: Decimal) -> Decimal:
        model, read, written = (line["provider"], line["model"]), line["tokens_read"], line["tokens_written"]
        if model not in self._prices or read is None or written is None:
            return estimate
        self._most[model] = max(self._most.get(model, 0), written)
        return compute_token_cost(self._prices[model], read, written)
