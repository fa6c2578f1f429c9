"""Start: a new study from a template, its next edition, or a replication of somebody's bundle.

*Reads* templates, the edition before, or a bundle (``starting.replicating``). *Writes* study.yaml, .gitignore,
.gitattributes, private/seed, private/signing.pem, editions/<tag>/protocol.yaml; for a replication also cards/ and corpus/.
*Never* overwrites a file. What one run wrote is taken back where it cannot finish.
"""

from __future__ import annotations

import contextlib
import re
import secrets
import shutil
import string
from collections.abc import Iterator
from dataclasses import dataclass, field
from datetime import date
from pathlib import Path

from penmark import protocol, study, yaml_records
from penmark.errors import PenmarkError, UsageError
from penmark.format import canonical_json
from penmark.records import Protocol
from penmark.study import Edition, Study
from penmark.timestamps import ed25519

_TAG = re.compile(r"[A-Z][A-Z0-9]{0,15}-[0-9]{4}-Q[1-4]")
_MARKER = "# This folder is a penmark study; `penmark status` says where it stands.\nstudy: {name}\n"
_DETECTOR = re.compile(r"[a-z0-9][a-z0-9.-]{0,62}")
_CARD = Path(__file__).parents[2] / "shipped" / "templates" / "card.yaml"
_KEPT_OUT = {".gitignore": "private/", ".gitattributes": "* -text"}


@dataclass(frozen=True)
class Started:
    """What was started: the study, its new edition, every file that was written, what a bundle withheld, what to heed."""

    study: Study
    edition: Edition
    wrote: list[Path]
    missing: dict[str, list[tuple[str, str]]] = field(default_factory=dict)
    notes: list[str] = field(default_factory=list)


def start_study(root: Path, *, template: str, name: str | None, edition: str | None, today: date) -> Started:
    """A new study in ``root`` from a template; the name of the folder is its name unless another is given.

    ``today``: the date in UTC; it decides the edition's tag, where none is given, and the scan window.
    """
    protocol.load_template(template)
    tag = choose_edition_tag(edition, today)
    called = name_study(root, name)
    with found_study(root, called) as ground:
        values = {"study": called, "edition": tag, "seed_sha256": ground.seed_sha256, **compute_window(tag, today)}
        text = _with_key(protocol.fill_template(template, values), ground.signing_key)
        ground.write(ground.place.root / "editions" / tag / "protocol.yaml", text.encode())
    return Started(ground.place, ground.place.edition(tag), ground.wrote)


def start_next_edition(place: Study, edition: str, today: date) -> Started:
    """The next edition of a study: the protocol of the one before, with its own tag, window and secret seed.

    The seed before stays as ``private/seed-<tag>``: its bundle reveals it, so that it cannot order another draw.
    Raises UsageError where the edition before is not closed, or ``edition`` is not later.
    """
    tag, before = choose_edition_tag(edition, today), place.edition()
    if _parse_quarter(tag) <= _parse_quarter(before.tag):
        raise UsageError(
            f"{tag} is not later than {before.tag}",
            place=str(before.root),
            remedy=f"The next one is {compute_next_tag(before.tag)}.",
        )
    if not before.seal("evidence").exists():
        raise UsageError(
            "this edition is not closed: its evidence is not sealed",
            place=str(before.root),
            remedy="`penmark status` says what is left of it; or start another study in another folder.",
        )
    promised = protocol.load_protocol(before.protocol_yaml)
    _keep_seed(place, before.tag, promised.seed_sha256)
    seed, days = secrets.token_bytes(32), compute_window(tag, today)
    text = yaml_records.replace_scalars(
        before.protocol_yaml,
        {
            ("edition",): tag,
            ("seed_sha256",): canonical_json.sha256(seed),
            ("window", "opens"): days["opens"],
            ("window", "closes"): days["closes"],
        },
    )
    wrote = [place.seed]
    if promised.signing_key is None:
        if not place.signing.exists():
            study.write_private(place.signing, ed25519.make_private_key())
            wrote.append(place.signing)
        text = _with_key(text, ed25519.derive_public_key(study.read_bytes(place.signing, limit=4096)))
    # In this order a run that is cut short leaves nothing that the same command does not mend.
    study.write_private(place.seed, seed)
    written = place.root / "editions" / tag / "protocol.yaml"
    study.write_bytes(written, text.encode())
    return Started(place, place.edition(tag), [*wrote, written], notes=_list_notes(place, promised))


def _with_key(text: str, key: str) -> str:
    """The text of a protocol with the public key, in the line after the digest of the seed."""
    line = f"\nsigning_key: {key}   # of private/signing.pem: it signs what volunteers wrote"
    return re.sub(r"(?m)^seed_sha256:.*$", lambda match: match[0] + line, text, count=1)


def _list_notes(place: Study, promised: Protocol) -> list[str]:
    anew = [arm.name for arm in promised.arms if not arm.persists]
    notes = [f"Made anew for this edition: arms {', '.join(anew)}. The others stay as they are."] if anew else []
    if place.changes.exists():
        notes.append("CHANGES.md tells what was announced: write into the protocol what binds this edition.")
    return notes


def _keep_seed(place: Study, tag: str, sha256: str) -> None:
    """Keep the seed of ``tag`` under the edition's name."""
    kept = place.private / f"seed-{tag}"
    source = kept if kept.exists() else place.seed
    raw = study.read_bytes(source, limit=4096)
    if canonical_json.sha256(raw) != sha256:
        raise PenmarkError(
            f"is not the seed that {tag} was promised with",
            place=str(source),
            remedy="Restore that file before a new edition.",
        )
    if source != kept:
        study.write_private(kept, raw)


def write_example_card(place: Study, name: str, today: date) -> Path:
    """Write an example card, commented, to be filled in: ``cards/<name>.yaml`` of the study.

    Raises UsageError where there is one, or where ``name`` is no detector's name.
    """
    if _DETECTOR.fullmatch(name) is None:
        raise UsageError(
            f"{name!r} is not a detector's name", remedy="Write it in lower-case letters, digits, dots and hyphens."
        )
    path = place.cards / f"{name}.yaml"
    if path.exists():
        raise UsageError("is there already", place=str(path), remedy="Nothing is overwritten: fill that one in.")
    text = string.Template(study.read_bytes(_CARD).decode()).substitute(name=name, today=today.isoformat())
    study.write_bytes(path, text.encode())
    return path


# --- founding ------------------------------------------------------------------------------------------------------


class NewStudy:
    """Files of a study that are written once, never over another, and taken back together."""

    def __init__(self, place: Study) -> None:
        self.place = place
        self.wrote: list[Path] = []
        self.seed_sha256 = self.signing_key = ""
        self._folders: list[Path] = []

    def write(self, path: Path, data: bytes) -> None:
        """Write a new file. Raises UsageError where there is one."""
        self.claim(path)
        study.write_bytes(path, data)

    def write_private(self, path: Path, data: bytes) -> None:
        """Write a new file that only the owner may read."""
        self.claim(path)
        study.write_private(path, data)

    def claim(self, path: Path) -> None:
        """Note that ``path``, file or folder, is about to be written. Raises UsageError where something is there."""
        if path.exists() or path.is_symlink():
            raise UsageError(
                "is there already",
                place=str(path),
                remedy="Nothing is overwritten: move it away, or name another folder.",
            )
        for folder in path.parents:
            if folder.exists():
                break
            self._folders.append(folder)
        self.wrote.append(path)

    @contextlib.contextmanager
    def undone_on_failure(self) -> Iterator[None]:
        """Take back all that was written, where the block raises."""
        try:
            yield
        except BaseException:
            for path in reversed(self.wrote):
                with contextlib.suppress(OSError):
                    shutil.rmtree(path) if path.is_dir() else path.unlink(missing_ok=True)
            for folder in sorted(self._folders, key=lambda each: len(each.parts), reverse=True):
                with contextlib.suppress(OSError):
                    folder.rmdir()
            raise


@contextlib.contextmanager
def found_study(root: Path, name: str) -> Iterator[NewStudy]:
    """A new study in ``root``: marker, secret seed and what keeps both out of git; the block writes the rest.

    Raises UsageError where there is a study already, or a file of that name says something else.
    """
    place = Study(root)
    if place.marker.exists():
        newest = place.editions()
        tag = compute_next_tag(newest[-1].tag) if newest else "BENCH-2026-Q4"
        raise UsageError(
            "there is a study here already",
            place=str(place.marker),
            remedy=f"`penmark status` says where it stands; `penmark init --edition {tag}` starts its next edition.",
        )
    _keep_out(root)
    ground = NewStudy(place)
    with ground.undone_on_failure():
        for file, line in _KEPT_OUT.items():
            if not (root / file).exists():
                ground.write(root / file, f"{line}\n".encode())
        seed = secrets.token_bytes(32)
        ground.write_private(place.seed, seed)
        ground.seed_sha256 = canonical_json.sha256(seed)
        key = ed25519.make_private_key()
        ground.write_private(place.signing, key)
        ground.signing_key = ed25519.derive_public_key(key)
        yield ground
        ground.write(place.marker, _MARKER.format(name=yaml_records.format_scalar(name)).encode())


def _keep_out(root: Path) -> None:
    if study.is_bundle(root):
        raise UsageError(
            "is a bundle: a study in it would damage it",
            place=str(root),
            remedy="Name a new folder; `--from` this one, where it is to be replicated.",
        )
    for file, line in _KEPT_OUT.items():
        path = root / file
        if path.exists() and line not in study.read_bytes(path, limit=2**20).decode(errors="replace").splitlines():
            why = (
                "secrets would get into git"
                if file == ".gitignore"
                else "git would change line ends, and with them digests"
            )
            raise UsageError(
                f"lacks the line `{line}`: {why}", place=str(path), remedy="Add that line, then run the command again."
            )


def refuse_other_things(root: Path) -> None:
    """Raises UsageError where ``root``, which nobody named, holds more than what git keeps there: it is no new study's."""
    held = sorted(path.name for path in root.iterdir() if not path.name.startswith(".git")) if root.is_dir() else []
    if held and not Study(root).marker.exists():
        shown = ", ".join(held[:3]) + (", …" if len(held) > 3 else "")
        raise UsageError(
            f"is not empty ({shown}), and nobody named it as the study's folder",
            place=str(root.resolve()),
            remedy="Name a new folder: penmark init my-bench; or this one, where it is meant: penmark init .",
        )


def name_study(root: Path, name: str | None) -> str:
    """The name of a study: as given, or the folder's. Raises UsageError where it cannot be one."""
    called = root.resolve().name if name is None else name.strip()
    if not called or len(called) > 100 or not called.isprintable() or "<" in called or ">" in called:
        raise UsageError(
            f"{called!r} cannot name a study",
            remedy="Give --name: up to 100 characters on one line, without angle brackets.",
        )
    return called


# --- quarters ------------------------------------------------------------------------------------------------------


def choose_edition_tag(edition: str | None, today: date) -> str:
    """The tag of a new edition: as given, or that of the quarter of ``today``. Raises UsageError for what is no tag."""
    tag = f"BENCH-{today.year:04d}-Q{(today.month + 2) // 3}" if edition is None else edition
    if _TAG.fullmatch(tag) is None:
        raise UsageError(
            f"{tag!r} is not an edition's tag", remedy="Write it like BENCH-2026-Q4: series, year, quarter (UTC)."
        )
    return tag


def compute_next_tag(tag: str) -> str:
    """The tag of the quarter after."""
    series, year, number = tag.rsplit("-", 2)
    return f"{series}-{int(year) + 1:04d}-Q1" if number == "Q4" else f"{series}-{year}-Q{int(number[1]) + 1}"


def _parse_quarter(tag: str) -> list[str]:
    return tag.rsplit("-", 2)[1:]


def compute_window(tag: str, today: date) -> dict[str, str]:
    """First and last day of a scan: the rest of the tag's quarter where it is the present one, else all of it."""
    first, last = protocol.date_quarter(tag)
    now = today.isoformat()
    return {"opens": now if first <= now <= last else first, "closes": last}
