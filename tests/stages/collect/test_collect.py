"""Collecting: bytes in are bytes stored, everything wrong is told at once, and again changes nothing."""

import hashlib
import hmac
import shutil
import stat
from pathlib import Path

import pytest

from penmark import study
from penmark.errors import Fault, FaultsError, PenmarkError, UsageError
from penmark.format import canonical_json
from penmark.plugins import Draft

ATTESTED = {
    "kind": "attested",
    "grade": "stated",
    "attestation": "version 1",
    "attestation_sha256": "a" * 64,
    "written_on": "2026-10-10",
    "adult": "true",
    "vendors": "*",
    "review": "accepted",
}


def files(root: Path) -> dict[str, bytes]:
    return {
        str(p.relative_to(root)): p.read_bytes() for p in sorted(root.rglob("*")) if p.is_file() and p.name != "lock"
    }


def test_bytes_in_are_bytes_stored(corpus):
    made = corpus()
    raw = "\ufeffOne\r\ntwo\u00a0three — four\n\n".encode()
    result = made.collect("A", corpus.draft("007", raw, register="casual", author="x"))
    assert result == ("A", 1, 0, 0, 1, (), (), None, (), {})
    address = hashlib.sha256(raw).hexdigest()
    assert (made.place.arm("A") / f"{address}.txt").read_bytes() == raw
    (one,) = made.documents("A")
    assert one["id"] == "007"
    assert one["address"] == address
    assert one["words"] == 4
    assert one["characters"] == len(raw.decode())
    assert one["canonical_sha256"] == canonical_json.sha256("One\ntwo\u00a0three — four\n\n".encode())
    assert (one["register"], one["author"], one["topic"]) == ("casual", "x", None)
    assert one["provenance"]["evidence_date"] == "2020-05-01"


def test_ids_stay_strings_and_stand_in_order(corpus):
    made = corpus()
    names = ["null", "007", "NA", "7", "café", "cafe\u0301"]
    made.collect("A", *(corpus.draft(n, f"text {i}") for i, n in enumerate(names)))
    assert [d["id"] for d in made.documents("A")] == sorted(names)


def test_the_same_again_changes_nothing(corpus):
    made = corpus()
    drafts = [corpus.draft("a", "one"), corpus.draft("b", "", kind="archive")]
    made.collect("A", *drafts)
    before = files(made.place.root)
    times = {p: p.stat().st_mtime_ns for p in made.place.corpus.rglob("*")}
    assert made.collect("A", *drafts) == ("A", 0, 0, 2, 2, (), (), None, (), {})
    assert files(made.place.root) == before
    assert {p: p.stat().st_mtime_ns for p in made.place.corpus.rglob("*")} == times


def test_a_corrected_record_is_updated_and_a_changed_text_is_a_fault(corpus):
    made = corpus()
    made.collect("A", corpus.draft("a", "one"))
    assert made.collect("A", corpus.draft("a", "one", licence="CC BY 4.0")) == ("A", 0, 1, 0, 1, (), (), None, (), {})
    before = files(made.place.root)
    with pytest.raises(FaultsError, match=r"row a: the id a stands in the arm A with another text") as caught:
        made.collect("A", corpus.draft("a", "two"), corpus.draft("b", "three"))
    assert "--anew" in str(caught.value)
    assert files(made.place.root) == before
    assert made.collect("A", corpus.draft("a", "two"), anew=True) == ("A", 1, 0, 0, 1, (), (), None, (), {})
    assert set(files(made.place.arm("A"))) == {"documents.jsonl", f"{canonical_json.sha256(b'two')}.txt"}


def test_everything_wrong_is_told_at_once_and_nothing_is_written(corpus):
    made = corpus()
    made.collect("C", corpus.draft("c", "an AI text", kind="generated"))
    before = files(made.place.root)
    bad = [
        corpus.draft("good", "a good text"),
        corpus.draft("latin", "caf\xe9".encode("latin-1")),
        corpus.draft("nul", b"a\0b"),
        corpus.draft("good", "again"),
        corpus.draft("c", "taken elsewhere"),
        corpus.draft("a/b", "slash"),
        corpus.draft("a..b", "dots"),
        corpus.draft("undated", "x", evidence_date=""),
        corpus.draft("wrong", "x", evidence_date="2021-02-30", grade="seen"),
        corpus.draft("surrogate", "x", author="\udcff"),
        corpus.draft("tower", "a" + "\u0301\u0316" * 51),
        corpus.draft("'=x", "x"),
    ]
    with pytest.raises(FaultsError) as caught:
        made.collect("A", *bad, faults=FaultsError([Fault("file.csv:9", "cut", "look")]))
    told = str(caught.value)
    for expected in (
        "row latin: the text is not UTF-8 (byte 0xe9 at 3)",
        "row nul: the text holds a NUL character (at 1)",
        "row good: the id good is already at row good",
        "row c: the id c is already in the arm C",
        "row a/b: id:",
        "row a..b: an id holds no '..'",
        "row undated: no evidence_date (provenance of kind archive needs it)",
        "row wrong: evidence_date is not a date of the form 2021-12-31: 2021-02-30",
        "row surrogate: author is not UTF-8",
        "row tower: the text holds more than 100 combining marks in a row",
        "row '=x: an id begins with no apostrophe before = + - @",
        "file.csv:9: cut",
    ):
        assert expected in told
    assert all(fault.remedy is not None or "id" in fault.fact + (fault.place or "") for fault in caught.value.faults)
    assert files(made.place.root) == before


def test_nothing_is_collected_before_the_promise_or_after_the_freeze(corpus):
    made = corpus()
    with pytest.raises(UsageError, match=r"has no arm a \(did you mean A\?\)"):
        made.collect("a", corpus.draft("x", "y"))
    study.write_bytes(made.edition.seal("corpus"), b"{}")
    with pytest.raises(UsageError, match=r"frozen[^\0]*penmark amend"):
        made.collect("A", corpus.draft("x", "y"))
    made.edition.seal("corpus").unlink()
    made.edition.seal("promise").unlink()
    with pytest.raises(UsageError, match=r"arms are drawn after the promise[^\0]*penmark commit"):
        made.collect("A", corpus.draft("x", "y"))
    assert not made.place.corpus.exists()


def test_a_source_without_texts_is_a_fault(corpus):
    with pytest.raises(FaultsError, match="yields no text for the arm A"):
        corpus().collect("A")


def test_attested_texts_stay_private(corpus):
    made = corpus()
    secret = "A very private text about the lighthouse, café and all."
    made.collect(
        "A",
        corpus.draft("v1", secret, publish="no", topic="The lighthouse", source="diary", subgroup="native", **ATTESTED),
        corpus.draft("v2", "May be read by all.", publish="yes", topic="reading", **ATTESTED),
    )
    hidden, shown = made.documents("A")
    assert hidden["withheld"] == "the author declined publication"
    assert [hidden[n] for n in ("canonical_sha256", "words", "characters", "topic", "source")] == [None] * 5
    assert (hidden["subgroup"], shown["withheld"], shown["words"], shown["topic"]) == ("native", None, 5, "reading")
    salts = {v["document"]: bytes.fromhex(v["salt"]) for _, v in study.read_json_lines(made.place.salts)}
    assert {len(salt) for salt in salts.values()} == {32}
    assert salts["v1"] != salts["v2"]
    assert hidden["address"] == hmac.new(salts["v1"], secret.encode(), hashlib.sha256).hexdigest()
    text = made.place.private_texts / f"{hidden['address']}.txt"
    assert text.read_bytes() == secret.encode()
    assert stat.S_IMODE(text.stat().st_mode) == stat.S_IMODE(made.place.salts.stat().st_mode) == 0o600
    public = b"".join(data for name, data in files(made.place.root).items() if not name.startswith("private/"))
    for leak in (secret[:12], "lighthouse", "diary", canonical_json.sha256(secret.encode())):
        assert leak.encode() not in public
    before = files(made.place.root)
    made.collect("A", corpus.draft("v1", secret, publish="no", subgroup="native", **ATTESTED))
    assert files(made.place.root) == before
    with pytest.raises(FaultsError, match="with another text") as caught:
        made.collect("A", corpus.draft("v1", "other", publish="no", **ATTESTED))
    assert "--anew" not in str(caught.value)
    with pytest.raises(UsageError, match="attested texts"):
        made.collect("A", corpus.draft("z", "other"), anew=True)


def test_an_edited_text_is_measured_against_its_draft(corpus):
    made = corpus(corpus.arm("C2", "mixed"))
    before, after = "The quick brown fox jumps, over the lazy dog.", "The quick red fox jumps, over a lazy dog."
    row = {"kind": "edited", "grade": "stated", "provider": "P", "model": "M", "editor": "E"}
    made.collect("C2", Draft("e", after.encode(), "row e", {}, row, draft=before.encode()))
    (one,) = made.documents("C2")
    own = one["provenance"]
    assert (own["words_changed"], own["draft_words"]) == (2, 9)
    assert own["draft_sha256"] == canonical_json.sha256(before.encode())
    assert (own["draft"]["model"], own["draft"]["kind"]) == ("M", "generated")
    folder = made.place.arm("C2")
    assert (folder / f"{own['draft_sha256']}.txt").read_text() == before
    assert (folder / f"{one['address']}.txt").read_text() == after
    with pytest.raises(PenmarkError, match="without its draft"):
        made.collect("C2", Draft("f", b"x", "row f", {}, row))
    with pytest.raises(FaultsError, match="words_changed is 1; the two texts give 2"):
        made.collect("C2", Draft("f", after.encode(), "row f", {}, row | {"words_changed": "1"}, draft=before.encode()))
    with pytest.raises(PenmarkError, match="row f: 20001 words; what was edited"):
        made.collect("C2", Draft("f", after.encode(), "row f", {}, row, draft=b"word " * 20_001))


def test_what_a_row_says_beside_its_kind_is_kept_as_a_claim(corpus):
    made = corpus()
    result = made.collect("A", corpus.draft("a", "one", model="GPT-4", colour="red"), corpus.draft("b", "two"))
    assert result.unused == ("colour",)
    claims = [v for _, v in study.read_json_lines(made.place.arm("A") / "claims.jsonl")]
    assert claims == [{"claims": {"claimed_model": "GPT-4"}, "document": "a"}]
    made.collect("A", corpus.draft("a", "one"))
    assert not (made.place.arm("A") / "claims.jsonl").exists()


def test_an_arm_made_anew_lets_go_of_documents_that_an_earlier_edition_froze(corpus):
    made = corpus(corpus.arm("C", "ai", persists=False))
    made.collect("C", corpus.draft("c1", "old one", kind="generated"))
    earlier = study.Edition(made.place.root / "editions" / "BENCH-2026-Q3")
    head = {"arms": {"C": 1}, "documents": 1, "edition": earlier.tag, "kind": "manifest", "study": "small"}
    study.write_records(earlier.manifest, [head, made.documents("C")[0]])
    assert made.collect("C", corpus.draft("c2", "new one", kind="generated")).documents == 1
    assert [d["id"] for d in made.documents("C")] == ["c2"]
    assert {p.read_text() for p in made.place.arm("C").glob("*.txt")} == {"old one", "new one"}


def test_texts_move_into_shards_and_other_files_are_left_alone(corpus, monkeypatch):
    monkeypatch.setattr(study, "LOOSE", 4)
    monkeypatch.setattr(study, "SHARD", 3)
    made = corpus()
    folder = made.place.arm("A")
    made.collect("A", *(corpus.draft(f"{i}", f"text {i}") for i in range(3)))
    (folder / "notes.txt").write_text("mine")
    assert len(list(folder.glob("*.txt"))) == 4
    for count in (4, 9, 9):
        made.collect("A", *(corpus.draft(f"{i}", f"text {i}") for i in range(count)))
        kept = {raw.decode(): address for address, raw, _ in study.read_texts(folder) if address != "notes"}
        assert kept == {f"text {i}": canonical_json.sha256(f"text {i}".encode()) for i in range(count)}
        assert len(list(folder.glob("*.jsonl.gz"))) == -(-count // 3)
        assert [p.name for p in folder.glob("*.txt")] == ["notes.txt"]


def test_a_text_that_got_lost_comes_back(corpus):
    made = corpus()
    made.collect("A", corpus.draft("a", "one"))
    (made.place.arm("A") / f"{canonical_json.sha256(b'one')}.txt").unlink()
    assert made.collect("A", corpus.draft("a", "one")).unchanged == 1
    assert (made.place.arm("A") / f"{canonical_json.sha256(b'one')}.txt").read_bytes() == b"one"


def test_two_at_once_are_kept_apart(corpus):
    made = corpus()
    with study.lock_file(made.place.private / "lock", "another"), pytest.raises(UsageError, match="in use by another"):
        made.collect("A", corpus.draft("a", "one"))


def test_a_crash_at_any_write_loses_nothing(corpus, monkeypatch, tmp_path):
    """Whatever write fails: no record stands without its text, and the same command makes the same corpus."""
    monkeypatch.setattr(study, "LOOSE", 4)
    monkeypatch.setattr(study, "SHARD", 3)
    write, made = study.write_bytes, corpus()
    first = [corpus.draft(f"{i}", f"text {i}") for i in range(3)]
    every = [corpus.draft(f"{i}", f"text {i}", model="X") for i in range(11)]

    def state():
        texts = {address for address, _, _ in study.read_texts(made.place.arm("A"))}
        records = made.documents("A") if made.place.documents("A").exists() else []
        assert {record["address"] for record in records} <= texts
        return files(made.place.corpus)

    def fill():
        made.collect("A", *first)
        made.collect("A", *every[:7])
        made.collect("A", *every)

    fill()
    whole = state()
    for crash in range(1, 100):
        shutil.rmtree(made.place.corpus)
        left = iter(range(crash))

        def failing(path, data, left=left):
            if next(left, None) is None:
                raise OSError("the power is gone")
            write(path, data)

        monkeypatch.setattr(study, "write_bytes", failing)
        try:
            fill()
        except OSError:
            pass
        else:
            break
        finally:
            monkeypatch.setattr(study, "write_bytes", write)
        state()
        fill()
        assert state() == whole
    assert crash > 12
