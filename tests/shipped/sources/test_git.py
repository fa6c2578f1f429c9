"""Texts as they stood in a commit: a date in it is the committer's word, unless somebody else kept it."""

import hashlib
import os
import subprocess
from pathlib import Path

import pytest
from tests.shipped.sources.web_archive_server import drained

from penmark.corpus import provenance
from penmark.errors import FaultsError, PenmarkError, UsageError
from penmark.plugins import load_source

FORM = {
    "GIT_AUTHOR_NAME": "N",
    "GIT_AUTHOR_EMAIL": "n@example.org",
    "GIT_COMMITTER_NAME": "N",
    "GIT_COMMITTER_EMAIL": "n@example.org",
    "GIT_CONFIG_GLOBAL": "/dev/null",
    "GIT_CONFIG_NOSYSTEM": "1",
}


def git(folder, *command, when="2020-03-01T23:30:00-02:00", written="2019-01-01T00:00:00Z"):
    given = {**os.environ, **FORM, "GIT_AUTHOR_DATE": written, "GIT_COMMITTER_DATE": when}
    done = subprocess.run(["git", *command], cwd=folder, env=given, capture_output=True, text=True, check=True)
    return done.stdout.strip()


@pytest.fixture
def clone(tmp_path):
    folder = tmp_path / "clone"
    (folder / "docs" / "deep").mkdir(parents=True)
    git(tmp_path, "init", "-q", "-b", "main", str(folder))
    for name, text in {
        "README.md": "Old words.\r\n",
        "docs/guide.md": "A guide.\n",
        "docs/deep/naïve notes.txt": "Notes.\n",
        "code.py": "x = 1\n",
    }.items():
        (folder / name).write_bytes(text.encode())
    git(folder, "add", "-A")
    git(folder, "-c", "core.autocrlf=false", "commit", "-q", "-m", "first")
    git(folder, "tag", "v1")
    (folder / "README.md").write_text("New words, of a later day.\n")
    git(folder, "commit", "-qam", "second", when="2024-05-01T00:00:00Z")
    return folder


def gather(folder, **options):
    given = {"path": str(folder), "commit": "v1", "licence": "MIT", "repository": "https://example.org/r"} | options
    return {draft.id: draft for draft in load_source("git")(given).gather("A")}


def test_a_text_as_it_stood(clone):
    found = gather(clone, register="professional")
    assert found.keys() == {"README.md", "docs:guide.md", "docs:deep:naïve notes.txt"}
    one = found["README.md"]
    commit = git(clone, "rev-parse", "v1")
    raw = subprocess.run(["git", "cat-file", "commit", "v1"], cwd=clone, capture_output=True, check=True).stdout
    assert (one.text, one.fields) == (b"Old words.\r\n", {"register": "professional"})
    assert provenance.parse_row(one.provenance, "x").model_dump() == {
        "kind": "archive",
        "grade": "stated",
        "source": "https://example.org/r: README.md",
        "archive": f"https://example.org/r, commit {commit} (the committer's date)",
        "evidence_date": "2020-03-02",  # in UTC
        "evidence_sha256": hashlib.sha256(raw).hexdigest(),
        "licence": "MIT",
        "locator": {
            "by": "git",
            "commit": commit,
            "file": "README.md",
            "committed_on": "2020-03-02",
            "written_on": "2019-01-01",
        },
    }
    assert gather(clone, commit="main")["README.md"].provenance["evidence_date"] == "2024-05-01"
    assert gather(clone, files="docs/*.md", prefix="r:").keys() == {"r:docs:guide.md"}


def test_released_needs_somebody_who_kept_it(clone):
    kept = {"kept_by": "an archive of repositories, visit 7", "kept_on": "2021-06-01"}
    one = gather(clone, **kept)["README.md"]
    assert (one.provenance["grade"], one.provenance["evidence_date"]) == ("released", "2021-06-01")
    assert one.provenance["archive"].endswith("kept by an archive of repositories, visit 7")
    with pytest.raises(UsageError, match=r"kept_on=2020-01-01 is before 2020-03-02, the committer's date"):
        gather(clone, kept_by="x", kept_on="2020-01-01")
    with pytest.raises(UsageError, match="is not a date"):
        gather(clone, kept_by="x", kept_on="2020")
    with pytest.raises(UsageError, match="belong together"):
        gather(clone, kept_by="x")


def test_found_again(clone):
    one = gather(clone)["docs:deep:naïve notes.txt"]
    locator = dict(provenance.parse_row(one.provenance, "x").locator)
    anyone = load_source("git")({"path": str(clone)})
    assert anyone.again(locator) == (one.provenance["evidence_sha256"], "2020-03-02", b"Notes.\n", "")
    with pytest.raises(PenmarkError, match="no file other in the commit"):
        anyone.again(locator | {"file": "other"})
    with pytest.raises(PenmarkError, match="nothing is called"):
        anyone.again(locator | {"commit": "0" * 40})


def test_replaced_and_damaged_objects(clone):
    """A local replacement shows other words under the same id; penmark does not look at it, and computes ids anew."""
    blob = git(clone, "rev-parse", "v1:README.md")
    (clone / "other").write_text("Words that were put there.\n")
    other = git(clone, "hash-object", "-w", "other")
    git(clone, "replace", blob, other)
    assert git(clone, "cat-file", "blob", blob) == "Words that were put there."
    assert gather(clone)["README.md"].text == b"Old words.\r\n"
    git(clone, "replace", "-d", blob)
    objects = clone / ".git" / "objects"
    target, donor = (objects / name[:2] / name[2:] for name in (blob, other))
    target.chmod(0o644)
    target.write_bytes(Path(donor).read_bytes())
    with pytest.raises(PenmarkError, match=f"{blob}"):
        gather(clone)


def test_files_that_are_no_texts(clone):
    (clone / "docs" / "a.md").write_bytes(b"%PDF-1.7")
    (clone / "docs" / "link.md").symlink_to("/etc/passwd")
    git(clone, "add", "-A")
    git(clone, "commit", "-qm", "third", when="2021-01-01T00:00:00Z")
    options = {"path": str(clone), "commit": "HEAD", "files": "docs/*"}
    got, faults = drained(load_source("git")(options).gather("A"))
    assert [str(fault).split("\n")[0].rpartition(":")[2] for fault in faults] == [" is a PDF"]
    assert [draft.id for draft in got] == ["docs:guide.md"]  # a link is no text either


def test_options_that_are_wrong(clone, tmp_path):
    with pytest.raises(UsageError, match="needs the option `commit`"):
        gather(clone, commit="")
    with pytest.raises(PenmarkError, match=r"git rev-parse: nothing is called v9\^\{commit\}"):
        gather(clone, commit="v9")
    with pytest.raises(PenmarkError, match="git rev-parse"):
        gather(clone, commit="--all")
    with pytest.raises(FaultsError, match=r"no file of .* is named"):
        gather(clone, files="*.rst")
    (tmp_path / "none").mkdir()
    with pytest.raises(PenmarkError, match="not a git repository"):
        gather(tmp_path / "none")
