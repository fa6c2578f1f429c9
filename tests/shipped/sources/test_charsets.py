"""Pages as browsers decode them: labels and decoders of the Encoding Standard, and what is lost is counted."""

import pytest
from tests.shipped.sources.web_archive_server import Entry, drained, warc

from penmark.errors import UsageError
from penmark.plugins import load_source
from penmark.shipped.sources import charsets

EURO = "<p>12 € – “so”</p>"
CASES = [
    # bytes, header, charset, text, lost
    ("<p>é</p>".encode(), "", "utf-8", "<p>é</p>", 0),
    ("<p>é</p>".encode("cp1252"), "", "windows-1252", "<p>é</p>", 0),
    (EURO.encode("cp1252"), "text/html; charset=ISO-8859-1", "windows-1252", EURO, 0),
    (EURO.encode("cp1254"), "text/html; charset=iso-8859-9", "windows-1254", EURO, 0),
    (b"<meta charset=gb2312>" + "朱镕".encode("gbk"), "", "gbk", "<meta charset=gb2312>朱镕", 0),
    ("café “x” caf\u00e9".encode() + b" \x96 ok", "text/html; charset=utf-8", "utf-8", "café “x” café \ufffd ok", 1),
    ("a real \ufffd".encode(), "text/html; charset=utf-8", "utf-8", "a real \ufffd", 0),  # it stands so in the page
    ("é é é é é é é é é é é".encode() + b" \x96", "", "utf-8", "é é é é é é é é é é é \ufffd", 1),
    (b"a\x81b", "text/html; charset=windows-1252", "windows-1252", "a\x81b", 0),  # a control character to browsers
    (b"a\xaab", "text/html; charset=windows-1253", "windows-1253", "a\ufffdb", 1),
    (b"\xef\xbb\xbfx\xc3\xa9", "text/html; charset=iso-8859-1", "utf-8", "xé", 0),  # the mark comes first
    ("日本".encode("cp932"), "text/html; charset=Shift_JIS", "shift_jis", "日本", 0),
    ("日本".encode("euc_jp"), "text/html; charset=x-euc-jp", "euc-jp", "日本", 0),
    ("한국".encode("cp949"), "text/html; charset=ks_c_5601-1987", "euc-kr", "한국", 0),
    (b"<meta charset=utf-16>\xc3\xa9", "", "utf-8", "<meta charset=utf-16>é", 0),
    (b"<!-- <meta charset=gbk> -->\xc3\xa9", "", "utf-8", "<!-- <meta charset=gbk> -->é", 0),
    (b'<meta name="d" content="charset=gbk">\xc3\xa9', "", "utf-8", '<meta name="d" content="charset=gbk">é', 0),
    (b"\xc3\xa9", "text/html; charset=no-such", "utf-8", "é", 0),
    (b"<p>x", "text/html; charset=hz-gb-2312", "replacement", "\ufffd", 1),
]


@pytest.mark.parametrize(("raw", "header", "charset", "text", "lost"), CASES)
def test_as_browsers_read_it(raw, header, charset, text, lost):
    assert charsets.read(raw, header) == (text, charset, lost)


def test_the_record_says_what_a_page_was_read_as_and_an_option_names_it(tmp_path):
    body = "<html><body><article><p>{}</p></article></body></html>".format("Его видели у моста. " * 12).encode("cp1251")
    entry = Entry("https://example.org/ru", body, mime="text/html; charset=utf-8")
    path = tmp_path / "a.warc"
    path.write_bytes(warc(entry, packed=False))

    def draft(**options):
        plugin = load_source("warc")({"path": str(path), "archive": "a crawl", **options})
        ((one,), faults) = drained(plugin.gather("A"))
        assert faults == []
        return one, plugin

    as_declared, plugin = draft()
    lost = int(as_declared.provenance["locator.lost"])
    assert plugin.notes == [f"{lost} U+FFFD for what is no character: {entry.name} ({entry.url})"]
    assert lost > 100
    named, plugin = draft(charset="windows-1251")
    assert named.text.decode().startswith("Его видели у моста.")
    assert (named.provenance["locator.charset"], plugin.notes) == ("windows-1251", [])
    again = {k.removeprefix("locator."): v for k, v in named.provenance.items() if k.startswith("locator.")}
    assert plugin.again(again).text == named.text
    assert (
        load_source("warc")({"path": str(path), "archive": "x"}).again(again).text == named.text
    )  # by the record alone
    with pytest.raises(UsageError, match="charset=utf-7 is no charset that browsers know"):
        draft(charset="utf-7")
