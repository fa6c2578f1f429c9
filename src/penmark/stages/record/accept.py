"""What is asked of answers before they become final: that they can be dated, called, and laid to somebody who was asked.

*Reads* the sealed ground, and the journals of the edition where an answer may be older than its promise. *Writes*
nothing. *Never* lets one answer turn a prospective edition retrospective, or a slip of the finger become a reading,
unless whoever records says so.
"""

from __future__ import annotations

import json
import re
from collections.abc import Iterable, Iterator, Mapping, Sequence
from typing import Any, NamedTuple

from penmark import cards, journal, study, text, timestamps
from penmark.cards import Missed, judge
from penmark.corpus.sealed_edition import SealedEdition
from penmark.errors import ALIKE, Fault, FaultsError, UsageError, count_noun
from penmark.records import Card, Rule
from penmark.study import seal_files

_DAY = len("2026-11-30")
_NAMED = 5
"""So many rows are named by their place, of those that have one fault together."""
_SHOWN = 80
_ROW = 3
"""So many kept answers of which nothing can be made alike are no accident."""
MAX_FAULTS = 100
"""So many faults are told at once."""
_PRE_COMMITTED = re.compile(rb"pre-?committed", re.IGNORECASE)


class Made(NamedTuple):
    """A reading that could be written. ``place``: of its row. ``shown``: what the row calls its document, by id or number.
    ``line``: of the journal. ``date``: as the row has it."""

    place: str
    shown: str
    line: dict[str, Any]
    date: str | None


class Again(NamedTuple):
    """A row about a document that can have no further reading. ``shown``: as of ``Made``. ``why``: after its name."""

    place: str
    shown: str
    why: str


_CERTAIN = 5
"""So many answers that say the contrary of their numbers, and none that does not, are no chance."""
_FEW = 6
_VERDICTS = frozenset({"label", "class", "prediction", "predicted", "verdict", "result", "classification", "category"})
_CONFIDENCE = (
    "Is the number the confidence in the verdict that stands with it, or on a scale that runs the other way? A card says so "
    "(answer.score_of: label; scale.direction), and what is sealed stays: promise it in the next edition. If the number "
    "really decides alone: --as-displayed."
)


def check_asked_of_people(ground: SealedEdition, detector: str) -> None:
    """Raises UsageError where the sealed card says that a program asks this detector, and not people."""
    by = ground.cards[detector].card.ask.by
    if by != "people":
        how = "a plugin" if by == "plugin" else "HTTP requests"
        raise UsageError(
            f"the sealed card says that {detector} is asked by {how}, so its answers come from `penmark scan`",
            place=f"detectors/{detector}.json",
            remedy="Where these answers were made elsewhere, say so: --elsewhere. They are marked typed or recorded.",
        )


def check_timed(ground: SealedEdition, made: Sequence[Made]) -> Iterator[Fault]:
    """What would make a prospective edition retrospective: answers without a date, older ones, and those of the
    promise's own day without a time, which nobody can put before or after it."""
    sealed_at = seal_files.read_seal(ground.edition, "promise").sealed_at
    answers = [one for one in made if _is_answer(one.line)]
    same_day: list[Made] = []
    others: list[Made] = []
    for one in answers:
        (same_day if _is_day(one, sealed_at[:_DAY]) else others).append(one)
    if same_day:
        yield Fault(
            _format_places(same_day),
            f"{len(same_day)} answers say {sealed_at[:_DAY]}, the day of the promise ({sealed_at}), and no time: "
            "whether they came before or after it cannot be told",
            f"Write the time in UTC: {sealed_at[:_DAY]}T14:05:00Z. If nobody knows it: --retrospective.",
        )
    undated = [one for one in answers if one.line["got_at"] is None]
    older = [one for one in others if _is_before(one.line["got_at"], sealed_at)]
    if not (undated or older) or _is_retrospective(ground, sealed_at):
        return
    means = "the whole edition would be retrospective: its tables, its page and whoever verifies it would say that its rules"
    means += " were written after the answers existed, and no later answer takes that back"
    say = "If these answers are what the edition is about, say so: --retrospective."
    if undated:
        have = "has" if len(undated) == 1 else "have"
        fact = f"{count_noun(len(undated), 'answer')} {have} no date; {means}"
        yield Fault(_format_places(undated), fact, f"Give each its date and time. {say}")
    if older:
        are = "is" if len(older) == 1 else "are"
        fact = f"{count_noun(len(older), 'answer')} {are} older than the promise of {sealed_at}; {means}"
        yield Fault(_format_places(older), fact, f"Look at the dates. {say}")


def choose_card_and_rule(ground: SealedEdition, detector: str) -> tuple[Card, Rule]:
    """The sealed card of a detector, and the rule in force."""
    card = ground.cards[detector].card
    return card, cards.choose_rule(ground.protocol.detector(detector), card)


def list_uncallable(ground: SealedEdition, detector: str, lines: Sequence[dict[str, Any]]) -> tuple[Missed, ...]:
    """The answers among these lines of the journal of which the card makes nothing, by kind."""
    found = cards.Misses(*choose_card_and_rule(ground, detector))
    for line in lines:
        if line["state"] == "answered":
            found.add(line["document"], line["score"], line["label"])
    return tuple(found.found())


def list_late_lines(ground: SealedEdition, lines: Iterable[dict[str, Any]]) -> Iterator[dict[str, Any]]:
    """The lines whose answers make an edition retrospective: they are older than its promise, or have no date."""
    sealed_at = seal_files.read_seal(ground.edition, "promise").sealed_at
    yield from (
        line for line in lines if _is_answer(line) and (line["got_at"] is None or _is_before(line["got_at"], sealed_at))
    )


def check_pre_committed(ground: SealedEdition, made: Sequence[Made]) -> Iterator[Fault]:
    """Where the answers make the edition retrospective: what in it says the word that no page of such an edition has."""
    if not any(list_late_lines(ground, [one.line for one in made])):
        return
    edition = ground.edition
    told = [edition.protocol_json, *(edition.sealed_card(name) for name in sorted(ground.cards)), edition.screening]
    told += sorted(edition.amendments.glob("*.json")) if edition.amendments.is_dir() else []
    for path in (*told, edition.deviations):
        if path.is_file() and (word := _PRE_COMMITTED.search(study.read_bytes(path))) is not None:
            fact = f"says {word[0].decode()}; with these answers the rules would be written after the answers existed, and "
            fact += "an edition that says this word could then have no page"
            remedy = "What is sealed stays: begin another edition without that word (`penmark init --edition TAG`). "
            yield Fault(str(path), fact, f"{remedy}Nothing was recorded.")


def raise_faults(faults: Sequence[Fault]) -> None:
    """Raises FaultsError where there are any, with no more than a reader bears."""
    if faults:
        more = [Fault(None, f"{len(faults) - MAX_FAULTS} more faults")] if len(faults) > MAX_FAULTS else []
        raise FaultsError([*faults[:MAX_FAULTS], *more])


def check_called(card: Card, rule: Rule, made: Sequence[Made]) -> Iterator[Fault]:
    """Every typed display that comes to no call under the rule in force, with the reason; many of one reason together."""
    found: list[tuple[Made, str]] = []
    for one in made:
        line = one.line
        if line["origin"] == "typed" and line["state"] == "answered":
            missed = cards.find_miss(card, rule, line["score"], line["label"])
            found += [(one, missed[0])] if missed is not None and missed[0] not in (cards.BESIDE, cards.AGAINST) else []
    kinds: dict[tuple[str, str], list[Made]] = {}
    for one, kind in found:
        kinds.setdefault((kind, _describe_comma(card, one)), []).append(one)
    for one, kind in found:
        comma = _describe_comma(card, one)
        several = kinds[kind, comma]
        if len(several) < ALIKE:
            fact = (
                f"{one.shown} shows {_quote_display(one)}, which comes to no call: it {cards.describe_miss(card, kind)}"
            )
            yield Fault(one.place, fact, f"Look at the screen again and correct the row. {comma}{_AS_DISPLAYED}")
        elif one is several[0]:
            named = _format_names([f"{each.shown} shows {_quote_display(each)}" for each in several])
            amiss = cards.describe_miss(card, kind, len(several))
            fact = f"{len(several)} displays come to no call, for they {amiss}: {named}"
            remedy = f"Look at the screens again and correct the rows. {comma}{_AS_DISPLAYED}"
            yield Fault(_format_places(several), fact, remedy)


def empty(card: Card, rule: Rule, made: Sequence[Made]) -> Iterator[Fault]:
    """Kept raw answers of which the card makes nothing, several alike: another form, an outage, another vendor's file."""
    kinds: dict[str, list[Made]] = {}
    for one in made:
        line = one.line
        if line["origin"] != "recorded":
            continue
        if line["state"] == "answered":
            missed = cards.find_miss(card, rule, line["score"], line["label"])
            if missed is not None and missed[0] not in (cards.BESIDE, cards.AGAINST):
                kinds.setdefault(f"it {cards.describe_miss(card, missed[0])}", []).append(one)
        elif line["reason"] == judge.NO_ANSWER or str(line["reason"]).startswith(judge.UNREAD):
            kinds.setdefault(str(line["reason"]), []).append(one)
    for why, several in kinds.items():
        if len(several) < _ROW:
            continue  # one or two are told, as in a scan
        named = _format_names([each.shown for each in several])
        fact = f"of {count_noun(len(several), 'kept answer')} the card makes nothing ({why}): about {named}"
        yield Fault(
            _format_places(several),
            fact,
            f"See whether this is the right file, in the form that the card reads. {_AS_KEPT}",
        )


def contrary(card: Card, rule: Rule, made: Sequence[Made], bodies: Sequence[bytes | None]) -> Iterator[Fault]:
    """Numbers that are surely not what the card says: all verdicts of a kind say the contrary of their numbers, or all texts
    of people come out as AI while a field that the card does not read tells them apart."""
    if rule.kind != "boundary":
        return
    known = cards.fold_classes(card)
    held: dict[tuple[str, bool], list[Made]] = {}
    for one in made:
        label, number = one.line["label"], one.line["score"]
        meant = None if label is None or number is None else known.get(cards.fold_verdict(label))
        if one.line["state"] == "answered" and meant in ("ai", "human"):
            held.setdefault((meant, cards.find_miss(card, rule, number, label) is not None), []).append(one)
    for kind, who in (("human", "human"), ("ai", "AI")):
        against = held.get((kind, True), [])
        if len(against) >= _CERTAIN and (kind, False) not in held:
            fact = f"each of the {len(against)} verdicts that mean {who} stands beside a number that says the contrary"
            yield Fault(_format_places(against), fact, _CONFIDENCE)
            return
    words = _find_unread_verdict(card, bodies)
    calls = {
        cards.call_answer(card, rule, one.line["score"], one.line["label"]).strict
        for one in made
        if _is_answer(one.line)
    }
    if words is not None and len(made) >= _CERTAIN and calls == {"ai"}:
        name, *shown = words
        fact = f"all {len(made)} numbers come out as AI, and the field {name!r} tells the answers apart ("
        fact += f"{', '.join(map(repr, shown))}), which the card does not read"
        yield Fault(_format_places(made), fact, _CONFIDENCE)


def _find_unread_verdict(card: Card, bodies: Sequence[bytes | None]) -> tuple[str, ...] | None:
    """The name of a field that holds one of a few words in each answer, and the words, where the card reads no verdict."""
    at = card.answer
    if at.score is None or at.label is not None or any(body is None for body in bodies):
        return None
    rows = [json.loads(body, parse_float=str, parse_int=str, parse_constant=str) for body in bodies if body is not None]
    above = at.score.rpartition("/")[0]
    for key, index in cards.parse_pointer(above):  # beside the number
        rows = [
            row.get(key) if isinstance(row, dict) else row[index or 0] if isinstance(row, list) and row else None
            for row in rows
        ]
    if not all(isinstance(row, dict) for row in rows):
        return None
    for name in rows[0] if rows else ():
        words = {row.get(name) if isinstance(row.get(name), str) else None for row in rows}
        taken = f"{above}/{name}" in (at.score, at.displayed, at.version, at.text)
        plain = [word for word in words if word is not None and cards.NUMBER.fullmatch(word) is None]
        if not taken and name.lower() in _VERDICTS and 2 <= len(words) == len(plain) <= _FEW:
            return name, *sorted(plain)
    return None


def check_recorded(again: Sequence[Again], rows: int) -> Iterator[Fault]:
    """Rows about documents that can have no further reading, many of one reason together. ``rows``: all of the file."""
    kinds: dict[str, list[Again]] = {}
    for one in again:
        kinds.setdefault(one.why, []).append(one)
    for why, several in kinds.items():
        if len(several) == rows > 1:
            file = several[0].place.rpartition(":")[0]
            yield Fault(file, f"each of the {rows} documents in it {why}", "Nothing in it is left to record.")
        elif len(several) < ALIKE:
            for one in several:
                yield Fault(one.place, f"{one.shown} {why}", "A pair has one final reading; leave the row out.")
        else:
            fact = f"each of these {len(several)} documents {why}: {_format_names([one.shown for one in several])}"
            yield Fault(_format_places(several), fact, "A pair has one final reading; leave the rows out.")


_COMMA = (
    "Does a comma stand there where the screen shows a point? A comma is never read as one, nor left out: type what is "
    "displayed; where that is a comma, only a card that knows such displays can call them. "
)
_AS_KEPT = "Nothing was recorded. If the detector did answer so, and it shall count as no result: --as-displayed."
_AS_DISPLAYED = "If it really showed this: --as-displayed."


def _describe_comma(card: Card, one: Made) -> str:
    """What is likely wrong with a display that would be a number but for a comma; nothing for any other."""
    shown = str(one.line["displayed"])
    as_point = cards.extract_from_display(card, shown.replace(",", ".")).score
    return "" if "," not in shown or as_point is None else _COMMA


def _quote_display(one: Made) -> str:
    shown = text.fold_white_space(one.line["displayed"])
    return repr(shown if len(shown) <= _SHOWN else f"{shown[: _SHOWN - 1]}…")


def _is_answer(line: Mapping[str, Any]) -> bool:
    return judge.is_answer(line["state"], line["displayed"], line["reason"])


def _is_day(one: Made, day: str) -> bool:
    """Whether the row says this day and no time. What has no time is no longer than a day in any of its forms."""
    return one.date is not None and len(one.date) <= _DAY and str(one.line["got_at"])[:_DAY] == day


def _is_before(at: str | None, sealed_at: str) -> bool:
    return at is not None and timestamps.parse_rfc3339(at) < timestamps.parse_rfc3339(sealed_at)


def _is_retrospective(ground: SealedEdition, sealed_at: str) -> bool:
    """Whether the edition is so already: then nothing is left to lose."""
    paths = [path for path in ground.edition.journal_files() if path.stat().st_size > 0]
    for held in journal.read_journals(paths, ground.corpus_sha256):
        lines = held.readings.select("state", "displayed", "reason", "got_at").iter_rows(named=True)
        if any(
            _is_answer(line) and (line["got_at"] is None or _is_before(line["got_at"], sealed_at)) for line in lines
        ):
            return True
    return False


def _format_names(names: Sequence[str]) -> str:
    shown = ", ".join(names[:_NAMED])
    return shown if len(names) <= _NAMED else f"{shown} and {len(names) - _NAMED} more"


def _format_places(made: Sequence[Made | Again]) -> str:
    first, *others = [one.place for one in made[:_NAMED]]
    named = ", ".join([first, *(place.rpartition(":")[2] for place in others)])
    return named if len(made) <= _NAMED else f"{named} and {len(made) - _NAMED} more rows"
