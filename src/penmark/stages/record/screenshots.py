"""Screenshots: pictures of the screens that people read, kept by digest with the edition, never published.

*Reads* a folder of pictures that are named by number. *Writes* ``screenshots/<sha256>.<ext>`` in the edition. *Never*
publishes one, or lets git have it: it may show an account, or a text that is withheld.
"""

from __future__ import annotations

import re
from collections.abc import Callable, Iterable
from pathlib import Path
from typing import NamedTuple

from penmark import study
from penmark.errors import Fault, FaultsError, PenmarkError, UsageError
from penmark.format import canonical_json
from penmark.study import Edition

MAX_PICTURE = 2**26
"""No picture is larger (bytes)."""
SUFFIXES = ("gif", "heic", "jpeg", "jpg", "pdf", "png", "webp")
_NAME = re.compile(rf"([0-9]{{1,9}})([-_ ][0-9]{{1,3}})?\.({'|'.join(SUFFIXES)})", re.IGNORECASE)


class Picture(NamedTuple):
    """A picture: where it is, its digest and the ending of its name."""

    path: Path
    sha256: str
    suffix: str


def find_pictures(folder: Path, key: Callable[[str], str]) -> dict[str, list[Picture]]:
    """The pictures of a folder by the key of their number, in the order of their names: ``0012.png``, ``0012-2.png``.

    Raises FaultsError for every file that is none, or is there twice; UsageError where there is no folder.
    """
    if not folder.is_dir():
        raise UsageError("there is no such folder", place=str(folder), remedy="Name the folder with the screenshots.")
    pictures: dict[str, list[Picture]] = {}
    seen: dict[str, Path] = {}
    faults: list[Fault] = []
    for path in sorted(folder.iterdir()):
        if path.name.startswith("."):
            continue
        name = _NAME.fullmatch(path.name)
        try:
            if name is None:
                remedy = f"Name a picture by the number of its text: 0012.png (or {', '.join(SUFFIXES)}), 0012-2.png."
                raise PenmarkError("is no screenshot by its name", remedy=remedy)
            sha256 = canonical_json.sha256(study.read_bytes(path, limit=MAX_PICTURE))
            if (other := seen.setdefault(sha256, path)) != path:
                raise PenmarkError(f"is the same picture as {other.name}", remedy="Take the right one.")
            pictures.setdefault(key(name[1]), []).append(Picture(path, sha256, name[3].lower()))
        except PenmarkError as error:
            faults += [fault._replace(place=fault.place or str(path)) for fault in error.faults]
    if faults:
        raise FaultsError(faults)
    return pictures


def copy_pictures(edition: Edition, pictures: Iterable[Picture]) -> None:
    """Copy the pictures into the edition, each under its digest. Raises PenmarkError where one was changed meanwhile."""
    folder = edition.root / "screenshots"
    study.write_private(folder / ".gitignore", b"*\n")
    for picture in pictures:
        data = study.read_bytes(picture.path, limit=MAX_PICTURE)
        if canonical_json.sha256(data) != picture.sha256:
            raise PenmarkError("was changed meanwhile", place=str(picture.path), remedy="Run the same command again.")
        study.write_private(folder / f"{picture.sha256}.{picture.suffix}", data)
