"""Folders: a metadata file and the text files, and neither without the other."""

import pytest

from penmark.errors import FaultsError, UsageError
from penmark.plugins import source


def test_files_and_their_metadata(tmp_path):
    (tmp_path / "a.txt").write_bytes(b"\xef\xbb\xbfone\r\n")
    (tmp_path / "b.txt").write_bytes(b"two")
    (tmp_path / "metadata.csv").write_text("id,file,register,evidence_date\nx,a.txt,news,2020-01-01\nb,,,2020-01-02\n")
    one, two = source("folder")({"path": str(tmp_path), "kind": "archive", "grade": "released"}).gather("A")
    assert (one.id, one.text, one.fields) == ("x", b"\xef\xbb\xbfone\r\n", {"register": "news"})
    assert one.provenance == {"evidence_date": "2020-01-01", "kind": "archive", "grade": "released"}
    assert (two.id, two.text) == ("b", b"two")


def test_without_metadata_the_names_are_the_ids(tmp_path):
    (tmp_path / "007.txt").write_text("one")
    (one,) = source("folder")({"path": str(tmp_path), "kind": "archive"}).gather("A")
    assert (one.id, one.text, one.provenance) == ("007", b"one", {"kind": "archive"})


def test_what_is_missing_on_either_side_is_told(tmp_path):
    (tmp_path / "extra.txt").write_text("x")
    (tmp_path / "metadata.jsonl").write_text('{"id": "gone"}\n')
    plain = source("folder")({"path": str(tmp_path)})
    with pytest.raises(FaultsError) as caught:
        list(plain.gather("A"))
    assert "there is no file gone.txt" in str(caught.value)
    assert "extra.txt: is not named in metadata.jsonl" in str(caught.value)
    (tmp_path / "metadata.jsonl").write_text('{"id": "extra"}\n')
    assert [d.id for d in plain.gather("A")] == ["extra"]
    (tmp_path / "other.txt").write_text("x")
    lax = source("folder")({"path": str(tmp_path), "unlisted": "ignored"})
    assert [d.id for d in lax.gather("A")] == ["extra"]


def test_folders_that_cannot_be_read(tmp_path):
    with pytest.raises(UsageError, match="no such folder"):
        source("folder")({"path": str(tmp_path / "none")})
    with pytest.raises(FaultsError, match=r"neither \.txt files nor a metadata file"):
        list(source("folder")({"path": str(tmp_path)}).gather("A"))
    for name in ("metadata.csv", "metadata.json"):
        (tmp_path / name).write_text("")
    with pytest.raises(UsageError, match=r"several metadata files: metadata\.csv, metadata\.json"):
        source("folder")({"path": str(tmp_path)})
