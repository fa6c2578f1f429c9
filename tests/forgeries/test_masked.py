"""Two authorities over one seal, of which the reader trusts one: the other's word counts against the bundle only.

And what a token proves that came late: not before its own time, whatever the seal says of itself.
"""

from __future__ import annotations

import pytest
from tests.forgeries import both_verifiers
from tests.forgeries.forger import Forger
from tests.forgeries.timestamp_forgeries import JUST_PAPER, Stamper

MARCH = "2025-03-01T08:00:00Z"


@pytest.fixture(scope="module")
def trusted() -> Stamper:
    return Stamper()


@pytest.fixture(scope="module")
def own() -> Stamper:
    """An authority of the operator's own, which nobody else knows: it says whatever time it is told to say."""
    return Stamper()


def beside(forger: Forger, stamper: Stamper, path: str, at: str, name: str) -> None:
    """Put a token over a file beside it, under the name of an authority."""
    stamper.stamp(forger, path, at)
    token = path.removesuffix(".json")
    (forger.root / f"{token}-clock.tsr").rename(forger.root / f"{token}-{name}.tsr")


def stamped(forger: Forger, path: str) -> str:
    """When a seal, or an amendment, says that it was made."""
    value = forger.value(path)
    return str(value["sealed_at"] if path.startswith("seals/") else value["announced_at"])


def masked(forger: Forger, trusted: Stamper, own: Stamper, at: str = MARCH) -> None:
    """Beside each token of a trusted authority one of the operator's own, dated as the seal claims."""
    for name in forger.edition.seal_names():
        path = f"seals/{name}.json"
        beside(forger, own, path, stamped(forger, path), "aaa")
        beside(forger, trusted, path, at, "trusted")
    forger.finish(*JUST_PAPER)


def test_a_token_of_ones_own_hides_no_other(forger: Forger, trusted: Stamper, own: Stamper) -> None:
    forger.promise(lambda value: value.update(level="0.90"))
    forger.finish()
    masked(forger, trusted, own)
    ours = both_verifiers.ours(forger.root, trusted.trust)
    assert ours.failed == {2, 5}, [ours.faults(n) for n in ours.failed]
    assert "seals/promise.json: token of 2025-03-01" in ours.faults(2)
    assert "after seals/corpus.json, 2025-03-01T08:00:01Z by its token" in ours.faults(5)
    assert "after the promise, 2025-03-01T08:00:01Z by its token" in ours.faults(5)
    alone = both_verifiers.alone(forger.root)
    assert alone.failed == {2}
    assert "seals/promise.json: stamped 2025-03-01" in alone.faults(2)
    for told in (ours, alone):
        assert told.says("seals/heads-0003.json")
    assert "2 seals/evidence.json: its tokens disagree: 2024-" in alone.unknown()


def test_a_token_of_ones_own_makes_no_amendment_older(forger: Forger, trusted: Stamper, own: Stamper) -> None:
    trusted.honest(forger)
    path = "amendments/0001.json"
    (forger.root / "amendments/0001-clock.tsr").unlink()
    beside(forger, own, path, stamped(forger, path), "aaa")
    beside(forger, trusted, path, "2024-12-01T08:00:00Z", "trusted")
    forger.finish(*JUST_PAPER)
    ours, alone = both_verifiers.ours(forger.root, trusted.trust), both_verifiers.alone(forger.root)
    assert ours.failed == {3}
    assert "announced at 2024-12-01T08:00:01Z, by its token" in ours.faults(3)
    assert alone.failed == set()
    assert "3 amendments/0001.json: its tokens disagree: 2024-" in alone.unknown()


def test_a_token_makes_no_amendment_older_than_it_says(forger: Forger, own: Stamper) -> None:
    """It says itself that it came after the promise that it claims to bind."""
    forger.edit("amendments/0001.json", lambda value: value.update(announced_at="2024-11-01T08:00:00Z"))
    own.stamp(forger, "amendments/0001.json", "2024-09-20T08:00:00Z")
    forger.finish()
    for told in (both_verifiers.ours(forger.root), both_verifiers.alone(forger.root)):
        assert told.failed == {3}
        assert told.says("announced 2024-11-01") or told.says("announced at 2024-11-01T08:00:00Z")


def test_a_corpus_that_was_chosen_after_the_answers(forger: Forger, trusted: Stamper) -> None:
    """Each token is genuine, and none too late for the next seal: nothing was sealed while the scan went on."""
    for path in forger.edition.seals.glob("heads-*.json"):
        path.unlink()
    forger.edit("seals/evidence.json", lambda seal: seal.update(sealed_at="2024-12-01T09:00:00Z"))
    forger.finish()
    trusted.honest(forger)
    trusted.stamp(forger, "seals/corpus.json", "2024-12-01T08:00:00Z")
    forger.finish(*JUST_PAPER)
    for told in (both_verifiers.ours(forger.root, trusted.trust), both_verifiers.alone(forger.root)):
        assert told.failed == {5}, [told.faults(n) for n in told.failed]
        assert told.says("journal/plain.jsonl")
        assert told.says("journal/edge.2.1of2.jsonl")
        assert not told.says("journal/humane.jsonl")  # recorded: such answers may be older than the freeze
        assert "after seals/corpus.json, " in told.faults(5)


def test_a_second_answer_that_is_older_than_the_token_of_the_promise(forger: Forger, trusted: Stamper) -> None:
    """Another answer is older than the promise itself, so that the edition is retrospective; that one is told apart."""
    forger.reading("humane", "A-01", got_at="2024-10-01T09:00:00Z")
    forger.reading("humane", "A-02", got_at="2024-10-02T12:00:00Z")
    forger.finish()
    assert both_verifiers.ours(forger.root).failed == both_verifiers.alone(forger.root).failed == set()
    trusted.honest(forger)
    trusted.stamp(forger, "seals/promise.json", "2024-10-04T08:00:00Z")
    forger.finish(*JUST_PAPER)
    for told in (both_verifiers.ours(forger.root, trusted.trust), both_verifiers.alone(forger.root)):
        assert told.failed == {5}, [told.faults(n) for n in told.failed]
        assert told.says("journal/humane.jsonl")


def test_an_authority_that_was_down_for_a_day(forger: Forger, trusted: Stamper, own: Stamper) -> None:
    """Its token came late, but before the next seal: the seal stands, from then on."""
    trusted.honest(forger)
    beside(forger, own, "seals/promise.json", stamped(forger, "seals/promise.json"), "other")
    trusted.stamp(forger, "seals/promise.json", "2024-10-03T08:00:00Z")
    trusted.stamp(forger, "seals/evidence.json", "2025-01-01T08:00:00Z")
    forger.finish(*JUST_PAPER)
    ours, alone = both_verifiers.ours(forger.root, trusted.trust), both_verifiers.alone(forger.root)
    assert ours.failed == alone.failed == set()
    for name in ("promise", "evidence"):
        assert f"2 seals/{name}.json: says sealed at 2024-" in ours.unknown()
    assert "2 seals/promise.json: its tokens disagree: 2024-" in alone.unknown()
    assert "2 seals/evidence.json: sealed 2024-" in alone.unknown()
    assert "2 seals/corpus.json: sealed" not in alone.unknown()


def test_two_authorities_that_agree(forger: Forger, trusted: Stamper, own: Stamper) -> None:
    trusted.honest(forger)
    for name in forger.edition.seal_names():
        beside(forger, own, f"seals/{name}.json", stamped(forger, f"seals/{name}.json"), "other")
    trusted.honest(forger)
    ours, alone = both_verifiers.ours(forger.root, trusted.trust), both_verifiers.alone(forger.root)
    assert ours.failed == alone.failed == set()
    assert "operator's word" not in ours.unknown()
    assert "disagree" not in alone.unknown()
