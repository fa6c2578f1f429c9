"""Check 8, rows: in the tables of a page each row is about one row of a file, under the heads that it claims.

*Reads* a parsed page and the files that it cites. *Never* judges a figure: that is done in ``pages``.
"""

from __future__ import annotations

from collections.abc import Callable
from itertools import pairwise

from penmark.errors import PenmarkError
from penmark.format import show_figures
from penmark.format.show_figures import LABELS, Sources
from penmark.page.markup import Element, Fault

NAMES = {
    "tables/table1.csv": ("detector", "version"),
    "tables/table2.csv": ("detector", "version", "group", "measure"),
    "tables/rates.csv": ("detector", "version", "arm", "slice_by", "slice"),
    "tables/units.csv": ("detector", "version", "arm"),
}
_ALSO = frozenset({"tables/agreement.csv", "tables/departures.csv", "tables/warnings.csv", "screening.csv"})
"""Other files of which a row of a page has one row at most."""
"""What a row of a result says it is about: these cells stand in the row, or above it in the caption."""
AXIS = "0255075100"
"""The labels of a plot's scale, as one text."""
Cited = tuple[str, int, str]
Captions = dict[int, set[tuple[str, str, str]]]
"""What the captions of tables cite, by the identity of the table: read once, however many rows there are."""
_Split = Callable[[Element], list[Cited]]


def check_rows(tree: Element, sources: Sources, fault: Fault) -> None:
    """Every table, row and list of a page; faults go to ``fault``."""
    captions: Captions = {}
    for element in tree.walk():
        if element.name in ("tr", "li", "article"):
            _one_row(element, captions, sources, fault)
        if element.name in ("table", "section"):
            _in_order(element, fault)
        if element.name == "table" and any(path in NAMES for path, _, _ in _list_cited_cells(element)):
            _under_heads(element, sources, fault)


def _one_row(element: Element, captions: Captions, sources: Sources, fault: Fault) -> None:
    """All cells of a file that are cited in one row are of one row of it, and say what the row is about."""
    cited = _list_cited_cells(element, but=("li",) if element.name == "tr" else ())
    for path in sorted({path for path, _, _ in cited} & (NAMES.keys() | _ALSO)):
        numbers = sorted({row for p, row, _ in cited if p == path})
        if len(numbers) > 1:
            fault(
                element.line,
                f"mixes the lines {', '.join(str(n + 1) for n in numbers)} of {path}",
                "one row of a file in a row",
            )
        elif path in NAMES and element.name != "li":
            _check_subject(element, path, numbers[0], cited, captions, sources, fault)


def _check_subject(
    element: Element, path: str, row: int, cited: list[Cited], captions: Captions, sources: Sources, fault: Fault
) -> None:
    table = element.inside("table")
    above: set[tuple[str, str, str]] = set()
    if table is not None:
        above = captions.get(id(table)) or captions.setdefault(id(table), _collect_caption_cells(table, sources))
    for column in NAMES[path]:
        value = sources.cell(f"{path}:{row}:{column}")
        if value != "" and (path, row, column) not in cited and (path, column, value) not in above:
            fault(element.line, f"cites {path}:{row + 1} and not its {column}", f"a row that says {column} {value}")


def _collect_caption_cells(table: Element, sources: Sources) -> set[tuple[str, str, str]]:
    """File, column and value of each cell that the caption of a table cites."""
    captions = [c for c in table.held if isinstance(c, Element) and c.name == "caption"]
    return {(p, c, sources.cell(f"{p}:{r}:{c}")) for caption in captions for p, r, c in _list_cited_cells(caption)}


def _in_order(element: Element, fault: Fault) -> None:
    """Rows stand as in the file, which has detectors in alphabetical order: no page ranks them."""
    inner = ("table",) if element.name == "section" else ()
    cited = [(path, row) for path, row, column in _list_cited_cells(element, but=inner) if column == "detector"]
    for path in NAMES:
        for before, after in pairwise([row for p, row in cited if p == path]):
            if after < before:
                fault(
                    element.line,
                    f"line {after + 1} of {path} stands after line {before + 1}",
                    "the order of the file, never a rank",
                )


def _under_heads(table: Element, sources: Sources, fault: Fault) -> None:
    """The heads are those of the format, and each cell shows the columns that its head names."""
    lines = [e for e in table.walk() if e.name == "tr"]
    parts = [[c for c in line.held if isinstance(c, Element)] for line in lines]
    heads = parts[0] if parts and lines[0].parent is not None and lines[0].parent.name == "thead" else []
    for head in heads:
        columns = head.attributes.get("data-columns")
        axis = columns is None and head.attributes.get("class") == "axis" and head.text() == AXIS
        if not axis and (columns not in LABELS or head.text() != LABELS[columns]):
            fault(
                head.line,
                f"the head {head.text()!r} for {columns!r}",
                f"{LABELS.get(columns or '', 'a head that names its columns')!r}",
            )
    for line, cells in zip(lines[1:], parts[1:], strict=True):
        if len(cells) != len(heads) or line.parent is None or line.parent.name != "tbody":
            fault(line.line, f"a row of {len(cells)} cells", f"{len(heads)} cells under their heads")
            continue
        for cell, head in zip(cells, heads, strict=True):
            _check_columns(cell, head.attributes.get("data-columns", "").split(), sources, fault)


def _check_columns(cell: Element, columns: list[str], sources: Sources, fault: Fault) -> None:
    cited = _list_cited_cells(cell, but=("svg",))
    shown = [column for _, _, column in cited]
    blank = {c for c in columns if c not in shown and cited and _is_blank(sources, cited[0], c)}
    empty = not cited and cell.text().startswith(show_figures.NONE)
    if shown != [c for c in columns if c not in blank] and not empty:
        fault(cell.line, f"shows {', '.join(shown) or cell.text()[:60]}", f"{', '.join(columns) or 'a plot'}")


def _is_blank(sources: Sources, near: Cited, column: str) -> bool:
    try:
        return sources.cell(f"{near[0]}:{near[1]}:{column}") == ""
    except PenmarkError:
        return False


def _list_cited_cells(element: Element, but: tuple[str, ...] = ()) -> list[Cited]:
    """The cells that are cited in an element, in order, but not inside elements of some names."""
    found: list[Cited] = []
    waiting: list[Element] = [element]
    while waiting:
        current = waiting.pop()
        for name in ("data-cell", "data-from", "data-to"):
            if name in current.attributes:
                try:
                    found.append(show_figures.split_reference(current.attributes[name]))
                except PenmarkError:
                    continue  # reported where the citation is read
        waiting += [c for c in reversed(current.held) if isinstance(c, Element) and c.name not in but]
    return found
