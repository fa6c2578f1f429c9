"""Check 2, seals: what was sealed, in which order, when, and who else says so.

*Reads* seals/, their tokens, and the files that they seal. *Never* asks an authority: tokens are judged offline.
"""

from __future__ import annotations

from datetime import timedelta
from pathlib import Path

from pydantic import ValidationError

from penmark import canon, study, tokens
from penmark.errors import PenmarkError
from penmark.records import Seal
from penmark.verify.found import Found
from penmark.verify.sums import digest, safe

CLOCK = timedelta(minutes=5)
"""How far an operator's clock may be ahead of an authority's."""
_SEALED = "What was sealed was changed afterwards, or the seal was. Ask the publisher for the sealed files."


def seals(edition: study.Edition, trust: tokens.Trust, found: Found) -> dict[str, Seal]:
    """Imprints, order, chain, authorities, announcement; gives the seals that can be read, in their order."""
    names = edition.seal_names()
    for needed in ("promise", "corpus", "evidence"):
        if needed not in names:
            found.failed(
                f"seals/{needed}.json", "is missing", "a seal", "An edition is promised, frozen and closed by seals."
            )
    read = {name: seal for name in names if (seal := _read(edition, name, found)) is not None}
    _chain(edition, names, read, found)
    for name, seal in read.items():
        _digests(edition.root, name, seal, found)
    _coverage(edition, read, found)
    times = {name: _tokens(edition, name, trust, found) for name in read}
    _order(read, times, found)
    if "corpus" in read:
        _announced(read["corpus"], found)
    for path in sorted(edition.seals.glob("*.tsr")) if edition.seals.is_dir() else []:
        if not any(path.name.startswith(f"{name}-") for name in names):
            found.failed(
                f"seals/{path.name}",
                "is a token of no seal",
                "tokens beside their seals",
                "Remove it, or find its seal.",
            )
    if found.clean:
        found.ok("seals", f"{len(read)} seals, chained, every sealed file as it was")
    return read


def read(edition: study.Edition, name: str) -> Seal:
    """The seal of that name. Raises PenmarkError where it is missing, not canonical, or not a seal."""
    path = edition.seal(name)
    data = study.read(path, limit=64 * 2**20)
    canon.decode(data, place=str(path))
    try:
        return Seal.model_validate_json(data)
    except ValidationError as error:
        raise study.validated(str(path), error.errors()) from None


def _read(edition: study.Edition, name: str, found: Found) -> Seal | None:
    try:
        seal = read(edition, name)
    except PenmarkError as error:
        found.error(error)
        return None
    kind = "heads" if name.startswith("heads-") else name
    found.equal(f"seals/{name}.json kind", seal.kind, kind, "A seal's name says its kind.")
    return seal


def _chain(edition: study.Edition, names: list[str], read: dict[str, Seal], found: Found) -> None:
    before: str | None = None
    at: str | None = None
    for name in names:
        seal = read.get(name)
        if seal is not None:
            found.equal(
                f"seals/{name}.json previous", seal.previous, before, "Each seal holds the digest of the one before."
            )
            if at is not None and tokens.moment(seal.sealed_at) < tokens.moment(at):
                found.failed(f"seals/{name}.json", f"sealed at {seal.sealed_at}", f"not before {at}", _SEALED)
            at = seal.sealed_at
            first = read[next(iter(read))]
            found.equal(f"seals/{name}.json study", (seal.study, seal.edition), (first.study, first.edition), _SEALED)
        before = digest(edition.seal(name))


def _digests(root: Path, name: str, seal: Seal, found: Found) -> None:
    for path, expected in sorted(seal.digests.items()):
        if not safe(path) or (root / path).is_symlink():
            found.failed(f"seals/{name}.json", f"names the path {path!r}", "a plain path inside the bundle", _SEALED)
            continue
        try:
            found.equal(
                path,
                f"SHA-256 {digest(root / path)}",
                f"SHA-256 {expected}",
                f"seals/{name}.json holds another digest. {_SEALED}",
            )
        except PenmarkError as error:
            found.error(error)


def _coverage(edition: study.Edition, read: dict[str, Seal], found: Found) -> None:
    """Each kind of seal covers all that it is for: nothing can be added beside what was sealed."""
    present = {
        "promise": ["protocol.json", "protocol.yaml", *_names(edition.detectors, "detectors", "*")],
        "corpus": ["manifest.jsonl", "screening.csv"],
        "evidence": _names(edition.tables, "tables", "*"),
    }
    for name, expected in present.items():
        if name in read:
            got = sorted(read[name].digests)
            found.equal(
                f"seals/{name}.json digests", got, sorted(expected), "The seal covers just the files of its kind."
            )
    if "evidence" in read:
        journals = sorted(f"journal/{p.name}" for p in edition.journal_files())
        found.equal("seals/evidence.json journals", sorted(read["evidence"].journals), journals, _SEALED)


def _names(folder: Path, prefix: str, pattern: str) -> list[str]:
    return [f"{prefix}/{p.name}" for p in folder.glob(pattern)] if folder.is_dir() else []


def _tokens(edition: study.Edition, name: str, trust: tokens.Trust, found: Found) -> list[str]:
    """Times of the tokens of one seal whose signature holds, trusted or not; reports each token."""
    data = study.read(edition.seal(name))
    times: list[str] = []
    for path in sorted(edition.seals.glob(f"{name}-*.tsr")):
        if name == "heads" or path.name.removeprefix(f"{name}-").removesuffix(".tsr") == "":
            continue
        subject = f"seals/{path.name}"
        try:
            result = tokens.check(study.read(path, limit=2**20), data, trust)
        except PenmarkError as error:
            found.error(error)
            continue
        if result.state == "failed":
            found.failed(
                subject,
                result.detail,
                f"a valid token over seals/{name}.json",
                "Get the token again from its authority.",
            )
            continue
        if result.at is not None:
            times.append(result.at)
        if result.state == "ok":
            found.ok(subject, f"{result.authority} at {result.at}")
        else:
            found.not_checked(
                subject,
                f"authority unknown: {result.detail}",
                "Give the authority's root certificate with --trust FILE, if you trust it.",
            )
    if not times and name != "heads":
        found.not_checked(
            f"seals/{name}.json",
            "no token from outside: the time is the operator's word",
            "Ask the publisher for timestamps.",
        )
    return times


def _order(read: dict[str, Seal], times: dict[str, list[str]], found: Found) -> None:
    last: str | None = None
    last_name = ""
    for name, seal in read.items():
        if not times[name]:
            continue
        first = min(times[name], key=tokens.moment)
        if tokens.moment(first) + CLOCK < tokens.moment(seal.sealed_at):
            found.failed(
                f"seals/{name}.json", f"says sealed at {seal.sealed_at}", f"about {first}, as its token says", _SEALED
            )
        if last is not None and tokens.moment(first) < tokens.moment(last):
            found.failed(f"seals/{name}.json", f"token of {first}", f"after that of {last_name}, {last}", _SEALED)
        last, last_name = first, name


def _announced(corpus: Seal, found: Found) -> None:
    if corpus.announced is None:
        found.not_checked("announcement", "not publicly pre-registered", "Nothing to do: the pages say so.")
        return
    if tokens.moment(corpus.announced.captured_at) > tokens.moment(corpus.sealed_at):
        found.failed(
            "announcement", f"captured at {corpus.announced.captured_at}", f"before {corpus.sealed_at}", _SEALED
        )
    found.not_checked(
        "announcement", f"captured at {corpus.announced.capture}", "Open the capture and compare it with protocol.yaml."
    )
