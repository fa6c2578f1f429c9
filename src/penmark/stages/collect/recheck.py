"""Recheck: fetch again what provenance says where it is kept, and hold it against the record.

Works from a study and from a published bundle alike: the record of a document is all that it needs.
*Reads* the documents of an arm, and whatever their sources read. *Writes* nothing. *Never* corrects a record.
"""

from __future__ import annotations

from collections.abc import Callable, Iterable, Iterator
from pathlib import Path
from typing import Literal, NamedTuple, get_args

from pydantic import ValidationError

from penmark import plugins, study
from penmark.errors import PenmarkError, ServiceError, UsageError, suggest_name
from penmark.format import canonical_json
from penmark.plugins import Found, Refinding
from penmark.records import Archive, Document
from penmark.study import Edition, Study

Outcome = Literal["same", "differs", "not compared", "not found", "no answer"]
"""``not compared``: the kept copy is the same, the text could not be made of it again; or nothing says where it lies."""

OUTCOMES: tuple[Outcome, ...] = get_args(Outcome)


class Rechecked(NamedTuple):
    """What came of one document, in words where it is not ``same``."""

    document: str
    outcome: Outcome
    fact: str


Make = Callable[[str], Refinding]
"""A source that finds again, by the name of its plugin."""


def list_archived(folder: Path, arm: str) -> list[Document]:
    """The documents of an arm: of the study in ``folder``, or of the bundle that it is. Raises UsageError for no arm."""
    place, bundle = Study(folder), Edition(folder)
    if place.marker.is_file():
        path = place.documents(arm)
        lines = study.read_lines(path) if path.exists() else ()
    elif bundle.manifest.is_file():
        lines = ((number, line) for number, line in study.read_lines(bundle.manifest) if number > 1)
    else:
        return list_archived(study.find_study(folder).root, arm)  # of the study above, or says what is missing
    documents = [_make_document(line, f"{number}") for number, line in lines]
    found = [one for one in documents if one.arm == arm]
    if not found:
        arms = sorted({one.arm for one in documents})
        fact = f"no document of the arm {arm}{suggest_name(arm, arms)}"
        raise UsageError(fact, place=str(folder), remedy=f"`penmark collect {arm}` fills it." if not arms else None)
    return found


def recheck_documents(documents: Iterable[Document], make: Make) -> Iterator[Rechecked]:
    """One outcome for each document of archive text, in their order; other documents have nothing to fetch."""
    made: dict[str, Refinding] = {}
    for document in documents:
        own = document.provenance
        if own.kind != "archive":
            continue
        by = own.locator.get("by")
        if by is None:
            yield Rechecked(document.id, "not compared", "its record has no locator: it says where it is from in words")
            continue
        if by not in made:
            made[by] = make(by)
        try:
            yield _compare_record(document, own, made[by].again(dict(own.locator)))
        except ServiceError as error:
            yield Rechecked(document.id, "no answer", _describe_result(error))
        except PenmarkError as error:
            yield Rechecked(document.id, "not found", _describe_result(error))


def make_refinders(options: dict[str, str]) -> Make:
    """Makes the sources that records name. An option ``SOURCE.NAME`` goes to that source alone, over one for all.

    Raises UsageError for one that cannot find again.
    """
    known = plugins.list_plugins(plugins.SOURCES)
    own = {name for name in options if name.partition(".")[0] in known and "." in name}

    def make(name: str) -> Refinding:
        given = {key: value for key, value in options.items() if key not in own}
        given |= {key.removeprefix(f"{name}."): options[key] for key in own if key.startswith(f"{name}.")}
        source = plugins.load_source(name)(given)
        if not hasattr(source, "again"):
            raise UsageError(f"the source {name} cannot fetch a text again", remedy="Compare its texts by hand.")
        refinder: Refinding = source  # type: ignore[assignment]
        return refinder

    return make


def _compare_record(document: Document, own: Archive, found: Found) -> Rechecked:
    if own.evidence_sha256 is not None and found.evidence_sha256 != own.evidence_sha256:
        fact = f"what is kept there has the SHA-256 {found.evidence_sha256}, the record says {own.evidence_sha256}"
        return Rechecked(document.id, "differs", fact)
    if found.evidence_date != own.evidence_date:
        return Rechecked(document.id, "differs", f"is of {found.evidence_date}, the record says {own.evidence_date}")
    if found.text is None:
        return Rechecked(document.id, "not compared", f"the kept copy is the same; {found.remark}")
    address = canonical_json.sha256(found.text)
    if address != document.address:
        return Rechecked(
            document.id, "differs", f"gives a text with the SHA-256 {address}, the record says {document.address}"
        )
    return Rechecked(document.id, "same", found.remark)


def _describe_result(error: PenmarkError) -> str:
    fault = error.faults[0]
    return fault.fact if fault.remedy is None else f"{fault.fact} ({fault.remedy})"


def _make_document(line: bytes, place: str) -> Document:
    try:
        return Document.model_validate_json(line)
    except ValidationError as error:
        raise study.make_validation_faults(place, error.errors(include_url=False)) from None
