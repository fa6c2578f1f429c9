"""Replicate: start a study from somebody's bundle, with its rules, cards and published texts.

*Reads* a bundle and trusts nothing in it: links, devices and odd names are refused, and a text is taken only where its
address is its own. *Writes* the new study's protocol, cards/, corpus/<arm>/ (and for attested texts private/).
*Never* takes over who ran it, who paid, its secret seed, or where its texts came from on its disk; runs nothing.
"""

from __future__ import annotations

import ipaddress
import os
import stat
from collections import Counter
from collections.abc import Iterator
from dataclasses import dataclass, field
from datetime import date
from pathlib import Path
from typing import Any
from urllib.parse import urlsplit

from pydantic import ValidationError

from penmark import cards, protocol, study, yaml_records
from penmark.errors import Fault, FaultsError, PenmarkError, UsageError, suggest_name
from penmark.format import canonical_json
from penmark.records import Arm as Promised
from penmark.records import Card, Document, Protocol
from penmark.stages.init import NewStudy, Started, choose_edition_tag, compute_window, found_study, name_study
from penmark.study import Edition

MAX_FAULTS = 50
_VERIFY = "Run `penmark verify` on the bundle; get it again from its publisher."


@dataclass
class Arm:
    """What a bundle gives for one arm: records, texts by address, and who is missing (id, reason)."""

    documents: list[Document] = field(default_factory=list)
    texts: dict[str, bytes] = field(default_factory=dict)
    private: dict[str, bytes] = field(default_factory=dict)
    salts: dict[str, str] = field(default_factory=dict)
    missing: list[tuple[str, str]] = field(default_factory=list)


def start_replication(
    root: Path, *, bundle: Path, chosen: list[str] | None, name: str | None, edition: str | None, today: date
) -> Started:
    """A new study in ``root`` that repeats the study of ``bundle``, or the arms ``chosen`` of it.

    Raises UsageError for arms it does not have, FaultsError for a bundle that is not what it says.
    """
    _refuse_odd_files(bundle)
    source = Edition(bundle)
    promised = _read_protocol(source)
    arms = _choose_arms(promised, chosen)
    sealed = _collect_cards(source, promised)
    held = _collect_arms(source, promised, arms)
    tag, called = choose_edition_tag(edition, today), name_study(root, name)
    with found_study(root, called) as ground:
        values = {
            "study": called,
            "edition": tag,
            "seed_sha256": ground.seed_sha256,
            "window": compute_window(tag, today),
        }
        values["signing_key"] = ground.signing_key
        text = _protocol_text(source, promised, held, values)
        near = [authority for authority in promised.authorities if _on_its_own_machine(authority.url)]
        ground.write(ground.place.root / "editions" / tag / "protocol.yaml", text.encode())
        for card, note in sealed.values():
            ground.write(ground.place.cards / f"{card.name}.yaml", _card_text(card, note).encode())
        _write_arms(ground, held)
    missing = {arm: found.missing for arm, found in held.items() if found.missing}
    notes = ["Protocol and cards are somebody else's: read what they send, and where, before you commit."]
    notes += [
        f"Arm {arm}: {len(found.documents)} of {promised.arm(arm).documents} texts are published, and size and quotas are "
        "those that these meet: raise them where you have texts of your own."
        for arm, found in held.items()
        if found.missing and found.documents
    ]
    notes += [
        f"Left out: the authority {each.name} ({each.url}) ran on the machine of the bundle. Name others under authorities."
        for each in near
    ]
    return Started(ground.place, ground.place.edition(tag), ground.wrote, missing, notes)


# --- reading a bundle ----------------------------------------------------------------------------------------------


def _refuse_odd_files(bundle: Path) -> None:
    """Nothing but plain files and folders with plain names, so that no later reader follows or opens anything else."""
    if not bundle.is_dir():
        there = bundle.exists()
        raise UsageError(
            "is not a folder" if there else "there is no such folder",
            place=str(bundle),
            remedy="Unpack the bundle first: tar -xf BUNDLE.tar" if there else "Look at the name after --from.",
        )
    faults = []
    for folder, folders, files in os.walk(bundle):
        for name in sorted([*folders, *files]):
            path = Path(folder) / name
            kind = path.lstat().st_mode
            if not (stat.S_ISREG(kind) or stat.S_ISDIR(kind)):
                faults.append(
                    Fault(str(path), "is neither a plain file nor a folder", "A bundle holds no links and no devices.")
                )
            elif "\\" in name or not name.isprintable():
                faults.append(Fault(repr(str(path)), "has an odd name", "No file of a bundle is named so."))
        if len(faults) >= MAX_FAULTS:
            break
    if faults:
        raise FaultsError(faults)
    if study.Study(bundle).marker.is_file():
        raise UsageError(
            "is a study, not a bundle", place=str(bundle), remedy="`penmark publish` there makes its bundle: name that."
        )
    study.refuse_extract(bundle)
    if not (bundle / "format").is_file() or study.read_bytes(bundle / "format", limit=64) != b"1\n":
        raise UsageError(
            "is not a bundle of format 1 (no file `format` that says so)",
            place=str(bundle),
            remedy="Name the folder that `penmark publish` made, or use the release that reads its format.",
        )


def _read_protocol(source: Edition) -> Protocol:
    promised = protocol.read_sealed(source)
    if protocol.encode_protocol(
        protocol.load_protocol(source.protocol_yaml, unsaid=promised.format)
    ) != protocol.encode_protocol(promised):
        raise PenmarkError("says something else than protocol.json", place=str(source.protocol_yaml), remedy=_VERIFY)
    return promised


def _choose_arms(promised: Protocol, chosen: list[str] | None) -> list[str]:
    known = [arm.name for arm in promised.arms]
    if chosen is None:
        return known
    for name in chosen:
        if name not in known:
            raise UsageError(
                f"the bundle has no arm {name!r}{suggest_name(name, known)}", remedy=f"It has {', '.join(known)}."
            )
    return [name for name in known if name in chosen]


def _collect_cards(source: Edition, promised: Protocol) -> dict[str, tuple[Card, str]]:
    """Card and its digest in the bundle, by the name of the card."""
    found: dict[str, tuple[Card, str]] = {}
    for detector in promised.detectors:
        sealed = cards.read_sealed_card(source, detector.name)
        place = str(source.sealed_card(detector.name))
        if sealed.card.name != detector.card:
            raise PenmarkError(
                f"holds the card {sealed.card.name!r}, not {detector.card!r}", place=place, remedy=_VERIFY
            )
        if found.setdefault(sealed.card.name, (sealed.card, ""))[0] != sealed.card:
            raise PenmarkError(f"is a second, other card {sealed.card.name!r}", place=place, remedy=_VERIFY)
        plugin = sealed.plugin
        asked = (
            f"; asked by {plugin.distribution} {plugin.version}, source {plugin.sha256}" if plugin is not None else ""
        )
        found[sealed.card.name] = sealed.card, f"{canonical_json.sha256(cards.encode_card(sealed))}{asked}"
    return found


def _collect_arms(source: Edition, promised: Protocol, chosen: list[str]) -> dict[str, Arm]:
    held = {name: Arm() for name in chosen}
    salts = {str(value.get("document")): str(value.get("salt")) for value in _read_salts(source)}
    exposure = f"{promised.study} {promised.edition}"
    wanted: dict[str, set[tuple[str, str | None]]] = {}
    for document in _read_documents(source, {arm.name for arm in promised.arms}):
        if document.arm not in held:
            continue
        arm = held[document.arm]
        if document.withheld is not None:
            arm.missing.append((document.id, document.withheld))
            continue
        if document.attested:
            arm.salts[document.id] = salts.get(document.id, "")
        wanted.setdefault(document.address, set()).add((document.arm, arm.salts.get(document.id)))
        if document.provenance.kind == "edited":
            wanted.setdefault(document.provenance.draft_sha256, set()).add((document.arm, None))
        arm.documents.append(document.model_copy(update={"exposures": (*document.exposures, exposure)}))
    _take_texts(source, held, wanted)
    return held


def _read_documents(source: Edition, arms: set[str]) -> Iterator[Document]:
    seen: set[str] = set()
    for number, line in study.read_lines(source.manifest):
        place = f"{source.manifest}:{number}"
        value = canonical_json.decode_json(line, place=place)
        if number == 1:
            continue  # the head: counts, which verify holds against the rest
        try:
            document = Document.model_validate_json(line)
        except ValidationError as error:
            raise study.make_validation_faults(place, error.errors(include_url=False)) from None
        if document.arm not in arms or document.id in seen:
            fact = (
                f"document {document.id!r} stands twice" if document.id in seen else f"there is no arm {document.arm!r}"
            )
            raise PenmarkError(fact, place=place, remedy=_VERIFY)
        seen.add(value["id"])
        yield document


def _read_salts(source: Edition) -> Iterator[dict[str, Any]]:
    path = source.root / "salts.jsonl"
    if path.exists():
        for _, value in study.read_json_lines(path):
            yield value


def _take_texts(source: Edition, held: dict[str, Arm], wanted: dict[str, set[tuple[str, str | None]]]) -> None:
    left = dict(wanted)
    for address, raw, place in study.read_texts(source.root / "texts"):
        for arm, salt in left.pop(address, ()):
            if _compute_address(raw, salt) != address:
                raise PenmarkError(
                    "is not the text that the manifest names (its address differs)", place=place, remedy=_VERIFY
                )
            (held[arm].texts if salt is None else held[arm].private)[address] = raw
    if left:
        place = str(source.root / "texts")
        facts = [
            Fault(place, f"the text {address} is missing, and not said to be withheld", _VERIFY)
            for address in sorted(left)
        ]
        raise FaultsError(facts[:MAX_FAULTS])


def _compute_address(raw: bytes, salt: str | None) -> str:
    if salt is None:
        return canonical_json.sha256(raw)
    try:
        return canonical_json.fingerprint_text(bytes.fromhex(salt), raw)
    except ValueError:
        return ""


# --- writing a study -----------------------------------------------------------------------------------------------


def _protocol_text(source: Edition, promised: Protocol, held: dict[str, Arm], values: dict[str, Any]) -> str:
    rules = promised.model_dump(mode="json", by_alias=True, exclude_defaults=True)
    rules |= values
    rules["title"] = f"Replication of: {promised.title}"
    rules["people"] = [
        {"name": "<your name>", "role": "<your part in this study>", "interests": "<your interests, or none>"}
    ]
    rules["payer"] = "<who pays for accounts, texts and machines>"
    # Whose nominations, which beacon, and where on a disk texts lay: facts of the other study.
    for key in ("nominations", "beacon"):
        rules.pop(key, None)
    rules["arms"] = [
        {k: v for k, v in arm.items() if k != "source"} | _collect_size(promised.arm(arm["name"]), held[arm["name"]])
        for arm in rules["arms"]
        if arm["name"] in held
    ]
    for detector in rules["detectors"]:
        detector["relation"] = "<own, affiliate, free credits or none: yours to this vendor>"
        if detector["surface"] != "local":
            detector |= {
                "payer": "<who pays for this account>",
                "tier": f"<your tier; theirs was: {_strip_brackets(detector['tier'])}>",
            }
    rules["authorities"] = [each for each in rules.get("authorities", ()) if not _on_its_own_machine(each["url"])]
    digest = canonical_json.sha256(study.read_bytes(source.protocol_json))
    head = (
        f"# A replication of {yaml_records.format_scalar(f'{promised.study} {promised.edition}')}, from its bundle;\n"
        f"# its protocol.json has the SHA-256 {digest}.\n"
        "# Rules, arms and cards are the bundle's: read them before you commit, most of all settings and addresses.\n"
        "# Fill in every <...>, and say for each detector what relation you have to its vendor.\n"
    )
    return head + yaml_records.format_yaml(rules)


def _collect_size(arm: Promised, held: Arm) -> dict[str, Any]:
    """Size and quotas of an arm of which not all texts are published: those that the published ones meet."""
    if not held.missing or not held.documents:
        return {}

    def under(where: dict[str, str]) -> int:
        return sum(all(document.facet(k) == v for k, v in where.items()) for document in held.documents)

    quotas: list[dict[str, Any]] = [{"where": quota.where, "documents": under(quota.where)} for quota in arm.quotas]
    sums: Counter[tuple[str, ...]] = Counter()
    for quota in quotas:
        sums[tuple(sorted(quota["where"]))] += quota["documents"]
    if any(total != len(held.documents) for total in sums.values()):
        return {}  # texts under no quota: the bundle is not what it says, which `verify` tells
    return {"documents": len(held.documents)} | ({"quotas": quotas} if quotas else {})


def _on_its_own_machine(url: str) -> bool:
    """True for an address that is another machine's own, wherever it is read: 127.0.0.1, ::1, localhost."""
    host = (urlsplit(url).hostname or "").removesuffix(".")
    try:
        return ipaddress.ip_address(host).is_loopback
    except ValueError:
        return host == "localhost" or host.endswith(".localhost")


def _strip_brackets(text: str) -> str:
    return text.translate({ord(c): None for c in "<>\n"})[:300]


def _card_text(card: Card, note: str) -> str:
    head = f"# As sealed in the replicated bundle; SHA-256 of the sealed card {_strip_brackets(note)}\n"
    return head + yaml_records.format_yaml(card.model_dump(mode="json", by_alias=True, exclude_defaults=True))


def _write_arms(ground: NewStudy, held: dict[str, Arm]) -> None:
    place = ground.place
    salts = [{"document": name, "salt": salt} for arm in held.values() for name, salt in arm.salts.items()]
    if salts:
        ground.write_private(place.salts, b"".join(canonical_json.encode_json(line) + b"\n" for line in salts))
        ground.claim(place.private_texts)
    for name, arm in held.items():
        if not arm.documents and not arm.missing:
            continue
        ground.claim(place.arm(name))
        study.write_texts(place.arm(name), arm.texts)
        for address, raw in arm.private.items():
            study.write_private(place.private_texts / f"{address}.txt", raw)
        lines = (document.model_dump(mode="json", by_alias=True) for document in arm.documents)
        study.write_records(place.documents(name), lines)
        if arm.missing:
            study.write_bytes(place.arm(name) / "missing.csv", study.encode_csv(("id", "reason"), arm.missing))
