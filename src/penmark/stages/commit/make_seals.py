"""Seals: digests of what was decided or found, chained to the seal before, with timestamps from outside.

*Reads* the files that it seals, the protocol, the cards, the digests of plugins. *Writes* protocol.json,
detectors/<detector>.json, seals/<name>.json and <file>-<authority>.tsr. The only room that asks an authority.
*Never* writes a seal twice, out of order, or over a sealed file that was changed since; never looks at the clock.
"""

from __future__ import annotations

import hashlib
import time
from collections.abc import Callable, Iterable, Mapping
from pathlib import Path, PurePosixPath
from typing import Literal, NamedTuple

import httpx2
from rfc3161_client import HashAlgorithm, TimestampRequestBuilder

from penmark import SOFTWARE, cards, protocol, study, timestamps
from penmark.errors import Fault, FaultsError, PenmarkError, ServiceError, UsageError
from penmark.format import canonical_json, versions
from penmark.protocol import promise_chain
from penmark.records import Announcement, Authority, Head, Protocol, Seal
from penmark.stages.commit import readiness
from penmark.study import Edition, Study, seal_files

Kind = Literal["promise", "corpus", "heads", "evidence"]
Ask = Callable[[str, bytes], bytes]
"""Posts a query (bytes) to an address and returns the answer. Raises ServiceError."""

PATIENCE = 20.0
"""An authority has so long to answer (seconds)."""
_LOOPBACK = ("all://127.0.0.1", "all://localhost", "all://[::1]")
MAX_SEALED = 8 * 2**30
"""No file under a seal is larger than this (bytes)."""
_RESTORE = "Restore the sealed file from a copy."
_AMEND = "A change of rules is announced for a later edition: `penmark amend`."


class SealResult(NamedTuple):
    """A seal that stands, and what its authorities did not do: one sentence each, with a way forward."""

    path: Path
    warnings: tuple[str, ...]


class AskedAuthorities(NamedTuple):
    """Tokens that were written, and one sentence for each authority that gave none."""

    written: tuple[Path, ...]
    warnings: tuple[str, ...]


# --- the promise ---------------------------------------------------------------------------------------------------


def prepare_promise(place: Study, edition: Edition, promised: Protocol) -> list[str]:
    """Write protocol.json and the card of each detector as promised; the paths, below the edition, of all to be sealed.

    Raises UsageError where it is too late for that, FaultsError with every decision that is still open and everything
    that is wrong with protocol, cards, plugins and seed. Nothing is written then.
    """
    for path in (edition.seal("promise"), edition.manifest, *edition.journal_files()):
        if path.exists():
            raise UsageError(f"exists, so {edition.tag} cannot be promised any more", place=str(path), remedy=_AMEND)
    found = readiness.prepare_prospect(place, edition, promised)
    if faults := [*found.faults, *protocol.list_undecided(promised, edition.protocol_yaml)]:
        raise FaultsError(faults)
    sealed = {f"detectors/{name}.json": cards.encode_card(card) for name, card in found.sealed.items()}
    if (earlier := promise_chain.before(place.editions(), edition)) is not None:
        promise_chain.carry(earlier, edition)
    for left_over in set(edition.detectors.glob("*.json")) - {edition.root / path for path in sealed}:
        left_over.unlink()  # of a commit that did not come to its seal
    for name, data in sealed.items():
        study.write_bytes(edition.root / name, data)
    study.write_bytes(edition.protocol_json, protocol.encode_protocol(promised))
    return ["protocol.json", "protocol.yaml", *sealed]


def check_same(edition: Edition, promised: Protocol) -> None:
    """Raises UsageError where ``promised`` says something else than the protocol that is sealed."""
    if protocol.encode_protocol(promised) != study.read_bytes(edition.protocol_json):
        raise UsageError(
            "says something else than the promise that is sealed",
            place=str(edition.protocol_yaml),
            remedy=f"Restore it as it was sealed, from a copy. {_AMEND}",
        )


# --- seals ---------------------------------------------------------------------------------------------------------


def list_seal_order(edition: Edition) -> list[str]:
    """The names of the seals that exist, in their order: promise, corpus, heads-0001 …, evidence."""
    return edition.seal_names()


def make_seal(
    edition: Edition,
    kind: Kind,
    study_name: str,
    digests: Iterable[str],
    *,
    journals: Mapping[str, Head] | None = None,
    announced: Announcement | None = None,
    authorities: Iterable[Authority],
    now: str,
    ask: Ask | None = None,
) -> SealResult:
    """Seal the files ``digests`` (paths below the edition), then ask each authority for a timestamp over the seal.

    ``now``: RFC 3339, UTC. The seal stands whatever the authorities do; who gave no token is told in ``warnings``.
    Raises UsageError where the kind is not the next one, PenmarkError where the clock runs backwards, where a file is
    missing, or where one that an earlier seal holds was changed since.
    """
    before = list_seal_order(edition)
    name = _name_next_seal(edition, kind, before)
    _check_clock(edition, before, now)
    check_unchanged(edition)
    number = protocol.read_format(edition)
    value = Seal(
        format=number,
        kind=kind,
        study=study_name,
        edition=edition.tag,
        sealed_at=now,
        software=SOFTWARE,
        rules=versions.rules_written(number),
        previous=canonical_json.sha256(study.read_bytes(edition.seal(before[-1])))
        if before
        else promise_chain.previous(edition),
        digests={path: _compute_digest(edition, path) for path in sorted(digests)},
        journals=dict(journals) if journals is not None else {},
        announced=announced,
    )
    path = edition.seal(name)
    study.write_bytes(path, canonical_json.encode_json(value.model_dump(mode="json")))
    return SealResult(path, request_tokens(path, authorities, ask=ask).warnings)


def _name_next_seal(edition: Edition, kind: Kind, before: list[str]) -> str:
    """The name of the seal that comes next, if it is of that kind."""
    place = str(edition.seals)
    if "evidence" in before:
        raise UsageError(
            f"the evidence of {edition.tag} is sealed: this edition is closed",
            place=place,
            remedy="`penmark publish` makes its bundle; `penmark init --edition TAG` starts the next edition.",
        )
    if kind == "promise" and before:
        raise UsageError(f"the promise of {edition.tag} is sealed already", place=place, remedy=_AMEND)
    if kind != "promise" and "promise" not in before:
        raise UsageError("nothing is promised yet", place=place, remedy="Seal the promise first: `penmark commit`.")
    if kind == "corpus" and "corpus" in before:
        raise UsageError(f"the corpus of {edition.tag} is frozen already", place=place, remedy=_AMEND)
    if kind in ("heads", "evidence") and "corpus" not in before:
        raise UsageError("the corpus is not frozen", place=place, remedy="Freeze it first: `penmark freeze`.")
    if kind != "heads":
        return kind
    number = 1 + sum(name.startswith("heads-") for name in before)
    if number > 9999:
        raise UsageError("9999 starts and stops are sealed; there is room for no more", place=place, remedy=_AMEND)
    return f"heads-{number:04d}"


def _check_clock(edition: Edition, before: list[str], now: str) -> None:
    held = [(edition, name) for name in before]
    if not before and edition.earlier.seal("promise").is_file():
        held = [(edition.earlier, "promise")]
    for whose, name in held:
        earlier = seal_files.read_seal(whose, name)
        if timestamps.parse_rfc3339(now) < timestamps.parse_rfc3339(earlier.sealed_at):
            raise PenmarkError(
                f"the clock says {now}, which is before the seal of {earlier.sealed_at}",
                place=str(whose.seal(name)),
                remedy="Set this machine's clock right and run the same command again.",
            )


def check_unchanged(edition: Edition) -> None:
    """Raises FaultsError for every file, journal and seal that is not as a later seal holds it."""
    faults: list[Fault] = []
    earlier: str | None = None
    for name in list_seal_order(edition):
        held = seal_files.read_seal(edition, name)
        if earlier is None and held.previous != promise_chain.previous(edition):
            fact = "does not name the promise in earlier/: that was changed or lost"
            faults.append(Fault(str(edition.seal(name)), fact, "Restore earlier/ and the seals from a copy."))
        if earlier is not None and held.previous != _compute_digest(edition, f"seals/{earlier}.json"):
            fact = (
                f"was not made after {earlier}.json as it stands: that was changed, or a seal between them is missing"
            )
            faults.append(Fault(str(edition.seal(name)), fact, "Restore the seals from a copy."))
        for path, digest in held.digests.items():
            if _compute_digest(edition, path) != digest:
                why = study.compare_file_line_ends(edition.root / path, digest)
                fact = f"is not the file that the {name} seal holds{why}"
                faults.append(Fault(str(edition.root / path), fact, f"{_RESTORE} {_AMEND}"))
        for path, head in held.journals.items():
            if not study.has_line_digest(edition.root / path, head.lines, head.head):
                fact = f"does not hold the {head.lines} lines that {name} was sealed over"
                faults.append(Fault(str(edition.root / path), fact, _RESTORE))
        earlier = name
    if faults:
        raise FaultsError(faults)


def _compute_digest(edition: Edition, path: str) -> str:
    """SHA-256 of a file of the edition, read in pieces. Raises PenmarkError: outside, no plain file, too large."""
    parts = PurePosixPath(path).parts
    file = edition.root / path
    if not parts or PurePosixPath(path).is_absolute() or ".." in parts or "\\" in path:
        raise PenmarkError("is not a path inside the edition", place=path)
    if file.is_symlink() or not file.is_file():
        raise PenmarkError(
            "is not a file, so it cannot be sealed", place=str(file), remedy="Restore it, or make it again."
        )
    try:
        size = file.stat().st_size
        if size > MAX_SEALED:
            fact = f"is {size} bytes; the limit is {MAX_SEALED}"
            raise PenmarkError(fact, place=str(file), remedy="Look what it is: no file of an edition is so large.")
        with file.open("rb") as stream:
            return hashlib.file_digest(stream, "sha256").hexdigest()
    except OSError as error:
        raise study.make_disk_error(error, file) from None


# --- timestamps from outside ---------------------------------------------------------------------------------------


def retry_tokens(
    edition: Edition, authorities: Iterable[Authority], *, also: Iterable[Path] = (), ask: Ask | None = None
) -> AskedAuthorities:
    """Ask again for the tokens that are missing: of the newest seal, and of the files ``also``.

    Not of older seals: the seal after one holds its digest and so proves when it existed; a token of today would only
    say something later, and put the times out of order. Nor of the corpus once it was asked about: the token would say
    that it is younger than the questions.
    """
    newest, asked = [edition.seal(name) for name in list_seal_order(edition)[-1:]], list(authorities)
    begun = [path for path in newest if path == edition.seal("corpus") and edition.journal_files()]
    told = [request_tokens(path, asked, ask=ask) for path in (*newest, *also) if path not in begun]
    told += [_too_late(path, asked) for path in begun]
    return AskedAuthorities(tuple(p for t in told for p in t.written), tuple(w for t in told for w in t.warnings))


def _too_late(path: Path, authorities: Iterable[Authority]) -> AskedAuthorities:
    """What a seal lacks that a token of today would make worse."""
    lacking = [each.name for each in authorities if not locate_token(path, each.name).exists()]
    why = "is not asked again: journals are begun, and a token of today would say that the corpus is younger"
    return AskedAuthorities((), tuple(f"{path.name} has no timestamp of {name}, which {why}" for name in lacking))


def request_tokens(path: Path, authorities: Iterable[Authority], *, ask: Ask | None = None) -> AskedAuthorities:
    """Ask each authority that has given none yet for a token over a file; it is kept as ``<stem>-<authority>.tsr``."""
    data = study.read_bytes(path)
    written: list[Path] = []
    warnings: list[str] = []
    for authority in authorities:
        target = locate_token(path, authority.name)
        if target.exists():
            continue
        try:
            study.write_bytes(target, _request_token(data, authority.url, post_query if ask is None else ask))
            written.append(target)
        except ServiceError as error:
            warnings.append(
                f"{path.name} has no timestamp of {authority.name} ({authority.url}): {error.faults[0].fact}. "
                "It stands; `penmark commit` asks again, until the next seal is made."
            )
    return AskedAuthorities(tuple(written), tuple(warnings))


def locate_token(path: Path, authority: str) -> Path:
    """Where the token of an authority over a file is kept."""
    return path.with_name(f"{path.stem}-{authority}.tsr")


def list_token_files(path: Path) -> list[Path]:
    """The tokens that lie beside a sealed file, by name."""
    return sorted(path.parent.glob(f"{path.stem}-*.tsr"))


def _request_token(data: bytes, url: str, ask: Ask) -> bytes:
    """A token over ``data`` that is sound and answers this very query. Raises ServiceError."""
    builder = TimestampRequestBuilder().data(data).hash_algorithm(HashAlgorithm.SHA256)
    query = builder.nonce(nonce=True).cert_request(cert_request=True).build()
    answer = ask(url, query.as_bytes())
    result = timestamps.check_token(
        answer, data, timestamps.Trust()
    )  # whether its root is trusted is for the readers to say
    if result.state == "failed":
        raise ServiceError(f"its answer is no timestamp of this file: {result.detail}")
    if timestamps.read_nonce(answer) != query.nonce:
        raise ServiceError("it answered another query than this one")
    return answer


def post_query(url: str, query: bytes, *, seconds: float = PATIENCE) -> bytes:
    """Post a timestamp query; the answer's bytes. Raises ServiceError where none comes in time, or not a fit one."""
    until = time.monotonic() + seconds
    answer = b""
    headers = {"Content-Type": "application/timestamp-query", "Accept": "application/timestamp-reply"}
    try:
        # A proxy of the environment is for the world outside, never for an authority on this machine.
        with (
            httpx2.Client(timeout=seconds, mounts=dict.fromkeys(_LOOPBACK)) as client,
            client.stream("POST", url, content=query, headers=headers) as response,
        ):
            if response.status_code != 200:
                raise ServiceError(f"it answered HTTP {response.status_code} {response.reason_phrase}".rstrip())
            for piece in response.iter_raw():
                answer += piece
                if len(answer) > timestamps.MAX_TOKEN:
                    raise ServiceError(f"its answer is longer than {timestamps.MAX_TOKEN} bytes")
                if time.monotonic() > until:
                    raise ServiceError(f"its answer took longer than {seconds:g} seconds")
    except httpx2.TimeoutException:
        raise ServiceError(f"no answer within {seconds:g} seconds") from None
    except (httpx2.HTTPError, httpx2.InvalidURL, OSError) as error:
        raise ServiceError(f"it cannot be reached ({str(error) or type(error).__name__})") from None
    return answer
