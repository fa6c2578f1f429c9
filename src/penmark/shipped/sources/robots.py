"""What an archive asks of programs: robots.txt, read as RFC 9309 says, with the Crawl-delay that many add to it.

*Reads* and *writes* nothing.
"""

from __future__ import annotations

import re
from typing import NamedTuple
from urllib.parse import quote, unquote

MAX_ROBOTS = 500 * 1024
"""Bytes of a robots.txt that are read; RFC 9309 asks for no more."""
_SAFE = "/*$%?&=:@!+,;~()'"


class RobotsRule(NamedTuple):
    """A path pattern and whether it may be fetched; ``line``: where it stands."""

    pattern: str
    allowed: bool
    line: int


class Robots(NamedTuple):
    """The rules of the group that speaks to us. ``delay``: seconds between requests that it asks for, 0 where none."""

    rules: tuple[RobotsRule, ...]
    delay: float

    def forbids(self, path: str) -> RobotsRule | None:
        """The rule that forbids a path (with its query), or None. The longest pattern decides; of equal ones, Allow."""
        path = _format_normal(path)
        fitting = [rule for rule in self.rules if _is_matches(rule.pattern, path)]
        best = max(fitting, key=lambda rule: (len(rule.pattern), rule.allowed), default=None)
        return best if best is not None and not best.allowed else None


def parse_robots(data: bytes, agent: str) -> Robots:
    """The rules for the program that calls itself ``agent`` (lower case): its own group, else that of ``*``."""
    groups: dict[str, list[RobotsRule]] = {}
    delays: dict[str, float] = {}
    speaking: list[str] = []
    beginning = False
    for number, line in enumerate(data[:MAX_ROBOTS].decode("utf-8", "replace").splitlines(), 1):
        name, colon, value = line.partition("#")[0].partition(":")
        name, value = name.strip().lower(), value.strip()
        if colon == "":
            continue
        if name == "user-agent":
            speaking = [*speaking, value.lower()] if beginning else [value.lower()]
            beginning = True
            for each in speaking:
                groups.setdefault(each, [])
        elif name in ("allow", "disallow"):
            beginning = False
            if value != "":
                for each in speaking:
                    groups[each].append(RobotsRule(_format_normal(value), name == "allow", number))
        elif name == "crawl-delay" and re.fullmatch(r"[0-9]{1,4}(\.[0-9]{1,3})?", value):
            beginning = False
            delays |= dict.fromkeys(speaking, float(value))
    ours = agent if agent in groups else "*"
    return Robots(tuple(groups.get(ours, ())), delays.get(ours, 0.0))


def _format_normal(path: str) -> str:
    """One spelling of a path: percent-encoded where it must be, and nowhere else."""
    return quote(unquote(path), safe=_SAFE)


def _is_matches(pattern: str, path: str) -> bool:
    ended = pattern.endswith("$")
    parts = [re.escape(part) for part in pattern.removesuffix("$").split("*")]
    return re.match(".*".join(parts) + ("$" if ended else ""), path) is not None
