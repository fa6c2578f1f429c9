"""The human documents whose topics and lengths are lent to AI texts.

*Reads* ``documents.jsonl`` of the human arms, and texts that may be shown to a model. *Writes* nothing. *Never* uses
anything of a withheld text: nothing outside may follow from its topic or its length.
"""

from __future__ import annotations

from collections.abc import Iterator
from typing import NamedTuple

from pydantic import ValidationError

from penmark import study
from penmark.errors import Fault, FaultsError, PenmarkError, UsageError
from penmark.format import canonical_json
from penmark.records import Arm, Document, Generation, Protocol
from penmark.study import Study


class Lender(NamedTuple):
    """A human document. ``arm``: its position in the protocol. ``topic``: what its record says. ``address``: of a text
    that may be shown to a model that drafts topics, else None."""

    id: str
    arm: int
    register: str
    words: int
    language: str | None
    topic: str | None
    address: str | None


def list_lenders(place: Study, promised: Protocol, arm: Arm, generation: Generation) -> list[Lender]:
    """The lenders of an arm, by arm and id. Raises UsageError where the human arms are not yet whole."""
    if not generation.topics_from:
        raise UsageError(
            f"the protocol draws the topics of the arm {arm.name} from no arm",
            remedy="Name the human arms under generation.topics_from; what is promised already binds the next edition.",
        )
    known = [one.name for one in promised.arms]
    for name in generation.topics_from:
        if name not in known:
            raise UsageError(
                f"the topics of the arm {arm.name} are drawn from an arm {name}, which there is not",
                remedy="What is promised binds; the next edition may name another.",
            )
    found: list[Lender] = []
    short: list[Fault] = []
    for number, lending in enumerate(promised.arms):
        if lending.name not in generation.topics_from:
            continue
        own = list(_read_documents(place, lending.name))
        if len(own) != lending.documents:
            fact = f"{len(own)} of {lending.documents} documents in the arm {lending.name}"
            short.append(Fault(str(place.documents(lending.name)), fact, f"Fill it: penmark collect {lending.name}."))
        found += (lender for each in own if (lender := _make_lender(number, each)) is not None)
    if short:
        raise UnreadyError(short)
    if not found:
        raise UsageError(
            f"no text of the arms {', '.join(generation.topics_from)} is published, so none can lend its topic",
            remedy="Topics and lengths of withheld texts stay with their authors.",
        )
    return found


def read_lender_text(place: Study, promised: Protocol, lender: Lender) -> str:
    """The text of a lender that may be shown to a model. Raises PenmarkError where it is missing or another."""
    if lender.address is None:
        raise PenmarkError(f"the text of {lender.id} is shown to nobody")
    folder = place.arm(promised.arms[lender.arm].name)
    loose = folder / f"{lender.address}.txt"
    texts = study.read_texts(folder)
    raw = study.read_bytes(loose) if loose.exists() else next((r for a, r, _ in texts if a == lender.address), None)
    if raw is None or canonical_json.sha256(raw) != lender.address:
        raise PenmarkError(f"the text of {lender.id} is missing or another", place=str(loose), remedy="Restore it.")
    return raw.decode("utf-8")


def list_other_ids(place: Study, promised: Protocol, without: str) -> set[str]:
    """The ids of all documents of the other arms."""
    return {
        document.id for arm in promised.arms if arm.name != without for document in _read_documents(place, arm.name)
    }


class UnreadyError(FaultsError, UsageError):
    """Arms that topics are drawn from are not whole yet. Exit code 2."""

    exit_code = 2


def _make_lender(number: int, document: Document) -> Lender | None:
    if document.words is None or (document.attested and document.withheld is not None):
        return None
    shown = None if document.attested or document.withheld is not None else document.address
    return Lender(
        id=document.id,
        arm=number,
        register=document.register_ or "",
        words=document.words,
        language=document.language,
        topic=document.topic,
        address=shown,
    )


def _read_documents(place: Study, arm: str) -> Iterator[Document]:
    path = place.documents(arm)
    for number, line in study.read_lines(path) if path.exists() else ():
        try:
            yield Document.model_validate_json(line)
        except ValidationError as error:
            raise study.make_validation_faults(f"{path}:{number}", error.errors(include_url=False)) from None
