"""`penmark collect C`, where models write the arm, as it is typed."""

from __future__ import annotations

import json

import pytest
from tests.stages.generate.written_study import generation, model, study

from penmark.cli import invoke
from penmark.errors import UsageError
from penmark.testing.doubles.text_providers import ComposedReply, compose_reply, run_provider


@pytest.fixture
def there(monkeypatch):
    with run_provider("openai") as double:
        monkeypatch.setenv("KEY_OF_OPENAI", double.keys["key"])
        yield double


PRICE = {"read": "1", "written": "10", "currency": "USD"}


def test_a_plan_needs_no_key_and_knows_what_costs_nothing(tmp_path, there, monkeypatch, capsys):
    away = {"provider": "openai", "settings": {}}
    paid = [away | {"model": "priced", "price": PRICE}, away | {"model": "unpriced"}]
    monkeypatch.delenv("KEY_OF_OPENAI")
    monkeypatch.delenv("OPENAI_API_KEY", raising=False)
    corpus = study(tmp_path, generation(model(there, "m-1"), *paid))
    place = ["-C", str(corpus.place.root), "collect", "C", "--plan"]
    assert invoke(place) == 0
    told = {line.split(":")[0]: line.rpartition("; ")[2] for line in capsys.readouterr().out.splitlines()[:3]}
    assert told == {
        "openai m-1": "costs nothing: it runs on this machine)",
        "openai priced": "about 0.00 USD)",
        "openai unpriced": "price not known)",
    }
    assert invoke([*place, "--json", "--price", "unpriced=2/4:EUR"]) == 0
    rows = [json.loads(line) for line in capsys.readouterr().out.splitlines()[:3]]
    assert [(row["local"], row["currency"]) for row in rows] == [(True, None), (False, "USD"), (False, "EUR")]
    assert rows[0]["cost"] == "0"
    assert all(float(row["cost"]) > 0 for row in rows[1:])
    assert there.vendor.asked == []


def test_plan_then_texts_then_nothing(tmp_path, there, capsys):
    how = generation(model(there, "m-1", price=PRICE), model(there, "m-2"))
    corpus = study(tmp_path, how, documents=8)
    place = ["-C", str(corpus.place.root), "collect", "C"]
    assert invoke([*place, "--plan"]) == 0
    out = capsys.readouterr().out
    assert "openai m-1: 4 texts of " in out
    assert out.count("; costs nothing: it runs on this machine)") == 2
    assert there.vendor.asked == []
    assert invoke(place) == 0
    out, err = capsys.readouterr()
    assert out == "C: 8 of 8 texts\nC: 8 documents (8 added, 0 updated, 0 unchanged)\n"
    assert "openai m-1: 4 of 4\n" in err
    assert invoke(place) == 0
    assert capsys.readouterr().out == "C: 8 of 8 texts\nC: 8 documents (0 added, 0 updated, 8 unchanged)\n"
    assert len(there.vendor.asked) == 8
    assert invoke([*place, "--plan", "--json", "--price", "m-2=2/4:EUR"]) == 0
    rows = [json.loads(line) for line in capsys.readouterr().out.splitlines()[:2]]
    assert [(row["model"], row["texts"], row["cost"], row["currency"]) for row in rows] == [
        ("m-1", 0, "0", None), ("m-2", 0, "0", None)
    ]  # fmt: skip


def test_json_is_one_value_a_line(tmp_path, there, capsys):
    corpus = study(tmp_path, generation(model(there, "m-1")), documents=4)
    assert invoke(["-C", str(corpus.place.root), "collect", "C", "--json"]) == 0
    out, err = capsys.readouterr()
    values = [json.loads(line) for line in out.splitlines()]
    assert err == ""
    assert values[-1][0]["documents"] == 4
    assert values[-2]["event"] == "generated"
    assert values[-2]["accepted"] == 4
    assert {value["event"] for value in values[:-2]} == {"progress"}


def test_topics_from_a_file_and_what_is_missing(tmp_path, there, capsys):
    corpus = study(tmp_path / "study", generation(model(there, "m-1")), human=3)
    place = ["-C", str(corpus.place.root), "collect", "C"]
    path = tmp_path / "topics.csv"
    path.write_text("id,topic\nA-000,rivers\n")
    assert invoke([*place, "--topics", "--path", str(path)]) == 0
    told = capsys.readouterr().out
    assert told.startswith("C: 5 human documents; topic lines: ")
    assert "1 written by people" in told
    assert "4 from the records" in told
    corpus.collect("A", *bare(3))
    (corpus.place.arm("C") / "BENCH-2026-Q4" / "topics.jsonl").unlink()
    with pytest.raises(UsageError, match="penmark collect C --topics --path FILE"):
        invoke(place)
    assert invoke([*place, "--topics", "--path", str(path)]) == 1
    out, err = capsys.readouterr()
    assert "  no topic line: A-001\n  no topic line: A-002\n" in out
    assert "penmark collect C --topics --path FILE" in err


def bare(count):
    from tests.stages.generate.written_study import archived

    return [archived(number, topic="") for number in range(count)]


def test_a_person_s_decision_and_the_replacement(tmp_path, monkeypatch, capsys):
    refusal = (
        "I'm sorry, but I can't help with that. There are other people who could surely write such a text for you."
    )

    def writes(prompt, number):
        return ComposedReply(refusal if "archive topic 1" in prompt else compose_reply(prompt).text)

    with run_provider("openai", writes) as there:
        monkeypatch.setenv("KEY_OF_OPENAI", there.keys["key"])
        corpus = study(tmp_path, generation(model(there, "m-1")), documents=8)
        place = ["-C", str(corpus.place.root), "collect", "C"]
        assert invoke(place) == 0
        bad = next(row["id"] for row in corpus.documents("C") if row["topic"] == "archive topic 1")
        assert invoke([*place, "--refused", bad, "--by", "Ann"]) == 0
        out = capsys.readouterr().out
        assert "  not taken, kept in rejected.jsonl: 1 refused\n" in out
        assert len(corpus.documents("C")) == 8
        assert not any(row["topic"] == "archive topic 1" for row in corpus.documents("C"))


def test_work_that_is_left_and_a_service_that_failed(tmp_path, monkeypatch, capsys):
    with run_provider("openai", behaviours=["wrong key"]) as there:
        monkeypatch.setenv("KEY_OF_OPENAI", there.keys["key"])
        corpus = study(tmp_path, generation(model(there, "m-1"), replacement="none"), documents=4)
        place = ["-C", str(corpus.place.root), "collect", "C"]
        assert invoke(place) == 3
        out, err = capsys.readouterr()
        assert "HTTP 401: wrong key" in out
        assert "Run the same command again to go on." in err
        assert there.keys["key"] not in out + err
    with run_provider("openai", lambda prompt, number: ComposedReply("")) as there:
        monkeypatch.setenv("KEY_OF_OPENAI", there.keys["key"])
        other = study(tmp_path / "other", generation(model(there, "m-1"), replacement="none"), documents=4)
        assert invoke(["-C", str(other.place.root), "collect", "C"]) == 1
        assert "4 spots stay empty by the protocol's rule of replacement" in capsys.readouterr().out


def test_what_cannot_be_understood(tmp_path, there):
    corpus = study(tmp_path, generation(model(there, "m-1"), model(there, "m-2", plugin="opnai")), documents=4)
    place = ["-C", str(corpus.place.root), "collect"]
    for argv, expected in (
        (["C", "--budget", "much"], "'much' is no amount of money"),
        (["C", "--budget", "-1"], "is no amount of money"),
        (["C", "--price", "m-1=cheap"], "'m-1=cheap' is no price"),
        (["C", "--model", "m-11"], r"not generated by 'm-11' \(did you mean m-1\?\)"),
        (["C", "--anew"], "are not made anew"),
        (["C", "--option", "kind=generated"], "names no source for the arm C"),
        (["C", "--refused", "C-001"], "a decision needs the name"),
        (["C", "--refused", "C-001", "--by", "Ann"], "no text of the arm C is called 'C-001'"),
        (["C"], r"no generator plugin 'opnai' \(did you mean openai\?\)"),
        (["A", "--plan"], "does not say by which models and prompts the arm A is generated"),
    ):
        with pytest.raises(UsageError, match=expected):
            invoke([*place, *argv])
