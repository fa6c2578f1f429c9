"""Check 3, promise kept: the protocol as run is the protocol as promised, and what departs from its template is told.

*Reads* protocol.yaml, protocol.json, detectors/, amendments/ with their tokens, deviations.jsonl, tables/departures.csv.
*Never* asks an authority.
"""

from __future__ import annotations

from datetime import timedelta
from pathlib import Path

from penmark import cards, protocol, study, timestamps
from penmark.corpus import edition_departures
from penmark.errors import PenmarkError
from penmark.format import versions
from penmark.protocol import amendments, promise_chain, promise_differences
from penmark.records import Amendment, Card, Protocol, Seal
from penmark.stages.verify import first_difference
from penmark.stages.verify.check2_seals import seal_tokens
from penmark.stages.verify.check_findings import Findings
from penmark.study import seal_files
from penmark.study.digests import digest_file

_ANNOUNCE = "Amendments are announced before the promise that they change. Ask the publisher what was promised before."


def check_promise(
    edition: study.Edition, promised: Protocol, sealed: Seal | None, trust: timestamps.Trust, found: Findings
) -> None:
    """YAML = JSON; a card for each detector; departures recomputed; amendments announced before the promise."""
    _check_same_protocol(edition, promised, found)
    if sealed is not None:
        _as_promised(edition, promised, sealed, found)
    known = _check_cards(edition, promised, found)
    _check_departures(edition, promised, known, found)
    _check_amendments(edition, promised, sealed, trust, found)
    _check_earlier_promise(edition, promised, known, sealed, found)
    _check_deviations(edition, promised, found)
    if found.clean:
        found.ok("protocol.json", "protocol.yaml says the same; departures as computed")


def _check_same_protocol(edition: study.Edition, promised: Protocol, found: Findings) -> None:
    if (number := versions.find_format(edition.root)) in versions.READS:
        found.equal("protocol.json format", promised.format, number, "An edition is of one format.")
    try:
        readable = protocol.encode_protocol(protocol.load_protocol(edition.protocol_yaml, unsaid=promised.format))
    except PenmarkError as error:
        found.error(error)
        return
    if readable != protocol.encode_protocol(promised):
        found.failed(
            "protocol.yaml",
            "says something else than protocol.json",
            "the same protocol",
            "Ask the publisher which one was promised.",
        )


def _as_promised(edition: study.Edition, promised: Protocol, sealed: Seal, found: Findings) -> None:
    """Protocol and cards are the files that the promise names, of its study and edition."""
    remedy = "Ask the publisher for what was promised."
    found.equal("protocol.json study", (promised.study, promised.edition), (sealed.study, sealed.edition), remedy)
    for path in ("protocol.json", "protocol.yaml", *(f"detectors/{d.name}.json" for d in promised.detectors)):
        try:
            got = digest_file(edition.root / path)
        except PenmarkError as error:
            found.error(error)
            continue
        found.equal(f"{path} (promised)", f"SHA-256 {got}", f"SHA-256 {sealed.digests.get(path)}", remedy)


def _check_cards(edition: study.Edition, promised: Protocol, found: Findings) -> dict[str, Card]:
    known: dict[str, Card] = {}
    for detector in promised.detectors:
        subject = f"detectors/{detector.name}.json"
        try:
            sealed = cards.read_sealed_card(edition, detector.name)
            cards.choose_rule(detector, sealed.card)
        except PenmarkError as error:
            found.error(error)
            continue
        found.equal(f"{subject} card.name", sealed.card.name, detector.card, "The protocol names another card.")
        code = None if sealed.plugin is None else sealed.plugin.name
        remedy = "The code that asks is promised with the card, where a plugin asks, and only there."
        found.equal(f"{subject} plugin", f"code of {code}", f"code of {sealed.card.ask.plugin}", remedy)
        known[detector.name] = sealed.card
    names = {d.name for d in promised.detectors}
    for path in study.own(edition.detectors):
        if path.name.removesuffix(".json") not in names:
            found.failed(
                f"detectors/{path.name}",
                "is a card of no detector of the protocol",
                "promised detectors only",
                "Remove it.",
            )
    return known


def _check_departures(edition: study.Edition, promised: Protocol, known: dict[str, Card], found: Findings) -> None:
    if len(known) != len(promised.detectors):
        return
    path = "tables/departures.csv"
    try:
        got = study.read_bytes(edition.root / path)
        expected = protocol.write_departures_csv(_list_departures(path, edition, promised, known, got, found))
    except protocol.UnknownTemplate as error:
        _report_unknown_template(path, promised, error, found)
        return
    except PenmarkError as error:
        found.error(error)
        return
    if got != expected:
        found.failed(
            *first_difference.find_first_difference(path, got, expected), "Every departure is told. Ask for all."
        )


def _list_departures(
    path: str, edition: study.Edition, promised: Protocol, known: dict[str, Card], got: bytes, found: Findings
) -> list[protocol.Departure]:
    """The departures that the table must have; of another release's, whether cards are those that it ships is not known."""
    if seal_files.is_by_our_rules(edition):
        return edition_departures.frozen(edition, promised, known)
    told = edition_departures.reconstruct_departures(got, promised, known, edition)
    why = f"the evidence was sealed {seal_files.describe_rules(edition)}: whether cards are those that shipped then, is not known"
    found.not_checked(f"{path}, of cards", why, "Use the release that the seal names.")
    return told


def _report_unknown_template(path: str, promised: Protocol, error: protocol.UnknownTemplate, found: Findings) -> None:
    """What departs from a template that is not here follows from nothing; a released one is never edited."""
    fact = error.faults[0].fact
    if promised.template is not None and promised.template.name in protocol.TEMPLATES:
        remedy = "Under this name another template is shipped. Ask the publisher what the study departs from."
        found.failed("protocol.json template", fact, "name and digest of one template", remedy)
        return
    why = f"{fact}, so that departures are not known, whatever table and page say of them"
    found.not_checked(path, why, "Use the penmark release that shipped this template.")


# --- what changed ----------------------------------------------------------------------------------------------------


def _check_amendments(
    edition: study.Edition, promised: Protocol, sealed: Seal | None, trust: timestamps.Trust, found: Findings
) -> None:
    folder = edition.amendments
    for number, path in enumerate(study.own(folder, "*.json"), 1):
        subject = f"amendments/{path.name}"
        times = seal_tokens.judge_tokens_beside(path, trust, found)
        try:
            amendment = promise_chain.read_amendment(path)
            seal_tokens.check_time(amendment.announced_at, subject)
        except PenmarkError as error:
            found.error(error)
            continue
        found.equal(f"{subject} number", amendment.number, number, "Amendments are numbered from one, without a gap.")
        if amendments.quarter(amendment.binds_from) <= amendments.quarter(promised.edition):
            _check_announced_before(path, amendment, times, sealed, found)
    seal_tokens.find_stray_tokens(folder, found)


def _check_announced_before(
    path: Path, amendment: Amendment, times: list[seal_tokens.Stamp], sealed: Seal | None, found: Findings
) -> None:
    """An amendment that binds this edition was announced before its promise, by its own word and by that of its token."""
    said = [(amendment.announced_at, "", timedelta())]
    if (stamped := seal_tokens.find_first_time(times)) is not None:
        said.append((stamped, ", by its token", seal_tokens.CLOCK))
    for at, whose, spare in said:
        if sealed is not None and timestamps.parse_rfc3339(at) > timestamps.parse_rfc3339(sealed.sealed_at) + spare:
            remedy = "An amendment binds only editions promised after it."
            expected = f"before the promise, {sealed.sealed_at}"
            found.failed(f"amendments/{path.name}", f"announced at {at}{whose}", expected, remedy)


def _check_earlier_promise(
    edition: study.Edition, promised: Protocol, known: dict[str, Card], sealed: Seal | None, found: Findings
) -> None:
    """What changed since the promise before this one was announced by amendments, and what they announce is promised."""
    held = edition.earlier.root.is_dir()
    if promised.format == 1 or not held:
        for other in sorted(edition.earlier.root.glob("*")) if held else ():
            found.failed(f"earlier/{other.name}", "is carried", "nothing: format 1 has no such folder", "Remove it.")
        _check_first_promise(edition, promised, found)
        return
    if sealed is None or len(known) < len(promised.detectors):
        return  # a seal or cards that cannot be read, which is told
    try:
        was, now = promise_chain.read(edition.earlier), promise_chain.read(edition, held=False)
        names = {"promise", "protocol", *(f"detector-{name}" for name in was.promise["detectors"])}
        announced = amendments.announced([edition])
    except PenmarkError as error:
        found.error(error)
        return
    for path in sorted(edition.earlier.root.glob("*")):
        if path.stem not in names:
            found.failed(f"earlier/{path.name}", "is in no earlier promise", "that promise's files only", "Remove it.")
    if amendments.quarter(was.tag) > amendments.quarter(now.tag):
        found.failed("earlier/promise.json", f"is of {was.tag}", f"an edition before {now.tag}", _ANNOUNCE)
    judged = promise_differences.judge(was.promise, now.promise, announced)
    for each in judged.uncovered:
        found.failed(
            f"protocol.json {each.at}", str(each.now), f"{each.was}, as in {was.tag}, or an amendment", _ANNOUNCE
        )
    for number, at, said, becomes in judged.unkept:
        found.failed(f"protocol.json {at}", str(said), f"{becomes}, as amendment {number} announces", _ANNOUNCE)
    for number, at, said, quoted in judged.misquoted:
        found.failed(f"amendments/{number:04d}.json {at}", f"was {quoted}", f"was {said}", _ANNOUNCE)
    if found.clean:
        found.ok("earlier/promise.json", f"all that changed since {was.tag} was announced, or needs no amendment")


def _check_first_promise(edition: study.Edition, promised: Protocol, found: Findings) -> None:
    """A promise that names none before it: by its word the first of its study."""
    if promised.format > 1:
        why = "the promise names none before it: whether this is the first of the study is its word"
        found.not_applicable("earlier/promise.json", why)
        for path in sorted(edition.amendments.glob("*.json")):
            try:
                binds = promise_chain.read_amendment(path).binds_from
            except PenmarkError:
                continue  # which is told
            if amendments.quarter(binds) <= amendments.quarter(promised.edition):
                got = f"binds {promised.edition}, whose promise names no earlier one"
                found.failed(f"amendments/{path.name}", got, "the promise that it amends, in earlier/", _ANNOUNCE)


def _check_deviations(edition: study.Edition, promised: Protocol, found: Findings) -> None:
    names = {d.name for d in promised.detectors}
    try:
        for number, deviation in enumerate(amendments.read_deviations(edition), 1):
            place = f"deviations.jsonl:{number}"
            seal_tokens.check_time(deviation.at, place)
            if deviation.detector is not None and deviation.detector not in names:
                found.failed(place, deviation.detector, "a detector of the protocol", "Ask the publisher.")
    except PenmarkError as error:
        found.error(error)
