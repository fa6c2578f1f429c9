"""Pages in WARC files: what is selected, what is left out, and what is broken, in one pass."""

import gzip
import hashlib

import pytest
from tests.shipped.sources.web_archive_server import (
    ENGLISH,
    FRENCH,
    Archive,
    Entry,
    drained,
    page,
    record,
    served,
    sha1,
    warc,
)

from penmark.corpus import provenance
from penmark.errors import PenmarkError, UsageError
from penmark.plugins import load_source
from penmark.shipped.sources import bucket, payloads, prose

GOOD = Entry("https://news.example.org/a")


def run(path, **options):
    plugin = load_source("warc")({"path": str(path), "archive": "a crawl", **options})
    drafts, faults = drained(plugin.gather("A"))
    return drafts, [str(fault).split("\n")[0] for fault in faults], plugin.notes


def write(tmp_path, *entries, name="crawl.warc.gz"):
    path = tmp_path / name
    path.write_bytes(warc(*entries, packed=name.endswith(".gz")))
    return path


@pytest.mark.parametrize("name", ["crawl.warc", "crawl.warc.gz"])
def test_a_record_with_its_place(tmp_path, name):
    other = Entry("https://example.net/b", page(note="other"), at="2021-12-31T23:59:59Z")
    path = write(tmp_path, Entry("x", b"", kind="warcinfo"), other, GOOD, name=name)
    drafts, faults, notes = run(
        path, address="https://crawl.example.org/files", domain="example.org", register="casual"
    )
    assert (faults, notes) == ([], [])
    (one,) = drafts
    offset = warc(Entry("x", b"", kind="warcinfo"), other, packed=name.endswith(".gz"))
    assert one.id == GOOD.name
    assert one.fields == {"register": "casual"}
    assert provenance.parse_row(one.provenance, "x").model_dump() == {
        "kind": "archive",
        "grade": "archived",
        "source": GOOD.url,
        "archive": "a crawl",
        "evidence_date": "2020-05-01",
        "evidence_sha256": hashlib.sha256(GOOD.body).hexdigest(),
        "licence": "not stated by the archive",
        "locator": {
            "by": "warc",
            "address": "https://crawl.example.org/files",
            "captured_at": "2020-05-01T12:00:00Z",
            "charset": "utf-8",
            "digest": f"sha1:{sha1(GOOD.body)}",
            "extractor": prose.describe_extractor(),
            "file": name,
            "offset": str(len(offset)),
            "record": f"<urn:uuid:{GOOD.name}>",
            "url": GOOD.url,
        },
    }


def test_the_same_text_as_from_an_archive(tmp_path):
    """One interface: how a capture is reached changes nothing of its text."""
    from tests.shipped.sources.web_archive_server import Kept

    ((one,), _, _) = run(write(tmp_path, GOOD))
    (tmp_path / "list.txt").write_text(GOOD.url)
    with served(Archive(Kept(GOOD.url, "20200501120000", GOOD.body))) as archive:
        plugin = load_source("web-archive")({**archive.options, "path": str(tmp_path / "list.txt")})
        (other,) = plugin.gather("A")
    assert one.text == other.text
    same = ("source", "evidence_date", "evidence_sha256", "locator.captured_at", "locator.extractor")
    assert [one.provenance[n] for n in same] == [other.provenance[n] for n in same]
    # Nobody else can look into a file that only lies here.
    assert (one.provenance["grade"], other.provenance["grade"]) == ("stated", "archived")


def test_selection_by_address_domain_date_and_language(tmp_path):
    entries = [
        Entry("https://example.org/en/1", page(note="one")),
        Entry("http://sub.example.org:8080/en/2", page(note="two"), at="2019-12-31T23:59:59Z"),
        Entry("https://example.org/fr/3", page(FRENCH)),
        Entry("https://notexample.org/en/4", page(note="four")),
        Entry("https://example.org.evil.net/en/5", page(note="five")),
        Entry("https://example.org/en/6", page(note="six"), at="2022-01-01T00:00:00Z"),
        Entry("https://example.org/en/1", page(note="later"), at="2021-05-01T12:00:00Z"),
    ]
    path = write(tmp_path, *entries)

    def urls(**options):
        drafts, faults, notes = run(path, **options)
        assert faults == []
        return [d.provenance["source"].partition("://")[2] for d in drafts], notes

    found, notes = urls(domain="example.org", language="en")
    assert found == ["example.org/en/1", "sub.example.org:8080/en/2"]
    assert notes == [
        "1 records left out: another capture of an address that is there",
        "1 records left out: in another language",
    ]
    assert urls(domain="sub.example.org;notexample.org")[0] == ["sub.example.org:8080/en/2", "notexample.org/en/4"]
    assert urls(url="https://example.org/fr/")[0] == ["example.org/fr/3"]
    assert urls(since="2022-01-01", before="2022-01-02")[0] == ["example.org/en/6"]
    assert urls(domain="example.org", since="2021-01-01")[0] == ["example.org/en/1"]


def test_what_is_no_page_is_left_out_and_counted(tmp_path):
    entries = [
        GOOD,
        Entry("https://example.org/1", b"", status="301 Moved", headers=(("Location", "/x"),)),
        Entry("https://example.org/2", b"no", status="404 Not Found"),
        Entry("https://example.org/3", b"%PDF-1.7", mime="application/pdf"),
        Entry("https://example.org/4", b"PK\x03\x04 word/document.xml"),
        Entry("https://example.org/5", b"{}", mime="application/json"),
        Entry("https://example.org/6", b"<html></html>"),
        Entry("https://example.org/7", page()[:200], further=(("WARC-Truncated", "length"),)),
        Entry("https://example.org/8", kind="request"),
    ]
    drafts, faults, notes = run(write(tmp_path, *entries))
    assert [d.id for d in drafts] == [GOOD.name]
    assert faults == []
    assert notes == [
        "1 records left out: a PDF",
        "1 records left out: a redirect",
        "1 records left out: an answer other than 200",
        "2 records left out: no HTML",
        "2 records left out: without prose",
    ]


def test_bodies_as_crawlers_store_them(tmp_path):
    body = page(note="stored")
    packed = gzip.compress(body, mtime=0)
    chunked = b"".join(b"%x\r\n%s\r\n" % (len(body[i : i + 100]), body[i : i + 100]) for i in range(0, len(body), 100))
    entries = [
        Entry("https://example.org/1", body, headers=(("Content-Encoding", "gzip"),)),  # unpacked, header kept
        Entry("https://example.org/2", packed, headers=(("Content-Encoding", "gzip"),)),
        Entry("https://example.org/3", packed, headers=(("Content-Encoding", "gzip"),), digest=f"sha1:{sha1(body)}"),
        Entry(
            "https://example.org/4",
            chunked + b"0\r\n\r\n",
            headers=(("Transfer-Encoding", "chunked"),),
            digest=f"sha1:{sha1(body)}",
        ),
        Entry("https://example.org/5", body, digest=f"sha256:{hashlib.sha256(body).hexdigest()}"),
        Entry("https://example.org/6", body, headers=(("Transfer-Encoding", "chunked"),)),  # no longer so
    ]
    drafts, faults, _ = run(write(tmp_path, *entries))
    assert faults == []
    assert [d.text.decode().count("stored") for d in drafts] == [len(ENGLISH)] * 6
    kept = [hashlib.sha256(raw).hexdigest() for raw in (body, packed, body, body, body, body)]
    assert [d.provenance["evidence_sha256"] for d in drafts] == kept


def test_what_cannot_be_unpacked():
    bomb = gzip.compress(bytes(payloads.MAX_PAGE + 1))
    for stored, encoding, part in (
        (bomb, "gzip", "larger than"),
        (gzip.compress(b"x")[:-9] + b"\xff" * 9, "gzip", "cannot be unpacked"),
        (b"x", "zstd", "packed as zstd"),
    ):
        with pytest.raises(payloads.Damaged, match=part):
            payloads.read_payload(stored, {"content-encoding": encoding}, None)
    with pytest.raises(payloads.WrongDigest, match="neither"):
        payloads.read_payload(b"x", {}, "md5:abc")


# --- broken files --------------------------------------------------------------------------------------------------


@pytest.mark.parametrize("name", ["crawl.warc", "crawl.warc.gz"])
def test_a_record_cut_in_the_middle_of_a_file(tmp_path, name):
    """Its end is missing and the next record follows: that one is told, and all others are there."""
    parts = [record(Entry(f"https://example.org/{i}", page(note=f"number {i}"))) for i in range(5)]
    parts = [gzip.compress(part, mtime=0) for part in parts] if name.endswith(".gz") else parts
    parts[2] = parts[2][:-60]
    path = tmp_path / name
    path.write_bytes(b"".join(parts))
    drafts, faults, _ = run(path)
    got = {d.provenance["source"][-1] for d in drafts}
    assert {"0", "1", "4"} <= got
    assert "2" not in got
    # The reader stops at the broken record, or as it is about to begin it.
    before, here = len(parts[0]), len(parts[0]) + len(parts[1])
    assert any(f"at byte {before}:" in fault or f"at byte {here}:" in fault for fault in faults), faults


@pytest.mark.parametrize("cut", [1, 4, 5, 60, 300, 700])
@pytest.mark.parametrize("name", ["crawl.warc", "crawl.warc.gz"])
def test_a_file_cut_at_its_end(tmp_path, name, cut):
    path = write(tmp_path, *(Entry(f"https://example.org/{i}", page(note=f"{i}")) for i in range(3)), name=name)
    raw = path.read_bytes()
    path.write_bytes(raw[:-cut])
    for options in ({}, {"domain": "example.net"}):  # told whether or not the last record is wanted
        _, faults, _ = run(path, **options)
        assert len(faults) == 1, (cut, faults)
        assert "cut" in faults[0] or "is broken" in faults[0] or "lacks" in faults[0]
    assert len(run(path)[0]) <= 3


def test_flipped_bytes_are_found(tmp_path):
    raw = bytearray(warc(*(Entry(f"https://example.org/{i}", page(note=f"{i}")) for i in range(3)), packed=False))
    at = raw.index(b"umbrellas", len(raw) // 3)
    raw[at] ^= 1
    path = tmp_path / "crawl.warc"
    path.write_bytes(raw)
    drafts, faults, _ = run(path)
    assert [d.provenance["source"][-1] for d in drafts] == ["0", "2"]
    assert len(faults) == 1
    assert "the archive states the digest sha1:" in faults[0]
    name = Entry("https://example.org/1").name
    drafts, faults, _ = run(path, omit=name)
    assert ([d.provenance["source"][-1] for d in drafts], faults) == (["0", "2"], [])
    assert run(path, omit="nobody")[1][-1].endswith("no record that is selected has this id")


def test_without_a_digest_only_what_follows_shows_that_a_record_is_whole(tmp_path):
    bare = [Entry(f"https://example.org/{i}", page(note=f"{i}"), digest="") for i in range(3)]
    drafts, faults, _ = run(write(tmp_path, *bare, name="crawl.warc"))
    assert (len(drafts), faults) == (3, [])
    assert "locator.digest" not in drafts[0].provenance
    damaged = [bare[0], bare[1]._replace(cut=50), bare[2]]
    drafts, faults, _ = run(write(tmp_path, *damaged, name="crawl.warc"))
    assert "1" not in {d.provenance["source"][-1] for d in drafts}
    assert any("states no digest, and what follows it is broken" in fault for fault in faults)
    block = Entry("https://example.org/b", digest="", further=(("WARC-Block-Digest", f"sha1:{sha1(b'x')}"),))
    assert "the archive states the digest" in run(write(tmp_path, block))[1][0]


def test_a_folder_with_broken_and_good_files(tmp_path):
    (tmp_path / "sub").mkdir()
    write(tmp_path, GOOD, name="sub/b.warc.gz")
    (tmp_path / "a.warc").write_bytes(b"<html>not a WARC file</html>")
    (tmp_path / "c.warc.gz").write_bytes(warc(Entry("https://example.org/c"), packed=True)[:-60])
    (tmp_path / "notes.txt").write_text("not looked at")
    drafts, faults, _ = run(tmp_path)
    assert [(d.id, d.provenance["locator.file"]) for d in drafts] == [(GOOD.name, "sub/b.warc.gz")]
    assert len(faults) == 2
    assert "a.warc: at byte 0: the record that begins here" in faults[0]
    assert "c.warc.gz: at byte 0: the" in faults[1]


def test_a_record_without_what_it_needs(tmp_path):
    raw = record(GOOD).replace(b"HTTP/1.1 200 OK", b"GOPHER 200 OK!!")
    (tmp_path / "crawl.warc").write_bytes(raw + record(Entry("https://example.org/x")))
    drafts, faults, _ = run(tmp_path / "crawl.warc")
    assert [d.provenance["source"] for d in drafts] == ["https://example.org/x"]
    assert faults == [f"{tmp_path}/crawl.warc: at byte 0: the record lacks its time, its id, or an HTTP answer"]


def test_options_that_are_wrong(tmp_path):
    path = write(tmp_path, GOOD)
    with pytest.raises(UsageError, match="whose crawl"):
        list(load_source("warc")({"path": str(path)}).gather("A"))
    with pytest.raises(UsageError, match="since=2020 is not a date"):
        load_source("warc")({"path": str(path), "since": "2020"})
    with pytest.raises(UsageError, match="no such file"):
        run(tmp_path / "none.warc")
    (tmp_path / "empty").mkdir()
    with pytest.raises(UsageError, match=r"holds no \.warc"):
        run(tmp_path / "empty")


# --- in a bucket -----------------------------------------------------------------------------------------------------


@pytest.mark.parametrize("part", [100, 257, 4096, bucket.PART])
@pytest.mark.parametrize("packed", [True, False])
def test_files_in_a_bucket_are_read_as_if_they_lay_here(tmp_path, monkeypatch, packed, part):
    monkeypatch.setattr(bucket, "PART", part)
    end = ".gz" if packed else ""
    names = [f"crawl-data/CC-NEWS/2020/05/{n}.warc{end}" for n in ("one", "two", "three")]
    cut = warc(GOOD, Entry("https://example.org/cut"), packed=packed)[:-90]
    broken = Entry("https://example.org/lied", digest=f"sha1:{sha1(b'other')}")
    other = Entry("https://example.org/b", page(note="other"))
    files = dict(zip(names, [warc(other, packed=packed), cut, warc(broken, packed=packed)], strict=True))
    for name, data in files.items():
        (tmp_path / "here" / name).parent.mkdir(parents=True, exist_ok=True)
        (tmp_path / "here" / name).write_bytes(data)
    listed = tmp_path / ("warc.paths" + end)
    lines = "".join(f"{name}\n" for name in sorted(names)).encode()
    listed.write_bytes(gzip.compress(lines) if packed else lines)
    with served(Archive()) as archive:
        archive.files = dict(files)
        there = run(listed, address=archive.url, pause="0")
        here = run(tmp_path / "here", address=archive.url)
        assert all(path == "/robots.txt" or path.removeprefix("/") in files for path in archive.asked)
        (one, two) = there[0]
        locator = dict(provenance.parse_row(two.provenance, "x").locator)
        for given in ({}, {"path": str(listed)}):  # as the protocol has it: then a list is no WARC file
            again = load_source("warc")({"address": archive.url, "pause": "0", **given}).again(locator)
            assert again.text == two.text
    assert [draft._replace(place="") for draft in there[0]] == [draft._replace(place="") for draft in here[0]]
    assert {one.id, two.id} == {other.name, GOOD.name}
    assert two.provenance["grade"] == "archived"
    root = f"{tmp_path / 'here'}/"
    assert [fault.replace(f"{archive.url}/", root) for fault in there[1]] == here[1]
    assert len(here[1]) == 2
    assert there[2] == here[2]


def test_a_bucket_that_is_not_as_the_list_says(tmp_path, monkeypatch):
    listed = tmp_path / "warc.paths"
    listed.write_text("gone.warc\nthere.warc\n")
    with served(Archive()) as archive:
        archive.files["there.warc"] = warc(GOOD, packed=False)
        drafts, faults, _ = run(listed, address=archive.url, pause="0")
        assert [draft.id for draft in drafts] == [GOOD.name]  # what is there is read all the same
        assert faults == [f"{archive.url}/gone.warc: the archive answers with status 404"]
        # A file that changes while it is read, and a server that gives other parts, are faults.
        monkeypatch.setattr(bucket, "PART", 500)
        listed.write_text("there.warc\n")
        for headers, fact in (
            ({"Content-Range": "bytes 500-503/9999"}, "was changed while it was read"),
            ({"Content-Range": "bytes 0-3/9999"}, "gives another part than the one asked for"),
        ):
            archive.before = [
                ("/there.warc", 206, first(archive.files["there.warc"]), archive.files["there.warc"][:500])
            ]
            archive.before.append(("/there.warc", 206, headers, b"WARC"))
            _, faults, _ = run(listed, address=archive.url, pause="0")
            assert len(faults) == 1
            assert faults[0].startswith(f"{archive.url}/there.warc: ")
            assert fact in faults[0]
        archive.before = [("/there.warc", 200, {}, b"all of it")]
        _, faults, _ = run(listed, address=archive.url, pause="0")
        assert faults == [f"{archive.url}/there.warc: the archive answers with status 200"]
    for text, options, fact in (
        ("there.warc", {}, "nothing says where it is"),
        ("../there.warc", {"address": archive.url}, "is no name of a file"),
        ("https://elsewhere.example/x", {"address": archive.url}, "is no name of a file"),
        ("", {"address": archive.url}, "lists no files"),
    ):
        listed.write_text(text)
        with pytest.raises(UsageError, match=fact):
            run(listed, **options)
    with pytest.raises(UsageError, match="cannot be read as a list"):
        run(tmp_path / "no.paths", address=archive.url)


def first(data):
    return {"Content-Range": f"bytes 0-499/{len(data)}"}


# --- once more -----------------------------------------------------------------------------------------------------


@pytest.mark.parametrize("name", ["x/crawl.warc", "x/crawl.warc.gz"])
def test_found_again_here_and_there(tmp_path, name):
    (tmp_path / "x").mkdir()
    large = Entry("https://example.org/large", page(ENGLISH * 3000, note="large"))
    path = write(tmp_path, large, GOOD, name=name)
    with served(Archive()) as archive:
        archive.files[f"crawl/{name}"] = path.read_bytes()
        address = f"{archive.url}/crawl"
        drafts, faults, _ = run(tmp_path, address=address)
        assert faults == []
        for draft in drafts:
            locator = dict(provenance.parse_row(draft.provenance, "x").locator)
            expected = (draft.provenance["evidence_sha256"], "2020-05-01", draft.text, "")
            assert load_source("warc")({"path": str(tmp_path)}).again(locator) == expected
            assert load_source("warc")({"path": str(path)}).again(locator) == expected
            assert load_source("warc")({"address": address, "pause": "0"}).again(locator) == expected
        with pytest.raises(PenmarkError, match="if you mean to ask there"):
            load_source("warc")({"contact": "me"}).again(locator)
        with pytest.raises(PenmarkError, match="does not stand at byte 1 of"):
            load_source("warc")({"path": str(path)}).again(locator | {"offset": "1"})
        (tmp_path / "secret.warc").write_bytes(path.read_bytes())
        with pytest.raises(PenmarkError, match=r"there is no file \.\./secret\.warc"):
            load_source("warc")({"path": str(tmp_path / "x")}).again(locator | {"file": "../secret.warc"})
        with pytest.raises(PenmarkError, match="names no record"):
            load_source("warc")({"path": str(path)}).again(locator | {"offset": "-1"})
        archive.files.clear()
        with pytest.raises(PenmarkError, match="answers with status 404"):
            load_source("warc")({"address": address, "pause": "0"}).again(locator)
