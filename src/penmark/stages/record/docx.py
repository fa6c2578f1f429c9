"""A text as a .docx file that says nothing of where it is from: no author, no date, no title, one fixed form.

*Reads* and *writes* nothing: it returns bytes. *Never* puts anything into the file but the text. Word keeps no line ends
of its own, so a line of the text is a paragraph; the exact bytes are in the .txt beside it.
"""

from __future__ import annotations

import io
import re
import zipfile
from xml.sax.saxutils import escape

_UNKNOWN = re.compile("[\x00-\x08\x0b\x0c\x0e-\x1f\ufffe\uffff]")
"""Characters that XML 1.0 has not."""
_MAIN = "application/vnd.openxmlformats-officedocument.wordprocessingml"
_PACKAGE = "http://schemas.openxmlformats.org/package/2006"
_OFFICE = "http://schemas.openxmlformats.org/officeDocument/2006/relationships/officeDocument"
_WORD = "http://schemas.openxmlformats.org/wordprocessingml/2006/main"
_DECLARATION = '<?xml version="1.0" encoding="UTF-8" standalone="yes"?>\n'
_TYPES = (
    f'{_DECLARATION}<Types xmlns="{_PACKAGE}/content-types">'
    '<Default Extension="rels" ContentType="application/vnd.openxmlformats-package.relationships+xml"/>'
    f'<Override PartName="/word/document.xml" ContentType="{_MAIN}.document.main+xml"/></Types>'
)
_RELATIONS = (
    f'{_DECLARATION}<Relationships xmlns="{_PACKAGE}/relationships">'
    f'<Relationship Id="rId1" Type="{_OFFICE}" Target="word/document.xml"/></Relationships>'
)


def make_docx(text: str) -> bytes | None:
    """The file, or None where the text holds a character that the format cannot keep. The same text gives the same bytes."""
    if _UNKNOWN.search(text) is not None:
        return None
    lines = text.replace("\r\n", "\n").replace("\r", "\n").removesuffix("\n").split("\n")
    body = "".join(f"<w:p>{_render_run(line)}</w:p>" for line in lines)
    document = f'{_DECLARATION}<w:document xmlns:w="{_WORD}"><w:body>{body}<w:sectPr/></w:body></w:document>'
    file = io.BytesIO()
    with zipfile.ZipFile(file, "w") as archive:
        for name, part in (
            ("[Content_Types].xml", _TYPES),
            ("_rels/.rels", _RELATIONS),
            ("word/document.xml", document),
        ):
            info = zipfile.ZipInfo(name, (1980, 1, 1, 0, 0, 0))
            info.create_system, info.compress_type = 0, zipfile.ZIP_DEFLATED
            archive.writestr(info, part.encode())
    return file.getvalue()


def _render_run(line: str) -> str:
    if line == "":
        return ""
    parts = "<w:tab/>".join(
        f'<w:t xml:space="preserve">{escape(part)}</w:t>' if part else "" for part in line.split("\t")
    )
    return f"<w:r>{parts}</w:r>"
