"""The hundred texts of samples/gptzero_eval.csv, as they are."""

import pytest

from penmark.errors import FaultsError, PenmarkError, UsageError
from penmark.plugins import load_source


def test_fifty_and_fifty(shared):
    plugin = load_source("zippy")({"path": str(shared / "zippy")})
    human, ai = list(plugin.gather("human")), list(plugin.gather("ai"))
    assert [d.id for d in human] == [str(n) for n in range(51, 101)]
    assert [d.id for d in ai] == [str(n) for n in range(1, 51)]
    assert {d.provenance["kind"] for d in human} == {"archive"}
    assert {d.provenance["evidence_date"] for d in human} == {"2026-11-30"}
    assert {d.provenance["model"] for d in ai} >= {"ChatGPT", "GPT-3", "GPT-4"}
    assert [d.id for d in ai if d.claims] == ["17", "18"]
    assert sum(b"\n" in d.text for d in human + ai) == 48
    assert not any(b"\r" in d.text for d in human + ai)


def test_another_file_needs_its_date(tmp_path):
    file = tmp_path / "gptzero_eval.csv"
    file.write_text("Index,Label,Data Source,Document\n1,AI,GPT-4,hello\n2,Human,,x\n")
    with pytest.raises(PenmarkError, match="another file than the one of commit 37fe2b2"):
        list(load_source("zippy")({"path": str(tmp_path)}).gather("ai"))
    with pytest.raises(FaultsError, match=r":3: no Data Source"):
        list(load_source("zippy")({"path": str(tmp_path), "evidence_date": "2026-01-01"}).gather("ai"))
    with pytest.raises(UsageError, match="the arm C says no label"):
        list(load_source("zippy")({"path": str(file)}).gather("C"))
    with pytest.raises(UsageError, match=r"no gptzero_eval\.csv"):
        load_source("zippy")({"path": str(tmp_path / "none")})
