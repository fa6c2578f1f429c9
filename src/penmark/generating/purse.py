"""The budget: what was spent, what is reserved for texts that are being written, and whether the next one may be asked for.

*Reads* and *writes* nothing. *Never* spends more than it was given, but by what a text costs beyond its estimate.
"""

from __future__ import annotations

import threading
from collections.abc import Mapping
from decimal import Decimal

from penmark.errors import UsageError
from penmark.records import Model, TokenPrice

Key = tuple[str, str]
"""Provider and model."""


def key(model: Model) -> Key:
    """By which a model is known."""
    return model.provider, model.model


def cost(price: TokenPrice, read: int, written: int) -> Decimal:
    """What so many tokens cost."""
    return (Decimal(price.read) * read + Decimal(price.written) * written) / price.per


def expected(prompt: str, words: int) -> tuple[int, int]:
    """About how many tokens a prompt is, and a text of so many words: rather too many than too few."""
    return len(prompt) // 3 + 16, words * 2


class Purse:
    """``limit``: the budget, over all runs; None: there is none, and nothing that costs may be asked for."""

    def __init__(self, prices: Mapping[Key, TokenPrice], limit: Decimal | None) -> None:
        currencies = sorted({price.currency for price in prices.values()})
        if len(currencies) > 1:
            raise UsageError(
                f"the prices are in {' and '.join(currencies)}, so no one budget can hold them",
                remedy="Give them all in one currency: --price MODEL=READ/WRITTEN for those that differ.",
            )
        self.currency = currencies[0] if currencies else None
        self.spent = Decimal(0)
        self._prices, self._limit, self._reserved = prices, limit, Decimal(0)
        self._most: dict[Key, int] = {}
        self._lock = threading.Lock()

    def estimate(self, model: Key, prompt: str, words: int) -> Decimal:
        """What a text will cost: as long as it should be, or as the longest answer so far (a model may think first)."""
        if model not in self._prices:
            return Decimal(0)
        read, written = expected(prompt, words)
        return cost(self._prices[model], read, max(written, self._most.get(model, 0)))

    def reserve(self, amount: Decimal) -> bool:
        """Set an amount aside; False where the budget does not suffice."""
        with self._lock:
            if self._limit is not None and self.spent + self._reserved + amount > self._limit:
                return False
            self._reserved += amount
            return True

    def free(self, amount: Decimal) -> None:
        """Give back what was set aside."""
        with self._lock:
            self._reserved -= amount

    def pay(self, model: Key, read: int | None, written: int | None, estimate: Decimal) -> None:
        """Count what an answer cost; the estimate, where the provider does not tell or no answer came."""
        with self._lock:
            if model not in self._prices:
                return
            if read is None or written is None:
                self.spent += estimate
                return
            self._most[model] = max(self._most.get(model, 0), written)
            self.spent += cost(self._prices[model], read, written)
