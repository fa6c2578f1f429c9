"""Topic lines: whose they are, what is wrong with a file of them, and what no model is shown."""

from __future__ import annotations

import json

import pytest
from tests.conftest import draft
from tests.stages.generate.written_study import archived, generation, model, study, words

from penmark import study as files
from penmark.errors import FaultsError, UsageError
from penmark.format import canonical_json
from penmark.stages.generate import draft_topics, exchange_log, open_run
from penmark.stages.generate.open_run import begin_generation
from penmark.testing.doubles.text_providers import ComposedReply, compose_reply, run_provider

EDITION = "BENCH-2026-Q4"
PROMPT = "Say in one line what this text is about.\n\n{text}"


def settle(corpus, path=None, **further):
    return draft_topics.settle_topics(corpus.place, corpus.protocol, "C", path, pause=lambda failures: 0.0, **further)


def topics(corpus):
    lines = files.read_json_lines(corpus.place.arm("C") / EDITION / "topics.jsonl")
    return {value["document"]: (value["topic"], value["by"], value["sha256"]) for _, value in lines}


@pytest.fixture
def there(monkeypatch):
    def writes(prompt, number):
        return (
            ComposedReply(f" a draft about {prompt.split()[9]}\n")
            if prompt.startswith("Say in one line")
            else compose_reply(prompt)
        )

    with run_provider("openai", writes) as double:
        monkeypatch.setenv("KEY_OF_OPENAI", double.keys["key"])
        yield double


@pytest.mark.parametrize(
    "raw",
    [
        '\ufeffid,topic,note\nA-000,"rivers, and who owns them",x\nA-001,,y\nB-000, old bridges ,z\n'.encode(),
        "\ufeffid;topic;note\r\nA-000;rivers, and who owns them;x\r\nA-001;;y\r\nB-000; old bridges ;z\r\n".encode(),
    ],
)
def test_a_person_s_line_stands_before_the_record_s(tmp_path, there, raw):
    corpus = study(tmp_path / "study", generation(model(there, "m")), human=3)
    path = tmp_path / "topics.csv"
    path.write_bytes(raw)
    settled = settle(corpus, path)
    assert (settled.documents, settled.by, settled.missing) == (5, {"person": 2, "record": 3}, [])
    assert topics(corpus) == {
        "A-000": ("rivers, and who owns them", "person", canonical_json.sha256(raw)),
        "A-001": ("archive topic 1", "record", None),
        "A-002": ("archive topic 2", "record", None),
        "B-000": ("old bridges", "person", canonical_json.sha256(raw)),
        "B-001": ("fresh topic 1", "record", None),
    }
    assert settle(corpus).by == {"person": 2, "record": 3}  # what was given stays
    with begin_generation(corpus.place, corpus.protocol, "C") as run:
        assert {run.grid.topics[name] for name in ("A-000", "B-000")} == {"rivers, and who owns them", "old bridges"}
        run.run()
    with pytest.raises(UsageError, match="were begun with the topic lines"):
        settle(corpus, path)


def test_everything_that_is_wrong_with_a_file_is_told(tmp_path, there):
    corpus = study(tmp_path / "study", generation(model(there, "m")), human=3)
    path = tmp_path / "topics.csv"
    path.write_text(f'id,topic\nA-000,one\nA-00,two\nA-000,three\nB-002,withheld\nA-001,{"x" * 301}\nA-002,"a\nb"\n')
    with pytest.raises(FaultsError) as caught:
        settle(corpus, path)
    told = [(fault.place.rpartition(":")[2], fault.fact) for fault in caught.value.faults]
    assert told == [
        ("3", "no public human document is called 'A-00' (did you mean A-002?)"),
        ("4", "a second topic for A-000"),
        ("5", "no public human document is called 'B-002' (did you mean B-001?)"),
        ("6", "the topic of A-001 is longer than 300 characters"),
        ("7", "the topic of A-002 is not one line of text"),
    ]
    assert not (corpus.place.arm("C") / EDITION / "topics.jsonl").exists()
    path.write_text("name,subject\nA-000,one\n")
    with pytest.raises(Exception, match="has no columns id and topic"):
        settle(corpus, path)


def without_topics(tmp_path, there, **further):
    how = {"model": model(there, "drafter"), "prompt": PROMPT}
    corpus = study(tmp_path, generation(model(there, "m"), topics=how, **further), human=3)
    corpus.collect("A", *(archived(number, topic="") for number in range(3)))
    return corpus


def test_the_promised_model_drafts_what_is_missing_and_its_exchange_is_kept(tmp_path, there):
    corpus = without_topics(tmp_path, there)
    assert {row["topic"] for row in corpus.documents("A")} == {""}
    with pytest.raises(UsageError, match=r"3 of 5 human documents have no topic line: A-000, A-001, A-002"):
        open_run.open_arm_context(corpus.place, corpus.protocol, "C")
    settled = settle(corpus)
    assert (settled.by, settled.missing, settled.trouble) == ({"record": 2, "model": 3}, [], {})
    found = topics(corpus)
    assert found["A-001"][:2] == (f"a draft about {words('archive', 1).split()[0]}", "model")
    first = canonical_json.sha256(files.read_bytes(corpus.edition.seal("promise")))
    kept = [line for _, line in exchange_log.read_exchanges(corpus.place.arm("C") / EDITION, "topics", first)]
    sent = {line["document"]: line["request"]["body"] for line in kept if line["kind"] == "sent"}
    answers = {line["document"]: line for line in kept if line["kind"] == "answer"}
    assert json.loads(sent["A-001"])["messages"][0]["content"] == PROMPT.replace("{text}", words("archive", 1))
    assert {name: answers[name]["response"]["sha256"] for name in answers} == {
        name: sha256 for name, (_, by, sha256) in found.items() if by == "model"
    }
    before = len(there.vendor.asked)
    assert settle(corpus).by == settled.by
    assert len(there.vendor.asked) == before


def test_no_model_is_shown_an_attested_or_a_withheld_text(tmp_path, there):
    corpus = without_topics(tmp_path, there)
    hidden = draft("A-003", words("licensed", 3), withheld="the licence forbids it")
    corpus.protocol = corpus.protocol.model_copy(
        update={
            "arms": tuple(a.model_copy(update={"documents": 4}) if a.name == "A" else a for a in corpus.protocol.arms)
        }
    )
    corpus.collect("A", hidden)
    settled = settle(corpus)
    assert settled.missing == ["A-003"]
    shown = json.dumps(there.vendor.asked)
    assert "archive1" in shown
    assert "licensed3" not in shown
    assert "fresh" not in shown


@pytest.mark.parametrize(
    ("reply", "why"),
    [
        (ComposedReply("Two lines.\nNot one."), "the draft is not one line of text"),
        (ComposedReply(" \n"), "the draft is empty"),
        (ComposedReply("x" * 301), "the draft is longer than 300 characters"),
        (ComposedReply("About", "length"), "finish reason length"),
        (ComposedReply("No.", "refused"), "finish reason content_filter"),
    ],
)
def test_a_draft_that_is_no_topic_line_is_left_to_a_person_and_not_asked_for_again(tmp_path, monkeypatch, reply, why):
    with run_provider("openai", lambda prompt, number: reply) as there:
        monkeypatch.setenv("KEY_OF_OPENAI", there.keys["key"])
        corpus = without_topics(tmp_path / "study", there)
        settled = settle(corpus)
        assert settled.missing == ["A-000", "A-001", "A-002"]
        assert settled.trouble == dict.fromkeys(settled.missing, why)
        assert len(there.vendor.asked) == 3
        again = settle(corpus)
        assert (again.missing, again.trouble) == (settled.missing, settled.trouble)
        assert len(there.vendor.asked) == 3
        path = tmp_path / "topics.csv"
        path.write_text("id,topic\nA-000,a\nA-001,b\nA-002,c\n")
        assert settle(corpus, path).missing == []


def test_a_provider_that_fails_leaves_the_rest_for_the_next_run(tmp_path, monkeypatch):
    def writes(prompt, number):
        return ComposedReply(f"line {number}")

    with run_provider("openai", writes, behaviours=[None, "broken", "wrong key"]) as there:
        monkeypatch.setenv("KEY_OF_OPENAI", there.keys["key"])
        corpus = without_topics(tmp_path, there)
        settled = settle(corpus)
        assert settled.missing == ["A-001", "A-002"]
        assert "holds the right key" in str(settled.ended)
        assert settle(corpus).missing == []
