"""A text that was edited after its model wrote it is held against its kept exchange before the freeze."""

from __future__ import annotations

import json

import pytest
from tests.stages.generate.test_run import EDITION, keyed, moody, run, taken  # noqa: F401
from tests.stages.generate.written_study import generation, model, study

from penmark import study as files
from penmark.cli import invoke
from penmark.errors import PenmarkError
from penmark.format import canonical_json
from penmark.stages.generate.holding import differing
from penmark.testing.doubles.text_providers import compose_reply, run_provider
from penmark.text import count_words


@pytest.fixture(params=[compose_reply])
def made(request, tmp_path, keyed):  # noqa: F811
    """A study whose arm C was written."""
    with run_provider("openai", request.param) as there:
        keyed(there)
        corpus = study(tmp_path, generation(model(there, "m-1", settings={"seed": "7"})), documents=6)
        run(corpus)
    assert taken(corpus)
    return corpus


def change(corpus, act):
    """Change the first record of the arm, and its text with it where the act gives one."""
    path = corpus.place.documents("C")
    values = [json.loads(line) for line in path.read_bytes().splitlines()]
    text = act(values[0])
    if text is not None:
        values[0]["address"] = values[0]["canonical_sha256"] = canonical_json.sha256(text.encode())
        values[0] |= {"words": count_words(text), "characters": len(text)}
        (corpus.place.arm("C") / f"{values[0]['address']}.txt").write_bytes(text.encode())
    files.write_records(path, values)
    return values[0]["id"]


def told(corpus):
    return [fault.fact for fault in differing(corpus.place, corpus.protocol)]


@pytest.mark.parametrize("made", [compose_reply, moody], indirect=True)
def test_texts_as_they_were_written_are_held(made):
    assert told(made) == []


def test_a_text_that_was_changed_with_its_record_is_told_and_stops_the_freeze(made):
    better = "A text that somebody made better afterwards, with more words than it had, and with a new end."
    name = change(made, lambda value: better)
    assert told(made) == [f"the text of {name} is not the one that its model wrote"]
    with pytest.raises(PenmarkError, match="is not the one that its model wrote"):
        invoke(["-C", str(made.place.root), "freeze"])
    assert not made.edition.seal("corpus").exists()


@pytest.mark.parametrize(
    ("field", "value"),
    [("prompt", "Another."), ("settings", {}), ("matched", "A-9"), ("finish_reason", "length"), ("model", "m-2")],
)
def test_a_record_that_was_changed_is_told(made, field, value):
    name = change(made, lambda record: record["provenance"].update({field: value}))
    assert told(made) == [f"the record of {name} is not its exchange's: {field}"]


def test_a_document_that_nobody_asked_for_is_told(made):
    change(made, lambda record: record.update(id="C-999"))
    assert told(made) == ["no exchange that was taken holds C-999"]


def test_an_exchange_that_was_changed_breaks_its_chain(made):
    path = made.place.arm("C") / EDITION / "exchanges-0001.jsonl"
    path.write_bytes(path.read_bytes().replace(b'"word_target":2', b'"word_target":3', 1))
    with pytest.raises(PenmarkError, match="does not follow the line before it"):
        told(made)


def test_an_arm_without_exchanges_is_left_to_others(made):
    for path in (made.place.arm("C") / EDITION).glob("exchanges-*"):
        path.unlink()
    assert told(made) == []
