"""Patterns of paths, as options name files: ``docs/*.md``; ``**`` stands for any folders, ``;`` stands between patterns.

*Reads* and *writes* nothing.
"""

from __future__ import annotations

import re


class Patterns:
    """One or more patterns, of which one must fit."""

    def __init__(self, text: str) -> None:
        self._text = text
        self._known = [re.compile(_format_expression(part.strip())) for part in text.split(";") if part.strip() != ""]

    def __str__(self) -> str:
        return self._text

    def fit(self, path: str) -> bool:
        """True where a pattern fits the whole path (with ``/`` between its parts)."""
        return any(known.fullmatch(path) is not None for known in self._known)


def _format_expression(pattern: str) -> str:
    made = re.escape(pattern).replace(r"\*\*/", "(?:.*/)?").replace(r"\*\*", ".*")
    return made.replace(r"\*", "[^/]*").replace(r"\?", "[^/]")
