"""Generators against doubles of their providers: what leaves, what is taken from the answer, what goes wrong."""

from __future__ import annotations

import json
import socket

import pytest

from penmark import plugins
from penmark.errors import UsageError
from penmark.plugins import UnansweredError
from penmark.records import Model
from penmark.stages.generate import acceptance_rules, generation_rules
from penmark.testing.doubles.misbehaviour import Behaviour
from penmark.testing.doubles.text_providers import ComposedReply, compose_reply, run_provider

SHAPES = ["openai", "mistral", "xai", "anthropic", "google", "cohere"]
PROMPT = "Write about “rivers” in about 40 words."


def test_every_registered_generator_can_be_loaded():
    there = plugins.list_plugins(plugins.GENERATORS)
    assert {*SHAPES, "openai-compatible", "xai", "mistral", "ollama", "vllm", "llama.cpp"} <= set(there)
    for name in there:
        assert callable(plugins.load_generator(name))
        assert plugins.describe_plugin(plugins.GENERATORS, name).name == name


def made(monkeypatch, there, shape, **options):
    monkeypatch.setenv("A_KEY", there.keys["key"])
    given = {"model": "m-1", "base_url": there.url, "key": "A_KEY"} | options
    return plugins.load_generator(shape)(given)


@pytest.mark.parametrize("shape", SHAPES)
def test_a_text_comes_word_for_word_and_a_default_is_not_sent(monkeypatch, shape):
    text = " A text\u200d with a joiner,\u00a0a <|im_start|> and an end. \n"
    with run_provider(shape, lambda prompt, number: ComposedReply(text)) as there:
        generator = made(monkeypatch, there, shape)
        prepared = generator.prepare(PROMPT)
        written = generator.write(prepared)
        generator.close()
        asked = there.vendor.asked[0]
    assert written.text == text
    assert json.loads(prepared.body) == asked
    assert PROMPT in json.dumps(asked, ensure_ascii=False).replace('\\"', '"')
    sent = {"anthropic": {"max_tokens"}, "cohere": {"stream"}}.get(shape, set())
    assert set(asked) - {"model", "messages", "contents"} == sent
    assert prepared.settings == ({"max_tokens": "4096"} if shape == "anthropic" else {})
    assert not any("temperature" in key or "top" in key for key in asked)
    assert (written.cut, written.refused, written.remark) == (False, False, None)
    assert (written.tokens_read, written.status, written.request_id) == (9, 200, "r1")
    assert written.model == (None if shape == "cohere" else "m-1-2026-11")
    assert written.finish_reason == {"anthropic": "end_turn", "google": "STOP", "cohere": "COMPLETE"}.get(shape, "stop")
    assert json.loads(written.body)
    assert written.sent_at <= written.got_at


@pytest.mark.parametrize("shape", SHAPES)
def test_settings_leave_with_their_exact_digits_under_the_provider_s_names(monkeypatch, shape):
    with run_provider(shape) as there:
        settings = {"temperature": "0.70", "top_p": "1", "max_tokens": "900", "seed": "7", "mode": "calm"}
        generator = made(monkeypatch, there, shape, **{f"settings.{n}": v for n, v in settings.items()})
        prepared = generator.prepare(PROMPT)
        if shape == "anthropic":
            assert b"seed" not in prepared.body
        generator.write(prepared)
        generator.close()
    assert b'"temperature":0.70' in prepared.body
    assert b'"mode":"calm"' in prepared.body
    limit = {"openai": "max_completion_tokens", "google": "maxOutputTokens"}.get(shape, "max_tokens")
    assert f'"{limit}":900'.encode() in prepared.body
    assert prepared.settings[limit] == "900"
    assert prepared.settings[{"google": "topP", "cohere": "p"}.get(shape, "top_p")] == "1"
    assert prepared.not_honoured == (("seed",) if shape == "anthropic" else ())


def test_mistral_calls_the_seed_otherwise(monkeypatch):
    with run_provider("openai") as there:
        generator = made(monkeypatch, there, "mistral", **{"settings.seed": "7"})
        assert generator.prepare(PROMPT).settings == {"random_seed": "7"}
        generator.close()


@pytest.mark.parametrize("shape", SHAPES)
@pytest.mark.parametrize("finish", ["length", "refused"])
def test_what_a_finish_reason_means(monkeypatch, shape, finish):
    with run_provider(shape, lambda prompt, number: ComposedReply("Half of a", finish)) as there:
        generator = made(monkeypatch, there, shape)
        written = generator.write(generator.prepare(PROMPT))
        generator.close()
    assert (written.cut, written.refused) == (finish == "length", finish == "refused")
    assert written.finish_reason == there.vendor.finishes[finish]
    assert written.text == "Half of a"


@pytest.mark.parametrize("shape", SHAPES)
@pytest.mark.parametrize("finish", ["abort", "insufficient_system_resource", "tool_calls", "", None])
def test_a_finish_reason_that_nobody_knows_means_no_whole_text(monkeypatch, shape, finish):
    with run_provider(shape, lambda prompt, number: ComposedReply("A whole text.")) as there:
        monkeypatch.setitem(there.vendor.finishes, "stop", finish)
        generator = made(monkeypatch, there, shape)
        written = generator.write(generator.prepare(PROMPT))
        generator.close()
    assert written.cut or written.refused
    judged = acceptance_rules.judge_text(written, PROMPT, "rivers", None, ("refused", "cut off"))
    assert [remark.gate for remark in judged] in (["cut off"], ["refused"])


@pytest.mark.parametrize("shape", SHAPES)
def test_no_text_is_none_and_an_empty_one_is_empty(monkeypatch, shape):
    replies = iter([ComposedReply(None), ComposedReply("")])
    with run_provider(shape, lambda prompt, number: next(replies)) as there:
        generator = made(monkeypatch, there, shape)
        none = generator.write(generator.prepare(PROMPT))
        empty = generator.write(generator.prepare(PROMPT))
        generator.close()
    assert (none.text, none.remark) == (None, "the answer holds no text")
    assert (empty.text, empty.remark) == ("", None)


@pytest.mark.parametrize("shape", SHAPES)
@pytest.mark.parametrize(
    ("behaviour", "again", "stop", "charged"),
    [
        ("wrong key", False, True, "no"),
        ("no credit", False, True, "no"),
        ("rate limited", True, False, "no"),
        ("broken", True, False, "no"),
        ("busy", True, False, "no"),
        ("drop before", True, False, "maybe"),
        ("drop after", True, False, "maybe"),
        ("half body", True, False, "maybe"),
        ("html", True, False, "maybe"),
        ("redirect", False, True, "no"),
    ],
)
def test_what_goes_wrong_is_told_apart(monkeypatch, shape, behaviour, again, stop, charged):
    given = Behaviour(behaviour, retry_after="7") if behaviour == "rate limited" else behaviour
    with run_provider(shape, behaviours=[given]) as there:
        generator = made(monkeypatch, there, shape)
        with pytest.raises(UnansweredError) as caught:
            generator.write(generator.prepare(PROMPT))
        generator.close()
    error = caught.value
    assert (error.again, error.stop, error.charged) == (again, stop, charged), str(error)
    assert error.retry_after == (7.0 if behaviour == "rate limited" else None)
    assert there.keys["key"] not in str(error)
    assert there.vendor.ledger.requests["send"] == 1  # asked once, whatever came


def test_a_silent_server_is_left_after_the_timeout(monkeypatch):
    with run_provider("openai", behaviours=[Behaviour("slow", seconds=5.0)]) as there:
        generator = made(monkeypatch, there, "openai", timeout="0.2")
        with pytest.raises(UnansweredError, match="no answer in time") as caught:
            generator.write(generator.prepare(PROMPT))
        generator.close()
    assert (caught.value.again, caught.value.charged) == (True, "maybe")


def test_nobody_there(monkeypatch):
    with socket.socket() as free:
        free.bind(("127.0.0.1", 0))
        url = f"http://127.0.0.1:{free.getsockname()[1]}"
    monkeypatch.setenv("A_KEY", "abcdefgh")
    generator = plugins.load_generator("openai")({"model": "m", "base_url": url, "key": "A_KEY"})
    with pytest.raises(UnansweredError, match="no connection") as caught:
        generator.write(generator.prepare(PROMPT))
    generator.close()
    assert (caught.value.again, caught.value.charged) == (True, "no")


@pytest.mark.parametrize("shape", SHAPES)
def test_a_key_that_the_answer_repeats_is_not_kept(monkeypatch, shape):
    with run_provider(shape, behaviours=["echo key"]) as there:
        generator = made(monkeypatch, there, shape)
        written = generator.write(generator.prepare(PROMPT))
        generator.close()
        key = there.keys["key"]
    assert written.text == compose_reply(PROMPT).text
    assert b"[hidden]" in written.body
    assert key.encode() not in written.body
    assert key not in json.dumps(written.headers)
    assert key not in repr(written)


def test_a_text_that_repeats_the_key_is_not_kept(monkeypatch):
    keys = []
    with run_provider("openai", lambda prompt, number: ComposedReply(f"Your key is {keys[0]}.")) as there:
        keys.append(there.keys["key"])
        generator = made(monkeypatch, there, "openai")
        written = generator.write(generator.prepare(PROMPT))
        generator.close()
    assert written.text is None
    assert written.remark == "the answer repeats the key; it is not kept"
    assert keys[0] not in repr(written)


def test_half_a_surrogate_pair_is_no_text(monkeypatch):
    with run_provider("openai", lambda prompt, number: ComposedReply("half \ud83d.")) as there:
        generator = made(monkeypatch, there, "openai")
        written = generator.write(generator.prepare(PROMPT))
        generator.close()
    assert written.text is None
    assert "no Unicode text" in str(written.remark)


def test_a_model_that_takes_no_temperature(monkeypatch):
    with run_provider("openai", unwelcome=["temperature"]) as there:
        default = made(
            monkeypatch,
            there,
            "openai",
            **generation_rules.make_generator_options(Model(provider="o", model="m"), "not sent"),
        )
        assert default.write(default.prepare(PROMPT)).text
        default.close()
        warm = made(
            monkeypatch,
            there,
            "openai",
            **generation_rules.make_generator_options(Model(provider="o", model="m"), "0.2"),
        )
        with pytest.raises(UnansweredError, match="HTTP 400: this model takes no such setting") as caught:
            warm.write(warm.prepare(PROMPT))
        warm.close()
    assert caught.value.stop


@pytest.mark.parametrize("shape", SHAPES)
def test_a_prompt_that_a_filter_stops_is_refused_not_failed(monkeypatch, shape):
    with run_provider(shape, filtered="rivers") as there:
        generator = made(monkeypatch, there, shape)
        written = generator.write(generator.prepare(PROMPT))
        generator.close()
    assert (written.text, written.refused, written.finish_reason, written.status) == (None, True, "HTTP 400", 400)
    assert written.remark == "the content filter stopped this"


@pytest.mark.parametrize("shape", SHAPES)
def test_an_answer_without_the_field_of_the_text_holds_none(monkeypatch, shape):
    with run_provider(shape, behaviours=["missing field"]) as there:
        generator = made(monkeypatch, there, shape)
        assert generator.write(generator.prepare(PROMPT)).text is None
        generator.close()


def test_what_a_generator_is_told(monkeypatch):
    monkeypatch.delenv("OPENAI_API_KEY", raising=False)
    monkeypatch.setenv("SHORT", "abc")
    for name, options, expected in (
        ("openai", {"model": "m"}, "the environment variable OPENAI_API_KEY is not set"),
        ("openai", {"model": "m", "key": "SHORT"}, "SHORT holds no key"),
        ("openai", {}, "no model is named"),
        ("openai", {"model": "m", "base_ulr": "x"}, r"no option 'base_ulr' \(did you mean base_url\?\)"),
        ("openai-compatible", {"model": "m"}, "needs the option `base_url`"),
        ("openai-compatible", {"model": "m", "base_url": "http://example.org/v1"}, "in the clear"),
        ("openai-compatible", {"model": "m", "base_url": "ftp://127.0.0.1"}, "is no address of a server"),
        ("vllm", {"model": "m", "timeout": "soon"}, "no number of seconds"),
    ):
        with pytest.raises(UsageError, match=expected):
            plugins.load_generator(name)(options)
    for name in ("ollama", "vllm", "llama.cpp"):  # on this machine, without a key
        generator = plugins.load_generator(name)({"model": "m"})
        assert generator.local
        generator.close()
