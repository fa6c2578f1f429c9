"""Files that are no plain text are refused with the reason, wherever they come from."""

import io
import zipfile

import pytest
from tests.shipped.sources.web_archive_server import drained

from penmark.plugins import load_source
from penmark.shipped.sources.unreadable import explain_unreadable

PLAIN = "<w:p><w:r><w:t>All words.</w:t></w:r></w:p>"
REVISED = (
    '<w:p><w:ins w:id="1" w:author="Ann"><w:r><w:t>new</w:t></w:r></w:ins>'
    '<w:del w:id="2" w:author="Bob &amp; Co"><w:r><w:delText>old</w:delText></w:r></w:del></w:p>'
)


def document(body, names=("word/document.xml",)):
    file = io.BytesIO()
    with zipfile.ZipFile(file, "w", zipfile.ZIP_DEFLATED) as packed:
        for name in names:
            packed.writestr(
                zipfile.ZipInfo(name, (2020, 1, 1, 0, 0, 0)),
                f'<w:document xmlns:w="x"><w:body>{body}</w:body></w:document>',
            )
    return file.getvalue()


@pytest.mark.parametrize(
    ("raw", "fact"),
    [
        (b"%PDF-1.7\n", "is a PDF"),
        (document(PLAIN), "is a Word document"),
        (
            document(REVISED),
            "is a Word document with 2 pending revisions (by Ann, Bob & Co): which words are its text is not decided",
        ),
        (document("", ("mimetype", "content.xml")), "is an OpenDocument text"),
        (document("", ("a.txt",)), "is a ZIP file"),
        (document(PLAIN)[:60], "is a damaged ZIP file or Word document"),
        (b"{\\rtf1 x}", "is RTF"),
        (b"\xd0\xcf\x11\xe0\xa1\xb1\x1a\xe1", "is a document of an office program (before 2007)"),
        ("Größe".encode("utf-16"), "is UTF-16"),
    ],
)
def test_what_it_is(raw, fact):
    refused = explain_unreadable(raw)
    assert refused is not None
    assert refused[0] == fact


def test_plain_texts_are_not_refused():
    for raw in (b"", b"words", "\ufeffwords\r\n".encode(), b"PK is short for pack", b"%PDF is a format"):
        assert explain_unreadable(raw) is None


def test_in_a_folder_and_a_table_everything_is_told(tmp_path):
    (tmp_path / "a.txt").write_text("A text.")
    (tmp_path / "b.docx").write_bytes(document(REVISED))
    (tmp_path / "c.pdf").write_bytes(b"%PDF-1.7")
    (tmp_path / "d.txt").write_bytes(document(REVISED))
    (tmp_path / "e.odt").write_text("not what it is called")
    (tmp_path / "picture.png").write_bytes(b"\x89PNG")
    drafts, faults = drained(load_source("folder")({"path": str(tmp_path), "kind": "archive"}).gather("A"))
    told = sorted(str(fault).replace(str(tmp_path), "…").split("\n")[0] for fault in faults)
    revised = "is a Word document with 2 pending revisions (by Ann, Bob & Co): which words are its text is not decided"
    assert told == [
        f"…/b.docx: {revised}",
        "…/c.pdf: is a PDF",
        f"…/d.txt: d.txt {revised}",
        "…/e.odt: is no plain text",
    ]
    assert [draft.id for draft in drafts] == ["a"]  # the rest is intact
    table = tmp_path / "t.csv"
    table.write_text("id,file\n1,a.txt\n2,b.docx\n3,c.pdf\n")
    _, faults = drained(load_source("table")({"path": str(table)}).gather("A"))
    assert [fault.fact.split(" (")[0] for fault in faults] == [
        "b.docx is a Word document with 2 pending revisions",
        "c.pdf is a PDF",
    ]
