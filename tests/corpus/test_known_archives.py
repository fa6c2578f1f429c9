"""Who captured a protocol: a known archive, or an address that the operator names."""

import pytest

from penmark.corpus import known_archives


@pytest.mark.parametrize(
    "url", ["https://web.archive.org/web/2026/https://x.example/", "https://archive.ph/abcd", "http://perma.cc/A-B"]
)
def test_known_archives(url):
    assert known_archives.known(url)


@pytest.mark.parametrize(
    "url",
    [
        *("https://me.example/same-site", "https://archive.org.me.example/", "https://notarchive.org/"),
        *(
            "https://archive.org@me.example/",
            "https://me@archive.org/",
            "archive.org/x",
            "ftp://archive.org/",
            "https://[",
            "",
        ),
    ],
)
def test_addresses_that_the_operator_names(url):
    assert not known_archives.known(url)
