"""What a double was asked, and what it would have charged.

*Reads* and *writes* nothing. *Never* keeps a text: texts are counted by digest.
"""

from __future__ import annotations

import hashlib
import threading
from collections import Counter
from decimal import ROUND_CEILING, Decimal
from typing import NamedTuple


class Tariff(NamedTuple):
    """``amount`` for each begun ``per`` of ``unit`` (words, characters, texts)."""

    amount: str
    currency: str
    per: int
    unit: str

    def price(self, text: str) -> Decimal:
        """What ``text`` costs."""
        size = {"words": len(text.split()), "characters": len(text), "texts": 1}[self.unit]
        return Decimal(self.amount) * (Decimal(size) / self.per).to_integral_value(ROUND_CEILING)


class Ledger:
    """Counts of one double. Written by its threads; may be read at any time.

    ``requests``: by step, as they came, those too that were not read to their end. ``texts``: how often each text was
    charged for, by SHA-256. ``charged``: the sum, in ``currency``. ``leaks``: requests that carried a key to a place
    where it does not belong.
    """

    def __init__(self, tariff: Tariff) -> None:
        self.tariff, self.currency = tariff, tariff.currency
        self.requests: Counter[str] = Counter()
        self.texts: Counter[str] = Counter()
        self.charged = Decimal(0)
        self.leaks = 0
        self._lock = threading.Lock()

    def came(self, step: str) -> None:
        """A request came."""
        with self._lock:
            self.requests[step] += 1

    def charge(self, text: str, sign: int = 1) -> None:
        """Charge for a text, or with ``sign`` -1 give the money back."""
        with self._lock:
            self.texts[hashlib.sha256(text.encode()).hexdigest()] += sign
            self.charged += sign * self.tariff.price(text)

    def leaked(self) -> None:
        """A key came where none belongs."""
        with self._lock:
            self.leaks += 1

    @property
    def billed(self) -> int:
        """Texts that were charged for, each as often as it was."""
        with self._lock:
            return sum(self.texts.values())
