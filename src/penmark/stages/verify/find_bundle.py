"""Whether a folder is a bundle at all, and where one is near it.

*Reads* names of files. *Never* opens one, follows a link, or looks deeper than a few folders.
"""

from __future__ import annotations

import os
import shlex
from pathlib import Path

from penmark.errors import UsageError, make_legible, number_characters

MARKS = ("format", "SHA256SUMS")
"""A folder that has neither of these files is no bundle; one that lacks one of them is a damaged one."""
DEEP = 4
SHOWN = 5
MOST = 5_000
"""So many folders are looked at."""


def is_bundle_folder(folder: Path) -> bool:
    """True where the folder is a bundle, whole or damaged."""
    return any(os.path.lexists(folder / name) for name in MARKS)


def refuse_no_bundle(folder: Path) -> None:
    """Raises UsageError where ``folder`` is no bundle, and says where one is."""
    if not folder.is_dir():
        fact = "is not a folder" if folder.exists() else "there is no such folder"
        remedy = "Unpack the bundle first: tar -xf BUNDLE.tar" if folder.exists() else "Look at the name."
        raise UsageError(fact, place=str(folder), remedy=remedy)
    if is_bundle_folder(folder):
        return
    around = next((up for up in list(folder.resolve().parents)[:2] if is_bundle_folder(up)), None)
    below = _find_bundles_below(folder)
    if around is not None:
        remedy = f"It lies in one: penmark verify {_quote_path(around)}"
    elif below:
        named = "".join(f"\n      penmark verify {_quote_path(each)}" for each in below[:SHOWN])
        remedy = f"There {'is one' if len(below) == 1 else 'are some'} below it:{named}"
    elif (folder / "study.yaml").exists() or (folder / "protocol.yaml").exists():
        remedy = "It is a study: `penmark publish` makes its bundle."
    else:
        remedy = "Name the folder that `penmark publish` made, or that you unpacked: tar -xf BUNDLE.tar"
    raise UsageError(f"is no bundle: it has neither {' nor '.join(MARKS)}", place=str(folder), remedy=remedy)


def _quote_path(folder: Path) -> str:
    """A path as it is typed in a shell; a name with control characters is shown, and would not be found."""
    return shlex.quote(make_legible(str(folder)).replace("\n", number_characters("\n")))


def _find_bundles_below(folder: Path) -> list[Path]:
    found: list[Path] = []
    waiting, seen = [(folder, 0)], 0
    while waiting and seen < MOST:
        current, depth = waiting.pop()
        seen += 1
        try:
            inner = sorted(Path(e.path) for e in os.scandir(current) if e.is_dir(follow_symlinks=False))
        except OSError:
            continue
        for each in inner:
            if all((each / name).is_file() for name in MARKS):
                found.append(each)
            elif depth + 1 < DEEP and not each.name.startswith("."):
                waiting.append((each, depth + 1))
    return sorted(found)
