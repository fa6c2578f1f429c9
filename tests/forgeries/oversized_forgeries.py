"""Forgeries that keep a reader's machine busy: what takes the square of its size to check, and other ways to say a name.

As in ``acts``: somebody changes one thing, all the rest is made to fit, and only that check notices.
"""

from __future__ import annotations

import json

from tests.forgeries.boundary_forgeries import find
from tests.forgeries.forged_acts import forgery
from tests.forgeries.forger import Forger, Json
from tests.forgeries.subtle_forgeries import BESIDE

from penmark import text
from penmark.format import canonical_json
from penmark.text import sentences

BUSY = "makes what takes the square of its size to check: rows of marks, long edits, a version an answer"
ALIKE = "gives two versions, documents or shards names that two readers take for one"


def draft(forger: Forger, made: str) -> None:
    """Let E-01 have been edited from another draft."""
    address = canonical_json.sha256(made.encode())

    def change(value: Json) -> None:
        own = value["provenance"]
        edited = forger.read(f"texts/{value['address']}.txt").decode()
        before, after = text.list_words(made), text.list_words(edited)
        (forger.root / f"texts/{own['draft_sha256']}.txt").unlink()
        changed = text.count_changed_words(before, after)
        own.update(draft_sha256=address, draft_words=len(before), words_changed=changed)
        if own.get("sentences") is not None:
            found = sentences.align_edit(made, edited, value["language"])
            links = [{"kind": kind, "draft": one, "text": other} for kind, one, other in found.links]
            own["sentences"] |= {"links": links, "verdict": found.verdict, "because": found.because}

    forger.row("manifest.jsonl", change, id="E-01")
    forger.write(f"texts/{address}.txt", made.encode())
    find(forger, "over-budget", "C2", "E-01")
    find(forger, "sentences-changed", "C2", "E-01")


def versions(forger: Forger, **called: str | None) -> None:
    """Let edge.2 have told other versions: by the names that it has (2.0 is `old`, 3.0 is `new`)."""
    names = {"2.0": called["old"], "3.0": called["new"]}
    for document, answer in forger.answers("edge.2").items():
        body = answer["body"]
        for name, other in names.items():
            for space in ("", " "):
                body = body.replace(f'"model":{space}"{name}"', f'"model":{space}{json.dumps(other)}')
        forger.answer("edge.2", document, body)
    for path in forger.journals("edge.2"):
        forger.lines(path, lambda values: [_renamed(value, names) for value in values])
    forger.promise(lambda value: [d.update(version=None) for d in value["detectors"] if d["name"] == "edge.2"] and None)


def _renamed(value: Json, names: dict[str, str | None]) -> Json:
    if value["kind"] != "reading":
        return value
    return value | {"version": names.get(value["version"], value["version"]), "version_asked": None}


def renamed(forger: Forger, document: str, name: str) -> None:
    """Let a withheld document, which nobody was asked about by a scan, have another id."""

    def other(values: list[Json]) -> list[Json]:
        made = [value | {"document": name} if value.get("document") == document else value for value in values]
        return [value | {"id": name} if value.get("id") == document else value for value in made]

    for path in ("manifest.jsonl", *(p for d in ("edge.2", "humane", "plain", "typed") for p in forger.journals(d))):
        forger.lines(path, other)


def shard(forger: Forger, part: str, whole: str) -> None:
    """Let the journal of plain be that of a shard."""
    path = f"journal/plain.{part}of{whole}.jsonl"
    (forger.root / "journal/plain.jsonl").rename(forger.root / path)
    said = f"{part}/{whole}"
    forger.lines(path, lambda values: [v | {"shard": said} if v["kind"] == "start" else v for v in values])
    for seal in forger.edition.seal_names():
        if seal.startswith("heads-"):
            (forger.root / f"seals/{seal}.json").unlink()


# --- 4 corpus ----------------------------------------------------------------------------------------------------------


@forgery(BUSY, 4, "combining marks in a row")
def a_tower_of_marks(forger: Forger) -> None:
    draft(forger, "The letters lay unread" + "\u0301\u0316" * 51)


@forgery(BUSY, 4, "combining marks in a row")
def a_tower_of_marks_that_are_made_of_marks(forger: Forger) -> None:
    draft(forger, "The letters lay unread \u0f40" + "\u0f73" * 101)


@forgery(BUSY, 4, "20000")
def a_draft_as_long_as_a_book(forger: Forger) -> None:
    draft(forger, "word " * (text.MOST_EDITED + 1))


@forgery(ALIKE, 4, "screening.csv")
def a_second_column_of_rules(forger: Forger) -> None:
    head, *rows = forger.read("screening.csv").split(b"\n")[:-1]
    forger.write(
        "screening.csv", b"".join(line + b"\n" for line in [head + b",rule", *(row + b",note" for row in rows)])
    )


@forgery(ALIKE, 4, "apostrophe")
def an_id_that_is_written_like_another(forger: Forger) -> None:
    renamed(forger, "B-04", "'=x")


# --- 5 journals --------------------------------------------------------------------------------------------------------


@forgery(ALIKE, 5, "written alike")
def versions_that_are_written_alike(forger: Forger) -> None:
    versions(forger, old="=x", new="'=x")


@forgery(ALIKE, 5, "journal/plain.1of1.jsonl")
def the_only_shard(forger: Forger) -> None:
    shard(forger, "1", "1")


@forgery(ALIKE, 5, "journal/plain.01of2.jsonl")
def a_shard_with_a_nought(forger: Forger) -> None:
    shard(forger, "01", "2")


BESIDE_HIDDEN = "the vendor confirms that this is AI"


@forgery(BESIDE, 5, BESIDE_HIDDEN)
def a_remark_on_a_text_that_is_withheld(forger: Forger) -> None:
    forger.reading("humane", "B-04", reason=BESIDE_HIDDEN)


@forgery("scans before the freeze, outside the window, or with other code than was promised", 5, "plugin")
def code_that_has_no_name(forger: Forger) -> None:
    forger.lines("journal/plain.jsonl", lambda vs: [v | {"plugin": {}} if v["kind"] == "start" else v for v in vs])
