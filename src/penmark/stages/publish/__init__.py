"""Publish: make the bundle, a folder that a stranger can check without us.

*Reads* a closed edition and the study's texts, salts, seed and tombstones. *Writes* a new folder, and the same as a plain
tar. *Never* changes the study; never copies a text that is withheld or withdrawn, its salt, or the evidence about it;
never leaves a bundle that fails one of the eight checks, unless it is told to.
"""

from __future__ import annotations

import shutil
import tarfile
from collections.abc import Iterator
from dataclasses import dataclass
from pathlib import Path
from typing import Any

from penmark import cards, protocol, study, timestamps
from penmark.cards import requests
from penmark.corpus import manifest, provenance, sealed_edition
from penmark.errors import Fault, FaultsError, PenmarkError, UsageError, count_noun
from penmark.format import canonical_json, replies
from penmark.journal import evidence_log
from penmark.page import descriptions
from penmark.records import Check, Protocol
from penmark.stages.commit import make_seals
from penmark.stages.verify.check8_page.remake import check_and_remake
from penmark.study.digests import digest_file

EVIDENCE_LINES = 100_000
"""Lines in one evidence file."""


@dataclass(frozen=True)
class Published:
    """Where the bundle is, what it holds, and what the eight checks found in it."""

    folder: Path
    tar: Path | None
    sums_sha256: str
    files: int
    texts: int
    withheld: int
    withdrawn: int
    checks: list[Check]


def publish_edition(
    place: study.Study, edition: study.Edition, out: Path, *, tar: bool = True, despite_failures: bool = False
) -> Published:
    """Make the bundle of ``edition`` at ``out``, which must not exist yet.

    Raises UsageError where the edition is not closed or ``out`` is taken; PenmarkError for files that do not fit, or are
    not as they were sealed; FaultsError where the bundle would fail its own verification, unless ``despite_failures``.
    Nothing is left of it then.
    """
    if not edition.seal("evidence").exists():
        raise UsageError(
            "the evidence is not sealed yet",
            place=str(edition.root),
            remedy="Run `penmark report` first: it closes the edition."
            if edition.seal("corpus").exists()
            else "Much comes before that: `penmark status` says what is next.",
        )
    _check_asked(edition)
    for path in (out, _locate_tar(out)) if tar else (out,):
        if path.exists():
            raise UsageError(
                "is there already", place=str(path), remedy="Name another folder with --out, or move that one away."
            )
    for folder in (place.root / "editions", place.corpus, place.private):
        if out.resolve().is_relative_to(folder.resolve()):
            raise UsageError(
                f"lies in {folder}, where penmark would take it for something else",
                place=str(out),
                remedy=f"Name a folder elsewhere with --out; without it, that is {place.bundles / edition.tag}.",
            )
    with study.lock_file(place.private / "lock", "`penmark publish`"):
        make_seals.check_unchanged(edition)
        return _make_bundle(place, edition, out, tar, despite_failures)


def _check_asked(edition: study.Edition) -> None:
    """Raises UsageError for a rehearsal: a vendor that was promised, and by the sealed card was a server on this machine."""
    for detector in protocol.read_sealed(edition).detectors:
        request = cards.read_sealed_card(edition, detector.name).card.ask.request
        if (
            request is not None
            and detector.surface != "local"
            and (host := requests.find_local_address(request)) is not None
        ):
            raise UsageError(
                f"is a rehearsal, and is not published: {detector.name} is promised as `surface: {detector.surface}`, and by "
                f"its sealed card {host} was asked",
                place=str(edition.sealed_card(detector.name)),
                remedy="Promise an edition with the vendor's own card. A detector that really runs on this machine is promised "
                "as `surface: local`.",
            )


def _make_bundle(place: study.Study, edition: study.Edition, out: Path, tar: bool, despite: bool) -> Published:
    work = out.with_name(f".{out.name}.tmp")
    if work.exists():
        shutil.rmtree(work)
    try:
        work.mkdir(parents=True)
        texts, withheld, withdrawn = _fill_bundle(place, edition, work)
        files = _write_checksums(work)
        checks = check_and_remake(work, timestamps.Trust.load())
        if not despite:
            _require_no_failure(checks, out)
        work.rename(out)
        study.sync_folder(out.parent)
        packed = _write_tar(out) if tar else None
    except OSError as error:
        raise study.make_disk_error(error, out) from None
    finally:
        shutil.rmtree(work, ignore_errors=True)
    return Published(out, packed, digest_file(out / "SHA256SUMS"), files, texts, withheld, withdrawn, checks)


def _require_no_failure(found: list[Check], out: Path) -> None:
    """Raises FaultsError for every finding that failed."""
    failed = [c for c in found if c.state == "failed"]
    if failed:
        head = Fault(
            str(out),
            f"is not published: {count_noun(len(failed), 'finding')} of its own verification",
            "Restore what these name, as it was sealed, from a copy; run `penmark report` again; publish again. What cannot "
            "be mended, as a clock that was wrong, can be published with --despite-failures: every reader is shown it.",
        )
        raise FaultsError([head, *(Fault(f"{c.number} {c.name}", describe_finding(c)) for c in failed)])


def describe_finding(one: Check) -> str:
    """A finding in one line."""
    return f"{one.subject}: {one.got}" + (f"; expected {one.expected}" if one.expected is not None else "")


def _fill_bundle(place: study.Study, edition: study.Edition, out: Path) -> tuple[int, int, int]:
    promised = protocol.read_sealed(edition)
    fill_promised(place, edition, promised, out)
    _copy_replies(edition, out, {detector.name for detector in promised.detectors})
    documents, published, gone = fill_frozen(place, edition, out)
    _copy_evidence(edition, out / "evidence", published, [d.name for d in promised.detectors])
    descriptions.write_descriptions(edition, promised, documents, out, withdrawn=gone)
    withheld = sum(row["withheld"] is not None for row in documents.documents)
    return len(published), withheld, gone


def fill_promised(place: study.Study, edition: study.Edition, promised: Protocol, out: Path) -> None:
    """What of a bundle the edition holds as it is, and the revealed seed."""
    study.write_bytes(out / "format", f"{promised.format}\n".encode())
    for name in ("protocol.yaml", "protocol.json", "manifest.jsonl", "screening.csv", "pool.jsonl", "deviations.jsonl"):
        if (edition.root / name).exists():
            shutil.copyfile(edition.root / name, out / name)
    for folder, pattern in (
        ("detectors", "*.json"), ("seals", "*"), ("journal", "*.jsonl"), ("amendments", "*"), ("tables", "*.csv"),
        ("report", "*"), ("earlier", "*.json"),
    ):  # fmt: skip
        _copy_files(edition.root / folder, out / folder, pattern)
    revealed = {"beacon": promised.beacon, "seed": sealed_edition.read_seed(place, promised).hex()}
    study.write_bytes(out / "seed.json", canonical_json.encode_json(revealed))


def fill_frozen(
    place: study.Study, edition: study.Edition, out: Path
) -> tuple[manifest.Manifest, dict[str, dict[str, Any]], int]:
    """The texts of a frozen corpus, their salts, the tombstones; the manifest, whose texts are published, how many gone."""
    documents = manifest.read_manifest(edition)
    stones = provenance.read_withdrawn(place)
    gone = [row["id"] for row in documents.documents if row["id"] in stones]
    if gone:
        study.write_records(out / "withdrawn.jsonl", [{"at": stones[i]["at"], "document": i} for i in gone])
    open_ones = [row for row in documents.documents if row["withheld"] is None]
    published = {row["id"]: row for row in open_ones if row["id"] not in stones}
    salts = _read_published_salts(place, published)
    if salts:
        study.write_records(
            out / "salts.jsonl", [{"document": i, "salt": salts[i].hex()} for i in published if i in salts]
        )
    study.write_texts(out / "texts", dict(_list_published_texts(place, published, salts)))
    return documents, published, len(gone)


def _copy_files(source: Path, target: Path, pattern: str) -> None:
    files = sorted(source.glob(pattern)) if source.is_dir() else []
    for path in files:
        if path.is_symlink() or not path.is_file():
            raise PenmarkError("is not a plain file", place=str(path), remedy="Move it out of the edition.")
        if path.name.startswith(".") or path.name.endswith(".torn"):
            continue
        target.mkdir(exist_ok=True)
        shutil.copyfile(path, target / path.name)


def _copy_replies(edition: study.Edition, out: Path, known: set[str]) -> None:
    """Copy what vendors replied. Raises PenmarkError for a reply that the page does not have, or that is none."""
    folder = edition.root / replies.FOLDER
    page = study.read_bytes(edition.report / "index.html") if folder.is_dir() else b""
    for path in sorted(folder.glob("*.md")) if folder.is_dir() else ():
        name = f"{replies.FOLDER}/{path.name}"
        replies.parse_reply(study.read_bytes(path), place=str(path))
        if path.stem not in known or f'data-quote="{name}#/reply"'.encode() not in page:
            fact = "is about no detector of this edition" if path.stem not in known else "is not on the page"
            raise PenmarkError(fact, place=str(path), remedy="Run `penmark report` again: it prints replies.")
    _copy_files(folder, out / replies.FOLDER, "*.md")


def _read_published_salts(place: study.Study, published: dict[str, Any]) -> dict[str, bytes]:
    if not place.salts.exists():
        return {}
    found = {value["document"]: bytes.fromhex(value["salt"]) for _, value in study.read_json_lines(place.salts)}
    return {i: salt for i, salt in found.items() if i in published and published[i]["provenance"]["kind"] == "attested"}


def _list_published_texts(
    place: study.Study, published: dict[str, Any], salts: dict[str, bytes]
) -> Iterator[tuple[str, bytes]]:
    """Every text that may be published, drafts of edited texts too, each checked against its address."""
    wanted = {row["address"]: row["id"] for row in published.values()}
    drafts = {row["provenance"]["draft_sha256"] for row in published.values() if row["provenance"]["kind"] == "edited"}
    seen: set[str] = set()
    folders = [place.arm(name) for name in dict.fromkeys(row["arm"] for row in published.values())] + [
        place.private_texts
    ]
    for folder in folders:
        for address, raw, where in study.read_texts(folder):
            if address not in wanted and address not in drafts:
                continue
            salt = salts.get(wanted.get(address, ""))
            if (
                canonical_json.fingerprint_text(salt, raw) if salt is not None else canonical_json.sha256(raw)
            ) != address:
                raise PenmarkError(
                    "is not the text that was frozen", place=where, remedy="Restore the text from a copy."
                )
            seen.add(address)
            yield address, raw
    for address in sorted((set(wanted) | drafts) - seen):
        raise PenmarkError(
            f"the text of {wanted.get(address, 'a draft')} is missing ({address})",
            place=str(place.corpus),
            remedy="Restore the text from a copy; collect it again only if its bytes are the same.",
        )


def _copy_evidence(edition: study.Edition, out: Path, published: dict[str, Any], detectors: list[str]) -> None:
    """Raw answers in the order of their readings, without those about withheld texts, compressed."""
    out.mkdir()
    for detector in detectors:
        kept = {
            (value["document"], value["attempt"], value["sha256"]): value
            for path in evidence_log.list_evidence_files(edition.evidence, detector)
            for _, value in study.read_json_lines(path)
            if value["detector"] == detector and value["document"] in published
        }
        wanted = [key for key in _list_readings(edition, detector) if key[0] in published]
        if lost := [key for key in wanted if key not in kept]:
            raise PenmarkError(
                f"the raw answer of {detector} about {lost[0][0]} is missing ({len(lost)} in all)",
                place=str(edition.evidence),
                remedy="Restore the evidence from a copy: without it nobody can check what was answered.",
            )
        lines = [canonical_json.encode_json(kept[key]) + b"\n" for key in wanted]
        for number, start in enumerate(range(0, len(lines), EVIDENCE_LINES), 1):
            part = b"".join(lines[start : start + EVIDENCE_LINES])
            study.write_bytes(out / f"{detector}-{number:04d}.jsonl.gz", study.compress_gzip(part))
    if not any(out.iterdir()):
        out.rmdir()


def _list_readings(edition: study.Edition, detector: str) -> Iterator[tuple[str, int, str]]:
    for path in edition.journal_files():
        if path.name.split(".jsonl")[0] != detector and not path.name.startswith(f"{detector}."):
            continue
        first = True
        for _, line in study.read_json_lines(path):
            if first and line.get("detector") != detector:
                break
            first = False
            if line["kind"] == "reading" and line["evidence_sha256"] is not None:
                yield line["document"], line["attempt"], line["evidence_sha256"]


def _write_checksums(out: Path) -> int:
    files = sorted((p.relative_to(out).as_posix() for p in out.rglob("*") if p.is_file()), key=lambda n: n.encode())
    study.write_bytes(out / "SHA256SUMS", "".join(f"{digest_file(out / name)}  {name}\n" for name in files).encode())
    return len(files) + 1


def _locate_tar(folder: Path) -> Path:
    return folder.with_name(f"{folder.name}.tar")


def _write_tar(folder: Path) -> Path:
    """The same folder as a plain tar whose bytes depend on nothing but the files."""
    path = _locate_tar(folder)
    part = path.with_name(f".{path.name}.tmp")
    with tarfile.open(part, "w", format=tarfile.USTAR_FORMAT) as archive:
        for file in sorted(
            (p for p in folder.rglob("*") if p.is_file()), key=lambda p: p.relative_to(folder).as_posix().encode()
        ):
            info = tarfile.TarInfo(f"{folder.name}/{file.relative_to(folder).as_posix()}")
            info.size, info.mtime, info.mode = file.stat().st_size, 0, 0o644
            with file.open("rb") as data:
                archive.addfile(info, data)
    part.rename(path)
    return path
