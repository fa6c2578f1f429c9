"""Check 8, pages: every number in a page stands in an element that names its place in the bundle, and equals it.

*Reads* report/*.html, and the files that a page cites. *Never* runs, loads or follows anything in a page;
never trusts a style sheet that it does not know. Words it cannot judge (docs/threats.md), save the few listed here.
"""

from __future__ import annotations

import re
import unicodedata
from collections.abc import Iterator
from pathlib import Path

from penmark import study, timestamps
from penmark.errors import PenmarkError
from penmark.format import canonical_json, show_figures
from penmark.page.markup import Element, parse_page
from penmark.stages.verify.check1_sums import is_safe_path
from penmark.stages.verify.check8_page import style_sheet
from penmark.stages.verify.check8_page.placement import check_placement
from penmark.stages.verify.check8_page.rows import check_rows
from penmark.stages.verify.check8_page.wording import NEVER, check_wording
from penmark.stages.verify.check_findings import LISTED, Findings

LARGEST = 64 * 2**20
"""No page is larger (bytes)."""
CITABLE = re.compile(
    r"(protocol\.json|screening\.csv|deviations\.jsonl|(detectors|seals|amendments)/[^/]+\.json|seals/[^/]+\.tsr|tables/[a-z0-9_]+\.csv|"
    r"replies/[^/]+\.md)\Z"
)
"""The files that a page may cite."""
STYLES = {
    "06c18b5f2bebd2b642bdf4f263f6fbe2f651da9238d7aa954c537a4ba5c683b9": "0.1.0",
}
"""SHA-256 of the style sheet of each release: what they show and hide is known."""
FIXED = frozenset({"SHA-256", "sha256sum -c SHA256SUMS", "python3 verify.py .", "Table 1", "Table 2"})
"""Texts with digits that belong to the house, and say nothing of any detector."""
SCALE = frozenset({"0", "25", "50", "75", "100"})
"""The labels of the scale above a plot."""
KEPT_FOR = {"skip": ("a", "Skip to the results"), "more": ("small", "Scroll sideways: there are more columns.")}
"""Classes that the style sheet of a release moves out of sight, or shows on small screens only: their element and text."""
META = {("color-scheme", "light dark"), ("viewport", "width=device-width, initial-scale=1")}
_CITED = ("data-cell", "data-quote", "data-over", "data-path", "data-fixed")
_SHOWN = ("data-cell", "data-quote", "data-over")
_MADE = "The page is generated: make it again with `penmark report`, and do not edit it."


def check_pages(root: Path, found: Findings) -> None:
    """Hold every page of ``report/`` to the files of the bundle."""
    folder = root / "report"
    if not folder.is_dir():
        found.not_applicable("report", "this bundle has no page")
        return

    def read(path: str) -> bytes:
        return _read_citable_file(root, path)

    sources = show_figures.Sources(read, timestamps.make_attime_reader(read))
    names = [p.name for p in study.own(folder)]
    if "index.html" not in names:
        found.failed("report/index.html", "is missing", "a page", _MADE)
    for name in names:
        if not name.endswith(".html"):
            found.failed(f"report/{name}", "is no page", "report/*.html only", "Remove it; look who put it there.")
            continue
        try:
            _Page(f"report/{name}", study.read_bytes(folder / name, limit=LARGEST), root, sources, found).check()
        except PenmarkError as error:
            found.error(error)
        except (KeyError, TypeError) as error:
            found.failed(
                f"report/{name}",
                f"needs {error} of a file that has it not",
                "the files of the format",
                "Get the bundle again.",
            )
    if found.clean:
        found.ok("report", f"{len(names)} page, every figure as in the file that it names")


def _read_citable_file(root: Path, path: str) -> bytes:
    if not is_safe_path(path) or not CITABLE.match(path) or not (root / path).resolve().is_relative_to(root.resolve()):
        raise PenmarkError("is not a file that a page may cite", place=path, remedy=_MADE)
    return study.read_bytes(root / path)


class _Page:
    def __init__(self, place: str, data: bytes, root: Path, sources: show_figures.Sources, found: Findings) -> None:
        self.place, self.data, self.root, self.sources, self.found = place, data, root, sources, found

    def fail(self, line: int, got: str, expected: str) -> None:
        """A fault at a line of the page."""
        self.found.failed(f"{self.place}:{line}", got if len(got) <= 300 else got[:300] + "…", expected, _MADE)

    def check(self) -> None:
        """All that is asked of one page."""
        tree = parse_page(self.data, self.fail)
        if tree is None:
            return
        for element in tree.walk():
            self._check_attributes(element)
            self._cite_figure(element)
            self._check_draw(element)
        self._check_digits(tree)
        self._check_style(tree)
        check_rows(tree, self.sources, self.fail)
        check_placement(tree, self.sources, self.fail)
        self._left_out(tree)
        retrospective = any(t["timing"] == "retrospective" for t in self.sources.rows("tables/table1.csv"))
        announced = self.sources.value("seals/corpus.json", "/announced") is not None
        check_wording(tree, retrospective, announced, self.fail)

    # --- citations -------------------------------------------------------------------------------------------------

    def _cite_figure(self, element: Element) -> None:
        """An element with a citation holds one text, the one that its place has."""
        kinds = [kind for kind in _CITED if kind in element.attributes]
        if not kinds or element.name == "circle":
            return
        shown = element.text()
        if len(kinds) > 1 or any(isinstance(part, Element) for part in element.held):
            self.fail(
                element.line, f"<{element.name}> with {', '.join(kinds)}: {shown[:80]}", "one citation around one text"
            )
            return
        reference, how = element.attributes[kinds[0]], element.attributes.get("data-as", "")
        try:
            expected = self._text(kinds[0], reference, how, element)
        except PenmarkError as error:
            self.fail(
                element.line,
                f"cites {show_figures.describe_cell_line(reference)}: {error.faults[0].fact}",
                "a place in this bundle",
            )
            return
        if shown != expected:
            self.fail(element.line, shown, f"{expected} ({show_figures.describe_cell_line(reference)})")

    def _text(self, kind: str, reference: str, how: str, element: Element) -> str:
        if kind == "data-fixed":
            shown = element.text()
            axis = element.inside("th")
            on_scale = axis is not None and axis.attributes.get("class") == "axis" and shown in SCALE
            return shown if shown in FIXED or on_scale else "a figure with its place"
        if kind == "data-path":
            self._require_bundle_file(reference)
            return reference
        return self.sources.text(kind.removeprefix("data-"), reference, how)

    def _require_bundle_file(self, path: str) -> None:
        """Raises PenmarkError unless ``path`` names a file of the bundle."""
        target = self.root / path
        if not is_safe_path(path) or not target.is_file() or not target.resolve().is_relative_to(self.root.resolve()):
            raise PenmarkError("is not a file of this bundle", place=path)

    def _check_digits(self, tree: Element) -> None:
        """No digit that a reader sees outside a citation."""
        left = LISTED  # each is looked for from the start of its element: a page of nothing else would take for ever
        for element, text in tree.texts():
            if left == 0:
                return
            if element.name == "style" or any(kind in element.attributes for kind in _CITED):
                continue
            if any(map(_is_number, text)):
                left -= 1
                self.fail(
                    element.line + _count_lines_before(element, text),
                    text.strip(),
                    "each figure in an element that names its place",
                )
            if any(unicodedata.category(c) in ("Cf", "Co", "Cn") for c in text):
                self.fail(element.line, ascii(text.strip()), "no hidden characters")

    # --- what could mislead without a digit ------------------------------------------------------------------------

    def _check_attributes(self, element: Element) -> None:
        """Values from closed lists: nothing that leads out, is heard only, or is hidden."""
        for name, value in element.attributes.items():
            if name == "href":
                ok = self._is_allowed_link(value)
            elif name in ("id", "class", "aria-labelledby"):
                ok = re.fullmatch(r"[a-z][a-z-]*", value) is not None
            elif name == "aria-label":
                ok = re.fullmatch(r"[A-Za-z ]+", value) is not None
            elif name in ("role", "tabindex", "aria-hidden", "lang", "scope", "charset"):
                closed = {"role": "region", "tabindex": "0", "aria-hidden": "true", "lang": "en", "charset": "utf-8"}
                ok = value == closed.get(name) or (name == "scope" and value in ("col", "row"))
            else:
                continue
            if not ok:
                self.fail(element.line, f"<{element.name} {name}={value!r}>", "a value that the format knows")
        if element.name == "meta" and "charset" not in element.attributes:
            pair = (element.attributes.get("name", ""), element.attributes.get("content", ""))
            if pair not in META:
                self.fail(element.line, f"<meta {pair}>", "only the three that the format knows")
        kept = KEPT_FOR.get(element.attributes.get("class", ""))
        if kept is not None and kept != (element.name, element.text()):
            self.fail(element.line, f"<{element.name}> {element.text()}", f"of this class only <{kept[0]}> {kept[1]}")
        if (never := NEVER.search(element.attributes.get("aria-label", ""))) is not None:
            self.fail(element.line, f"says {never[0]}", "no rank and no winner")

    def _is_allowed_link(self, address: str) -> bool:
        """True for a place in this page or a file of this bundle."""
        if address.startswith("#"):
            return re.fullmatch(r"#[a-z][a-z-]*", address) is not None
        try:
            self._require_bundle_file(address.removeprefix("../"))
        except PenmarkError:
            return False
        return address.startswith("../")

    def _check_draw(self, element: Element) -> None:
        """Dots and lines lie where the cells that they name put them."""
        a = element.attributes
        if element.name == "line" and "data-from" not in a:
            x = a.get("x1", "")
            expected = {"class": "grid", "x1": x, "x2": x, "y1": "0%", "y2": "100%"}
            if a != expected or x.removesuffix("%") not in SCALE:
                self.fail(element.line, f"<line {a}>", "a line of the scale, or one that names its cells")
            return
        if element.name not in ("line", "circle"):
            return
        try:
            if element.name == "circle":
                cited = a.get("data-cell", "")
                expected = {
                    "data-cell": cited,
                    "cx": show_figures.place_on_scale(self.sources.cell(cited)),
                    "cy": "50%",
                    "r": "4",
                }
                fits = cited.endswith("rate")
            else:
                low, high = a["data-from"], a.get("data-to", "")
                ends = [show_figures.place_on_scale(self.sources.cell(cited)) for cited in (low, high)]
                expected = {"class": "span", "data-from": low, "data-to": high, "x1": ends[0], "x2": ends[1]}
                expected |= {"y1": "50%", "y2": "50%"}
                fits = low.endswith("low") and low.removesuffix("low") == high.removesuffix("high")
        except (PenmarkError, ValueError) as error:
            self.fail(element.line, f"<{element.name} {a}>: {error}", "a mark that names its cells")
            return
        if a != expected or not fits:
            moved = {
                name: a.get(name) for name in sorted(a.keys() | expected.keys()) if a.get(name) != expected.get(name)
            }
            right = {name: expected.get(name) for name in moved}
            self.fail(
                element.line, f"<{element.name}> with {moved}", f"{right} ({a.get('data-cell') or a.get('data-from')})"
            )

    def _check_style(self, tree: Element) -> None:
        styles = [element for element in tree.walk() if element.name == "style"]
        if len(styles) != 1:
            self.fail(tree.line, f"{len(styles)} style sheets", "one")
        for sheet in styles:
            text = sheet.text()
            if canonical_json.sha256(text.encode()) in STYLES:
                continue
            if len(text) > style_sheet.LONGEST:
                got = f"a style sheet of {len(text)} characters"
                self.fail(sheet.line, got, f"at most {style_sheet.LONGEST}, or one of a release")
                continue
            trick = style_sheet.find_style_trick(text)
            if trick is not None:
                line = sheet.line + text.count("\n", 0, trick[0])
                self.fail(
                    line, f"{trick[1]} in a style sheet of no release", "a style sheet that hides and moves nothing"
                )
            else:
                self.found.not_checked(
                    f"{self.place}:{sheet.line}",
                    "the style sheet is of no release that this program knows: how the page looks is not checked",
                    "Use the newest release of penmark, or read the tables themselves.",
                )

    def _left_out(self, tree: Element) -> None:
        """What a page must show, outside what is folded away."""
        shown = set()
        for element in tree.walk():
            if element.inside("details", "nav") is None and element.name not in ("circle", "title"):
                shown |= {f"{k} {v}" for k, v in element.attributes.items() if k in _SHOWN}
        for wanted in _list_required_citations(self.sources, self.root):
            if wanted not in shown:
                self.fail(
                    1,
                    f"leaves out {show_figures.describe_cell_line(wanted.partition(' ')[2])}",
                    "a page that shows it, unfolded",
                )


def _list_required_citations(sources: show_figures.Sources, root: Path) -> Iterator[str]:
    """The citations that every page has: both tables, whole arms, origins of readings, departures, deviations,
    amendments, interests, settings, and what vendors replied."""
    units = ("units",) if (root / "tables" / "units.csv").is_file() else ()
    for row in sources.rows("tables/table1.csv"):
        for origin in ("scan", "typed", "recorded"):
            where = show_figures.make_filter(detector=row["detector"], version=row["version"], origin=origin)
            if sources.text("over", f"count tables/readings.csv{where}", "text") != "0":
                yield f"data-over count tables/readings.csv{where}"
    for path in ("table1", "table2", "departures", *units):
        for number, row in enumerate(sources.rows(f"tables/{path}.csv"), 1):
            for column, value in row.items():
                if value != "" and column not in ("timing", "documents" if path == "units" else ""):
                    yield f"data-cell tables/{path}.csv:{number}:{column}"
    for number, row in enumerate(sources.rows("tables/rates.csv"), 1):
        for column in ("n", "k", "rate", "low", "high", "unanswered") if row["slice_by"] == "" else ():
            if row.get(column, "") != "":
                yield f"data-cell tables/rates.csv:{number}:{column}"
    promised = sources.value("protocol.json")
    for number in range(len(promised["people"])):
        yield f"data-quote protocol.json#/people/{number}/interests"
    for number in range(len(promised["nominations"])):
        yield f"data-quote protocol.json#/nominations/{number}/answer"
    deviations = root / "deviations.jsonl"
    for number, _ in study.read_lines(deviations) if deviations.is_file() else ():
        yield f"data-quote deviations.jsonl:{number}#/what"
    for amendment in study.own(root / "amendments", "*.json"):
        yield f"data-quote amendments/{amendment.name}#/what"
    for number in range(len(promised["detectors"])):
        yield f"data-quote protocol.json#/detectors/{number}/settings"
    for reply in study.own(root / "replies", "*.md"):
        yield from (f"data-quote replies/{reply.name}#/{part}" for part in ("date", "from", "reply"))


def _is_number(character: str) -> bool:
    """True for digits and signs of any script that stand for a number."""
    return unicodedata.category(character).startswith("N") or character.isnumeric()


def _count_lines_before(element: Element, text: str) -> int:
    """Lines from an element's tag to the first digit of one of its texts."""
    lines = 0
    for part in element.held:
        if part is text:
            break
        lines += part.count("\n") if isinstance(part, str) else part.text().count("\n")
    first = next(i for i, c in enumerate(text) if _is_number(c))
    return lines + text.count("\n", 0, first)
