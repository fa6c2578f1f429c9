"""With a trusted authority's word, and without: what it shows, and what stays the operator's word."""

from __future__ import annotations

import html
import re
from pathlib import Path

import pytest
from tests.forgeries import both_verifiers
from tests.forgeries.forger import Forger
from tests.forgeries.hidden_text_forgeries import UNSEEN, Unseen
from tests.forgeries.timestamp_forgeries import JUST_PAPER, Stamper

SEALED = [one for one in UNSEEN if one.sealed]


@pytest.fixture(scope="module")
def stamper() -> Stamper:
    return Stamper()


@pytest.mark.parametrize("one", UNSEEN, ids=lambda one: one.name)
def test_what_no_check_shows(forger: Forger, one: Unseen) -> None:
    """docs/threats.md says so; where the bundle tells of it all the same, it is here."""
    one.act(forger)
    forger.finish()
    ours, alone = both_verifiers.ours(forger.root), both_verifiers.alone(forger.root)
    assert ours.failed == set(), [ours.faults(n) for n in ours.failed]
    assert alone.failed == set(), [alone.faults(n) for n in alone.failed]
    for name in ("promise", "corpus", "evidence"):
        assert f"2 seals/{name}.json: no t" in ours.unknown()
        assert f"2 seals/{name}.json: no t" in alone.unknown()
    if one.trace is not None:
        path, words = one.trace
        assert words in forger.read(path).decode()


def test_an_honest_bundle_with_timestamps(forger: Forger, stamper: Stamper) -> None:
    stamper.honest(forger)
    ours = both_verifiers.ours(forger.root, stamper.trust)
    assert ours.failed == set(), [ours.faults(n) for n in ours.failed]
    assert "no token" not in ours.unknown()
    assert "authority" not in ours.unknown()
    unknown = both_verifiers.ours(forger.root)
    assert unknown.failed == set()
    assert "2 seals/promise-clock.tsr: authority unknown" in unknown.unknown()
    assert "3 amendments/0001-clock.tsr: authority unknown" in unknown.unknown()
    assert both_verifiers.alone(forger.root).failed == set()


def lines_of_openssl(text: str) -> list[str]:
    return [line.strip() for line in text.splitlines() if "openssl ts" in line]


def test_page_and_words_have_the_same_lines(forger: Forger, stamper: Stamper) -> None:
    stamper.honest(forger)
    page = re.sub("<br>", "\n", forger.read("report/index.html").decode())
    shown = lines_of_openssl(html.unescape(re.sub("<[^>]+>", "", page)))
    told = lines_of_openssl(forger.read("README.md").decode())
    assert len(told) == len(list(forger.edition.seals.glob("*.tsr")))
    assert sorted(shown) == told
    assert all(re.search(r" -attime [0-9]{10}$", line) for line in told)


@pytest.mark.parametrize(
    ("old", "new"),
    [
        ("</code>", " 99 %</code>"),
        ("openssl ts -verify -data", "Found:"),
        ('promise-clock.tsr#/attime" data-as="text">', 'promise-clock.tsr#/attime" data-as="text">1'),
        ("promise-clock.tsr#/attime", "corpus-clock.tsr#/attime"),
        ("promise-clock.tsr#/attime", "promise-nobody.tsr#/attime"),
    ],
)
def test_the_time_of_a_token_stands_in_its_line_alone(forger: Forger, stamper: Stamper, old: str, new: str) -> None:
    forger.edit("seals/evidence.json", lambda seal: seal.update(rules=9))
    stamper.honest(forger)
    page = forger.read("report/index.html").decode()
    at = page.index("openssl ts -verify")
    assert old in page[at:]
    forger.write("report/index.html", (page[:at] + page[at:].replace(old, new, 1)).encode())
    forger.finish(*JUST_PAPER, "page")
    assert both_verifiers.ours(forger.root, stamper.trust).failed == {8}


def test_a_time_of_ones_own_is_no_figure(forger: Forger, stamper: Stamper) -> None:
    """Whoever is an authority himself can stamp any second; it stands nowhere but in the line that checks the token."""
    stamper.honest(forger)
    quote = '<span data-quote="seals/promise-clock.tsr#/attime" data-as="text">'
    page = forger.read("report/index.html").decode()
    found = page[page.index(quote) :].split("</span>")[0] + "</span>"
    for place, why in (
        ('<h2 id="check-title">', "the line that checks this token, by itself"),
        ('<tbody>\n<tr><th scope="row">', "in a table quotes of arms, level and seals only"),
    ):
        assert place in page
        forger.write("report/index.html", page.replace(place, place + found, 1).encode())
        forger.finish(*JUST_PAPER, "page")
        assert why in both_verifiers.ours(forger.root).faults(8)


@pytest.mark.parametrize("one", SEALED, ids=lambda one: one.name)
def test_with_trusted_timestamps_it_is_noticed(forger: Forger, stamper: Stamper, one: Unseen) -> None:
    """The old tokens are over other bytes; new ones say a time at which it was too late."""
    stamper.honest(forger)
    one.act(forger)
    forger.finish()
    ours = both_verifiers.ours(forger.root, stamper.trust)
    assert ours.failed == {2}, [ours.faults(n) for n in ours.failed]
    assert "it is over other data" in ours.faults(2)
    assert both_verifiers.alone(forger.root).failed == {2}
    stamper.today(forger)
    ours = both_verifiers.ours(forger.root, stamper.trust)
    assert ours.failed == {2, 5}, [ours.faults(n) for n in ours.failed]
    assert "seals/promise.json: token of 2025-03-01" in ours.faults(2)
    assert "after the promise, 2025-03-01T08:00:01Z by its token" in ours.faults(5)
    assert 2 in both_verifiers.alone(forger.root).failed


def test_without_the_old_timestamps_it_says_that_there_are_none(forger: Forger, stamper: Stamper) -> None:
    stamper.honest(forger)
    forger.promise(lambda value: value.update(level="0.90"))
    for path in forger.edition.seals.glob("*.tsr"):
        path.unlink()
    forger.finish()
    ours = both_verifiers.ours(forger.root, stamper.trust)
    assert ours.failed == set()
    assert "2 seals/promise.json: no token from outside: the time is the operator's word" in ours.unknown()


@pytest.mark.parametrize("place", [40, 300, -10])
def test_a_damaged_timestamp(forger: Forger, stamper: Stamper, place: int) -> None:
    stamper.honest(forger)
    data = bytearray(forger.read("seals/corpus-clock.tsr"))
    data[place] ^= 1
    forger.write("seals/corpus-clock.tsr", bytes(data))
    forger.finish(*JUST_PAPER)
    ours = both_verifiers.ours(forger.root, stamper.trust)
    assert ours.failed == {2}
    assert ours.says("seals/corpus-clock.tsr")


def test_a_timestamp_of_another_seal(forger: Forger, stamper: Stamper) -> None:
    stamper.honest(forger)
    forger.write("seals/corpus-clock.tsr", forger.read("seals/promise-clock.tsr"))
    forger.finish(*JUST_PAPER)
    for told in (both_verifiers.ours(forger.root, stamper.trust), both_verifiers.alone(forger.root)):
        assert told.failed == {2}
        assert told.says("seals/corpus-clock.tsr")


@pytest.mark.parametrize(("path", "number"), [("seals/heads-0009-clock.tsr", 2), ("amendments/0009-clock.tsr", 3)])
def test_a_timestamp_of_nothing(forger: Forger, stamper: Stamper, path: str, number: int) -> None:
    stamper.honest(forger)
    forger.write(path, forger.read("seals/promise-clock.tsr"))
    forger.finish(*JUST_PAPER)
    ours = both_verifiers.ours(forger.root, stamper.trust)
    assert ours.failed == {number}
    assert ours.says(path)
    assert both_verifiers.alone(forger.root).says(path)


def test_an_amendment_is_as_old_as_its_timestamp(forger: Forger, stamper: Stamper) -> None:
    """It says that it was announced before the promise that it binds; the authority saw it afterwards."""
    stamper.honest(forger)
    forger.edit("amendments/0002.json", lambda value: value.update(announced_at="2024-09-21T08:00:00Z"))
    forger.edit("amendments/0002.json", lambda value: value.update(binds_from="GOLDEN-2024-Q4"))
    stamper.stamp(forger, "amendments/0002.json", "2024-10-03T08:00:00Z")
    forger.finish(*JUST_PAPER)
    ours = both_verifiers.ours(forger.root, stamper.trust)
    assert ours.failed == {3}
    assert "by its token" in ours.faults(3)
    assert ours.says("amendments/0002.json")


def test_a_clock_that_is_ahead_of_the_authority(forger: Forger, stamper: Stamper) -> None:
    stamper.honest(forger)
    stamper.stamp(forger, "seals/corpus.json", "2024-10-20T07:50:00Z")
    forger.finish(*JUST_PAPER)
    ours = both_verifiers.ours(forger.root, stamper.trust)
    assert ours.failed == {2}
    assert "as its token says" in ours.faults(2)


def test_timestamps_in_another_order(forger: Forger, stamper: Stamper) -> None:
    stamper.honest(forger)
    stamper.stamp(forger, "seals/heads-0002.json", "2024-11-02T07:50:00Z")
    forger.finish(*JUST_PAPER)
    for told in (both_verifiers.ours(forger.root, stamper.trust), both_verifiers.alone(forger.root)):
        assert told.failed == {2}
        assert told.says("seals/heads-0002.json")


def later(forger: Forger, path: Path) -> None:
    """Let the scans of a journal have happened ten days later."""
    data = path.read_bytes()
    for day in (2, 3, 4, 5):
        data = data.replace(f"2024-11-{day:02d}T08".encode(), f"2024-11-{day + 10:02d}T08".encode())
    path.write_bytes(data)


def test_a_promise_that_others_saw_after_the_answers(forger: Forger, stamper: Stamper) -> None:
    """Promise and corpus say October; the authority saw the promise after the recorded answers were given."""
    for path in (*forger.edition.journal_files(), *forger.edition.seals.glob("heads-*.json")):
        if path.name not in ("typed.jsonl", "humane.jsonl"):
            later(forger, path)
    forger.edit("seals/corpus.json", lambda value: value.update(sealed_at="2024-11-07T08:00:00Z"))
    forger.finish()
    assert both_verifiers.ours(forger.root).failed == set()
    stamper.honest(forger)
    stamper.stamp(forger, "seals/promise.json", "2024-11-07T07:00:00Z")
    forger.finish(*JUST_PAPER)
    ours = both_verifiers.ours(forger.root, stamper.trust)
    assert ours.failed == {5}, [ours.faults(n) for n in ours.failed]
    assert "after the promise, 2024-11-07T07:00:01Z by its token" in ours.faults(5)
    assert ours.says("journal/humane.jsonl")
