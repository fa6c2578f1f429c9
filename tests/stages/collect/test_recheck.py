"""Fetched again and compared: what is the same, what is not, and what nobody can say."""

import json

import pytest
from tests.shipped.sources.web_archive_server import Archive, Entry, Kept, page, served, warc

from penmark.cli import invoke
from penmark.errors import PenmarkError, ServiceError, UsageError
from penmark.plugins import Found, load_source
from penmark.records import Document
from penmark.stages.collect import collect_arm
from penmark.stages.collect.recheck import list_archived, make_refinders, recheck_documents

ONE, TWO = "https://example.org/one", "https://example.org/two"


class Refinder:
    """Says of each document what a test wants."""

    def __init__(self, **found):
        self.found = found

    def again(self, locator):
        said = self.found[locator["name"]]
        if isinstance(said, Exception):
            raise said
        return said


def document(corpus, identity, **locator):
    made = corpus(corpus.arm("A", "human"))
    given = {f"locator.{key}": value for key, value in locator.items()}
    made.collect("A", corpus.draft(identity, "words", evidence_sha256="a" * 64, **given))
    (one,) = made.documents("A")
    return Document.model_validate_json(json.dumps(one))


def test_every_outcome(corpus):
    known = document(corpus, "x", by="test", name="x")
    cases = {
        ("a" * 64, "2020-05-01", b"words", ""): ("same", ""),
        ("b" * 64, "2020-05-01", b"words", ""): (
            "differs",
            f"what is kept there has the SHA-256 {'b' * 64}, the record says {'a' * 64}",
        ),
        ("a" * 64, "2021-05-01", b"words", ""): ("differs", "is of 2021-05-01, the record says 2020-05-01"),
        ("a" * 64, "2020-05-01", None, "another extractor"): (
            "not compared",
            "the kept copy is the same; another extractor",
        ),
        PenmarkError("gone", remedy="Look."): ("not found", "gone (Look.)"),
        ServiceError("down"): ("no answer", "down"),
    }
    for said, expected in cases.items():
        found = said if isinstance(said, Exception) else Found(*said)
        assert list(recheck_documents([known], lambda name, found=found: Refinder(x=found))) == [("x", *expected)]
    (other,) = recheck_documents([known], lambda name: Refinder(x=Found("a" * 64, "2020-05-01", b"other words", "")))
    assert other.outcome == "differs"
    assert other.fact.startswith("gives a text with the SHA-256 ")


def test_documents_without_a_locator_and_of_other_kinds(corpus):
    made = corpus(corpus.arm("A", "human"), corpus.arm("C", "ai"))
    made.collect("A", corpus.draft("x", "words", **{"locator.by": "", "locator.url": ""}))
    made.collect("C", corpus.draft("y", "words", kind="generated"))
    (one,) = recheck_documents(list_archived(made.place.root, "A"), make_refinders({}))
    assert (one.outcome, one.fact[:25]) == ("not compared", "its record has no locator")
    assert list(recheck_documents(list_archived(made.place.root, "C"), make_refinders({}))) == []
    with pytest.raises(UsageError, match=r"no document of the arm a"):
        list_archived(made.place.root, "a")
    assert list_archived(made.place.root / "corpus", "A") == list_archived(made.place.root, "A")
    with pytest.raises(UsageError, match="there is no study here"):
        list_archived(made.place.root.parent, "A")
    with pytest.raises(UsageError, match="the source folder cannot fetch a text again"):
        make_refinders({"path": str(made.place.root)})("folder")


def test_from_a_study_and_from_a_bundle_by_anyone(corpus, tmp_path, capsys):
    made = corpus(corpus.arm("A", "human"), corpus.arm("W", "human", 1))
    (tmp_path / "list.txt").write_text(f"{ONE}\n{TWO}\n")
    (tmp_path / "crawl.warc.gz").write_bytes(warc(Entry("https://example.net/w"), packed=True))
    kept = [Kept(ONE, "20200501120000"), Kept(TWO, "20210501120000", page(note="Two."))]
    with served(Archive(*kept)) as archive:
        options = [part for name, value in archive.options.items() for part in ("--option", f"{name}={value}")]
        study = ["-C", str(made.place.root), "collect"]
        assert invoke([*study, "A", "--from", "web-archive", "--path", str(tmp_path / "list.txt"), *options]) == 0
        crawl = ["--path", str(tmp_path), "--option", "archive=a crawl"]
        assert invoke([*study, "W", "--from", "warc", *crawl]) == 0
        assert "1 added" in capsys.readouterr().out
        # A bundle has the records and nothing else of the study.
        bundle = tmp_path / "bundle"
        bundle.mkdir()
        lines = b"".join((made.place.documents(arm)).read_bytes() for arm in ("A", "W"))
        (bundle / "manifest.jsonl").write_bytes(b'{"kind":"manifest"}\n' + lines)
        for folder in (made.place.root, bundle):
            assert invoke(["-C", str(folder), "collect", "A", "--recheck", *options]) == 0
            assert capsys.readouterr().out == "A: 2 documents rechecked: 2 same\n"
            assert invoke(["-C", str(folder), "collect", "W", "--recheck", "--path", str(tmp_path)]) == 0
            assert capsys.readouterr().out == "W: 1 documents rechecked: 1 same\n"
        archive.kept[1] = Kept(TWO, "20210501120000", page(note="Rewritten."))
        assert invoke(["-C", str(bundle), "collect", "A", "--recheck", "--json", *options]) == 1
        assert '"outcome": "differs"' in capsys.readouterr().out
        assert invoke(["-C", str(bundle), "collect", "A", "--recheck", *options]) == 1
        out = capsys.readouterr().out
        assert "differs: what is kept there has the SHA-256" in out
        assert out.endswith("A: 2 documents rechecked: 1 same, 1 differs\n")
        archive.kept.pop()
        assert invoke(["-C", str(bundle), "collect", "A", "--recheck", *options]) == 1
        assert "not found: the archive answers for 2021-05-01 with status 404" in capsys.readouterr().out
        archive.before = [("/web", 503, {"Retry-After": "9999"}, b"")] * 2
        assert invoke(["-C", str(bundle), "collect", "A", "--recheck", *options]) == 3
        assert "2 no answer" in capsys.readouterr().out
    before = (bundle / "manifest.jsonl").read_bytes()
    with pytest.raises(UsageError, match="which arm is to be rechecked"):
        invoke(["-C", str(bundle), "collect", "--recheck"])
    # Whoever asks nobody in particular asks no address that only the bundle names.
    assert invoke(["-C", str(bundle), "collect", "A", "--recheck", "--option", "contact=me"]) == 1
    assert "if you mean to ask there" not in capsys.readouterr().err
    assert (bundle / "manifest.jsonl").read_bytes() == before


def test_another_version_of_the_extractor(corpus, tmp_path, monkeypatch):
    made = corpus(corpus.arm("A", "human", 1))
    (tmp_path / "list.txt").write_text(ONE)
    with served(Archive(Kept(ONE, "20200501120000"))) as archive:
        plugin = load_source("web-archive")({**archive.options, "path": str(tmp_path / "list.txt")})
        collect_arm(made.place, made.protocol, "A", plugin, lambda n: None)
        monkeypatch.setattr("penmark.shipped.sources.prose.describe_extractor", lambda: "trafilatura 99.0")
        (one,) = recheck_documents(list_archived(made.place.root, "A"), make_refinders(archive.options))
    assert one.outcome == "not compared"
    assert "the kept copy is the same; its text was extracted by trafilatura 2" in one.fact


def test_notes_of_a_source_are_told(corpus, tmp_path, capsys):
    made = corpus(corpus.arm("W", "human", 1))
    entries = (Entry("https://example.net/w"), Entry("https://example.net/x", b"{}", mime="application/json"))
    (tmp_path / "crawl.warc").write_bytes(warc(*entries, packed=False))
    crawl = ["--from", "warc", "--path", str(tmp_path), "--option", "archive=a crawl"]
    assert invoke(["-C", str(made.place.root), "collect", "W", *crawl]) == 0
    assert "note: W: 1 records left out: no HTML" in capsys.readouterr().err


def test_options_for_one_of_several_sources_and_nothing_that_can_be_compared(corpus, tmp_path, capsys):
    made = corpus(corpus.arm("A", "human", 3))
    bare = {"locator.by": "", "locator.url": ""}
    row = {"locator.by": "dataset", "locator.row": "x", "locator.options": "{}"}
    made.collect("A", corpus.draft("a", "One.", **bare), corpus.draft("b", "Two.", **bare))
    place = ["-C", str(made.place.root), "collect", "A", "--recheck"]
    assert invoke(place) == 3
    out = capsys.readouterr().out
    assert out.count("its record has no locator") == 2  # once, and once for all that are like it
    assert "… and 1 more: not compared" in out
    made.collect("A", corpus.draft("c", "Three.", **row), corpus.draft("d", "Four."))
    given = [
        "--option",
        "web-archive.replay=https://other.example/web",
        "--option",
        "web-archive.contact=me@example.org",
    ]
    given += ["--option", f"dataset.path={tmp_path / 'none.csv'}"]
    assert invoke([*place, *given, "--from", "web-archive"]) == 1
    assert "1 documents rechecked: 1 not found" in capsys.readouterr().out
    assert invoke([*place, *given]) == 1
    assert "4 documents rechecked: 2 not compared, 2 not found" in capsys.readouterr().out
