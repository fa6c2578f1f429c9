"""Which texts are not taken, and why; what only looks like it is taken."""

from __future__ import annotations

import pytest

from penmark.plugins import Written
from penmark.records import Generation, Words
from penmark.stages.generate import acceptance_rules

GATES = Generation(models=(), styles=()).gates_in_force
TOPIC = "the history of the bicycle"
PROMPT = f"Write an essay about {TOPIC}, in about 60 words."
GOOD = "Bicycles began as toys for the rich. " * 9


def written(text: str | None, **further: object) -> Written:
    said = {"finish_reason": "stop", "cut": False, "refused": False, "remark": None if text is not None else "no text"}
    none = dict.fromkeys(("model", "answer_id", "request_id", "fingerprint", "tokens_read", "tokens_written"), None)
    rest = {"status": 200, "headers": (), "body": b"", "sent_at": 0.0, "got_at": 0.0}
    return Written(text=text, **(none | said | rest | further))  # type: ignore[arg-type]


def told(text: str | None, limits: Words | None = None, **further: object) -> list[str]:
    return [
        remark.gate for remark in acceptance_rules.judge_text(written(text, **further), PROMPT, TOPIC, limits, GATES)
    ]


LETTER = (
    "I'm sorry to hear about your loss. Your grandmother was a kind woman, and the garden will miss her.\n\n"
    "Come by whenever you like.\n\nYours,\nAnna"
)


@pytest.mark.parametrize(
    ("text", "expected"),
    [
        (GOOD, []),
        ("", ["empty"]),
        (" \n — \n", ["empty"]),
        (None, ["empty"]),
        ("network error", ["cut off", "error message"]),
        ("Error: the model is overloaded.", ["error message"]),
        ("An error occurred.", ["error message"]),
        ('{"error": "timeout"}', ["cut off", "error message"]),
        ("<!DOCTYPE html><title>502</title>", ["cut off", "error message"]),
        ("undefined", ["cut off", "error message"]),
        ("Nothing of note happened that year.", []),
        ("Null results are rarely published.", []),
        ("Errors of judgement are human. " * 12, []),
        (LETTER, []),
        ("It ends in the mid", ["cut off"]),
        ("It ends well.\n\nand then a whole further line of words without", ["cut off"]),
        ("A thing he said: “It is done.”", []),
        ("A last word *strong.*", []),
        ("One line.\n\n#bicycles #history", []),
        (f"{PROMPT}\n\n{GOOD}", ["prompt residue"]),
        (f"Sure. {PROMPT.upper()} {GOOD}", ["prompt residue"]),
        (f"{GOOD} I said this in about 60 words.", ["prompt residue"]),
        (f"<think>\nPlan.\n</think>\n\n{GOOD}", ["chat residue"]),
        (f"User: Bicycles.\n\nAssistant: {GOOD}", ["chat residue"]),
        (f"I will tell you about {TOPIC}, in short. {GOOD}", []),
        (f"I never meant to write about {TOPIC}. {GOOD}", []),
    ],
)
def test_a_text_and_the_gates_that_it_does_not_pass(text, expected):
    assert told(text) == expected


def test_the_words_of_a_refusal_are_left_to_a_person_and_the_provider_s_own_word_is_not():
    refusal = "I'm sorry, but I can't help with that."
    assert told(refusal) == []
    assert told(refusal, refused=True, finish_reason="content_filter") == ["refused"]
    assert told(None, refused=True) == ["refused"]
    assert told(refusal, Words(minimum=300, maximum=1200)) == ["word limits"]


def test_a_finish_reason_that_says_cut_counts_whatever_the_end_looks_like():
    found = acceptance_rules.judge_text(written(GOOD, cut=True, finish_reason="length"), PROMPT, TOPIC, None, GATES)
    assert [tuple(remark) for remark in found] == [("cut off", "finish reason length")]


def test_word_limits_are_inclusive():
    limits = Words(minimum=3, maximum=5)
    texts = {2: "One two.", 3: "One two three.", 5: "A b c d e.", 6: "A b c d e f."}
    assert {count: told(text, limits) for count, text in texts.items()} == {
        2: ["word limits"],
        3: [],
        5: [],
        6: ["word limits"],
    }


def test_only_promised_gates_count_but_no_text_is_no_text():
    assert acceptance_rules.judge_text(written("network error"), PROMPT, TOPIC, None, ("empty",)) == []
    assert [r.gate for r in acceptance_rules.judge_text(written(None), PROMPT, TOPIC, None, ())] == ["empty"]
    assert [r.gate for r in acceptance_rules.judge_text(written(None, refused=True), PROMPT, TOPIC, None, ())] == [
        "refused"
    ]


def test_every_gate_is_told_in_one_go():
    found = acceptance_rules.judge_text(written("network error"), PROMPT, TOPIC, Words(minimum=10, maximum=20), GATES)
    assert [remark.gate for remark in found] == ["cut off", "error message", "word limits"]
    assert found[2].because == "2 words, not 10 to 20"
