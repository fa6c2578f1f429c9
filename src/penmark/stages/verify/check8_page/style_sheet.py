"""Check 8, sheets: a style sheet of no known release may set a few plain things, and nothing that hides, moves or adds.

*Reads* the text of a style sheet. *Never* says how a page looks: only that nothing in it could keep a word from its reader.
"""

from __future__ import annotations

import re

LONGEST = 2**16
"""No style sheet is longer (characters)."""
_SELECTOR = re.compile(r"[a-z0-9 .,>:()*#-]{1,200}")
_LENGTH = r"(0|(0?\.[0-9]{1,3}|1(\.[0-9]{1,3})?)r?em|[0-9]px|1[0-6]px)"
_COLOURS = r"(canvastext|linktext|currentcolor|inherit)"
ALLOWED = {
    "font-family": re.compile(r"(serif|sans-serif|system-ui)"),
    "font-style": re.compile(r"(normal|italic)"),
    "font-weight": re.compile(r"([4-7]00|normal|bold)"),
    "font-size": re.compile(r"(1|1\.[0-9]{1,3})rem"),
    "line-height": re.compile(r"1\.[2-9][0-9]?"),
    "color": re.compile(_COLOURS),
    "text-decoration": re.compile(r"(none|underline)"),
    "text-align": re.compile(r"(left|right)"),
    "vertical-align": re.compile(r"(top|baseline)"),
    "border-collapse": re.compile(r"collapse"),
    **dict.fromkeys(
        ("border", "border-top", "border-bottom", "border-left"), re.compile(rf"(none|[123]px solid {_COLOURS})")
    ),
    **dict.fromkeys(
        ("padding", "margin", *(f"{box}-{side}" for box in ("padding", "margin") for side in ("left", "right"))),
        re.compile(rf"{_LENGTH}( {_LENGTH}){{0,3}}"),
    ),
    "max-width": re.compile(r"([4-9][0-9]|100)rem"),
}
"""What a foreign style sheet may declare: property and values. None hides, moves, reorders or adds what is read."""


def find_style_trick(sheet: str) -> tuple[int, str] | None:
    """Where the first thing is that is not on the list (characters from the start), and what; None where there is none."""
    at = 0
    *rules, rest = sheet.split("}")
    for rule in rules:
        selector, brace, body = rule.partition("{")
        start = at + len(selector) - len(selector.lstrip())
        if brace == "" or not _SELECTOR.fullmatch(" ".join(selector.split())):
            return start, " ".join(selector.split()) or "a rule without a selector"
        for declaration in body.split(";"):
            name, _, value = (part.strip().lower() for part in declaration.partition(":"))
            known = ALLOWED.get(name)
            if declaration.strip() and (known is None or not known.fullmatch(" ".join(value.split()))):
                return start, " ".join(declaration.split())
        at += len(rule) + 1
    return (at, " ".join(rest.split())) if rest.strip() else None
