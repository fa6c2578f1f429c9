"""The types: frozen, strict, unknown keys refused. One noun, one type.

*Reads* and *writes* nothing. *Never*: a float, a sentinel for "no answer", a truth anywhere but in an arm.
Dates are ``YYYY-MM-DD`` and times RFC 3339 in UTC (``2026-11-30T12:00:00Z``); both travel as strings, as do decimals.
"""

from __future__ import annotations

import re
from collections.abc import Callable
from decimal import Decimal
from typing import Annotated, Any, Literal, get_args

from pydantic import BaseModel, ConfigDict, Field, PlainSerializer, StringConstraints, WrapValidator, model_validator

from penmark import spelling, versions

Truth = Literal["human", "ai", "mixed"]
State = Literal["answered", "declined", "failed", "in_doubt", "not_scannable", "not_run"]
VersionState = Literal["as_asked", "floating", "not_reported", "changed"]
Verdict = Literal["ai", "human", "mixed", "assisted", "uncertain"]
Grade = Literal["archived", "released", "witnessed", "recorded", "stated"]
Operator = Literal[">", ">=", "<", "<="]
Beyond = Literal["refuses", "answers all the same", "cuts silently", "unknown"]
Gate = Literal["empty", "refused", "cut off", "error message", "prompt residue", "chat residue", "word limits"]
"""Why a text that a model wrote is not taken into an arm."""
Mark = Literal["documented", "transcribed", "seen", "inferred", "guess"]
"""How a fact is known: by the vendor's own pages, a copy of them, client code or captured answers, reasoning, or not."""

Date = Annotated[str, StringConstraints(pattern=spelling.DATE)]
Time = Annotated[str, StringConstraints(pattern=spelling.TIME)]
Digest = Annotated[str, StringConstraints(pattern=spelling.DIGEST)]
Decimals = Annotated[str, StringConstraints(pattern=spelling.DECIMALS)]
Pointer = Annotated[str, StringConstraints(pattern=spelling.POINTER)]
DetectorName = Annotated[str, StringConstraints(pattern=spelling.DETECTOR)]
ArmName = Annotated[str, StringConstraints(pattern=spelling.ARM)]
EditionTag = Annotated[str, StringConstraints(pattern=spelling.EDITION)]
Named = Annotated[str, StringConstraints(pattern=spelling.NAMED)]
Secret = Annotated[str, StringConstraints(pattern=spelling.SECRET)]
DocumentId = Annotated[str, StringConstraints(pattern=spelling.DOCUMENT)]


class Misplaced(ValueError):  # noqa: N818 - pydantic makes a fault of it
    """A fault of a record whose fields are each right, with the place in it where a person would look."""

    def __init__(self, fact: str, *loc: str | int) -> None:
        super().__init__(fact)
        self.loc = loc


class Record(BaseModel):
    """A frozen value that refuses what it does not know."""

    model_config = ConfigDict(frozen=True, extra="forbid", strict=True)


def _empty(value: object) -> bool:
    """True for fields that are not written where they say nothing, so that what was sealed before they existed stays whole."""
    return value is None or value == () or value == {}


def _unknown(value: object) -> bool:
    """As ``_empty``, for what is not known where nothing is said."""
    return value == "not known"


def _undecided(value: Any, known: Callable[[Any], Any]) -> Any:
    """``value`` where it still says ``<...>``, which `status` lists and `commit` refuses; else what the field knows."""
    return value if isinstance(value, str) and re.fullmatch("<[^<>]+>", value) else known(value)


def _unsaid(value: object) -> bool:
    """As ``_empty``, for fields in which an empty list says something."""
    return value is None


# --- the promise ---------------------------------------------------------------------------------------------------


class Rule(Record):
    """How an answer becomes a call. ``boundary``: ``score operator value`` means AI; ``verdict``: the card's class does."""

    kind: Literal["boundary", "verdict"]
    operator: Operator | None = None
    value: Decimals | None = None
    source: str
    date: Date
    confidence: Literal["documented", "inferred", "convention", "guess"] = "documented"

    @model_validator(mode="after")
    def _whole(self) -> Rule:
        both = self.operator is not None and self.value is not None
        neither = self.operator is None and self.value is None
        if (self.kind == "boundary" and not both) or (self.kind == "verdict" and not neither):
            raise ValueError("a boundary rule has operator and value, a verdict rule has neither")
        return self

    def __str__(self) -> str:
        return f"{self.operator} {self.value}" if self.kind == "boundary" else "verdict"


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
    since: Date | None = Field(default=None, exclude_if=_unsaid)
    stated: tuple[Digest, ...] = Field(default=(), exclude_if=_empty)


class Environment(Record):
    """A secret by the name of the environment variable that holds it. Its value is never recorded."""

    env: Secret


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
    plugin: str | None = Field(default=None, exclude_if=_empty)
    options: dict[str, str] = Field(default={}, exclude_if=_empty)
    key: Environment | None = Field(default=None, exclude_if=_empty)
    settings: dict[str, str] = Field(default={}, exclude_if=_empty)
    price: TokenPrice | None = Field(default=None, exclude_if=_empty)


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
    topics: Drafting | None = Field(default=None, exclude_if=_unsaid)
    gates: tuple[Gate, ...] | None = Field(default=None, exclude_if=_unsaid)
    replacement: Literal["next topic of the draw", "none"] | None = Field(default=None, exclude_if=_unsaid)
    attempts: int | None = Field(default=None, ge=1, le=20, exclude_if=_unsaid)

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

    operations: int | None = Field(default=None, ge=0, exclude_if=_empty)
    active_minutes: int | None = Field(default=None, ge=0, exclude_if=_empty)
    pastes: int | None = Field(default=None, ge=0, exclude_if=_empty)
    largest_insert_percent: int | None = Field(default=None, ge=0, le=100, exclude_if=_empty)


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
    sessions: Acceptance | None = Field(default=None, exclude_if=_empty)

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
        WrapValidator(_undecided),
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

    name: Annotated[str, StringConstraints(pattern=spelling.AUTHORITY)]
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
    signing_key: Digest | None = Field(default=None, exclude_if=_empty)
    word_rule: Literal["penmark-2"] | None = Field(default=None, exclude_if=_empty)
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
    near_duplicates: Decimals | None = Field(default=None, exclude_if=_empty)
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


# --- cards ---------------------------------------------------------------------------------------------------------


class Send(Record):
    """One HTTP request. ``{name}`` stands for a value (docs/format.md, 4). ``body``: JSON, or ``{text}`` alone for its bytes.

    ``take``: what later requests need of the answer, by pointer.
    """

    method: Literal["GET", "POST", "PUT"] = "POST"
    url: str
    headers: dict[str, str] = {}
    body: str | None = None
    take: dict[Named, Pointer] = {}


class Login(Send):
    """Asked before anything else; what it takes is a secret, and is used again for so many hours."""

    hours: int = Field(ge=1, le=8760)


class Poll(Send):
    """Asked every so many seconds, until the value at ``at`` is one of ``among`` or ``patience`` (seconds) ends."""

    method: Literal["GET", "POST", "PUT"] = "GET"
    at: Pointer
    among: tuple[str, ...] = Field(min_length=1)
    every: Decimals
    patience: int = Field(default=300, ge=1, le=3600)


class Sign(Record):
    """How one recognises an answer that is none, and what it means; the first sign that fits counts.

    It fits where the status is one of ``status`` (any, where there are none) and the value at ``at`` is one of ``among``,
    or holds the words ``holds``, or, where neither is given, is there at all. ``again``: may be tried again; ``stop``:
    the next text would fare no better; ``declined``: the vendor does not judge this text; ``failed``: nothing of these.
    """

    status: tuple[int, ...] = ()
    at: Pointer | None = None
    among: tuple[str, ...] = ()
    holds: str | None = None
    means: Literal["again", "stop", "declined", "failed"]
    because: str

    @model_validator(mode="after")
    def _recognisable(self) -> Sign:
        if not self.status and self.at is None:
            raise ValueError("a sign needs a status, or a pointer to what tells it")
        if self.at is None and (self.among or self.holds is not None):
            raise ValueError("`among` and `holds` speak of the value at `at`, which is missing")
        return self


class Price(Record):
    """What a text costs: ``amount`` for each ``per`` of ``unit``, a begun one counting whole where ``rounding`` is up."""

    amount: Decimals
    currency: str
    per: int = Field(ge=1)
    unit: Literal["words", "characters", "texts"]
    rounding: Literal["up", "none"]


class Pace(Record):
    """The vendor's limit: so many requests in so many seconds."""

    requests: int = Field(ge=1)
    seconds: int = Field(ge=1)


class Request(Record):
    """How a vendor is asked over HTTP: login, then send, then upload, then poll; all but ``send`` may be missing.

    ``settings``: what a protocol may set, and how it is written in JSON. ``version``: the one asked for where the
    protocol names none. ``private``: pointers into the body of ``send``, to what keeps a text private: always sent as it
    stands. ``timeout``: seconds without a byte.
    """

    keys: dict[Named, Environment] = {}
    settings: dict[Named, Literal["text", "number", "boolean"]] = {}
    version: str | None = None
    login: Login | None = None
    send: Send
    upload: Send | None = None
    poll: Poll | None = None
    private: tuple[Pointer, ...] = ()
    errors: tuple[Sign, ...] = ()
    timeout: int = Field(default=60, ge=1, le=600)
    price: Price | None = None
    pace: Pace | None = None


class Ask(Record):
    """How a detector is asked: by a plugin (``local`` ones run here), over HTTP, or by people who copy a screen."""

    by: Literal["plugin", "people", "http"]
    plugin: str | None = None
    options: dict[str, str] = {}
    request: Request | None = Field(default=None, exclude_if=_empty)

    @model_validator(mode="after")
    def _whole(self) -> Ask:
        if (self.by == "plugin") != (self.plugin is not None):
            raise ValueError("`plugin` names the detector plugin, and only when `by` is plugin")
        if (self.by == "http") != (self.request is not None):
            raise ValueError("`request` says how a vendor is asked, and only when `by` is http")
        return self


class Unmeasured(Record):
    """Where the value at ``at`` is one of ``among``, the answer holds no result, whatever else stands in it."""

    at: Pointer
    among: tuple[str, ...] = Field(min_length=1)
    because: str


class Answer(Record):
    """Where in the raw answer (JSON) things stand, as RFC 6901 pointers. ``displayed`` is what a user sees.

    ``score_of`` ``label``: the number is the confidence in the verdict that stands with it, whichever that is.
    """

    displayed: Pointer | None = None
    score: Pointer | None = None
    label: Pointer | None = None
    version: Pointer | None = None
    text: Pointer | None = None
    unmeasured: tuple[Unmeasured, ...] = Field(default=(), exclude_if=_empty)
    score_of: Literal["label"] | None = Field(default=None, exclude_if=_empty)


class Scale(Record):
    """What the number means. ``direction``: what a higher number speaks for.

    ``numerals``: numbers are written with digits of any script, and with this as their decimal sign.
    """

    meaning: Literal["probability", "share of text", "confidence in label", "distance", "points", "length"]
    direction: Literal["ai", "human"]
    low: Decimals | None = None
    high: Decimals | None = None
    unit: Literal["", "percent"] = ""
    numerals: Literal["point", "comma"] | None = Field(default=None, exclude_if=_empty)


class Band(Record):
    """A part of the scale, both ends included, and its class. ``shown``: the verdict displayed in place of its numbers."""

    low: Decimals
    high: Decimals
    verdict: Literal["human", "mixed", "assisted", "uncertain"]
    shown: str | None = None


class Limits(Record):
    """Which texts the vendor takes; outside them a pair is not scannable. All bounds inclusive.

    ``scope``: the providers whose texts a provider's own detector is for; those of people are in it, those of other
    providers are not. ``beyond_minimum``, ``beyond_maximum``: what the vendor does with shorter and with longer texts.
    """

    minimum_words: int | None = None
    maximum_words: int | None = None
    minimum_characters: int | None = None
    maximum_characters: int | None = None
    languages: tuple[str, ...] | None = None
    beyond_minimum: Beyond | None = Field(default=None, exclude_if=_empty)
    beyond_maximum: Beyond | None = Field(default=None, exclude_if=_empty)
    scope: tuple[str, ...] = Field(default=(), exclude_if=_empty)


class Terms(Record):
    """The vendor's terms, as read."""

    where: str
    read_on: Date | None = None
    results_may_be_published: Literal["yes", "no", "unclear"]


class Card(Record):
    """The facts of one detector. ``confidence``: how those are known, by pointer into the card, that are not documented."""

    name: DetectorName
    title: str
    vendor: str
    homepage: str
    ask: Ask
    answer: Answer
    scale: Scale | None = None
    bands: tuple[Band, ...] = Field(default=(), exclude_if=_empty)
    verdicts: dict[str, Verdict] = {}
    boundary: Rule
    limits: Limits = Limits()
    display: Literal["document", "sentence", "both"]
    terms: Terms
    facts_as_of: Date
    confidence: dict[Pointer, Mark] = Field(default={}, exclude_if=_empty)
    notes: str = ""

    @model_validator(mode="after")
    def _usable(self) -> Card:
        check_rule(self, self.boundary)
        return self


class Plugin(Record):
    """Which code asked a local detector: its entry point, the distribution it came in, the digest of its source file."""

    name: str
    distribution: str
    version: str
    sha256: Digest


class SealedCard(Record):
    """``detectors/<name>.json``: the card as promised, with its content and the digest of the plugin that asks."""

    card: Card
    plugin: Plugin | None


def bearing(card: Card) -> dict[str, Any]:
    """The facts of a card that bear on calls: who is asked what, which texts, and how answers are read. JSON values."""
    facts = card.model_dump(
        mode="json",
        include={"vendor", "ask", "answer", "scale", "bands", "verdicts", "boundary", "limits", "confidence"},
    )
    facts["boundary"] = {key: facts["boundary"][key] for key in ("kind", "operator", "value", "confidence")}
    return {"bands": [], "confidence": {}} | facts


def check_rule(card: Card, rule: Rule) -> None:
    """Raises ValueError where ``rule`` cannot be applied to answers of ``card``."""
    if rule.kind == "verdict":
        if "ai" not in card.verdicts.values():
            raise ValueError(f"{card.name}: a verdict rule needs a table of verdicts in which one means ai")
        return
    if card.scale is None:
        raise ValueError(f"{card.name}: a boundary needs a scale (meaning, direction, low, high)")
    towards = {"ai": (">", ">="), "human": ("<", "<=")}[card.scale.direction]
    if rule.operator not in towards:
        raise ValueError(
            f"{card.name}: on this scale a higher number means {card.scale.direction}, so AI is "
            f"{' or '.join(towards)} the boundary, not {rule.operator}"
        )


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
    locator: dict[Named, str] = Field(default_factory=dict, exclude_if=_empty, json_schema_extra={"default": {}})


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
    pauses: int | None = Field(default=None, ge=0, exclude_if=_empty)


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
    attempt: int | None = Field(default=None, ge=1, exclude_if=_empty)
    answer_id: str | None = Field(default=None, exclude_if=_empty)
    fingerprint: str | None = Field(default=None, exclude_if=_empty)
    tokens_read: int | None = Field(default=None, ge=0, exclude_if=_empty)
    tokens_written: int | None = Field(default=None, ge=0, exclude_if=_empty)
    not_honoured: tuple[str, ...] = Field(default=(), exclude_if=_empty)
    rejected_before: tuple[Rejected, ...] = Field(default=(), exclude_if=_empty)
    marked: Literal["yes", "no", "not known"] = Field(default="not known", exclude_if=_unknown)

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
    sentences: Sentences | None = Field(default=None, exclude_if=_empty)

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


# --- the corpus ----------------------------------------------------------------------------------------------------


class Document(Record):
    """One text with its provenance; immutable.

    ``address``: SHA-256 of the raw bytes, or for attested texts the keyed fingerprint. ``canonical_sha256``, ``words``
    and ``characters`` are empty for a withheld text, since nothing outside may depend on it. ``gathered_by``: the source
    that gave the text (``generation``: a model that the study asked); absent in format 1.
    """

    id: DocumentId
    arm: ArmName
    address: Digest
    canonical_sha256: Digest | None
    words: int | None = Field(ge=0)
    characters: int | None = Field(ge=0)
    language: str | None = None
    register_: str | None = Field(default=None, alias="register")
    subgroup: str | None = None
    author: str | None = None
    topic: str | None = None
    source: str | None = None
    exposures: tuple[str, ...] = ()
    withheld: str | None = None
    gathered_by: str | None = Field(default=None, min_length=1, max_length=64, exclude_if=_empty)
    provenance: Provenance

    @model_validator(mode="after")
    def _safe(self) -> Document:
        if ".." in self.id:
            raise ValueError("an id holds no '..'")
        if self.withheld is not None and self.withheld.strip() == "":
            raise ValueError("`withheld` says why the text is not published")
        if re.match("'[=+@-]", self.id):
            raise ValueError("an id begins with no apostrophe before = + - @: in a table it would be another's")
        told = self.provenance.session if self.provenance.kind == "attested" else None
        if told is not None and self.withheld is None and None in told.model_dump().values():
            raise ValueError("the session summary of a published text is whole")
        return self

    def facet(self, name: str) -> str | None:
        """The value by which quotas and slices group documents; an edited text has its draft's model and style."""
        if name in ("provider", "model", "style"):
            made = self.provenance.draft if self.provenance.kind == "edited" else self.provenance
            return getattr(made, name, None)
        if name == "parent":
            return self.provenance.parent if self.provenance.kind == "transformed" else None
        value = self.register_ if name == "register" else getattr(self, name, None)
        return value if isinstance(value, str) else None

    @property
    def attested(self) -> bool:
        """True where the text is known outside by its keyed fingerprint only."""
        return self.provenance.kind == "attested"


# --- seals and changes ---------------------------------------------------------------------------------------------


class Announcement(Record):
    """Where the readable protocol was public, and a third party's capture of it."""

    url: str
    capture: str
    captured_at: Time


class Head(Record):
    """A journal at a moment: how many lines, and the digest of the last."""

    lines: int = Field(ge=1)
    head: Digest


class Seal(Record):
    """Digests with timestamps from outside, chained to the seal before. Tokens lie beside it as ``<name>-<authority>.tsr``.

    ``rules``: by which rules of a release it was written (``penmark.versions``); absent in format 1.
    """

    format: int = versions.WRITES
    kind: Literal["promise", "corpus", "heads", "evidence"]
    study: str
    edition: EditionTag
    sealed_at: Time
    software: str
    rules: int | None = Field(default=None, ge=0, exclude_if=_empty)
    previous: Digest | None
    digests: dict[str, Digest]
    journals: dict[str, Head] = {}
    announced: Announcement | None = None

    @model_validator(mode="after")
    def _numbered(self) -> Seal:
        if (self.rules is None) != (self.format == 1):
            raise ValueError("rules stand in a seal from format 2 on")
        return self


class Change(Record):
    """What an amendment changes at one place of the promise (``penmark.differences``): JSON, None where nothing stands there."""

    at: Annotated[str, StringConstraints(pattern=spelling.PLACE)]
    was: str | None
    becomes: str | None


class Amendment(Record):
    """A numbered, announced change of the promise; binds the editions from ``binds_from`` on. ``covers``: what it changes."""

    number: int = Field(ge=1)
    binds_from: EditionTag
    announced_at: Time
    what: str
    why: str
    before: str
    after: str
    covers: tuple[Change, ...] = Field(default=(), exclude_if=_empty)


class Deviation(Record):
    """Something that went otherwise than promised. Told; changes no rule."""

    at: Time
    detector: DetectorName | None = None
    what: str


# --- answers -------------------------------------------------------------------------------------------------------


class Reading(Record):
    """One detector's final answer about one document, or why there is none, word for word.

    A line of the journal with ``kind`` "reading". ``displayed``: the exact characters; ``score``: digits as given;
    ``evidence_sha256``: digest (keyed for attested texts) of the raw answer kept in ``evidence/``. ``vendor_at``: nothing;
    no card says where a vendor tells its own time, so that it would follow from nothing.
    """

    document: DocumentId
    address: Digest
    attempt: int = Field(ge=1)
    origin: Literal["scan", "typed", "recorded"]
    state: Literal["answered", "declined", "failed"]
    reason: str | None
    sent_at: Time | None
    got_at: Time | None
    vendor_at: None
    displayed: str | None
    score: str | None
    label: str | None
    version_asked: str | None
    version: str | None
    evidence_sha256: Digest | None
    read_by: str | None

    @model_validator(mode="after")
    def _whole(self) -> Reading:
        if self.state == "answered" and self.displayed is None:
            raise ValueError("an answer has the exact characters that were displayed")
        if self.state != "answered" and self.reason is None:
            raise ValueError(f"a reading that is {self.state} has a reason")
        return self


# --- what checking finds -------------------------------------------------------------------------------------------


class Check(Record):
    """One thing that ``verify`` asked of a bundle, and what it found."""

    number: int = Field(ge=1, le=8)
    name: str
    state: Literal["ok", "failed", "not checked", "not applicable"]
    subject: str
    got: str | None = None
    expected: str | None = None
    remedy: str | None = None
