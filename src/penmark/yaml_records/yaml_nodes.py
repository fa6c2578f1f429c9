"""From the text of a YAML file to nodes that know their lines.

*Reads* text. *Never*: types a value, keeps an anchor, an alias, a tag, a directive, or a key twice: each is a fault.
The tree is built from the parser's events with a stack of our own, so no depth of nesting can exhaust Python's.
"""

from __future__ import annotations

from collections.abc import Iterable
from typing import Any, NamedTuple

from ruamel.yaml import YAML
from ruamel.yaml import events as ev
from ruamel.yaml.error import YAMLError

from penmark.errors import Fault, PenmarkError
from penmark.format import canonical_json

MAX_DEPTH = 16
"""A file that a person writes is not nested deeper than this."""

Loc = tuple[str | int, ...]
"""Where a value is: keys and, in lists, positions from 0."""


class Node(NamedTuple):
    """A value as written: its line (from 1), the span of a scalar in the text, and what it is.

    A plain scalar that is empty, ``~`` or ``null`` is None; every other scalar is the string that it is.
    """

    line: int
    span: tuple[int, int]
    value: str | list[Node] | dict[str, Node] | None


class _Open:
    """A list or mapping that is being filled; ``key`` waits for its value."""

    def __init__(self, line: int, value: list[Node] | dict[str, Node]) -> None:
        self.line, self.value = line, value
        self.key: str | None = None
        self.key_line = line


def compose_nodes(text: str, place: str) -> tuple[Node, list[Fault]]:
    """The nodes of ``text`` and what is wrong with its YAML, each fault at ``place:line``.

    Raises PenmarkError where the text is not YAML, not one document, or nested too deep: then nothing can be read.
    """
    try:
        # Event by event: the parser takes quadratic time over deep nesting, which is refused before it gets there.
        return _Composer(place).tree(YAML(typ="safe", pure=True).parse(text))
    except YAMLError as error:
        mark = getattr(error, "problem_mark", None)
        fact = getattr(error, "problem", None) or getattr(error, "reason", None) or "cannot be read"
        raise PenmarkError(
            f"is not YAML: {fact}",
            place=f"{place}:{mark.line + 1 if mark is not None else 1}",
            remedy="Look at the indentation, colons and quotes of this line and the one before.",
        ) from None


def _are_words(stack: list[_Open]) -> bool:
    """Whether the keys of the innermost mapping are words that a screen displays."""
    return len(stack) > 1 and stack[-2].key == canonical_json.DISPLAYED


class _Composer:
    def __init__(self, place: str) -> None:
        self.place, self.faults = place, list[Fault]()

    def tree(self, events: Iterable[Any]) -> tuple[Node, list[Fault]]:
        """The root and the faults, from the parser's events. Raises PenmarkError, and what the parser raises."""
        stack = [_Open(1, [])]
        for event in events:
            line = event.start_mark.line + 1
            self._refuse(event, line)
            match event:
                case ev.ScalarEvent() | ev.AliasEvent():
                    self._put(stack[-1], _make_scalar_node(event, line), words=_are_words(stack))
                case ev.MappingStartEvent() | ev.SequenceStartEvent():
                    if len(stack) > MAX_DEPTH:
                        raise PenmarkError(
                            f"is nested deeper than {MAX_DEPTH} levels",
                            place=f"{self.place}:{line}",
                            remedy="Write it flatter.",
                        )
                    stack.append(_Open(line, {} if isinstance(event, ev.MappingStartEvent) else []))
                case ev.MappingEndEvent() | ev.SequenceEndEvent():
                    closed = stack.pop()
                    self._put(stack[-1], Node(closed.line, (0, 0), closed.value))
        top = stack[0].value
        assert isinstance(top, list)
        if len(top) != 1:
            raise PenmarkError(
                "is not one YAML document", place=f"{self.place}:1", remedy="Keep one; remove the lines `---`."
            )
        return top[0], self.faults

    def _refuse(self, event: Any, line: int) -> None:
        if isinstance(event, ev.DocumentStartEvent) and (event.version is not None or event.tags):
            self._fault(line, "has a YAML directive", "Remove the line that starts with %.")
        if getattr(event, "anchor", None) is not None:
            self._fault(line, f"has an anchor or alias ({event.anchor})", "Write the value out at each place.")
        if getattr(event, "tag", None) is not None:
            self._fault(line, f"has a tag ({event.tag})", "Write the value without its tag.")

    def _put(self, parent: _Open, node: Node, words: bool = False) -> None:
        held = parent.value
        if isinstance(held, list):
            held.append(node)
        elif parent.key is None:
            parent.key, parent.key_line = self._key(node, held, words), node.line
        else:
            # An empty value stands where the parser noticed it, often a line later: the line of the key is meant.
            held.setdefault(parent.key, node._replace(line=parent.key_line))
            parent.key = None

    def _key(self, node: Node, held: dict[str, Node], words: bool) -> str:
        """The key; where it is one of ``words`` that a screen displays, in whichever script."""
        key = node.value
        if not isinstance(key, str) or not (key.isascii() or (words and canonical_json.encodable(key))) or not key:
            self._fault(
                node.line, "has a key that is not a word in ASCII", "Write `key: value`, the key in ASCII letters."
            )
            return ""  # no record knows it; what it held is left out
        if key in held:
            self._fault(
                node.line, f"the key `{key}` stands twice (first in line {held[key].line})", "Keep one of them."
            )
        return key

    def _fault(self, line: int, fact: str, remedy: str) -> None:
        self.faults.append(Fault(f"{self.place}:{line}", fact, remedy))


def _make_scalar_node(event: Any, line: int) -> Node:
    span = (event.start_mark.index, event.end_mark.index)
    if isinstance(event, ev.AliasEvent) or (event.style is None and event.value in ("", "~", "null", "Null", "NULL")):
        return Node(line, span, None)
    return Node(line, span, str(event.value))


def find_inner_node(node: Node | None, part: str | int) -> Node | None:
    """What a mapping holds under a key, or a list at a position; None where there is nothing."""
    held = node.value if node is not None else None
    found: Node | None = None
    if isinstance(held, dict):
        found = held.get(str(part))
    elif isinstance(held, list) and isinstance(part, int) and part < len(held):
        found = held[part]
    return found


def find_node(root: Node, loc: Loc) -> Node | None:
    """The node at ``loc``, or None."""
    node: Node | None = root
    for part in loc:
        node = find_inner_node(node, part)
    return node
