"""Check 1, sums: every file is listed in SHA256SUMS with its digest, none is missing, none is extra.

*Reads* the names and bytes of the folder. *Never* follows a link or opens a path that leads outside.
"""

from __future__ import annotations

import hashlib
import os
import re
from pathlib import Path

from penmark import study
from penmark.errors import PenmarkError
from penmark.verify.found import Found

_LINE = re.compile(r"([0-9a-f]{64})  (.+)\Z")
_AGAIN = "Get the bundle again from where it was published; if it is the same there, the publisher changed it."


def sums(root: Path, found: Found) -> None:
    """Compare SHA256SUMS with the folder; report every difference."""
    try:
        listed = _listed(root, found)
    except PenmarkError as error:
        found.error(error)
        listed = {}
    present = set(_walk(root, found))
    for path in sorted(present - set(listed) - {"SHA256SUMS"}):
        found.failed(path, "is in the folder and not in SHA256SUMS", "no file that is not listed", _AGAIN)
    for path in sorted(set(listed) - present):
        found.failed(path, "is missing", f"a file with SHA-256 {listed[path]}", _AGAIN)
    for path in sorted(set(listed) & present):
        try:
            found.equal(path, f"SHA-256 {digest(root / path)}", f"SHA-256 {listed[path]}", _AGAIN)
        except PenmarkError as error:
            found.error(error)
    try:
        found.equal(
            "format", study.read(root / "format", limit=100), b"1\n", "Use the penmark release that wrote this format."
        )
    except PenmarkError as error:
        found.error(error)
    if found.clean:
        found.ok("SHA256SUMS", f"{len(listed)} files, none missing, none extra")


def digest(path: Path) -> str:
    """SHA-256 of a file, read in pieces. Raises PenmarkError where it cannot be read."""
    try:
        with path.open("rb") as file:
            return hashlib.file_digest(file, "sha256").hexdigest()
    except OSError as error:
        raise PenmarkError(f"cannot be read ({error.strerror})", place=str(path), remedy=_AGAIN) from None


def safe(path: str) -> bool:
    """True for a relative path that stays inside the folder and holds no control character or backslash."""
    parts = path.split("/")
    return not any(part in ("", ".", "..") for part in parts) and not re.search(r"[\x00-\x1f\x7f\\]", path)


def _listed(root: Path, found: Found) -> dict[str, str]:
    listed: dict[str, str] = {}
    data = study.read(root / "SHA256SUMS", limit=256 * 2**20)
    if b"\r" in data:
        found.failed("SHA256SUMS", "has CR line ends", "LF line ends", "Undo the conversion of line ends.")
    try:
        text = data.decode("utf-8")
    except UnicodeDecodeError:
        found.failed("SHA256SUMS", "is not UTF-8", "UTF-8", _AGAIN)
        return {}
    order = []
    for number, line in enumerate(text.splitlines(), 1):
        match = _LINE.match(line)
        if match is None or not safe(match[2]) or match[2] in listed or match[2] == "SHA256SUMS":
            found.failed(f"SHA256SUMS:{number}", line[:200], "one digest, two spaces, one new path inside", _AGAIN)
            continue
        listed[match[2]] = match[1]
        order.append(match[2].encode())
    if order != sorted(order) or not text.endswith("\n"):
        found.failed(
            "SHA256SUMS", "the lines are not sorted by path, or the last one is cut", "sorted whole lines", _AGAIN
        )
    return listed


def _walk(root: Path, found: Found, prefix: str = "") -> list[str]:
    """Every regular file below, as a relative path; links and special files are faults and are not entered."""
    paths = []
    with os.scandir(root) as entries:
        for entry in sorted(entries, key=lambda e: e.name):
            path = prefix + entry.name
            if entry.is_symlink() or not (entry.is_file(follow_symlinks=False) or entry.is_dir(follow_symlinks=False)):
                found.failed(
                    path, "is a link or a special file", "files and folders only", "Remove it; look who put it there."
                )
            elif entry.is_dir(follow_symlinks=False):
                paths += _walk(Path(entry.path), found, path + "/")
            elif not safe(path):
                found.failed(
                    repr(path), "has a name that is not safe", "plain names", "Remove it; look who put it there."
                )
            else:
                paths.append(path)
    return paths
