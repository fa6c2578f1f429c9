"""Verify: eight numbered checks of a bundle. All run always, each reports all it finds, none can be skipped.

1 sums · 2 seals · 3 promise kept · 4 corpus · 5 journals · 6 completeness · 7 tables · 8 pages (docs/format.md).

*Reads* the bundle and the roots that the caller trusts. *Writes* nothing.
*Never*: a network, a subprocess, a plugin, a file outside the bundle. Everything in a bundle is hostile.
"""

from __future__ import annotations

from collections.abc import Callable
from pathlib import Path

from penmark import protocol, study, tokens
from penmark.errors import FaultsError, PenmarkError
from penmark.journal import Journal
from penmark.records import Check, Protocol
from penmark.verify import changes, computed, corpus, journals, pages, promise, sums
from penmark.verify import seals as sealing
from penmark.verify.found import Found

NAMES = ("sums", "seals", "promise kept", "corpus", "journals", "completeness", "tables", "pages")
_DAMAGED = "Get the bundle again from where it was published."
_FOR = {"protocol": 3, "detectors": 3, "manifest": 4, "journal": 5}
"""Which check a fault belongs to that scoring finds, by where it is."""


def check(root: Path, trust: tokens.Trust) -> list[Check]:
    """Every finding of all eight checks of the bundle in ``root``, by number."""
    edition = study.Edition(root.resolve())
    found = [Found(number, name, edition.root) for number, name in enumerate(NAMES, 1)]
    plain: list[bool] = []
    _run(found[0], lambda: plain.append(sums.sums(edition.root, found[0])))
    if plain == [True]:
        _checks(edition, trust, found)
    else:
        for one in found[1:]:
            why = "the bundle holds links or special files, so nothing else of it is opened"
            one.not_checked("the bundle", why, "Remove them, or get the bundle again.")
    return [check for each in found for check in each.checks()]


def _checks(edition: study.Edition, trust: tokens.Trust, found: list[Found]) -> None:
    """Checks 2 to 8 of a folder that holds plain files and nothing else."""
    _, two, three, four, five, six, seven, eight = found
    sealed = sealing.Sealed()
    read: list[Journal] = []
    known = corpus.Corpus()
    promised: list[Protocol] = []

    _run(two, lambda: sealing.seals(edition, trust, sealed, two))
    _run(three, lambda: promised.append(protocol.read_sealed(edition)))
    for agreed in promised:
        _run(three, lambda: promise.promise(edition, agreed, sealed.seals.get("promise"), trust, three))
        _run(four, lambda: corpus.corpus(edition, agreed, known, four))
        _run(five, lambda: read.extend(journals.read(edition, five)))
        _run(four, lambda: corpus.order(read, known, four))
        _run(five, lambda: journals.journals(edition, agreed, sealed, read, known, five))
    if not promised:
        for one in (four, five):
            _after(one, "there is no protocol to hold it against", three)
    _scored(edition, read if five.clean else None, found)
    if {path.name for path in edition.root.iterdir()} & {"report", "README.md"}:
        _run(eight, lambda: changes.changes(edition, eight))
    _run(eight, lambda: pages.pages(edition.root, eight))


def _run(found: Found, step: Callable[[], object]) -> None:
    """Run one step of a check; whatever goes wrong in it is that check's failure, and the other checks run."""
    try:
        step()
    except PenmarkError as error:
        found.error(error)
    except (KeyboardInterrupt, SystemExit):
        raise
    except BaseException as error:  # polars' own panics are no Exception
        what = f"cannot be checked ({type(error).__name__}: {error})"
        found.failed("the bundle", what, "a bundle that can be read", _DAMAGED)


def _after(found: Found, why: str, first: Found) -> None:
    found.not_checked("the bundle", f"{why}: see check {first.number}", _DAMAGED)


def _scored(edition: study.Edition, read: list[Journal] | None, found: list[Found]) -> None:
    """Checks 6 and 7 stand on one scoring; what it cannot score is the failure of the check that reads it."""
    six, seven = found[5], found[6]
    scored: list[computed.Computed] = []

    def score() -> None:
        try:
            scored.append(computed.compute(edition, read))
        except PenmarkError as error:
            for fault in error.faults:
                inside = (fault.place or "").removeprefix(f"{edition.root}/")
                number = _FOR.get(inside.split("/")[0].split(".")[0], 7)
                found[number - 1].error(FaultsError([fault]))

    _run(seven, score)
    for each in scored:
        _run(six, lambda: computed.complete(each, six))
        _run(seven, lambda: computed.tables(edition, each, six, seven))
    if not scored:
        first = next((one for one in found[:5] if not one.clean), seven)
        _after(six, "the pairs cannot be counted", first)
        if seven.clean:
            _after(seven, "the tables cannot be computed", first)
