"""The source ``dataset``: a published data set, by a recipe that ships or by options.

Options: ``path``; ``load_recipe`` and ``part`` (without it the arm's name is the part's); ``sha256`` (of the file that you
mean, where the recipe knows another one or none); over the recipe's words, columns and constants as in ``mapping``.
Without a recipe: ``sha256``, ``archive`` (the deposit: a DOI, a repository and its commit), ``licence``, columns.
Dates: with ``deposited_on`` (the day that the keeper of the deposit states) every text is as old as the deposit, grade
``released``; else the column ``evidence_date``, or the day on which the recipe says that the data set was public, both
of grade ``stated``. A title, an address, a text dates nothing. ``before``: texts of that date and later are left out.
*Reads* the file or folder. *Writes* nothing.
"""

from __future__ import annotations

import hashlib
import json
from collections.abc import Iterator
from pathlib import Path

from penmark.errors import Fault, FaultsError, PenmarkError, UsageError
from penmark.plugins import Draft, Found
from penmark.shipped.sources.column_mapping import ColumnMapping, require_path
from penmark.shipped.sources.path_patterns import Patterns
from penmark.shipped.sources.recipe import Part, Recipe, load_recipe
from penmark.shipped.sources.table_rows import TableRow, read_table_rows

_OWN = ("path", "recipe", "part", "sha256", "deposited_on", "delimiter", "archive", "licence", "files", "before")
_BLOCK = 2**20
# Columns that are made here. No header has such a name: a cell that begins with = would be run by a spreadsheet.
_ID, _TEXT, _CHOSEN = "=id", "=text", "=part"


class Dataset:
    """A data set that somebody published."""

    def __init__(self, options: dict[str, str]) -> None:
        if "grade" in options:
            raise UsageError("the grade of a data set follows from its date", remedy="Give deposited_on, or a column.")
        self._options = options
        self._kept: dict[str, Found] | None = None
        self.notes: list[str] = []

    def gather(self, arm_name: str) -> Iterator[Draft]:
        """A draft for each text of the part. Raises FaultsError at the end."""
        path = require_path(self._options, "dataset", "the file or folder of the data set")
        named = self._options.get("recipe", "")
        known = load_recipe(named) if named != "" else _make_described(self._options)
        name = self._options.get("part") or (arm_name if named != "" else "all")
        part = known.part(name)
        files = _list_files(path, part)
        digest = _digest_files(path, files)
        self._expect(path, digest, known)
        faults: list[Fault] = []
        source = _list_items(path, files) if part.files is not None else self._list_rows(path, part, faults)
        mapping = ColumnMapping(_collect_options(known, part, self._options), own=_OWN)
        folder = path if path.is_dir() else path.parent
        before = self._options.get("before", "9999")
        number, late = 0, 0
        for draft in mapping.drafts(_list_cells(source, known, part, self._options), folder, faults):
            number += 1
            made = self._date_draft(draft, known, name, digest)
            if made.provenance.get("evidence_date", "") >= before:
                late += 1
            else:
                yield made
        self.notes = [f"{late} texts left out: not before {before}"] if late else []
        if number == 0 and not faults:
            faults.append(Fault(str(path), f"holds no text of the part {name}", f"It should hold {part.about}."))
        if faults:
            raise FaultsError(faults)

    def again(self, locator: dict[str, str]) -> Found:
        """The same row of the same file, at ``path``. Raises PenmarkError."""
        path = str(require_path(self._options, "dataset", "the file or folder of the data set"))
        if self._kept is None:
            try:
                told = {str(name): str(value) for name, value in json.loads(locator.get("options", "")).items()}
            except (ValueError, AttributeError):
                remedy = "Take the record from where it was published."
                raise PenmarkError("its locator does not say how the file was read", remedy=remedy) from None
            drafts = Dataset(told | {"path": path}).gather(told.get("part", "all"))
            self._kept = {one.id: _found_draft(one) for one in drafts}
        if locator.get("row") not in self._kept:
            raise PenmarkError(f"holds no row {locator.get('row')}", place=path, remedy="Is it the same file?")
        return self._kept[locator["row"]]

    def _list_rows(self, path: Path, part: Part, faults: list[Fault]) -> Iterator[TableRow]:
        delimiter = self._options.get("delimiter")
        lists = (part.each,) if part.each is not None else ()
        return read_table_rows(path, faults, "\t" if delimiter == "tab" else delimiter, lists)

    def _expect(self, path: Path, digest: str, known: Recipe) -> None:
        wanted = self._options.get("sha256", known.sha256)
        if wanted not in ("unknown", digest):
            raise PenmarkError(
                f"is another file than {known.file} of {known.archive} (SHA-256 {digest}, not {wanted})",
                place=str(path),
                remedy=f"{known.where.strip()} If you mean this file, say so: sha256={digest}.",
            )
        if self._options.get("deposited_on", "") != "" and wanted == "unknown":
            raise UsageError(
                "a deposit proves a date only for the file that it states the digest of",
                remedy="Give sha256=…, the digest that the keeper of the deposit states.",
            )

    def _date_draft(self, draft: Draft, known: Recipe, part: str, digest: str) -> Draft:
        """The draft with what stands behind its date, and how it is found again; texts of other kinds as they are."""
        given = {name: value for name, value in draft.provenance.items() if not name.startswith("=")}
        if given.get("kind", "archive") != "archive":
            return draft._replace(provenance=given)
        deposited = self._options.get("deposited_on", "")
        made = {
            "kind": "archive",
            "grade": "released" if deposited != "" else "stated",
            "source": f"{known.title}: {draft.id}",
            "archive": self._options.get("archive", known.archive),
            "evidence_date": known.issued or "",
            "evidence_sha256": digest,
            "licence": self._options.get("licence", known.licence),
        }
        made |= given | ({"evidence_date": deposited, "grade": "released"} if deposited != "" else {})
        told = {name: value for name, value in self._options.items() if name != "path"}
        told |= {"part": part} if "recipe" in self._options else {}
        options = json.dumps(told, ensure_ascii=False, sort_keys=True)
        return draft._replace(
            provenance=made | {"locator.by": "dataset", "locator.row": draft.id, "locator.options": options}
        )


def _make_described(options: dict[str, str]) -> Recipe:
    """What the options say of a data set without a recipe. Raises UsageError for what they must say."""
    missing = [name for name in ("sha256", "archive") if options.get(name, "") == ""]
    if missing:
        raise UsageError(
            f"a data set without a recipe needs the option `{missing[0]}`",
            remedy="Give sha256=… (of the file) and archive=… (its DOI, or its repository and commit); or recipe=….",
        )
    part = Part(about="texts", columns={"text": "text"}, files=options.get("files"))
    told = {"name": "row", "title": options["archive"], "where": "Take it from there.", "file": "its file"}
    more = {"archive": options["archive"], "licence": options.get("licence", ""), "sha256": options["sha256"]}
    return Recipe.model_validate(told | more | {"parts": {"all": part}, "flaws": ("not described",)})


def _collect_options(known: Recipe, part: Part, given: dict[str, str]) -> dict[str, str]:
    """The options of a mapping: the recipe's, the part's, and over them the user's."""
    columns = known.columns | part.columns
    columns |= {"id": columns.get("id", _ID), **{name: f"={name}" for name in known.values if name in columns}}
    columns |= {"text": _TEXT} if part.each is not None else {"file": "file"} if part.files is not None else {}
    if part.files is not None:
        columns.pop("text", None)
    made = {f"column.{name}": column for name, column in columns.items()} | known.fields | part.fields
    return made | {f"where.{_CHOSEN}": "yes"} | {name: value for name, value in given.items() if name not in _OWN}


def _list_cells(source: Iterator[TableRow], known: Recipe, part: Part, given: dict[str, str]) -> Iterator[TableRow]:
    """The rows with the columns that are made here; of a recipe's file only the columns that it maps."""
    columns = known.columns | part.columns
    used = {column for name, column in columns.items() if name not in known.values}
    used |= {column for name, column in given.items() if name.startswith("column.")}
    used |= {n.removeprefix("where.") for n in given if n.startswith("where.")} | {"file"}
    means = {name: {one.cell: one.means for one in known.values[name]} for name in known.values}
    for position, row in enumerate(source, 1):
        chosen = all(row.cells.get(one.column) in one.among for one in part.where)
        cells = {n: v for n, v in row.cells.items() if n in used or "recipe" not in given}
        cells |= {f"={name}": table.get(row.cells.get(columns[name], ""), "") for name, table in means.items()}
        own = row.cells.get(_ID) or (row.cells.get("id") if "recipe" not in given else None)
        cells |= {_CHOSEN: "yes" if chosen else "no", _ID: own or f"{known.name}-{position:06d}"}
        if part.each is None or not chosen:
            yield TableRow(row.place, {_TEXT: ""} | cells if part.each is not None else cells)
            continue
        for number, text in enumerate(_list_cell(row.cells.get(part.each, "")), 1):
            yield TableRow(f"{row.place}, text {number}", cells | {_TEXT: text, _ID: f"{cells[_ID]}-{number}"})


def _list_cell(cell: str) -> list[str]:
    try:
        value = json.loads(cell)
    except ValueError:
        return [cell]
    return [item for item in value if isinstance(item, str)] if isinstance(value, list) else [cell]


def _list_files(path: Path, part: Part) -> list[str]:
    if part.files is None:
        return []
    if not path.is_dir():
        raise UsageError("there is no such folder", place=str(path), remedy="Correct the option `path`.")
    patterns = Patterns(part.files)
    found = (p.relative_to(path).as_posix() for p in path.rglob("*") if p.is_file())
    return sorted(name for name in found if patterns.fit(name))


def _list_items(path: Path, files: list[str]) -> Iterator[TableRow]:
    for name in files:
        cells = {"file": name, "folder": Path(name).parent.name, _ID: name.replace("/", ":")}
        yield TableRow(str(path / name), cells)


def _digest_files(path: Path, files: list[str]) -> str:
    """SHA-256 of the file; of a folder's files, that of what ``sha256sum`` prints of them, by name."""
    if not files:
        return _format_sha256(path) if path.is_file() else hashlib.sha256().hexdigest()
    lines = "".join(f"{_format_sha256(path / name)}  {name}\n" for name in files)
    return hashlib.sha256(lines.encode()).hexdigest()


def _format_sha256(path: Path) -> str:
    made = hashlib.sha256()
    with path.open("rb") as file:
        while block := file.read(_BLOCK):
            made.update(block)
    return made.hexdigest()


def _found_draft(draft: Draft) -> Found:
    given = draft.provenance
    return Found(given.get("evidence_sha256", ""), given.get("evidence_date", ""), draft.text)
