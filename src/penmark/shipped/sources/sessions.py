"""The source ``sessions``: what volunteers wrote in an editor whose history is kept, as a signed export (docs/corpus.md).

Options: ``path``, a file of canonical JSON lines with its signature beside it (``<path>.sig``). The public key is the
promise's, never the export's. Accepted sessions become drafts; refused ones are counted by the rule that refused them.
*Reads* these two files. *Writes* nothing. *Never* takes a line of an export whose signature does not hold.
"""

from __future__ import annotations

import hashlib
from collections import Counter
from collections.abc import Iterator
from typing import Annotated, Literal

from pydantic import Field, StringConstraints, ValidationError, model_validator

from penmark.errors import Fault, FaultsError, PenmarkError, UsageError
from penmark.format import canonical_json
from penmark.plugins import Draft
from penmark.records import Consent, Date, Digest, DocumentId, Record, Time, patterns
from penmark.shipped.sources.column_mapping import require_path
from penmark.timestamps import ed25519

FORMAT = 1
"""The number of the export's form."""
MAX_FILE = 512 * 2**20
"""No export is larger than this (bytes)."""
_AGAIN = "Export the sessions again."
_Word = Annotated[str, StringConstraints(min_length=1, max_length=200)]
RefusedBy = Literal[
    "operations", "active_minutes", "pastes", "largest_insert_percent", "no attestation", "not adult", "reviewer"
]
"""The rule that refused a session: one of the arm's, or what consent and attestation lack, or a person."""


class Export(Record):
    """The first line. ``attestations``: by version, the whole text that writers agreed to."""

    kind: Literal["export"]
    format: Literal[1]
    study: str
    made_at: Time
    software: str
    attestations: dict[str, str]


class History(Record):
    """The summary of a session's history. ``largest_insert_percent``: of the text, the most that came at once."""

    sha256: Digest
    operations: int = Field(ge=0)
    active_minutes: int = Field(ge=0)
    pauses: int = Field(ge=0)
    pastes: int = Field(ge=0)
    largest_insert_percent: int = Field(ge=0, le=100)


class Session(Record):
    """One line for each session. ``refused_by`` is empty where it was accepted; ``by``, ``at``: who decided, and when."""

    kind: Literal["session"]
    id: DocumentId
    text: str
    author: _Word
    language: _Word
    register_: _Word = Field(alias="register")
    subgroup: Literal["native", "non-native"]
    topic: str | None
    written_on: Date
    attestation: str
    adult: bool
    consent: Consent
    history: History
    decision: Literal["accepted", "refused"]
    refused_by: tuple[RefusedBy, ...]
    by: _Word
    at: Time

    @model_validator(mode="after")
    def _decided(self) -> Session:
        if (self.decision == "refused") != bool(self.refused_by):
            raise ValueError("a refused session says by which rule, an accepted one is refused by none")
        if self.decision == "accepted" and not self.adult:
            raise ValueError("an accepted session is an adult's")
        return self


class Sessions:
    """A signed export of sessions."""

    promised = ("signing_key",)

    def __init__(self, options: dict[str, str]) -> None:
        self._path = require_path(options, "sessions", "the export of the sessions (JSON lines)")
        self._key = options.get("signing_key", "")
        if self._key == "":
            raise UsageError(
                "the promise names no `signing_key`, so nothing says who may deliver sessions",
                remedy="`penmark init` makes one for a new study; a study that has begun takes it up with `penmark amend`.",
            )
        odd = sorted(set(options) - {"path", "signing_key"})
        if odd:
            raise UsageError(f"the source sessions has no option {odd[0]}", remedy="It takes `path` alone.")
        self.left_out: dict[str, dict[str, int]] = {}
        self.notes: list[str] = []

    def gather(self, arm_name: str) -> Iterator[Draft]:
        """A draft for each accepted session. Raises PenmarkError for an export that is not signed, FaultsError at the end."""
        data = self._read_signed()
        faults: list[Fault] = []
        refused: Counter[str] = Counter()
        export: Export | None = None
        for number, line in enumerate(data.split(b"\n")[:-1], 1):
            place = f"{self._path}:{number}"
            try:
                value = canonical_json.decode_json(line, place=place)
                if export is None:
                    export = Export.model_validate_json(line)
                else:
                    session = Session.model_validate_json(line)
                    if session.decision == "refused":
                        refused[f"refused: {' and '.join(session.refused_by)}"] += 1
                    else:
                        yield _make_draft(session, export, place)
            except ValidationError as error:
                faults += _check_faults(place, error, value)
            except PenmarkError as error:
                faults += error.faults
            if export is None:
                break  # without its first line nothing in it can be read
        if data and not data.endswith(b"\n"):
            faults.append(Fault(str(self._path), "the last line is not finished", _AGAIN))
        if faults:
            raise FaultsError(faults)
        self.left_out = {hashlib.sha256(data).hexdigest(): dict(sorted(refused.items()))} if refused else {}
        if refused:
            self.notes.append(f"{refused.total()} sessions were refused before; they are counted, not kept")

    def _read_signed(self) -> bytes:
        beside = self._path.with_name(f"{self._path.name}.sig")
        for path in (self._path, beside):
            if not path.is_file():
                raise UsageError("there is no such file", place=str(path), remedy=f"Give the export. {_AGAIN}")
            if path.stat().st_size > MAX_FILE:
                raise UsageError(f"is larger than {MAX_FILE} bytes", place=str(path), remedy="Export it in parts.")
        data = self._path.read_bytes()
        if not ed25519.is_signed(self._key, data, beside.read_bytes()):
            raise PenmarkError(
                "is not signed with the key that the promise names",
                place=str(self._path),
                remedy="Take the export as the studio wrote it, with its signature; it is not edited afterwards.",
            )
        return data


def _make_draft(session: Session, export: Export, place: str) -> Draft:
    attestation = export.attestations.get(session.attestation)
    if attestation is None:
        fact = f"attests version {session.attestation}, whose text the export does not hold"
        raise PenmarkError(fact, place=place, remedy=_AGAIN)
    history = session.history
    row = {
        "kind": "attested",
        "grade": "witnessed",
        "attestation": session.attestation,
        "attestation_sha256": hashlib.sha256(attestation.encode()).hexdigest(),
        "written_on": session.written_on,
        "adult": "true",
        "publish": "true" if session.consent.publish else "false",
        "vendors": ";".join(session.consent.vendors),
        "review": f"accepted by {session.by} on {session.at}",
        "history_sha256": history.sha256,
        **{name: str(value) for name, value in history.model_dump().items() if name != "sha256"},
    }
    fields = {
        "language": session.language,
        "register": session.register_,
        "subgroup": session.subgroup,
        "author": session.author,
        **({} if session.topic is None else {"topic": session.topic}),
    }
    return Draft(session.id, session.text.encode(), place, fields, row)


def _check_faults(place: str, error: ValidationError, value: object) -> list[Fault]:
    """What is wrong with a line; never what a writer wrote."""
    name = value.get("id") if isinstance(value, dict) else None
    told = f" (session {name})" if isinstance(name, str) else ""
    return [
        Fault(
            place,
            f"{'.'.join(map(str, each['loc'])) or 'the line'}: {patterns.explain_pattern(each) or each['msg']}{told}",
            _AGAIN,
        )
        for each in error.errors(include_url=False, include_input=False)
    ]
