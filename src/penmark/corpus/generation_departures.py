"""What models were asked for, held against the promise: prompts, settings, lengths, topics, and how many texts of each.

All of it follows from promise and manifest, wherever a text came from (docs/corpus.md, the grid). Which cell or document
has the one more that does not divide follows from the seed, and is not looked at here.
*Reads* documents as they are shown. *Writes* nothing. *Never* asks a model, or looks at a text.
"""

from __future__ import annotations

import re
from collections import Counter
from collections.abc import Iterator
from typing import Any, NamedTuple

from penmark.records import Arm, Generation, Model, Protocol

RULES: dict[str, str] = {
    "other-prompt": "These texts were asked for in other words than promised, or nothing says in which.",
    "other-settings": "These texts were written at other settings than promised.",
    "other-length": "The length that was asked for is not that of the document whose topic these texts have.",
    "other-topics": "The topics of these texts are not those of the documents that lend them, each in its share.",
    "other-cells": "There are more texts of this model in this style than the grid gives it.",
}
"""Every rule that a text of a model may break, and what that means."""

ALIASES = {
    **dict.fromkeys(("max_completion_tokens", "maxOutputTokens"), "max_tokens"),
    **dict.fromkeys(("topP", "p"), "top_p"),
    **dict.fromkeys(("topK", "k"), "top_k"),
    "random_seed": "seed",
}
"""What providers call a setting, and what a promise calls it."""
REQUIRED = ("max_tokens", "4096")
"""A setting without which a provider does not answer; it is sent where the promise has none."""
_OPEN = re.compile(r"\{(topic|words)\}")
_GRID = {"provider", "model", "style"}


def filled(prompt: str, topic: str, words: int) -> str:
    """A style's prompt with topic and length in place. What is put in is not looked through again."""
    values = {"topic": topic, "words": str(words)}
    return _OPEN.sub(lambda found: values[found[1]], prompt)


def sent_to(model: Model, temperature: str) -> dict[str, str]:
    """The settings that are promised for a model. ``temperature``: the arm's; "not sent" sends none."""
    prefix = "settings."
    settings = {name.removeprefix(prefix): v for name, v in model.options.items() if name.startswith(prefix)}
    if temperature.strip() != "not sent":
        settings["temperature"] = temperature.strip()
    return settings | model.settings


class _Lender(NamedTuple):
    group: tuple[str, str]
    words: int


class _Text(NamedTuple):
    arm: str
    id: str
    cell: tuple[str, str, str]
    first: str | None
    matched: str | None
    topic: str | None
    target: int | None


class Asked:
    """Takes the documents of a corpus one by one, as their records stand; then says what is otherwise than promised."""

    def __init__(self, promised: Protocol) -> None:
        made = {
            arm.name: arm.generation for arm in promised.arms if arm.generation is not None and arm.generation.styles
        }
        self._made = made
        self._arms = {arm.name: arm for arm in promised.arms}
        self._lending = {name for generation in made.values() for name in generation.topics_from}
        self._lenders: dict[str, _Lender] = {}
        self._texts: list[_Text] = []

    def see(self, value: dict[str, Any]) -> Iterator[str]:
        """Take a document; the rules that it breaks by itself."""
        own, arm = value["provenance"], value["arm"]
        hidden = own["kind"] == "attested" and value["withheld"] is not None
        if arm in self._lending and value["words"] is not None and not hidden:
            self._lenders[value["id"]] = _Lender((arm, value["register"] or ""), value["words"])
        generation = self._made.get(arm)
        if generation is None or own["kind"] != "generated":
            return
        before = own.get("rejected_before") or ()
        first = before[0]["matched"] if before else own["matched"]
        cell = (own["provider"], own["model"], own["style"])
        self._texts.append(_Text(arm, value["id"], cell, first, own["matched"], value["topic"], own["word_target"]))
        prompts = [style.prompt for style in generation.styles if style.name == own["style"]]
        topic, target = value["topic"] or "", own["word_target"] or 0
        if own["prompt"] not in [filled(prompt, topic, target) for prompt in prompts]:
            yield "other-prompt"
        models = [each for each in generation.models if (each.provider, each.model) == cell[:2]]
        if not any(_as_sent(sent_to(model, generation.temperature), own) for model in models):
            yield "other-settings"

    def broken(self) -> Iterator[tuple[str, str, str]]:
        """Arm, rule and document, of what follows from all documents together."""
        for name, generation in self._made.items():
            texts = [text for text in self._texts if text.arm == name]
            yield from ((name, "other-cells", each) for each in _list_uneven(self._arms[name], generation, texts))
            if generation.topics_from:
                lenders = {n: each for n, each in self._lenders.items() if each.group[0] in generation.topics_from}
                yield from ((name, *each) for each in _list_topics(self._arms[name].documents, lenders, texts))


def _as_sent(promised: dict[str, str], own: dict[str, Any]) -> bool:
    """Whether what was sent is what is promised, under the provider's names, but for what it does not take."""
    sent = {ALIASES.get(name, name): value for name, value in own["settings"].items()}
    left_out = set(own.get("not_honoured") or ())
    wanted = {ALIASES.get(name, name): value for name, value in promised.items() if name not in left_out}
    extra = dict([REQUIRED]) if REQUIRED[0] not in wanted else {}
    return sent in (wanted, wanted | extra)


def _list_topics(total: int, lenders: dict[str, _Lender], texts: list[_Text]) -> Iterator[tuple[str, str]]:
    """Each document lends its topic and length, and each arm and register as many as its share, rounded up, at most."""
    sizes = Counter(each.group for each in lenders.values())
    used, groups = Counter[str](), Counter[tuple[str, str]]()
    lines: dict[str, str | None] = {}
    for text in texts:
        lender, first = lenders.get(text.matched or ""), lenders.get(text.first or "")
        if lender is None or first is None:
            yield "other-topics", text.id
            continue
        if text.target != lender.words:
            yield "other-length", text.id
        used[text.first or ""] += 1
        groups[first.group] += 1
        often = used[text.first or ""] > -(-total // len(lenders))
        many = groups[first.group] > -(-total * sizes[first.group] // len(lenders))
        if often or many or lines.setdefault(text.matched or "", text.topic) != text.topic:
            yield "other-topics", text.id


def _list_uneven(arm: Arm, generation: Generation, texts: list[_Text]) -> Iterator[str]:
    """The texts of a cell that has more than its share, rounded up, of each quota that asks for it."""
    cells = [(m.provider, m.model, s.name) for m in generation.models for s in generation.styles]
    shares: Counter[tuple[str, str, str]] = Counter()
    for where, documents in [(quota.where, quota.documents) for quota in arm.quotas] or [({}, arm.documents)]:
        if not where.keys() <= _GRID:
            return
        named = [dict(zip(("provider", "model", "style"), cell, strict=True)) for cell in cells]
        inside = [cell for cell, values in zip(cells, named, strict=True) if where.items() <= values.items()]
        for cell in inside:
            shares[cell] += -(-documents // len(inside))
    seen: Counter[tuple[str, str, str]] = Counter()
    for text in texts:
        seen[text.cell] += 1
        if seen[text.cell] > shares[text.cell]:
            yield text.id
