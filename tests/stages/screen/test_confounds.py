"""What tells arms apart: the AUC against its definition, texts that were not seen, and when it is worth a warning."""

import random
from array import array
from collections import Counter

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from tests.conftest import Corpus

from penmark.format import canonical_json
from penmark.records import Protocol
from penmark.stages.screen import screen_corpus
from penmark.stages.screen.confounds import Side, compute_area, compute_auc, find_contrasts
from penmark.stages.screen.features import FEATURES, Case, Vocabulary, list_features
from penmark.stages.screen.findings import ScreeningFindings

counts = st.lists(st.integers(0, 6), min_size=1, max_size=12)


def side(name, words, units=None):
    units = units or [f"{name}{i}" for i in range(len(words))]
    return Side(
        name, name, [Case(u, w, frozenset(), array("L"), array("L")) for u, w in zip(units, words, strict=True)]
    )


def marked(one, other):
    """Both sides, each text having one mark: its number of words."""
    return one, other, tuple([(case.words,) for case in each.cases] for each in (one, other))


@settings(max_examples=80)
@given(counts, counts)
def test_the_area_is_its_definition(first, second):
    wins = sum((b > a) + (b == a) / 2 for a in first for b in second)
    assert compute_auc(Counter(first), Counter(second)) == pytest.approx(wins / (len(first) * len(second)))


def test_what_separates_and_what_does_not():
    assert compute_area(*marked(side("A", [1] * 20), side("C", [2] * 20))) == (1.0, 1.0, 1.0)
    same = compute_area(*marked(side("A", [1, 2] * 50), side("C", [1, 2] * 50)))
    assert same.mean <= 0.5  # what is left out of exactly equal arms is by so much the other way
    draw = random.Random(3)
    noise = compute_area(*marked(*(side(n, [draw.randrange(8) for _ in range(150)]) for n in "AC")))
    assert 0.4 < noise.mean < 0.6
    assert noise.low < 0.5 < noise.high


def test_nothing_is_said_of_few_units():
    assert compute_area(*marked(side("A", [1] * 9), side("C", [2] * 50))) is None
    same_author = side("C", [2] * 50, ["one author"] * 50)
    assert compute_area(*marked(side("A", [1] * 50), same_author)) is None


def test_a_rule_is_not_tried_on_the_units_that_it_learned_from():
    """Each unit has a mark of its own: learned by heart they separate the arms, and say nothing about others."""
    units = [f"u{i // 4}" for i in range(120)]
    one = side("A", [1000 + i // 4 for i in range(120)], [f"A{u}" for u in units])
    other = side("C", [2000 + i // 4 for i in range(120)], [f"C{u}" for u in units])
    assert compute_area(*marked(one, other)).mean == 0.5
    apart = [
        Side(each.name, each.arm, [case._replace(unit=f"{each.name}{n}") for n, case in enumerate(each.cases)])
        for each in (one, other)
    ]
    assert compute_area(*marked(*apart)).mean > 0.95


def test_features():
    assert set(list_features("Plain text.", 2)) == set()
    told = {FEATURES[n] for n in list_features(" “A” –  b ,\n- c\n", 3)}
    assert told == {
        "a final line end",
        "white space at the beginning",
        "a line break inside",
        "two spaces in a row",
        "a space before a comma or full stop",
        "curly quotation marks or apostrophes",
        "an en or em dash",
        "a list mark at the start of a line",
        "no final mark",
        "a character outside ASCII",
    }
    assert {FEATURES[n] for n in list_features('My Title\n\nIt — "so" — and — so - ends."', 7)} == {
        "a line break inside",
        "a blank line inside",
        "straight quotation marks",
        "an en or em dash",
        "three dashes or more in a hundred words",
        "a hyphen between spaces",
        "a line like a heading",
        "a character outside ASCII",
    }


def test_format_and_length_that_tell_arms_apart(corpus):
    made = corpus(corpus.arm("A", "human", 20), corpus.arm("C", "ai", 20))
    made.collect("A", *(corpus.draft(f"A{i}", f"Human {i} " * (i + 300) + "end.\n") for i in range(20)))
    made.collect(
        "C", *(corpus.draft(f"C{i}", f"Machine {i} " * (i + 200) + "end.", kind="generated") for i in range(20))
    )
    found = {
        f.rule: f
        for f in screen_corpus(made.place, made.edition, made.protocol)
        if f.rule.endswith(("-contrast", "profile"))
    }
    assert found["length-contrast"].message == (
        "a rule that looks only at the number of words separates A from C with AUC 1.00 (1.00 to 1.00); "
        "A is longer (620 and 420 in the middle)"
    )
    assert found["format-contrast"].message == (
        "a rule that looks only at format separates A from C with AUC 1.00 (1.00 to 1.00), most by "
        "a final line end (A 20 of 20, C 0 of 20)"
    )
    assert found["length-contrast"].severity == found["format-contrast"].severity == "warning"
    assert found["profile"].severity == "note"
    assert found["profile"].message == (
        "of 20 public texts: words from 401 to 439, quartiles 410, 420, 430; with nothing of note"
    )


def topical(name, subjects, manner, count=40):
    draw = random.Random(name)
    texts = []
    for i in range(count):
        subject = subjects[i % len(subjects)]
        filler = " ".join(f"filler{draw.randrange(4000)}" for _ in range(60))
        texts.append(f"A {subject} and a {subject} {manner} in {filler}.")
    return texts


def told_of(human, machine):
    vocabulary = Vocabulary()
    cases = {
        name: [vocabulary.case(f"{name}{i}", text, len(text.split())) for i, text in enumerate(texts)]
        for name, texts in (("A", human), ("C", machine))
    }
    arms = (Corpus.arm("A", "human"), Corpus.arm("C", "ai"))
    protocol = Protocol.model_validate_json(canonical_json.encode_json(Corpus._protocol(arms, {})))
    found = ScreeningFindings(protocol)
    find_contrasts(protocol.arms, cases, vocabulary.words, found)
    return {f.rule: f for f in found.ordered()}


def test_topics_tell_arms_apart_and_manners_do_not():
    boats = ["harbour", "lighthouse", "ferry", "anchor", "captain"]
    farms = ["orchard", "tractor", "meadow", "harvest", "stable"]
    apart = told_of(topical("A", boats, "seemed fine"), topical("C", farms, "seemed fine"))["topic-contrast"]
    assert apart.severity == "warning"
    assert apart.message.startswith(
        "a rule that looks only at topic words separates A from C with AUC 1.00 (1.00 to 1.00), most by A: "
    )
    assert {word.strip(";") for word in apart.message.split("by A: ")[1].replace(",", "").split()} >= {
        "harbour",
        "orchard",
    }
    # The same subjects; each arm has a manner, which a text shows once: that is no topic.
    manner = told_of(topical("A", boats, "rambled along"), topical("C", boats, "delved deeply"))
    assert "topic-contrast" not in manner or manner["topic-contrast"].severity == "note"


def test_an_arm_of_short_texts_is_told(corpus):
    made = corpus(corpus.arm("A", "human", 10), corpus.arm("B", "human", 10))
    long = " ".join(f"word{n}" for n in range(300)) + "."
    made.collect("A", *(corpus.draft(f"a{n}", long if n else f"{long[:200]}.") for n in range(10)))
    made.collect("B", *(corpus.draft(f"b{n}", long.replace("word", f"w{n}x")) for n in range(10)))
    [finding] = [each for each in screen_corpus(made.place, made.edition, made.protocol) if each.rule == "short-texts"]
    assert finding.arm == "A"
    assert finding.message == "1 of 10 texts have fewer than 300 words, 1 of them fewer than 250 characters"


def test_a_large_arm_is_contrasted_by_a_sample_that_follows_from_its_ids(corpus, monkeypatch):
    from penmark.stages.screen import text_pass

    monkeypatch.setattr(text_pass, "SAMPLE", 12)
    made = corpus(corpus.arm("A", "human", 30), corpus.arm("C", "ai", 12))
    made.collect("A", *(corpus.draft(f"A{i}", f"Human {i} " * (i + 1) + "end.") for i in range(30)))
    made.collect("C", *(corpus.draft(f"C{i}", f"Machine {i} " * (i + 1) + "end.", kind="generated") for i in range(12)))
    found = [f for f in screen_corpus(made.place, made.edition, made.protocol) if f.rule == "profile"]
    assert [f.message.split(":")[0] for f in found] == ["of 12 of 30 public texts", "of 12 public texts"]
