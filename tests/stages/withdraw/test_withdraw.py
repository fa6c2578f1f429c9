"""Withdrawing: text and salt are gone from every file in reach, what is not in reach is named, and nothing comes back."""

import json
import shutil
import subprocess
import sys
from datetime import UTC, datetime, timedelta
from pathlib import Path

import pytest
from tests.scripted_detector import install
from tests.stages.withdraw.test_withheld import contents
from tests.volunteer_sessions import collected, export, promised, published, run, session, withheld

from penmark import study, timestamps
from penmark.corpus import provenance
from penmark.errors import PenmarkError, UsageError
from penmark.format import canonical_json
from penmark.stages import verify, withdraw
from penmark.stages.withdraw.traces import find_traces
from penmark.timestamps import Trust

TEXT = "We counted the lanterns on the quay twice, “café” and chapel included, and then the rain doused every single one of them."
OTHER = "An open text that everybody may read, about a ferry and the nurse who is late for it every morning."
NOW = f"{datetime.now(UTC).date() + timedelta(days=1)}T10:00:00Z"  # no text is taken back before it is frozen


@pytest.fixture(autouse=True)
def _acting(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.delitem(sys.modules, "acting_detector", raising=False)
    monkeypatch.syspath_prepend(str(install(tmp_path / "installed")))


@pytest.fixture
def place(tmp_path):
    made = promised(tmp_path / "study", 2, "acting")
    collected(made, tmp_path / "material", [session("B-1", TEXT), session("B-2", OTHER)])
    return made


def salt_of(place, name):
    return provenance.read_salts(place)[name]


def failures(bundle):
    return [check for check in verify.verify_bundle(bundle, Trust()) if check.state == "failed"]


def holding(place, salt):
    return {trace.path: trace.holds for trace in find_traces(place.root, "B-1", TEXT.encode(), salt)}


@pytest.mark.parametrize(
    "saved", [lambda table: table.encode(), lambda table: table.replace(",", ";").encode("utf-8-sig")]
)
def test_before_the_freeze(place, saved):
    decided = "rule,document,decision,by,at,why\n"
    decided += "".join(f"personal-name,{name},stays,Ada,2026-11-03,agreed\n" for name in ("B-1", "B-2"))
    (place.arm("B") / "decisions.csv").write_bytes(saved(decided))
    run(place, "screen")
    salt = salt_of(place, "B-1")
    assert set(holding(place, salt)) >= {"private/salts.jsonl", "corpus/B/documents.jsonl"}
    done = withdraw.withdraw_text(place, "B-1", now=NOW)
    assert (done.document, done.arm, done.at, done.editions, done.left) == ("B-1", "B", NOW, (), ())
    assert holding(place, salt) == {}
    assert [v["id"] for _, v in study.read_json_lines(place.documents("B"))] == ["B-2"]
    assert "B-1" not in (place.arm("B") / "decisions.csv").read_text()
    assert not place.edition().screening.exists()
    assert [v for _, v in study.read_json_lines(place.arm("B") / "withdrawn.jsonl")] == [
        {"at": NOW, "document": "B-1", "editions": []}
    ]
    assert set(provenance.read_salts(place)) == {"B-2"}
    assert provenance.read_withdrawn(place)["B-1"]["at"] == NOW


def test_what_was_withdrawn_does_not_come_back(place, tmp_path):
    withdraw.withdraw_text(place, "B-1", now=NOW)
    path = tmp_path / "material" / "export.jsonl"
    told = run(place, "collect", "B", "--from", "sessions", "--path", str(path))
    assert told == "B: 1 document (0 added, 0 updated, 1 unchanged); left out since they were withdrawn: B-1\n"
    export(
        path,
        place.signing.read_bytes(),
        [session("B-1", TEXT), session("B-2", OTHER), session("B-3", f"{OTHER} And a dog.")],
    )
    told = run(place, "collect", "B", "--from", "sessions", "--path", str(path))
    assert told == "B: 2 documents (1 added, 0 updated, 1 unchanged); left out since they were withdrawn: B-1\n"
    run(place, "screen")
    assert f"warning,withdrawn,B,B-1,corpus/B/withdrawn.jsonl,1,its author took the text back on {NOW[:10]}," in (
        place.edition().screening.read_text()
    )


def test_after_publication(place, tmp_path, capsys):
    bundle = published(place)
    assert failures(bundle) == []
    salt = salt_of(place, "B-1")
    done = withdraw.withdraw_text(place, "B-1", now=NOW)
    tag = place.edition().tag
    left = {trace.path: trace.holds for trace in done.left}
    # The old bundle is named, and what is sealed: there only digests are left.
    old = {path: holds for path, holds in left.items() if path.startswith(f"bundles/{tag}")}
    assert set(old.values()) >= {"the text", "the salt"}
    assert {p: h for p, h in left.items() if p not in old} == {
        f"editions/{tag}/manifest.jsonl": "a digest of the text",
        f"editions/{tag}/tables/documents.csv": "a digest of the text",
    }
    assert f"editions/{tag}/evidence/acting-0001.jsonl" in done.changed
    assert any("acting" in told for told in done.beyond)
    assert any(tag in told for told in done.beyond)
    # The old bundle, which others may hold, still verifies.
    assert failures(bundle) == []
    # The study no longer holds text or salt once the old bundle is removed.
    shutil.rmtree(bundle)
    bundle.with_suffix(".tar").unlink()
    assert set(holding(place, salt).values()) == {"a digest of the text"}
    # Published again, the edition says so, verifies, and holds neither.
    assert "1 withdrawn" in run(place, "publish")
    files = contents(bundle)
    assert files["withdrawn.jsonl"] == canonical_json.encode_json({"at": NOW, "document": "B-1"}) + b"\n"
    for needle in (TEXT[:30].encode(), TEXT[40:80].encode(), salt.hex().encode()):
        assert not [name for name, data in files.items() if needle in data]
    assert b"Their authors took texts back after the freeze" in files["README.md"]
    rows = [row for row in files["tables/readings.csv"].decode().split("\n") if ",B-1," in row]
    assert len(rows) == 1
    assert ",answered," in rows[0]
    checks = verify.verify_bundle(bundle, Trust())
    assert [check for check in checks if check.state == "failed"] == []
    assert ("1 text was withdrawn by its author") in {check.got for check in checks if check.state == "not checked"}
    alone = [sys.executable, "-I", str(bundle / "verify.py"), str(bundle), "--json"]
    stands = json.loads(subprocess.run(alone, capture_output=True, check=True).stdout)
    assert not [check for check in stands["checks"] if check["state"] == "failed"]
    assert [check["got"] for check in stands["checks"] if "withdrawn" in check["got"]]


def test_again_changes_nothing_and_says_the_same(place):
    published(place)
    first = withdraw.withdraw_text(place, "B-1", now=NOW)
    before = contents(place.root)
    again = withdraw.withdraw_text(place, "B-1", now="2027-01-01T00:00:00Z")
    assert (again.at, again.editions, again.arm) == (first.at, first.editions, first.arm)
    assert contents(place.root) == before


def test_a_run_that_was_cut_short_is_finished_by_the_same_command(place, monkeypatch):
    published(place)
    shutil.rmtree(place.bundles)
    salt, whole = salt_of(place, "B-1"), contents(place.root)
    write, private = study.write_bytes, study.write_private
    for crash in range(1, 20):
        shutil.rmtree(place.root)
        for name, data in whole.items():
            path = place.root / name
            path.parent.mkdir(parents=True, exist_ok=True)
            path.write_bytes(data if not name.endswith(".gz") else b"")
        left = iter(range(crash))

        def failing(path, data, real, left=left):
            if next(left, None) is None:
                raise OSError("the power is gone")
            real(path, data)

        monkeypatch.setattr(study, "write_bytes", lambda path, data: failing(path, data, write))
        monkeypatch.setattr(study, "write_private", lambda path, data: failing(path, data, private))
        try:
            withdraw.withdraw_text(place, "B-1", now=NOW)
        except OSError:
            pass
        else:
            break
        finally:
            monkeypatch.setattr(study, "write_bytes", write)
            monkeypatch.setattr(study, "write_private", private)
        withdraw.withdraw_text(place, "B-1", now=NOW)
        assert set(holding(place, salt).values()) <= {"a digest of the text"}
        assert "B-1" not in provenance.read_salts(place)
    assert crash > 3


def test_a_withheld_text_is_withdrawn_as_well(tmp_path):
    place = promised(tmp_path / "study", 2, "acting")
    collected(place, tmp_path / "material", [withheld("B-1", TEXT), session("B-2", OTHER)])
    bundle = published(place)
    salt = salt_of(place, "B-1")
    done = withdraw.withdraw_text(place, "B-1", now=NOW)
    assert done.left == ()  # nothing of it was ever published
    assert holding(place, salt) == {}
    shutil.rmtree(bundle)
    bundle.with_suffix(".tar").unlink()
    run(place, "publish")
    assert failures(bundle) == []


def test_a_scan_goes_on_without_the_text(place):
    for verb in ("screen", "freeze"):
        run(place, verb)
    withdraw.withdraw_text(place, "B-1", now=timestamps.format_time_now())
    for verb in ("scan", "report"):
        run(place, verb)
    run(place, "publish")
    bundle = place.bundles / place.edition().tag
    rows = [row for row in (bundle / "tables" / "readings.csv").read_text().split("\n") if ",B-1," in row]
    assert len(rows) == 1
    assert ",not_scannable," in rows[0]
    assert "its author withdrew the text" in rows[0]
    assert failures(bundle) == []


def test_what_cannot_be_withdrawn(place):
    with pytest.raises(UsageError, match=r"no document 'B1' in the study \(did you mean B-1\?\)"):
        withdraw.withdraw_text(place, "B1", now=NOW)
    with pytest.raises(UsageError, match=r"a1 is archive text, which nobody attested[^\0]*--anew"):
        withdraw.withdraw_text(place, "a1", now=NOW)
    with study.lock_file(place.private / "lock", "another"), pytest.raises(PenmarkError, match="in use by another"):
        withdraw.withdraw_text(place, "B-1", now=NOW)
    assert not place.withdrawn.exists()


def test_traces_of_all_kinds(tmp_path):
    salt = bytes(range(32))
    files = {
        "raw.txt": TEXT.encode(),
        "line.jsonl": json.dumps({"body": TEXT}).encode(),
        "escaped.jsonl": canonical_json.encode_json({"body": f'x "{TEXT}"'}),
        "part.txt": b"..." + TEXT.encode()[-70:],
        "salt.jsonl": salt.hex().encode(),
        "digest.csv": canonical_json.sha256(TEXT.encode()).encode(),
        "other.txt": OTHER.encode(),
        "late.bin": b"x" * (2**20 - 7) + TEXT.encode() + b"x" * 2**20,
    }
    for name, data in files.items():
        (tmp_path / name).write_bytes(data)
    (tmp_path / "packed.gz").write_bytes(study.compress_gzip(b"y" * 100 + TEXT.encode()))
    (tmp_path / "broken.gz").write_bytes(b"\x1f\x8b\x08broken")
    (tmp_path / ".git").mkdir()
    (tmp_path / ".git" / "kept").write_bytes(TEXT.encode())
    assert {t.path: t.holds for t in find_traces(tmp_path, "B-1", TEXT.encode(), salt)} == {
        "raw.txt": "the text",
        "escaped.jsonl": "the text",
        "line.jsonl": "a part of the text",
        "part.txt": "a part of the text",
        "salt.jsonl": "the salt",
        "digest.csv": "a digest of the text",
        "late.bin": "the text",
        "packed.gz": "the text",
        "broken.gz": "what cannot be read",
    }
