"""Screen: the newspaper of the corpus. Every finding in one pass, from the records and from every text.

*Reads* ``corpus/``, ``private/texts`` and ``private/salts.jsonl``, the promise, the manifests of earlier editions.
*Writes* nothing (the command keeps ``screening.csv`` and ``screening.html``). *Never* repairs, never stops at the first
finding. Memory grows by some hundred bytes a document.
"""

from __future__ import annotations

from collections.abc import Callable, Iterable
from itertools import chain

from penmark.errors import installing
from penmark.protocol import RULES, Severity
from penmark.records import Protocol
from penmark.screening.earlier import Earlier, again, shipped
from penmark.screening.findings import Finding, Findings, Where, to_csv
from penmark.screening.language import tools
from penmark.screening.ledger import Ledger, promised_on
from penmark.screening.page import to_html
from penmark.screening.texts import Texts
from penmark.screening.wholes import wholes
from penmark.study import Edition, Study

__all__ = ["RULES", "Finding", "Severity", "screen", "to_csv", "to_html"]


def screen(
    place: Study,
    edition: Edition,
    protocol: Protocol,
    progress: Callable[[int], None] = lambda number: None,
    demonstrated: Iterable[tuple[str, bytes]] = (),
) -> list[Finding]:
    """Every finding about the corpus as promised, in a fixed order.

    ``progress`` is told how many texts were read. ``demonstrated``: name and bytes of the demonstration's texts that do not
    come with penmark.
    """
    found = Findings(protocol)
    ledger = Ledger(protocol, found, promised_on(edition))
    for number in range(len(protocol.arms)):
        ledger.read(place, number)
    earlier = Earlier(place, edition)
    for number, arm in enumerate(protocol.arms):
        wholes(place, edition, arm, {e.where.document for e in ledger.entries if e.number == number}, earlier, found)
    again(ledger, earlier, found)
    _strangers(place, protocol, found)
    present = {entry.address for entry in ledger.entries}
    known = [*shipped(protocol.study, demonstrated)]
    old = lambda: chain(earlier.texts(present), known)  # noqa: E731
    Texts(place, ledger, found, progress, old).read()
    _tools(found)
    return found.ordered()


def _tools(found: Findings) -> None:
    for package, purpose in tools().missing:
        message = f"{package} is not installed, so that nothing was looked for in this: {purpose}"
        found.add("not-screened", Where(), message, f"Install it: {installing('corpus')}, and screen again")


def _strangers(place: Study, protocol: Protocol, found: Findings) -> None:
    known = {arm.name for arm in protocol.arms}
    for path in sorted(place.corpus.glob("*/documents.jsonl")):
        if path.parent.name not in known:
            file = path.relative_to(place.root).as_posix()
            message = f"{path.parent.name} is no arm of {protocol.edition}; its documents are not part of it"
            found.add(
                "unpromised-arm", Where(file=file), message, "Move the folder out of corpus/, if it is a mistake."
            )
