"""The ten sets of Liang et al. 2023, as they are."""

import hashlib
import shutil
from collections import Counter

import pytest

from penmark.errors import FaultsError, PenmarkError, UsageError
from penmark.plugins import load_source

SIZES = {
    "TOEFL_real_91": 91,
    "HewlettStudentEssay_real_88": 88,
    "CollegeEssay_real_70": 70,
    "CS224N_real_145": 145,
    "TOEFL_gpt4polished_91": 91,
    "HewlettStudentEssay_GPTsimplify_88": 88,
    "CollegeEssay_gpt3_31": 31,
    "CollegeEssay_gpt3PromptEng_31": 31,
    "CS224N_gpt3_145": 145,
    "CS224N_gpt3PromptEng_145": 145,
}


@pytest.fixture(scope="module")
def sets(shared):
    plugin = load_source("liang2023")({"path": str(shared / "liang2023")})
    return {name: list(plugin.gather(name)) for name in SIZES}


def test_sizes_ids_and_kinds(sets):
    assert {name: len(drafts) for name, drafts in sets.items()} == SIZES
    assert len({d.id for drafts in sets.values() for d in drafts}) == 925
    assert sets["TOEFL_real_91"][0].id == "TOEFL_real_91-001"
    kinds = {name: {d.provenance["kind"] for d in drafts} for name, drafts in sets.items()}
    assert {name for name, kind in kinds.items() if kind == {"archive"}} == {n for n in SIZES if "_real_" in n}
    assert {n for n, kind in kinds.items() if kind == {"generated"}} == {n for n in SIZES if "_gpt3" in n}


def test_the_evidence_is_the_papers_date_and_the_files_digest(sets):
    one = sets["CS224N_real_145"][0].provenance
    assert (one["grade"], one["evidence_date"]) == ("stated", "2023-07-14")
    assert one["evidence_sha256"].startswith("fa62fd0355b7")
    assert "1d05ed8" in one["archive"]


def test_a_rewritten_text_names_the_text_of_its_position(sets):
    for name, origin in (
        ("TOEFL_gpt4polished_91", "TOEFL_real_91"),
        ("HewlettStudentEssay_GPTsimplify_88", "HewlettStudentEssay_real_88"),
    ):
        for made, parent in zip(sets[name], sets[origin], strict=True):
            assert made.provenance["parent"] == parent.id
            assert made.provenance["parent_sha256"] == hashlib.sha256(parent.text).hexdigest()
        held = sum(
            p.text.decode().strip() in m.provenance["prompt"] for m, p in zip(sets[name], sets[origin], strict=True)
        )
        assert held == {"TOEFL_gpt4polished_91": 79, "HewlettStudentEssay_GPTsimplify_88": 88}[name]


def test_prompts_models_and_claims_are_what_the_files_say(sets):
    lacking = Counter(name for name, drafts in sets.items() for d in drafts if "prompt" not in d.provenance)
    assert set(lacking) == {"CS224N_gpt3_145", *(n for n in SIZES if "_real_" in n)}
    second = sets["CS224N_gpt3PromptEng_145"]
    assert {d.provenance["model"] for d in second} == {"gpt3"}
    assert {d.claims["claimed_model"] for d in second} == {"GPT4"}
    assert all(d.provenance["note"].endswith("to be rewritten.") for d in second)
    assert {d.claims["claimed_kind"] for d in sets["TOEFL_gpt4polished_91"]} == {"AI-Generated"}
    assert Counter(d.fields["source"] for d in sets["CollegeEssay_real_70"])["Harvard"] == 13


def test_another_file_is_not_the_published_one(shared, tmp_path):
    name = "CollegeEssay_gpt3_31"
    folder = tmp_path / "GPT_Data" / name
    shutil.copytree(shared / "liang2023" / "GPT_Data" / name, folder)
    data = (folder / "data.json").read_bytes()
    (folder / "data.json").write_bytes(data.replace(b"When I was", b"When we were", 1))
    with pytest.raises(PenmarkError, match=r"another file than the published one[^\0]*evidence_date=") as caught:
        list(load_source("liang2023")({"path": str(tmp_path)}).gather(name))
    assert str(folder / "data.json") in str(caught.value)
    own = load_source("liang2023")({"path": str(tmp_path), "evidence_date": "2026-01-01"})
    assert len(list(own.gather(name))) == 31
    (folder / "name.json").write_text("[]")
    with pytest.raises(FaultsError, match=r"name\.json: is not \{name, kind, model\}"):
        list(own.gather(name))


def test_unknown_sets_and_missing_folders(tmp_path):
    plugin = load_source("liang2023")({"path": str(tmp_path)})
    with pytest.raises(UsageError, match=r"no set TOEFL_real \(did you mean TOEFL_real_91\?\)"):
        list(plugin.gather("TOEFL_real"))
    with pytest.raises(PenmarkError, match="there is no such file"):
        list(plugin.gather("TOEFL_real_91"))
