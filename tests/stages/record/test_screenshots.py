"""Screenshots: kept by digest, named in the evidence, seen by nobody else."""

from __future__ import annotations

import stat
from pathlib import Path

import pytest
from tests import screen_readings
from tests.stages.record.test_double_entry import Ground, bodies, ground, table, typed

from penmark.errors import FaultsError, UsageError
from penmark.format import canonical_json

__all__ = ["ground"]


def shots(place_root: Path, **named: bytes) -> Path:
    """A folder of pictures, by the names without their ``n``: ``n0001_png=b"…"``."""
    folder = place_root.parent / "shots"
    folder.mkdir(exist_ok=True)
    for name, data in named.items():
        (folder / name.removeprefix("n").replace("__", "-").replace("_", ".")).write_bytes(data)
    return folder


def test_pictures_are_kept_by_digest_and_named_in_the_evidence(ground: Ground) -> None:
    place, edition, rows = ground
    one, two = rows[0]["number"], rows[1]["number"].lstrip("0")
    folder = shots(place.root, **{f"n{one}_png": b"one", f"n{one}__2_JPG": b"one more", f"n{two}_pdf": b"two"})
    (folder / ".DS_Store").write_bytes(b"a machine's own")
    done = typed(place, edition, table(place, "first.csv", rows), screenshots=folder)
    assert done.screenshots == 3
    kept = {path.name: path.read_bytes() for path in (edition.root / "screenshots").iterdir()}
    assert kept == {
        ".gitignore": b"*\n",
        f"{canonical_json.sha256(b'one')}.png": b"one",
        f"{canonical_json.sha256(b'one more')}.jpg": b"one more",
        f"{canonical_json.sha256(b'two')}.pdf": b"two",
    }
    for path in (edition.root / "screenshots").iterdir():
        assert stat.S_IMODE(path.stat().st_mode) == 0o600
    named = {body["number"]: body.get("screenshots") for body in bodies(edition).values()}
    assert named[one] == [canonical_json.sha256(b"one more"), canonical_json.sha256(b"one")]
    assert named[rows[1]["number"]] == [canonical_json.sha256(b"two")]
    assert named[rows[2]["number"]] is None
    assert len(list(folder.iterdir())) == 4  # the user's own stay where they are


@pytest.mark.parametrize(
    ("name", "fact"),
    [
        ("notes.txt", r"notes.txt: is no screenshot by its name\n.*0012.png"),
        ("0012.exe", "is no screenshot by its name"),
        ("9999.png", r"9999.png: '9999' is no number of this study"),
    ],
)
def test_what_is_no_picture_of_a_text_is_told(ground: Ground, name: str, fact: str) -> None:
    place, edition, rows = ground
    folder = shots(place.root)
    (folder / name).write_bytes(b"x")
    with pytest.raises(FaultsError, match=fact):
        typed(place, edition, table(place, "first.csv", rows), screenshots=folder)
    assert not (edition.root / "screenshots").exists()


def test_the_same_picture_for_two_texts(ground: Ground) -> None:
    place, edition, rows = ground
    folder = shots(place.root, **{f"n{row['number']}_png": b"same" for row in rows[:2]})
    with pytest.raises(FaultsError, match=f"is the same picture as {rows[0]['number']}.png"):
        typed(place, edition, table(place, "first.csv", rows), screenshots=folder)


def test_a_picture_that_nobody_read(ground: Ground) -> None:
    place, edition, rows = ground
    folder = shots(place.root, **{f"n{rows[4]['number']}_png": b"five"})
    with pytest.raises(FaultsError, match=f"a screenshot of {rows[4]['number']}, and nobody typed what it shows"):
        typed(place, edition, table(place, "first.csv", rows[:2]), screenshots=folder)
    with pytest.raises(UsageError, match="there is no such folder"):
        typed(place, edition, table(place, "first.csv", rows), screenshots=folder / "none")
    assert bodies(edition) == {}


def test_pictures_of_texts_that_are_typed_by_id(ground: Ground) -> None:
    place, edition, _ = ground
    texts = place.private / "sheets" / "texts"
    [number] = [path.stem for path in texts.glob("*.txt") if path.read_text() == screen_readings.TEXTS["C-1"]]
    folder = shots(place.root, **{f"n{number}_png": b"of C-1"})
    row = {"document": "C-1", "displayed": "3%", "date": screen_readings.now(), "operator": "AB"}
    typed(place, edition, table(place, "t.csv", [row]), screenshots=folder)
    assert bodies(edition)["C-1"]["screenshots"] == [canonical_json.sha256(b"of C-1")]
