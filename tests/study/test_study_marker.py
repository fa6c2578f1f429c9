"""study.yaml is read strictly, by whichever command looks for a study."""

from __future__ import annotations

from pathlib import Path

import pytest
from tests.cases.case_study import penmark

from penmark import study
from penmark.errors import FaultsError, PenmarkError


@pytest.mark.parametrize(
    "text", ["study: small\n", "# a remark\n\nstudy: small", '\ufeffstudy: "a: b" # so\r\n', "study: small  # mine\n"]
)
def test_a_mark(tmp_path: Path, text: str) -> None:
    (tmp_path / "study.yaml").write_bytes(text.encode())
    (tmp_path / "below").mkdir()
    assert study.find_study(tmp_path / "below").root == tmp_path.resolve()


@pytest.mark.parametrize(
    ("data", "line", "fact"),
    [
        (b"", 1, "has no line `study: NAME`"),
        (b"# only a remark\n", 1, "has no line `study: NAME`"),
        (b"study: caf\xe9\n", 1, "is not UTF-8"),
        (b"study: a\nstudy: b\n", 2, "the key `study` stands twice (first in line 1)"),
        (b"studie: a\n", 1, "unknown key 'studie' (did you mean study?)"),
        (b"study: a\nseed: b\n", 2, "unknown key 'seed'"),
        (b"study:\n", 1, "study: is empty"),
        (b"study: a\n  more\n", 2, "is no line of the form `key: value`"),
        (b"small\n", 1, "is no line of the form `key: value`"),
        (b"study: a\n\x00\n", 2, "is no line of the form `key: value`"),
    ],
)
def test_what_is_no_mark(tmp_path: Path, data: bytes, line: int, fact: str) -> None:
    path = tmp_path / "study.yaml"
    path.write_bytes(data)
    with pytest.raises(PenmarkError) as caught:
        study.find_study(tmp_path)
    [told] = caught.value.faults
    assert (told.place, told.fact) == (f"{path}:{line}", fact)
    assert told.remedy is not None


def test_every_fault_is_told(tmp_path: Path) -> None:
    (tmp_path / "study.yaml").write_text("a: b\nc: d\n")
    with pytest.raises(FaultsError) as caught:
        study.find_study(tmp_path)
    assert len(caught.value.faults) == 2


def test_what_init_writes_is_one(tmp_path: Path) -> None:
    for name in ("plain", "a: b # c", "#1", "null"):
        root = tmp_path / str(len(name))
        assert penmark("init", str(root), "--name", name).code == 0
        assert study.find_study(root).root == root


def test_a_command_says_so(tmp_path: Path) -> None:
    root = tmp_path / "study"
    assert penmark("init", str(root)).code == 0
    (root / "study.yaml").write_bytes(b"")
    said = penmark("-C", str(root), "status")
    assert said.code == 1
    assert f"{root}/study.yaml:1: has no line `study: NAME`\n    Write one line, `study: NAME`" in said.err
