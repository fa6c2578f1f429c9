"""One small study at each step of its way, to be copied and broken.

*Reads* nothing. *Writes* a folder for each step: ``promised`` (written, not yet sealed), ``collected``, ``frozen``,
``scanned``, ``published``. In each lie ``study``, the material that it takes in (``material``), and for the last the
``bundle``.
"""

from __future__ import annotations

import json
import shutil
from pathlib import Path

from tests.cases.case_study import ARCHIVE, GENERATED, Trial, arm, card, now, seen, verdicts

STEPS = ("promised", "collected", "frozen", "scanned", "published")
HUMAN = {
    f"A-{n}": f'Human text {n} of a few words — and a dash.\n{{"score": 0.{n}, "version": "1"}}' for n in range(1, 5)
}
MACHINE = {f"C-{n}": f'Text {n} that a machine wrote.\n{{"score": 0.{n + 4}, "version": "1"}}' for n in range(1, 4)}
SHOWN = {"A-1": "Human", "A-2": "AI", "C-1": "Mixed"}


def made(root: Path) -> dict[str, Path]:
    """A folder for each step."""
    first = root / STEPS[0]
    material(first / "material")
    trial = Trial(
        first / "study",
        [arm("A", "human", len(HUMAN)), arm("C", "ai", len(MACHINE))],
        cards=[card(), seen(**verdicts(Human="human", AI="ai", Mixed="mixed"))],
    )
    found = {STEPS[0]: first}
    for step, before in zip(STEPS[1:], STEPS, strict=False):
        folder = root / step
        shutil.copytree(root / before, folder)
        _go(step, Trial.at(folder / "study"), folder)
        found[step] = folder
    assert trial.root.is_dir()
    return found


def _go(step: str, trial: Trial, folder: Path) -> None:
    stuff = folder / "material"
    if step == "collected":
        trial.done("commit")
        for name, kind in (("A", ARCHIVE), ("C", GENERATED)):
            options = [f"--option={key}={value}" for key, value in kind.items()]
            trial.done("collect", name, "--from", "table", "--path", str(stuff / f"{name}.csv"), *options)
    elif step == "frozen":
        trial.done("freeze")
        answers(stuff)  # of now: later than the promise
    elif step == "scanned":
        trial.done("scan")
        trial.done("record", str(stuff / "answers.csv"), "--detector", "seen")
    else:
        trial.done("report", "--close")
        trial.done("publish", "--out", str(folder / "bundle"), "--no-tar")


def material(folder: Path) -> None:
    """Texts in every form that is taken, and answers in every form."""
    folder.mkdir(parents=True)
    for name, texts in (("A", HUMAN), ("C", MACHINE)):
        rows = [{"id": key, "text": text} for key, text in texts.items()]
        quoted = ['{},"{}"'.format(row["id"], row["text"].replace('"', '""')) for row in rows]
        (folder / f"{name}.csv").write_text("id,text\n" + "".join(f"{line}\n" for line in quoted))
        (folder / f"{name}.jsonl").write_text("".join(json.dumps(row) + "\n" for row in rows))
        (folder / f"{name}.json").write_text(json.dumps(rows, indent=1))
    texts_folder = folder / "texts"
    texts_folder.mkdir()
    for key, text in HUMAN.items():
        (texts_folder / f"{key}.txt").write_text(text)
    (texts_folder / "metadata.csv").write_text("id,file\n" + "".join(f"{key},{key}.txt\n" for key in HUMAN))
    answers(folder)
    (folder / "map.yaml").write_text("document: document\ndisplayed: displayed\ndate: date\nversion: version\n")


def answers(folder: Path) -> None:
    """What screens showed, typed just now, in every form."""
    at = now()
    rows = [
        {"document": name, "displayed": shown, "date": at, "version": "v1", "operator": "AB"}
        for name, shown in SHOWN.items()
    ]
    header = list(rows[0])
    lines = [",".join(header), *(",".join(row[name] for name in header) for row in rows)]
    (folder / "answers.csv").write_text("".join(f"{line}\n" for line in lines))
    (folder / "answers.json").write_text(json.dumps(rows, indent=1))
    (folder / "answers.jsonl").write_text("".join(json.dumps(row) + "\n" for row in rows))
