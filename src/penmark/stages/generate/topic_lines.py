"""One topic line for each human document: from a person's file, from the document's own record, or drafted by a model.

*Reads* a table of ids and topics, and ``topics.jsonl``. *Writes* ``topics.jsonl``, as a whole. *Never* changes a line once
a text has been asked for; never makes up a topic.
"""

from __future__ import annotations

import csv
import io
import re
from collections.abc import Iterable, Mapping
from pathlib import Path
from typing import Literal, NamedTuple, cast

from penmark import study
from penmark.errors import Fault, FaultsError, PenmarkError, UsageError, suggest_name
from penmark.format import canonical_json
from penmark.stages.generate.generation_rules import Files
from penmark.stages.generate.topic_lenders import Lender

MAX_TOPIC = 300
"""Characters of a topic line."""
MAX_FILE = 2**26
_CONTROL = re.compile(r"[\x00-\x1f\x7f\x85\u2028\u2029\ud800-\udfff]")

By = Literal["person", "record", "model"]


class Topic(NamedTuple):
    """A topic line. ``by``: who wrote it; ``sha256``: of the person's file, or of the model's answer."""

    line: str
    by: By
    sha256: str | None


def read_topics(files: Files) -> dict[str, Topic]:
    """The topic lines that are there, by document. Raises PenmarkError for a broken file."""
    found: dict[str, Topic] = {}
    for number, value in study.read_json_lines(files.topics) if files.topics.exists() else ():
        by, sha256 = value.get("by"), value.get("sha256")
        texts = [value.get("document"), value.get("topic"), by]
        if set(value) != {"by", "document", "sha256", "topic"} or not all(isinstance(text, str) for text in texts):
            place = f"{files.topics}:{number}"
            raise PenmarkError("is not {by, document, sha256, topic}", place=place, remedy="Give the topics again.")
        found[value["document"]] = Topic(value["topic"], cast(By, by), sha256)
    return found


def write_topics(files: Files, topics: Mapping[str, Topic]) -> None:
    """Put all topic lines on the disk."""
    lines = (
        {"by": topic.by, "document": name, "sha256": topic.sha256, "topic": topic.line}
        for name, topic in sorted(topics.items())
    )
    study.write_records(files.topics, lines)


def list_recorded_topics(lenders: Iterable[Lender]) -> dict[str, Topic]:
    """The topics that the documents' own records give."""
    own = {lender.id: (lender.topic or "").strip() for lender in lenders}
    return {name: Topic(line, "record", None) for name, line in own.items() if explain_bad_topic(line) is None}


def explain_bad_topic(line: str) -> str | None:
    """Why a line is no topic line, or None."""
    if line.strip() == "":
        return "is empty"
    if _CONTROL.search(line) is not None:
        return "is not one line of text"
    return None if len(line) <= MAX_TOPIC else f"is longer than {MAX_TOPIC} characters"


def list_missing_topics(topics: Mapping[str, Topic], lenders: Iterable[Lender]) -> list[str]:
    """The documents without a topic line."""
    return [lender.id for lender in lenders if lender.id not in topics]


def list_topic_lines(topics: Mapping[str, Topic], lenders: list[Lender], arm: str) -> dict[str, str]:
    """The topic line of each lender. Raises UsageError where one is missing."""
    without = list_missing_topics(topics, lenders)
    if without:
        shown = ", ".join(without[:5]) + (f" and {len(without) - 5} more" if len(without) > 5 else "")
        raise UsageError(
            f"{len(without)} of {len(lenders)} human documents have no topic line: {shown}",
            remedy=f"Write them into a CSV file with columns id and topic: penmark collect {arm} --topics --path FILE.",
        )
    return {lender.id: topics[lender.id].line for lender in lenders}


def read_topic_table(path: Path, lenders: Iterable[Lender]) -> dict[str, Topic]:
    """The topic lines that a person wrote: a CSV file with columns ``id`` and ``topic``; rows without a topic are left out.

    Raises FaultsError with everything that is wrong.
    """
    raw = study.read_bytes(path, limit=MAX_FILE)
    digest, known = canonical_json.sha256(raw), {lender.id for lender in lenders}
    try:
        text = raw.decode("utf-8-sig")
    except UnicodeDecodeError:
        raise PenmarkError("is not UTF-8", place=str(path), remedy="Save it as CSV UTF-8.") from None
    grid = study.Grid(str(path), io.StringIO(text, newline=""))
    faults: list[Fault] = []
    found: dict[str, Topic] = {}
    try:
        for row in grid:
            if isinstance(row, Fault):
                faults.append(row)
                continue
            if not {"id", "topic"} <= row.cells.keys():
                raise PenmarkError("has no columns id and topic", place=f"{path}:1", remedy="The first row names them.")
            place, name, line = f"{path}:{row.number}", row.cells["id"], row.cells["topic"].strip()
            if name not in known:
                fact = f"no public human document is called {name!r}{suggest_name(name, known)}"
                faults.append(
                    Fault(place, fact, "Topics of withheld texts stay with their authors: leave the row out.")
                )
            elif name in found:
                faults.append(Fault(place, f"a second topic for {name}", "Keep one of them."))
            elif line != "" and (why := explain_bad_topic(line)) is not None:
                faults.append(Fault(place, f"the topic of {name} {why}", "Write one short line."))
            elif line != "":
                found[name] = Topic(line, "person", digest)
    except csv.Error as error:
        faults.append(Fault(f"{path}:{grid.start}", f"is not CSV: {error}", "Look for a quote that is not closed."))
    if faults:
        raise FaultsError(faults)
    return found
