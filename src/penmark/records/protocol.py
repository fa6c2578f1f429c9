"""The protocol: arms, detectors, people, and all else that a study promises."""

from __future__ import annotations

import re
from decimal import Decimal
from typing import Annotated, Literal, get_args

from pydantic import Field, PlainSerializer, StringConstraints, WrapValidator, model_validator

from penmark.format import versions
from penmark.records import patterns
from penmark.records.card import Environment, Rule
from penmark.records.fields import (
    ArmName,
    Date,
    Decimals,
    DetectorName,
    Digest,
    EditionTag,
    Gate,
    Grade,
    Misplaced,
    Record,
    Truth,
    _is_empty,
    _is_none,
    _make_undecided,
)


class Template(Record):
    """The protocol that a study says it follows, by name and by the digest of its canonical form."""

    name: str
    sha256: Digest


class Person(Record):
    """Someone who runs the study, and what they have to gain from it."""

    name: str
    role: str
    interests: str


class Words(Record):
    """Word limits, both inclusive, by the one counting rule of ``penmark.text``."""

    minimum: int = Field(ge=0)
    maximum: int = Field(ge=1)


class Quota(Record):
    """So many documents of an arm have these values: ``{"register": "academic"}`` -> 50."""

    where: dict[str, str] = Field(min_length=1)
    documents: int = Field(ge=0)


class Evidence(Record):
    """What provenance suffices for an arm: kinds, grades, and for archive text the first date that is too late.

    ``since``: for attested text the first day that is late enough: what was written before it is not fresh.

    ``stated``: data sets, by the SHA-256 of their file, whose own word suffices where grade ``stated`` otherwise does not.
    """

    kinds: tuple[Literal["archive", "attested", "generated", "edited", "transformed"], ...] = Field(min_length=1)
    grades: tuple[Grade, ...] = Field(min_length=1)
    before: Date | None = None
    since: Date | None = Field(default=None, exclude_if=_is_none)
    stated: tuple[Digest, ...] = Field(default=(), exclude_if=_is_empty)


class TokenPrice(Record):
    """What ``per`` tokens cost: those that a model reads, and those that it writes (what it thinks before included)."""

    read: Decimals
    written: Decimals
    currency: str
    per: int = Field(default=1_000_000, ge=1)


class Model(Record):
    """One model of an AI arm, as asked for.

    ``plugin``: the generator that asks (else the one that is called like the provider); ``options`` are its own.
    ``settings``: what is sent beside the prompt; a default is a setting that is not sent.
    """

    provider: str
    model: str
    plugin: str | None = Field(default=None, exclude_if=_is_empty)
    options: dict[str, str] = Field(default={}, exclude_if=_is_empty)
    key: Environment | None = Field(default=None, exclude_if=_is_empty)
    settings: dict[str, str] = Field(default={}, exclude_if=_is_empty)
    price: TokenPrice | None = Field(default=None, exclude_if=_is_empty)


class Style(Record):
    """One prompt style; ``prompt`` is the wording with ``{topic}`` and ``{words}`` left open."""

    name: str
    prompt: str


class Drafting(Record):
    """How a model drafts the topic line of a human text; ``prompt`` is the wording with ``{text}`` left open."""

    model: Model
    prompt: str


class Generation(Record):
    """How an AI arm is made (docs/corpus.md).

    ``gates``: why a text is not taken (all gates, where it is not said); ``replacement``: what then happens at its place
    of the grid (the next topic, where it is not said); ``attempts``: texts asked for at one place, at most (else 3).
    """

    models: tuple[Model, ...]
    styles: tuple[Style, ...]
    temperature: str = "not sent"
    topics_from: tuple[ArmName, ...] = ()
    topics: Drafting | None = Field(default=None, exclude_if=_is_none)
    gates: tuple[Gate, ...] | None = Field(default=None, exclude_if=_is_none)
    replacement: Literal["next topic of the draw", "none"] | None = Field(default=None, exclude_if=_is_none)
    attempts: int | None = Field(default=None, ge=1, le=20, exclude_if=_is_none)

    @property
    def gates_in_force(self) -> tuple[Gate, ...]:
        """The gates that hold, in the order of the documentation."""
        every: tuple[Gate, ...] = get_args(Gate)
        return every if self.gates is None else tuple(gate for gate in every if gate in self.gates)

    @property
    def texts_at_a_spot(self) -> int:
        """How many texts are asked for at one place of the grid, at most, each about another topic."""
        return 1 if self.replacement == "none" else 3 if self.attempts is None else self.attempts


class Budget(Record):
    """What an editor may do to a draft."""

    words_percent: Decimals
    sentences: Literal["none added or deleted", "any"]


class Acceptance(Record):
    """What a kept session must show, so that its text is taken: decided before anybody writes.

    ``operations``, ``active_minutes``: so many at least; ``pastes``, ``largest_insert_percent``: so many at most.
    """

    operations: int | None = Field(default=None, ge=0, exclude_if=_is_empty)
    active_minutes: int | None = Field(default=None, ge=0, exclude_if=_is_empty)
    pastes: int | None = Field(default=None, ge=0, exclude_if=_is_empty)
    largest_insert_percent: int | None = Field(default=None, ge=0, le=100, exclude_if=_is_empty)


class SourceRef(Record):
    """Where an arm's texts come from: a source plugin and its options (for tables: which column holds what)."""

    plugin: str
    options: dict[str, str] = {}


class Arm(Record):
    """A group of documents with one truth. The truth is written here and nowhere else."""

    name: ArmName
    title: str
    truth: Truth
    documents: int = Field(ge=1)
    headline: bool
    evidence: Evidence
    filled: str
    persists: bool
    unit: Literal["document", "source", "author", "topic", "parent"] = "document"
    words: Words | None = None
    quotas: tuple[Quota, ...] = ()
    generation: Generation | None = None
    budget: Budget | None = None
    source: SourceRef | None = None
    sessions: Acceptance | None = Field(default=None, exclude_if=_is_empty)

    @model_validator(mode="after")
    def _adds_up(self) -> Arm:
        if self.truth == "mixed" and self.headline:
            raise ValueError("a mixed arm never enters headline rates: set headline to false")
        groups: dict[tuple[str, ...], int] = {}
        for quota in self.quotas:
            key = tuple(sorted(quota.where))
            groups[key] = groups.get(key, 0) + quota.documents
        for key, total in groups.items():
            if total != self.documents:
                both = f"add up to {total}, the arm to {self.documents}"
                raise ValueError(f"the quotas by {' x '.join(key)} {both}: change them, or `documents`")
        return self


class Detector(Record):
    """One detector as this study uses it. Facts of the vendor live in the card."""

    name: DetectorName
    card: str
    version: str | None = None
    surface: Literal["web", "api", "local"]
    tier: str
    payer: str
    relation: Annotated[
        Literal["own", "affiliate", "free credits", "none"],
        WrapValidator(_make_undecided),
        PlainSerializer(lambda value: value, return_type=str),
    ]
    settings: dict[str, str] = {}
    rule: Rule | None = None

    @model_validator(mode="after")
    def _no_shard(self) -> Detector:
        if re.search(r"\.[0-9]+of[0-9]+$", self.name):
            raise ValueError(f"{self.name} reads like a shard of another detector: leave out the ending")
        return self


class Window(Record):
    """The dates, both inclusive, between which the scan happens."""

    opens: Date
    closes: Date

    @model_validator(mode="after")
    def _ordered(self) -> Window:
        if self.opens > self.closes:
            raise ValueError(
                f"the scan window closes ({self.closes}) before it opens ({self.opens}): swap the two dates"
            )
        return self


class Comparison(Record):
    """A pair of detectors whose difference is promised beforehand to be reported."""

    first: DetectorName
    second: DetectorName


class Nomination(Record):
    """A detector that a reader asked for, and the answer."""

    detector: str
    by: str
    answer: str


class Authority(Record):
    """A timestamp authority that is asked for tokens."""

    name: Annotated[str, StringConstraints(pattern=patterns.AUTHORITY)]
    url: str


class Protocol(Record):
    """What is promised. A value; everything an edition does follows from it and from the cards it names.

    ``signing_key``: the public Ed25519 key (64 hexadecimal digits) under which exports of written sessions are signed.
    ``near_duplicates``: the Jaccard similarity of five-word sequences from which on screening tells texts, from 0.2 to
    1; 0.30 where it is not said.
    ``word_rule``: by which words are counted: limits, budgets of edits, prices, lengths asked for. Absent in format 1.
    """

    format: int = versions.WRITES
    study: str
    title: str
    edition: EditionTag
    template: Template | None = None
    people: tuple[Person, ...] = Field(min_length=1)
    payer: str
    schedule: str
    window: Window
    seed_sha256: Digest
    signing_key: Digest | None = Field(default=None, exclude_if=_is_empty)
    word_rule: Literal["penmark-2"] | None = Field(default=None, exclude_if=_is_empty)
    beacon: str | None = None
    interval: Literal["wilson"] = "wilson"
    level: Literal["0.90", "0.95", "0.99"] = "0.95"
    scans: int = Field(default=1, ge=1, le=1)
    attempts: int = Field(default=3, ge=1, le=10)
    ask_again_in_doubt: bool = False
    on_version_change: Literal["stop", "split"] = "stop"
    winner: Literal["never"] = "never"
    raw_scores: Literal["published"] = "published"
    arms: tuple[Arm, ...] = Field(min_length=1)
    detectors: tuple[Detector, ...] = Field(min_length=1)
    authorities: tuple[Authority, ...] = ()
    screening: dict[str, Literal["error", "warning"]] = {}
    near_duplicates: Decimals | None = Field(default=None, exclude_if=_is_empty)
    comparisons: tuple[Comparison, ...] = ()
    nominations: tuple[Nomination, ...] = ()

    @model_validator(mode="after")
    def _consistent(self) -> Protocol:
        for what, names in (("arm", [a.name for a in self.arms]), ("detector", [d.name for d in self.detectors])):
            twice = [at for at, name in enumerate(names) if name in names[:at]]
            if twice:
                named = ", ".join(sorted({names[at] for at in twice}))
                raise Misplaced(f"{what} named twice: {named}", f"{what}s", twice[0])
        if self.near_duplicates is not None and not 2 <= 10 * Decimal(self.near_duplicates) <= 10:
            fact = f"{self.near_duplicates} is not from 0.2 to 1: below that, pairs are missed"
            raise Misplaced(fact, "near_duplicates")
        known = {d.name for d in self.detectors}
        for at, pair in enumerate(self.comparisons):
            if not {pair.first, pair.second} <= known or pair.first == pair.second:
                fact = f"the comparison {pair.first} / {pair.second} does not name two detectors of the study"
                raise Misplaced(fact, "comparisons", at)
        for at, name in enumerate(d.name for d in self.detectors):
            # The journal of "a.1of2" would have the name of the first of two shards of "a".
            if (whole := re.sub(r"\.[0-9]+of[0-9]+$", "", name)) != name and whole in known:
                fact = f"the detector {name} has the name of a shard of {whole}: call one of them otherwise"
                raise Misplaced(fact, "detectors", at)
        return self

    def arm(self, name: str) -> Arm:
        """The arm of that name. Raises KeyError."""
        return {a.name: a for a in self.arms}[name]

    def detector(self, name: str) -> Detector:
        """The detector of that name. Raises KeyError."""
        known = {d.name: d for d in self.detectors}
        return known[name]
