"""What a chat leaves in a model's text is seen, in the forms of many families; what only looks like it is not."""

from __future__ import annotations

import json
import os
import time
from pathlib import Path

import pytest

from penmark.text.chats import residues, tokens

STORY = "The old ferry crossed the river twice a day."
SHARED = Path(os.environ.get("PENMARK_SHARED", Path(__file__).parents[3] / "shared")) / "cases2/model-answers.json"


@pytest.mark.parametrize(
    "text",
    [
        f"<think>\nOkay, the user wants an essay.\n</think>\n\n{STORY}",
        f"Plan it first.\n</think>\n\n{STORY}",
        f"<thinking>Plan.</thinking>{STORY}",
        f"<seed:think>Plan.</seed:think>{STORY}",
        f"<ant_thinking>Plan.</ant_thinking>{STORY}",
        f"&lt;think&gt;Plan.&lt;/think&gt;{STORY}",
        f"◁think▷Plan.◁/think▷{STORY}",
        f"[THINK]Plan.[/THINK]{STORY}",
        f"<|channel|>analysis<|message|>Plan.<|end|><|start|>assistant<|channel|>final<|message|>{STORY}",
        f"analysisThe user wants an essay.assistantfinal{STORY}",
        f"final\n{STORY}",
        f"<｜begin▁of▁sentence｜>{STORY}",
        f"{STORY}<|im_end|>",
        f"{STORY}<|eot_id|><|start_header_id|>user<|end_header_id|>",
        f"<|START_RESPONSE|>{STORY}<|END_RESPONSE|>",
        f"[INST] Write. [/INST] {STORY}",
        f"{STORY}</s>",
        f"<start_of_turn>model\n{STORY}<end_of_turn>",
        f"<unused94>thought\nPlan.<unused95>{STORY}",
        f"<answer>{STORY}</answer>",
        f"<essay>\n{STORY}\n</essay>",
        f"User: Write about a ferry.\n\nAssistant: {STORY}",
        f"User: Write about a ferry. Assistant: {STORY}",
        f"{STORY} User: Another. Assistant: Here.",
        f"Human: Write.\n\nAI: {STORY}",
        f"**Assistant:** {STORY}",
        f"### Response:\n{STORY}",
        f"ChatGPT: {STORY}",
        f"Final answer: {STORY}",
        f"Thinking...\nPlan.\n...done thinking.\n\n{STORY}",
        f"Okay, the user wants an essay. Let me plan it first.\n\n{STORY}",
        f"We need to write an essay of 40 words. {STORY}",
        f"Sure, here is an essay about a ferry:\n\n{STORY}",
        f"Here's a 300-word essay about a ferry:\n\n{STORY}",
        f"{STORY}\n\nLet me know if you would like another version!",
        f"{STORY}\n\n(Word count: 302)",
        f"{STORY}\n\n*312 words*",
    ],
)
def test_what_a_chat_left_is_seen(text):
    assert list(residues(text))


@pytest.mark.parametrize(
    "text",
    [
        STORY,
        "I think, therefore I am; the user of a ferry pays a coin.",
        "Human beings: a short history. The system: how it works.",
        "The model was simple. One question remained: who paid?",
        "Let me tell you a story. We need to talk about ferries.",
        "First, the users of the ferry wanted a bridge.",
        "Here is the ferry of my childhood, and it was green.",
        "Sure, I was late again. Of course it rained.",
        "He wrote x < y and y > z, and [sic] beside it.",
        "This is the story of a ferry.\n\nIt was green. We must create a better world.",
        "We must write our own history. Let me think about my grandmother. I need to sleep.",
        "Let me outline why the ferry matters to us.",
        "It took 300 words to say so.\n\nYours,\nAnna",
        "In the final analysis, Ferries won. The assistant answered: no.",
        "Chapter 3: The Answer\n\nIt came late. Q & A followed.",
    ],
)
def test_what_only_looks_like_it_is_no_residue(text):
    assert list(residues(text)) == []


def test_tokens_are_counted_in_any_text_and_long_texts_take_no_longer():
    assert tokens(f"<|im_start|>{STORY}</s>") == 2
    assert tokens(f"{STORY} [sic] a < b") == 0
    for hostile in (
        "<" * 300_000,
        "user: " * 50_000,
        "<|" * 150_000,
        "here is " * 40_000,
        "[" * 300_000,
        "so " * 100_000,
    ):
        started = time.monotonic()
        list(residues(hostile))
        tokens(hostile)
        assert time.monotonic() - started < 5, hostile[:10]


@pytest.mark.skipif(not SHARED.exists(), reason=f"not there: {SHARED}")
def test_texts_of_strangers_with_thoughts_in_them_are_seen():
    answers = [each for each in json.loads(SHARED.read_text("utf-8")) if each["finish_reason"] == "stop"]
    assert answers
    assert all(list(residues(each["content"])) for each in answers)
