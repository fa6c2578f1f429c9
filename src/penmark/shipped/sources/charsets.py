"""The characters of a page, read as browsers read them: which charset holds, and what stands for bytes that are none.

Labels and decoders are those of the WHATWG's Encoding Standard, by the package webencodings; in order count a byte order
mark, the header of the answer, the head of the page. A page that declares nothing is UTF-8 where it reads as that, else
Windows-1252. *Reads* and *writes* nothing. *Never* tries another charset than the declared one because of a wrong byte:
each becomes U+FFFD, and is counted.
"""

from __future__ import annotations

import codecs
import re
from typing import Any, NamedTuple

from penmark.errors import UsageError
from penmark.shipped.sources import extra

LOST = "\ufffd"
_CHARSET = re.compile(r"charset\s*=\s*[\"']?\s*([^\s;\"'>]+)", re.I)
_COMMENT = re.compile(rb"<!--.*?(?:-->|\Z)", re.S)
_META = re.compile(rb"<meta[\s/]([^>]{0,2000})", re.I)
_ATTRIBUTE = re.compile(rb"([^\s=/>\"']+)\s*=\s*(?:\"([^\"]*)\"|'([^']*)'|([^\s>]+))")
_XML = re.compile(rb"<\?xml[^>]{0,200}?\sencoding\s*=\s*[\"']([^\"'>]+)[\"']")
_BOMS = ((codecs.BOM_UTF8, "utf-8"), (codecs.BOM_UTF16_LE, "utf-16le"), (codecs.BOM_UTF16_BE, "utf-16be"))
_HEAD = 4096
_MULTIBYTE = re.compile(rb"[\xc2-\xf4][\x80-\xbf]+")


class Read(NamedTuple):
    """A page's characters. ``charset``: the standard's name of what it was read as. ``lost``: how many U+FFFD stand for
    bytes that are no characters in it."""

    text: str
    charset: str
    lost: int


def check(label: str) -> str:
    """The standard's name of a charset that the user names. Raises UsageError where browsers know none of that name."""
    found = _make_lookup(label)
    if found is None:
        remedy = "Give a name that browsers know, such as windows-1252, gbk or shift_jis."
        raise UsageError(f"charset={label} is no charset that browsers know", remedy=remedy)
    return str(found.name)


def read(page: bytes, content_type: str, named: str | None = None) -> Read:
    """The characters of a page. ``content_type``: of its answer. ``named``: the charset by which it is to be read."""
    for mark, name in _BOMS:
        if page.startswith(mark):
            return _read_page(page[len(mark) :], _make_lookup(name))
    return _read_page(page, _make_lookup(named or "") or _make_declared(page, content_type) or _list_guessed(page))


def _make_declared(page: bytes, content_type: str) -> Any:
    """What header or head say; None where neither names a charset that browsers know."""
    told = _CHARSET.search(content_type)
    if told is not None and (found := _make_lookup(told[1])) is not None:
        return found
    head = _COMMENT.sub(b"", page[:_HEAD])
    for label in _list_labels(head):
        if (found := _make_lookup(label)) is not None:
            # What can be read in a head is no UTF-16, and no pages are made for the other one.
            instead = {"utf-16le": "utf-8", "utf-16be": "utf-8", "x-user-defined": "windows-1252"}
            return _make_lookup(instead.get(found.name, found.name))
    return None


def _list_labels(head: bytes) -> list[str]:
    """The charsets that a page's head names, in its order."""
    found = [match[1].decode("latin-1") for match in [_XML.match(head)] if match is not None]
    for tag in _META.finditer(head):
        parts = {n.lower(): a or b or c for n, a, b, c in _ATTRIBUTE.findall(tag[1])}
        if b"charset" in parts:
            found.append(parts[b"charset"].decode("latin-1"))
        elif parts.get(b"http-equiv", b"").lower() == b"content-type":
            told = _CHARSET.search(parts.get(b"content", b"").decode("latin-1"))
            found += [told[1]] if told is not None else []
    return found


def _list_guessed(page: bytes) -> Any:
    """UTF-8 where nearly all that is beyond ASCII reads as that, as browsers find out, too; else Windows-1252."""
    wrong = page.decode("utf-8", "replace").count(LOST) - page.count(LOST.encode())
    return _make_lookup("utf-8" if wrong == 0 or len(_MULTIBYTE.findall(page)) >= 10 * wrong else "windows-1252")


def _make_lookup(label: str) -> Any:
    return extra.load_extra("webencodings", "webencodings").lookup(label) if label.isascii() else None


def _read_page(page: bytes, charset: Any) -> Read:
    name, codec = charset.name, charset.codec_info.name
    if name == "gbk":
        codec = "gb18030"  # the standard's decoder for both
    elif name.startswith("windows-") and codec.startswith("cp"):
        codecs.register_error("penmark-windows", _make_control)
        text = codecs.decode(page, codec, "penmark-windows")
        return Read(text, name, text.count(LOST))
    elif name == "replacement":  # unsafe on the web: browsers show nothing of such a page
        return Read(LOST, name, 1)
    text = charset.codec_info.decode(page, "replace")[0] if name == "x-user-defined" else page.decode(codec, "replace")
    own = page.count(LOST.encode()) if name == "utf-8" else 0
    return Read(text, name, text.count(LOST) - own)


def _make_control(error: UnicodeError) -> tuple[str, int]:
    """A byte that a Windows charset leaves free is, up to 0x9F, the control character of that number."""
    if not isinstance(error, UnicodeDecodeError):
        raise error
    byte = error.object[error.start]
    return chr(byte) if 0x80 <= byte <= 0x9F else LOST, error.start + 1
