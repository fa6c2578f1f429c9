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

from penmark import study, timestamps
from penmark.errors import UsageError
from penmark.format import canonical_json
from penmark.format.show_figures import escape_markdown
from penmark.journal.append_log import move_torn_end
from penmark.protocol import promise_chain
from penmark.protocol.promise_chain import amendment_files as _files
from penmark.protocol.promise_chain import announced as announced
from penmark.protocol.promise_chain import quarter as quarter
from penmark.protocol.promise_differences import announcing, covering
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


def announce_amendment(
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
    binds = name_next_quarter(edition.tag) if binds_from is None else binds_from
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
            remedy = f"Name a whole tag: series, year, quarter, such as --binds-from {name_next_quarter(edition.tag)}."
            raise UsageError(f"{binds!r} is not an edition's tag", remedy=remedy) from None
        raise study.make_validation_faults(f"amendment {number}", error.errors(include_url=False), _OTHERWISE) from None
    if empty := [name for name in ("what", "why", "before", "after") if not getattr(amendment, name).strip()]:
        raise UsageError(f"nothing is said of {', '.join(empty)}", remedy="Each of the four is printed: say it.")
    _refuse_bound(binds, edition)
    path = edition.amendments / f"{number:04d}.json"
    study.write_bytes(path, canonical_json.encode_json(amendment.model_dump(mode="json")))
    return path


def _refuse_bound(binds: str, edition: Edition) -> None:
    """Raises UsageError where an amendment would bind an edition that is promised already, or another series."""
    if quarter(binds) <= quarter(edition.tag) or binds.split("-")[0] != edition.tag.split("-")[0]:
        raise UsageError(
            f"an amendment announced now cannot bind {binds}: {edition.tag} is promised already",
            remedy=f"Name a later edition of the same series, such as --binds-from {name_next_quarter(edition.tag)}.",
        )


def find_promised_last(editions: Iterable[Edition]) -> Edition | None:
    """Of these editions, oldest first, the last that has a promise: the one in which amendments are announced."""
    promised = [e for e in editions if e.seal("promise").is_file()]
    return promised[-1] if promised else None


def list_in_force(editions: Iterable[Edition], tag: str) -> list[Amendment]:
    """The amendments that bind the edition ``tag``, by number."""
    return [a for a in announced(editions) if quarter(a.binds_from) <= quarter(tag)]


def is_sealed_before(amendment: Amendment, stamped: Iterable[str], promised_at: str) -> bool:
    """True where the amendment was announced before a promise that was sealed at ``promised_at``, or with it.

    ``stamped``: times of valid tokens over it. The earliest of them decides; without any, its own word.
    """
    said = min(
        (timestamps.parse_rfc3339(at) for at in stamped), default=timestamps.parse_rfc3339(amendment.announced_at)
    )
    return said <= timestamps.parse_rfc3339(promised_at)


def carry_amendments(editions: Iterable[Edition], edition: Edition) -> list[Path]:
    """Copy amendments of earlier editions, with their tokens, into one that is about to be promised; their files."""
    earlier = _list_earlier_editions(editions, edition)
    announced([*earlier, edition])
    carried: dict[str, Path] = {}
    for path in _files(earlier):
        for source in (path, *path.parent.glob(f"{path.stem}-*.tsr")):
            target = edition.amendments / source.name
            if not target.exists():
                study.write_bytes(target, study.read_bytes(source))
        carried[path.name] = edition.amendments / path.name
    return [carried[name] for name in sorted(carried)]


def list_own_amendments(editions: Iterable[Edition], edition: Edition) -> list[Path]:
    """The files of the amendments that were announced in this edition, not carried into it."""
    carried = {path.name for path in _files(_list_earlier_editions(editions, edition))}
    return [path for path in _files([edition]) if path.name not in carried]


def name_next_quarter(tag: str) -> str:
    """The tag of the edition a quarter later: ``BENCH-2026-Q4`` -> ``BENCH-2027-Q1``."""
    year, number = quarter(tag)
    later = (year, number + 1) if number < 4 else (year + 1, 1)
    return f"{tag.rsplit('-', 2)[0]}-{later[0]:04d}-Q{later[1]}"


def _list_earlier_editions(editions: Iterable[Edition], edition: Edition) -> list[Edition]:
    return [e for e in editions if e.root != edition.root and quarter(e.tag) < quarter(edition.tag)]


# --- deviations ----------------------------------------------------------------------------------------------------


def add_deviation(edition: Edition, what: str, detector: str | None = None, *, now: str) -> Deviation:
    """Add a line to deviations.jsonl and make it durable; several processes may do so at once.

    Raises PenmarkError for a value that no deviation has, ServiceError where the disk refuses.
    """
    path = edition.deviations
    try:
        value = Deviation(at=now, detector=detector, what=what)
    except ValidationError as error:
        raise study.make_validation_faults("the deviation", error.errors(include_url=False), _OTHERWISE) from None
    line = canonical_json.encode_json(value.model_dump(mode="json")) + b"\n"
    try:
        with path.open("a+b") as file:
            fcntl.flock(file, fcntl.LOCK_EX)
            move_torn_end(path)
            file.write(line)
            file.flush()
            os.fsync(file.fileno())
        study.sync_folder(path.parent)
    except OSError as error:
        raise study.make_disk_error(error, path) from None
    return value


def read_deviations(edition: Edition) -> list[Deviation]:
    """The deviations of an edition in the order in which they were written; none where there is no file."""
    if not edition.deviations.exists():
        return []
    found = []
    for number, value in study.read_json_lines(edition.deviations):
        try:
            found.append(Deviation.model_validate(value))
        except ValidationError as error:
            place = f"{edition.deviations}:{number}"
            raise study.make_validation_faults(place, error.errors(include_url=False)) from None
    return found


# --- the changelog -------------------------------------------------------------------------------------------------


def render_changes(editions: Iterable[Edition], *, tag: str | None = None) -> str:
    """The text of CHANGES.md: amendments, deviations, and what promises say otherwise than those before them, newest first.

    ``tag``: that of the one edition of a bundle, whose folder may have any name.
    """
    listed = list(editions)
    known = announced(listed)
    entries = [(timestamps.parse_rfc3339(a.announced_at), 1, a.number, _render_amendment(a)) for a in known]
    for edition in listed:
        called = tag or edition.tag
        entries += [
            (timestamps.parse_rfc3339(d.at), 0, number, _render_deviation(called, d))
            for number, d in enumerate(read_deviations(edition))
        ]
        if (lines := differing(edition, known)) is not None:
            (earlier, at), told = lines
            text = f"## Promise of {called}, {at}: what differs from that of {earlier}\n\n" + "\n".join(told) + "\n"
            entries.append((timestamps.parse_rfc3339(at), 2, 0, text))
    entries.sort(key=lambda entry: entry[:3], reverse=True)
    return "\n".join([_HEAD, *(entry[3] for entry in entries)] if entries else [_HEAD, "Nothing was changed so far.\n"])


def differing(edition: Edition, known: Iterable[Amendment]) -> tuple[tuple[str, str], list[str]] | None:
    """What a sealed promise says otherwise than the one before it: the tag of that, the time of this, and a line for each
    difference as CHANGES.md has it; None for the first promise of a study."""
    found = promise_chain.differences(edition) if edition.seal("promise").is_file() else None
    if found is None:
        return None
    earlier, held = found
    promised = promise_chain.read(edition, held=False)
    binding = announcing(known, earlier.tag, promised.tag)
    lines = []
    for each in held:
        number = covering(each.at, binding)
        rule = "no amendment announced it" if each.needs_amendment else "told here; it needs no amendment"
        how = rule if number is None else f"announced by amendment {number}"
        lines.append(f"- {_describe_change(each.at, each.was, each.now)} ({how})")
    return (earlier.tag, promised.sealed_at), lines or ["Nothing differs but tag, secret seed and dates."]


def _describe_change(at: str, was: str | None, now: str | None) -> str:
    """A change in one line of Markdown; long values are cut."""
    said = ("nothing" if value is None else value[:_SHOWN] + "…" * (len(value) > _SHOWN) for value in (was, now))
    return escape_markdown(f"{at}: {' → '.join(said)}")


def _render_amendment(amendment: Amendment) -> str:
    return (
        f"## Amendment {amendment.number}, announced {amendment.announced_at}\n\n"
        f"Binds {amendment.binds_from} and later editions. {escape_markdown(amendment.what)}\n\n"
        f"- Before: {escape_markdown(amendment.before)}\n- After: {escape_markdown(amendment.after)}\n- Why: "
        f"{escape_markdown(amendment.why)}\n"
        + "".join(f"- Covers {_describe_change(each.at, each.was, each.becomes)}\n" for each in amendment.covers)
    )


def _render_deviation(tag: str, deviation: Deviation) -> str:
    whose = "" if deviation.detector is None else f", {escape_markdown(deviation.detector)}"
    return f"## Deviation in {tag}{whose}, {deviation.at}\n\n{escape_markdown(deviation.what)}\n"
