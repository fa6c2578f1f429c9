"""Verify: eight numbered checks of a bundle. All run always, each reports all it finds, none can be skipped.

1 sums · 2 seals · 3 promise kept · 4 corpus · 5 journals · 6 completeness · 7 tables · 8 pages (docs/format.md).

*Reads* the bundle and the roots that the caller trusts. *Writes* nothing.
*Never*: a network, a subprocess, a plugin, a file outside the bundle. Everything in a bundle is hostile.
"""

from __future__ import annotations

from collections.abc import Callable
from pathlib import Path

from penmark import protocol, scoring, study, tables, tokens
from penmark.errors import PenmarkError
from penmark.journal import Journal
from penmark.records import Check, Protocol, Seal
from penmark.verify import corpus, journals, pages, promise, seals, sums
from penmark.verify.found import Found

NAMES = ("sums", "seals", "promise kept", "corpus", "journals", "completeness", "tables", "pages")
_DAMAGED = "Get the bundle again from where it was published."


def check(root: Path, trust: tokens.Trust) -> list[Check]:
    """Every finding of all eight checks of the bundle in ``root``, by number."""
    edition = study.Edition(root.resolve())
    found = [Found(number, name) for number, name in enumerate(NAMES, 1)]
    one, two, three, four, five, six, seven, eight = found
    sealed: dict[str, Seal] = {}
    read: list[Journal] = []
    known = corpus.Corpus()

    _run(one, lambda: sums.sums(edition.root, one))
    _run(two, lambda: sealed.update(seals.seals(edition, trust, two)))
    promised = _promised(edition, [three, four, five, six])
    if promised is not None:
        agreed: Protocol = promised
        _run(three, lambda: promise.promise(edition, agreed, sealed.get("promise"), three))
        _run(four, lambda: corpus.corpus(edition, agreed, known, four))
        _run(five, lambda: read.extend(journals.read(edition, five)))
        _run(four, lambda: corpus.order(read, known, four))
        _run(five, lambda: journals.journals(edition, agreed, sealed, read, known, five))
    _run(six, lambda: _scored(edition, six, seven))
    _run(eight, lambda: pages.pages(edition.root, eight))
    return [check for each in found for check in each.checks()]


def _run(found: Found, step: Callable[[], object]) -> None:
    """Run one step of a check; whatever goes wrong in it is that check's failure, and the other checks run."""
    try:
        step()
    except PenmarkError as error:
        found.error(error)
    except Exception as error:
        found.failed(
            "the bundle", f"cannot be checked ({type(error).__name__}: {error})", "a bundle that can be read", _DAMAGED
        )


def _promised(edition: study.Edition, needing: list[Found]) -> Protocol | None:
    try:
        return protocol.read_sealed(edition)
    except PenmarkError as error:
        for found in needing:
            found.error(error)
        return None


def _scored(edition: study.Edition, six: Found, seven: Found) -> None:
    """Checks 6 and 7 stand on one scoring."""
    try:
        scored = scoring.score(edition)
    except PenmarkError as error:
        six.error(error)
        seven.error(error)
        return
    _run(six, lambda: _complete(scored, six))
    _run(seven, lambda: _tables(edition, scored, seven))


def _complete(scored: scoring.Scored, found: Found) -> None:
    """Every scheduled pair has a state, and one that is not answered says why."""
    pairs = scored.pairs()
    silent = pairs.filter((pairs["state"] != "answered") & (pairs["reason"].fill_null("") == ""))
    for row in silent.head(20).iter_rows(named=True):
        found.failed(f"{row['detector']} / {row['document']}", f"{row['state']} without a reason", "a reason", _DAMAGED)
    counts = ", ".join(
        f"{n} {state.replace('_', ' ')}" for state, n in sorted(pairs["state"].value_counts().iter_rows())
    )
    if found.clean:
        found.ok("pairs", f"{pairs.height} pairs of detector and document: {counts}")
    if scored.timing == "retrospective":
        found.not_checked(
            "the edition",
            "retrospective: the rules were written after the answers existed",
            "Read the numbers as a reanalysis.",
        )


def _tables(edition: study.Edition, scored: scoring.Scored, found: Found) -> None:
    departures = edition.tables / "departures.csv"
    made = tables.of(scored, study.read(departures))
    for path, data in sorted(made.items()):
        got = study.read(edition.root / path)
        if got != data:
            line, was, now = _first_difference(got, data)
            found.failed(f"{path}:{line}", was, now, "The table does not follow from protocol, manifest and journals.")
    extra = sorted({f"tables/{p.name}" for p in edition.tables.iterdir()} - set(made))
    for path in extra:
        found.failed(path, "is a table that nothing computes", "the computed tables only", "Remove it.")
    if found.clean:
        found.ok("tables", f"{len(made)} tables, byte for byte")


def _first_difference(got: bytes, expected: bytes) -> tuple[int, str, str]:
    ours, theirs = expected.split(b"\n"), got.split(b"\n")
    for number, (was, now) in enumerate(zip(theirs, ours, strict=False), 1):
        if was != now:
            return number, was.decode("utf-8", "replace")[:300], now.decode("utf-8", "replace")[:300]
    return min(len(ours), len(theirs)), f"{len(theirs)} lines", f"{len(ours)} lines"
