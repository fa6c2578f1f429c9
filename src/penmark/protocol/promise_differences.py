"""What one promise says otherwise than the one before it, field by field, and what of that an amendment must announce.

*Reads* and *writes* nothing. *Never* takes a difference for harmless because it does not know the field: what is not listed
here needs an amendment. A place is a pointer into the promise; items of lists go by their names, not by their positions:
``/arms/B/documents``, ``/detectors/zippy``, ``/cards/hashdet/boundary/value``.
"""

from __future__ import annotations

import json
from collections.abc import Iterable, Iterator, Mapping
from typing import Any, NamedTuple

from penmark.records import Amendment, Change, Protocol, SealedCard

OF_EACH: tuple[tuple[str, ...], ...] = (("edition",), ("format",), ("seed_sha256",), ("window",), ("beacon",))
"""What is each edition's own: another tag, another secret, other dates. No difference at all."""
RULES: tuple[tuple[str, ...], ...] = (("arms", "*", "generation", "models", "*", "settings"),)
"""What needs an amendment although it stands below a place of ``TOLD``."""
TOLD: tuple[tuple[str, ...], ...] = (
    # Who runs and pays it, which clocks are asked, who asked for what: disclosed each time, and no result follows from it.
    *(("title",), ("people",), ("payer",), ("signing_key",), ("authorities",), ("nominations",)),
    ("template", "sha256"),  # a release's; what departs from the template is computed for each edition
    ("arms", "*", "title"),
    ("arms", "*", "source", "options", "path"),  # where files lie on a disk
    # Texts are made anew with the models of the day, and read by the versions of the day: the protocol says so itself.
    ("arms", "*", "generation", "models", "*"),
    *(("detectors", "*", fact) for fact in ("version", "payer", "relation")),
    *(("detectors", "*", "rule", fact) for fact in ("source", "date", "confidence")),
    *(("cards", "*", "plugin", fact) for fact in ("version", "distribution", "sha256")),
    # Facts of a vendor that bear on no call: what it costs, how quickly it may be asked, what its pages are called.
    *(("cards", "*", fact) for fact in ("title", "homepage", "display", "terms", "facts_as_of", "confidence", "notes")),
    *(("cards", "*", "boundary", fact) for fact in ("source", "date", "confidence")),
    *(("cards", "*", "ask", "request", fact) for fact in ("price", "pace", "timeout", "keys")),
)
"""What is told in CHANGES.md, and needs no amendment."""
_NAMES: Mapping[str, tuple[str, ...]] = {
    "arms": ("name",),
    "detectors": ("name",),
    "people": ("name",),
    "authorities": ("name",),
    "styles": ("name",),
    "models": ("provider", "model"),
    "comparisons": ("first", "second"),
    "nominations": ("detector", "by"),
    "quotas": ("where",),
}
"""By which fields the items of a list are called."""


class Difference(NamedTuple):
    """One place, what the earlier promise says there, and what this one says.

    Values are JSON with sorted keys and no spaces; None where nothing is said.
    """

    at: str
    was: str | None
    now: str | None

    @property
    def needs_amendment(self) -> bool:
        """Whether it is a change of rules: what decides which texts are asked about, of whom, how, and what answers mean."""
        parts = _split_pointer(self.at)
        return any(_is_below(parts, each) for each in RULES) or not any(_is_below(parts, each) for each in TOLD)


def keyed(promised: Protocol, cards: Mapping[str, SealedCard]) -> dict[str, Any]:
    """A promise as objects within objects: its protocol, and the card of each detector under ``cards``."""
    held = {name: sealed.model_dump(mode="json", by_alias=True) for name, sealed in cards.items()}
    return {
        **_key_lists(promised.model_dump(mode="json", by_alias=True)),
        "cards": {name: {**value["card"], "plugin": value["plugin"]} for name, value in held.items()},
    }


def between(was: dict[str, Any], now: dict[str, Any]) -> list[Difference]:
    """All differences of two promises as ``keyed`` gives them, by place; but for what is each edition's own.

    A detector that comes or goes is one difference, with its card.
    """
    both = was["detectors"].keys() & now["detectors"].keys()
    held, said = ({**each, "cards": {k: v for k, v in each["cards"].items() if k in both}} for each in (was, now))
    return sorted(
        each
        for each in _find_differences(held, said, ())
        if not any(_is_below(_split_pointer(each.at), own) for own in OF_EACH)
    )


def value_at(promise: dict[str, Any], at: str) -> str | None:
    """What a promise, as ``keyed`` gives it, says at a place, as JSON; None where it says nothing."""
    value: Any = promise
    for part in _split_pointer(at):
        value = value.get(part) if isinstance(value, dict) else None
    return _format_value(value)


class Judged(NamedTuple):
    """What amendments leave open between two promises: rules that changed with none of them; and what they announce and
    the later promise does not say, or the earlier one did not (number of the amendment, place, said there, announced)."""

    uncovered: list[Difference]
    unkept: list[tuple[int, str, str | None, str | None]]
    misquoted: list[tuple[int, str, str | None, str | None]]


def judge(was: dict[str, Any], now: dict[str, Any], amendments: Iterable[Amendment]) -> Judged:
    """Hold two promises, as ``keyed`` gives them, against the amendments that are announced between them (``announcing``)."""
    held = announcing(amendments, was["edition"], now["edition"])
    open_ones = [each for each in between(was, now) if each.needs_amendment and covering(each.at, held) is None]
    last: dict[str, tuple[int, Change]] = {}
    misquoted = []
    for each in held:
        for change in each.covers:
            said = last[change.at][1].becomes if change.at in last else value_at(was, change.at)
            if said != change.was:
                misquoted.append((each.number, change.at, said, change.was))
            last[change.at] = each.number, change
    unkept = [
        (number, at, said, change.becomes)
        for at, (number, change) in sorted(last.items())
        # What a later amendment says of a place that holds this one, or of one within it, counts.
        if not any(later > number and _is_nested(at, place) for place, (later, _) in last.items())
        and (said := value_at(now, at)) != change.becomes
    ]
    return Judged(open_ones, unkept, misquoted)


def announcing(amendments: Iterable[Amendment], was: str, now: str) -> list[Amendment]:
    """Of these amendments those that bind the edition ``now`` and did not bind the edition ``was`` yet.

    What an earlier edition followed is spent: going back on it is another change.
    """
    return [each for each in amendments if _parse_quarter(was) < _parse_quarter(each.binds_from) <= _parse_quarter(now)]


def covering(at: str, amendments: Iterable[Amendment]) -> int | None:
    """The number of the newest amendment that announces a change of this place, or of one that holds it."""
    held = [
        each.number
        for each in amendments
        if any(_is_below(_split_pointer(at), _split_pointer(change.at)) for change in each.covers)
    ]
    return max(held, default=None)


def _is_nested(one: str, other: str) -> bool:
    """True for two places of which one lies within the other."""
    return one != other and (
        _is_below(_split_pointer(one), _split_pointer(other)) or _is_below(_split_pointer(other), _split_pointer(one))
    )


def _find_differences(was: Any, now: Any, parts: tuple[str, ...]) -> Iterator[Difference]:
    if isinstance(was, dict) and isinstance(now, dict):
        for name in was.keys() | now.keys():
            yield from _find_differences(was.get(name), now.get(name), (*parts, name))
    elif was != now:
        yield Difference(_format_pointer(parts), _format_value(was), _format_value(now))


def _key_lists(value: Any) -> Any:
    if not isinstance(value, dict):
        return value
    return {
        key: _key_items(held, _NAMES[key]) if key in _NAMES and isinstance(held, list) else _key_lists(held)
        for key, held in value.items()
    }


def _key_items(values: list[Any], fields: tuple[str, ...]) -> dict[str, Any]:
    found: dict[str, Any] = {}
    for value in values:
        name = first = ":".join(_format_field(value[field]) for field in fields)
        number = 1
        while name in found:
            name = f"{first}#{(number := number + 1)}"
        found[name] = _key_lists(value)
    return found


def _format_field(value: Any) -> str:
    return ",".join(f"{k}={value[k]}" for k in sorted(value)) if isinstance(value, dict) else str(value)


def _is_below(parts: tuple[str, ...], place: tuple[str, ...]) -> bool:
    """True for a place itself and all within it; ``*`` stands for any name."""
    return len(parts) >= len(place) and all(b in ("*", a) for a, b in zip(parts, place, strict=False))


def _split_pointer(at: str) -> tuple[str, ...]:
    return tuple(part.replace("~1", "/").replace("~0", "~") for part in at.split("/")[1:])


def _format_pointer(parts: tuple[str, ...]) -> str:
    return "".join("/" + part.replace("~", "~0").replace("/", "~1") for part in parts)


def _format_value(value: Any) -> str | None:
    return None if value is None else json.dumps(value, ensure_ascii=False, sort_keys=True, separators=(",", ":"))


def _parse_quarter(tag: str) -> tuple[int, int]:
    year, number = tag.rsplit("-", 2)[1:]
    return int(year), int(number.removeprefix("Q"))
