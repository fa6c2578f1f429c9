"""The purse: what each vendor may cost, what it has cost, and whether the next text may be sent.

*Reads* and *writes* nothing. *Never* lets a call leave that could make more than the budget due: what may have been
charged counts as charged, until it is known that it was not.
"""

from __future__ import annotations

import re
import threading
from collections.abc import Callable, Iterable, Mapping
from dataclasses import dataclass, field
from decimal import Decimal
from typing import Literal

from penmark.cards import requests
from penmark.errors import UsageError, suggest_name
from penmark.records import Card, Price
from penmark.text import count_words

MAYBE = "; may have been charged"
"""How the reason of an attempt ends that failed, and may have been charged all the same."""
TEXTS = Price(amount="1", currency="texts", per=1, unit="texts", rounding="up")
"""The price of a vendor that tells none: a budget for it is a number of texts."""
_MONEY = re.compile("[A-Z]{3}")
ALL = ""
"""The name under which a budget for all detectors together is given."""


def find_tariff(card: Card) -> Price | None:
    """What a text costs; None where it costs nothing: a local plugin, a server on this machine, a price of 0."""
    request = card.ask.request
    if request is None:
        return None
    if request.price is not None:
        return request.price if Decimal(request.price.amount) > 0 else None
    return TEXTS if requests.find_local_address(request) is None else None


@dataclass
class Spend:
    """One detector's side of the purse. ``unit``: what can be added up with that of another. ``sure``: what was charged by
    what is on record; ``maybe``: what may have been, beyond that; ``held``: for calls that are under way. ``limit``: None
    where only the budget for all counts."""

    currency: str
    unit: str
    limit: Decimal | None = None
    sure: Decimal = Decimal(0)
    maybe: Decimal = Decimal(0)
    held: Decimal = Decimal(0)

    @property
    def due(self) -> Decimal:
        """The most that can be due."""
        return self.sure + self.maybe + self.held


@dataclass
class Budget:
    """All accounts. ``whole``: the limit for those in ``unit`` together, or None. Used by several threads."""

    accounts: dict[str, Spend] = field(default_factory=dict)
    whole: Decimal | None = None
    unit: str | None = None
    _lock: threading.Lock = field(default_factory=threading.Lock)

    def reserve(self, name: str, amount: Decimal) -> bool:
        """Set an amount aside for a call; False where a budget does not suffice."""
        with self._lock:
            account = self.accounts[name]
            if account.limit is not None and account.due + amount > account.limit:
                return False
            if self.whole is not None and account.unit == self.unit:
                due = sum((a.due for a in self.accounts.values() if a.unit == self.unit), Decimal(0))
                if due + amount > self.whole:
                    return False
            account.held += amount
            return True

    def settle(self, name: str, amount: Decimal, charged: Literal["yes", "maybe", "no"]) -> None:
        """A call has ended for which ``amount`` was set aside."""
        with self._lock:
            account = self.accounts[name]
            account.held -= amount
            account.sure += amount if charged == "yes" else 0
            account.maybe += amount if charged == "maybe" else 0

    def known(self, name: str, amount: Decimal) -> None:
        """What may have been charged, and is set aside again: its call goes on."""
        with self._lock:
            account = self.accounts[name]
            account.maybe -= amount
            account.held += amount


def make_budget(currencies: Mapping[str, str], budgets: Mapping[str, Decimal], known: Iterable[str]) -> Budget:
    """A purse for the detectors in ``currencies``. ``budgets``: by detector, or ``ALL``; ``known``: all names there are.

    Raises UsageError for a budget of nobody, and for one for all where their prices cannot be added up.
    """
    names = sorted(known)
    for name in budgets:
        if name != ALL and name not in names:
            raise UsageError(
                f"a budget for {name!r}, which is no detector of the promise{suggest_name(name, names)}",
                remedy=f"It has: {', '.join(names)}.",
            )
    accounts = {
        name: Spend(currency, name_unit(name, currency), budgets.get(name)) for name, currency in currencies.items()
    }
    if ALL not in budgets:
        return Budget(accounts)
    together = sorted({account.unit for name, account in accounts.items() if name not in budgets})
    if len(together) > 1:
        raise UsageError(
            f"the prices are in {' and '.join(together)}, so one budget cannot hold them",
            remedy="Give one for each: " + " ".join(f"--budget {n}=…" for n in accounts if n not in budgets),
        )
    every = sorted({account.unit for account in accounts.values()})
    shared = together[0] if together else every[0] if len(every) == 1 else None
    return Budget(accounts, budgets[ALL] if shared is not None else None, shared)


def name_unit(detector: str, currency: str) -> str:
    """What a price counts: money (``USD``), or what only this vendor knows (its credits are not another's)."""
    return currency if _MONEY.fullmatch(currency) else f"{currency} of {detector}"


def check_budget_given(purse: Budget, wanted: Iterable[str], cost: Callable[[str], Decimal]) -> None:
    """Raises UsageError where one of ``wanted`` costs something and nobody said how much it may. ``cost``: of what is left."""
    bare = {
        name: cost(name)
        for name in wanted
        if purse.accounts[name].limit is None and (purse.whole is None or purse.accounts[name].unit != purse.unit)
    }
    if bare:
        prices = ", ".join(f"{name} up to {bare[name].normalize():f} {purse.accounts[name].currency}" for name in bare)
        options = " ".join(f"--budget {name}={bare[name].normalize():f}" for name in bare)
        raise UsageError(
            f"this costs money: {prices}",
            remedy=f"See what: `penmark scan --plan`. Then say how much it may be: {options}",
        )


def price_unlisted_text(tariff: Price, text: str) -> Decimal:
    """What a text that is in no manifest costs; of two ways to count words that which counts more."""
    return requests.price_text(tariff, max(count_words(text), len(text.split())), len(text))


def describe_spend(account: Spend) -> str:
    """What a detector has cost, in words."""
    sure, most = f"{account.sure.normalize():f}", f"{account.due.normalize():f}"
    much = most if sure == most else f"{sure} to {most}"
    return f"cost {much} {account.currency}" + ("" if account.limit is None else f" of {account.limit.normalize():f}")
