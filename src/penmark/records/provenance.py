"""Provenance: how it is known who or what wrote a text, by kind."""

from __future__ import annotations

from typing import Annotated, Literal

from pydantic import Field, model_validator

from penmark.records.fields import Date, Digest, Gate, Named, Record, _is_empty, _is_unknown

# --- provenance ----------------------------------------------------------------------------------------------------


class Archive(Record):
    """Text that somebody kept: ``evidence_date`` is the date of the kept copy or revision, never a page's "modified".

    ``evidence_sha256``: of what the archive kept. ``locator``: how to fetch that again (docs/corpus.md): ``by`` is the
    source plugin, the rest is its own.
    """

    kind: Literal["archive"] = "archive"
    grade: Literal["archived", "released", "stated"]
    source: str = Field(min_length=1)
    archive: str = Field(min_length=1)
    evidence_date: Date
    evidence_sha256: Digest | None = None
    licence: str
    # Made anew and not copied: a manifest has very many of them.
    locator: dict[Named, str] = Field(default_factory=dict, exclude_if=_is_empty, json_schema_extra={"default": {}})


class Consent(Record):
    """What a writer agreed to. ``vendors``: the detectors that may be given the text; "*" for all of the study."""

    publish: bool
    vendors: tuple[str, ...]


class Session(Record):
    """The summary of an editing history whose bytes are kept. Of a withheld text only the digest: the rest follows from
    its length."""

    history_sha256: Digest
    operations: int | None = Field(default=None, ge=0)
    active_minutes: int | None = Field(default=None, ge=0)
    pastes: int | None = Field(default=None, ge=0)
    largest_insert_percent: int | None = Field(default=None, ge=0, le=100)
    pauses: int | None = Field(default=None, ge=0, exclude_if=_is_empty)


class Attested(Record):
    """Text whose author attests, in writing, that no AI touched it."""

    kind: Literal["attested"] = "attested"
    grade: Literal["witnessed", "stated"]
    attestation: str = Field(min_length=1)
    attestation_sha256: Digest
    written_on: Date
    adult: Literal[True]
    consent: Consent
    session: Session | None = None
    review: str

    @model_validator(mode="after")
    def _witnessed(self) -> Attested:
        if self.grade == "witnessed" and self.session is None:
            raise ValueError("grade witnessed needs the summary of a kept session history")
        return self


class Rejected(Record):
    """What was asked for before at the same place of the grid and is not in the arm. ``in doubt``: its answer was lost."""

    gates: tuple[Literal[Gate, "in doubt"], ...] = Field(min_length=1)
    topic: str
    matched: str
    words: int | None = None
    text_sha256: Digest | None = None
    response_sha256: Digest | None = None


_RECORDED = (
    *("generated_on", "prompt", "style", "word_target"),
    *("request_sha256", "response_sha256", "finish_reason"),
)  # what a request that is kept always shows; a provider may report no model and no request id of its own


class Generated(Record):
    """Text that a model wrote. ``settings`` are those that were sent: a default is a setting not sent.

    ``not_honoured``: promised settings that the provider does not take. ``attempt``: the sending of this prompt that was
    answered. ``rejected_before``: what was asked for at this place of the grid and is not in the arm. ``marked``: whether
    the provider says that it watermarks the texts of this model.
    """

    kind: Literal["generated"] = "generated"
    grade: Literal["recorded", "stated"]
    provider: str = Field(min_length=1)
    model: str = Field(min_length=1)
    model_returned: str | None = None
    generated_on: Date | None = None
    prompt: str | None = None
    style: str | None = None
    matched: str | None = None
    settings: dict[str, str] = {}
    finish_reason: str | None = None
    request_id: str | None = None
    request_sha256: Digest | None = None
    response_sha256: Digest | None = None
    word_target: int | None = None
    note: str = ""
    attempt: int | None = Field(default=None, ge=1, exclude_if=_is_empty)
    answer_id: str | None = Field(default=None, exclude_if=_is_empty)
    fingerprint: str | None = Field(default=None, exclude_if=_is_empty)
    tokens_read: int | None = Field(default=None, ge=0, exclude_if=_is_empty)
    tokens_written: int | None = Field(default=None, ge=0, exclude_if=_is_empty)
    not_honoured: tuple[str, ...] = Field(default=(), exclude_if=_is_empty)
    rejected_before: tuple[Rejected, ...] = Field(default=(), exclude_if=_is_empty)
    marked: Literal["yes", "no", "not known"] = Field(default="not known", exclude_if=_is_unknown)

    @model_validator(mode="after")
    def _recorded(self) -> Generated:
        if self.grade == "recorded":
            for name in _RECORDED:
                if getattr(self, name) is None:
                    raise ValueError(f"grade recorded needs {name}")
        return self


class SentenceLink(Record):
    """A sentence of a draft and what became of it: from where to where, in code points; null where nothing is.

    Of a ``joined`` or ``split`` one the longer side covers two sentences.
    """

    kind: Literal["kept", "replaced", "joined", "split", "moved", "deleted", "added"]
    draft: tuple[int, int] | None
    text: tuple[int, int] | None


class Sentences(Record):
    """The sentences of a draft held against those of the edited text, by two splitters (name and version).

    ``verdict``: ``kept`` where both splitters find each sentence again, ``changed`` where both find one added or
    deleted, else ``unclear``; ``because`` says what is not kept. ``links`` are those of the first splitter, in order.
    """

    splitters: tuple[str, str]
    verdict: Literal["kept", "changed", "unclear"]
    because: str
    links: tuple[SentenceLink, ...]

    @model_validator(mode="after")
    def _agrees(self) -> Sentences:
        kinds = {link.kind for link in self.links}
        if self.verdict == "kept" and not kinds <= {"kept"}:
            raise ValueError("sentences that are kept have kept links only")
        if self.verdict == "changed" and not kinds & {"added", "deleted"}:
            raise ValueError("sentences that are changed have one that was added or deleted")
        return self


class Edited(Record):
    """An AI draft that a person edited. The draft is published beside it, by digest.

    ``sentences``: where the arm's budget asks that none is added or deleted.
    """

    kind: Literal["edited"] = "edited"
    grade: Literal["witnessed", "stated"]
    draft_sha256: Digest
    draft: Generated
    editor: str
    history_sha256: Digest | None = None
    words_changed: int = Field(ge=0)
    draft_words: int = Field(ge=1)
    sentences: Sentences | None = Field(default=None, exclude_if=_is_empty)

    @model_validator(mode="after")
    def _witnessed(self) -> Edited:
        if self.grade == "witnessed" and self.history_sha256 is None:
            raise ValueError("grade witnessed needs the digest of the kept editing history")
        return self


class Transformed(Record):
    """A text that a program or a model made of another text."""

    kind: Literal["transformed"] = "transformed"
    grade: Literal["recorded", "stated"]
    parent: str
    parent_sha256: Digest | None = None
    attack: str
    attack_version: str | None = None
    settings: dict[str, str] = {}
    seed: str | None = None
    prompt: str | None = None

    @model_validator(mode="after")
    def _recorded(self) -> Transformed:
        if self.grade == "recorded" and (self.parent_sha256 is None or self.attack_version is None):
            raise ValueError("grade recorded needs parent_sha256 and attack_version")
        return self


Provenance = Annotated[Archive | Attested | Generated | Edited | Transformed, Field(discriminator="kind")]
