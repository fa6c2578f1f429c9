"""The source ``liang2023``: the ten sets of Liang et al. (Patterns 4(7), 2023), one arm each.

Options: ``path`` (the folder that holds ``Human_Data`` and ``GPT_Data``); ``set`` (without it the arm's name is the
set's); ``evidence_date`` (needed only where a file is another than the published one).
The data have neither ids nor dates: an id is the set's name and the position from 1; what stands behind the evidence is
the day on which the paper came out, which does not show that a text is older than 2022. What ``name.json`` says of
a set goes along as claims.
*Reads* ``name.json`` and ``data.json`` of a set, and of the set that it was made from. *Writes* nothing.
"""

from __future__ import annotations

import hashlib
import json
from collections.abc import Iterator
from pathlib import Path
from typing import NamedTuple

from penmark.errors import Fault, FaultsError, PenmarkError, UsageError, suggest_name
from penmark.plugins import Draft
from penmark.shipped.sources.column_mapping import require_path
from penmark.shipped.sources.table_rows import TableRow, encode_cell, read_table_rows

_ISSUED = "2023-07-14"
_PAPER = "Liang et al., GPT detectors are biased against non-native English writers, Patterns 4(7), 2023"
_ARCHIVE = "GitHub repository Weixin-Liang/ChatGPT-Detector-Bias, commit 1d05ed8"


class _Set(NamedTuple):
    """One set: where it lies, the digest of its data.json at commit 1d05ed8, and what its folder says of it."""

    folder: str
    sha256: str
    register: str
    subgroup: str = ""
    model: str = ""
    style: str = ""
    attack: str = ""
    origin: str = ""


_SETS = {
    "TOEFL_real_91": _Set(
        "Human_Data",
        "d5e2bf0bd4831262d60aa936b2ac8e532bd3859067411288b6c22ed16867666b",
        "student essay",
        subgroup="non-native",
    ),
    "HewlettStudentEssay_real_88": _Set(
        "Human_Data",
        "6145e4e8bf36b780624626b31a783d7ca97696e1e14ae6d13c083b79da2f042d",
        "student essay",
        subgroup="native",
    ),
    "CollegeEssay_real_70": _Set(
        "Human_Data", "37534035e5ad8bbb7a362433644b38c6b8d45ad9c444836cc89a7013eb0d9917", "college essay"
    ),
    "CS224N_real_145": _Set(
        "Human_Data", "fa62fd0355b7121283feb3ee4468bd0db23ba7847806a04d4a754f77b723a31d", "abstract"
    ),
    "TOEFL_gpt4polished_91": _Set(
        "Human_Data",
        "8dcbce862bc54259666c77d68ed43927af9d4cfd350c57ff1b250c21860256c6",
        "student essay",
        subgroup="non-native",
        attack="gpt4polished",
        origin="TOEFL_real_91",
    ),
    "HewlettStudentEssay_GPTsimplify_88": _Set(
        "Human_Data",
        "59fef9d557c689f1a508269b780f37bab548346d5033c455c3e211a99c1feba3",
        "student essay",
        subgroup="native",
        attack="GPTsimplify",
        origin="HewlettStudentEssay_real_88",
    ),
    "CollegeEssay_gpt3_31": _Set(
        "GPT_Data",
        "2e11f35d067ec8aa2c5b844cb3a00b2d4e87d87cf5d012b566869c109273afe0",
        "college essay",
        model="gpt3",
        style="plain",
    ),
    "CollegeEssay_gpt3PromptEng_31": _Set(
        "GPT_Data",
        "59ac102fcd01895509494a6c4e26e0dae632ae816ee210afd1bea9a0c7c0ec2c",
        "college essay",
        model="gpt3",
        style="prompt-engineered",
        origin="CollegeEssay_gpt3_31",
    ),
    "CS224N_gpt3_145": _Set(
        "GPT_Data",
        "4c5d1e6e3d8d479684245d154e334bc076d1ccd4e315f4a8c4be3b3fba9a565e",
        "abstract",
        model="gpt3",
        style="plain",
    ),
    "CS224N_gpt3PromptEng_145": _Set(
        "GPT_Data",
        "18c9afb38569c986c7140e1cd2d3ba414f06e948ba3b866e209f2cfe1063d956",
        "abstract",
        model="gpt3",
        style="prompt-engineered",
        origin="CS224N_gpt3_145",
    ),
}


class Liang2023:
    """The ten sets."""

    def __init__(self, options: dict[str, str]) -> None:
        self._root = require_path(options, "liang2023", "the folder that holds Human_Data and GPT_Data")
        self._set = options.get("set")
        self._date = options.get("evidence_date")

    def gather(self, arm_name: str) -> Iterator[Draft]:
        """A draft for each document of the set. Raises FaultsError at the end."""
        name = self._set or arm_name
        if name not in _SETS:
            fact = f"there is no set {name}{suggest_name(name, _SETS)}"
            raise UsageError(fact, remedy=f"Name the arm like its set, or give set=…: {', '.join(sorted(_SETS))}.")
        one = _SETS[name]
        faults: list[Fault] = []
        claims = self._read_claims(name, faults)
        digest = self._digest(name)
        parents = (
            [encode_cell(row.cells.get("document", "")) for row in self._documents(one.origin, [])]
            if one.origin
            else []
        )
        for position, row in enumerate(self._documents(name, faults), 1):
            if "document" not in row.cells:
                faults.append(Fault(row.place, "no document", f"Take the file of {_ARCHIVE}."))
                continue
            parent = parents[position - 1] if position <= len(parents) else None
            yield self._draft(name, position, row, digest, parent, claims)
        if faults:
            raise FaultsError(faults)

    def _folder(self, name: str) -> Path:
        return self._root / _SETS[name].folder / name

    def _documents(self, name: str, faults: list[Fault]) -> Iterator[TableRow]:
        return read_table_rows(self._folder(name) / "data.json", faults)

    def _read_claims(self, name: str, faults: list[Fault]) -> dict[str, str]:
        path = self._folder(name) / "name.json"
        try:
            told = json.loads(path.read_bytes())
            return {f"claimed_{key}": str(told[key]) for key in ("kind", "model")}
        except OSError:
            faults.append(Fault(str(path), "there is no such file", "Correct the option `path`."))
        except (ValueError, KeyError, TypeError):
            faults.append(Fault(str(path), "is not {name, kind, model}", f"Take the file of {_ARCHIVE}."))
        return {}

    def _digest(self, name: str) -> str:
        path = self._folder(name) / "data.json"
        if not path.is_file():
            raise PenmarkError("there is no such file", place=str(path), remedy="Correct the option `path`.")
        digest = hashlib.sha256(path.read_bytes()).hexdigest()
        if digest != _SETS[name].sha256 and self._date is None:
            raise PenmarkError(
                f"is another file than the published one (SHA-256 {digest})",
                place=str(path),
                remedy=f"Take the file of {_ARCHIVE}, or say of when yours is: evidence_date=YYYY-MM-DD.",
            )
        return digest

    def _draft(
        self, name: str, position: int, row: TableRow, digest: str, parent: bytes | None, claims: dict[str, str]
    ) -> Draft:
        one = _SETS[name]
        told = {
            "language": "en",
            "register": one.register,
            "subgroup": one.subgroup,
            "source": row.cells.get("type", ""),
        }
        prompt = row.cells.get("prompt", "")
        if one.attack:
            provenance = {
                "kind": "transformed",
                "grade": "stated",
                "parent": f"{one.origin}-{position:03d}",
                "parent_sha256": hashlib.sha256(parent).hexdigest() if parent is not None else "",
                "attack": one.attack,
                "prompt": prompt,
            }
        elif one.model:
            rewritten = parent is not None and parent.decode("utf-8", "replace").strip() in prompt
            provenance = {
                "kind": "generated",
                "grade": "stated",
                "provider": "OpenAI",
                "model": one.model,
                "style": one.style,
                "prompt": prompt,
                "note": f"The prompt holds the text {one.origin}-{position:03d}, to be rewritten." if rewritten else "",
            }
        else:
            provenance = {
                "kind": "archive",
                "grade": "stated",
                "source": f"{_PAPER}, set {name}, position {position}",
                "archive": _ARCHIVE,
                "evidence_date": self._date or _ISSUED,
                "evidence_sha256": digest,
                "licence": "MIT (badge of the repository; the texts' own rights are not stated)",
            }
        fields = {key: value for key, value in told.items() if value != ""}
        given = {key: value for key, value in provenance.items() if value != ""}
        return Draft(f"{name}-{position:03d}", encode_cell(row.cells["document"]), row.place, fields, given, claims)
