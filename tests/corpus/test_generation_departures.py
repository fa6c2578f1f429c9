"""Arm C is what was promised: prompts, settings, lengths, topics and cells follow from promise and manifest."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import pytest

from penmark import plugins
from penmark.corpus import generation_departures
from penmark.corpus.generation_departures import Asked
from penmark.format import canonical_json
from penmark.records import Arm, Protocol

Json = dict[str, Any]
STYLES = [
    {"name": "plain", "prompt": "Write about {topic}, {words} words."},
    {"name": "odd", "prompt": "{topic}, oddly."},
]
MODELS = [{"provider": "P", "model": "m-1"}, {"provider": "Q", "model": "m-2", "settings": {"max_tokens": "900"}}]


def promised(**further: Any) -> Protocol:
    """Arms A (four human documents) and C (eight texts: two models, two styles)."""
    common = {"headline": True, "filled": "-", "persists": True}
    evidence = {"kinds": ["archive"], "grades": ["archived"]}
    made = {"models": MODELS, "styles": STYLES, "topics_from": ["A"]} | further
    arms = [
        {"name": "A", "title": "A", "truth": "human", "documents": 4, "evidence": evidence, **common},
        {"name": "C", "title": "C", "truth": "ai", "documents": 8, "evidence": evidence, "generation": made, **common},
    ]
    made_of = tuple(Arm.model_validate_json(canonical_json.encode_json(arm)) for arm in arms)
    return Protocol.model_construct().model_copy(update={"arms": made_of})


def corpus() -> dict[str, Json]:
    """Documents as promised, by id."""
    found = {}
    for number in range(4):
        own = {"kind": "archive"}
        register = "casual" if number % 2 else "academic"
        found[f"a{number}"] = {
            "id": f"a{number}",
            "arm": "A",
            "words": 300 + number,
            "register": register,
            "provenance": own,
        }
    cells = [(model, style) for model in MODELS for style in STYLES for _ in range(2)]
    for number, (model, style) in enumerate(cells):
        lender, topic = number % 4, f"topic {number % 4}"
        own = {"kind": "generated", "provider": model["provider"], "model": model["model"], "style": style["name"]}
        own |= {"matched": f"a{lender}", "word_target": 300 + lender}
        own |= {"prompt": generation_departures.filled(style["prompt"], topic, 300 + lender)}
        own |= {"settings": {} if model["model"] == "m-1" else {"maxOutputTokens": "900"}}
        found[f"c{number}"] = {"id": f"c{number}", "arm": "C", "words": 310, "register": None, "provenance": own}
        found[f"c{number}"]["topic"] = topic
    return {name: {"withheld": None, "topic": None} | value for name, value in found.items()}


def told(documents: dict[str, Json], **further: Any) -> set[tuple[str, str]]:
    models = Asked(promised(**further))
    single = {(rule, name) for name, value in documents.items() for rule in models.see(value)}
    return single | {(rule, name) for _, rule, name in models.broken()}


def test_what_is_as_promised_breaks_nothing():
    assert told(corpus()) == set()


def _own(name: str, **changes: Any) -> Callable[[dict[str, Json]], object]:
    return lambda documents: documents[name]["provenance"].update(changes)


@pytest.mark.parametrize(
    ("act", "expected"),
    [
        (_own("c0", prompt="Rewrite this human essay so that no detector notices."), {("other-prompt", "c0")}),
        (_own("c0", prompt=None), {("other-prompt", "c0")}),
        (_own("c0", style="odd"), {("other-prompt", "c0"), ("other-cells", "c3")}),
        (_own("c0", settings={"temperature": "0.1"}), {("other-settings", "c0")}),
        (_own("c0", settings={"max_tokens": "4096"}), set()),
        (_own("c4", settings={}), {("other-settings", "c4")}),
        (_own("c4", settings={}, not_honoured=["max_tokens"]), set()),
        (_own("c4", settings={"max_tokens": "901"}), {("other-settings", "c4")}),
        (_own("c0", word_target=299), {("other-prompt", "c0"), ("other-length", "c0")}),
        (_own("c0", matched=None), {("other-topics", "c0")}),
        (_own("c0", matched="zz"), {("other-topics", "c0")}),
        (_own("c0", model="m-3"), {("other-settings", "c0")} | {("other-cells", "c0")}),
        (lambda documents: documents["c0"].update(topic="t0"), {("other-prompt", "c0"), ("other-topics", "c4")}),
        (lambda documents: documents["a0"].update(words=None), {("other-topics", "c0"), ("other-topics", "c4")}),
        (
            _own("c0", matched="a3", rejected_before=[{"matched": "a0"}]),
            {("other-length", "c0"), ("other-topics", "c3")},
        ),
    ],
)
def test_what_is_otherwise_is_told_of_the_text(act, expected):
    documents = corpus()
    act(documents)
    assert told(documents) >= expected
    assert {rule for rule, _ in told(documents)} == {rule for rule, _ in expected}


def test_a_topic_is_lent_as_often_as_its_share_and_no_more():
    documents = corpus()
    for name in ("c1", "c2"):
        documents[name]["topic"] = "topic 0"
        style = STYLES[0 if name == "c1" else 1]["prompt"]
        documents[name]["provenance"] |= {"matched": "a0", "word_target": 300}
        documents[name]["provenance"]["prompt"] = generation_departures.filled(style, "topic 0", 300)
    assert told(documents) == {("other-topics", name) for name in ("c2", "c4", "c6")}


def test_temperature_is_sent_where_it_is_promised_and_nowhere_else():
    documents = corpus()
    for name, value in documents.items():
        if name.startswith("c"):
            value["provenance"]["settings"] |= {"temperature": "0.7"}
    assert told(documents, temperature="0.7") == set()
    assert {rule for rule, _ in told(documents)} == {"other-settings"}


def test_the_names_of_settings_are_those_of_the_generators():
    every = {}
    required = set()
    for name in plugins.list_plugins(plugins.GENERATORS):
        made = plugins.load_generator(name)
        every |= {other: own for own, other in getattr(made, "names", {}).items() if other is not None}
        required |= set(getattr(made, "required", {}).items())
    assert every == generation_departures.ALIASES
    assert required == {generation_departures.REQUIRED}
