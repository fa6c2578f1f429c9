"""Plugins: four small interfaces, found by entry point name.

A plugin returns values and raises errors; it cannot write a record. Its options are text, come from the protocol, and
are sealed as they are.
*Reads* the entry points of the installed distributions. *Writes* nothing. *Never* imports a plugin that was not named.
"""

from __future__ import annotations

import hashlib
import importlib.metadata
import importlib.util
from collections.abc import Callable, Iterator, Mapping, Sequence
from pathlib import Path
from typing import Any, Literal, NamedTuple, Protocol

from penmark import records
from penmark.errors import ServiceError, UsageError, describe_install, suggest_name

DETECTORS = "penmark.detectors"
SOURCES = "penmark.sources"
GENERATORS = "penmark.generators"
ATTACKS = "penmark.attacks"
ENGINES = "penmark.engines"


class Answer(NamedTuple):
    """A detector's answer, word for word: the raw answer as JSON bytes."""

    body: bytes


class Declined(NamedTuple):
    """No answer, and why, in words; ``body`` is what came instead, where something did."""

    reason: str
    body: bytes | None = None


class Exchange(NamedTuple):
    """One request over HTTP and what came back, as it may be kept: neither a secret nor the text stands in it.

    ``step``: login, send, upload or poll. ``sent_at``, ``got_at``: seconds since 1970. ``status``, ``headers`` and
    ``body_sha256`` are those of the answer; None and empty where none came.
    """

    step: str
    method: str
    url: str
    sent_at: float
    got_at: float
    status: int | None
    headers: tuple[tuple[str, str], ...]
    body_sha256: str | None


class Heard(NamedTuple):
    """What a vendor said, and the exchanges in which it was heard."""

    said: Answer | Declined
    exchanges: tuple[Exchange, ...]


class UnansweredError(ServiceError):
    """A vendor was asked and gave no answer.

    ``again``: the same may be asked again, after ``retry_after`` seconds where the vendor said so. ``stop``: whatever is
    asked next would fare no better (key, credit, address). ``charged``: whether the vendor may have taken its price.
    ``job``: what it called the work that it took on; ``resume`` asks for that instead of sending the text again.
    """

    def __init__(
        self,
        fact: str,
        *,
        remedy: str | None = None,
        again: bool = False,
        stop: bool = False,
        retry_after: float | None = None,
        charged: Literal["no", "maybe"] = "no",
    ) -> None:
        super().__init__(fact, remedy=remedy)
        self.again, self.stop, self.retry_after, self.charged = again, stop, retry_after, charged
        self.job: dict[str, str] = {}
        self.exchanges: tuple[Exchange, ...] = ()


class Draft(NamedTuple):
    """A text on its way into the corpus, and what its source knows about it.

    ``text``: the bytes, never changed. ``place``: file and row, for messages. ``fields``: language, register, subgroup,
    author, topic, source, exposures (joined with ``;``), withheld (why not published). ``provenance``: a flat row for
    ``provenance.from_row``; names that no record knows are told to the user as unused. ``claims``: what the source
    itself says of the text (``claimed_kind``, ``claimed_model``, …), which screening holds against truth and
    provenance. ``draft``: the bytes of the AI draft of an edited text.
    """

    id: str
    text: bytes
    place: str
    fields: dict[str, str]
    provenance: dict[str, str]
    claims: dict[str, str] = {}
    draft: bytes | None = None


class Detector(Protocol):
    """Made by ``factory(options)``. ``version``: what it calls itself. One call of ``read`` reads one text."""

    version: str

    def read(self, text: str) -> Answer | Declined: ...


class Shown(Protocol):
    """A request as an engine would send it, with secrets by the names of their variables."""

    @property
    def step(self) -> str: ...
    @property
    def method(self) -> str: ...
    @property
    def url(self) -> str: ...
    @property
    def headers(self) -> dict[str, str]: ...
    @property
    def body(self) -> bytes | None: ...


class Engine(Protocol):
    """Asks a vendor as its card says; made by ``factory(card, settings, version, …)``, and used by several threads.

    ``ask``: ``call_id`` is the caller's own name for the work; ``noted`` is told what the vendor calls it. ``resume``
    asks for that. Both raise UnansweredError. ``shown`` sends nothing.
    """

    def ask(self, text: str, call_id: str, noted: Callable[[dict[str, str]], None]) -> Heard: ...

    def resume(self, job: Mapping[str, str]) -> Heard: ...

    def shown(self) -> Sequence[Shown]: ...

    def close(self) -> None: ...


class Source(Protocol):
    """Made by ``factory(options)``. ``gather`` yields the drafts of an arm, in any order.

    Every fault is found in one pass: what is wrong is kept until the last draft has been yielded, and raised as one
    FaultsError. Relative paths in the option ``path`` are made absolute before the factory sees them. A source may have
    ``notes``: once all is gathered, what it left out and why, in words for the user; and ``left_out``: the same for the
    bundle, by what was read (a digest, say) how many texts for which reason; and ``columns``: what the columns of what it
    read are called, for messages. Its class may have ``promised``: names of
    fields of the protocol that it is given as options, whatever the user says.
    """

    def gather(self, arm_name: str) -> Iterator[Draft]: ...


class Found(NamedTuple):
    """What stands today at the place that a locator names.

    ``evidence_sha256`` and ``evidence_date`` are those of the kept copy. ``text``: what is made of it; None, with the
    reason in ``remark``, where this machine cannot make it as it was made (another version of the extractor, say).
    """

    evidence_sha256: str
    evidence_date: str
    text: bytes | None
    remark: str = ""


class Refinding(Protocol):
    """A source that can find a text again by the locator of its provenance, for anyone who has the record alone.

    Raises PenmarkError where the copy is no longer there, or is another one than it says; ServiceError where nobody
    answered. Asks only the addresses and opens only the files that its own options name, whatever the locator says.
    """

    def again(self, locator: dict[str, str]) -> Found: ...


class Prepared(NamedTuple):
    """A request for a text as it will leave, its secrets apart. ``body``: the exact bytes.

    ``settings``: what is sent beside model and prompt, as it is called there; ``not_honoured``: settings that were
    asked for and are not sent, since the provider has none of that name.
    """

    method: str
    url: str
    headers: tuple[tuple[str, str], ...]
    body: bytes
    settings: dict[str, str]
    not_honoured: tuple[str, ...]


class Written(NamedTuple):
    """What a model wrote, word for word from the answer, and what the answer says about it.

    ``text``: None where the answer holds none, with the reason in ``remark``. ``cut``, ``refused``: what the finish
    reason (raw) or the provider's own field means. ``body``: the answer's bytes as they may be kept, without secrets.
    ``sent_at``, ``got_at``: seconds since 1970.
    """

    text: str | None
    finish_reason: str | None
    cut: bool
    refused: bool
    remark: str | None
    model: str | None
    answer_id: str | None
    request_id: str | None
    fingerprint: str | None
    tokens_read: int | None
    tokens_written: int | None
    status: int
    headers: tuple[tuple[str, str], ...]
    body: bytes
    sent_at: float
    got_at: float


class Generator(Protocol):
    """Made by ``factory(options)``: ``model``, ``key`` (the name of an environment variable), ``settings.NAME`` and its own.

    ``local``: runs on this machine, and costs nothing; ``factory.here(options)``, where there is one, says so before it is
    made and without a key, for a plan. ``prepare`` sends nothing; ``write`` asks once, for one text,
    and raises UnansweredError where none came. One instance serves one thread.
    """

    local: bool

    def prepare(self, prompt: str) -> Prepared: ...

    def write(self, prepared: Prepared) -> Written: ...


class Attack(Protocol):
    """Made by ``factory(options)``. Rewrites a text; the same seed gives the same text where it can promise that."""

    def rewrite(self, text: str, seed: bytes) -> str: ...


def load_detector(name: str) -> Callable[[dict[str, str]], Detector]:
    """The factory of a detector plugin. Raises UsageError for an unknown name, ServiceError where it fails to load."""
    factory: Callable[[dict[str, str]], Detector] = _load_plugin(DETECTORS, name)
    return factory


def load_source(name: str) -> Callable[[dict[str, str]], Source]:
    """The factory of a source plugin; errors as for ``load_detector``."""
    factory: Callable[[dict[str, str]], Source] = _load_plugin(SOURCES, name)
    return factory


def load_generator(name: str) -> Callable[[dict[str, str]], Generator]:
    """The factory of a generator plugin; errors as for ``load_detector``."""
    factory: Callable[[dict[str, str]], Generator] = _load_plugin(GENERATORS, name)
    return factory


def load_engine(name: str) -> Callable[..., Engine]:
    """The factory of an engine; errors as for ``load_detector``."""
    factory: Callable[..., Engine] = _load_plugin(ENGINES, name)
    return factory


def check_options(given: dict[str, str], *known: str) -> dict[str, str]:
    """``given``, which may hold the options ``known``. Raises UsageError for others: they would be promised and do nothing."""
    unknown = sorted(set(given) - set(known))
    if unknown:
        takes = f"It takes: {', '.join(known)}." if known else "It takes none."
        raise UsageError(f"the plugin has no option {', '.join(unknown)}", remedy=takes)
    return given


def list_plugins(group: str) -> list[str]:
    """The names of all installed plugins of a group, sorted."""
    return sorted({entry.name for entry in importlib.metadata.entry_points(group=group)})


def describe_plugin(group: str, name: str) -> records.Plugin:
    """Which code the plugin ``name`` is: distribution, version, and the SHA-256 of the source file of its module.

    Loads no plugin. Raises UsageError for an unknown name, ServiceError where its file cannot be found.
    """
    entry = _find_entry_point(group, name)
    try:
        spec = importlib.util.find_spec(entry.module)
    except ImportError:
        spec = None
    if entry.dist is None or spec is None or spec.origin is None or not Path(spec.origin).is_file():
        raise ServiceError(
            f"the code of the plugin {name} ({entry.value}) cannot be found",
            remedy="Install the distribution that it comes in again.",
        )
    digest = hashlib.sha256(Path(spec.origin).read_bytes()).hexdigest()
    return records.Plugin(name=name, distribution=entry.dist.name, version=entry.dist.version, sha256=digest)


_READ_BY = dict.fromkeys(("csv", "tsv", "json", "jsonl", "ndjson", "parquet"), "table") | {"txt": "folder"}
"""The source that reads files of a kind, for those who name the kind."""


def _find_entry_point(group: str, name: str) -> importlib.metadata.EntryPoint:
    found = [e for e in importlib.metadata.entry_points(group=group) if e.name == name]
    what = group.removeprefix("penmark.").removesuffix("s")
    if not found:
        known = list_plugins(group)
        other = _READ_BY.get(name.lower())
        near = f" (did you mean {other}?)" if other in known else suggest_name(name, known)
        raise UsageError(
            f"there is no {what} plugin {name!r}{near}",
            remedy=f"Installed: {', '.join(known) or 'none'}. Others come with a distribution that registers an entry "
            f"point in the group {group}.",
        )
    if len({(e.value, e.dist.name if e.dist is not None else "") for e in found}) > 1:
        raise UsageError(
            f"the {what} plugin {name!r} is registered twice: " + ", ".join(sorted(e.value for e in found)),
            remedy="Uninstall one of the distributions that register it.",
        )
    return found[0]


def _load_plugin(group: str, name: str) -> Any:
    entry = _find_entry_point(group, name)
    try:
        return entry.load()
    except (ImportError, AttributeError) as error:
        raise ServiceError(
            f"the plugin {name} ({entry.value}) cannot be loaded: {error}",
            remedy=f"Install what it needs. What the shipped plugins need: {describe_install('all')}",
        ) from error
