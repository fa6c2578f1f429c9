"""Files that are no plain text, by their first bytes: what they are, and why they are refused.

The corpus takes plain text. What a conversion loses or welds together (ligatures, text boxes, words that were inserted
under review) would be laid at the author's door, so nothing is converted here.
*Reads* and *writes* nothing.
"""

from __future__ import annotations

import html
import io
import re
import zipfile

MAX_PART = 64 * 2**20
"""Bytes of a document's main part that are looked at."""
SUFFIXES = (".docx", ".doc", ".pdf", ".odt", ".rtf", ".pages", ".epub")
"""What files are called that people take for texts, and that are none."""
LFS = b"version https://git-lfs.github.com/spec/"
"""How a pointer of Git LFS begins: it lies where a file should, in a clone without the large files."""
_SAVE = "Open it, look it over, and save it as plain text (UTF-8)."
_REVISED = re.compile(rb"<w:(ins|del|moveFrom|moveTo)[ >/]")
_REVIEWER = re.compile(rb"<w:(?:ins|del|moveFrom|moveTo) [^>]*w:author=\"([^\"]*)\"")


def explain_unreadable(raw: bytes) -> tuple[str, str] | None:
    """Why a file is no plain text (fact, remedy); None where nothing speaks against it."""
    if raw.startswith(b"%PDF-"):
        return (
            "is a PDF",
            "Take the text from where the PDF was made from, as plain text (UTF-8); a PDF loses characters.",
        )
    if raw.startswith(b"PK\x03\x04"):
        return _pack_folder(raw)
    if raw.startswith(b"\xd0\xcf\x11\xe0\xa1\xb1\x1a\xe1"):
        return "is a document of an office program (before 2007)", _SAVE
    if raw.startswith(b"{\\rtf"):
        return "is RTF", _SAVE
    if raw.startswith(LFS):
        remedy = "Fetch the files that the pointers stand for: `git lfs pull`, in the repository that they came from."
        return "is a pointer of Git LFS, and not the file itself", remedy
    if raw.startswith((b"\xff\xfe", b"\xfe\xff")):
        return "is UTF-16", "Save it as plain text (UTF-8)."
    return None


def _pack_folder(raw: bytes) -> tuple[str, str]:
    try:
        with zipfile.ZipFile(io.BytesIO(raw)) as packed:
            names = packed.namelist()
            if "word/document.xml" not in names:
                return ("is an OpenDocument text", _SAVE) if "mimetype" in names else ("is a ZIP file", "Unpack it.")
            with packed.open("word/document.xml") as part:
                main = part.read(MAX_PART)
    except (zipfile.BadZipFile, zipfile.LargeZipFile, OSError, RuntimeError, NotImplementedError):
        return "is a damaged ZIP file or Word document", _SAVE
    changes = len(_REVISED.findall(main))
    if changes == 0:
        return "is a Word document", _SAVE
    people = sorted({html.unescape(name.decode("utf-8", "replace")) for name in _REVIEWER.findall(main) if name})
    by = f" (by {', '.join(people)})" if people else ""
    return (
        f"is a Word document with {changes} pending revisions{by}: which words are its text is not decided",
        "Accept or reject every revision in Word, look it over, and save it as plain text (UTF-8).",
    )
