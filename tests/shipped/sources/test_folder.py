"""Folders: a metadata file and the text files, and neither without the other."""

import json

import pytest

from penmark.errors import FaultsError, UsageError
from penmark.plugins import load_source


def test_files_and_their_metadata(tmp_path):
    (tmp_path / "a.txt").write_bytes(b"\xef\xbb\xbfone\r\n")
    (tmp_path / "b.txt").write_bytes(b"two")
    (tmp_path / "metadata.csv").write_text("id,file,register,evidence_date\nx,a.txt,news,2020-01-01\nb,,,2020-01-02\n")
    one, two = load_source("folder")({"path": str(tmp_path), "kind": "archive", "grade": "released"}).gather("A")
    assert (one.id, one.text, one.fields) == ("x", b"\xef\xbb\xbfone\r\n", {"register": "news"})
    assert one.provenance == {"evidence_date": "2020-01-01", "kind": "archive", "grade": "released"}
    assert (two.id, two.text) == ("b", b"two")


def test_without_metadata_the_names_are_the_ids(tmp_path):
    (tmp_path / "007.txt").write_text("one")
    (one,) = load_source("folder")({"path": str(tmp_path), "kind": "archive"}).gather("A")
    assert (one.id, one.text, one.provenance) == ("007", b"one", {"kind": "archive"})


def test_what_is_missing_on_either_side_is_told(tmp_path):
    (tmp_path / "extra.txt").write_text("x")
    (tmp_path / "metadata.jsonl").write_text('{"id": "gone"}\n')
    plain = load_source("folder")({"path": str(tmp_path)})
    with pytest.raises(FaultsError) as caught:
        list(plain.gather("A"))
    assert "there is no file gone.txt" in str(caught.value)
    assert "extra.txt: is not named in metadata.jsonl" in str(caught.value)
    (tmp_path / "metadata.jsonl").write_text('{"id": "extra"}\n')
    assert [d.id for d in plain.gather("A")] == ["extra"]
    (tmp_path / "other.txt").write_text("x")
    lax = load_source("folder")({"path": str(tmp_path), "unlisted": "ignored"})
    assert [d.id for d in lax.gather("A")] == ["extra"]


def test_folders_that_cannot_be_read(tmp_path):
    with pytest.raises(UsageError, match="no such folder"):
        load_source("folder")({"path": str(tmp_path / "none")})
    with pytest.raises(FaultsError, match=r"neither \.txt files nor a metadata file"):
        list(load_source("folder")({"path": str(tmp_path)}).gather("A"))
    for name in ("metadata.csv", "metadata.json"):
        (tmp_path / name).write_text("")
    with pytest.raises(UsageError, match=r"several metadata files: metadata\.csv, metadata\.json"):
        load_source("folder")({"path": str(tmp_path)})


def test_nothing_that_may_be_a_text_is_left_out_without_a_word(tmp_path):
    for name in ("one.txt", "two.TXT", "three.md", "sub/four.txt", "five.html", "picture.png", ".git/x.txt"):
        (tmp_path / name).parent.mkdir(exist_ok=True)
        (tmp_path / name).write_text("Some words.")
    plugin = load_source("folder")({"path": str(tmp_path)})
    with pytest.raises(FaultsError) as caught:
        list(plugin.gather("A"))
    assert [str(fault.place).removeprefix(f"{tmp_path}/") for fault in caught.value.faults] == [
        "five.html",
        "sub/four.txt",
        "three.md",
        "two.TXT",
    ]
    assert "lies in a folder within the folder, and is not taken" in str(caught.value)
    assert plugin.notes == ["1 file not taken: picture.png"]
    lax = load_source("folder")({"path": str(tmp_path), "unlisted": "ignored"})
    assert [draft.id for draft in lax.gather("A")] == ["one"]
    (tmp_path / "metadata.csv").write_text("id,file\n1,one.txt\n2,two.TXT\n3,three.md\n4,sub/four.txt\n5,five.html\n")
    assert [draft.id for draft in load_source("folder")({"path": str(tmp_path)}).gather("A")] == list("12345")


POINTER = f"version https://git-lfs.github.com/spec/v1\noid sha256:{'4' * 64}\nsize 5124\n"


def test_a_pointer_of_git_lfs_is_no_text_and_no_table(tmp_path):
    texts = tmp_path / "texts"
    texts.mkdir()
    (texts / "a.txt").write_text(POINTER)
    (tmp_path / "table.csv").write_text(POINTER)
    (tmp_path / "cells.json").write_text(json.dumps([{"id": "1", "text": POINTER}]))
    for name, path in (("folder", texts), ("table", tmp_path / "table.csv"), ("table", tmp_path / "cells.json")):
        with pytest.raises(FaultsError, match=r"is a pointer of Git LFS.*\n.*git lfs pull"):
            list(load_source(name)({"path": str(path)}).gather("A"))


def test_rows_that_where_leaves_out_are_counted(tmp_path):
    (tmp_path / "t.csv").write_text("id,text,split\n1,A text.,train\n2,A text.,test\n3,A text.,test\n")
    plugin = load_source("table")({"path": str(tmp_path / "t.csv"), "where.split": "train"})
    assert [draft.id for draft in plugin.gather("A")] == ["1"]
    assert plugin.notes == ["2 rows left out: where.split=train"]
