"""Links of an edit: what the splitters give holds in both verifiers; what was typed does not."""

from __future__ import annotations

import json
from collections.abc import Callable
from typing import Any

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from penmark.records import Sentences
from penmark.stages.verify.check4_corpus import sentence_links
from penmark.standalone import verify as alone
from penmark.text import WORD_RULE, sentences

DRAFT = (
    "The ferry leaves at ten from the old pier. It waits for the nurse, who runs.\n\n"
    "Nobody knows why it is late again. We go home on foot. The rain has stopped at last."
)
EDITS = {
    "kept": DRAFT.replace("old pier", "new pier"),
    "added": DRAFT + " And a word of my own stands here now.",
    "deleted": DRAFT.replace(" We go home on foot.", ""),
    "moved": DRAFT.replace(" We go home on foot.", "") + " We go home on foot.",
    "split": DRAFT.replace("It waits for the nurse, who runs.", "It waits for the nurse. She always runs, who runs."),
    "replaced": DRAFT.replace("We go home on foot.", "Boots dry beside every stove."),
    "line ends": DRAFT.replace("\n\n", "\n \n\n"),
    "nothing alike": "Apples fall. Pears ripen? Plums!",
    "one": "The ferry leaves at ten from the old pier.",
}
PIECES = ["ferry", "pier", "night", "home", "Rain stops.", "Why?", "Go!", "…", "(so)", "5.3", "Mr.", "\n\n", "nurse,"]
words = st.lists(st.sampled_from(PIECES), max_size=40)
texts = words.map(" ".join).filter(lambda text: any(map(str.isalnum, text)))


def record(draft: str, text: str) -> dict[str, Any]:
    found = sentences.align_edit(draft, text)
    return {
        "splitters": list(sentences.list_splitter_versions()),
        "verdict": found.verdict,
        "because": found.because,
        "links": [{"kind": kind, "draft": one, "text": other} for kind, one, other in found.links],
    }


def faults(value: dict[str, Any], draft: str, text: str) -> tuple[str | None, str | None]:
    """What both verifiers say of a record, without splitters."""
    value = value | {
        "links": [{k: list(v) if isinstance(v, tuple) else v for k, v in n.items()} for n in value["links"]]
    }
    try:
        alone.Links(value, draft, text, spaced=False).check()
        other = None
    except alone.Fault as fault:
        other = fault.got
    told = Sentences.model_validate_json(json.dumps(value))
    return sentence_links.explain_wrong_links(told, draft, text, WORD_RULE), other


@pytest.mark.parametrize("name", EDITS)
def test_what_the_splitters_give_holds(name: str) -> None:
    told = record(DRAFT, EDITS[name])
    assert faults(told, DRAFT, EDITS[name]) == (None, None)


@settings(max_examples=150, deadline=None)
@given(texts, texts)
def test_what_the_splitters_give_of_any_texts_holds(draft: str, text: str) -> None:
    assert faults(record(draft, text), draft, text) == (None, None)


def one_link(value: dict[str, Any], text: str) -> None:
    value["links"] = [{"kind": "kept", "draft": (0, len(DRAFT)), "text": (0, len(text))}]


def shifted(value: dict[str, Any], text: str) -> None:
    value["links"][0]["text"] = (0, value["links"][1]["text"][1])


def beyond(value: dict[str, Any], text: str) -> None:
    value["links"][-1]["text"] = (value["links"][-1]["text"][0], len(text) + 1)


def last_first(value: dict[str, Any], text: str) -> None:
    value["links"] = [value["links"][-1], *value["links"][:-1]]


def shorter(value: dict[str, Any], text: str) -> None:
    start, end = value["links"][-1]["draft"]
    value["links"][-1]["draft"] = (start, end - 8)


FAKES: dict[str, tuple[str, Callable[[dict[str, Any], str], object]]] = {
    "no links": ("added", lambda value, text: value.update(links=[], verdict="kept", because="")),
    "one link for all": ("added", lambda value, text: (one_link(value, text), value.update(verdict="kept", because=""))),
    "beyond the text": ("kept", beyond),
    "twice the same": ("kept", shifted),
    "out of order": ("kept", last_first),
    "words left out": ("kept", shorter),
    "an added one left out": (
        "added", lambda value, text: value.update(links=value["links"][:-1], verdict="kept", because="")
    ),
    "replaced is called kept": (
        "replaced",
        lambda value, text: value.update(
            links=[{**n, "kind": "kept"} for n in value["links"]], verdict="kept", because=""
        ),
    ),
    "kept is called replaced": (
        "kept", lambda value, text: (
            value["links"][0].update(kind="replaced"), value.update(verdict="unclear", because="1 replaced")
        ),
    ),
    "moved is called deleted and added": (
        "moved",
        lambda value, text: value.update(
            links=[
                {**n, "kind": {(True, False): "deleted", (False, True): "added"}.get(
                    (n["draft"] is not None, n["text"] is not None), n["kind"])}
                for n in value["links"]
            ], verdict="changed", because="1 added and 1 deleted",
        ),
    ),
    "added is called moved": (
        "added",
        lambda value, text: value["links"][-1].update(kind="moved") or value.update(verdict="unclear", because=""),
    ),
    "added without a word": ("added", lambda value, text: value.update(verdict="unclear", because="a person looked")),
    "unclear for another reason": ("split", lambda value, text: value.update(because="2 split")),
    "sides of another kind": (
        "added",
        lambda value, text: value["links"][-1].update(kind="deleted") or value.update(because="1 deleted"),
    ),
}  # fmt: skip


@pytest.mark.parametrize("name", FAKES)
def test_what_was_typed_does_not(name: str) -> None:
    edit, fake = FAKES[name]
    value = record(DRAFT, EDITS[edit])
    fake(value, EDITS[edit])
    ours, other = faults(value, DRAFT, EDITS[edit])
    assert ours is not None
    assert other is not None


def test_a_link_that_holds_an_added_sentence_is_found_where_the_texts_are_split_again() -> None:
    draft, text = "The ferry leaves at ten. We go home.", "The ferry leaves at ten. We go home. Boots dry."
    value = record(draft, text)
    value["links"] = [value["links"][0], {"kind": "kept", "draft": (25, 36), "text": (25, 47)}]
    told = Sentences.model_validate(value | {"splitters": tuple(value["splitters"]), "verdict": "kept", "because": "",
                                             "links": tuple(value["links"])})  # fmt: skip
    assert (
        sentence_links.explain_wrong_links(told, draft, text, WORD_RULE) is None
    )  # 3 words of 5: no rule without a splitter can tell
    with pytest.raises(ValueError, match="changed"):
        sentence_links.realign_links(told, draft, text, None, WORD_RULE)
    other = told.model_copy(update={"splitters": ("sentencex 0.0.1", "nupunkt 0.0.1")})
    assert "sentencex 0.0.1" in (sentence_links.realign_links(other, draft, text, None, WORD_RULE) or "")
