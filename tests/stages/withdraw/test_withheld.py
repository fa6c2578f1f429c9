"""Nothing that is published tells anything of a withheld text: neither it, nor a digest, nor what follows from its length."""

import csv
import gzip
import io
import json
import re
import sys
import tarfile
from pathlib import Path

import pytest
from tests.scripted_detector import install
from tests.volunteer_sessions import collected, promised, published, refused, run, session, withheld

from penmark import study
from penmark.format import canonical_json
from penmark.stages.scan import worker
from penmark.timestamps import ed25519

SECRET = (
    "Seventeen lanterns hung above the quay, and nobody would say who had lit them. “Not me,” said the harbour master; "
    "his sister laughed at that.\nWe counted them twice, café and chapel included — then the rain doused each and every one."
)
TITLE = "The lanterns of Quay Street"


@pytest.fixture(autouse=True)
def _acting(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.delitem(sys.modules, "acting_detector", raising=False)
    monkeypatch.syspath_prepend(str(install(tmp_path / "installed")))


def contents(folder: Path) -> dict[str, bytes]:
    """Every file of a folder by path, gzip files unpacked."""
    found = {}
    for path in sorted(folder.rglob("*")):
        if path.is_file():
            raw = path.read_bytes()
            found[path.relative_to(folder).as_posix()] = gzip.decompress(raw) if path.suffix == ".gz" else raw
    return found


def leaks(data: bytes, salt: str) -> list[str]:
    """What of the secret stands in some bytes: words of it in a row, digests of any form of it, its salt, its title."""
    raw = SECRET.encode()
    words = SECRET.split()
    runs = {" ".join(words[i : i + 3]) for i in range(len(words) - 2)}
    forms = {
        raw,
        canonical_json.make_canonical_text(raw),
        raw.strip(),
        raw + b"\n",
        " ".join(words).encode(),
        raw.lower(),
    }
    needles = {
        *runs,
        *(json.dumps(run)[1:-1] for run in runs),
        *map(canonical_json.sha256, forms),
        salt,
        TITLE,
        "lantern",
    }
    return sorted(needle for needle in needles if needle.encode() in data)


def test_no_published_file_holds_anything_of_a_withheld_text(tmp_path):
    place = promised(tmp_path / "study", 3, "acting", "length")
    told = collected(
        place,
        tmp_path / "material",
        [
            withheld("B-1", SECRET, topic=TITLE),
            withheld("B-2", SECRET, topic=TITLE),
            session("B-3", "An open text that everybody may read, and a rather short one."),
            refused("B-4", f"{SECRET} Pasted.", "pastes"),
        ],
    )
    assert told == "B: 3 documents (3 added, 0 updated, 0 unchanged)\n"
    bundle = published(place)
    salts = {value["document"]: value["salt"] for _, value in study.read_json_lines(place.salts)}
    assert leaks(SECRET.encode(), salts["B-1"])  # the net holds
    files = contents(bundle)
    assert any(
        b'"echo"' in data or b"An open text" in data for name, data in files.items() if name.startswith("evidence/")
    )
    assert {name: found for name, data in files.items() if (found := leaks(data, salts["B-1"]))} == {}
    assert {name: found for name, data in files.items() if (found := leaks(data, salts["B-2"]))} == {}
    with tarfile.open(bundle.with_suffix(".tar")) as tar:
        assert (
            leaks(b"".join(tar.extractfile(one).read() for one in tar if not one.name.endswith(".gz")), salts["B-1"])
            == []
        )
    for row in csv.DictReader(io.StringIO(files["tables/readings.csv"].decode())):
        if row["detector"] == "length":
            assert row["state"] == ("not_scannable" if row["document"] in ("B-1", "B-2") else "answered")
    # What a study keeps in the open, in git say, is as silent as its bundle.
    opened = {n: d for n, d in contents(place.root).items() if not n.startswith(("private/", "bundles/", "editions/"))}
    assert {name: found for name, data in opened.items() if (found := leaks(data, salts["B-1"]))} == {}
    assert b"3 refused" not in files["screening.csv"]
    assert b"1 texts of the source" in files["screening.csv"]
    assert b"1 refused: pastes" in files["screening.csv"]


def test_nothing_depends_on_the_length_or_the_wording_of_a_withheld_text(tmp_path, monkeypatch):
    """Twice the same study, but for what two writers withhold: the bundles differ in keyed digests and times alone."""
    monkeypatch.setattr("secrets.token_bytes", lambda size: bytes(size))
    key = ed25519.make_private_key()
    monkeypatch.setattr(ed25519, "make_private_key", lambda: key)
    monkeypatch.setattr(
        worker, "QUICK", 0.0
    )  # groups of one, so that a journal's lines do not follow the machine's pace
    texts = (("Short.", "Brief."), (SECRET * 5, "As an AI language model I cannot, \u200b <b>no</b> " * 40))
    made = []
    for number, (one, other) in enumerate(texts):
        folder = tmp_path / f"{number}"
        place = promised(folder / "study", 3, "always-human", "always-ai")
        collected(
            place, folder / "material", [withheld("B-1", one), withheld("B-2", other), session("B-3", "An open text.")]
        )
        made.append(contents(published(place)))
    assert made[0].keys() == made[1].keys()
    digest, time = re.compile(rb"[0-9a-f]{64}"), re.compile(rb"20\d\d-\d\d-\d\d[T ][\d:.]{8,}|\d\d:\d\d UTC")
    for name, data in made[0].items():
        one, other = (time.sub(b"T", digest.sub(b"D", each)) for each in (data, made[1][name]))
        assert one == other, name


def test_a_session_that_breaks_the_promised_rules_stops_the_freeze(tmp_path):
    place = promised(tmp_path / "study", 2, "coin")
    pasted = session("B-1", "A text of which much came at once.")
    pasted["history"] |= {"largest_insert_percent": 60, "pastes": 2, "active_minutes": 9}
    collected(place, tmp_path / "material", [pasted, session("B-2", "An open text.")])
    from penmark import protocol
    from penmark.stages import screen

    found = screen.screen_corpus(place, place.edition(), protocol.read_sealed(place.edition()))
    assert [(f.document, f.message) for f in found if f.severity == "error"] == [
        ("B-1", "a session with active_minutes 9; the arm takes 10 at least"),
        ("B-1", "a session with largest_insert_percent 60; the arm takes 20 at most"),
        ("B-1", "a session with pastes 2; the arm takes 0 at most"),
    ]
    with pytest.raises(Exception, match="3 errors stop the freeze"):
        run(place, "freeze")
