"""Screen: the newspaper of the corpus. Every finding in one pass, from the records and from every text.

*Reads* ``corpus/``, ``private/texts`` and ``private/salts.jsonl``, the promise, the manifests of earlier editions.
*Writes* nothing (the command keeps ``screening.csv`` and ``screening.html``). *Never* repairs, never stops at the first
finding. Memory grows by some hundred bytes a document.
"""

from __future__ import annotations

from collections.abc import Callable, Iterable
from itertools import chain

from penmark.errors import describe_install
from penmark.protocol import RULES, Severity
from penmark.records import Protocol
from penmark.stages.screen.arm_findings import screen_arm
from penmark.stages.screen.earlier_editions import Earlier, again, list_shipped_texts
from penmark.stages.screen.findings import Finding, ScreeningFindings, Where, write_screening_csv
from penmark.stages.screen.language import load_tools
from penmark.stages.screen.record_pass import RecordPass, date_promise
from penmark.stages.screen.screening_page import render_screening_page
from penmark.stages.screen.text_pass import TextPass
from penmark.study import Edition, Study

__all__ = ["RULES", "Finding", "Severity", "render_screening_page", "screen_corpus", "write_screening_csv"]


def screen_corpus(
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
    found = ScreeningFindings(protocol)
    ledger = RecordPass(protocol, found, date_promise(edition))
    for number in range(len(protocol.arms)):
        ledger.read(place, number)
    earlier = Earlier(place, edition)
    for number, arm in enumerate(protocol.arms):
        screen_arm(
            place, edition, arm, {e.where.document for e in ledger.entries if e.number == number}, earlier, found
        )
    again(ledger, earlier, found)
    _check_unpromised_arms(place, protocol, found)
    present = {entry.address for entry in ledger.entries}
    known = [*list_shipped_texts(protocol.study, demonstrated)]
    old = lambda: chain(earlier.texts(present), known)  # noqa: E731
    TextPass(place, ledger, found, progress, old).read()
    _check_tools(found)
    return found.ordered()


def _check_tools(found: ScreeningFindings) -> None:
    for package, purpose in load_tools().missing:
        message = f"{package} is not installed, so that nothing was looked for in this: {purpose}"
        found.add("not-screened", Where(), message, f"Install it: {describe_install('corpus')}, and screen again")


def _check_unpromised_arms(place: Study, protocol: Protocol, found: ScreeningFindings) -> None:
    known = {arm.name for arm in protocol.arms}
    for path in sorted(place.corpus.glob("*/documents.jsonl")):
        if path.parent.name not in known:
            file = path.relative_to(place.root).as_posix()
            message = f"{path.parent.name} is no arm of {protocol.edition}; its documents are not part of it"
            found.add(
                "unpromised-arm", Where(file=file), message, "Move the folder out of corpus/, if it is a mistake."
            )
