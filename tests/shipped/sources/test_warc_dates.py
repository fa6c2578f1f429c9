"""Records of WARC files whose dates contradict each other are taken by nobody as evidence of the older date."""

import uuid

import pytest
from tests.shipped.sources.web_archive_server import Archive, Entry, Kept, drained, page, served, warc

from penmark.plugins import load_source

GOOD = Entry("https://news.example.org/a")


def run(tmp_path, *entries, **options):
    path = tmp_path / "crawl.warc"
    path.write_bytes(warc(*entries, packed=False))
    plugin = load_source("warc")({"path": str(path), "archive": "a crawl", "address": "https://x.example/f", **options})
    drafts, faults = drained(plugin.gather("A"))
    return [draft.id for draft in drafts], [fault.fact for fault in faults], plugin.notes


@pytest.mark.parametrize(
    ("header", "words"),
    [
        (("Date", "Sat, 04 Feb 2023 10:00:01 GMT"), "its server's own clock said 2023-02-04"),
        (("Last-Modified", "Sat, 04 Feb 2023 10:00:00 GMT"), "it was last modified on 2023-02-04"),
        (("X-Archive-Orig-Date", "Sat, 04 Feb 2023 10:00:00 GMT"), "its server's own clock said 2023-02-04"),
    ],
)
def test_an_answer_that_is_younger_than_its_record(tmp_path, header, words):
    ids, faults, notes = run(tmp_path, GOOD._replace(headers=(header,)))
    assert (ids, faults) == ([], [])
    assert notes[0] == "1 records left out: dates that contradict each other"
    assert notes[1].endswith(f"the capture says that it was captured on 2020-05-01, and {words}")


@pytest.mark.parametrize(
    "header",
    [
        ("Date", "Sat, 02 May 2020 11:00:00 GMT"),  # within a day: clocks and time zones
        ("Date", "Fri, 04 Jan 2019 10:00:00 GMT"),  # out of a cache
        ("Last-Modified", "Fri, 04 Jan 2019 10:00:00 GMT"),
        ("Date", "no date at all"),
        ("Expires", "Sat, 04 Feb 2023 10:00:00 GMT"),
    ],
)
def test_headers_that_contradict_nothing(tmp_path, header):
    assert run(tmp_path, GOOD._replace(headers=(header,))) == ([GOOD.name], [], [])


def test_a_file_that_was_begun_long_after_its_record(tmp_path):
    for at, taken in (("2023-02-04T10:00:00Z", []), ("2020-05-20T10:00:00Z", [GOOD.name])):
        ids, faults, notes = run(tmp_path, Entry("x", b"", at=at, kind="warcinfo"), GOOD)
        assert (ids, faults) == (taken, [])
        assert taken or notes[1].endswith("and its file was begun on 2023-02-04")


def test_a_record_of_the_future(tmp_path):
    ids, _, notes = run(tmp_path, GOOD._replace(at="2999-05-01T12:00:00Z"), before="3000-01-01")
    assert ids == []
    assert notes[1].endswith("says that it was captured on 2999-05-01, which is still to come")


def test_a_revisit_that_dates_a_record_otherwise(tmp_path):
    def revisit(at):
        refers = (("WARC-Refers-To", f"<urn:uuid:{GOOD.name}>"), ("WARC-Refers-To-Date", at))
        return Entry(GOOD.url, b"", at="2024-01-01T00:00:00Z", kind="revisit", further=refers)

    assert run(tmp_path, GOOD, revisit(GOOD.at)) == ([GOOD.name], [], [])
    _, faults, _ = run(tmp_path, GOOD, revisit("2023-02-04T10:00:00Z"))
    assert faults == [
        f"a revisit dates the record <urn:uuid:{GOOD.name}> on 2023-02-04, and that says 2020-05-01",
    ]


def test_a_block_with_another_digest_than_it_says(tmp_path):
    wrong = GOOD._replace(further=(("WARC-Block-Digest", f"sha1:{'A' * 32}"),))
    ids, (fact,), _ = run(tmp_path, wrong)
    assert ids == []
    assert fact.startswith(f"the archive states the digest sha1:{'A' * 32}")
    assert uuid.UUID(GOOD.name)


def test_a_replay_whose_page_is_younger_than_its_capture(tmp_path):
    later = {"X-Archive-Orig-Last-Modified": "Sat, 04 Feb 2023 10:00:00 GMT"}
    (tmp_path / "list.txt").write_text(GOOD.url)
    with served(Archive(Kept(GOOD.url, "20200501120000", page(), headers=later))) as archive:
        plugin = load_source("web-archive")({**archive.options, "path": str(tmp_path / "list.txt")})
        drafts, (fault,) = drained(plugin.gather("A"))
    assert drafts == []
    assert "captured on 2020-05-01, and it was last modified on 2023-02-04" in fault.fact
