"""How a figure of a file is shown, and where on earth it is from (docs/format.md, 10).

The page and check 8 share this one reading: a citation names a place in a bundle, and that place has one text.
*Reads* the bytes that its caller hands it by path. *Writes* nothing.
*Never*: a rate that rounding makes 0 or 100 %, a blank shown as a number, a character that reorders what is read.
"""

from __future__ import annotations

import io
import re
import unicodedata
from collections.abc import Callable
from decimal import ROUND_HALF_EVEN, Decimal
from typing import Any
from urllib.parse import parse_qsl, quote

import polars as pl

from penmark.errors import PenmarkError
from penmark.format import canonical_json, replies

NONE = "—"
"""What stands where a file has no value."""
NO_BREAK = "\u00a0"

LABELS = {
    "detector version": "Detector",
    "detector version status": "Detector",
    "detector version human_mix": "Detector, human texts answered",
    "detector version ai_mix": "Detector, AI texts answered",
    "detector version human_n": "Detector, human texts answered",
    "detector version ai_n": "Detector, AI texts answered",
    "arm": "Arm",
    "slice_by slice": "Slice",
    "group measure": "Texts, and what is counted",
    "documents": "Texts in all",
    "n": "With an answer",
    "k": "Called AI",
    "rate": "Rate",
    "low high": "Interval",
    "rate low high": "Rate and interval",
    "rate unanswered": "Rate",
    "rate low high unanswered": "Rate and interval",
    "worst_low worst_high": "Worst case",
    "unit": "Unit",
    "units": "Units",
    "deff": "Design effect",
    "n_effective": "Worth so many texts",
    "low high reason": "Interval on these",
    "uncertain": "Uncertain",
    "no_result": "No result",
    "not_scannable": "Not scannable",
    "not_run": "Not run",
    "human_documents": "Human texts",
    "human_n human_mix": "Human texts answered",
    "human_n": "Human texts answered",
    "human_mix": "Human texts answered, by arm",
    "false_positives": "False positives",
    "fp_rate": "False-positive rate",
    "fp_low fp_high": "Interval",
    "fp_rate fp_low fp_high": "False-positive rate and interval",
    "fp_rate fp_low fp_high fp_unanswered": "False-positive rate and interval",
    "ai_documents": "AI texts",
    "ai_n ai_mix": "AI texts answered",
    "ai_n": "AI texts answered",
    "ai_mix": "AI texts answered, by arm",
    "detections": "Detections",
    "detection_rate": "Detection rate",
    "detection_low detection_high": "Interval",
    "detection_rate detection_low detection_high": "Detection rate and interval",
    "detection_rate detection_low detection_high detection_unanswered": "Detection rate and interval",
    "declined": "Declined",
    "failed": "Failed",
    "in_doubt": "In doubt",
    "first_scanned_at last_scanned_at": "Scanned",
}
"""What stands above the columns of a table on a page, by the columns of the file that are shown there."""

_RATE = re.compile(r"[01]\.[0-9]{6}\Z")
_GUARD = re.compile(r"'(?=[=+\-@\t\r\n])")
"""The apostrophe that keeps a spreadsheet from running a cell, at its start; readers need not see it."""
_MARKUP = re.compile(r"[\\<]|^[\[#>=*+_~`|-]")
"""What makes HTML in Markdown, or a line something else than words."""
_HUNDREDTH = Decimal("0.01")
_KEPT = "\n\t\u00ad\u200c\u200d"
"""Control and format characters that do no harm: line end, tab, soft hyphen, the two joiners."""


# --- one value -----------------------------------------------------------------------------------------------------


def show_value(value: str, how: str) -> str:
    """The text for ``value`` shown as ``how``; a blank is NONE. Raises ValueError for what cannot be shown so.

    ``text`` as it is · ``words`` underscores as spaces · ``count`` 1,015 · ``percent`` 5.19 % of a rate in [0, 1],
    ``points`` the same without the sign · ``rounded`` 1.23 · ``level`` 95 % of 0.95 · ``day``, ``time`` and
    ``clock`` (18:02 UTC) of an RFC 3339 time.
    """
    if value == "":
        return NONE
    match how:
        case "text":
            return make_visible(value[1:] if _GUARD.match(value) else value)
        case "words":
            return make_visible(value.replace("_", " "))
        case "count":
            return f"{int(value):,}"
        case "percent":
            return f"{_format_points(value)}{NO_BREAK}%"
        case "points":
            return _format_points(value)
        case "rounded":
            return f"{Decimal(value).quantize(_HUNDREDTH, rounding=ROUND_HALF_EVEN):f}"
        case "level":
            return f"{Decimal(value).scaleb(2).normalize():f}{NO_BREAK}%"
        case "day":
            return make_visible(value[:10])
        case "clock":
            return make_visible(value[11:16] + (" UTC" if value.endswith("Z") else ""))
        case "time":
            return make_visible(
                value.removesuffix("Z")[:19].replace("T", " ") + (" UTC" if value.endswith("Z") else "")
            )
    raise ValueError(f"there is no way to show a value as {how!r}")


def place_on_scale(rate: str) -> str:
    """Where on a scale from 0 to 100 % a rate of six decimals lies: "5.1900%", exactly."""
    _check_rate(rate)
    return f"{Decimal(rate).scaleb(2):.4f}%"


def make_visible(text: str) -> str:
    """``text`` with control and format characters that could hide or reorder it made visible, as ⟨U+202E⟩."""
    if text.isprintable() and text.isascii():
        return text
    return "".join(
        f"⟨U+{ord(c):04X}⟩" if c not in _KEPT and unicodedata.category(c) in ("Cc", "Cf", "Cs", "Zl", "Zp") else c
        for c in text
    )


def escape_markdown(text: str) -> str:
    """``text`` as one line of Markdown in which no reader finds HTML, nor a head, list, fence or rule."""
    return _MARKUP.sub(r"\\\g<0>", " ".join(text.split()))


def render_json_value(value: Any, how: str) -> str:
    """The text for a JSON value: lists joined with commas, objects as ``key: value; …`` by key, nothing as "none"."""
    match value:
        case None:
            return "none"
        case True | False:
            return "yes" if value else "no"
        case int():
            return show_value(str(value), "count" if how == "count" else "text")
        case str():
            return show_value(value, how)
        case list():
            return (
                f"{len(value):,}" if how == "length" else ", ".join(render_json_value(v, how) for v in value) or "none"
            )
        case dict():
            return (
                "; ".join(f"{make_visible(k)}: {render_json_value(v, how)}" for k, v in sorted(value.items())) or "none"
            )
    raise ValueError(f"a {type(value).__name__} cannot be shown")


def _format_points(rate: str) -> str:
    _check_rate(rate)
    exact = Decimal(rate).scaleb(2)
    rounded = exact.quantize(_HUNDREDTH, rounding=ROUND_HALF_EVEN)
    if rounded == 100 and exact != 100:
        return ">99.99"
    if rounded == 0 and exact != 0:
        return "<0.01"
    return f"{rounded:f}"


def _check_rate(rate: str) -> None:
    if not _RATE.match(rate) or Decimal(rate) > 1:
        raise ValueError(f"{rate[:40]!r} is not a rate in [0, 1] with six decimals")


# --- the places that a page cites ----------------------------------------------------------------------------------


def describe_cell_line(reference: str) -> str:
    """The reference FILE:ROW:COLUMN of a cell as a message tells it, by the line of the file (the head is line 1)."""
    return re.sub(r"^([^:#? ]+\.csv):([0-9]{1,9}):([a-z0-9_]+)$", lambda m: f"{m[1]}:{int(m[2]) + 1} {m[3]}", reference)


class Sources:
    """The files of one bundle, read by path when first cited. ``read`` raises PenmarkError for what is not there.

    ``attime``: the time of the token in a file as ``openssl ts -attime`` takes it, by path; None where it is none.
    """

    def __init__(self, read: Callable[[str], bytes], attime: Callable[[str], str | None] | None = None) -> None:
        self._read, self._attime = read, attime
        self._tables: dict[str, pl.DataFrame] = {}
        self._values: dict[str, Any] = {}

    def text(self, kind: str, reference: str, how: str) -> str:
        """What a page shows for a citation: ``kind`` cell, quote or over. Raises PenmarkError naming ``reference``."""
        find = {"cell": self._cell_text, "quote": self._quoted, "over": self._over}[kind]
        try:
            return find(reference, how)
        except (ValueError, ArithmeticError) as error:
            raise PenmarkError(
                str(error), place=reference, remedy="Cite a place that exists, shown in a way that fits it."
            ) from None

    def cell(self, reference: str) -> str:
        """The cell FILE:ROW:COLUMN of a table, row 1 being the first after the header. Raises PenmarkError."""
        path, row, column = split_reference(reference)
        table = self.table(path)
        if column not in table.columns or not 1 <= row <= table.height:
            raise PenmarkError(
                "there is no such cell", place=reference, remedy="Cite a cell of a table of this bundle."
            )
        return str(table.item(row - 1, column))

    def rows(self, path: str) -> list[dict[str, str]]:
        """All rows of a small table, as dicts of strings."""
        return self.table(path).to_dicts()

    def table(self, path: str) -> pl.DataFrame:
        """A CSV as columns of strings; absent values are "". Raises PenmarkError where it is not one."""
        if path not in self._tables:
            self._tables[path] = _parse_table(path, self._read(path))
        return self._tables[path]

    def _part(self, path: str, columns: set[str]) -> pl.DataFrame:
        """A table, or only those of its columns: readings.csv may have millions of rows. Raises as ``table``."""
        key = ",".join([path, *sorted(columns)])
        if key not in self._tables and path not in self._tables:
            data = self._read(path)
            known = data[: data.find(b"\n")].decode("utf-8", errors="replace").split(",")
            if columns and columns <= set(known):
                self._tables[key] = _parse_table(path, data, sorted(columns))
        found = self._tables[key] if key in self._tables else self.table(path)
        if columns - set(found.columns):
            raise ValueError(f"{path} has no column {', '.join(sorted(columns - set(found.columns)))}")
        return found

    def value(self, path: str, pointer: str = "") -> Any:
        """The value at a pointer (RFC 6901) of a canonical file, or of a line, FILE.jsonl:N; a reply has ``date``,
        ``from`` and ``reply``, a token ``attime``. Raises PenmarkError."""
        if path not in self._values:
            name, _, line = path.partition(":")
            data = self._read(name)
            if line == "" and name.endswith(".tsr"):
                at = None if self._attime is None else self._attime(name)
                self._values[path] = {} if at is None else {"attime": at}
                return self.value(path, pointer)
            if line == "" and replies.PATH.fullmatch(name):
                reply = replies.parse_reply(data, place=path)
                self._values[path] = {"date": reply.date, "from": reply.who, "reply": reply.text}
                return self.value(path, pointer)
            if line != "":
                held = data.split(b"\n")[:-1]
                if not re.fullmatch(r"[1-9][0-9]{0,8}", line) or int(line) > len(held):
                    raise PenmarkError("there is no such line", place=path)
                data = held[int(line) - 1]
            self._values[path] = canonical_json.decode_json(data, place=path)
        found = self._values[path]
        for part in pointer.split("/")[1:]:
            key = part.replace("~1", "/").replace("~0", "~")
            if isinstance(found, dict) and key in found:
                found = found[key]
            elif isinstance(found, list) and re.fullmatch(r"0|[1-9][0-9]{0,8}", key) and int(key) < len(found):
                found = found[int(key)]
            else:
                raise PenmarkError("there is nothing there", place=f"{path}#{pointer}")
        return found

    def _cell_text(self, reference: str, how: str) -> str:
        return show_value(self.cell(reference), how)

    def _quoted(self, reference: str, how: str) -> str:
        path, _, pointer = reference.partition("#")
        return render_json_value(self.value(path, pointer), how)

    def _over(self, reference: str, how: str) -> str:
        """OPERATION FILE[:COLUMN][?COLUMN=VALUE&…] over the rows that match."""
        operation, _, rest = reference.partition(" ")
        rest, _, wanted = rest.partition("?")
        path, _, column = rest.partition(":")
        if operation == "sha256":
            return canonical_json.sha256(self._read(path))
        matches = parse_qsl(wanted, keep_blank_values=True, strict_parsing=True) if wanted else []
        if operation != "count" and column == "":
            raise ValueError(f"{operation or 'nothing'} over no column")
        table = self._part(path, {name for name, _ in matches} | ({column} if column else set()))
        for name, value in matches:
            table = table.filter(pl.col(name) == value)
        if operation == "count":
            return show_value(str(table.height), how)
        return show_value(_aggregate_column(operation, table.get_column(column)), how)


def _parse_table(path: str, data: bytes, columns: list[str] | None = None) -> pl.DataFrame:
    """A CSV, or some columns of it, as strings; absent values are "". Raises PenmarkError where it is not one."""
    try:
        frame = pl.read_csv(io.BytesIO(data), columns=columns, infer_schema=False, empty_string_is_null=False)
    except (pl.exceptions.PolarsError, ValueError) as error:
        fact = str(error).splitlines()[0] if str(error) else type(error).__name__
        raise PenmarkError(f"is not a table ({fact})", place=path, remedy="Get the bundle again.") from None
    return frame.fill_null("")


def _aggregate_column(operation: str, column: pl.Series) -> str:
    """Least, most or sum of decimals, earliest or latest of times, blanks left out; "" where none is left."""
    held: dict[str, int] = {v: n for v, n in column.value_counts().iter_rows() if v != ""}
    if not held:
        return ""
    match operation:
        case "earliest":
            return min(held)
        case "latest":
            return max(held)
        case "least":
            return min(held, key=Decimal)
        case "most":
            return max(held, key=Decimal)
        case "sum":
            return f"{sum((Decimal(v) * n for v, n in held.items()), Decimal(0)):f}"
    raise ValueError(f"there is no operation {operation!r}")


def split_reference(reference: str) -> tuple[str, int, str]:
    """File, row and column of FILE:ROW:COLUMN. Raises PenmarkError where it has another form."""
    match = re.fullmatch(r"([^:?#]+):([1-9][0-9]{0,8}):([a-z0-9_]+)", reference)
    if match is None:
        raise PenmarkError("is not FILE:ROW:COLUMN", place=reference)
    return match[1], int(match[2]), match[3]


def make_filter(**wanted: str) -> str:
    """The filter of an ``over`` citation: ``?arm=A&grade=archived``."""
    return "?" + "&".join(f"{name}={quote(value, safe='')}" for name, value in wanted.items()) if wanted else ""


# --- Table 1 for terminals and READMEs -----------------------------------------------------------------------------


def render_markdown_table1(table1: bytes) -> str:
    """Table 1 as a Markdown table: false positives first, each count as k of n, each rate with its interval."""
    rows = Sources(lambda path: table1).rows("tables/table1.csv")
    head = ("detector", "false positives", "rate (interval)", "detections", "rate (interval)", "boundary", "status")
    lines = [head, ("---",) * len(head)]
    for row in rows:
        name = row["detector"] + (f" {row['version']}" if row["version"] else "")
        lines.append(
            (
                name + (" (the operator's own)" if row["relation"] == "own" else ""),
                *_describe_rate(row, "human_n", "false_positives", "fp"),
                *_describe_rate(row, "ai_n", "detections", "detection"),
                row["boundary"],
                row["status"],
            )
        )
    return "\n".join("| " + " | ".join(_escape_markdown(cell) for cell in line) + " |" for line in lines)


def _describe_rate(row: dict[str, str], n: str, k: str, name: str) -> tuple[str, str]:
    missing = f"; {row[f'{name}_unanswered']}" if row.get(f"{name}_unanswered") else ""
    if row[f"{name}_rate"] == "":
        return f"{NONE} of {row[n] or '0'}", NONE + missing
    low, high = (show_value(row[f"{name}_{end}"], "points") for end in ("low", "high"))
    return f"{row[k]} of {row[n]}", f"{show_value(row[f'{name}_rate'], 'percent')} ({low}–{high}){missing}"


def _escape_markdown(text: str) -> str:
    return re.sub(r"([\\|`*_<>\[\]])", r"\\\1", make_visible(text).replace("\n", " ").replace("\t", " "))
