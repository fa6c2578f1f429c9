"""Draws against their definition: rank by the seed, take while quotas have room, the same anywhere."""

import hashlib
import hmac

from hypothesis import given, settings
from hypothesis import strategies as st
from tests.conftest import Corpus

from penmark.corpus import draw
from penmark.format import canonical_json
from penmark.records import Arm

SEED = bytes(range(32))


def arm(documents, *quotas):
    made = Corpus.arm("A", "human", documents, quotas=[{"where": where, "documents": n} for where, n in quotas])
    return Arm.model_validate_json(canonical_json.encode_json(made))


def ranked(names):
    return sorted(names, key=lambda n: hmac.new(SEED, b"draw/A\0" + n.encode(), hashlib.sha256).digest())


@settings(max_examples=60)
@given(st.sets(st.text("abc", min_size=1, max_size=6), max_size=30), st.integers(1, 12))
def test_without_quotas_the_first_of_the_ranks_are_drawn(names, size):
    found = draw.draw_sample(arm(size), SEED, {name: {} for name in names}, [])
    assert {name for name, why in found.items() if why is None} == set(ranked(names)[:size])
    assert {why for why in found.values() if why is not None} <= {draw.FULL}


def test_each_quota_is_filled_in_the_order_of_ranks():
    made = arm(3, ({"register": "news"}, 2), ({"register": "forum"}, 1))
    pool = {f"n{i}": {"register": "news"} for i in range(9)} | {f"f{i}": {"register": "forum"} for i in range(9)}
    found = draw.draw_sample(made, SEED, pool, [])
    drawn = [name for name in ranked(pool) if found[name] is None]
    news, forum = ([n for n in ranked(pool) if n[0] == letter] for letter in "nf")
    assert set(drawn) == {*news[:2], forum[0]}
    others = {why for name, why in found.items() if why is not None}
    assert others <= {"the quota register news is full", "the quota register forum is full", draw.FULL}


def test_what_stays_takes_its_room():
    made = arm(3, ({"register": "news"}, 2), ({"register": "forum"}, 1))
    pool = {"n1": {"register": "news"}, "n2": {"register": "news"}, "f1": {"register": "forum"}}
    found = draw.draw_sample(made, SEED, pool, [{"register": "news"}, {"register": "forum"}])
    assert sum(why is None for why in found.values()) == 1
    assert found["f1"] is not None


def test_two_kinds_of_quotas_at_once():
    made = arm(
        2,
        ({"register": "news"}, 1),
        ({"register": "forum"}, 1),
        ({"subgroup": "native"}, 1),
        ({"subgroup": "non-native"}, 1),
    )
    groups = {"v": "native", "o": "non-native", "x": "unknown"}
    registers = {"n": "news", "f": "forum"}
    pool = {
        f"{r}{g}{i}": {"register": registers[r], "subgroup": groups[g]}
        for r in registers
        for g in groups
        for i in range(4)
    }
    fit = {name: held for name, held in pool.items() if draw.explain_unfit(held, made) is None}
    assert {name[:2] for name in pool.keys() - fit.keys()} == {"nx", "fx"}
    assert draw.explain_unfit({"register": "news", "subgroup": None}, made) == "no quota asks for subgroup unknown"
    found = draw.draw_sample(made, SEED, fit, [])
    drawn = [name for name, why in found.items() if why is None]
    assert drawn[0] == ranked(fit)[0]
    assert len({name[0] for name in drawn}) == len({name[1] for name in drawn}) == len(drawn) == 2
