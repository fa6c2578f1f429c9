"""Reading and writing files: limits while reading, nothing half written.

*Reads* and *writes* bytes at the places that it is given. *Never* follows a link, or leaves half a file: a file is
written under a temporary name, made durable, and renamed.
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
from pathlib import Path
from typing import IO, Any

from penmark.errors import PenmarkError, ServiceError, UsageError
from penmark.format import canonical_json

MAX_FILE = 2 * 2**30
"""No file that penmark reads whole is larger than this (bytes)."""
MAX_LINE = 64 * 2**20
"""No line of a JSONL file is longer than this (bytes)."""
MAX_EXPANDED = 8 * 2**30
"""No gzip file expands to more than this (bytes)."""
RATIO = 200
"""Nothing that is packed here unpacks to more than so many times its size."""


# --- reading -----------------------------------------------------------------------------------------------------------
_BESIDE = re.compile(r"\.git|\.gitattributes|\.gitignore|\.DS_Store|Thumbs\.db|desktop\.ini|__MACOSX|\._[^/]*")
"""What git, a desktop or an unpacker lays beside files by itself: no part of a bundle, never opened, and no fault of it."""


def read_bytes(path: Path, *, limit: int = MAX_FILE) -> bytes:
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
        raise PenmarkError(describe_reason(error), place=str(path), remedy=describe_remedy(error)) from None


def read_json(path: Path) -> Any:
    """The value of a canonical JSON file."""
    return canonical_json.decode_json(read_bytes(path), place=str(path))


def read_lines(path: Path) -> Iterator[tuple[int, bytes]]:
    """Number (from 1) and bytes (without LF) of each line of a file, plain or ``.gz``; streams.

    Raises PenmarkError for a missing or broken file, a line longer than MAX_LINE, a last line without its LF.
    """
    try:
        with contextlib.closing(_open_file(path)) as file:
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
        raise PenmarkError(describe_reason(error), place=str(path), remedy=describe_remedy(error)) from None


def read_blocks(path: Path, size: int) -> Iterator[bytes]:
    """A file in blocks of about ``size`` bytes that end with a line, but for a last line without its LF; streams.

    Raises PenmarkError for a missing or broken file, a line longer than MAX_LINE.
    """
    try:
        with contextlib.closing(_open_file(path)) as file:
            while block := file.read(size):
                rest = b"" if block.endswith(b"\n") else file.readline(MAX_LINE)
                if len(rest) == MAX_LINE:
                    again = "Restore the file from where it came."
                    raise PenmarkError("a line is too long", place=str(path), remedy=again)
                yield block + rest
    except (OSError, EOFError, zlib.error) as error:
        raise PenmarkError(describe_reason(error), place=str(path), remedy=describe_remedy(error)) from None


def has_line_digest(path: Path, count: int, digest: str) -> bool:
    """True where the ``count``-th line of a file is whole and has this SHA-256. In a file of chained lines, all before
    it stand then as well. False where the file is missing; raises PenmarkError for a line longer than MAX_LINE."""
    left = count
    for block in read_blocks(path, 2**20) if path.exists() else ():
        ends = block.count(b"\n")
        if ends >= left:
            return canonical_json.sha256(block.split(b"\n", left)[left - 1]) == digest
        left -= ends
    return False


def read_json_lines(path: Path) -> Iterator[tuple[int, dict[str, Any]]]:
    """Number and object of each canonical line of a JSONL file."""
    for number, line in read_lines(path):
        value = canonical_json.decode_json(line, place=f"{path}:{number}")
        if not isinstance(value, dict):
            raise PenmarkError("is not a JSON object", place=f"{path}:{number}")
        yield number, value


def compare_file_line_ends(path: Path, digest: str) -> str:
    """What to add to "is another file" where it would have this SHA-256 with LF or with CRLF line ends; else nothing."""
    try:
        return canonical_json.compare_line_ends(
            read_bytes(path, limit=MAX_LINE), lambda raw: canonical_json.sha256(raw) == digest
        )
    except PenmarkError:
        return ""


def beside(name: str) -> bool:
    """Whether git, a desktop or an unpacker lays files of that name beside others by itself: no part of a bundle."""
    return _BESIDE.fullmatch(name) is not None


def own(folder: Path, pattern: str = "*") -> list[Path]:
    """The paths of a folder that match, but those that other programs lay beside; nothing where there is no folder."""
    return sorted(path for path in folder.glob(pattern) if not beside(path.name)) if folder.is_dir() else []


def _open_file(path: Path) -> IO[bytes]:
    if path.is_symlink():
        raise PenmarkError("is a symbolic link", place=str(path), remedy="Put the file itself there.")
    return gzip.open(path, "rb") if path.name.endswith(".gz") else path.open("rb")  # type: ignore[return-value]


# --- writing -----------------------------------------------------------------------------------------------------------


def write_bytes(path: Path, data: bytes) -> None:
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
        raise make_disk_error(error, path) from None


def write_private(path: Path, data: bytes) -> None:
    """As ``write_bytes``, in a folder and a file that only the owner may read."""
    path.parent.mkdir(parents=True, exist_ok=True, mode=0o700)
    write_bytes(path, data)
    path.chmod(0o600)


def write_records(path: Path, values: Iterable[Any]) -> None:
    """Write canonical lines as a whole file."""
    write_bytes(path, b"".join(canonical_json.encode_json(value) + b"\n" for value in values))


def compress_gzip(data: bytes) -> bytes:
    """Deterministic gzip: no name, time 0. (The bytes depend on the zlib build; the digest in SHA256SUMS is what counts.)"""
    packed = gzip.compress(data, compresslevel=6, mtime=0)
    # What unpacks to more than 200 times its size no reader of bundles takes: such data is kept as it is, in a frame of gzip.
    return packed if len(data) <= RATIO * len(packed) else gzip.compress(data, compresslevel=0, mtime=0)


def sync_folder(folder: Path) -> None:
    """Make the names in a folder durable."""
    handle = os.open(folder, os.O_RDONLY)
    try:
        os.fsync(handle)
    finally:
        os.close(handle)


def make_disk_error(error: OSError, path: Path) -> ServiceError:
    """The error that a user sees when the disk refuses a write."""
    again = "Look at the disk and run the same command again; what was written before stands."
    return ServiceError(describe_reason(error), place=str(path), remedy=_find_remedy(error) or again)


@contextlib.contextmanager
def lock_file(path: Path, doing: str) -> Iterator[None]:
    """Hold an exclusive lock named ``path`` while in the block. Raises UsageError naming the holder where it is taken.

    The lock goes with the process, so a crash leaves none behind.
    """
    try:
        path.parent.mkdir(parents=True, exist_ok=True)
        file = path.open("a+b", buffering=0)
    except OSError as error:
        raise make_disk_error(error, path) from None
    with file:
        try:
            fcntl.flock(file, fcntl.LOCK_EX | fcntl.LOCK_NB)
        except OSError:
            file.seek(0)
            holder = file.read(200).decode(errors="replace").strip() or "another process"
            raise UsageError(
                f"in use by {holder}", place=str(path.parent), remedy="Wait until it ends, or stop that process."
            ) from None
        try:
            file.seek(0)
            file.truncate()
            file.write(f"{doing} (process {os.getpid()})".encode())
        except OSError as error:
            raise make_disk_error(error, path) from None
        yield


# --- what the system says ----------------------------------------------------------------------------------------------


def describe_reason(error: Exception) -> str:
    """Why the system refused, in its own words."""
    if isinstance(error, FileNotFoundError):
        return "there is no such file"
    if isinstance(error, OSError) and error.errno is not None:
        return os.strerror(error.errno).lower()
    return f"cannot be read ({error})"


def describe_remedy(error: Exception) -> str:
    """What to do about a file that cannot be read."""
    if isinstance(error, FileNotFoundError):
        return "Look at the name, or restore the file from where it came."
    return _find_remedy(error) or "The file is damaged; restore it from where it came."


def _find_remedy(error: Exception) -> str | None:
    """The way out of what the system refused, where it is known."""
    number = error.errno if isinstance(error, OSError) else None
    if number in (errno.ENOSPC, errno.EDQUOT, errno.EFBIG):
        return "Free some space and run the same command again; nothing was lost."
    if number in (errno.EACCES, errno.EPERM, errno.EROFS):
        return "Make the folder writable for you and run the same command again."
    if number in (errno.EEXIST, errno.EISDIR, errno.ENOTDIR):
        return "There is a folder where a file should be, or the other way round: move it away."
    return None
