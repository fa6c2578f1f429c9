"""Provenance: how it is known who or what wrote a text, and when.

``parse_row`` makes the record of a flat row of strings; ``list_shortfalls`` says what an arm asks for and a record does not
give. Both report everything in one pass.
*Reads* the salts of attested texts. *Writes* nothing. *Never* fills in what a row does not say.
"""

from __future__ import annotations

import json
import re
from collections.abc import Iterator, Mapping
from datetime import date
from decimal import Decimal
from typing import Any, NamedTuple

from pydantic import TypeAdapter, ValidationError

from penmark import study
from penmark.errors import Fault, FaultsError, PenmarkError, suggest_name
from penmark.records import (
    Acceptance,
    Archive,
    Arm,
    Attested,
    Consent,
    Document,
    Edited,
    Generated,
    Generation,
    Provenance,
    Record,
    Rejected,
    Sentences,
    Session,
    Transformed,
    patterns,
)
from penmark.study import Study

WITHDRAWN = "its author withdrew the text"
"""Why a text that is gone is not scannable."""


SENTENCES = "sentences-unclear"
"""The one shortfall about which a person decides."""


class Shortfall(NamedTuple):
    """What an arm asks of a document's provenance and does not get: the screening rule, the fact, the remedy."""

    rule: str
    message: str
    remedy: str


_ADAPTER: TypeAdapter[Provenance] = TypeAdapter(Provenance)
_REJECTED: TypeAdapter[tuple[Rejected, ...]] = TypeAdapter(tuple[Rejected, ...])
_INTEGERS = {
    *(
        "operations",
        "active_minutes",
        "pauses",
        "pastes",
        "largest_insert_percent",
        "word_target",
        "words_changed",
        "draft_words",
    ),
    *("attempt", "tokens_read", "tokens_written"),
}
_TRUTHS = {"adult", "publish"}
_LISTS = {"vendors", "not_honoured"}
_DATES = {"evidence_date", "written_on", "generated_on"}
_SETTING, _LOCATOR = "settings.", "locator."
_SALT = re.compile(r"[0-9a-f]{64}")


def _list_fields(record: type[Record], *without: str) -> frozenset[str]:
    return frozenset(record.model_fields) - {"kind", *without}


_CONSENT, _SESSION, _DRAFT = _list_fields(Consent), _list_fields(Session), _list_fields(Generated, "grade")
_NAMES: dict[str, frozenset[str]] = {
    "archive": _list_fields(Archive, "locator"),
    "attested": _list_fields(Attested, "consent", "session") | _CONSENT | _SESSION,
    "generated": _list_fields(Generated),
    "edited": _list_fields(Edited, "draft", "sentences") | _DRAFT | {"draft_grade"},
    "transformed": _list_fields(Transformed),
}
NAMES = frozenset().union(*_NAMES.values()) | {"kind"}
"""Every name that a row may have for some kind; besides them ``settings.<name>`` and ``locator.<name>``."""


def list_provenance_names(kind: str) -> frozenset[str]:
    """The names that a row of that kind may have, flat: ``publish`` is the consent's, ``operations`` the session's, and
    for edited texts ``provider``, ``model``, … are the draft's. Empty for an unknown kind."""
    return _NAMES.get(kind, frozenset())


def is_provenance_name(name: str) -> bool:
    """True where a row of some kind may have ``name``."""
    return name in NAMES or name.startswith((_SETTING, _LOCATOR))


def parse_row(row: Mapping[str, str], place: str) -> Provenance:
    """The record of a flat row of strings. Empty cells are absent; names of other kinds and unknown names are left out.

    Whole numbers, ``true``/``false`` (or yes/no) and lists joined with ``;`` are read as such; ``settings`` is a JSON
    object of strings, or ``settings.<name>`` one setting each; ``locator.<name>`` is as written. Raises FaultsError with
    every fault, at ``place``.
    """
    given = {name: value for name, value in row.items() if value != ""}
    kind = given.get("kind")
    if kind not in _NAMES:
        missing = kind is None
        fact = (
            "no kind of provenance"
            if missing
            else f"no such kind of provenance: {kind}{suggest_name(kind or '', _NAMES)}"
        )
        raise FaultsError([Fault(place, fact, f"`kind` is one of {', '.join(_NAMES)}. {_GIVE.format('kind')}")])
    reader = _Reader(given, kind, place)
    value = _nest_row(reader)
    if reader.faults:
        raise FaultsError(reader.faults)
    try:
        return _ADAPTER.validate_python(value, strict=True)
    except ValidationError as error:
        raise FaultsError(_make_faults(place, kind, error.errors(include_url=False))) from None


def read_withdrawn(place: Study) -> dict[str, dict[str, Any]]:
    """The tombstones of texts that their authors took back, by document; empty where there are none.

    Raises PenmarkError for a line of ``private/withdrawn.jsonl`` that is none.
    """
    found: dict[str, dict[str, Any]] = {}
    for number, value in study.read_json_lines(place.withdrawn) if place.withdrawn.exists() else ():
        if set(value) != {"address", "arm", "at", "document", "editions"}:
            where = f"{place.withdrawn}:{number}"
            raise PenmarkError("is no tombstone", place=where, remedy="Restore the file from a copy.")
        found[value["document"]] = value
    return found


def read_salts(place: Study) -> dict[str, bytes]:
    """The salts under which attested texts are known, by document; empty where there are none.

    Raises PenmarkError for a line of ``private/salts.jsonl`` that is none.
    """
    found: dict[str, bytes] = {}
    for number, value in study.read_json_lines(place.salts) if place.salts.exists() else ():
        salt = value.get("salt")
        if set(value) != {"document", "salt"} or not isinstance(salt, str) or not _SALT.fullmatch(salt):
            where = f"{place.salts}:{number}"
            raise PenmarkError("is not {document, salt}", place=where, remedy="Restore the file from a copy.")
        found[value["document"]] = bytes.fromhex(salt)
    return found


def list_shortfalls(document: Document, arm: Arm) -> list[Shortfall]:
    """What the arm's promise asks of this document's provenance and does not get; empty where it suffices."""
    found: list[Shortfall] = []
    own, asked = document.provenance, arm.evidence
    if own.kind not in asked.kinds:
        fact = f"provenance of kind {own.kind}; the arm takes {_join_with_or(asked.kinds)}"
        remedy = "Collect a text whose provenance is of that kind, or put this one into an arm that takes it."
        found.append(Shortfall("missing-provenance", fact, remedy))
    elif own.grade not in asked.grades and not _is_named_data_set(own, asked.stated):
        fact = f"evidence of grade {own.grade}; the arm takes {_join_with_or(asked.grades)}"
        found.append(Shortfall("missing-provenance", fact, "Find better evidence, or replace the text."))
    if own.kind not in _TRUE_KINDS[arm.truth]:
        found.append(
            Shortfall(
                "missing-provenance",
                f"the arm's truth is {arm.truth}, the provenance says {own.kind}",
                "One of the two is wrong: correct the provenance, or move the text to another arm.",
            )
        )
    if own.kind == "archive" and asked.before is not None and own.evidence_date >= asked.before:
        found.append(
            Shortfall(
                "after-cutoff",
                f"the evidence is of {own.evidence_date}, not before {asked.before}",
                "Find a copy or a revision of this text that is older, or replace it.",
            )
        )
    if own.kind == "attested" and asked.since is not None and own.written_on < asked.since:
        fact = f"written on {own.written_on}; the arm takes what was written on {asked.since} or later"
        found.append(Shortfall("missing-provenance", fact, "Replace it by a text that is fresh."))
    made = own.draft if own.kind == "edited" else own
    if made.kind == "generated" and arm.generation is not None:
        found.extend(_check_writer(made, arm.generation))
    if own.kind == "edited":
        found.extend(_check_edit_budget(own, arm))
    if own.kind == "attested" and arm.sessions is not None:
        found.extend(_check_session(own, arm.sessions))
    return found


# What may stand in an arm of each truth. A human text that a machine rewrote is mixed; a humanized AI text is either.
_TRUE_KINDS = {
    "human": ("archive", "attested"),
    "ai": ("generated", "transformed"),
    "mixed": ("edited", "transformed", "archive"),
}
_GIVE = "Add a column `{0}`, or give it for all rows: --option {0}=…"


def _is_named_data_set(own: Provenance, files: tuple[str, ...]) -> bool:
    """True for what a data set says that the protocol names by the digest of its file."""
    return own.kind == "archive" and own.grade == "stated" and own.evidence_sha256 in files


def _check_writer(made: Generated, promised: Generation) -> Iterator[Shortfall]:
    """A model of the arm wrote it, in one of the styles of the arm."""
    remedy = "Replace the text by one that was written as promised."
    if (made.provider, made.model) not in {(model.provider, model.model) for model in promised.models}:
        fact = f"written by {made.model} of {made.provider}, which the arm does not name"
        yield Shortfall("missing-provenance", fact, remedy)
    if promised.styles and made.style not in {style.name for style in promised.styles}:
        fact = f"written in the style {made.style}" if made.style is not None else "written in no style"
        yield Shortfall("missing-provenance", f"{fact}; the arm has others", remedy)


def _check_edit_budget(own: Edited, arm: Arm) -> list[Shortfall]:
    if own.words_changed == 0:
        return [
            Shortfall(
                "not-edited", "no word differs from the draft", "An unchanged draft is no edited text: replace it."
            )
        ]
    found: list[Shortfall] = []
    if arm.budget is not None and own.words_changed * 100 > Decimal(arm.budget.words_percent) * own.draft_words:
        told = f"{own.words_changed} of the draft's {own.draft_words} words changed"
        fact = f"{told}; the budget is {arm.budget.words_percent} %"
        found.append(Shortfall("over-budget", fact, "Replace the text: an edit is not undone afterwards."))
    if arm.budget is not None and arm.budget.sentences != "any":
        found += _check_sentences(own.sentences, arm.name)
    return found


def _check_sentences(own: Sentences | None, arm: str) -> list[Shortfall]:
    """What the budget asks of sentences: that none was added or deleted."""
    if own is not None and own.verdict == "kept":
        return []
    if own is not None and own.verdict == "changed":
        remedy = "Replace the text: an edit is not undone afterwards."
        return [Shortfall("sentences-changed", f"the draft's sentences are not all kept: {own.because}", remedy)]
    fact = "the record does not say what became of the draft's sentences"
    if own is not None:
        fact = f"whether a sentence was added or deleted is unclear: {own.because}"
    remedy = f"A person reads both and writes the decision, kept or changed, into corpus/{arm}/decisions.csv."
    return [Shortfall(SENTENCES, fact, remedy)]


def _check_session(own: Attested, asked: Acceptance) -> list[Shortfall]:
    """What an arm asks of kept sessions. Of a withheld text nothing is told by which it could be held against that."""
    if own.session is None:
        remedy = "Replace it by a text whose session was kept."
        return [Shortfall("missing-provenance", "no session was kept; the arm asks for one", remedy)]
    told, wanted = own.session, asked.model_dump()
    wrong = [
        f"{name} {value}; the arm takes {wanted[name]} at {'least' if least else 'most'}"
        for name, least in (
            ("operations", True),
            ("active_minutes", True),
            ("pastes", False),
            ("largest_insert_percent", False),
        )
        if (value := getattr(told, name)) is not None
        and wanted.get(name) is not None
        and (value < wanted[name] if least else value > wanted[name])
    ]
    remedy = "The rules were promised before anybody wrote: refuse the session."
    return [Shortfall("missing-provenance", f"a session with {each}", remedy) for each in wrong]


def _join_with_or(values: tuple[str, ...]) -> str:
    return " or ".join(values)


class _Reader:
    """Takes typed values out of a row and keeps what is wrong with them."""

    def __init__(self, given: dict[str, str], kind: str, place: str) -> None:
        self.given, self.kind, self.place = given, kind, place
        self.faults: list[Fault] = []

    def take(self, wanted: frozenset[str]) -> dict[str, Any]:
        return {name: self._parse_value(name, self.given[name]) for name in sorted(wanted) if name in self.given}

    def _parse_value(self, name: str, text: str) -> Any:
        if name in _INTEGERS:
            if re.fullmatch(r"-?[0-9]{1,15}", text):
                return int(text)
            return self._add_fault(name, text, "is not a whole number")
        if name in _TRUTHS:
            truth = {"true": True, "yes": True, "false": False, "no": False}.get(text.strip().lower())
            return truth if truth is not None else self._add_fault(name, text, "is neither true nor false")
        if name in _LISTS:
            return tuple(part.strip() for part in text.split(";") if part.strip() != "")
        if name == "settings":
            return self._parse_settings(text)
        if name == "rejected_before":
            return self._parse_rejected(text)
        if name in _DATES:
            try:
                if len(text) == 10:
                    date.fromisoformat(text)
                    return text
            except ValueError:
                pass
            return self._add_fault(name, text, "is not a date of the form 2021-12-31")
        return text

    def _parse_settings(self, text: str) -> Any:
        try:
            value = json.loads(text, parse_int=str, parse_float=str)
        except ValueError:
            value = None
        if isinstance(value, dict) and all(isinstance(v, str) for v in value.values()):
            return value
        return self._add_fault("settings", text, "is not a JSON object of strings")

    def _parse_rejected(self, text: str) -> Any:
        try:
            value = _REJECTED.validate_json(text)
        except ValidationError:
            return self._add_fault("rejected_before", text, "is not a JSON list of rejected texts")
        return value

    def _add_fault(self, name: str, text: str, fact: str) -> None:
        shown = text if len(text) <= 60 else text[:60] + "…"
        self.faults.append(Fault(self.place, f"{name} {fact}: {shown}", f"Correct the column `{name}`."))


def _nest_row(reader: _Reader) -> dict[str, Any]:
    """The record's own nested form of a flat row."""
    kind = reader.kind
    settings = {n.removeprefix(_SETTING): v for n, v in reader.given.items() if n.startswith(_SETTING)}
    if kind == "attested":
        value = reader.take(_list_fields(Attested, "consent", "session")) | {"consent": reader.take(_CONSENT)}
        session = reader.take(_SESSION)
        if session:
            value["session"] = session
            for name in sorted(
                _SESSION - set(session) - {"pauses"}
            ):  # only of a withheld text is less told, and that is not by a row
                reader.faults.append(Fault(reader.place, f"no {name} (a session summary needs it)", _GIVE.format(name)))
    elif kind == "edited":
        draft = reader.take(_DRAFT) | {"kind": "generated", "grade": reader.given.get("draft_grade", "stated")}
        if settings:
            draft["settings"] = draft.get("settings", {}) | settings
        value = reader.take(_list_fields(Edited, "draft", "sentences")) | {"draft": draft}
    else:
        value = reader.take(_NAMES[kind])
        if settings and kind in ("generated", "transformed"):
            value["settings"] = value.get("settings", {}) | settings
        locator = {n.removeprefix(_LOCATOR): v for n, v in reader.given.items() if n.startswith(_LOCATOR)}
        if locator and kind == "archive":
            value["locator"] = locator
    return value | {"kind": kind}


def _make_faults(place: str, kind: str, errors: list[Any]) -> list[Fault]:
    """One fault for all that is missing, and one for each value that is wrong."""
    missing = [str(error["loc"][-1]) for error in errors if error["type"] == "missing"]
    faults = [_make_fault(place, error) for error in errors if error["type"] != "missing"]
    if len(missing) == 1:
        return [
            Fault(place, f"no {missing[0]} (provenance of kind {kind} needs it)", _GIVE.format(missing[0])),
            *faults,
        ]
    if missing:
        fact = f"no {', '.join(missing[:-1])} and {missing[-1]} (provenance of kind {kind} needs them)"
        options = " ".join(f"--option {name}=…" for name in missing)
        return [Fault(place, fact, f"Add columns of these names, or give them for all rows: {options}"), *faults]
    return faults


def _make_fault(place: str, error: Any) -> Fault:
    where = [str(part) for part in error["loc"][1:]]  # the first part is the kind
    name = where[-1] if where else ""
    if (missed := patterns.explain_pattern(error)) is not None:
        fact = missed
    elif error["type"] == "value_error":
        fact = str(error["ctx"]["error"])
    else:
        fact = error["msg"][:1].lower() + error["msg"][1:]
    given = error.get("input")
    shown = f" (given: {given})" if isinstance(given, str | int) else ""
    return Fault(place, f"{name}: {fact}{shown}" if name else f"{fact}{shown}", "Correct it where the row comes from.")
