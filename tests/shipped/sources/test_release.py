"""Texts inside a released file: the registry's date counts, those inside are its maker's word."""

import datetime
import hashlib
import io
import tarfile
import zipfile

import pytest
from tests.shipped.sources.web_archive_server import Archive, served

from penmark.corpus import provenance
from penmark.errors import FaultsError, PenmarkError, UsageError
from penmark.plugins import load_source

WHEEL = {"pkg/notes.md": b"Notes.\r\n", "pkg/code.py": b"x = 1", "README.txt": "Für alle.\n".encode()}


def packed(tmp_path, name="pkg-1.0-py3-none-any.whl", members=None, day=(2020, 5, 1)):
    path = tmp_path / name
    if name.endswith((".whl", ".zip")):
        with zipfile.ZipFile(path, "w", zipfile.ZIP_DEFLATED) as file:
            for each, raw in (members or WHEEL).items():
                file.writestr(zipfile.ZipInfo(each, (*day, 12, 0, 0)), raw)
        return path
    with tarfile.open(path, f"w:{name.rpartition('.')[2]}") as file:
        for each, raw in (members or WHEEL).items():
            info = tarfile.TarInfo(each)
            info.size = len(raw)
            info.mtime = datetime.datetime(*day, 12, tzinfo=datetime.UTC).timestamp() if day[0] > 1980 else 0
            file.addfile(info, io.BytesIO(raw))
        link = tarfile.TarInfo("link.md")
        link.type, link.linkname = tarfile.SYMTYPE, "/etc/passwd"
        file.addfile(link)
    return path


def gather(path, **options):
    given = {"path": str(path), "licence": "MIT"} | options
    return {draft.id: draft for draft in load_source("release")(given).gather("A")}


REGISTRY = {"archive": "the registry of packages, release 1.0", "released_on": "2020-06-01"}


@pytest.mark.parametrize("name", ["pkg-1.0-py3-none-any.whl", "pkg-1.0.tar.gz", "pkg-1.0.tar.xz"])
def test_a_release_with_a_registrys_date(tmp_path, name):
    path = packed(tmp_path, name)
    found = gather(path, **REGISTRY, register="professional", address="https://files.example.org/pkg")
    assert {name: draft.text for name, draft in found.items()} == {
        "pkg:notes.md": b"Notes.\r\n",
        "README.txt": "Für alle.\n".encode(),
    }
    one = found["pkg:notes.md"]
    assert one.fields == {"register": "professional"}
    assert provenance.parse_row(one.provenance, "x").model_dump() == {
        "kind": "archive",
        "grade": "released",
        "source": f"{name}: pkg/notes.md",
        "archive": "the registry of packages, release 1.0",
        "evidence_date": "2020-06-01",
        "evidence_sha256": hashlib.sha256(path.read_bytes()).hexdigest(),
        "licence": "MIT",
        "locator": {
            "by": "release",
            "file": name,
            "member": "pkg/notes.md",
            "member_date": "2020-05-01",
            "released_on": "2020-06-01",
            "address": "https://files.example.org/pkg",
        },
    }


def test_without_a_registry_the_newest_date_inside_is_only_stated(tmp_path):
    one = gather(packed(tmp_path))["README.txt"]
    assert (one.provenance["grade"], one.provenance["evidence_date"]) == ("stated", "2020-05-01")
    for name, day in (("a.whl", (1980, 1, 1)), ("b.tar.gz", (1970, 1, 1))):
        undated = packed(tmp_path, name, day=day)
        with pytest.raises(FaultsError, match="none of its members has a date, and no registry's date is given"):
            gather(undated)
        assert gather(undated, **REGISTRY)["README.txt"].provenance["evidence_date"] == "2020-06-01"
    with pytest.raises(UsageError, match="who keeps that date"):
        gather(undated, released_on="2020-01-01")
    with pytest.raises(UsageError, match="is not a date"):
        gather(undated, archive="x", released_on="June 2020")


def test_a_member_newer_than_its_release_is_a_fault(tmp_path):
    path = packed(tmp_path, day=(2024, 2, 2))
    with pytest.raises(FaultsError) as caught:
        gather(path, **REGISTRY)
    assert [fault.fact for fault in caught.value.faults] == [
        "says that it was changed on 2024-02-02, after the release of 2020-06-01"
    ] * 2


def test_another_file_than_the_released_one(tmp_path):
    path = packed(tmp_path)
    digest = hashlib.sha256(path.read_bytes()).hexdigest()
    assert len(gather(path, sha256=digest)) == 2
    with pytest.raises(PenmarkError, match=f"has the SHA-256 {digest}, not {'0' * 64}"):
        gather(path, sha256="0" * 64)


def test_members_that_are_no_texts_and_files_that_are_no_releases(tmp_path):
    path = packed(tmp_path, members=WHEEL | {"a.md": b"%PDF-1.4", "b.txt": b"{\\rtf1"})
    with pytest.raises(FaultsError) as caught:
        gather(path)
    assert [str(f).split("\n")[0].partition(": ")[2] for f in caught.value.faults] == [
        "a.md: is a PDF",
        "b.txt: is RTF",
    ]
    with pytest.raises(FaultsError, match="no member of it is named"):
        gather(packed(tmp_path), files="*.rst")
    (tmp_path / "text.tar.gz").write_text("no archive")
    with pytest.raises(PenmarkError, match="cannot be read as a released file"):
        gather(tmp_path / "text.tar.gz")
    cut = packed(tmp_path, "cut.tar.gz", members={"a.txt": bytes(range(256)) * 400})
    cut.write_bytes(cut.read_bytes()[:-200])
    with pytest.raises(PenmarkError, match="cannot be read as a released file"):
        gather(cut)
    damaged = packed(tmp_path, "damaged.zip", members={"a.txt": b"words " * 1000})
    raw = bytearray(damaged.read_bytes())
    raw[50] ^= 0xFF
    damaged.write_bytes(raw)
    with pytest.raises(PenmarkError, match="cannot be read as a released file"):
        gather(damaged)
    with pytest.raises(UsageError, match="no such file"):
        gather(tmp_path / "none.whl")


def test_found_again_here_and_there(tmp_path):
    path = packed(tmp_path)
    with served(Archive()) as archive:
        archive.files["pkg.whl"] = path.read_bytes()
        address = f"{archive.url}/pkg.whl"
        one = gather(path, **REGISTRY, address=address)["pkg:notes.md"]
        locator = dict(provenance.parse_row(one.provenance, "x").locator)
        expected = (one.provenance["evidence_sha256"], "2020-06-01", b"Notes.\r\n", "")
        assert load_source("release")({"path": str(path)}).again(locator) == expected
        assert load_source("release")({"address": address, "pause": "0"}).again(locator) == expected
        with pytest.raises(PenmarkError, match="if you mean to ask there"):
            load_source("release")({}).again(locator)
        with pytest.raises(PenmarkError, match="holds no member x"):
            load_source("release")({"path": str(path)}).again(locator | {"member": "x"})
        archive.files.clear()
        with pytest.raises(PenmarkError, match="answers with status 404"):
            load_source("release")({"address": address, "pause": "0"}).again(locator)
