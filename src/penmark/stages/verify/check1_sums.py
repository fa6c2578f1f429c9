"""Check 1, sums: every file is listed in SHA256SUMS with its digest, none is missing, none is extra.

*Reads* the names and bytes of the folder. *Never* follows a link, opens a path that leads outside, or goes deeper than
the format does.
"""

from __future__ import annotations

import hashlib
import os
import re
from importlib.resources import files
from pathlib import Path

from penmark import study
from penmark.errors import PenmarkError
from penmark.format import versions
from penmark.stages.verify.check_findings import Findings
from penmark.study.digests import _AGAIN, digest_file

MOST = 2_000_000
"""No bundle has more files."""
REQUIRED = (
    *("format", "protocol.yaml", "protocol.json", "manifest.jsonl", "screening.csv", "seed.json"),
    *("seals/promise.json", "seals/corpus.json", "seals/evidence.json", "report/index.html", "README.md"),
    *("CHANGES.md", "LICENSE", "CITATION.cff", "datapackage.json", "croissant.json", "verify.py"),
    *("tables/agreement.csv", "tables/departures.csv", "tables/documents.csv", "tables/rates.csv"),
    *("tables/rates_lenient.csv", "tables/readings.csv", "tables/table1.csv", "tables/table2.csv"),
)
"""The files that every bundle has (docs/format.md, 2)."""
_DETECTOR, _AUTHORITY = "[a-z0-9][a-z0-9.-]{0,62}", "[a-z0-9][a-z0-9-]{0,31}"
PATHS = re.compile(
    "|".join(
        re.escape(path)
        for path in (*REQUIRED, "SHA256SUMS", "pool.jsonl", "salts.jsonl", "withdrawn.jsonl", "deviations.jsonl")
    )
    + rf"|detectors/{_DETECTOR}\.json|seals/heads-[0-9]{{4}}\.json"
    rf"|seals/(promise|corpus|evidence|heads-[0-9]{{4}})-{_AUTHORITY}\.tsr"
    rf"|journal/{_DETECTOR}(\.[0-9]+of[0-9]+)?\.jsonl|evidence/{_DETECTOR}-[0-9]{{4,6}}\.jsonl\.gz"
    r"|texts/[0-9a-f]{64}\.txt|texts/[0-9]{4,6}\.jsonl\.gz"
    rf"|amendments/[0-9]{{4}}\.json|amendments/[0-9]{{4}}-{_AUTHORITY}\.tsr|tables/[a-z0-9_]+\.csv"
    rf"|replies/{_DETECTOR}\.md|earlier/(promise|protocol|detector-{_DETECTOR})\.json"
)
"""The paths that a bundle may have."""
FOLDERS = frozenset(
    {"detectors", "seals", "journal", "evidence", "texts", "amendments", "tables", "report", "replies", "earlier"}
)
EARLIER = ("9e3f127f9170d45846dfc598503837aab34a3eedcd4be39397cf823dfbc71849",)
"""SHA-256 of each ``verify.py`` of an earlier release, oldest first: that of format 1."""
_NOTED = 5
"""So many names of these are told."""
_TURNED = (
    "Nothing else is checked. With git: `git config core.autocrlf false`, a line `* -text` in .gitattributes, and check the files"
    " out again; else unpack the tar that was published."
)
_LINE = re.compile(r"([0-9a-f]{64})  (.+)")
_WHO = "Remove it; look who put it there."


def turned(root: Path, names: list[str], found: Findings) -> bool:
    """Whether some program gave the text files of the bundle other line ends, SHA256SUMS among them: told in one line, since
    no digest can fit any more. Files that are others beyond that are told one by one."""
    if "SHA256SUMS" not in names:
        return False
    with (root / "SHA256SUMS").open("rb") as file:
        if not file.readline(4096).endswith(b"\r\n"):
            return False
    lines = study.read_bytes(root / "SHA256SUMS", limit=256 * 2**20).decode("utf-8", "replace").split("\r\n")
    listed = {match[2]: match[1] for match in map(_LINE.fullmatch, lines) if match is not None}
    count = 1
    for path in names:
        if path not in listed or (got := digest_file(root / path)) == listed[path]:
            continue
        if study.compare_file_line_ends(root / path, listed[path]):
            count += 1
        else:
            found.failed(path, f"SHA-256 {got}, and not by its line ends alone", f"SHA-256 {listed[path]}", _AGAIN)
    also = f", as in {count - 1} more files" if count > 1 else ""
    fact = f"has CRLF line ends, to which git or another program converted them{also}"
    found.failed("SHA256SUMS", fact, "the bytes that were published", _TURNED)
    return True


def check_sums(root: Path, names: list[str], found: Findings) -> None:
    """Compare SHA256SUMS with the folder, in which ``list_files`` found the files ``names``; report every difference."""
    try:
        listed = _read_sums(root, found)
    except PenmarkError as error:
        found.error(error)
        listed = {}
    present = set(names)
    for path in sorted(present - set(listed) - {"SHA256SUMS"}):
        found.failed(path, "is in the folder and not in SHA256SUMS", "no file that is not listed", _AGAIN)
    for path in sorted(set(listed) - present):
        found.failed(path, "is missing", f"a file with SHA-256 {listed[path]}", _AGAIN)
    for path in sorted(set(REQUIRED) - present - set(listed)):
        found.failed(path, "is missing", "a file that every bundle has", _AGAIN)
    _compare_digests(root, {path: listed[path] for path in sorted(set(listed) & present)}, found)
    if "format" in present:
        _check_format(root, found)
    if found.clean:
        found.ok("SHA256SUMS", f"{len(listed)} files, none missing, none extra")
    if "verify.py" in present:
        _check_verifier(root, found)


def _compare_digests(root: Path, listed: dict[str, str], found: Findings) -> None:
    """Hold each file against its sum; those whose line ends alone are others are told in one line."""
    converted: list[str] = []
    for path, wanted in listed.items():
        try:
            got = digest_file(root / path)
            if got != wanted and study.compare_file_line_ends(root / path, wanted):
                converted.append(path)
            else:
                found.equal(path, f"SHA-256 {got}", f"SHA-256 {wanted}", _AGAIN)
        except PenmarkError as error:
            found.error(error)
    if converted:
        more = f" and {len(converted) - 1} more files: each" if len(converted) > 1 else ""
        fact = f"{more} is another file; it differs only by its line ends, which some program converted".strip()
        found.failed(converted[0], fact, f"SHA-256 {listed[converted[0]]}", _AGAIN)


def is_safe_path(path: str) -> bool:
    """True for a relative path that stays inside the folder and holds no control character or backslash."""
    parts = path.split("/")
    return not any(part in ("", ".", "..") for part in parts) and not re.search(r"[\x00-\x1f\x7f\\]", path)


def _check_format(root: Path, found: Findings) -> None:
    try:
        number = study.read_bytes(root / "format", limit=100)
    except PenmarkError as error:
        found.error(error)
        return
    if number not in [f"{known}\n".encode() for known in versions.READS]:
        found.failed("format", str(number), f"a format, {versions.describe_known()}, and a line end", _AGAIN)


def _check_verifier(root: Path, found: Findings) -> None:
    """Whether the second verifier in the bundle is the shipped one. It is never run."""
    try:
        theirs = study.read_bytes(root / "verify.py", limit=2**24)
    except PenmarkError as error:
        found.error(error)
        return
    if theirs == files("penmark").joinpath("standalone/verify.py").read_bytes():
        found.ok("verify.py", "is the one of this release of penmark")
    elif hashlib.sha256(theirs).hexdigest() in EARLIER:
        found.ok("verify.py", "is the one of an earlier release of penmark")
    else:
        found.not_checked(
            "verify.py",
            "is not the one of this release of penmark",
            "Take verify.py from a release and compare its digest: the party that is checked should not supply the checker.",
        )


def _read_sums(root: Path, found: Findings) -> dict[str, str]:
    listed: dict[str, str] = {}
    data = study.read_bytes(root / "SHA256SUMS", limit=256 * 2**20)
    if b"\r" in data:
        found.failed("SHA256SUMS", "has CR line ends", "LF line ends", "Undo the conversion of line ends.")
    try:
        text = data.decode("utf-8")
    except UnicodeDecodeError:
        found.failed("SHA256SUMS", "is not UTF-8", "UTF-8", _AGAIN)
        return {}
    order = []
    lines = text.split("\n")  # as sha256sum does; other line ends of Unicode are part of a name
    if lines.pop() != "":
        found.failed("SHA256SUMS", "the last line is cut", "whole lines", _AGAIN)
    for number, line in enumerate(lines, 1):
        match = _LINE.fullmatch(line)
        if match is None or not PATHS.fullmatch(match[2]) or match[2] in listed or match[2] == "SHA256SUMS":
            found.failed(f"SHA256SUMS:{number}", line, "one digest, two spaces, one new path of the format", _AGAIN)
            continue
        listed[match[2]] = match[1]
        order.append(match[2].encode())
    if order != sorted(order):
        found.failed("SHA256SUMS", "the lines are not sorted by path", "sorted lines", _AGAIN)
    return listed


def list_files(root: Path, found: Findings) -> list[str] | None:
    """Every regular file, as a path of the format; None where not all that is there are plain files and folders: then
    nothing may be opened, since a pipe or a device need never end.

    Links, special files and names that the format does not have are faults; none of them is entered or opened.
    """
    paths: list[str] = []
    beside: list[str] = []
    plain = True
    for prefix in ("", *(f"{name}/" for name in sorted(FOLDERS))):
        folder = root / prefix
        if prefix and (folder.is_symlink() or not folder.is_dir()):
            continue
        try:
            empty = True
            with os.scandir(folder) as entries:
                for entry in entries:
                    if study.beside(entry.name) and not entry.is_symlink() and (entry.is_file() or entry.is_dir()):
                        beside.append(prefix + entry.name)
                        continue
                    empty = False
                    if len(paths) > MOST:
                        raise PenmarkError(f"more than {MOST} files", place=str(folder), remedy=_WHO)
                    plain = _take_entry(entry, prefix, paths, found) and plain
            if empty and prefix:
                found.failed(prefix, "is a folder in which nothing stands", "a file in it, or no such folder", _WHO)
        except OSError as error:
            found.failed(prefix or ".", f"cannot be read ({error.strerror})", "a readable folder", _AGAIN)
        except PenmarkError as error:
            found.error(error)
            return None
    if beside:
        told = ", ".join(sorted(beside)[:_NOTED]) + (f" and {len(beside) - _NOTED} more" if beside[_NOTED:] else "")
        why = "no part of the bundle: other programs lay such beside files; not opened"
        found.not_checked(told, why, "Remove them, or look at them by yourself.")
    return paths if plain else None


def _take_entry(entry: os.DirEntry[str], prefix: str, paths: list[str], found: Findings) -> bool:
    """Take one name of a folder; False where it is neither a plain file nor a folder."""
    path = prefix + entry.name
    if entry.is_symlink() or not (entry.is_file(follow_symlinks=False) or entry.is_dir(follow_symlinks=False)):
        found.failed(path, "is a link or a special file", "files and folders only", _WHO)
        return False
    if entry.is_dir(follow_symlinks=False):
        if prefix or entry.name not in FOLDERS:
            found.failed(f"{path}/", "is a folder that the format does not have", "the folders of the format", _WHO)
    elif PATHS.fullmatch(path) is None:
        found.failed(path, "is a file that the format does not have", "the files of the format", _WHO)
    else:
        paths.append(path)
    return True
