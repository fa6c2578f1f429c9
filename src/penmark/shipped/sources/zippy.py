"""The source ``zippy``: the texts of ``samples/gptzero_eval.csv`` in the repository thinkst/zippy (MIT).

Options: ``path`` (the repository's folder, or its ``samples``, or the file); ``label`` (``Human`` or ``AI``; without it
the arm's name tells); ``evidence_date`` (needed only where the file is another than the one known here).
Ids are the file's own ``Index``. The file has no dates: the copy known here is of commit 37fe2b2, seen on 2026-11-30.
*Reads* that file. *Writes* nothing.
"""

from __future__ import annotations

import hashlib
from collections.abc import Iterator
from pathlib import Path

from penmark.errors import Fault, FaultsError, PenmarkError, UsageError
from penmark.plugins import Draft
from penmark.shipped.sources.column_mapping import require_path
from penmark.shipped.sources.table_rows import TableRow, encode_cell, read_table_rows

_SHA256 = "66d4221e1e279e750c92f9f96c4936d032a946dd49a62be17fae00af69705d37"
_SEEN = "2026-11-30"
_COLUMNS = ("Index", "Label", "Data Source", "Document")
_REGISTERS = {"BBC": "news", "SHP_reddit": "forum"}


class Zippy:
    """The hundred texts with which ZipPy was compared with four vendors."""

    def __init__(self, options: dict[str, str]) -> None:
        self._file = _found_path(require_path(options, "zippy", "the folder of the repository thinkst/zippy"))
        self._label = options.get("label")
        self._date = options.get("evidence_date")

    def gather(self, arm_name: str) -> Iterator[Draft]:
        """A draft for each row of the label. Raises FaultsError at the end."""
        label = self._label or {"human": "Human", "ai": "AI"}.get(arm_name.lower())
        if label is None:
            raise UsageError(f"the arm {arm_name} says no label", remedy="Give label=Human or label=AI.")
        digest = hashlib.sha256(self._file.read_bytes()).hexdigest()
        date = self._date or (_SEEN if digest == _SHA256 else None)
        if date is None:
            raise PenmarkError(
                f"is another file than the one of commit 37fe2b2 (SHA-256 {digest})",
                place=str(self._file),
                remedy="Take the file of that commit, or say of when yours is: evidence_date=YYYY-MM-DD.",
            )
        faults: list[Fault] = []
        labels: set[str] = set()
        for row in read_table_rows(self._file, faults):
            missing = [column for column in _COLUMNS if row.cells.get(column, "") == ""]
            if missing:
                faults.append(Fault(row.place, f"no {', '.join(missing)}", "Take the file of commit 37fe2b2."))
                continue
            labels.add(row.cells["Label"])
            if row.cells["Label"] == label:
                yield self._draft(row, label, date, digest)
        if labels and label not in labels:
            faults.append(Fault(str(self._file), f"no row has the label {label}", f"There are {sorted(labels)}."))
        if faults:
            raise FaultsError(faults)

    def _draft(self, row: TableRow, label: str, date: str, digest: str) -> Draft:
        origin = row.cells["Data Source"]
        fields = {"language": "en"}
        claims = {}
        if label == "Human":
            fields |= {"source": origin, "register": _REGISTERS.get(origin, origin)}
            provenance = {
                "kind": "archive",
                "grade": "stated",
                "source": f"{origin}, as named in thinkst/zippy, samples/gptzero_eval.csv, row {row.cells['Index']}",
                "archive": "GitHub repository thinkst/zippy, commit 37fe2b2",
                "evidence_date": date,
                "evidence_sha256": digest,
                "licence": "MIT (of the repository; the texts' own rights are not stated)",
            }
        else:
            provenance = {
                "kind": "generated",
                "grade": "stated",
                "provider": "OpenAI" if "GPT" in origin else "not stated",
                "model": origin,
                "note": "The model is what the column Data Source of samples/gptzero_eval.csv says; no prompt is kept.",
            }
            if "+" in origin:
                claims["claimed_kind"] = f"mixed ({origin})"
        return Draft(row.cells["Index"], encode_cell(row.cells["Document"]), row.place, fields, provenance, claims)


def _found_path(path: Path) -> Path:
    for file in (path, path / "gptzero_eval.csv", path / "samples" / "gptzero_eval.csv"):
        if file.is_file():
            return file
    raise UsageError("there is no gptzero_eval.csv", place=str(path), remedy="Correct the option `path`.")
