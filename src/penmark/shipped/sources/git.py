"""The source ``git``: texts as they stood in a commit of a local clone.

Options: ``path`` (the clone); ``commit`` (an id, a tag, a branch); ``files`` (patterns such as ``docs/*.md``, ``;``
between them; ``**`` stands for any folders); ``repository`` (its public address); ``licence``; ``kept_by`` and
``kept_on`` (who else kept this commit, and since when); ``prefix`` (of the ids); any field of a document.
A date in a commit is the committer's word: anyone can write any. Where nobody else is named the grade is ``stated`` and
the date the committer's; with ``kept_by`` (an archive of repositories, a release that holds the commit) the grade is
``released`` and the date ``kept_on``, which cannot be before the committer's.
*Reads* the clone by ``git cat-file``, and computes the ids of commit and texts anew. *Writes* nothing. *Never* fetches.
"""

from __future__ import annotations

import hashlib
import os
import re
import subprocess
from collections.abc import Iterator
from datetime import UTC, date, datetime
from pathlib import Path
from typing import NamedTuple

from penmark.errors import Fault, FaultsError, PenmarkError, ServiceError, UsageError
from penmark.format import canonical_json
from penmark.plugins import Draft, Found
from penmark.shipped.sources.column_mapping import FIELDS, MAX_TEXT, ColumnMapping, require_path
from penmark.shipped.sources.path_patterns import Patterns
from penmark.shipped.sources.unreadable import explain_unreadable

_OWN = ("path", "commit", "files", "repository", "kept_by", "kept_on", "prefix")
_MOMENT = re.compile(r"^(author|committer) .*> (-?[0-9]{1,12}) [+-][0-9]{4}$", re.M)
_ENTRY = re.compile(r"(100644|100755) blob ([0-9a-f]{40,64}) +([0-9]+)\t(.+)", re.S)


class Commit(NamedTuple):
    """A commit: its id, its own bytes, and the two dates that it says (UTC)."""

    name: str
    raw: bytes
    written: date
    committed: date


class Git:
    """Texts in a commit."""

    def __init__(self, options: dict[str, str]) -> None:
        self._options = options
        self._constants = ColumnMapping(options, own=_OWN).constants
        self._patterns = Patterns(options.get("files", "**/*.txt;**/*.md"))
        self._listed: dict[str, dict[str, str]] = {}
        if (options.get("kept_by", "") == "") != (options.get("kept_on", "") == ""):
            raise UsageError(
                "the options `kept_by` and `kept_on` belong together",
                remedy="Say who else kept the commit, and since when: kept_by=… and kept_on=YYYY-MM-DD.",
            )

    def gather(self, arm_name: str) -> Iterator[Draft]:
        """A draft for each file that the patterns name. Raises FaultsError at the end."""
        clone = Clone(require_path(self._options, "git", "the folder of a clone"))
        if self._options.get("commit", "") == "":
            raise UsageError("the source git needs the option `commit`", remedy="Give a commit, a tag or a branch.")
        commit = clone.commit(self._options["commit"])
        grade, archive, on = self._make_evidence(commit)
        faults: list[Fault] = []
        number = 0
        for path, blob, size in clone.files(commit.name):
            if not self._patterns.fit(path):
                continue
            number += 1
            place = f"{clone.path}: {commit.name[:12]}:{path}"
            if size > MAX_TEXT:
                faults.append(Fault(place, f"is larger than {MAX_TEXT} bytes", "Is it one text?"))
                continue
            text = clone.blob(blob, place)
            if (refused := explain_unreadable(text)) is not None:
                faults.append(Fault(place, *refused))
                continue
            yield self._draft(path, text, place, commit, grade, archive, on)
        if number == 0:
            remedy = f"Give files=… with patterns that fit; it was {self._patterns}."
            faults.append(Fault(str(clone.path), f"no file of {commit.name[:12]} is named", remedy))
        if faults:
            raise FaultsError(faults)

    def again(self, locator: dict[str, str]) -> Found:
        """The same file of the same commit, in the clone at ``path``. Raises PenmarkError."""
        clone = Clone(require_path(self._options, "git", "a clone of the repository"))
        commit = clone.commit(locator.get("commit", ""))
        if commit.name not in self._listed:
            self._listed[commit.name] = {path: blob for path, blob, _ in clone.files(commit.name)}
        known, path = self._listed[commit.name], locator.get("file", "")
        if commit.name != locator.get("commit") or path not in known:
            raise PenmarkError(f"no file {path} in the commit {locator.get('commit')}", place=str(clone.path))
        on = locator.get("kept_on", commit.committed.isoformat())
        return Found(canonical_json.sha256(commit.raw), on, clone.blob(known[path], f"{clone.path}: {path}"))

    def _make_evidence(self, commit: Commit) -> tuple[str, str, str]:
        """Grade, archive, and the date that counts. Raises UsageError where somebody kept it before it was made."""
        where = self._options.get("repository") or "a git repository without a public address"
        kept_by, kept_on = self._options.get("kept_by", ""), self._options.get("kept_on", "")
        if kept_by == "":
            return "stated", f"{where}, commit {commit.name} (the committer's date)", commit.committed.isoformat()
        try:
            since = date.fromisoformat(kept_on) if len(kept_on) == 10 else None
        except ValueError:
            since = None
        if since is None or since < commit.committed:
            wrong = "is not a date of the form 2021-12-31" if since is None else f"is before {commit.committed}"
            fact = f"kept_on={kept_on} {wrong}" + ("" if since is None else ", the committer's date")
            raise UsageError(fact, remedy="Nobody can have kept a commit before it was made: correct one of the two.")
        return "released", f"{where}, commit {commit.name}, kept by {kept_by}", kept_on

    def _draft(self, path: str, text: bytes, place: str, commit: Commit, grade: str, archive: str, on: str) -> Draft:
        where = self._options.get("repository") or commit.name
        locator = {
            "by": "git",
            "commit": commit.name,
            "file": path,
            "committed_on": commit.committed.isoformat(),
            "written_on": commit.written.isoformat(),
        }
        locator |= {"kept_on": on} if grade == "released" else {}
        provenance = {
            "kind": "archive",
            "grade": grade,
            "source": f"{where}: {path}",
            "archive": archive,
            "evidence_date": on,
            "evidence_sha256": canonical_json.sha256(commit.raw),
        }
        provenance |= {name: value for name, value in self._constants.items() if name not in FIELDS and value != ""}
        fields = {name: value for name, value in self._constants.items() if name in FIELDS and value != ""}
        name = self._options.get("prefix", "") + path.replace("/", ":")
        return Draft(name, text, place, fields, provenance | {f"locator.{n}": v for n, v in locator.items()})


class Clone:
    """A repository on this machine, read object by object."""

    def __init__(self, path: Path) -> None:
        self.path = path
        self._run("rev-parse", "--git-dir")

    def commit(self, name: str) -> Commit:
        """The commit that ``name`` leads to. Raises PenmarkError where there is none, or it is not what its id says."""
        full = self._run("rev-parse", "--verify", "--quiet", "--end-of-options", f"{name}^{{commit}}").decode().strip()
        raw = self._run("cat-file", "commit", full)
        self._holds("commit", raw, full, str(self.path))
        said = dict(_MOMENT.findall(raw.partition(b"\n\n")[0].decode("utf-8", "replace")))
        try:
            written, committed = (datetime.fromtimestamp(int(said[who]), UTC).date() for who in ("author", "committer"))
        except (KeyError, ValueError, OverflowError, OSError):
            raise PenmarkError(f"the commit {full} has no dates", place=str(self.path)) from None
        return Commit(full, raw, written, committed)

    def files(self, commit: str) -> Iterator[tuple[str, str, int]]:
        """Path, blob and size of every regular file of a commit, by path."""
        for entry in self._run("ls-tree", "-r", "-l", "-z", "--full-tree", commit).split(b"\0"):
            found = _ENTRY.fullmatch(entry.decode("utf-8", "surrogateescape"))
            if found is not None:
                yield found[4], found[2], int(found[3])

    def blob(self, name: str, place: str) -> bytes:
        """The bytes of a file. Raises PenmarkError where they are not what the id says."""
        raw = self._run("cat-file", "blob", name)
        self._holds("blob", raw, name, place)
        return raw

    @staticmethod
    def _holds(kind: str, raw: bytes, name: str, place: str) -> None:
        made = hashlib.new("sha1" if len(name) == 40 else "sha256", f"{kind} {len(raw)}\0".encode() + raw)
        if made.hexdigest() != name:
            remedy = "The clone is damaged: clone the repository again."
            raise PenmarkError(
                f"the {kind} {name} does not have the bytes that its id says", place=place, remedy=remedy
            )

    def _run(self, *command: str) -> bytes:
        # No replacement of objects, no fetching of what is missing, no configuration of others.
        given = {name: value for name, value in os.environ.items() if not name.startswith("GIT_")}
        given |= {"GIT_NO_REPLACE_OBJECTS": "1", "GIT_NO_LAZY_FETCH": "1", "GIT_CONFIG_NOSYSTEM": "1", "LC_ALL": "C"}
        try:
            done = subprocess.run(
                ["git", "-c", "core.quotePath=false", "-c", "protocol.allow=never", "-C", str(self.path), *command],
                capture_output=True,
                env=given,
                stdin=subprocess.DEVNULL,
                check=False,
            )
        except FileNotFoundError:
            raise ServiceError("the program git is not installed", remedy="Install it.") from None
        if done.returncode != 0:
            said = done.stderr.decode("utf-8", "replace").strip() or f"nothing is called {command[-1]}"
            raise PenmarkError(f"git {command[0]}: {said}", place=str(self.path), remedy="Correct `path` or `commit`.")
        return done.stdout
