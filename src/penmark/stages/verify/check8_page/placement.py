"""Check 8, placing: which class and which citation may stand where, so that true figures cannot be put to a false use.

*Reads* a parsed page and the files that it cites. *Never* judges a figure, or what words mean.
"""

from __future__ import annotations

import re
from collections.abc import Callable, Iterator
from urllib.parse import parse_qs

from penmark import timestamps
from penmark.errors import PenmarkError
from penmark.format.show_figures import LABELS, Sources, split_reference
from penmark.page.markup import Element, Fault
from penmark.stages.verify.check8_page.rows import NAMES

CLASSES = {
    **dict.fromkeys(("banner", "by", "lead", "note", "reply", "series"), frozenset({"p"})),
    **dict.fromkeys(("cards", "plots", "scroll"), frozenset({"div"})),
    **dict.fromkeys(("plot", "words"), frozenset({"table"})),
    **dict.fromkeys(("left", "mix"), frozenset({"td", "th"})),
    **dict.fromkeys(("mark", "skip"), frozenset({"a"})),
    **dict.fromkeys(("address", "scale"), frozenset({"span"})),
    **dict.fromkeys(("grid", "span"), frozenset({"line"})),
    "axis": frozenset({"th"}),
    "digest": frozenset({"dd", "span", "td"}),
    "more": frozenset({"small"}),
    "pair": frozenset({"td"}),
    "run": frozenset({"ul"}),
    "status": frozenset({"small", "strong"}),
    "strip": frozenset({"svg"}),
}
"""The classes of a page, and the elements on which each may stand: elsewhere a style sheet could cover or move things."""
RESULTS = frozenset(NAMES) | {"tables/agreement.csv", "tables/departures.csv"}
"""Files whose cells stand in rows, captions and articles only."""
TOLD = frozenset({"screening.csv", "tables/warnings.csv"})
"""Files whose cells are words that screening or scoring wrote."""
_SMALLER = frozenset({"small", "strong", "em"})
"""Phrases that a style sheet makes smaller or lighter: one in another of its name would vanish by degrees."""
_RATES = frozenset(v for v in LABELS.values() if re.search("rate|[Ff]alse|[Dd]etections|AI|[Ii]nterval|case", v))
"""Heads of figures about detectors."""
_PARTS = 8
"""No deviation and no amendment has more parts to quote."""
_FULL = frozenset({"p", "li", "h1", "h2", "h3", "h4", "dt"})
_OPEN = re.compile(r"protocol\.json#/(arms/|level\Z)|seals/")
"""What a table may quote: nothing that an operator could write a figure into."""


def check_placement(tree: Element, sources: Sources, fault: Fault) -> None:
    """Classes, phrases and citations of a page where they may stand; faults go to ``fault``."""
    around = _Around(sources)
    for element in tree.walk():
        _check_form(element, fault)
        for kind in ("data-cell", "data-quote", "data-over", "data-fixed"):
            if kind in element.attributes:
                try:
                    why = _PLACES[kind](element, element.attributes[kind], around)
                except (PenmarkError, ValueError):
                    continue  # reported where the citation is read
                if why is not None:
                    inside = "" if element.parent is None else f" in <{element.parent.name}>"
                    fault(element.line, f"{kind}={element.attributes[kind]!r}{inside}", why)


def _check_form(element: Element, fault: Fault) -> None:
    name, kind = element.name, element.attributes.get("class")
    if kind is not None and name not in CLASSES.get(kind, frozenset()):
        where = ", ".join(sorted(CLASSES.get(kind, frozenset()))) or "no element"
        fault(element.line, f"<{name} class={kind!r}>", f"this class on {where}")
    if name in _SMALLER and element.inside(name) is not None:
        fault(element.line, f"<{name}> in <{name}>", "no phrase in another of its name")
    if name == "th" and "data-columns" not in element.attributes and element.text() in _RATES:
        fault(element.line, f"the head {element.text()!r}", "heads of rates above the cells that they name")
    if name in _FULL and element.text().strip() == "":
        fault(element.line, f"<{name}> that holds nothing", "no empty element that moves what follows")
    before: str | Element = ""
    for part in element.held:
        breaks = [isinstance(each, Element) and each.name == "br" for each in (before, part)]
        if all(breaks) and isinstance(part, Element):
            fault(part.line, "<br> after <br>", "one line end at a time")
        before = part if isinstance(part, Element) or part.strip() else before


def _explain_wrong_cell(element: Element, reference: str, around: _Around) -> str | None:
    path, _, _ = split_reference(reference)
    if path in RESULTS:
        return None if element.inside("tr", "caption", "article") else "cells of results in rows, captions and articles"
    return None if path in TOLD else "a cell of a file that pages show"


def _explain_wrong_quote(element: Element, reference: str, around: _Around) -> str | None:
    path = reference.partition("#")[0]
    if element.inside("table") is not None:
        return (
            None
            if _OPEN.match(reference) and not path.endswith(".tsr")
            else "in a table quotes of arms, level and seals only"
        )
    if path.endswith(".tsr"):
        code, sealed = element.inside("code"), f"seals/{timestamps.name_sealed_file(path.removeprefix('seals/'))}"
        line = f"openssl ts -verify -data {sealed} -in {path} -CAfile ROOTS.pem -attime {element.text()}"
        return None if code is not None and code.text() == line else "the line that checks this token, by itself"
    holders = {"deviations.jsonl": "li", "amendments": "article", "replies": "article"}
    name = holders.get(re.split(r"[:/]", path)[0])
    if name is None:
        return None
    holder = element.inside(name)
    if holder is None:
        return f"quotes of it in <{name}> only, with what belongs to it"
    if path.startswith("replies/"):
        about = around.about(holder)
        own = len(about) == 1 and path == f"replies/{next(iter(about))[0]}.md"
        return None if own else "a reply beside its own row"
    quoted = around.quoted(holder)
    whole = {f"{path}#/at" if name == "li" else f"{path}#/announced_at", f"{path}#/what"}
    apart = len(quoted) <= _PARTS and whole <= quoted and all(q.startswith(f"{path}#") for q in quoted)
    return None if apart else "its time and words, by themselves"


def _explain_wrong_over(element: Element, reference: str, around: _Around) -> str | None:
    operation, _, rest = reference.partition(" ")
    rest, _, wanted = rest.partition("?")
    path = rest.partition(":")[0]
    if path == "tables/readings.csv":
        holder = element.inside("tr", "article")
        query = {name: values[0] for name, values in parse_qs(wanted, keep_blank_values=True).items()}
        row = (query.get("detector", ""), query.get("version", ""))
        fits = holder is not None and set(query) == {"detector", "version", "origin"} and operation == "count"
        return None if holder is not None and fits and row in around.about(holder) else "a count beside its own row"
    if element.inside("table") is not None:
        counted = operation == "count" and path in ("tables/documents.csv", "screening.csv")
        words = operation in ("least", "most") and rest == "tables/documents.csv:words"
        seal = operation == "sha256" and path.startswith("seals/")
        return None if counted or words or seal else "in a table no figure over several rows of results"
    free = operation == "count" and path in ("tables/documents.csv", "screening.csv")
    if operation in ("count", "least", "most", "sum") and not free:
        holder = element.inside("p")
        fits = holder is not None and holder.parent is not None and holder.parent.name == "section"
        return None if fits else "a figure over several rows in a paragraph of a section"
    return None


def _explain_wrong_fixed(element: Element, reference: str, around: _Around) -> str | None:
    caption, shown = element.inside("caption"), element.text()
    if not shown.startswith("Table ") or caption is None or caption.parent is None:
        return None
    path = f"tables/table{shown.removeprefix('Table ')}.csv"
    return None if path in around.files(caption.parent) else f"the name of a table above the cells of {path}"


def _list_cited_rows(holder: Element) -> Iterator[tuple[str, int]]:
    for element in holder.walk():
        if element.attributes.get("data-cell", "").startswith("tables/"):
            path, row, _ = split_reference(element.attributes["data-cell"])
            yield path, row


class _Around:
    """What rows, lists, articles and tables cite, by the identity of the element: read once, however much stands in it."""

    def __init__(self, sources: Sources) -> None:
        self._sources = sources
        self._about: dict[int, set[tuple[str, str]]] = {}
        self._quoted: dict[int, set[str]] = {}
        self._files: dict[int, set[str]] = {}

    def about(self, holder: Element) -> set[tuple[str, str]]:
        """Detector and version of the rows of results that are cited in an element."""
        if id(holder) not in self._about:
            rows = {f"{path}:{row}" for path, row in _list_cited_rows(holder) if path in NAMES}
            cell = self._sources.cell
            self._about[id(holder)] = {(cell(f"{row}:detector"), cell(f"{row}:version")) for row in rows}
        return self._about[id(holder)]

    def quoted(self, holder: Element) -> set[str]:
        """All quotes in an element."""
        if id(holder) not in self._quoted:
            found = {e.attributes["data-quote"] for e in holder.walk() if "data-quote" in e.attributes}
            self._quoted[id(holder)] = found
        return self._quoted[id(holder)]

    def files(self, table: Element) -> set[str]:
        """The tables of which an element cites cells."""
        if id(table) not in self._files:
            self._files[id(table)] = {path for path, _ in _list_cited_rows(table)}
        return self._files[id(table)]


_PLACES: dict[str, Callable[[Element, str, _Around], str | None]] = {
    "data-cell": _explain_wrong_cell,
    "data-quote": _explain_wrong_quote,
    "data-over": _explain_wrong_over,
    "data-fixed": _explain_wrong_fixed,
}
