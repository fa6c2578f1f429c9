"""Pages of a web archive: the oldest copy that is one, with the digest that its index says; every other with its reason."""

import gzip
import hashlib

import pytest
from tests.shipped.sources.web_archive_server import ENGLISH, FRENCH, Archive, Kept, drained, page, served, sha1

from penmark.corpus import provenance
from penmark.errors import FaultsError, PenmarkError, ServiceError, UsageError
from penmark.plugins import load_source
from penmark.shipped.sources import prose
from penmark.shipped.sources.polite_client import PoliteClient

URL = "https://example.org/news/2019/bridge?id=7&x=a b".replace(" ", "%20")


def gather(archive, tmp_path, *urls, **options):
    path = tmp_path / "addresses.txt"
    path.write_text("# what was found\n" + "".join(f"{url}\n" for url in urls or (URL,)), encoding="utf-8")
    return list(load_source("web-archive")({**archive.options, "path": str(path), **options}).gather("A"))


def faults(archive, tmp_path, *urls, **options):
    with pytest.raises(FaultsError) as caught:
        gather(archive, tmp_path, *urls, **options)
    return [str(fault) for fault in caught.value.faults]


@pytest.mark.parametrize("form", ["wayback", "pywb"])
def test_the_oldest_copy_of_2021_or_earlier(tmp_path, form):
    old, late = page(note="As it stood in 2020."), page(note="As it stood in 2021.")
    kept = (Kept(URL, "20210301000000", late), Kept(URL, "20200501120000", old), Kept(URL, "20220101000000"))
    with served(Archive(*kept, form=form)) as archive:
        (one,) = gather(archive, tmp_path, language="en", register="professional")
    assert one.text.decode().startswith("The bridge\nThe committee met")
    assert "2020" in one.text.decode()
    assert "cookies" not in one.text.decode()
    assert one.fields == {"language": "en", "register": "professional"}
    record = provenance.parse_row(one.provenance, one.place)
    assert record.model_dump() == {
        "kind": "archive",
        "grade": "archived",
        "source": URL,
        "archive": "the test archive",
        "evidence_date": "2020-05-01",
        "evidence_sha256": hashlib.sha256(old).hexdigest(),
        "licence": "not stated by the archive",
        "locator": {
            "by": "web-archive",
            "captured_at": "2020-05-01T12:00:00Z",
            "charset": "utf-8",
            "digest": sha1(old),
            "extractor": prose.describe_extractor(),
            "replay": archive.options["replay"],
            "timestamp": "20200501120000",
            "url": URL,
        },
    }
    assert one.id == f"example.org-{hashlib.sha256(URL.encode()).hexdigest()[:12]}"
    assert one.place.endswith("addresses.txt:2")


def test_what_was_asked_and_how(tmp_path):
    with served(Archive(Kept(URL, "20200501120000"), robots=b"User-agent: *\nDisallow: /save\n")) as archive:
        gather(archive, tmp_path, contact="me@example.org")
        assert archive.asked == [
            "/robots.txt",
            f"/cdx?url={'https%3A%2F%2Fexample.org%2Fnews%2F2019%2Fbridge%3Fid%3D7%26x%3Da%2520b'}"
            "&output=json&from=19960101000000&to=20211231235959&limit=200",
            f"/web/20200501120000id_/{URL}",
        ]
        assert len(archive.agents) == 1
        assert "contact: me@example.org" in archive.agents.pop()
        assert archive.together == 1


def test_a_date_in_the_address_or_the_text_is_no_evidence(tmp_path):
    url = "https://example.org/2019/05/01/bridge"
    dated = page(note='<time datetime="2019-05-01">1 May 2019</time>')
    with served(Archive(Kept(url, "20240202000000", dated))) as archive:
        (fault,) = faults(archive, tmp_path, url)
        assert "the test archive has no capture up to 2021-12-31" in fault
        archive.kept.append(Kept(url, "20201231235959", dated))
        (one,) = gather(archive, tmp_path, url)
        assert one.provenance["evidence_date"] == "2020-12-31"
        (fault,) = faults(archive, tmp_path, url, before="2020-12-31")
        assert "up to 2020-12-30" in fault


def test_every_reason_by_name_in_one_pass(tmp_path):
    def url(name):
        return f"https://example.org/{name}"

    kept = [
        Kept(url("redirect"), "20200101000000", b"", 301, headers={"Location": url("new")}),
        Kept(url("gone"), "20200101000000", b"gone", 404),
        Kept(url("pdf"), "20200101000000", b"%PDF-1.7 ...", mime="application/pdf"),
        Kept(url("hidden-pdf"), "20200101000000", b"%PDF-1.7 ..."),
        Kept(url("image"), "20200101000000", b"\x89PNG", mime="image/png"),
        Kept(url("digest"), "20200101000000", digest=sha1(b"something else")),
        Kept(url("french"), "20200101000000", page(FRENCH)),
        Kept(url("empty"), "20200101000000", b"<html><body></body></html>"),
        Kept(url("cut"), "20200101000000", gzip.compress(page())[:-40], headers={"Content-Encoding": "gzip"}),
        Kept(url("elsewhere"), "20200101000000", answer=(302, {"Location": "/web/20230101000000id_/x"}, b"")),
        Kept(url("closest"), "20200101000000", headers={"Memento-Datetime": "Sun, 01 Jan 2023 00:00:00 GMT"}),
        Kept(url("withheld"), "20200101000000", answer=(403, {}, b"excluded")),
        Kept(url("good"), "20200101000000"),
    ]
    urls = [k.url for k in kept]
    with served(Archive(*kept)) as archive:
        plugin = load_source("web-archive")
        path = tmp_path / "list.txt"
        path.write_text("\n".join([*urls, url("good"), "not an address", "ftp://example.org/x", url("nothing")]))
        drafts, found = drained(plugin({**archive.options, "path": str(path), "language": "en"}).gather("A"))
    told = {f"{fault.place.rpartition(':')[2]}": fault.fact for fault in found}
    expected = {
        "1": "the only capture is no page; the first, of 2020-01-01, is a redirect",
        "2": "is an answer with status 404",
        "3": "is application/pdf",
        "4": "the capture of 2020-01-01 is a PDF, no page",
        "5": "is image/png",
        "6": f"states the digest {sha1(b'something else')}, the payload has sha1:{sha1(page())}",
        "7": "reads as fr (score",
        "8": "no prose was found",
        "9": "cannot be unpacked: it was cut",
        "10": "answers for 2020-01-01 with another capture, of 2023-01-01",
        "11": "answers for 2020-01-01 with another capture, of 2023-01-01",
        "12": "answers for 2020-01-01 with status 403",
        "14": f"{url('good')} is already at",
        "15": "'not an address' is no address of a page",
        "16": "'ftp://example.org/x' is no address of a page",
        "17": "the test archive has no capture up to 2021-12-31",
    }
    assert told.keys() == expected.keys()
    for line, part in expected.items():
        assert part in told[line], line
    assert [draft.provenance["source"] for draft in drafts] == [url("good")]  # the rest is intact


def test_a_later_copy_is_taken_where_an_older_one_is_none(tmp_path):
    good = page(note="whole")
    kept = (
        Kept(URL, "20180101000000", b"", 302),
        Kept(URL, "20190101000000", page(note="lying"), digest=sha1(b"x")),
        Kept(URL, "20190201000000", good),
        Kept(URL, "20190301000000", mime="warc/revisit"),
    )
    with served(Archive(*kept)) as archive:
        (one,) = gather(archive, tmp_path)
        assert one.provenance["evidence_date"] == "2019-02-01"
        (tmp_path / "list.csv").write_text(f'url,timestamp,id,topic\n"{URL}",20190101000000,x,bridges\n')
        options = {**archive.options, "path": str(tmp_path / "list.csv")}
        with pytest.raises(FaultsError, match="states the digest"):
            list(load_source("web-archive")(options).gather("A"))
        (tmp_path / "list.csv").write_text(f'url,timestamp,id,topic\n"{URL}",20190201000000,x,bridges\n')
        (one,) = load_source("web-archive")(options).gather("A")
        assert (one.id, one.fields, one.text) == ("x", {"topic": "bridges"}, one.text)
        (tmp_path / "list.csv").write_text(f'url,timestamp\n"{URL}",20220101000000\n')
        with pytest.raises(FaultsError, match="20220101000000 is no time of the form"):
            list(load_source("web-archive")(options).gather("A"))


def test_packed_pages_and_both_forms_of_digest(tmp_path):
    plain = page(note="packed")
    packed = gzip.compress(plain, mtime=0)
    headers = {"Content-Encoding": "gzip"}
    # The archive's digest is of the packed bytes, or of the unpacked ones: archives differ.
    for digest, kept in ((sha1(packed), packed), (sha1(plain), plain)):
        with served(Archive(Kept(URL, "20200501120000", packed, headers=headers, digest=digest))) as archive:
            (one,) = gather(archive, tmp_path)
        assert one.provenance["evidence_sha256"] == hashlib.sha256(kept).hexdigest()
        assert one.text.decode().count("packed") == len(ENGLISH)


def test_other_charsets(tmp_path):
    german = page([s + " Straße, Größe, ‚so‘ – ja." for s in ENGLISH]).decode()
    latin = german.replace('charset="utf-8"', 'charset="iso-8859-1"').encode("cp1252")
    with served(Archive(Kept(URL, "20200501120000", latin))) as archive:
        (one,) = gather(archive, tmp_path)
    assert "Straße, Größe, ‚so‘ – ja." in one.text.decode()


# --- etiquette -----------------------------------------------------------------------------------------------------


def test_robots_are_respected(tmp_path):
    robots = b"User-agent: other\nAllow: /\n\nUser-agent: *\nUser-agent: penmark\nDisallow: /web/*id_\n"
    with (
        served(Archive(Kept(URL, "20200501120000"), robots=robots)) as archive,
        pytest.raises(
            ServiceError, match=r"robots\.txt asks programs not to fetch /web/20200501120000id_/.*\(line 6\)"
        ),
    ):
        gather(archive, tmp_path)
    assert [path.partition("?")[0] for path in archive.asked] == ["/robots.txt", "/cdx"]


def test_pauses_between_requests(tmp_path):
    with served(Archive(Kept(URL, "20200501120000"), robots=b"User-agent: *\nCrawl-delay: 0.4\n")) as archive:
        gather(archive, tmp_path, pause="0.2")
    first, second = (b - a for a, b in zip(archive.moments, archive.moments[1:], strict=False))
    assert first >= 0.2
    assert second >= 0.4  # what the archive asks for is more


def test_an_archive_that_asks_for_time_gets_it():
    slept = []
    with served(Archive()) as archive:
        archive.before = [
            ("/x", 429, {"Retry-After": "7"}, b"slow down"),
            ("/x", 503, {}, b""),
            ("/x", 0, {}, b""),
        ]
        archive.files["x"] = b"here"
        asker = PoliteClient("me", 1.0, slept.append)
        assert asker.get(f"{archive.url}/x").body == b"here"
        assert 7.0 in slept  # as asked
        assert 4.0 in slept  # twice the pause, doubled
        archive.before = [("/x", 429, {"Retry-After": "3600"}, b"")]
        with pytest.raises(ServiceError, match="asks to be left alone for 3600 seconds"):
            asker.get(f"{archive.url}/x")
        archive.before = [("/x", 503, {}, b"")] * 4
        with pytest.raises(ServiceError, match=r"did not answer .* in 4 attempts \(status 503\)"):
            asker.get(f"{archive.url}/x")
        archive.files["big"] = b"x" * 2000
        with pytest.raises(ServiceError, match="larger than 1000 bytes"):
            asker.get(f"{archive.url}/big", limit=1000)


def test_nobody_there():
    with served(Archive()) as archive:
        url = archive.url
    slept = []
    with pytest.raises(ServiceError, match="in 4 attempts"):
        PoliteClient("me", 1.0, slept.append).get(f"{url}/x")
    assert len(slept) >= 3


def test_an_archive_wants_to_know_who_asks(tmp_path):
    plugin = load_source("web-archive")
    with pytest.raises(UsageError, match="say who runs them"):
        plugin({"path": "x"})
    with pytest.raises(UsageError, match=r"pause=0\.1 is not a number of seconds, at least 1"):
        plugin({"path": "x", "contact": "me", "pause": "0.1"})
    with pytest.raises(UsageError, match="cannot stand in a header"):
        plugin({"path": "x", "contact": "me\r\nHost: x"})
    with pytest.raises(UsageError, match="before=2022 is not a date"):
        plugin({"path": "x", "contact": "me", "before": "2022"})
    with pytest.raises(UsageError, match="needs the option `path`"):
        list(plugin({"contact": "me"}).gather("A"))


def test_an_index_that_answers_something_else(tmp_path):
    with served(Archive(Kept(URL, "20200501120000"))) as archive:
        archive.before = [("/cdx", 200, {}, b"<html>maintenance</html>")]
        with pytest.raises(ServiceError, match="something else than a list of captures"):
            gather(archive, tmp_path)
        archive.before = [("/cdx", 403, {}, b"")]
        (fault,) = faults(archive, tmp_path)
        assert "(the index answered with status 403)" in fault


# --- once more -----------------------------------------------------------------------------------------------------


def test_found_again(tmp_path):
    with served(Archive(Kept(URL, "20200501120000"))) as archive:
        (one,) = gather(archive, tmp_path)
        locator = dict(provenance.parse_row(one.provenance, "x").locator)
        anyone = load_source("web-archive")(archive.options)  # needs no list
        found = anyone.again(locator)
        assert found == (one.provenance["evidence_sha256"], "2020-05-01", one.text, "")
        other = anyone.again(locator | {"extractor": "trafilatura 0.1"})
        assert other.text is None
        assert "extracted by trafilatura 0.1" in other.remark
        with pytest.raises(PenmarkError, match="was fetched from http://elsewhere"):
            anyone.again(locator | {"replay": "http://elsewhere"})
        with pytest.raises(PenmarkError, match="names no capture"):
            anyone.again(locator | {"url": "file:///etc/passwd"})
        archive.kept = [Kept(URL, "20200501120000", page(note="changed"))]
        changed = anyone.again(locator)
        assert changed.evidence_sha256 == hashlib.sha256(page(note="changed")).hexdigest()
        assert changed.text is None
        archive.kept = []
        with pytest.raises(PenmarkError, match="with status 404"):
            anyone.again(locator)
