"""Cards: a detector, how it is asked, what its answers say, and the rule that makes calls of them."""

from __future__ import annotations

from typing import Any, Literal

from pydantic import Field, model_validator

from penmark.records.fields import (
    Beyond,
    Date,
    Decimals,
    DetectorName,
    Digest,
    Mark,
    Named,
    Operator,
    Pointer,
    Record,
    Secret,
    Verdict,
    _is_empty,
)

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
    def _guard_writes(self) -> Rule:
        both = self.operator is not None and self.value is not None
        neither = self.operator is None and self.value is None
        if (self.kind == "boundary" and not both) or (self.kind == "verdict" and not neither):
            raise ValueError("a boundary rule has operator and value, a verdict rule has neither")
        return self

    def __str__(self) -> str:
        return f"{self.operator} {self.value}" if self.kind == "boundary" else "verdict"


class Environment(Record):
    """A secret by the name of the environment variable that holds it. Its value is never recorded."""

    env: Secret


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
    request: Request | None = Field(default=None, exclude_if=_is_empty)

    @model_validator(mode="after")
    def _guard_writes(self) -> Ask:
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
    unmeasured: tuple[Unmeasured, ...] = Field(default=(), exclude_if=_is_empty)
    score_of: Literal["label"] | None = Field(default=None, exclude_if=_is_empty)


class Scale(Record):
    """What the number means. ``direction``: what a higher number speaks for.

    ``numerals``: numbers are written with digits of any script, and with this as their decimal sign.
    """

    meaning: Literal["probability", "share of text", "confidence in label", "distance", "points", "length"]
    direction: Literal["ai", "human"]
    low: Decimals | None = None
    high: Decimals | None = None
    unit: Literal["", "percent"] = ""
    numerals: Literal["point", "comma"] | None = Field(default=None, exclude_if=_is_empty)


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
    beyond_minimum: Beyond | None = Field(default=None, exclude_if=_is_empty)
    beyond_maximum: Beyond | None = Field(default=None, exclude_if=_is_empty)
    scope: tuple[str, ...] = Field(default=(), exclude_if=_is_empty)


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
    bands: tuple[Band, ...] = Field(default=(), exclude_if=_is_empty)
    verdicts: dict[str, Verdict] = {}
    boundary: Rule
    limits: Limits = Limits()
    display: Literal["document", "sentence", "both"]
    terms: Terms
    facts_as_of: Date
    confidence: dict[Pointer, Mark] = Field(default={}, exclude_if=_is_empty)
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


def select_bearing_facts(card: Card) -> dict[str, Any]:
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
