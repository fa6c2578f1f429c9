"""What a vendor replied: read as it came, or refused."""

from __future__ import annotations

import pytest

from penmark.errors import PenmarkError
from penmark.format import replies


def test_a_reply_is_its_date_its_author_and_its_words() -> None:
    data = "date: 2026-12-01\nfrom: A. N., head of research, Vendor\n\n  We disagree.\n\n- 2 of 3 texts\tare ours.\n\n"
    found = replies.parse_reply(data.encode(), place="x")
    assert found == ("2026-12-01", "A. N., head of research, Vendor", "  We disagree.\n\n- 2 of 3 texts\tare ours.")
    assert replies.parse_reply(b"\xef\xbb\xbf" + data.replace("\n", "\r\n").encode(), place="x") == found


@pytest.mark.parametrize(
    ("data", "fact"),
    [
        (b"", "does not begin with its date"),
        (b"We disagree.\n", "does not begin with its date"),
        (b"date: 2026-12-01\nWe disagree.\n", "does not begin with its date"),
        (b"from: A\ndate: 2026-12-01\n\nNo.\n", "does not begin with its date"),
        (b"date: 2026-12-01\nfrom:  \n\nNo.\n", "does not begin with its date"),
        (b"date: 2026-12-01\nfrom: A\nNo.\n\nNever.\n", "does not begin with its date"),
        (b"date: 2026-12-01\nfrom: A\n\n \n\n", "does not begin with its date"),
        (b"date: 1 December\nfrom: A\n\nNo.\n", "'1 December' is not a date"),
        (b"date: 20261201\nfrom: A\n\nNo.\n", "'20261201' is not a date"),
        (b"date: 2026-02-30\nfrom: A\n\nNo.\n", "'2026-02-30' is not a date"),
        (b"date: 2026-12-01\nfrom: \xff\n\nNo.\n", r"is not UTF-8 \(byte 23\)"),
        (b"date: 2026-12-01\nfrom: A\n\n" + b"x" * 2**16, "the limit is 65536"),
    ],
)
def test_what_is_no_reply_is_told(data: bytes, fact: str) -> None:
    with pytest.raises(PenmarkError, match=fact) as caught:
        replies.parse_reply(data, place="replies/x.md")
    assert (caught.value.faults[0].place or "").startswith("replies/x.md")
    assert caught.value.faults[0].remedy is not None


@pytest.mark.parametrize(
    ("path", "whose"),
    [
        ("replies/turnitin.md", "turnitin"),
        ("replies/edge.2.md", "edge.2"),
        ("replies/../x.md", None),
        ("replies/A.md", None),
        ("replies/x.txt", None),
        ("elsewhere/x.md", None),
    ],
)
def test_where_a_reply_lies_says_whose_it_is(path: str, whose: str | None) -> None:
    found = replies.PATH.fullmatch(path)
    assert (None if found is None else found[1]) == whose
