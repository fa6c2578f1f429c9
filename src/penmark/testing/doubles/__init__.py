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

from penmark.testing.doubles import login_and_upload, one_answer, polled_jobs
from penmark.testing.doubles.fake_vendor import Vendor
from penmark.testing.doubles.loopback_server import Double, serve_double
from penmark.testing.doubles.misbehaviour import Behaviour, Limit, Script
from penmark.testing.doubles.requests_log import Ledger

__all__ = ["VENDORS", "Behaviour", "Double", "Ledger", "place_card", "run_double"]

_ADDRESS = re.compile(r"""(\burl: *["']?)https://[^/\s"']+""")

VENDORS: dict[str, type[Vendor]] = {
    "copyleaks": login_and_upload.Copyleaks,
    "gptzero": one_answer.GPTZero,
    "grammarly": login_and_upload.Grammarly,
    "hive": one_answer.Hive,
    "huggingface": one_answer.HuggingFace,
    "originality-lite": one_answer.Originality,
    "originality-turbo": one_answer.Originality,
    "pangram": polled_jobs.Pangram,
    "sapling": one_answer.Sapling,
    "undetectable": polled_jobs.Undetectable,
    "winston": one_answer.Winston,
    "zerogpt": one_answer.ZeroGPT,
}
"""The doubles, by the name of the card that they answer to."""


@contextlib.contextmanager
def run_double(
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
    with serve_double(kind(credit=credit, version_after=version_after, polls=polls), script, limit) as there:
        yield there


def place_card(card: str, url: str) -> str:
    """A vendor's card (YAML) with the address of a double in the place of every address of the vendor's."""
    return _ADDRESS.sub(lambda match: match[1] + url, card)
