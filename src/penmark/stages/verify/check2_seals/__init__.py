"""Check 2, seals: what was sealed, in which order, when, and who else says so.

*Reads* seals/, their tokens, and the files that they seal. *Never* asks an authority: tokens are judged offline.
"""

from __future__ import annotations

from dataclasses import dataclass, field
from itertools import pairwise, zip_longest
from pathlib import Path

from penmark import study, timestamps
from penmark.errors import PenmarkError
from penmark.format import versions
from penmark.records import Seal
from penmark.stages.verify.check1_sums import is_safe_path
from penmark.stages.verify.check2_seals import seal_tokens
from penmark.stages.verify.check_findings import Findings
from penmark.study.digests import digest_file
from penmark.study.seal_files import read_seal

_SEALED = "What was sealed was changed afterwards, or the seal was. Ask the publisher for the sealed files."
_KINDS = ("promise", "corpus", "evidence")


@dataclass
class Sealed:
    """The seals that can be read, in their order, with all that tokens say of each. ``stamped``: since when others had it."""

    seals: dict[str, Seal] = field(default_factory=dict)
    stamps: dict[str, list[seal_tokens.Stamp]] = field(default_factory=dict)
    stamped: dict[str, str] = field(default_factory=dict)


def check_seals(edition: study.Edition, trust: timestamps.Trust, sealed: Sealed, found: Findings) -> None:
    """Imprints, order, chain, authorities, announcement; fills ``sealed``."""
    names = edition.seal_names()
    _check_names(names, found)
    sealed.seals |= {name: seal for name in names if (seal := _read_and_check_seal(edition, name, found)) is not None}
    _check_chain(edition, names, sealed.seals, found)
    for name, seal in sealed.seals.items():
        _check_digests(edition.root, name, seal, found)
    _check_coverage(edition, sealed.seals, found)
    for name in sealed.seals:
        sealed.stamps[name] = seal_tokens.judge_tokens_beside(edition.seal(name), trust, found)
        if (time := seal_tokens.find_first_time(sealed.stamps[name])) is not None:
            sealed.stamped[name] = time
        elif name in _KINDS:
            why = "no token from outside: the time is the operator's word"
            found.not_checked(f"seals/{name}.json", why, "Ask the publisher for timestamps.")
    _check_token_order(sealed, found)
    seal_tokens.find_stray_tokens(edition.seals, found)
    if "corpus" in sealed.seals:
        _check_announcement(sealed.seals["corpus"], sealed.seals.get("promise"), found)
    if found.clean:
        found.ok("seals", f"{len(names)} seals, chained, every sealed file as it was")


def _check_names(names: list[str], found: Findings) -> None:
    """The three seals, and between them the heads, numbered without a gap."""
    for needed in _KINDS:
        if needed not in names:
            remedy = "An edition is promised, frozen and closed by seals."
            found.failed(f"seals/{needed}.json", "is missing", "a seal", remedy)
    others = [name for name in names if name not in _KINDS]
    for number, name in enumerate(others, 1):
        wanted = f"heads-{number:04d}"
        if name != wanted:
            found.failed(f"seals/{name}.json", "stands here", f"seals/{wanted}.json", _SEALED)
            break


def _read_and_check_seal(edition: study.Edition, name: str, found: Findings) -> Seal | None:
    place = f"seals/{name}.json"
    try:
        seal = read_seal(edition, name)
        for at in [seal.sealed_at] if seal.announced is None else [seal.sealed_at, seal.announced.captured_at]:
            seal_tokens.check_time(at, place)
    except PenmarkError as error:
        found.error(error)
        return None
    if (number := versions.find_format(edition.root)) in versions.READS:
        found.equal(f"{place} format", seal.format, number, "An edition is of one format.")
    if name != "corpus":
        found.equal(f"{place} announced", seal.announced, None, "The corpus seal says what was announced before it.")
    if name in ("promise", "corpus"):
        found.equal(f"{place} journals", sorted(seal.journals), [], "There was no journal yet.")
    return seal


def _check_chain(edition: study.Edition, names: list[str], read: dict[str, Seal], found: Findings) -> None:
    before, at = _read_earlier_promise(edition, found)
    for name in names:
        seal = read.get(name)
        if seal is not None:
            found.equal(
                f"seals/{name}.json previous", seal.previous, before, "Each seal holds the digest of the one before."
            )
            if at is not None and timestamps.parse_rfc3339(seal.sealed_at) < timestamps.parse_rfc3339(at):
                found.failed(f"seals/{name}.json", f"sealed at {seal.sealed_at}", f"not before {at}", _SEALED)
            at = seal.sealed_at
            first = read[next(iter(read))]
            found.equal(f"seals/{name}.json study", (seal.study, seal.edition), (first.study, first.edition), _SEALED)
        before = digest_file(edition.seal(name))


def _read_earlier_promise(edition: study.Edition, found: Findings) -> tuple[str | None, str | None]:
    """Digest and time of the promise before this one, which the first seal names; None for the first of a study."""
    path = edition.earlier.seal("promise")
    if not path.is_file():
        return None, None
    try:
        held = read_seal(edition.earlier, "promise")
        seal_tokens.check_time(held.sealed_at, "earlier/promise.json")
    except PenmarkError as error:
        found.error(error)
        return digest_file(path), None
    return digest_file(path), held.sealed_at


def _check_digests(root: Path, name: str, seal: Seal, found: Findings) -> None:
    for path, expected in sorted(seal.digests.items()):
        if not is_safe_path(path):
            found.failed(f"seals/{name}.json", f"names the path {path}", "a plain path inside the bundle", _SEALED)
            continue
        try:
            got = f"SHA-256 {digest_file(root / path)}"
        except PenmarkError as error:
            found.error(error)
            continue
        found.equal(path, got, f"SHA-256 {expected}", f"seals/{name}.json holds another digest. {_SEALED}")


def _check_coverage(edition: study.Edition, read: dict[str, Seal], found: Findings) -> None:
    """Each kind of seal covers all that it is for: nothing can be added beside what was sealed."""
    present = {
        "promise": ["protocol.json", "protocol.yaml", *_list_folder_paths(edition.detectors)],
        "corpus": ["manifest.jsonl", "screening.csv", *(["pool.jsonl"] if edition.pool.exists() else [])],
        "evidence": _list_folder_paths(edition.tables),
    }
    for name, seal in read.items():
        expected, got = sorted(present.get(name, [])), sorted(seal.digests)
        if got != expected:
            odd = sorted(set(got) ^ set(expected))
            found.failed(
                f"seals/{name}.json digests",
                f"differ in {', '.join(odd)}",
                "a digest of each file of its kind, and no other",
                "The seal covers just the files of its kind.",
            )
    if "evidence" in read:
        journals = sorted(f"journal/{p.name}" for p in edition.journal_files())
        found.equal("seals/evidence.json journals", sorted(read["evidence"].journals), journals, _SEALED)


def _list_folder_paths(folder: Path) -> list[str]:
    return [f"{folder.name}/{p.name}" for p in study.own(folder)]


def _check_token_order(sealed: Sealed, found: Findings) -> None:
    """No token is older than its seal, none younger than the next, whoever gave it; the earliest over each seal come one
    after the other, and so do the earliest of those that the reader trusts."""
    names = list(sealed.seals)
    for name, following in zip_longest(names, names[1:]):
        place, said = f"seals/{name}.json", sealed.seals[name].sealed_at
        for at, _ in sealed.stamps.get(name, []):
            if timestamps.parse_rfc3339(at) + seal_tokens.CLOCK < timestamps.parse_rfc3339(said):
                found.failed(place, f"says sealed at {said}", f"about {at}, as its token says", _SEALED)
            limit = at if following is None else sealed.seals[following].sealed_at
            if timestamps.parse_rfc3339(at) > timestamps.parse_rfc3339(limit) + seal_tokens.CLOCK:
                remedy = "Nobody else saw this seal before the next one was made: it may have been made afterwards."
                found.failed(place, f"token of {at}", f"before seals/{following}.json was made, {limit}", remedy)
        if (seen := sealed.stamped.get(name)) and timestamps.parse_rfc3339(seen) > timestamps.parse_rfc3339(
            said
        ) + seal_tokens.CLOCK:
            why = f"says sealed at {said}, its token {seen}: until then it is the operator's word"
            found.not_checked(place, why, "Take the token's time for the seal's.")
    _check_times_ascend({name: times for name, times in sealed.stamps.items() if times}, found)
    _check_times_ascend(
        {name: own for name, times in sealed.stamps.items() if (own := seal_tokens.list_trusted(times))}, found
    )


def _check_times_ascend(held: dict[str, list[seal_tokens.Stamp]], found: Findings) -> None:
    """The earliest times of these tokens do not decrease along the seals."""
    times = {name: min((one.at for one in each), key=timestamps.parse_rfc3339) for name, each in held.items()}
    for (last, before), (name, at) in pairwise(times.items()):
        if timestamps.parse_rfc3339(at) < timestamps.parse_rfc3339(before):
            found.failed(f"seals/{name}.json", f"token of {at}", f"after that of {last}, {before}", _SEALED)


def _check_announcement(corpus: Seal, promise: Seal | None, found: Findings) -> None:
    """Others can have captured the promise only when it was made, and did before the corpus was sealed."""
    if corpus.announced is None:
        found.not_checked("announcement", "not publicly pre-registered", "Nothing to do: the pages say so.")
        return
    place, at = "seals/corpus.json announced", corpus.announced.captured_at
    if timestamps.parse_rfc3339(at) > timestamps.parse_rfc3339(corpus.sealed_at):
        found.failed(place, f"captured at {at}", f"before {corpus.sealed_at}", _SEALED)
    if promise is not None and timestamps.parse_rfc3339(at) + seal_tokens.CLOCK < timestamps.parse_rfc3339(
        promise.sealed_at
    ):
        remedy = "Ask whoever captured it when that was: what they have is not this promise."
        found.failed(place, f"captured at {at}", f"after the promise, {promise.sealed_at}", remedy)
    remedy = "Open the capture and compare it with protocol.yaml."
    found.not_checked("announcement", f"captured at {corpus.announced.capture}", remedy)
