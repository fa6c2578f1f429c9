"""Whole runs against doubles: every text as it came, everything about it, gates and replacement, budget, resume."""

from __future__ import annotations

import json
from collections import Counter
from decimal import Decimal

import pytest
from tests.conftest import SEED, draft
from tests.stages.generate.written_study import archived, generation, model, study

from penmark import study as files
from penmark.errors import PenmarkError, UsageError
from penmark.format import canonical_json
from penmark.records import Document, TokenPrice
from penmark.stages import collect, screen
from penmark.stages.generate import accepted_texts, exchange_log, open_run
from penmark.stages.generate.open_run import begin_generation
from penmark.testing.doubles.misbehaviour import Behaviour
from penmark.testing.doubles.text_providers import ComposedReply, compose_reply, run_provider

EDITION = "BENCH-2026-Q4"


@pytest.fixture
def keyed(monkeypatch):
    """Puts the key of a double into the environment."""

    def put(there, name="openai"):
        monkeypatch.setenv(f"KEY_OF_{name.upper()}", there.keys["key"])

    return put


def quick(failures):
    return 0.0


def run(corpus, **further):
    """One run, and the texts that are there; the run itself."""
    with begin_generation(corpus.place, corpus.protocol, "C", **({"pause": quick} | further)) as one:
        one.run()
        one.counts()
    return one


def taken(corpus):
    """The documents of arm C, collected from what was made."""
    base = open_run.open_arm_context(corpus.place, corpus.protocol, "C")
    source = accepted_texts.AcceptedTexts(base)
    source.write_rejected()
    if len(source):
        collect.collect_arm(
            corpus.place, corpus.protocol, "C", source, lambda n: None, anew=source.decided, by="generation"
        )
    return corpus.documents("C") if len(source) else []


def left_out(corpus):
    """What the screening tells of texts that were asked for and are not in the arm."""
    found = screen.screen_corpus(corpus.place, corpus.edition, corpus.protocol)
    return [finding.message for finding in found if finding.rule == "left-out"]


def lines(corpus, *kinds):
    folder = corpus.place.arm("C") / EDITION
    first = canonical_json.sha256(files.read_bytes(corpus.edition.seal("promise")))
    return [
        line
        for _, line in exchange_log.read_exchanges(folder, "exchanges", first)
        if not kinds or line["kind"] in kinds
    ]


def text(corpus, document):
    return (corpus.place.arm("C") / f"{document['address']}.txt").read_text()


def test_everything_about_a_text_is_recorded(tmp_path, keyed):
    with run_provider("openai") as there, run_provider("anthropic") as other:
        keyed(there)
        keyed(other, "anthropic")
        seeded = {"seed": "7"}
        how = generation(model(there, "m-1", settings=seeded), model(other, "c-1", "anthropic", settings=seeded))
        corpus = study(tmp_path, how, documents=8)
        assert run(corpus).counts() == {"texts": 8, "accepted": 8, "to ask": 0, "given up": 0}
        documents = taken(corpus)
        asked = [*there.vendor.asked, *other.vendor.asked]
    assert [d["id"] for d in documents] == [f"C-00{n}" for n in range(1, 9)]
    human = {d["id"]: d for arm in "AB" for d in corpus.documents(arm)}
    answers = {line["document"]: line for line in lines(corpus, "answer")}
    sent = {line["document"]: line for line in lines(corpus, "sent")}
    for row in documents:
        own, matched = row["provenance"], human[row["provenance"]["matched"]]
        assert text(corpus, row) == compose_reply(own["prompt"]).text == answers[row["id"]]["text"]
        assert (own["kind"], own["grade"]) == ("generated", "recorded")
        assert own["model_returned"] == f"{own['model']}-2026-11"
        assert (row["topic"], own["word_target"]) == (matched["topic"], matched["words"])
        assert f"about {matched['topic']}" in own["prompt"]
        assert f"about {matched['words']} words" in own["prompt"]
        assert row["language"] == matched["language"]
        assert own["generated_on"] == answers[row["id"]]["got_at"][:10] >= "2026-10-01"
        assert own["request_sha256"] == canonical_json.sha256(sent[row["id"]]["request"]["body"].encode())
        assert own["response_sha256"] == canonical_json.sha256(answers[row["id"]]["response"]["body"].encode())
        assert json.loads(sent[row["id"]]["request"]["body"]) in asked
        assert own["request_id"].startswith("r")
        assert own["attempt"] == 1
        assert own["tokens_written"] > 0
        if own["provider"] == "openai":
            assert own["settings"] == {"seed": "7"}
            assert (own["finish_reason"], own["fingerprint"]) == ("stop", "fp_double")
            assert "not_honoured" not in own
        else:
            assert own["settings"] == {"max_tokens": "4096"}
            assert (own["finish_reason"], own["not_honoured"]) == ("end_turn", ["seed"])
        assert Document.model_validate_json(canonical_json.encode_json(row))
    assert Counter((d["provenance"]["model"], d["provenance"]["style"]) for d in documents) == {
        (name, style): 2 for name in ("m-1", "c-1") for style in ("plain", "styled")
    }
    start = lines(corpus, "start")[0]
    assert [g["plugin"]["name"] for g in start["generators"]] == ["openai", "anthropic"]
    assert not lines(corpus, "retry")
    assert {line["reason"] for line in lines(corpus, "stop")} == {"done"}


def test_topics_and_lengths_are_those_of_published_human_texts(tmp_path, keyed):
    with run_provider("openai") as there:
        keyed(there)
        corpus = study(tmp_path, generation(model(there, "m")), documents=8)
        run(corpus)
        documents = taken(corpus)
    used = [row["provenance"]["matched"] for row in documents]
    assert sorted(used) == [f"A-{n:03d}" for n in range(6)] + ["B-000", "B-001"]  # B-002 is withheld
    secret = corpus.place.root / "corpus"
    for path in secret.rglob("*"):
        if path.is_file() and path.parent.name != "B":
            assert b"fresh topic 2" not in path.read_bytes(), path


def test_the_same_again_asks_for_nothing_and_changes_nothing(tmp_path, keyed):
    with run_provider("openai") as there:
        keyed(there)
        corpus = study(tmp_path, generation(model(there, "m")))
        run(corpus)
        first = taken(corpus)
        before = {p: p.read_bytes() for p in corpus.place.corpus.rglob("*") if p.is_file()}
        again = run(corpus)
        assert again.lanes == []
        assert taken(corpus) == first
        assert len(there.vendor.asked) == 6
    assert {p: p.read_bytes() for p in corpus.place.corpus.rglob("*") if p.is_file()} == before


BAD = {
    "archive topic 0": ComposedReply(""),
    "archive topic 1": ComposedReply("network error"),
    "archive topic 2": ComposedReply("I would rather not.", "refused"),
    "archive topic 3": ComposedReply("It was a bright cold day in", "length"),
    "archive topic 4": ComposedReply("Five words are too few."),
}


def moody(prompt: str, number: int) -> ComposedReply:
    """Bad texts about five topics, and good ones about the others."""
    return next(
        (reply for topic, reply in BAD.items() if f"{topic}," in prompt or f"{topic} " in prompt), compose_reply(prompt)
    )


def test_a_bad_text_is_kept_counted_and_replaced_by_the_next_topic(tmp_path, keyed):
    with run_provider("openai", moody) as there:
        keyed(there)
        corpus = study(tmp_path, generation(model(there, "m"), attempts=9), documents=11, human=9)
        one = run(corpus)
        documents = taken(corpus)
        requests = len(there.vendor.asked)
    assert one.counts()["accepted"] == len(documents) == 11
    asked = Counter((line["document"], line["matched"]) for line in lines(corpus, "sent"))
    assert set(asked.values()) == {1}, "a bad text was asked for again"
    assert sum(asked.values()) == requests
    rejected = [value for _, value in files.read_json_lines(corpus.place.arm("C") / EDITION / "rejected.jsonl")]
    assert one.rejected() == dict(Counter(gate for row in rejected for gate in row["gates"]).most_common())
    gates = {row["topic"]: row["gates"] for row in rejected}
    assert {topic: gates[topic] for topic in BAD} == {
        "archive topic 0": ["empty"],
        "archive topic 1": ["cut off", "error message", "word limits"],
        "archive topic 2": ["refused", "word limits"],
        "archive topic 3": ["cut off", "word limits"],
        "archive topic 4": ["word limits"],
    }
    assert not any(row["topic"] in BAD for row in documents)
    told = {
        (row["id"], before["topic"]): before["gates"]
        for row in documents
        for before in row["provenance"].get("rejected_before", [])
    }
    assert told == {(row["document"], row["topic"]): row["gates"] for row in rejected}
    base = open_run.open_arm_context(corpus.place, corpus.protocol, "C")
    for row in documents:  # each replacement is the next of the draw
        before = row["provenance"].get("rejected_before", [])
        drawn = [base.grid.lender(row["id"], turn).id for turn in range(1, len(before) + 2)]
        assert [*(each["matched"] for each in before), row["provenance"]["matched"]] == drawn
    answers = {(line["document"], line["turn"]): line for line in lines(corpus, "answer")}
    for row in rejected:  # what was rejected is kept word for word
        kept = answers[row["document"], row["turn"]]
        assert kept["text"] == BAD[row["topic"]].text
        assert row["response_sha256"] == canonical_json.sha256(kept["response"]["body"].encode())
    (counted,) = left_out(corpus)  # in screening.csv, and so in the bundle
    counts = Counter(gate for row in rejected for gate in row["gates"])
    assert counted.startswith(f"{len(rejected)} texts that models were asked for are not here: ")
    for gate, count in counts.items():
        assert f"{count} {gate}" in counted


def test_without_a_replacement_a_spot_stays_empty(tmp_path, keyed):
    with run_provider("openai", moody) as there:
        keyed(there)
        corpus = study(tmp_path, generation(model(there, "m"), replacement="none"), documents=8)
        one = run(corpus)
        assert one.counts() == {"texts": 8, "accepted": 3, "to ask": 0, "given up": 5}
        assert len(taken(corpus)) == 3
        assert run(corpus).lanes == []
        assert len(there.vendor.asked) == 8
    # Spots that were never filled are counted as well, though no document can say so.
    assert left_out(corpus) == [
        "5 texts that models were asked for are not here: 4 word limits, 2 cut off, 1 empty, 1 error message, 1 refused; "
        "some for several reasons"
    ]


def test_a_protocol_without_gates_takes_what_comes(tmp_path, keyed):
    with run_provider("openai", moody) as there:
        keyed(there)
        corpus = study(tmp_path, generation(model(there, "m"), gates=[]), documents=8)
        assert run(corpus).counts()["accepted"] == 8
        documents = taken(corpus)
    assert {d["words"] for d in documents if d["topic"] == "archive topic 0"} == {0}
    cut = next(d for d in documents if d["topic"] == "archive topic 3")
    assert cut["provenance"]["finish_reason"] == "length"


def test_attempts_end_and_so_do_topics(tmp_path, keyed):
    with run_provider("openai", lambda prompt, number: ComposedReply("")) as there:
        keyed(there)
        corpus = study(tmp_path, generation(model(there, "m"), attempts=2), documents=3)
        assert run(corpus).counts() == {"texts": 3, "accepted": 0, "to ask": 0, "given up": 3}
        assert len(there.vendor.asked) == 6
    with run_provider("openai", lambda prompt, number: ComposedReply("")) as there:
        keyed(there)
        corpus = study(
            tmp_path / "few",
            generation(model(there, "m"), attempts=20, topics_from=["A"]),
            documents=1,
            human=2,
            more=0,
        )
        assert run(corpus).counts()["given up"] == 1
        assert len(there.vendor.asked) == 2
    assert taken(corpus) == []


def test_the_wording_of_a_refusal_is_marked_and_a_person_decides(tmp_path, keyed):
    letter = "I'm sorry to hear about your loss. She was kind to us all, and the garden will miss her dearly.\n\nYours,\nAnna"
    refusal = (
        "I'm sorry, but I can't help with that. There are other people who could surely write such a text for you."
    )

    def writes(prompt: str, number: int) -> ComposedReply:
        return ComposedReply(
            letter
            if "archive topic 0" in prompt
            else refusal
            if "archive topic 1" in prompt
            else compose_reply(prompt).text
        )

    with run_provider("openai", writes) as there:
        keyed(there)
        corpus = study(tmp_path, generation(model(there, "m")), documents=8)
        run(corpus)
        documents = {d["topic"]: d for d in taken(corpus)}
        from penmark.stages import screen as screen_stage

        found = screen_stage.screen_corpus(corpus.place, corpus.edition, corpus.protocol)
        marked = {f.document for f in found if f.rule == "refusal"}
        assert marked == {documents["archive topic 0"]["id"], documents["archive topic 1"]["id"]}
        base = open_run.open_arm_context(corpus.place, corpus.protocol, "C")
        bad = documents["archive topic 1"]["id"]
        accepted_texts.record_refusal(base, bad, "Ann")
        with pytest.raises(UsageError, match="no text of the arm C"):
            accepted_texts.record_refusal(base, bad, "Ann")
        with pytest.raises(UsageError, match="no text of the arm C is called 'C-01'"):
            accepted_texts.record_refusal(base, "C-01", "Ann")
        assert [d["id"] for d in taken(corpus)] == [f"C-00{n}" for n in range(1, 9) if f"C-00{n}" != bad]
        assert run(corpus).counts()["accepted"] == 8
        after = {d["id"]: d for d in taken(corpus)}
    assert after[documents["archive topic 0"]["id"]] == documents["archive topic 0"]
    told = [value for _, value in files.read_json_lines(corpus.place.arm("C") / EDITION / "rejected.jsonl")]
    assert [row["because"] for row in told] == [["Ann read it and found it to be a refusal"]]
    before = after[bad]["provenance"]["rejected_before"]
    assert [(each["gates"], each["topic"]) for each in before] == [(["refused"], "archive topic 1")]
    assert not any(refusal in path.read_text() for path in corpus.place.arm("C").glob("*.txt"))


def test_only_transport_is_tried_again(tmp_path, keyed):
    acts = ["rate limited", "drop after", None, "broken", None, "half body"]
    with run_provider("openai", behaviours=acts) as there:
        keyed(there)
        corpus = study(tmp_path, generation(model(there, "m")), documents=4)
        assert run(corpus).counts()["accepted"] == 4
        documents = taken(corpus)
    assert sorted(d["provenance"]["attempt"] for d in documents) == [1, 2, 2, 3]
    retries = lines(corpus, "retry")
    assert [line["charged"] for line in retries] == ["no", "maybe", "no", "maybe"]
    assert len(lines(corpus, "sent")) == 4 + len(retries) == there.vendor.ledger.requests["send"]


def test_a_provider_that_stays_away_ends_its_lane_and_no_other(tmp_path, keyed):
    with run_provider("openai", behaviours=[Behaviour("busy", times=None)]) as away, run_provider("anthropic") as there:
        keyed(away)
        keyed(there, "anthropic")
        how = generation(model(away, "m"), model(there, "c", "anthropic"))
        corpus = study(tmp_path, how, documents=4, attempts=2)
        one = run(corpus)
        counts = {lane.model.model: one.counts(lane) for lane in one.lanes}
        assert away.vendor.ledger.requests["send"] == 2
    assert counts["c"]["accepted"] == 2
    assert counts["m"] == {"texts": 2, "accepted": 0, "to ask": 2, "given up": 0}
    assert "HTTP 503" in str(next(lane.error for lane in one.lanes if lane.model.model == "m"))
    assert len(taken(corpus)) == 2


def test_a_wrong_key_stops_before_the_second_text(tmp_path, keyed):
    with run_provider("openai", behaviours=["wrong key"]) as there:
        keyed(there)
        corpus = study(tmp_path, generation(model(there, "m")), documents=4)
        one = run(corpus)
        assert there.vendor.ledger.requests["send"] == 1
        assert "KEY_OF_OPENAI holds the right key" in str(one.lanes[0].error)
        assert run(corpus).counts()["accepted"] == 4


def test_a_long_request_to_be_left_alone_ends_the_lane(tmp_path, keyed):
    with run_provider("openai", behaviours=[Behaviour("rate limited", retry_after="3600")]) as there:
        keyed(there)
        corpus = study(tmp_path, generation(model(there, "m")), documents=2)
        assert "asks to be left alone for 3600 seconds" in str(run(corpus).lanes[0].error)


def test_keys_of_models_that_are_not_asked_are_never_touched(tmp_path, keyed, monkeypatch):
    with run_provider("openai") as there:
        keyed(there)
        monkeypatch.delenv("KEY_OF_ANTHROPIC", raising=False)
        how = generation(model(there, "large"), model(there, "c", "anthropic"))
        corpus = study(tmp_path, how, documents=4)
        with pytest.raises(UsageError, match="KEY_OF_ANTHROPIC is not set"):
            run(corpus)
        assert there.vendor.ledger.requests["send"] == 0
        assert run(corpus, models=["large"]).counts() == {"texts": 4, "accepted": 2, "to ask": 2, "given up": 0}
        with pytest.raises(UsageError, match=r"not generated by 'larg' \(did you mean large\?\)"):
            run(corpus, models=["larg"])


def test_a_promised_temperature_is_sent_to_all_and_a_default_to_none(tmp_path, keyed):
    for number, temperature in enumerate(("not sent", "0.7")):
        with run_provider("openai") as there, run_provider("google") as other:
            keyed(there)
            keyed(other, "google")
            how = generation(model(there, "m"), model(other, "g", "google"), temperature=temperature)
            corpus = study(tmp_path / str(number), how, documents=4)
            run(corpus)
            sent = {d["provenance"]["settings"].get("temperature") for d in taken(corpus)}
            bodies = [*there.vendor.asked, *(body.get("generationConfig", {}) for body in other.vendor.asked)]
        assert sent == ({None} if temperature == "not sent" else {"0.7"})
        assert all(("temperature" in body) == (temperature != "not sent") for body in bodies)


# --- money ---------------------------------------------------------------------------------------------------------


def far(monkeypatch):
    """Take servers on this machine for ones far away, that cost."""
    from penmark.shipped.generators.provider import Provider

    monkeypatch.setattr(Provider, "local", property(lambda self: False, lambda self, value: None), raising=False)


PRICE = {"read": "0", "written": "1000", "currency": "USD", "per": 1000}


def test_what_costs_needs_a_price_and_a_budget(tmp_path, keyed, monkeypatch):
    with run_provider("openai") as there:
        keyed(there)
        corpus = study(tmp_path, generation(model(there, "large")))
        far(monkeypatch)
        price = TokenPrice(read="1", written="1", currency="USD")
        with pytest.raises(UsageError, match="nobody said what tokens of large cost"):
            run(corpus, budget=Decimal(5))
        with pytest.raises(UsageError, match=r"cost money[^\0]*--plan"):
            run(corpus, prices={"large": price})
        with pytest.raises(UsageError, match=r"there is no model 'larg' \(did you mean large\?\)"):
            run(corpus, prices={"larg": price})
        assert there.vendor.ledger.requests["send"] == 0


def test_the_budget_stops_before_it_is_exceeded_and_counts_all_runs(tmp_path, keyed, monkeypatch):
    with run_provider("openai") as there:
        keyed(there)
        corpus = study(tmp_path, generation(model(there, "m", price=PRICE)), documents=8)
        far(monkeypatch)
        one = run(corpus, budget=Decimal(100))  # a text of 20 to 25 words is expected to cost 40 to 50
        spent, currency = one.spent
        assert currency == "USD"
        answers = lines(corpus, "answer")
        assert spent == sum(line["tokens_written"] for line in answers) <= 100
        assert 2 <= len(answers) < 5
        assert one.lanes[0].ended == "the budget does not suffice for the next text"
        assert run(corpus, budget=Decimal(100)).counts()["accepted"] == len(answers)
        assert run(corpus, budget=spent).counts()["accepted"] == len(answers)
        assert run(corpus, budget=Decimal(10**6)).counts()["accepted"] == 8


def test_nothing_is_sent_where_the_budget_is_too_small_for_one(tmp_path, keyed, monkeypatch):
    with run_provider("openai") as there:
        keyed(there)
        corpus = study(tmp_path, generation(model(there, "m", price=PRICE)))
        far(monkeypatch)
        run(corpus, budget=Decimal(2))
        assert there.vendor.ledger.requests["send"] == 0
        assert not lines(corpus, "sent")


# --- what must stand before ----------------------------------------------------------------------------------------


def test_before_the_promise_and_after_the_freeze_nothing_is_made(tmp_path, keyed):
    with run_provider("openai") as there:
        keyed(there)
        corpus = study(tmp_path, generation(model(there, "m")))
        seal = corpus.edition.seal("promise")
        kept = seal.read_bytes()
        seal.unlink()
        with pytest.raises(UsageError, match="not promised yet"):
            run(corpus)
        seal.write_bytes(kept)
        corpus.edition.seal("corpus").write_bytes(b"{}")
        with pytest.raises(UsageError, match="is frozen"):
            run(corpus)
        assert there.vendor.ledger.requests["send"] == 0


def test_human_arms_are_whole_before_anything_is_drawn_from_them(tmp_path, keyed):
    with run_provider("openai") as there:
        keyed(there)
        corpus = study(tmp_path, generation(model(there, "m")), human=3)
        path = corpus.place.documents("A")
        whole = path.read_bytes()
        path.write_bytes(b"".join(whole.splitlines(keepends=True)[:2]))
        with pytest.raises(UsageError) as caught:
            run(corpus)
        assert "2 of 3 documents in the arm A" in str(caught.value)
        path.write_bytes(whole)
        run(corpus)
        changed = whole.replace(b'"topic":"archive topic 0"', b'"topic":"another topic"')
        path.write_bytes(changed)
        (corpus.place.arm("C") / EDITION / "topics.jsonl").unlink()
        with pytest.raises(UsageError, match="not those with which the texts were begun"):
            run(corpus)


def test_an_id_that_another_arm_has_is_seen_before_anything_is_spent(tmp_path, keyed):
    with run_provider("openai") as there:
        keyed(there)
        corpus = study(tmp_path, generation(model(there, "m")), human=2)
        corpus.collect("A", archived(0), draft("C-001", "Some words that are long enough.", topic="x"), anew=True)
        with pytest.raises(UsageError, match="documents of another arm are called as those of C will be: C-001"):
            run(corpus)


def test_two_runs_at_once_are_refused(tmp_path, keyed):
    with run_provider("openai") as there:
        keyed(there)
        corpus = study(tmp_path, generation(model(there, "m")))
        with (
            begin_generation(corpus.place, corpus.protocol, "C"),
            pytest.raises(UsageError, match="in use by `penmark collect C`"),
        ):
            run(corpus)


def test_another_edition_has_exchanges_of_its_own(tmp_path, keyed):
    with run_provider("openai") as there:
        keyed(there)
        corpus = study(tmp_path, generation(model(there, "m")))
        run(corpus)
    assert sorted(p.name for p in (corpus.place.arm("C") / EDITION).iterdir()) == [
        "exchanges-0001.jsonl", "topics.jsonl"
    ]  # fmt: skip
    assert SEED not in (corpus.place.arm("C") / EDITION / "exchanges-0001.jsonl").read_bytes()


def test_a_broken_generator_leaves_its_request_in_doubt(tmp_path, keyed, monkeypatch):
    from penmark.shipped.generators.provider import Provider

    with run_provider("openai") as there:
        keyed(there)
        corpus = study(tmp_path, generation(model(there, "m"), attempts=2), documents=2)
        with monkeypatch.context() as broken:
            broken.setattr(Provider, "write", lambda self, prepared: 1 / 0)
            one = run(corpus)
        assert "the generator of m broke: ZeroDivisionError" in str(one.lanes[0].error)
        again = run(corpus)
        assert again.counts()["accepted"] == 2
        assert again.rejected() == {"in doubt": 1}
        prompts = [body["messages"][0]["content"] for body in there.vendor.asked]
    lost = lines(corpus, "sent")[0]
    assert lost["prompt"] not in prompts
    document = next(d for d in taken(corpus) if d["id"] == lost["document"])
    assert document["provenance"]["rejected_before"][0]["gates"] == ["in doubt"]


def test_the_protocol_may_let_a_lost_question_be_asked_again(tmp_path, keyed, monkeypatch):
    from penmark.shipped.generators.provider import Provider

    with run_provider("openai") as there:
        keyed(there)
        corpus = study(tmp_path, generation(model(there, "m")), documents=2, ask_again_in_doubt=True)
        with monkeypatch.context() as broken:
            broken.setattr(Provider, "write", lambda self, prepared: 1 / 0)
            run(corpus)
        assert run(corpus).rejected() == {}
    document = next(d for d in taken(corpus) if d["id"] == lines(corpus, "sent")[0]["document"])
    assert document["provenance"]["attempt"] == 2
    with pytest.raises(PenmarkError):
        list(exchange_log.read_exchanges(corpus.place.arm("C") / EDITION, "exchanges", "f" * 64))


def test_cut_at_any_line_it_goes_on_and_nothing_is_sent_twice(tmp_path, keyed):
    """As after a crash: the file ends after any of its lines, or in the middle of one."""
    with run_provider("openai", moody) as there:
        keyed(there)
        corpus = study(tmp_path, generation(model(there, "m"), attempts=9), documents=8, human=9)
        run(corpus)
        path = corpus.place.arm("C") / EDITION / "exchanges-0001.jsonl"
        whole = path.read_bytes().splitlines(keepends=True)
        for cut in range(len(whole)):
            torn = whole[cut][: len(whole[cut]) // 2] if cut % 2 else b""
            path.write_bytes(b"".join(whole[:cut]) + torn)
            assert run(corpus).counts()["accepted"] == 8
            requests = Counter((line["document"], line["turn"]) for line in lines(corpus, "sent"))
            assert set(requests.values()) == {1}
            before = [own for d in taken(corpus) for own in d["provenance"].get("rejected_before", [])]
            lost = cut > 0 and b'"kind":"sent"' in whole[cut - 1]
            assert [own["gates"] for own in before].count(["in doubt"]) == lost
            for file in corpus.place.arm("C").glob("*.*"):
                file.unlink()  # what was collected is another text in some of the rounds


def test_no_file_holds_the_key_even_where_the_provider_repeats_it(tmp_path, keyed):
    with run_provider("openai", behaviours=[Behaviour("echo key", times=None)]) as there:
        keyed(there)
        corpus = study(tmp_path, generation(model(there, "m")), documents=4)
        run(corpus)
        assert len(taken(corpus)) == 4
        key = there.keys["key"].encode()
    held = [path for path in tmp_path.rglob("*") if path.is_file()]
    assert any(b"[hidden]" in path.read_bytes() for path in held)
    assert not any(key in path.read_bytes() for path in held)
