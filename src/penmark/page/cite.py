"""How the page writes a figure: the text and, in the same element, the place in the bundle that it is from.

*Reads* the edition's files through ``show_figures.Sources``. *Writes* markup. *Never* writes a figure without its place.
"""

from __future__ import annotations

from markupsafe import Markup

from penmark.format import show_figures

Row = tuple[int, dict[str, str]]
"""The number of a table's row, from 1, and its cells by column."""


class Citing:
    """What templates call. Every text is escaped; a citation that has no value raises PenmarkError."""

    def __init__(self, sources: show_figures.Sources) -> None:
        self._sources = sources

    def cell(self, path: str, row: int, column: str, how: str = "text") -> Markup:
        """The cell of a table, as ``<span data-cell=…>``."""
        return self._cite_figure("cell", f"{path}:{row}:{column}", how)

    def has(self, path: str, row: int, column: str) -> bool:
        """True where the cell is not blank."""
        return self._sources.cell(f"{path}:{row}:{column}") != ""

    def quote(self, path: str, pointer: str = "", how: str = "text") -> Markup:
        """The value at a pointer of a JSON file (or of a line, ``deviations.jsonl:2``), as ``<span data-quote=…>``."""
        return self._cite_figure("quote", f"{path}#{pointer}", how)

    def over(self, operation: str, path: str, how: str = "count", **wanted: str) -> Markup:
        """A count, least, most, sum, earliest, latest or digest over ``path`` (``FILE`` or ``FILE:COLUMN``)."""
        return self._cite_figure("over", f"{operation} {path}{show_figures.make_filter(**wanted)}", how)

    def readings(self, row: int, origin: str) -> Markup:
        """How many readings of a row of Table 1 are of an origin: scan, typed or recorded."""
        detector, version = (self._sources.cell(f"tables/table1.csv:{row}:{name}") for name in ("detector", "version"))
        return self.over("count", "tables/readings.csv", detector=detector, version=version, origin=origin)

    def named(self, path: str) -> Markup:
        """The path of a file of the bundle, as text."""
        return Markup('<code data-path="{0}">{0}</code>').format(path)

    def link(self, path: str) -> Markup:
        """The path of a file of the bundle, as a link to it."""
        return Markup('<a href="../{0}" data-path="{0}">{0}</a>').format(path)

    def fixed(self, text: str) -> Markup:
        """One of the few texts with digits that belong to the house (check 8 has the list)."""
        return Markup('<span data-fixed="">{}</span>').format(text)

    def strip(self, path: str, row: int, names: tuple[str, str, str]) -> Markup:
        """A rate as a dot, its interval as a line, on a scale from 0 to 100 %; the scale alone without a rate."""
        rate, low, high = (f"{path}:{row}:{name}" for name in names)
        marks = Markup("")
        if self._sources.cell(rate) != "":
            at, start, end = (show_figures.place_on_scale(self._sources.cell(cited)) for cited in (rate, low, high))
            marks = Markup(
                '<line class="span" data-from="{}" data-to="{}" x1="{}" x2="{}" y1="50%" y2="50%"></line>'
                '<circle data-cell="{}" cx="{}" cy="50%" r="4"></circle>'
            ).format(low, high, start, end, rate, at)
        return Markup('<svg class="strip" aria-hidden="true">{}{}</svg>').format(_GRID, marks)

    def _cite_figure(self, kind: str, reference: str, how: str) -> Markup:
        text = self._sources.text(kind, reference, how)
        return Markup('<span data-{}="{}" data-as="{}">{}</span>').format(kind, reference, how, text)


_GRID = Markup("").join(
    Markup('<line class="grid" x1="{0}%" x2="{0}%" y1="0%" y2="100%"></line>').format(at) for at in (0, 25, 50, 75, 100)
)
