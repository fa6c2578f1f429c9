"""Published data sets: the file by its digest, each text with the date that the set, or its keeper, says."""

import collections
import csv
import hashlib
import json

import pytest
from tests.shipped.sources.web_archive_server import drained

from penmark.corpus import provenance
from penmark.errors import FaultsError, PenmarkError, UsageError
from penmark.plugins import load_source
from penmark.records import Arm
from penmark.shipped.sources.recipe import list_recipes, load_recipe
from penmark.stages.collect.document_builder import build_document

ARCHIVE = {"archive": "doi:10.1234/x", "licence": "CC0"}


def gather(path, arm="A", **options):
    return list(
        load_source("dataset")({"path": str(path), **{k.replace("__", "."): v for k, v in options.items()}}).gather(arm)
    )


def sha256(path):
    return hashlib.sha256(path.read_bytes()).hexdigest()


def arm(grades, truth="human", **evidence):
    return Arm.model_validate(
        {
            "name": "A",
            "title": "A",
            "truth": truth,
            "documents": 1,
            "headline": False,
            "evidence": {"kinds": ("archive",), "grades": grades, "before": "2022-01-01"} | evidence,
            "filled": "by the test",
            "persists": True,
        }
    )


# --- the articles of auditGPTZero ----------------------------------------------------------------------------------


@pytest.fixture(scope="module")
def articles(shared):
    path = shared / "dated-articles" / "corpusComplet.csv"
    return path, {
        part: gather(path, recipe="dated-articles", part=part) for part in load_recipe("dated-articles").parts
    }


def test_the_900_rows_are_what_the_recipe_says(articles):
    path, parts = articles
    with path.open(encoding="utf-8", newline="") as file:
        rows = list(csv.DictReader(file))
    assert {name: len(drafts) for name, drafts in parts.items()} == {
        "human": 200,
        "translated": 100,
        "half": 300,
        "ai": 300,
    }
    everything = [draft for drafts in parts.values() for draft in drafts]
    assert len({draft.id for draft in everything}) == len(rows) == 900
    by_id = {f"dated-articles-{n:06d}": row for n, row in enumerate(rows, 1)}
    assert all(draft.text.decode() == by_id[draft.id]["texte_"] for draft in everything)
    languages = {name: collections.Counter(d.fields["language"] for d in drafts) for name, drafts in parts.items()}
    assert languages == {
        "human": {"fr": 100, "en": 100},
        "translated": {"en": 100},
        "half": {"fr": 100, "en": 200},
        "ai": {"fr": 100, "en": 200},
    }
    # A translated article has the address of the French one; halves and AI texts those of others.
    address = {name: {by_id[d.id]["url"] for d in drafts} for name, drafts in parts.items()}
    assert address["translated"] == {by_id[d.id]["url"] for d in parts["human"] if d.fields["language"] == "fr"}
    assert not address["human"] & (address["half"] | address["ai"])
    cut = {name: sum(d.text.endswith(b" [...]") for d in drafts) for name, drafts in parts.items()}
    assert cut == {"human": 200, "translated": 100, "half": 71, "ai": 0}
    assert sum(d.text.startswith(b" ") for d in parts["ai"]) == 297
    alone = [by_id[d.id]["corpus"][0] for d in parts["half"] if b" | " not in d.text]
    assert alone == ["3"] * 71
    years = collections.Counter(by_id[d.id]["date"][:4] for d in parts["human"])
    assert (sum(n for year, n in years.items() if year < "2022"), years["2023"]) == (103, 20)
    (twin,) = [n for n in collections.Counter(d.text for d in parts["human"]).values() if n > 1]
    assert twin == 16


def test_exactly_the_human_rows_dated_before_2022_pass_where_stated_is_accepted(articles):
    path, parts = articles
    with path.open(encoding="utf-8", newline="") as file:
        rows = {f"dated-articles-{n:06d}": row for n, row in enumerate(csv.DictReader(file), 1)}
    documents = [
        build_document(d, arm(("stated",)), lambda name: b"").document for drafts in parts.values() for d in drafts
    ]
    human = {
        name
        for name, row in rows.items()
        if row["rédigé_par"] == "1 journaliste" and row["corpus"][0] in "12" and row["date"] < "2022-01-01"
    }
    by_corpus = collections.Counter(rows[name]["corpus"][0] for name in human)
    assert by_corpus == {"1": 53, "2": 50}  # 53 more rows are machine translations of the first
    listed = (sha256(path),)
    accepting = (arm(("archived", "released", "stated")), arm(("archived", "released"), stated=listed))
    for each in accepting:
        assert {d.id for d in documents if not provenance.list_shortfalls(d, each)} == human
    for each in (arm(("archived", "released")), arm(("archived", "released"), stated=("0" * 64,))):
        assert not [d.id for d in documents if not provenance.list_shortfalls(d, each)]


def test_only_those_of_before(articles):
    path, _ = articles
    plugin = load_source("dataset")(
        {"path": str(path), "recipe": "dated-articles", "part": "human", "before": "2022-01-01"}
    )
    drafts = list(plugin.gather("A"))
    assert len(drafts) == 103
    assert max(draft.provenance["evidence_date"] for draft in drafts) == "2021-12-21"
    assert plugin.notes == ["97 texts left out: not before 2022-01-01"]


def test_a_file_that_changed(articles, tmp_path):
    path, _ = articles
    other = tmp_path / "corpusComplet.csv"
    other.write_bytes(path.read_bytes().replace(b"2022-", b"2021-", 1))
    with pytest.raises(PenmarkError, match=r"is another file than corpusComplet\.csv of GitHub .*SHA-256"):
        gather(other, recipe="dated-articles", part="human")
    drafts = gather(other, recipe="dated-articles", part="human", sha256=sha256(other))
    assert {d.provenance["evidence_sha256"] for d in drafts} == {sha256(other)}


def test_the_articles_found_again(articles):
    path, parts = articles
    anyone = load_source("dataset")({"path": str(path)})
    for draft in parts["human"][:3]:
        locator = dict(provenance.parse_row(draft.provenance, "x").locator)
        assert anyone.again(locator) == (sha256(path), draft.provenance["evidence_date"], draft.text, "")
    with pytest.raises(PenmarkError, match="holds no row none"):
        anyone.again(locator | {"row": "none"})


# --- recipes -------------------------------------------------------------------------------------------------------


@pytest.mark.parametrize("name", list_recipes())
def test_every_recipe_says_what_one_needs(name):
    known = load_recipe(name)
    assert known.name == name
    assert len(known.where) > 40
    assert known.flaws
    for part in known.parts.values():
        fields = known.fields | part.fields
        assert fields["kind"] in ("archive", "generated", "transformed")
        assert fields.get("grade") == (None if fields["kind"] == "archive" else "stated")


def test_recipes_on_small_files_of_their_form(tmp_path):
    raid = tmp_path / "train_none.csv"
    with raid.open("w", newline="") as file:
        out = csv.writer(file)
        out.writerow(
            [
                "id",
                "source_id",
                "model",
                "decoding",
                "repetition_penalty",
                "attack",
                "domain",
                "title",
                "prompt",
                "generation",
            ]
        )
        out.writerow(["h1", "h1", "human", "", "", "none", "abstracts", "T", "", "A human abstract."])
        out.writerow(["m1", "h1", "gpt4", "greedy", "no", "none", "news", "T", "Write news.", "AI news."])
        out.writerow(["m2", "h1", "gpt4", "greedy", "no", "synonym", "news", "T", "Write news.", "AI tidings."])
    (one,) = gather(raid, "human", recipe="raid")
    assert (one.id, one.text) == ("h1", b"A human abstract.")
    assert (one.fields["register"], one.fields["source"]) == ("academic", "abstracts")
    assert (one.provenance["evidence_date"], one.provenance["grade"]) == ("2024-05-13", "stated")
    (one,) = gather(raid, "ai", recipe="raid")
    made = provenance.parse_row(one.provenance, "x")
    assert (made.model, made.settings, made.matched) == (
        "gpt4",
        {"decoding": "greedy", "repetition_penalty": "no"},
        "h1",
    )

    hc3 = tmp_path / "all.jsonl"
    row = {
        "question": "Why?",
        "human_answers": ["Because; of this.", "No."],
        "chatgpt_answers": ["As…"],
        "source": "finance",
    }
    hc3.write_text(json.dumps(row) + "\n" + json.dumps(row | {"human_answers": []}) + "\n")
    found = gather(hc3, "human", recipe="hc3")
    assert [(d.id, d.text, d.fields["topic"], d.fields["register"]) for d in found] == [
        ("hc3-000001-1", b"Because; of this.", "Why?", "casual"),
        ("hc3-000001-2", b"No.", "Why?", "casual"),
    ]
    assert [d.provenance["prompt"] for d in gather(hc3, "ai", recipe="hc3")] == ["Why?", "Why?"]

    folder = tmp_path / "ghost"
    for name in ("reuter/human/Ann/1.txt", "reuter/human/Ann/logprobs/1-x.txt", "essay/human/7.txt", "essay/gpt/7.txt"):
        (folder / name).parent.mkdir(parents=True, exist_ok=True)
        (folder / name).write_text(f"Text of {name}.")
    (one,) = gather(folder, "news", recipe="ghostbuster")
    assert (one.id, one.fields["author"]) == ("reuter:human:Ann:1.txt", "Ann")
    line = f"{hashlib.sha256(one.text).hexdigest()}  reuter/human/Ann/1.txt\n"
    assert one.provenance["evidence_sha256"] == hashlib.sha256(line.encode()).hexdigest()
    assert [d.id for d in gather(folder, "ai", recipe="ghostbuster")] == ["essay:gpt:7.txt"]
    locator = dict(provenance.parse_row(one.provenance, "x").locator)
    assert load_source("dataset")({"path": str(folder)}).again(locator).text == one.text

    essays = tmp_path / "persuade.csv"
    essays.write_text("essay_id_comp,full_text,prompt_name,ell_status\nE1,An essay.,Cars,Yes\nE2,Another.,Cars,\n")
    found = gather(essays, "human", recipe="persuade", evidence_date="2023-08-01")
    assert [d.fields.get("subgroup") for d in found] == ["non-native", None]
    found = gather(essays, "human", recipe="persuade")
    with pytest.raises(FaultsError, match="no evidence_date"):  # nobody dates it
        build_document(found[0], arm(("stated",)), lambda name: b"")
    contest = {"deposited_on": "2021-12-14", "sha256": sha256(essays), "archive": "a contest's page"}
    (one, _) = gather(essays, "human", recipe="persuade", **contest)
    assert (one.provenance["grade"], one.provenance["evidence_date"]) == ("released", "2021-12-14")


def test_unknown_recipes_and_parts(tmp_path):
    (tmp_path / "x.csv").write_text("a,b\n1,2\n")
    with pytest.raises(UsageError, match=r"did you mean raid\?"):
        gather(tmp_path / "x.csv", recipe="raidd")
    with pytest.raises(UsageError, match=r"raid has no part A[\s\S]*human: the human text of each source"):
        gather(tmp_path / "x.csv", recipe="raid")
    with pytest.raises(FaultsError, match=r"column\.text: no row has a column 'generation'"):
        gather(tmp_path / "x.csv", "human", recipe="raid")


# --- data sets without a recipe ------------------------------------------------------------------------------------


def test_a_deposit_dates_every_text_in_it(tmp_path):
    path = tmp_path / "set.csv"
    path.write_text("id,text,date,genre\n1,One.,2019-01-01,essay\n2,Two.,2020-01-01,essay\n")
    digest = sha256(path)
    options = {**ARCHIVE, "sha256": digest, "deposited_on": "2021-03-01", "column__register": "genre"}
    one, two = gather(path, column__evidence_date="date", **options)
    assert (one.fields, two.text) == ({"register": "essay"}, b"Two.")
    record = provenance.parse_row(one.provenance, "x")
    assert (record.grade, record.evidence_date, record.evidence_sha256) == ("released", "2021-03-01", digest)
    assert record.source == "doi:10.1234/x: 1"
    assert load_source("dataset")({"path": str(path)}).again(dict(record.locator)) == (
        digest,
        "2021-03-01",
        b"One.",
        "",
    )
    del options["deposited_on"]
    one, two = gather(path, column__evidence_date="date", **options)
    assert [(d.provenance["grade"], d.provenance["evidence_date"]) for d in (one, two)] == [
        ("stated", "2019-01-01"),
        ("stated", "2020-01-01"),
    ]


def test_what_a_data_set_must_say(tmp_path):
    path = tmp_path / "set.csv"
    path.write_text("id,text\n1,One.\n")
    with pytest.raises(UsageError, match="needs the option `sha256`"):
        gather(path, archive="x")
    with pytest.raises(UsageError, match="the grade of a data set follows from its date"):
        gather(path, grade="archived")
    with pytest.raises(PenmarkError, match="is another file"):
        gather(path, sha256="0" * 64, **ARCHIVE)
    with pytest.raises(UsageError, match="proves a date only for the file that it states the digest of"):
        gather(path, "human", recipe="raid", deposited_on="2021-01-01")


def test_ten_thousand_documents_with_one_broken_row(tmp_path):
    path = tmp_path / "set.jsonl"
    lines = [json.dumps({"id": f"d{n}", "text": f"Text {n}."}) for n in range(10_000)]
    lines[7_777] = lines[7_777][:-4]
    path.write_text("\n".join(lines) + "\n")
    options = {"path": str(path), "sha256": sha256(path), **ARCHIVE}
    got, faults = drained(load_source("dataset")(options).gather("A"))
    assert [fault.place for fault in faults] == [f"{path}:7778"]
    assert faults[0].fact.startswith("is not valid JSON")
    assert len(got) == 9_999


# --- C43: what a page says of itself -------------------------------------------------------------------------------


def test_a_page_that_was_modified_later_is_no_proof(tmp_path):
    path = tmp_path / "pages.csv"
    path.write_text(
        "id,text,grade,evidence_date,modified\n"
        "1,One.,stated,2019-05-01,2024-02-02\n"
        "2,Two.,stated,2019-05-01,2019-04-30T10:00:00Z\n"
        "3,Three.,archived,2020-05-01,2024-02-02\n"
    )
    constants = {"kind": "archive", "source": "https://example.org", "archive": "x", "licence": "CC0"}
    got, faults = drained(load_source("table")({"path": str(path), **constants}).gather("A"))
    assert [str(fault).split("\n")[0].rpartition("pages.csv")[2] for fault in faults] == [
        ":2: is said to be of 2019-05-01, and was modified on 2024-02-02"
    ]
    assert [(draft.id, "modified" in draft.provenance) for draft in got] == [("2", False), ("3", False)]
