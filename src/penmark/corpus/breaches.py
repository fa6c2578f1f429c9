"""What of a corpus breaks a rule that the study promised itself: counted per arm and rule, told as departures.

*Reads* the frozen manifest (before the freeze the records of the corpus), screening.csv and the time of the promise.
*Writes* nothing. *Never* judges, or counts what the promise does not ask for. From format 2 on; an edition of format 1
told none. What stops a freeze (kinds, grades, quotas, sessions, models, styles) is no departure: it cannot be frozen.
"""

from __future__ import annotations

import contextlib
import csv
import io
import re
from collections import defaultdict
from collections.abc import Iterable, Iterator
from typing import Any

import orjson
from pydantic import ValidationError

from penmark import study
from penmark.corpus import generation_departures, provenance
from penmark.errors import PenmarkError
from penmark.protocol import Departure
from penmark.records import Arm, Document, Protocol
from penmark.study import Edition, Study

RULES: dict[str, str] = {
    "after-cutoff": "The evidence does not show that these texts are as old as promised; every rate of the arm counts them.",
    "word-limit": "These texts are shorter or longer than promised; every rate of the arm counts them.",
    "not-edited": "No word differs from the draft, so these are texts of a model; every rate of the arm counts them.",
    "over-budget": "More words were changed than the editors were allowed; every rate of the arm counts these texts.",
    "sentences-changed": "Sentences were added or deleted, which the promise forbids; every rate of the arm counts these texts.",
    "sentences-unclear": "Whether a sentence was added or deleted is not known, and nobody decided that none was.",
    "made-before-promise": "These texts are older than the promise, by their own dates; they were to be made after it.",
    "duplicate-text": "The text of each of these is the text of another document too, and is counted twice.",
    "hidden-marks": "These texts hold characters that no reader sees and a detector can read; screening.csv says which.",
    **generation_departures.RULES,
}
"""Every rule that a document may break and still be frozen, and what that means. The names are those of screening."""

_NAMED = 5
_KEPT = re.compile(r"; decided by .*: kept \(", re.DOTALL)
_TOLD = ("hidden-marks", "sentences-changed", "sentences-unclear")
_BUDGET = {"not-edited", "over-budget", "sentences-changed", "sentences-unclear"}


def frozen(edition: Edition, promised: Protocol) -> list[Departure]:
    """Of a frozen corpus; none before the freeze. Lines that are no documents are left to those that hold the manifest."""
    if promised.format < 2 or not edition.manifest.exists():
        return []
    lines = (line for number, line in study.read_lines(edition.manifest) if number > 1)
    return _list_departures(edition, promised, lines)


def collected(place: Study, edition: Edition, promised: Protocol) -> list[Departure]:
    """Of what would be frozen now, as far as the last ``penmark screen`` told it."""
    if promised.format < 2:
        return []
    paths = (path for arm in promised.arms if (path := place.documents(arm.name)).exists())
    return _list_departures(edition, promised, (line for path in paths for _, line in study.read_lines(path)))


def _list_departures(edition: Edition, promised: Protocol, lines: Iterable[bytes]) -> list[Departure]:
    arms = {arm.name: arm for arm in promised.arms}
    broken: defaultdict[tuple[str, str], list[str]] = defaultdict(list)
    told, since = _read_screening_findings(edition), _promised_on(edition)
    forms: set[int] = set()
    models = generation_departures.Asked(promised)
    for line in lines:
        with contextlib.suppress(ValueError, KeyError, TypeError, AttributeError, ValidationError):
            value = orjson.loads(line)
            arm, name, own = arms[value["arm"]], str(value["id"]), value["canonical_sha256"]
            form = None if own is None else int(own[:16], 16)
            rules = [*_list_broken_rules(value, line, arm, told, since), *models.see(value)]
            rules += ["duplicate-text"] if form is not None and form in forms else []
            forms |= {form} if form is not None else set()
            for rule in dict.fromkeys(rules):
                broken[arm.name, rule].append(name)
    for name, rule, document in models.broken():
        broken[name, rule].append(document)
    return [
        Departure(rule, _describe_promise(rule, arm), _describe_count(broken[arm.name, rule], arm), meaning)
        for arm in promised.arms
        for rule, meaning in RULES.items()
        if (arm.name, rule) in broken
    ]


def _list_broken_rules(
    value: dict[str, Any], line: bytes, arm: Arm, told: dict[str, set[str]], since: str
) -> Iterator[str]:
    """The rules that a document breaks, of those that follow from itself; ``value``: its record, ``line``: as it stands."""
    own, name, words = value["provenance"], str(value["id"]), value["words"]
    before = arm.evidence.before
    if own["kind"] == "archive" and before is not None and own["evidence_date"] >= before:
        yield "after-cutoff"
    if arm.words is not None and words is not None and not arm.words.minimum <= words <= arm.words.maximum:
        yield "word-limit"
    if own["kind"] == "edited":
        lacks = {lack.rule for lack in provenance.list_shortfalls(Document.model_validate_json(line), arm)} & _BUDGET
        if name in told["sentences-changed"]:  # a person decided so
            lacks = lacks - {"sentences-unclear"} | {"sentences-changed"}
        elif name in told["kept"]:
            lacks -= {"sentences-unclear"}
        yield from sorted(lacks)
    made = own["draft"] if own["kind"] == "edited" else own
    if made["kind"] == "generated" and not arm.persists and (made.get("generated_on") or "9") < since:
        yield "made-before-promise"
    if arm.headline and name in told["hidden-marks"]:
        yield "hidden-marks"


def _read_screening_findings(edition: Edition) -> dict[str, set[str]]:
    """By rule, of those that are looked for here: the documents that screening.csv names. ``kept``: those of which a
    person decided that every sentence was kept."""
    found: dict[str, set[str]] = {rule: set() for rule in (*_TOLD, "kept")}
    with contextlib.suppress(PenmarkError, csv.Error, ValueError):
        text = study.read_bytes(edition.screening).decode("utf-8") if edition.screening.exists() else ""
        for row in csv.DictReader(io.StringIO(text, newline=""), strict=True):
            rule, name = row.get("rule") or "", study.unescape_cell(row.get("document") or "")
            if rule in _TOLD and name:
                kept = rule == "sentences-unclear" and _KEPT.search(row.get("message") or "")
                found["kept" if kept else rule].add(name)
    return found


def _promised_on(edition: Edition) -> str:
    """The day on which the promise was sealed; empty where that is not known."""
    with contextlib.suppress(PenmarkError, AttributeError):
        if edition.seal("promise").exists():
            return str(study.read_json(edition.seal("promise")).get("sealed_at", ""))[:10]
    return ""


def _describe_promise(rule: str, arm: Arm) -> str:
    """What an arm promises, in words."""
    budget, words = arm.budget, arm.words
    said = {
        "after-cutoff": f"evidence from before {arm.evidence.before}",
        "word-limit": "" if words is None else f"{words.minimum} to {words.maximum} words",
        "not-edited": "edited texts",
        "over-budget": "" if budget is None else f"{budget.words_percent} % of the words changed at most",
        "sentences-changed": "no sentence added or deleted",
        "sentences-unclear": "no sentence added or deleted",
        "made-before-promise": "made anew for the edition, after its promise",
        "duplicate-text": "each document a text of its own",
        "hidden-marks": "texts by which nothing but their words tells the arms apart",
    }
    said |= {
        "other-prompt": "the promised prompts, with topic and length in place",
        "other-settings": "the promised settings",
        "other-length": "the lengths of the documents whose topics are used",
        "other-topics": "topics of the documents that lend them, each in its share",
        "other-cells": "every model in every style, each in its share",
    }
    return f"arm {arm.name}: {said[rule]}"


def _describe_count(names: list[str], arm: Arm) -> str:
    """How many documents, and the first of them."""
    more = ", …" if len(names) > _NAMED else ""
    return f"arm {arm.name}: {len(names)} of {arm.documents} documents do not: {', '.join(names[:_NAMED])}{more}"
