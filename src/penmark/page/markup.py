"""The one reading of a page: a small strict form of HTML that every browser reads as we do (docs/format.md, 10).

Parsers of HTML mend what is broken, each in its own way; what one sees another may not. So a page is written with every
tag closed, every attribute quoted, closed lists of elements and attributes and of what may stand in what; anything else
is a fault. *Reads* bytes. *Writes* nothing. *Never* guesses, repairs, or loads anything.
"""

from __future__ import annotations

import re
from collections.abc import Callable, Iterator

DEEPEST = 40
"""Levels of elements."""
PHRASES = frozenset({"a", "bdi", "br", "code", "em", "small", "span", "strong", "svg"})
"""Elements that stand in lines of text."""
_BLOCKS = frozenset(
    {"div", "dl", "details", "h2", "h3", "h4", "nav", "p", "section", "article", "figure", "table", "ul"}
)
_TEXT = frozenset({"#"})
_FLOW = _BLOCKS | PHRASES | _TEXT
_INLINE = PHRASES | _TEXT
WITHIN: dict[str, frozenset[str]] = {
    "html": frozenset({"head", "body"}),
    "head": frozenset({"meta", "title", "style"}),
    "body": frozenset({"a", "header", "nav", "main", "footer"}),
    "header": _FLOW | {"h1"},
    "main": _FLOW,
    "footer": _FLOW,
    **dict.fromkeys(("section", "article", "nav", "div", "figure", "li", "dd", "td"), _FLOW),
    "figure": _FLOW | {"figcaption"},
    "details": _FLOW | {"summary"},
    **dict.fromkeys(("h1", "h2", "h3", "h4", "p", "dt", "th", "caption", "figcaption", "summary"), _INLINE),
    **dict.fromkeys(("bdi", "code", "em", "small", "span", "strong"), _INLINE),
    "a": _INLINE - {"a"},
    "title": _TEXT,
    "style": _TEXT,
    "ul": frozenset({"li"}),
    "dl": frozenset({"dt", "dd"}),
    "table": frozenset({"caption", "thead", "tbody"}),
    "thead": frozenset({"tr"}),
    "tbody": frozenset({"tr"}),
    "tr": frozenset({"th", "td"}),
    "svg": frozenset({"line", "circle"}),
    **dict.fromkeys(("line", "circle", "meta", "br"), frozenset()),
}
"""What may stand in what; "#" is text. White space may stand anywhere."""
_VOID = frozenset({"meta", "br"})
_ANYWHERE = frozenset({"id", "class"})
_CITING = frozenset({"data-cell", "data-quote", "data-over", "data-path", "data-fixed", "data-as"})
ATTRIBUTES: dict[str, frozenset[str]] = {
    "html": frozenset({"lang"}),
    "meta": frozenset({"charset", "name", "content"}),
    "title": _CITING,
    "style": frozenset(),
    "a": frozenset({"href"}) | _CITING,
    "th": frozenset({"scope", "data-columns"}) | _CITING,
    "div": frozenset({"role", "tabindex", "aria-labelledby"}),
    "nav": frozenset({"aria-label"}),
    "section": frozenset({"aria-labelledby"}),
    "figure": frozenset({"aria-labelledby"}),
    "svg": frozenset({"aria-hidden"}),
    "line": frozenset({"x1", "x2", "y1", "y2", "data-from", "data-to"}),
    "circle": frozenset({"cx", "cy", "r", "data-cell"}),
    **dict.fromkeys(
        ("span", "strong", "em", "small", "code", "bdi", "td", "dd", "dt", "p", "li", "h1", "h2", "h3"), _CITING
    ),
}
_TAG = re.compile(r"<([a-z][a-z0-9]*)((?: [a-z][a-z0-9-]*=\"[^\"<>]*\")*)>")
_END = re.compile(r"</([a-z][a-z0-9]*)>")
_ATTRIBUTE = re.compile(r" ([a-z][a-z0-9-]*)=\"([^\"<>]*)\"")
_REFERENCE = re.compile(r"&(?:(amp|lt|gt|#34|#39);)?")
_CHARACTERS = {"amp": "&", "lt": "<", "gt": ">", "#34": '"', "#39": "'"}
_UNSAFE = re.compile(r"[\x00-\x08\x0b-\x1f\x7f-\x9f\ud800-\udfff\ufdd0-\ufdef\ufffe\uffff]")
_START = "<!doctype html>\n"

Fault = Callable[[int, str, str], None]
"""Takes a line, what is there, what would be right."""


class Element:
    """One element: its name, line, attributes, and what it holds, in order: texts and elements."""

    __slots__ = ("attributes", "held", "line", "name", "parent")

    def __init__(self, name: str, line: int, attributes: dict[str, str], parent: Element | None) -> None:
        self.name, self.line, self.attributes, self.parent = name, line, attributes, parent
        self.held: list[str | Element] = []

    def walk(self) -> Iterator[Element]:
        """This element and all below it, in the order of the page."""
        waiting = [self]
        while waiting:
            element = waiting.pop()
            yield element
            waiting += [child for child in reversed(element.held) if isinstance(child, Element)]

    def above(self) -> Iterator[Element]:
        """The elements around this one, the nearest first."""
        around = self.parent
        while around is not None:
            yield around
            around = around.parent

    def inside(self, *names: str) -> Element | None:
        """The nearest element around this one that has one of these names."""
        return next((e for e in self.above() if e.name in names), None)

    def text(self) -> str:
        """All text in it."""
        return "".join(part if isinstance(part, str) else part.text() for part in self.held)

    def texts(self) -> Iterator[tuple[Element, str]]:
        """Every piece of text at or below this element, with the element that holds it."""
        for element in self.walk():
            for part in element.held:
                if isinstance(part, str):
                    yield element, part


def parse_page(data: bytes, fault: Fault) -> Element | None:
    """The tree of a page. Every departure from the form goes to ``fault``; None where reading had to stop."""
    try:
        text = data.decode("utf-8")
    except UnicodeDecodeError as error:
        fault(data[: error.start].count(b"\n") + 1, "is not UTF-8", "UTF-8")
        return None
    for match in _UNSAFE.finditer(text):
        fault(text.count("\n", 0, match.start()) + 1, f"the character U+{ord(match[0]):04X}", "no control characters")
        return None
    if not text.startswith(_START):
        fault(1, text[:40], "<!doctype html> and a line end")
        return None
    return _Reader(text, fault).read()


class _Reader:
    def __init__(self, text: str, fault: Fault) -> None:
        self.text, self.fault = text, fault
        self.at, self.line = len(_START), 2
        self.stack: list[Element] = []
        self.root: Element | None = None

    def read(self) -> Element | None:
        while self.at < len(self.text):
            if not (self._read_tag() if self.text[self.at] == "<" else self._words()):
                return None
        if self.root is None or self.stack:
            self.fault(self.line, "the page ends inside an element", "every element closed")
            return None
        return self.root

    def _move(self, end: int) -> str:
        piece = self.text[self.at : end]
        self.line += piece.count("\n")
        self.at = end
        return piece

    def _words(self) -> bool:
        end = self.text.find("<", self.at)
        line, piece = self.line, self._move(len(self.text) if end < 0 else end)
        value = self._explain_value(piece, line)
        if value is None:
            return False
        if not self.stack:
            if value.strip():
                self.fault(line, f"text outside the page: {value.strip()[:80]}", "nothing after </html>")
            return True
        inside = self.stack[-1]
        if inside.name == "style" and "&" in piece:
            self.fault(line, "& in the style sheet", "a style sheet without it: browsers do not read it there as we do")
        if value.strip() and "#" not in WITHIN.get(inside.name, _TEXT):
            self.fault(line, f"text in <{inside.name}>: {value.strip()[:80]}", "text in elements that may hold it")
        inside.held.append(value)
        return True

    def _read_tag(self) -> bool:
        if (end := _END.match(self.text, self.at)) is not None:
            if not self.stack or self.stack[-1].name != end[1]:
                self.fault(self.line, end[0], f"</{self.stack[-1].name}>" if self.stack else "no more end tags")
                return False
            self.stack.pop()
            self._move(end.end())
            return True
        tag = _TAG.match(self.text, self.at)
        if tag is None:
            shown = self.text[self.at : self.at + 60].split("\n")[0]
            self.fault(self.line, shown, "a plain tag with quoted attributes: no comment, script or declaration")
            return False
        return self._open(tag)

    def _open(self, tag: re.Match[str]) -> bool:
        name, parent = tag[1], self.stack[-1] if self.stack else None
        attributes: dict[str, str] = {}
        for key, raw in _ATTRIBUTE.findall(tag[2]):
            value = self._explain_value(raw, self.line)
            if value is None:
                return False
            if key in attributes or key not in ATTRIBUTES.get(name, frozenset()) | _ANYWHERE:
                self.fault(self.line, f"<{name} {key}={value[:60]!r}>", "only the attributes of the format, each once")
            attributes[key] = value
        if name not in WITHIN:
            self.fault(self.line, f"<{name}>", "only the elements of the format: nothing that runs, loads or hides")
        elif (parent is None and (name != "html" or self.root is not None)) or (
            parent is not None and name not in WITHIN.get(parent.name, frozenset())
        ):
            self.fault(
                self.line,
                f"<{name}> in {f'<{parent.name}>' if parent else 'the file'}",
                "elements where they may stand",
            )
        if name == "a" and any(e.name == "a" for e in self.stack):
            self.fault(self.line, "<a> in <a>", "links that hold no links")
        element = Element(name, self.line, attributes, parent)
        if parent is not None:
            parent.held.append(element)
        elif self.root is None:
            self.root = element
        self._move(tag.end())
        if name not in _VOID:
            self.stack.append(element)
            if len(self.stack) > DEEPEST:
                self.fault(self.line, f"more than {DEEPEST} levels of elements", "a page")
                return False
        return True

    def _explain_value(self, raw: str, line: int) -> str | None:
        """The text that ``raw`` stands for; None, with a fault, where a character reference is none of ours."""
        if "&" not in raw:
            return raw
        for match in _REFERENCE.finditer(raw):
            if match[1] is None:
                self.fault(line, raw[match.start() : match.start() + 20], "&amp; &lt; &gt; &#34; or &#39;")
                return None
        return _REFERENCE.sub(lambda m: _CHARACTERS[m[1]], raw)
