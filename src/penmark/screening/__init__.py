"""Screen: the newspaper of the corpus. Every finding in one pass, from the records and from every text.

*Reads* ``corpus/``, ``private/texts`` and ``private/salts.jsonl``, the promise. *Writes* nothing (the command keeps
``screening.csv``). *Never* repairs, never stops at the first finding. Memory grows by some hundred bytes a document.
"""

from __future__ import annotations

from collections.abc import Callable

from penmark.records import Protocol
from penmark.screening.findings import RULES, Finding, Findings, Severity, Where, to_csv
from penmark.screening.ledger import Ledger, promised_on
from penmark.screening.texts import Texts
from penmark.study import Edition, Study

__all__ = ["RULES", "Finding", "Severity", "screen", "to_csv"]


def screen(
    place: Study, edition: Edition, protocol: Protocol, progress: Callable[[int], None] = lambda number: None
) -> list[Finding]:
    """Every finding about the corpus as promised, in a fixed order. ``progress`` is told how many texts were read."""
    found = Findings(protocol)
    ledger = Ledger(protocol, found, promised_on(edition))
    for number in range(len(protocol.arms)):
        ledger.read(place, number)
    _strangers(place, protocol, found)
    Texts(place, ledger, found, progress).read()
    return found.ordered()


def _strangers(place: Study, protocol: Protocol, found: Findings) -> None:
    known = {arm.name for arm in protocol.arms}
    for path in sorted(place.corpus.glob("*/documents.jsonl")):
        if path.parent.name not in known:
            file = path.relative_to(place.root).as_posix()
            message = f"{path.parent.name} is no arm of {protocol.edition}; its documents are not part of it"
            found.add(
                "unpromised-arm", Where(file=file), message, "Move the folder out of corpus/, if it is a mistake."
            )
