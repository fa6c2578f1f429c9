"""Where things are, and how files are read and written.

A study is a folder: ``study.yaml``, ``corpus/``, ``private/``, ``editions/<tag>/`` (docs/design.md).
*Reads* and *writes* bytes at the places it names. *Never* knows what is in them.
A file is written under a temporary name, made durable, and renamed; nothing is ever half written.
"""

from __future__ import annotations

import contextlib
import errno
import fcntl
import gzip
import os
import re
import tempfile
import zlib
from collections.abc import Iterable, Iterator
from dataclasses import dataclass
from pathlib import Path
from typing import IO, Any

from penmark import canon
from penmark.errors import Fault, FaultsError, PenmarkError, ServiceError, UsageError

MAX_FILE = 2 * 2**30
"""No file that penmark reads whole is larger than this (bytes)."""
MAX_LINE = 64 * 2**20
"""No line of a JSONL file is longer than this (bytes)."""
MAX_EXPANDED = 8 * 2**30
"""No gzip file expands to more than this (bytes)."""
SHARD = 10_000
"""Records in one shard of texts."""
LOOSE = 1_000
"""From so many texts on, they lie in shards."""


@dataclass(frozen=True)
class Edition:
    """The places of one edition, also of a bundle, which has the same layout. Paths only."""

    root: Path

    @property
    def tag(self) -> str:
        return self.root.name

    @property
    def protocol_yaml(self) -> Path:
        return self.root / "protocol.yaml"

    @property
    def protocol_json(self) -> Path:
        return self.root / "protocol.json"

    @property
    def manifest(self) -> Path:
        return self.root / "manifest.jsonl"

    @property
    def screening(self) -> Path:
        return self.root / "screening.csv"

    @property
    def seals(self) -> Path:
        return self.root / "seals"

    @property
    def detectors(self) -> Path:
        return self.root / "detectors"

    @property
    def journals(self) -> Path:
        return self.root / "journal"

    @property
    def evidence(self) -> Path:
        return self.root / "evidence"

    @property
    def tables(self) -> Path:
        return self.root / "tables"

    @property
    def report(self) -> Path:
        return self.root / "report"

    @property
    def amendments(self) -> Path:
        return self.root / "amendments"

    @property
    def deviations(self) -> Path:
        return self.root / "deviations.jsonl"

    @property
    def pilot(self) -> Path:
        return self.root / "pilot"

    def seal(self, name: str) -> Path:
        return self.seals / f"{name}.json"

    def seal_names(self) -> list[str]:
        """The seals that exist, in their order: promise, corpus, heads-0001 …, evidence."""
        rank = {"promise": 0, "corpus": 1, "evidence": 3}
        return sorted((p.stem for p in self.seals.glob("*.json")), key=lambda name: (rank.get(name, 2), name))

    def sealed_card(self, detector: str) -> Path:
        return self.detectors / f"{detector}.json"

    def journal_files(self) -> list[Path]:
        """Every journal, by name."""
        return sorted(self.journals.glob("*.jsonl"), key=lambda p: p.name.encode())


@dataclass(frozen=True)
class Study:
    """The places of a study. Paths only."""

    root: Path

    @property
    def marker(self) -> Path:
        return self.root / "study.yaml"

    @property
    def private(self) -> Path:
        return self.root / "private"

    @property
    def seed(self) -> Path:
        return self.private / "seed"

    def seed_of(self, tag: str) -> Path:
        """The secret seed of an edition: ``private/seed``, or once a later edition has begun ``private/seed-<tag>``."""
        kept = self.private / f"seed-{tag}"
        return kept if kept.exists() else self.seed

    @property
    def salts(self) -> Path:
        return self.private / "salts.jsonl"

    @property
    def private_texts(self) -> Path:
        return self.private / "texts"

    @property
    def corpus(self) -> Path:
        return self.root / "corpus"

    @property
    def cards(self) -> Path:
        """Cards of the user's own, beside the protocol."""
        return self.root / "cards"

    @property
    def changes(self) -> Path:
        return self.root / "CHANGES.md"

    def arm(self, name: str) -> Path:
        return self.corpus / name

    def documents(self, arm: str) -> Path:
        return self.corpus / arm / "documents.jsonl"

    @property
    def bundles(self) -> Path:
        """Where `publish` puts bundles unless told otherwise."""
        return self.root / "bundles"

    def editions(self) -> list[Edition]:
        """All editions, oldest first (tags sort by name within a series, then year and quarter)."""
        folder = self.root / "editions"
        found = [Edition(p) for p in folder.iterdir() if p.is_dir()] if folder.is_dir() else []
        return sorted(found, key=lambda e: (e.tag.split("-")[1:], e.tag))

    def edition(self, tag: str | None = None) -> Edition:
        """The edition of that tag, or the newest. Raises UsageError where there is none."""
        found = self.editions()
        if tag is not None:
            found = [e for e in found if e.tag == tag]
        if not found:
            raise UsageError(
                f"no edition {tag}" if tag is not None else "the study has no edition",
                place=str(self.root / "editions"),
                remedy="Start one with `penmark init`.",
            )
        return found[-1]


def find(folder: Path) -> Study:
    """The study in ``folder``. Raises UsageError where there is none."""
    study = Study(folder)
    if not study.marker.is_file():
        raise UsageError(
            "there is no study here (no study.yaml)",
            place=str(folder),
            remedy="Go to the study's folder, name it with -C DIR, or start one with `penmark init`.",
        )
    return study


# --- reading -------------------------------------------------------------------------------------------------------


def read(path: Path, *, limit: int = MAX_FILE) -> bytes:
    """All bytes of a regular file of at most ``limit`` bytes. Raises PenmarkError naming it: missing, a link, too large."""
    try:
        if path.is_symlink():
            raise PenmarkError("is a symbolic link", place=str(path), remedy="Put the file itself there.")
        with path.open("rb") as file:
            size = os.fstat(file.fileno()).st_size
            if size > limit:
                raise PenmarkError(
                    f"is {size} bytes; the limit is {limit}", place=str(path), remedy="Split it, or look what it is."
                )
            return file.read(limit + 1)
    except OSError as error:
        raise PenmarkError(_reason(error), place=str(path), remedy=_remedy(error)) from None


def read_json(path: Path) -> Any:
    """The value of a canonical JSON file."""
    return canon.decode(read(path), place=str(path))


def lines(path: Path) -> Iterator[tuple[int, bytes]]:
    """Number (from 1) and bytes (without LF) of each line of a file, plain or ``.gz``; streams.

    Raises PenmarkError for a missing or broken file, a line longer than MAX_LINE, a last line without its LF.
    """
    try:
        with contextlib.closing(_open(path)) as file:
            number, total = 0, 0
            while line := file.readline(MAX_LINE + 1):
                number += 1
                total += len(line)
                if total > MAX_EXPANDED:
                    raise PenmarkError(f"expands to more than {MAX_EXPANDED} bytes", place=f"{path}:{number}")
                if not line.endswith(b"\n"):
                    fact = (
                        "the line is too long"
                        if len(line) > MAX_LINE
                        else "the last line is not finished (no line end)"
                    )
                    raise PenmarkError(
                        fact, place=f"{path}:{number}", remedy="The file was cut; restore it from where it came."
                    )
                yield number, line[:-1]
    except (OSError, EOFError, zlib.error) as error:
        raise PenmarkError(_reason(error), place=str(path), remedy=_remedy(error)) from None


def blocks(path: Path, size: int) -> Iterator[bytes]:
    """A file in blocks of about ``size`` bytes that end with a line, but for a last line without its LF; streams.

    Raises PenmarkError for a missing or broken file, a line longer than MAX_LINE.
    """
    try:
        with contextlib.closing(_open(path)) as file:
            while block := file.read(size):
                rest = b"" if block.endswith(b"\n") else file.readline(MAX_LINE)
                if len(rest) == MAX_LINE:
                    remedy = "Restore the file from where it came."
                    raise PenmarkError("a line is too long", place=str(path), remedy=remedy)
                yield block + rest
    except (OSError, EOFError, zlib.error) as error:
        raise PenmarkError(_reason(error), place=str(path), remedy=_remedy(error)) from None


def records(path: Path) -> Iterator[tuple[int, dict[str, Any]]]:
    """Number and object of each canonical line of a JSONL file."""
    for number, line in lines(path):
        value = canon.decode(line, place=f"{path}:{number}")
        if not isinstance(value, dict):
            raise PenmarkError("is not a JSON object", place=f"{path}:{number}")
        yield number, value


def _open(path: Path) -> IO[bytes]:
    if path.is_symlink():
        raise PenmarkError("is a symbolic link", place=str(path), remedy="Put the file itself there.")
    return gzip.open(path, "rb") if path.name.endswith(".gz") else path.open("rb")  # type: ignore[return-value]


# --- writing -------------------------------------------------------------------------------------------------------


def write(path: Path, data: bytes) -> None:
    """Write a whole file: temporary name, fsync, rename, fsync of the folder. Raises ServiceError where the disk refuses."""
    try:
        path.parent.mkdir(parents=True, exist_ok=True)
        handle, name = tempfile.mkstemp(dir=path.parent, prefix=f".{path.name}.", suffix=".tmp")
        try:
            with os.fdopen(handle, "wb") as file:
                file.write(data)
                file.flush()
                os.fchmod(file.fileno(), 0o644)
                os.fsync(file.fileno())
            Path(name).replace(path)
        except BaseException:
            with contextlib.suppress(OSError):
                Path(name).unlink()
            raise
        sync_folder(path.parent)
    except OSError as error:
        raise disk(error, path) from None


def write_private(path: Path, data: bytes) -> None:
    """As ``write``, in a folder and a file that only the owner may read."""
    path.parent.mkdir(parents=True, exist_ok=True, mode=0o700)
    write(path, data)
    path.chmod(0o600)


def write_records(path: Path, values: Iterable[Any]) -> None:
    """Write canonical lines as a whole file."""
    write(path, b"".join(canon.encode(value) + b"\n" for value in values))


def gzipped(data: bytes) -> bytes:
    """Deterministic gzip: no name, time 0. (The bytes depend on the zlib build; the digest in SHA256SUMS is what counts.)"""
    return gzip.compress(data, compresslevel=6, mtime=0)


def sync_folder(folder: Path) -> None:
    """Make the names in a folder durable."""
    handle = os.open(folder, os.O_RDONLY)
    try:
        os.fsync(handle)
    finally:
        os.close(handle)


def disk(error: OSError, path: Path) -> ServiceError:
    """The error that a user sees when the disk refuses a write."""
    return ServiceError(_reason(error), place=str(path), remedy=_remedy(error))


@contextlib.contextmanager
def locked(path: Path, doing: str) -> Iterator[None]:
    """Hold an exclusive lock named ``path`` while in the block. Raises UsageError naming the holder where it is taken.

    The lock goes with the process, so a crash leaves none behind.
    """
    try:
        path.parent.mkdir(parents=True, exist_ok=True)
        file = path.open("a+b")
    except OSError as error:
        raise disk(error, path) from None
    with file:
        try:
            fcntl.flock(file, fcntl.LOCK_EX | fcntl.LOCK_NB)
        except OSError:
            file.seek(0)
            holder = file.read(200).decode(errors="replace").strip() or "another process"
            raise UsageError(
                f"in use by {holder}", place=str(path.parent), remedy="Wait until it ends, or stop that process."
            ) from None
        file.seek(0)
        file.truncate()
        file.write(f"{doing} (process {os.getpid()})".encode())
        file.flush()
        yield


# --- texts ---------------------------------------------------------------------------------------------------------


def write_texts(folder: Path, texts: dict[str, bytes]) -> None:
    """Keep texts by address: loose ``<address>.txt`` below LOOSE of them, else shards ``<nnnn>.jsonl.gz`` of SHARD lines."""
    folder.mkdir(parents=True, exist_ok=True)
    if len(texts) < LOOSE:
        for address, raw in sorted(texts.items()):
            write(folder / f"{address}.txt", raw)
        return
    ordered = sorted(texts)
    # Last shard first: where texts were added, those that move to a later shard are there before the earlier loses them.
    for number, start in reversed(list(enumerate(range(0, len(ordered), SHARD), 1))):
        part = b"".join(
            canon.encode({"address": a, "text": texts[a].decode("utf-8")}) + b"\n"
            for a in ordered[start : start + SHARD]
        )
        write(folder / f"{number:04d}.jsonl.gz", gzipped(part))


def read_texts(folder: Path) -> Iterator[tuple[str, bytes, str]]:
    """Address as named, raw bytes, and place, of every text kept in a folder; nothing is checked against the address."""
    if not folder.is_dir():
        return
    for path in sorted(folder.iterdir()):
        if path.name.endswith(".txt"):
            yield path.name.removesuffix(".txt"), read(path), str(path)
        elif path.name.endswith(".jsonl.gz"):
            for number, value in records(path):
                if set(value) != {"address", "text"} or not all(isinstance(v, str) for v in value.values()):
                    raise PenmarkError("is not {address, text}", place=f"{path}:{number}")
                yield value["address"], value["text"].encode(), f"{path}:{number}"


# --- CSV -----------------------------------------------------------------------------------------------------------

_DECIMAL = re.compile(r"-?[0-9]+(\.[0-9]+)?([eE][+-]?[0-9]+)?\Z")


def cell(value: str) -> str:
    """A CSV cell: guarded against spreadsheets that run it, then quoted where needed (docs/format.md, 1)."""
    if value and value[0] in "=+-@\t\r\n" and not _DECIMAL.match(value):
        value = "'" + value
    if any(c in value for c in ',"\r\n'):
        return '"' + value.replace('"', '""') + '"'
    return value


def csv_bytes(header: Iterable[str], rows: Iterable[Iterable[str | int | None]]) -> bytes:
    """CSV in the one form that penmark writes; None is an empty cell."""
    out = [",".join(header)]
    for row in rows:
        cells = [cell("" if v is None else str(v)) for v in row]
        out.append('""' if cells == [""] else ",".join(cells))
    return ("\n".join(out) + "\n").encode()


def _reason(error: Exception) -> str:
    if isinstance(error, FileNotFoundError):
        return "there is no such file"
    if isinstance(error, OSError) and error.errno is not None:
        return os.strerror(error.errno).lower()
    return f"cannot be read ({error})"


def _remedy(error: Exception) -> str:
    if isinstance(error, OSError) and error.errno in (errno.ENOSPC, errno.EDQUOT):
        return "Free some space and run the same command again; nothing was lost."
    if isinstance(error, OSError) and error.errno in (errno.EACCES, errno.EPERM, errno.EROFS):
        return "Make the folder writable for you and run the same command again."
    if isinstance(error, FileNotFoundError):
        return "Look at the name, or restore the file from where it came."
    return "The file is damaged; restore it from where it came."


def validated(place: str, errors: Iterable[Any]) -> FaultsError:
    """The faults that a record's validation found, each with the place of its field. ``errors``: pydantic's list."""
    faults = []
    for error in errors:
        where = ".".join(str(part) for part in error["loc"])
        given = error.get("input")
        shown = f" (given: {given!r})" if isinstance(given, str | int) and error["type"] != "missing" else ""
        fact = error["msg"].removeprefix("Value error, ")
        faults.append(Fault(f"{place}: {where}" if where else place, f"{fact}{shown}"))
    return FaultsError(faults)
