"""What changes, and what went otherwise: amendments bind later editions, deviations are told and change no rule.

*Reads* the amendments and deviations of a study's editions. *Writes* amendments/<nnnn>.json and deviations.jsonl of one
edition. *Never* changes a promise that is sealed, nor an amendment that is announced; never looks at the clock.
Amendments are numbered through the whole study; each edition carries those before it, and verifies by itself.
"""

from __future__ import annotations

import fcntl
import os
from collections.abc import Iterable
from pathlib import Path

from pydantic import ValidationError

from penmark import canon, chained, study, tokens
from penmark.chained import amendment_files as _files
from penmark.chained import announced as announced
from penmark.chained import quarter as quarter
from penmark.differences import announcing, covering
from penmark.display import markdown
from penmark.errors import UsageError
from penmark.journal.writing import untear
from penmark.records import Amendment, Change, Deviation
from penmark.study import Edition

_OTHERWISE = "Say it otherwise; nothing was written."
_SHOWN = 200
"""So many characters of a value are shown."""
_HEAD = """\
# Changes

Amendments change the promise of later editions, and are announced before those are promised.
Deviations are what went otherwise than promised; they change no rule. What a promise says otherwise than the one before it
is computed from both. Newest first.
"""


# --- amendments ----------------------------------------------------------------------------------------------------


def announce(
    editions: Iterable[Edition],
    edition: Edition,
    *,
    what: str,
    why: str,
    before: str,
    after: str,
    now: str,
    binds_from: str | None = None,
    covers: Iterable[Change] = (),
) -> Path:
    """Write the next amendment of the study into ``edition``, the one promised last; the file.

    ``binds_from``: the first edition that it binds (default: the next quarter's); ``covers``: what it changes.
    Raises UsageError where nothing is promised yet, or where it would bind this edition or an earlier one; PenmarkError
    for a value that no amendment has.
    """
    if not edition.seal("promise").is_file():
        raise UsageError(
            f"nothing is promised in {edition.tag} yet, so there is nothing to amend",
            place=str(edition.root),
            remedy="Change protocol.yaml itself, and seal it with `penmark commit`.",
        )
    binds = next_quarter(edition.tag) if binds_from is None else binds_from
    number = 1 + max((a.number for a in announced(editions)), default=0)
    try:
        amendment = Amendment(
            number=number,
            binds_from=binds,
            announced_at=now,
            what=what,
            why=why,
            before=before,
            after=after,
            covers=tuple(covers),
        )
    except ValidationError as error:
        if any(each["loc"] == ("binds_from",) for each in error.errors()):
            remedy = f"Name a whole tag: series, year, quarter, such as --binds-from {next_quarter(edition.tag)}."
            raise UsageError(f"{binds!r} is not an edition's tag", remedy=remedy) from None
        raise study.validated(f"amendment {number}", error.errors(include_url=False), _OTHERWISE) from None
    if empty := [name for name in ("what", "why", "before", "after") if not getattr(amendment, name).strip()]:
        raise UsageError(f"nothing is said of {', '.join(empty)}", remedy="Each of the four is printed: say it.")
    _refuse_bound(binds, edition)
    path = edition.amendments / f"{number:04d}.json"
    study.write(path, canon.encode(amendment.model_dump(mode="json")))
    return path


def _refuse_bound(binds: str, edition: Edition) -> None:
    """Raises UsageError where an amendment would bind an edition that is promised already, or another series."""
    if quarter(binds) <= quarter(edition.tag) or binds.split("-")[0] != edition.tag.split("-")[0]:
        raise UsageError(
            f"an amendment announced now cannot bind {binds}: {edition.tag} is promised already",
            remedy=f"Name a later edition of the same series, such as --binds-from {next_quarter(edition.tag)}.",
        )


def promised_last(editions: Iterable[Edition]) -> Edition | None:
    """Of these editions, oldest first, the last that has a promise: the one in which amendments are announced."""
    promised = [e for e in editions if e.seal("promise").is_file()]
    return promised[-1] if promised else None


def in_force(editions: Iterable[Edition], tag: str) -> list[Amendment]:
    """The amendments that bind the edition ``tag``, by number."""
    return [a for a in announced(editions) if quarter(a.binds_from) <= quarter(tag)]


def sealed_before(amendment: Amendment, stamped: Iterable[str], promised_at: str) -> bool:
    """True where the amendment was announced before a promise that was sealed at ``promised_at``, or with it.

    ``stamped``: times of valid tokens over it. The earliest of them decides; without any, its own word.
    """
    said = min((tokens.moment(at) for at in stamped), default=tokens.moment(amendment.announced_at))
    return said <= tokens.moment(promised_at)


def carry(editions: Iterable[Edition], edition: Edition) -> list[Path]:
    """Copy amendments of earlier editions, with their tokens, into one that is about to be promised; their files."""
    earlier = _before(editions, edition)
    announced([*earlier, edition])
    carried: dict[str, Path] = {}
    for path in _files(earlier):
        for source in (path, *path.parent.glob(f"{path.stem}-*.tsr")):
            target = edition.amendments / source.name
            if not target.exists():
                study.write(target, study.read(source))
        carried[path.name] = edition.amendments / path.name
    return [carried[name] for name in sorted(carried)]


def own(editions: Iterable[Edition], edition: Edition) -> list[Path]:
    """The files of the amendments that were announced in this edition, not carried into it."""
    carried = {path.name for path in _files(_before(editions, edition))}
    return [path for path in _files([edition]) if path.name not in carried]


def next_quarter(tag: str) -> str:
    """The tag of the edition a quarter later: ``BENCH-2026-Q4`` -> ``BENCH-2027-Q1``."""
    year, number = quarter(tag)
    later = (year, number + 1) if number < 4 else (year + 1, 1)
    return f"{tag.rsplit('-', 2)[0]}-{later[0]:04d}-Q{later[1]}"


def _before(editions: Iterable[Edition], edition: Edition) -> list[Edition]:
    return [e for e in editions if e.root != edition.root and quarter(e.tag) < quarter(edition.tag)]


# --- deviations ----------------------------------------------------------------------------------------------------


def deviation(edition: Edition, what: str, detector: str | None = None, *, now: str) -> Deviation:
    """Add a line to deviations.jsonl and make it durable; several processes may do so at once.

    Raises PenmarkError for a value that no deviation has, ServiceError where the disk refuses.
    """
    path = edition.deviations
    try:
        value = Deviation(at=now, detector=detector, what=what)
    except ValidationError as error:
        raise study.validated("the deviation", error.errors(include_url=False), _OTHERWISE) from None
    line = canon.encode(value.model_dump(mode="json")) + b"\n"
    try:
        with path.open("a+b") as file:
            fcntl.flock(file, fcntl.LOCK_EX)
            untear(path)
            file.write(line)
            file.flush()
            os.fsync(file.fileno())
        study.sync_folder(path.parent)
    except OSError as error:
        raise study.disk(error, path) from None
    return value


def deviations(edition: Edition) -> list[Deviation]:
    """The deviations of an edition in the order in which they were written; none where there is no file."""
    if not edition.deviations.exists():
        return []
    found = []
    for number, value in study.records(edition.deviations):
        try:
            found.append(Deviation.model_validate(value))
        except ValidationError as error:
            place = f"{edition.deviations}:{number}"
            raise study.validated(place, error.errors(include_url=False)) from None
    return found


# --- the changelog -------------------------------------------------------------------------------------------------


def changes(editions: Iterable[Edition], *, tag: str | None = None) -> str:
    """The text of CHANGES.md: amendments, deviations, and what promises say otherwise than those before them, newest first.

    ``tag``: that of the one edition of a bundle, whose folder may have any name.
    """
    listed = list(editions)
    known = announced(listed)
    entries = [(tokens.moment(a.announced_at), 1, a.number, _amended(a)) for a in known]
    for edition in listed:
        called = tag or edition.tag
        entries += [
            (tokens.moment(d.at), 0, number, _deviated(called, d)) for number, d in enumerate(deviations(edition))
        ]
        if (lines := differing(edition, known)) is not None:
            (earlier, at), told = lines
            text = f"## Promise of {called}, {at}: what differs from that of {earlier}\n\n" + "\n".join(told) + "\n"
            entries.append((tokens.moment(at), 2, 0, text))
    entries.sort(key=lambda entry: entry[:3], reverse=True)
    return "\n".join([_HEAD, *(entry[3] for entry in entries)] if entries else [_HEAD, "Nothing was changed so far.\n"])


def differing(edition: Edition, known: Iterable[Amendment]) -> tuple[tuple[str, str], list[str]] | None:
    """What a sealed promise says otherwise than the one before it: the tag of that, the time of this, and a line for each
    difference as CHANGES.md has it; None for the first promise of a study."""
    found = chained.differences(edition) if edition.seal("promise").is_file() else None
    if found is None:
        return None
    earlier, held = found
    promised = chained.read(edition, held=False)
    binding = announcing(known, earlier.tag, promised.tag)
    lines = []
    for each in held:
        number = covering(each.at, binding)
        rule = "no amendment announced it" if each.needs_amendment else "told here; it needs no amendment"
        how = rule if number is None else f"announced by amendment {number}"
        lines.append(f"- {_changed(each.at, each.was, each.now)} ({how})")
    return (earlier.tag, promised.sealed_at), lines or ["Nothing differs but tag, secret seed and dates."]


def _changed(at: str, was: str | None, now: str | None) -> str:
    """A change in one line of Markdown; long values are cut."""
    said = ("nothing" if value is None else value[:_SHOWN] + "…" * (len(value) > _SHOWN) for value in (was, now))
    return markdown(f"{at}: {' → '.join(said)}")


def _amended(amendment: Amendment) -> str:
    return (
        f"## Amendment {amendment.number}, announced {amendment.announced_at}\n\n"
        f"Binds {amendment.binds_from} and later editions. {markdown(amendment.what)}\n\n"
        f"- Before: {markdown(amendment.before)}\n- After: {markdown(amendment.after)}\n- Why: {markdown(amendment.why)}\n"
        + "".join(f"- Covers {_changed(each.at, each.was, each.becomes)}\n" for each in amendment.covers)
    )


def _deviated(tag: str, deviation: Deviation) -> str:
    whose = "" if deviation.detector is None else f", {markdown(deviation.detector)}"
    return f"## Deviation in {tag}{whose}, {deviation.at}\n\n{markdown(deviation.what)}\n"
