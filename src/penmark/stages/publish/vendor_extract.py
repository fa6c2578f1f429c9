"""The extract about one detector: what a vendor with a grievance needs, taken from a bundle. It is not a bundle.

*Reads* a bundle, and nothing else: what is not public is not in an extract either. *Writes* a new folder. *Never* copies
a file that is not the one in SHA256SUMS, or gives a text to a vendor whom its author did not name.
"""

from __future__ import annotations

import csv
import io
import re
import shutil
from collections.abc import Iterator
from dataclasses import dataclass
from importlib.resources import files
from pathlib import Path
from typing import Any

from penmark import cards, protocol, study
from penmark.errors import PenmarkError, UsageError, suggest_name
from penmark.records import Card
from penmark.study.digests import digest_file

SAME = study.EXTRACT
"""The files that are byte for byte those of the bundle."""
ROWS = ("readings", "table1", "table2", "rates")
"""The tables of which an extract has the detector's rows."""
_WHOLE = ("protocol.json", "protocol.yaml", "manifest.jsonl", "seed.json", "salts.jsonl", "deviations.jsonl")
_WHAT_IF = """
What another boundary would give, anyone may see: `penmark -C BUNDLE report --boundary {detector}=VALUE` makes tables and
page in a folder beside the bundle, which say that they are not the promised ones.
"""
_ASKED = frozenset({"answered", "declined", "failed", "in_doubt"})


@dataclass(frozen=True)
class Extract:
    """Where the extract is, and what it holds. ``kept_back``: published texts whose authors did not name this vendor."""

    folder: Path
    detector: str
    readings: int
    texts: int
    kept_back: int


def make_extract(bundle: Path, detector: str, out: Path) -> Extract:
    """Write the extract of ``bundle`` about ``detector`` to ``out``, which must not exist yet.

    Raises UsageError where there is no bundle, no such detector in it, or ``out`` is taken; PenmarkError where a file is
    not the published one.
    """
    edition = study.Edition(bundle)
    if not (bundle / "SHA256SUMS").is_file():
        study.refuse_extract(bundle)
        remedy = "Name it where it lies elsewhere, with --bundle BUNDLE; or run `penmark publish` first."
        raise UsageError("there is no bundle here", place=str(bundle), remedy=remedy)
    known = [each.name for each in protocol.read_sealed(edition).detectors]
    if detector not in known:
        raise UsageError(
            f"there is no detector {detector!r} in this bundle{suggest_name(detector, known)}",
            place=str(bundle),
            remedy=f"It has: {', '.join(sorted(known))}.",
        )
    if out.exists():
        raise UsageError("is there already", place=str(out), remedy="Name another folder with --out.")
    work = out.with_name(f".{out.name}.tmp")
    shutil.rmtree(work, ignore_errors=True)
    try:
        work.mkdir(parents=True)
        made = _fill_extract(edition, detector, work)
        work.rename(out)
        study.sync_folder(out.parent)
    except OSError as error:
        raise study.make_disk_error(error, out) from None
    finally:
        shutil.rmtree(work, ignore_errors=True)
    return Extract(out, detector, *made)


def _fill_extract(edition: study.Edition, detector: str, out: Path) -> tuple[int, int, int]:
    sums = dict(_read_checksums(edition.root))
    same = [path for path in sums if path in _WHOLE or _is_about(path, detector)]
    rows = _write_rows(edition, detector, out)
    asked = {row["document"] for row in rows if row["state"] in _ASKED}
    wanted, kept_back = _list_asked_texts(edition, cards.read_sealed_card(edition, detector).card, asked)
    loose = [f"texts/{address}.txt" for address in wanted if f"texts/{address}.txt" in sums]
    for path in sorted({*same, *loose}):
        _copy_file(edition.root, path, sums[path], out)
    if len(loose) < len(wanted):
        there = {a: raw for a, raw, _ in study.read_texts(edition.root / "texts") if a in wanted}
        study.write_texts(out / "texts", there)
    lines = [f"{sums[path]}  {path}\n" for path in sorted({*same, *loose}, key=str.encode)]
    study.write_bytes(out / SAME, "".join(lines).encode())
    study.write_bytes(out / "README.md", _render_readme(edition, detector, sharded=len(loose) < len(wanted)).encode())
    return sum(row["state"] == "answered" for row in rows), len(wanted), kept_back


def _read_checksums(bundle: Path) -> Iterator[tuple[str, str]]:
    for line in study.read_bytes(bundle / "SHA256SUMS").decode().splitlines():
        sha256, _, path = line.partition("  ")
        yield path, sha256


def _is_about(path: str, detector: str) -> bool:
    """True for a file that speaks of this detector, or of what was promised and sealed for all."""
    name = re.escape(detector)
    own = rf"detectors/{name}\.json|replies/{name}\.md|evidence/{name}-[0-9]+\.jsonl\.gz|journal/{name}(\.[0-9]+of[0-9]+)?\.jsonl"
    return re.fullmatch(rf"{own}|seals/.+|amendments/.+", path) is not None


def _copy_file(bundle: Path, path: str, sha256: str, out: Path) -> None:
    if digest_file(bundle / path) != sha256:
        raise PenmarkError(
            "is not the published file",
            place=str(bundle / path),
            remedy="Get it again, or run `penmark publish` again.",
        )
    (out / path).parent.mkdir(parents=True, exist_ok=True)
    shutil.copyfile(bundle / path, out / path)


def _write_rows(edition: study.Edition, detector: str, out: Path) -> list[dict[str, str]]:
    """Write the detector's rows of each table, as they stand there; those of readings.csv."""
    readings: list[dict[str, str]] = []
    for name in ROWS:
        header, *all_rows = csv.reader(
            io.StringIO(study.read_bytes(edition.tables / f"{name}.csv").decode(), newline="")
        )
        rows = [row for row in all_rows if row[header.index("detector")] == detector]
        study.write_bytes(out / "rows" / f"{name}.csv", study.encode_csv(header, rows))
        if name == "readings":
            readings = [dict(zip(header, row, strict=True)) for row in rows]
    return readings


def _list_asked_texts(edition: study.Edition, card: Card, asked: set[str]) -> tuple[dict[str, str], int]:
    """The published texts that the detector was asked about, by address; and how many of them this vendor may not have."""
    found: dict[str, str] = {}
    kept_back = 0
    for number, row in study.read_json_lines(edition.manifest):
        if number == 1 or row["id"] not in asked or row["withheld"] is not None:
            continue
        if _is_vendor_allowed(row["provenance"], card):
            found[row["address"]] = row["id"]
        else:
            kept_back += 1
    return found, kept_back


def _is_vendor_allowed(provenance: dict[str, Any], card: Card) -> bool:
    consent = provenance.get("consent")
    return consent is None or bool({"*", card.name, card.vendor} & set(consent["vendors"]))


def _render_readme(edition: study.Edition, detector: str, *, sharded: bool) -> str:
    card = cards.read_sealed_card(edition, detector).card
    return (
        files("penmark.stages.publish")
        .joinpath("vendor_extract.txt")
        .read_text(encoding="utf-8")
        .format(
            detector=detector,
            title=card.title,
            vendor=card.vendor,
            edition=protocol.read_sealed(edition).edition,
            study=protocol.read_sealed(edition).title,
            sums=digest_file(edition.root / "SHA256SUMS"),
            same=SAME,
            what_if=_WHAT_IF.format(detector=detector) if card.scale is not None else "",
            texts="`texts/` holds them by address, in files of its own; the bundle has them in other files."
            if sharded
            else "`texts/` holds them by address, as the bundle does.",
        )
    )
