"""From a draft to a document: what is checked, measured and keyed.

*Reads* and *writes* nothing. *Never* changes a text; never lets out anything that follows from a withheld one.
"""

from __future__ import annotations

from collections.abc import Callable
from typing import Any, NamedTuple

from pydantic import ValidationError

from penmark import study
from penmark.corpus import grades, provenance
from penmark.errors import Fault, FaultsError, PenmarkError
from penmark.format import canonical_json
from penmark.plugins import Draft
from penmark.records import Arm, Document, Provenance, SentenceLink, Sentences, Session
from penmark.text import MOST_EDITED, count_changed_words, count_words, list_words, sentences

_CORRECT = "Correct it where the row comes from, and collect again."
DECLINED = "the author declined publication"
"""Why the text of an attested document without consent to publish is withheld."""


class BuiltDocument(NamedTuple):
    """A document on its way to the disk: its record, the bytes that belong to it, and what its source claims.

    ``unused``: names of the source that no record knows. ``words``: of the text, whether its record may say so or not.
    ``demoted``: why its grade is another than its source says.
    """

    document: Document
    text: bytes
    draft: bytes | None
    claims: dict[str, str]
    unused: frozenset[str]
    words: int
    demoted: str | None


def build_document(draft: Draft, arm: Arm, salt: Callable[[str], bytes], by: str | None = None) -> BuiltDocument:
    """The document that a draft becomes. ``salt`` gives the salt of an attested document by its id;
    ``by``: the source.

    Raises PenmarkError (FaultsError for several faults), at the draft's place; ServiceError where the sentences of an
    edited text are to be aligned and the splitters are not installed.
    """
    text = _decode_text(draft.text, draft.place, "text")
    row = dict(draft.provenance)
    if row.get("kind") == "edited":
        _measure_draft(draft, text, row)
    known = provenance.parse_row(row, draft.place)
    if known.kind == "edited" and arm.budget is not None and arm.budget.sentences != "any":
        known = known.model_copy(update={"sentences": _align_parts(draft, text)})
    known, demoted = grades.demoted(known, by)
    attested = known.kind == "attested"
    withheld = DECLINED if known.kind == "attested" and not known.consent.publish else draft.fields.get("withheld")
    hidden = attested and withheld is not None
    if hidden and known.kind == "attested" and known.session is not None:
        known = known.model_copy(update={"session": Session(history_sha256=known.session.history_sha256)})
    claims, unused = _take_claims(draft, row, known)
    count = count_words(text)
    values: dict[str, Any] = {
        "id": draft.id,
        "arm": arm.name,
        "address": canonical_json.fingerprint_text(salt(draft.id), draft.text)
        if attested
        else canonical_json.sha256(draft.text),
        "canonical_sha256": None if hidden else canonical_json.sha256(canonical_json.make_canonical_text(draft.text)),
        "words": None if hidden else count,
        "characters": None if hidden else len(text),
        "withheld": withheld,
        "gathered_by": by,
        "provenance": known,
        "exposures": tuple(e.strip() for e in draft.fields.get("exposures", "").split(";") if e.strip() != ""),
    }
    for name in ("language", "register", "subgroup", "author", "topic", "source"):
        # The topic and the source of a hidden text could be its title, or name it.
        values[name] = None if hidden and name in ("topic", "source") else draft.fields.get(name)
    _require_legible(values | draft.provenance | claims, draft.place)
    try:
        document = Document.model_validate(values)
    except ValidationError as error:
        raise study.make_validation_faults(draft.place, error.errors(include_url=False), _CORRECT) from None
    return BuiltDocument(document, draft.text, draft.draft, {} if hidden else claims, unused, count, demoted)


def _decode_text(raw: bytes, place: str, what: str) -> str:
    try:
        text = raw.decode("utf-8")
    except UnicodeDecodeError as error:
        raise PenmarkError(
            f"the {what} is not UTF-8 (byte 0x{raw[error.start]:02x} at {error.start})",
            place=place,
            remedy="Save it as UTF-8; penmark converts no text.",
        ) from None
    if "\0" in text:
        raise PenmarkError(
            f"the {what} holds a NUL character (at {text.index(chr(0))})",
            place=place,
            remedy="Something was lost in a conversion, from PDF say: take the text from a better copy.",
        )
    if canonical_json.has_piled_marks(text):
        raise PenmarkError(f"the {what} {canonical_json.PILED}", place=place, remedy=canonical_json.UNPILE)
    return text


def _measure_draft(draft: Draft, text: str, row: dict[str, str]) -> None:
    """Measure an edited text against its draft, into ``row``; a row that says otherwise is wrong."""
    if draft.draft is None:
        raise PenmarkError(
            "an edited text without its draft", place=draft.place, remedy="Give it in a column `draft` or `draft_file`."
        )
    before, after = list_words(_decode_text(draft.draft, draft.place, "draft")), list_words(text)
    if (most := max(len(before), len(after))) > MOST_EDITED:
        raise PenmarkError(
            f"{most} words; what was edited, and what became of it, have at most {MOST_EDITED}",
            place=draft.place,
            remedy="Take a part of the text, and the part of the draft that it came from.",
        )
    measured = {
        "draft_sha256": canonical_json.sha256(draft.draft),
        "words_changed": str(count_changed_words(before, after)),
        "draft_words": str(len(before)),
    }
    wrong = [
        Fault(draft.place, f"{name} is {row[name]}; the two texts give {value}", "Correct the row, or the texts.")
        for name, value in measured.items()
        if row.get(name, "") not in ("", value)
    ]
    if wrong:
        raise FaultsError(wrong)
    row.update(measured)


def _align_parts(draft: Draft, text: str) -> Sentences:
    before = _decode_text(draft.draft or b"", draft.place, "draft")
    found = sentences.align_edit(before, text, draft.fields.get("language"))
    links = tuple(SentenceLink(kind=kind, draft=one, text=other) for kind, one, other in found.links)
    return Sentences(
        splitters=sentences.list_splitter_versions(), verdict=found.verdict, because=found.because, links=links
    )


def _take_claims(draft: Draft, row: dict[str, str], known: Provenance) -> tuple[dict[str, str], frozenset[str]]:
    """What the row says that its kind of provenance cannot hold (it may contradict it), and what no record knows."""
    own = provenance.list_provenance_names(known.kind) | {"kind"}
    if known.kind in ("generated", "edited", "transformed"):
        own |= {name for name in row if name.startswith("settings.")}
    if known.kind == "archive":
        own |= {name for name in row if name.startswith("locator.")}
    foreign = {name for name, value in row.items() if name not in own and value != ""}
    claims = {f"claimed_{name}": row[name] for name in sorted(foreign) if provenance.is_provenance_name(name)}
    return claims | draft.claims, frozenset(name for name in foreign if not provenance.is_provenance_name(name))


def _require_legible(values: dict[str, Any], place: str) -> None:
    for name, value in values.items():
        try:
            if isinstance(value, str):
                value.encode()
        except UnicodeEncodeError:
            raise PenmarkError(f"{name} is not UTF-8", place=place, remedy="Save the file as UTF-8.") from None
