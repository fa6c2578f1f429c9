"""Archives on the web that capture a page for anybody: who is a third party, and not the operator under another name.

*Reads* and *writes* nothing. *Never* says that a capture is there: only that its address is such an archive's.
"""

from __future__ import annotations

from urllib.parse import urlsplit

KNOWN = (
    *(
        "archive.org",
        "archive.today",
        "archive.ph",
        "archive.is",
        "archive.li",
        "archive.vn",
        "archive.md",
        "archive.fo",
    ),
    *("perma.cc", "ghostarchive.org", "webarchive.org.uk", "arquivo.pt", "webcitation.org", "archive-it.org"),
    *("webarchive.nationalarchives.gov.uk", "vefsafn.is", "webarchive.loc.gov", "megalodon.jp", "conifer.rhizome.org"),
)
"""Their hosts; those below them are theirs too."""


def known(url: str) -> bool:
    """Whether an address is that of a known archive."""
    try:
        parts = urlsplit(url)
        host = (parts.hostname or "").rstrip(".").lower()
    except ValueError:
        return False
    plain = parts.scheme in ("http", "https") and parts.username is None
    return plain and any(host == one or host.endswith(f".{one}") for one in KNOWN)
