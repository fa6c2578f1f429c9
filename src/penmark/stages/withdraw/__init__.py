"""Withdraw: an author takes a text back. Text and salt are destroyed wherever the study holds them.

*Reads* the study. *Writes* a tombstone (``private/withdrawn.jsonl``, and for readers ``corpus/<arm>/withdrawn.jsonl``);
takes the document out of the corpus, its lines out of ``evidence/`` and of private findings. *Never* touches what is
sealed or chained (manifest, journals, tables) or a bundle: these keep the keyed fingerprint, which without its salt says
nothing, and what was answered. A run that is cut short is finished by the same command.
"""

from __future__ import annotations

import contextlib
import csv
import io
from collections.abc import Iterator
from pathlib import Path
from typing import Any, NamedTuple

from penmark import study
from penmark.corpus import provenance
from penmark.errors import PenmarkError, UsageError, suggest_name
from penmark.format import canonical_json
from penmark.stages.withdraw.traces import Trace, find_traces
from penmark.study import Study

_OURS = ("documents.jsonl", "claims.jsonl")


class Withdrawn(NamedTuple):
    """What was done. ``left``: files of the study that still hold something of it, and what; ``beyond``: what no
    program reaches, in words."""

    document: str
    arm: str
    at: str
    editions: tuple[str, ...]
    changed: tuple[str, ...]
    left: tuple[Trace, ...]
    beyond: tuple[str, ...]


class _Known(NamedTuple):
    """Where the study knows a document from: its record, and the frozen editions that name it."""

    arm: str
    address: str
    attested: bool
    editions: tuple[str, ...]


def withdraw_text(place: Study, document: str, *, now: str) -> Withdrawn:
    """Destroy an attested text, its salt and every copy of it that the study holds and may change.

    ``now``: RFC 3339, UTC. Raises UsageError for a document that the study does not know, or that nobody attested;
    PenmarkError where a scan or another command holds the files.
    """
    with contextlib.ExitStack() as held:
        held.enter_context(study.lock_file(place.private / "lock", "`penmark withdraw`"))
        known = _find_document(place, document)
        for tag in known.editions:
            root = place.edition(tag).root
            for lock in sorted({root / "scan.lock", *root.glob("scan.*.lock")}):  # of a scan, and of its shards
                held.enter_context(study.lock_file(lock, "`penmark withdraw`"))
        before = provenance.read_withdrawn(place)
        stone = before.get(document) or {
            "address": known.address,
            "arm": known.arm,
            "at": now,
            "document": document,
            "editions": list(known.editions),
        }
        path = place.private_texts / f"{known.address}.txt"
        text = study.read_bytes(path) if path.exists() else None
        salt = provenance.read_salts(place).get(document)
        changed = list(_write_tombstone(place, before | {document: stone}, stone))
        changed += _destroy_document(place, document, known, path)
        left = tuple(find_traces(place.root, document, text, salt)) if text is not None or salt is not None else ()
        return Withdrawn(
            document, known.arm, stone["at"], known.editions, tuple(changed), left, _list_remaining_copies(place, known)
        )


def _find_document(place: Study, document: str) -> _Known:
    rows: list[tuple[str | None, dict[str, Any]]] = []
    names: set[str] = set()
    for path in sorted(place.corpus.glob("*/documents.jsonl")):
        for _, value in study.read_json_lines(path):
            names.add(str(value.get("id")))
            rows += [(None, value)] if value.get("id") == document else []
    editions = []
    for edition in place.editions():
        for number, value in study.read_json_lines(edition.manifest) if edition.manifest.exists() else ():
            if number > 1:
                names.add(str(value.get("id")))
                if value.get("id") == document:
                    rows.append((edition.tag, value))
                    editions.append(edition.tag)
    stone = provenance.read_withdrawn(place).get(document)
    if not rows and stone is None:
        raise UsageError(
            f"there is no document {document!r} in the study{suggest_name(document, names)}",
            place=str(place.corpus),
            remedy="Give the id as documents.jsonl or the manifest has it.",
        )
    if stone is not None:
        return _Known(stone["arm"], stone["address"], True, tuple(stone["editions"]))
    value = rows[0][1]
    if value["provenance"]["kind"] != "attested":
        raise UsageError(
            f"{document} is {value['provenance']['kind']} text, which nobody attested",
            remedy="Only texts that their authors attested are withdrawn; others are replaced before the freeze "
            f"(`penmark collect {value['arm']} --anew`), and stay in the editions that froze them.",
        )
    return _Known(value["arm"], value["address"], True, tuple(editions))


# --- tombstones ----------------------------------------------------------------------------------------------------


def _write_tombstone(place: Study, stones: dict[str, dict[str, Any]], stone: dict[str, Any]) -> Iterator[str]:
    """The tombstone comes first: from then on nothing collects, scans or publishes the text."""
    lines = b"".join(canonical_json.encode_json(stones[name]) + b"\n" for name in sorted(stones))
    study.write_private(place.withdrawn, lines)
    yield _shorten_path(place, place.withdrawn)
    path = place.arm(stone["arm"]) / "withdrawn.jsonl"
    told = {value["document"]: value for _, value in study.read_json_lines(path)} if path.exists() else {}
    told[stone["document"]] = {name: stone[name] for name in ("at", "document", "editions")}
    study.write_records(path, [told[name] for name in sorted(told)])
    yield _shorten_path(place, path)


# --- destruction ---------------------------------------------------------------------------------------------------


def _destroy_document(place: Study, document: str, known: _Known, text: Path) -> Iterator[str]:
    """Answers about it, private findings, record; text and salt last, so that a run that was cut short can be finished."""
    for path in sorted(place.root.glob("editions/*/evidence/*.jsonl*")):
        yield from _remove_lines(place, path, document, "document")
    for path in sorted(place.private.glob("screening-*.csv")):
        yield from _csv_without(place, path, document)
    folder = place.arm(known.arm)
    for name, key in zip(_OURS, ("id", "document"), strict=True):
        yield from _remove_lines(place, folder / name, document, key)
    yield from _csv_without(place, folder / "decisions.csv", document)
    for edition in place.editions():
        if not edition.seal("corpus").exists():  # findings of before; `penmark screen` makes them again
            for path in (edition.screening, edition.screening.with_suffix(".html")):
                if path.exists():
                    path.unlink()
                    yield _shorten_path(place, path)
    if text.exists():
        text.unlink()
        study.sync_folder(text.parent)
        yield _shorten_path(place, text)
    yield from _remove_lines(place, place.salts, document, "document", private=True)


def _remove_lines(place: Study, path: Path, document: str, key: str, *, private: bool = False) -> Iterator[str]:
    """Take the lines about the document out of a file of lines; of a torn one all lines that name it."""
    if not path.exists() or path.is_symlink():
        return
    named = canonical_json.encode_json({key: document})[1:-1]
    raw = study.read_bytes(path)
    lines = raw.split(b"\n")
    kept = [
        line for line in lines if named not in line or (_is_whole_line(line) and not _is_about(line, document, key))
    ]
    if len(kept) == len(lines):
        return
    (study.write_private if private else study.write_bytes)(path, b"\n".join(kept))
    yield _shorten_path(place, path)


def _is_whole_line(line: bytes) -> bool:
    try:
        canonical_json.decode_json(line, place="")
    except PenmarkError:
        return False
    return True


def _is_about(line: bytes, document: str, key: str) -> bool:
    value = canonical_json.decode_json(line, place="")
    return isinstance(value, dict) and value.get(key) == document


def _csv_without(place: Study, path: Path, document: str) -> Iterator[str]:
    if not path.exists():
        return
    text = study.read_bytes(path).decode("utf-8-sig", "replace")
    rows = list(csv.DictReader(io.StringIO(text, newline=""), delimiter=study.detect_delimiter(text)))
    kept = [row for row in rows if study.unescape_cell(row.get("document") or "") != document]
    if len(kept) == len(rows):
        return
    header = list(rows[0])
    data = study.encode_csv(header, ([row[name] for name in header] for row in kept))
    (study.write_private if path.parent == place.private else study.write_bytes)(path, data)
    yield _shorten_path(place, path)


# --- what is told --------------------------------------------------------------------------------------------------


def _list_remaining_copies(place: Study, known: _Known) -> tuple[str, ...]:
    told = ["backups and snapshots of this machine", "the export or folder that the text was collected from"]
    if any((folder / ".git").exists() for folder in (place.root.resolve(), *place.root.resolve().parents)):
        told.append("the history of git, if the text was ever committed (private/ never is, unless by hand)")
    vendors = sorted({name for tag in known.editions for name in _list_asked_detectors(place, tag)})
    if vendors:
        told.append(f"what detectors keep that were sent it, or may have been: {', '.join(vendors)}")
    for tag in known.editions:
        if any((place.edition(tag).root / "screenshots").glob("*")):
            told.append(f"pictures of screens in editions/{tag}/screenshots, which may show it: look through them")
    if known.editions:
        told.append(f"copies that others hold of the bundles of {', '.join(known.editions)}")
    return tuple(told)


def _list_asked_detectors(place: Study, tag: str) -> Iterator[str]:
    for path in place.edition(tag).journal_files():
        _, first = next(study.read_json_lines(path), (0, {}))
        if isinstance(first.get("detector"), str):
            yield first["detector"]


def _shorten_path(place: Study, path: Path) -> str:
    return path.relative_to(place.root).as_posix()
