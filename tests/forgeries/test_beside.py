"""What git, desktops and unpackers do to a bundle: names beside its files, and line ends; both verifiers in one line."""

from __future__ import annotations

import re
from collections.abc import Callable
from pathlib import Path

import pytest
from tests.forgeries import both_verifiers
from tests.forgeries.forger import Forger

TEXT = re.compile(r".*\.(csv|json|jsonl|yaml|md|txt|py|html|cff)|format|SHA256SUMS|LICENSE")


@pytest.mark.parametrize("verifier", [both_verifiers.ours, both_verifiers.alone])
def test_names_that_are_laid_beside_files_are_one_line(
    forger: Forger, verifier: Callable[[Path], both_verifiers.Told]
) -> None:
    before = verifier(forger.root)
    root = forger.root
    (root / ".git" / "objects").mkdir(parents=True)
    (root / ".git" / "HEAD").write_text("ref: refs/heads/main\n")
    (root / "__MACOSX").mkdir()
    for name in (
        ".gitattributes",
        ".DS_Store",
        "Thumbs.db",
        "desktop.ini",
        "._README.md",
        "tables/.DS_Store",
        "seals/._x",
    ):
        (root / name).write_bytes(b"\x00")
    told = verifier(root)
    assert told.failed == before.failed == set()
    [more] = set(told.unknown().split("\n")) - set(before.unknown().split("\n"))
    assert more.startswith(
        "1 .DS_Store, ._README.md, .git, .gitattributes, Thumbs.db and 4 more: no part of the bundle"
    )


@pytest.mark.parametrize("verifier", [both_verifiers.ours, both_verifiers.alone])
@pytest.mark.parametrize("name", [".git/x", ".gitx", "tables/DS_Store", "Thumbs.db.csv", "tables/__MACOSX.csv", "_.x"])
def test_other_names_fail(forger: Forger, verifier: Callable[[Path], both_verifiers.Told], name: str) -> None:
    if name == ".git/x":
        (forger.root / ".git").symlink_to(forger.root.parent)
    else:
        (forger.root / name).write_bytes(b"x")
    assert 1 in verifier(forger.root).failed


@pytest.mark.parametrize("verifier", [both_verifiers.ours, both_verifiers.alone])
def test_line_ends_that_git_converted_are_one_line(
    forger: Forger, verifier: Callable[[Path], both_verifiers.Told]
) -> None:
    for path in sorted(p for p in forger.root.rglob("*") if p.is_file()):
        if TEXT.fullmatch(path.name):
            path.write_bytes(path.read_bytes().replace(b"\r\n", b"\n").replace(b"\n", b"\r\n"))
    told = verifier(forger.root)
    assert told.failed == {1}
    [line] = [check for check in told.checks if check.state == "failed"]
    assert line.subject == "SHA256SUMS"
    assert "CRLF line ends, to which git or another program converted them" in (line.got or "")
    assert "core.autocrlf false" in (line.remedy or "")
    assert {check.number for check in told.checks if check.state == "not checked"} == set(range(2, 9))


@pytest.mark.parametrize("verifier", [both_verifiers.ours, both_verifiers.alone])
def test_a_file_that_is_another_beyond_its_line_ends_is_told(
    forger: Forger, verifier: Callable[[Path], both_verifiers.Told]
) -> None:
    for path in (forger.root / "SHA256SUMS", forger.root / "README.md"):
        path.write_bytes(path.read_bytes().replace(b"\n", b"\r\n"))
    (forger.root / "README.md").write_bytes(b"other\r\n")
    assert "README.md: " in verifier(forger.root).faults(1)
