"""Decisions: what a person said about findings that no rule can settle, in ``corpus/<arm>/decisions.csv``.

Columns ``document,decision,by,at,why`` and, where it is about anything but the sentences of an edit, ``rule``. About
sentences the decision is ``kept`` or ``changed``, about everything else ``stays``: the text is read, and stays.
*Reads* that file. *Writes* nothing. *Never* takes a decision without a name, a date and a reason.
"""

from __future__ import annotations

import csv
import io
from collections.abc import Iterator
from datetime import date
from pathlib import Path

from penmark import study
from penmark.corpus import provenance
from penmark.errors import Fault, PenmarkError, suggest_name
from penmark.stages.screen.findings import PERSON, Decision, ScreeningFindings, Where

SENTENCES = provenance.SENTENCES
COLUMNS = ("document", "decision", "by", "at", "why")
_REMEDY = f"Write {','.join(COLUMNS)} (and rule), one decision a line."


def read_decisions(path: Path, where: Where, found: ScreeningFindings) -> Iterator[Decision]:
    """The decisions of an arm; every fault of the file is a finding."""
    if not path.exists():
        return
    try:
        text = study.read_bytes(path, limit=2**24).decode("utf-8-sig")
        rows = list(study.Grid(str(path), io.StringIO(text, newline="")))
    except (PenmarkError, UnicodeDecodeError, csv.Error) as error:
        fact = error.faults[0].fact if isinstance(error, PenmarkError) else f"is not CSV in UTF-8 ({error})"
        found.add("invalid-decision", where, fact, _REMEDY)
        return
    seen: set[tuple[str, str]] = set()
    for row in rows:
        if isinstance(row, Fault):
            at = int(str(row.place).rpartition(":")[2])
            found.add("invalid-decision", where._replace(row=at), row.fact, row.remedy or _REMEDY)
            continue
        number, made = row.number, _parse_decision(row.cells)
        wrong = made if isinstance(made, str) else _describe_fault(made, seen)
        if wrong is not None:
            found.add("invalid-decision", where._replace(row=number), wrong, _REMEDY)
        elif isinstance(made, Decision):
            seen.add((made.rule, made.document))
            yield made


def _parse_decision(row: dict[str, str]) -> Decision | str:
    """The decision of a row, or what is wrong with it."""
    odd = sorted(str(name) for name in row if name not in (*COLUMNS, "rule"))
    if odd:
        return f"a row with other columns than {', '.join(COLUMNS)} and rule: {', '.join(odd)}"
    values = {name: (row.get(name) or "").strip() for name in (*COLUMNS, "rule")}
    missing = [name for name in COLUMNS if values[name] == ""]
    if missing:
        return f"no {', '.join(missing)}"
    return Decision(values.pop("rule") or SENTENCES, **values)


def _describe_fault(made: Decision, seen: set[tuple[str, str]]) -> str | None:
    if made.rule not in PERSON:
        return f"{made.rule} is not decided by a person{suggest_name(made.rule, PERSON)}"
    allowed = ("kept", "changed") if made.rule == SENTENCES else ("stays",)
    if made.decision not in allowed:
        return f"the decision about {made.rule} is {made.decision!r}, and not {' or '.join(allowed)}"
    if (made.rule, made.document) in seen:
        return f"a second decision about {made.rule} of {made.document}"
    try:
        date.fromisoformat(made.at[:10])
    except ValueError:
        return f"at is no date: {made.at}"
    return None
