"""robots.txt as RFC 9309 reads it."""

import pytest

from penmark.shipped.sources.robots import parse_robots

TEXT = b"""\
# for all
User-agent: *
Disallow: /private
Allow: /private/open
Disallow: /*.php$
Crawl-delay: 2.5

User-Agent: PenMark
user-agent: other
Disallow: /web/   # comment
Allow: /web/ok?x=1
Disallow:

Sitemap: https://example.org/map
"""


@pytest.mark.parametrize(
    ("agent", "path", "line"),
    [
        ("someone", "/", None),
        ("someone", "/private/x", 3),
        ("someone", "/private/open/x", None),
        ("someone", "/index.php", 5),
        ("someone", "/index.php?x", None),
        ("someone", "/%70rivate", 3),
        ("penmark", "/private", None),
        ("penmark", "/web/2020id_/https://example.org/?a=b", 10),
        ("penmark", "/web/ok?x=1&y=2", None),
        ("other", "/web/", 10),
    ],
)
def test_the_longest_pattern_decides(agent, path, line):
    rule = parse_robots(TEXT, agent).forbids(path)
    assert (None if rule is None else rule.line) == line


def test_delays_and_what_is_no_robots_txt():
    assert parse_robots(TEXT, "someone").delay == 2.5
    assert parse_robots(TEXT, "penmark").delay == 0.0
    assert parse_robots(b"\xff\xfe<html>not: found</html>", "penmark") == ((), 0.0)
    assert parse_robots(b"Disallow: /\nUser-agent: *\nDisallow: /x\n", "penmark").forbids("/y") is None
