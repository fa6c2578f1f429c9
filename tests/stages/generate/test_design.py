"""The draws: who is written about, by whom, and that anyone can repeat it."""

from __future__ import annotations

import hashlib
import hmac
import json
import textwrap
from collections import Counter
from fractions import Fraction
from pathlib import Path

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from tests.conftest import SEED

from penmark import yaml_records
from penmark.errors import UsageError
from penmark.format import canonical_json
from penmark.records import Arm, Generation, Model, Quota, Style
from penmark.stages.generate import design, generation_rules
from penmark.stages.generate.topic_lenders import Lender

MODELS = (Model(provider="P", model="m1"), Model(provider="P", model="m2"), Model(provider="Q", model="m3"))
STYLES = tuple(Style(name=name, prompt="{topic}") for name in ("plain", "styled", "matched"))


def generation(models=MODELS, styles=STYLES):
    return Generation(models=models, styles=styles, topics_from=("A", "B"))


def arm(documents, quotas=()):
    value = {
        "name": "C", "title": "C", "truth": "ai", "documents": documents, "headline": True, "filled": "x",
        "evidence": {"kinds": ["generated"], "grades": ["recorded"]}, "persists": False,
    }  # fmt: skip
    made = Arm.model_validate_json(json.dumps(value))
    return made.model_copy(update={"quotas": tuple(Quota(where=where, documents=n) for where, n in quotas)})


def lenders(*counts, topics=None):
    """So many lenders in each (arm, register); ``topics``: how many share one."""
    made, lines = [], {}
    for number, count in enumerate(counts):
        for each in range(count):
            name = f"{'AB'[number // 2]}-{number}-{each:03d}"
            made.append(Lender(name, number // 2, f"r{number}", 20 + each, None, None, None))
            lines[name] = f"topic {number}" if topics is None else f"topic {number} {each // topics}"
    return made, lines


def drawn(documents, pool, lines, quotas=(), how=None):
    return design.draw_design(SEED, arm(documents, quotas), how or generation(), pool, lines)


def test_every_model_and_style_gets_as_much_as_its_quota_says():
    pool, lines = lenders(20, 20)
    quotas = [({"model": m.model, "style": s.name}, 2 + n) for n, m in enumerate(MODELS) for s in STYLES]
    made = drawn(27, pool, lines, quotas)
    assert Counter((s.model.model, s.style.name) for s in made.spots) == {
        (m.model, s.name): 2 + n for n, m in enumerate(MODELS) for s in STYLES
    }
    assert [s.id for s in made.spots] == [f"C-{n:03d}" for n in range(1, 28)]
    even = Counter((s.model.model, s.style.name) for s in drawn(31, pool, lines).spots)
    assert set(even.values()) == {3, 4}
    by_model = drawn(10, pool, lines, [({"model": "m1"}, 4), ({"model": "m3"}, 6)])
    assert Counter(s.model.model for s in by_model.spots) == {"m1": 4, "m3": 6}
    assert set(Counter(s.style.name for s in by_model.spots if s.model.model == "m3").values()) == {2}


@pytest.mark.parametrize(
    ("quotas", "expected"),
    [
        ([({"register": "casual"}, 3)], "make no grid"),
        ([({"model": "m1"}, 3), ({"style": "plain"}, 3)], "make no grid"),
        ([({"model": "m9"}, 3)], "no model and style of the arm C is that of a quota"),
    ],
)
def test_quotas_that_make_no_grid(quotas, expected):
    pool, lines = lenders(5)
    with pytest.raises(UsageError, match=expected):
        drawn(3, pool, lines, quotas)


@settings(max_examples=60, deadline=None)
@given(
    counts=st.lists(st.integers(1, 30), min_size=1, max_size=4),
    documents=st.integers(1, 90),
    topics=st.integers(1, 6),
)
def test_arms_registers_topics_and_documents_are_used_in_their_share(counts, documents, topics):
    pool, lines = lenders(*counts, topics=topics)
    made = drawn(documents, pool, lines)
    used = [made.lender(spot.id, 1) for spot in made.spots]
    for group in (
        lambda one: one.arm,
        lambda one: (one.arm, one.register),
        lambda one: lines[one.id],
        lambda one: one.id,
    ):
        there, here = Counter(map(group, pool)), Counter(map(group, used))
        for value, count in there.items():
            assert abs(here[value] - Fraction(count * documents, len(pool))) < 1


def test_as_many_texts_as_human_ones_use_every_topic_as_often():
    pool, lines = lenders(9, 6, 3, topics=3)
    made = drawn(18, pool, lines)
    used = [made.lender(spot.id, 1).id for spot in made.spots]
    assert sorted(used) == sorted(lender.id for lender in pool)
    twice = drawn(36, pool, lines)
    assert set(Counter(twice.lender(spot.id, 1).id for spot in twice.spots).values()) == {2}


def test_each_model_and_style_writes_about_a_mix():
    pool, lines = lenders(50, 50, 50, 75, topics=1)
    made = drawn(150, pool, lines)
    for model in MODELS:
        own = Counter(made.lender(s.id, 1).register for s in made.spots if s.model == model)
        assert all(abs(own[f"r{n}"] - 50 * count / 225) <= 3 for n, count in enumerate((50, 50, 50, 75))), own
    assert any(made.lender(f"C-{n:03d}", 1) != made.lender(f"C-{n + 1:03d}", 1) for n in range(1, 150))


def test_the_draw_is_the_one_that_the_format_describes():
    """The same rule, written again from docs/format.md with nothing but the standard library."""
    pool, lines = lenders(5, 4, 6, topics=2)
    made = drawn(11, pool, lines)

    def rank(purpose: str, name: str) -> bytes:
        return hmac.new(SEED, purpose.encode() + b"\0" + name.encode(), hashlib.sha256).digest()

    def part(purpose: str, name: str) -> int:
        return int.from_bytes(rank(purpose, name)[:8], "big")

    line = sorted(pool, key=lambda one: (one.arm, one.register, lines[one.id], rank("topics C", one.id)))
    start, n = part("topics C", ""), len(made.spots)
    picks = [line[(k * 2**64 + start) * len(line) // (n * 2**64)].id for k in range(n)]
    cells = Counter((s.model.model, s.style.name) for s in made.spots)
    seen: Counter[tuple[str, str]] = Counter()
    spread = []
    for spot in made.spots:
        cell = spot.model.model, spot.style.name
        spread.append((Fraction(seen[cell] * 2**64 + part("spots C", spot.id), cells[cell] * 2**64), spot.id))
        seen[cell] += 1
    expected = dict(zip([name for _, name in sorted(spread)], picks, strict=True))
    assert {spot.id: made.lender(spot.id, 1).id for spot in made.spots} == expected
    extra = [c for c, count in cells.items() if count == 2]
    order = sorted(
        ((m.model, s.name) for m in MODELS for s in STYLES),
        key=lambda c: rank("cells C", json.dumps([{"m1": "P", "m2": "P", "m3": "Q"}[c[0]], *c], separators=(",", ":"))),
    )
    assert set(extra) == set(order[:2])
    used = Counter(expected.values())
    first = {one.id: one for one in pool}
    for spot in made.spots[:4]:
        mine = first[expected[spot.id]]
        others = sorted(
            (one for one in pool if one.id != mine.id),
            key=lambda one: (
                (one.arm, one.register) != (mine.arm, mine.register),
                used[one.id],
                rank("replacements C", f"{spot.id} {one.id}"),
            ),
        )
        assert [made.lender(spot.id, turn).id for turn in range(2, 16)] == [one.id for one in others]
        assert made.lender(spot.id, 17) is None


def test_another_seed_another_pool_and_other_topics_give_another_draw():
    pool, lines = lenders(12, 12, topics=1)
    first = drawn(8, pool, lines)
    assert first.digest() == drawn(8, list(reversed(pool)), dict(reversed(lines.items()))).digest()
    other = design.draw_design(bytes(32), arm(8), generation(), pool, lines)
    assert first.digest() != other.digest()
    assert first.digest() != drawn(8, pool[:-1], lines).digest()
    changed = lines | {first.lender("C-001", 1).id: "another line"}
    assert first.digest() != drawn(8, pool, changed).digest()
    assert sorted(first.spots, key=lambda s: first.order(s.id)) != first.spots


def test_what_is_put_into_a_prompt_is_not_looked_through_again():
    prompt = "About {topic}, in {words} words: {topic}. {other}"
    assert generation_rules.filled(prompt, "{words} and {topic}", 7) == (
        "About {words} and {topic}, in 7 words: {words} and {topic}. {other}"
    )


def test_canonical_protocols_from_before_stay_as_they_are():
    old = {"models": [{"provider": "P", "model": "m"}], "styles": [{"name": "s", "prompt": "p"}]}
    made = Generation.model_validate_json(json.dumps(old))
    assert json.loads(canonical_json.encode_json(made.model_dump(mode="json"))) == {
        **old, "temperature": "not sent", "topics_from": []
    }  # fmt: skip
    none = Generation.model_validate_json(json.dumps(old | {"gates": []}))
    assert none.gates == ()
    assert made.gates is None
    assert "gates" in none.model_dump(mode="json")


def test_the_example_of_the_documents_is_one():
    """`docs/corpus.md` shows how generation is written; it can be read, and made."""
    text = (Path(__file__).parents[3] / "docs" / "corpus.md").read_text(encoding="utf-8")
    block = text.partition("```yaml\ngeneration:\n")[2].partition("```")[0]
    made = yaml_records.parse_record(textwrap.dedent(block).encode(), "docs/corpus.md", Generation)
    assert [generation_rules.name_generator(model) for model in made.models] == ["openai", "anthropic", "vllm"]
    assert generation_rules.make_generator_options(made.models[1], made.temperature) == {
        "model": "claude-x", "key": "OUR_KEY", "settings.seed": "7"
    }  # fmt: skip
    default = Generation(models=(), styles=())
    assert made.gates == made.gates_in_force == default.gates_in_force
    assert made.topics is not None
    assert made.models[0].price is not None
    assert made.models[0].price.written == "10"
    assert made.replacement == "next topic of the draw"
    assert made.attempts == made.texts_at_a_spot == default.texts_at_a_spot
    for gate in default.gates_in_force:
        assert f"| `{gate}` |" in text
