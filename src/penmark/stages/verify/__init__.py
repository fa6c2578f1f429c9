"""Verify: eight numbered checks of a bundle. All run always, each reports all it finds, none can be skipped.

1 sums · 2 seals · 3 promise kept · 4 corpus · 5 journals · 6 completeness · 7 tables · 8 pages (docs/format.md).

*Reads* the bundle and the roots that the caller trusts. *Writes* nothing.
*Never*: a network, a subprocess, a plugin, a file outside the bundle. Everything in a bundle is hostile.
"""

from __future__ import annotations

import re
from collections.abc import Callable
from concurrent.futures import Future, ThreadPoolExecutor, wait
from pathlib import Path
from typing import TypeVar

from penmark import protocol, study, timestamps
from penmark.errors import FaultsError, PenmarkError
from penmark.journal import Journal
from penmark.records import Check, Protocol
from penmark.stages.verify import (
    check1_sums,
    check2_seals,
    check3_promise,
    check4_corpus,
    check5_journals,
    check6_7_tables,
    check8_page,
)
from penmark.stages.verify.check4_corpus import document_claims, withdrawals
from penmark.stages.verify.check8_page import changes_and_readme
from penmark.stages.verify.check_findings import Findings

NAMES = ("sums", "seals", "promise kept", "corpus", "journals", "completeness", "tables", "pages")
_DAMAGED = "Get the bundle again from where it was published."
_READ_BY = {"seals": 2, "protocol": 3, "detectors": 3, "manifest": 4, "journal": 5}
"""Which check reads a file, by where it is: a fault that scoring finds in it is that check's."""
T = TypeVar("T")


Further = Callable[[study.Edition, list[Findings]], None]
"""More of check 8, for a bundle whose files may be opened: takes it, and what the checks found so far."""


def verify_bundle(root: Path, trust: timestamps.Trust, *, further: Further | None = None) -> list[Check]:
    """Every finding of all eight checks of the bundle in ``root``, by number. ``further``: what comes after them, which
    this floor cannot do itself."""
    edition = study.Edition(root.resolve())
    found = [Findings(number, name, edition.root) for number, name in enumerate(NAMES, 1)]
    names = _run_step(found[0], lambda: check1_sums.list_files(edition.root, found[0]))
    turned = names is not None and _run_step(found[0], lambda: check1_sums.turned(edition.root, names, found[0]))
    if names is not None and not turned:
        _run_checks(edition, trust, names, found)
        if further is not None:
            _run_step(found[7], lambda: further(edition, found))
    else:
        for one in found[1:]:
            why = "the bundle holds links or special files, so nothing else of it is opened"
            why = "line ends were converted, so no digest fits: see check 1" if turned else why
            one.not_checked("the bundle", why, "Mend that, or get the bundle again.")
    return [check for each in found for check in each.checks()]


def _run_checks(edition: study.Edition, trust: timestamps.Trust, names: list[str], found: list[Findings]) -> None:
    """The checks of a folder that holds the plain files ``names`` and nothing else.

    Journals are read, scored and tabled as columns, and sums are made, which leaves Python to others: in a thread beside
    the checks that look at one document and one answer after the other. Of findings it makes those of check 1 alone, so that
    they keep their order.
    """
    one, two, three, five, eight = (found[number - 1] for number in (1, 2, 3, 5, 8))
    beside = ThreadPoolExecutor(1)
    try:
        reading = beside.submit(check5_journals.read_bundle_journals, edition)
        computing = beside.submit(lambda: check6_7_tables.compute_edition(edition, reading.result()))
        summed = beside.submit(lambda: _run_step(one, lambda: check1_sums.check_sums(edition.root, names, one)))
        sealed = check2_seals.Sealed()
        _run_step(two, lambda: check2_seals.check_seals(edition, trust, sealed, two))
        promised = _run_step(three, lambda: protocol.read_sealed(edition))
        if promised is not None:
            _check_by_protocol(edition, promised, sealed, reading, trust, found)
        else:
            _run_step(five, lambda: check5_journals.list_readable(_when_done(reading), five))
            for each in found[3:5]:
                each.not_checked("the bundle", "there is no protocol to hold it against: see check 3", _DAMAGED)
        _run_step(eight, lambda: changes_and_readme.check_changes(edition, eight))
        _run_step(eight, lambda: changes_and_readme.check_readme(edition.root, eight))
        _run_step(eight, lambda: withdrawals.check_replies(edition, sealed.seals.get("promise"), eight))
        _run_step(eight, lambda: check8_page.check_pages(edition.root, eight))
        _when_done(summed)
        _check_by_scoring(edition, computing, found)
    finally:  # whoever stops it does not wait for the rest
        beside.shutdown(wait=False, cancel_futures=True)


def _when_done(future: Future[T]) -> T:
    """Its result. Awaited in small steps: a wait without end is not ended by Ctrl-C, once polars has run."""
    while not wait([future], timeout=0.2).done:
        pass
    return future.result()


def _check_by_protocol(
    edition: study.Edition,
    promised: Protocol,
    sealed: check2_seals.Sealed,
    reading: Future[check5_journals.Read],
    trust: timestamps.Trust,
    found: list[Findings],
) -> None:
    """Checks 3 to 5, which hold the bundle against its protocol."""
    three, four, five = found[2:5]
    known = check4_corpus.Corpus()
    _run_step(three, lambda: check3_promise.check_promise(edition, promised, sealed.seals.get("promise"), trust, three))
    claimed = _run_step(
        four, lambda: document_claims.Claims(edition, promised, sealed.seals.get("corpus"), known, four)
    )
    see = claimed.see if claimed is not None else lambda document: None
    _run_step(four, lambda: check4_corpus.check_corpus(edition, promised, known, see, four))
    _run_step(four, lambda: withdrawals.check_withdrawn(known, sealed.seals.get("corpus"), four))
    read: tuple[Journal, ...] = _run_step(five, lambda: check5_journals.list_readable(_when_done(reading), five)) or ()
    _run_step(four, lambda: check4_corpus.check_scan_order(read, known, four))
    _run_step(five, lambda: check5_journals.check_journals(edition, promised, sealed, read, known, five))


def _check_by_scoring(
    edition: study.Edition, computing: Future[check6_7_tables.Computed], found: list[Findings]
) -> None:
    """Checks 6 and 7 stand on one scoring; what cannot be scored is the failure of the check that reads it."""
    six, seven = found[5:7]
    made = _run_step(seven, lambda: _await_computed(edition, computing, found))
    if made is not None:
        _run_step(six, lambda: check6_7_tables.check_complete(made.scored, six))
        _run_step(seven, lambda: check6_7_tables.check_tables(edition, made, six, seven))
        return
    first = next((one.number for one in found if not one.clean), seven.number)
    six.not_checked("pairs", f"they cannot be counted: see check {first}", _DAMAGED)
    if seven.clean:
        seven.not_checked("tables", f"they cannot be computed: see check {first}", _DAMAGED)


def _await_computed(
    edition: study.Edition, computing: Future[check6_7_tables.Computed], found: list[Findings]
) -> check6_7_tables.Computed | None:
    try:
        return _when_done(computing)
    except PenmarkError as error:
        for fault in error.faults:
            inside = (fault.place or "").removeprefix(f"{edition.root}/")
            number = _READ_BY.get(re.split(r"[/.:]", inside)[0], 7)
            found[number - 1].error(FaultsError([fault]))
        return None


def _run_step(found: Findings, step: Callable[[], T]) -> T | None:
    """Run one step of a check; whatever goes wrong in it is that check's failure, and the other checks run."""
    try:
        return step()
    except PenmarkError as error:
        found.error(error)
    except (KeyboardInterrupt, SystemExit):
        raise
    except BaseException as error:  # polars' own panics are no Exception
        what = f"cannot be checked ({type(error).__name__}: {error})"
        found.failed("the bundle", what, "a bundle that can be read", _DAMAGED)
    return None
