"""The vendors' doubles: servers on this machine that answer in a vendor's shape, and misbehave on command.

    with double("gptzero", behaviours=["rate limited", None, "drop after"]) as there:
        there.url, there.keys, there.ledger.charged

Used by the tests, and by rehearsals of a paid run. A double judges nothing: what it says follows from the text alone
(``saying.number``). *Reads* and *writes* nothing but its sockets, on the loopback interface. *Never*: chance in an
answer, a real key, a vendor's name for a model that somebody could take for a result.
"""

from __future__ import annotations

import contextlib
import re
from collections.abc import Iterator, Sequence

from penmark.doubles import apart, jobs, plain
from penmark.doubles.acting import Behaviour, Limit, Script
from penmark.doubles.ledger import Ledger
from penmark.doubles.serving import Double, served
from penmark.doubles.vendor import Vendor

__all__ = ["VENDORS", "Behaviour", "Double", "Ledger", "double", "placed"]

_ADDRESS = re.compile(r"""(\burl: *["']?)https://[^/\s"']+""")

VENDORS: dict[str, type[Vendor]] = {
    "copyleaks": apart.Copyleaks,
    "gptzero": plain.GPTZero,
    "grammarly": apart.Grammarly,
    "hive": plain.Hive,
    "huggingface": plain.HuggingFace,
    "originality-lite": plain.Originality,
    "originality-turbo": plain.Originality,
    "pangram": jobs.Pangram,
    "sapling": plain.Sapling,
    "undetectable": jobs.Undetectable,
    "winston": plain.Winston,
    "zerogpt": plain.ZeroGPT,
}
"""The doubles, by the name of the card that they answer to."""


@contextlib.contextmanager
def double(
    vendor: str,
    *,
    behaviours: Sequence[str | Behaviour | None] = (),
    credit: int | None = None,
    version_after: int | None = None,
    polls: int = 1,
    permits: int | None = None,
) -> Iterator[Double]:
    """A server in the place of ``vendor`` while in the block.

    ``behaviours``: what it does wrong, request by request (None: nothing). ``credit``: how many texts it takes before
    the money is gone. ``version_after``: after so many answers its version is another. ``polls``: how often a job is
    found unfinished. ``permits``: requests in any one second; more are refused. Raises KeyError for a vendor without a
    double, ValueError for what this vendor cannot do wrong.
    """
    kind = VENDORS[vendor]
    script = Script([Behaviour.of(each) for each in behaviours])
    for behaviour in script.all():
        kind.able(behaviour)
    limit = None if permits is None else Limit(permits)
    with served(kind(credit=credit, version_after=version_after, polls=polls), script, limit) as there:
        yield there


def placed(card: str, url: str) -> str:
    """A vendor's card (YAML) with the address of a double in the place of every address of the vendor's."""
    return _ADDRESS.sub(lambda match: match[1] + url, card)
