"""Light edits of drafts that models wrote here: asked for as the texts of an AI arm are, and measured against what came."""

from __future__ import annotations

import csv

import pytest
from tests.conftest import Corpus
from tests.stages.generate.written_study import archived, generation, model

from penmark import study as files
from penmark.cli import invoke
from penmark.errors import FaultsError
from penmark.format import canonical_json
from penmark.stages import screen
from penmark.testing.doubles.text_providers import ComposedReply, compose_reply, run_provider

HISTORY = canonical_json.sha256(b"the history")
EDITION = "BENCH-2026-Q4"
BUDGET = {"words_percent": "10", "sentences": "none added or deleted"}


@pytest.fixture
def there(monkeypatch):
    def bad(prompt, number):
        return ComposedReply("") if number == 1 else compose_reply(prompt)

    with run_provider("openai", bad) as double:
        monkeypatch.setenv("KEY_OF_OPENAI", double.keys["key"])
        yield double


@pytest.fixture
def drafted(tmp_path, there, capsys):
    """A study whose arm C2 has three drafts; the first that was asked for was rejected."""
    how = generation(model(there, "m"), topics_from=["A"], gates=["empty", "refused"])
    corpus = Corpus(
        tmp_path / "study",
        Corpus.arm("A", "human", 6),
        Corpus.arm(
            "C2", "mixed", 3, persists=False, budget=BUDGET, generation=how,
            evidence={"kinds": ["edited"], "grades": ["witnessed"]},
        ),
    )  # fmt: skip
    corpus.collect("A", *(archived(number) for number in range(6)))
    assert invoke(["-C", str(corpus.place.root), "collect", "C2"]) == 0
    assert capsys.readouterr().err.endswith(f"C2: 3 drafts to edit in corpus/C2/{EDITION}/drafts\n")
    return corpus


def drafts(corpus):
    folder = corpus.place.arm("C2") / EDITION / "drafts"
    return {path.stem: path.read_text() for path in sorted(folder.iterdir())}


def edit(corpus, rows):
    """Collect edits from a table."""
    path = corpus.place.root.parent / "edits.csv"
    with path.open("w", newline="") as file:
        table = csv.DictWriter(file, sorted({name for row in rows for name in row}))
        table.writeheader()
        table.writerows(rows)
    return invoke(["-C", str(corpus.place.root), "collect", "C2", "--path", str(path)])


def row(name, text, **further):
    return {
        "id": name, "text": text, "kind": "edited", "grade": "witnessed", "editor": "E", "history_sha256": HISTORY
    } | further  # fmt: skip


def test_an_edit_is_measured_against_the_draft_that_came(drafted, capsys):
    before = drafts(drafted)
    assert list(before) == ["C2-001", "C2-002", "C2-003"]
    assert not drafted.place.documents("C2").exists()  # a draft is no document
    edits = {name: text.replace(text.split()[3], "zebra", 1) for name, text in before.items()}
    assert edit(drafted, [row(name, text) for name, text in edits.items()]) == 0
    made = {value["id"]: value for value in drafted.documents("C2")}
    rejected = 0
    for name, document in made.items():
        own = document["provenance"]
        assert own["draft_sha256"] == canonical_json.sha256(before[name].encode())
        assert own["words_changed"] == 1
        draft = own["draft"]
        assert (draft["grade"], draft["provider"], draft["model"]) == ("recorded", "openai", "m")
        assert draft["style"] in ("plain", "styled")
        assert document["topic"] in draft["prompt"]
        assert all(draft[each] for each in ("request_sha256", "response_sha256", "finish_reason", "word_target"))
        rejected += len(draft.get("rejected_before", []))
        assert (drafted.place.arm("C2") / f"{own['draft_sha256']}.txt").read_text() == before[name]
    assert rejected == 1
    found = screen.screen_corpus(drafted.place, drafted.edition, drafted.protocol)
    assert not [each for each in found if each.severity == "error"]
    assert "1 texts that models were asked for are not here: 1 empty" in [each.message for each in found]
    capsys.readouterr()
    assert edit(drafted, [row(name, text) for name, text in edits.items()]) == 0
    assert capsys.readouterr().out == "C2: 3 documents (0 added, 0 updated, 3 unchanged)\n"


def test_an_edit_of_another_draft_is_refused(drafted):
    text = drafts(drafted)["C2-002"]
    rows = [
        row("C2-001", text, draft="Another draft."),
        row("C2-002", text, model="another", provider="openai"),
        row("C2-009", text),
    ]
    with pytest.raises(FaultsError) as raised:
        edit(drafted, rows)
    assert [fault.fact for fault in raised.value.faults] == [
        "is an edit of another draft than the one on record",
        "model is another; the exchange of its draft says m",
        "no draft of the arm is called C2-009 (did you mean C2-003?)",
    ]
    assert not drafted.place.documents("C2").exists()


def test_a_draft_that_a_person_refuses_is_replaced(drafted):
    before = drafts(drafted)
    assert invoke(["-C", str(drafted.place.root), "collect", "C2", "--refused", "C2-002", "--by", "Ada"]) == 0
    after = drafts(drafted)
    assert list(after) == list(before)
    assert [name for name in before if before[name] != after[name]] == ["C2-002"]
    rows = files.read_json_lines(drafted.place.rejected("C2", EDITION))
    assert sorted(value["gates"] for _, value in rows) == [["empty"], ["refused"]]
    with pytest.raises(FaultsError, match="another draft than the one on record"):
        edit(drafted, [row("C2-002", before["C2-002"], draft=before["C2-002"])])
