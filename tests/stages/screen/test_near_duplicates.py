"""Shared wording: no pair that shares much is missed, none is invented."""

import random

from penmark.stages.screen.near_duplicates import SHARED, Duplicates, Sketches, compute_jaccard, verify_candidates


def near(texts: list[str]) -> dict[tuple[int, int], float]:
    sketches = Sketches()
    for position, text in enumerate(texts):
        sketches.add(position, text)
    return {(a, b): s for a, b, s in verify_candidates(sketches, sketches.candidates(), iter(enumerate(texts)))}


def jaccard(one: str, other: str) -> float:
    """By the definition, on the words themselves."""
    a, b = (
        {tuple(w[i : i + 5]) for i in range(len(w) - 4)}
        for w in (["".join(c for c in x.lower() if c.isalnum()) for x in t.split()] for t in (one, other))
    )
    return len(a & b) / len(a | b)


def test_changed_texts_are_found_and_their_share_is_exact():
    rng = random.Random(3)
    words = [f"word{i}" for i in range(3000)]
    texts = [" ".join(rng.choices(words, k=150)) for _ in range(60)]
    for i in range(0, 40, 2):  # of every second text a copy with i/2 words changed
        changed = texts[i].split()
        for at in rng.sample(range(150), i // 2):
            changed[at] = "Changed,"
        texts.append(" ".join(changed))
    found = near(texts)
    expected = {
        (a, b): jaccard(texts[a], texts[b])
        for a in range(len(texts))
        for b in range(a + 1, len(texts))
        if jaccard(texts[a], texts[b]) >= SHARED
    }
    assert len(expected) > 10
    assert found == expected


def test_case_and_punctuation_do_not_hide_a_copy():
    one = "It is, they say, a very fine day to walk along the river."
    assert near([one, one.upper().replace(",", ";")]) == {(0, 1): 1.0}


def test_very_short_texts_are_not_compared():
    assert near(["one two three four five"] * 2) == {}


def test_a_common_passage_does_not_pair_everything_with_everything():
    rng = random.Random(5)
    common = " ".join(f"boiler{i}" for i in range(12))
    texts = [f"{common} " + " ".join(rng.choices([f"w{i}" for i in range(5000)], k=100)) for _ in range(300)]
    sketches = Sketches()
    for position, text in enumerate(texts):
        sketches.add(position, text)
    assert len(sketches.candidates()) < 3 * len(texts)
    assert near(texts) == {}


def test_shared_of_nothing_is_nothing():
    assert compute_jaccard(set(), set()) == 0.0


def test_the_nearest_form_of_sameness_is_told():
    twins = Duplicates()
    assert twins.add(0, (b"raw", b"canon", b"fold")) is None
    assert twins.add(1, (b"raw", b"canon", b"fold"))[::2] == ("duplicate-bytes", 0)
    assert twins.add(2, (b"raw2", b"canon", b"fold"))[::2] == ("duplicate-text", 0)
    assert twins.add(3, (b"raw3", b"canon3", b"fold"))[::2] == ("duplicate-folded", 0)
    assert twins.add(4, (b"raw4", b"canon4", b"fold4")) is None
