"""A plugin, run in a fresh interpreter: what it returned, what it printed, whom it tried to reach.

*Reads* the plugin. *Writes* a temporary folder that goes with the run. *Never* lets what a plugin does reach the process
that tests it.
"""

from __future__ import annotations

import json
import os
import subprocess
import sys
import tempfile
from collections.abc import Mapping
from pathlib import Path
from typing import Any, NamedTuple

from penmark.errors import Fault, FaultsError

PATIENCE = 300.0
"""Seconds in which all questions of one run are answered."""
IMPORT = 2.0
"""Seconds of processor time that importing a plugin may take; what is heavy belongs where it is first needed."""
_START = "from penmark.testing.probes import main; main()"
_SHOWN = 200


class Nonconforming(FaultsError, AssertionError):  # noqa: N818 - a verdict about a plugin, told like a failed assertion
    """What a plugin does otherwise than its interface says; every finding has a place, a fact and a remedy."""

    def __str__(self) -> str:
        return "\n".join(["this plugin does not conform:", *map(str, self.faults)])


class Ran(NamedTuple):
    """One run. ``told``: what the probe saw. ``faults``: what is wrong whatever it saw: it printed, reached out, hung."""

    told: dict[str, Any]
    faults: tuple[Fault, ...]


def run_probe(probe: str, spec: Mapping[str, Any], *, place: str, local: bool, patience: float, seed: int) -> Ran:
    """Run ``probe`` of ``penmark.testing.probes`` with ``spec``. ``seed``: of the hashes of strings, for this run.

    ``local``: the plugin may reach nobody. The run has ``patience`` seconds.
    """
    with tempfile.TemporaryDirectory() as folder:
        asked, answer = Path(folder, "spec.json"), Path(folder, "told.json")
        asked.write_text(json.dumps({**spec, "probe": probe}), encoding="utf-8")
        paths = os.pathsep.join(path for path in sys.path if path)
        environment = {**os.environ, "PYTHONPATH": paths, "PYTHONHASHSEED": str(seed)}
        try:
            done = subprocess.run(
                [sys.executable, "-c", _START, str(asked), str(answer)],
                stdin=subprocess.DEVNULL,
                capture_output=True,
                env=environment,
                timeout=patience,
                check=False,
            )
        except subprocess.TimeoutExpired:
            return Ran(
                {}, (Fault(place, f"did not come to an end within {patience:g} seconds", "Give patience=SECONDS."),)
            )
        printed = (done.stdout + done.stderr).decode("utf-8", "replace")
        if not answer.exists():
            remedy = "A plugin raises errors; it does not end the process."
            return Ran(
                {}, (Fault(place, f"ended the process with {done.returncode}: {_end_printed(printed)}", remedy),)
            )
        told = json.loads(answer.read_text(encoding="utf-8"))
    return Ran(told, tuple(_conduct_told(place, told, printed, local)))


def _conduct_told(place: str, told: Mapping[str, Any], printed: str, local: bool) -> list[Fault]:
    found = []
    if printed.strip() != "":
        remedy = "Return what there is to say, or raise it: standard output and error belong to whoever runs the scan."
        found.append(Fault(place, f"prints: {_end_printed(printed)}", remedy))
    if local and told["reached"]:
        remedy = "A detector that runs here asks nobody. One that asks a vendor is a card (ask: {by: http})."
        found.append(Fault(place, f"opens connections: {', '.join(told['reached'])}", remedy))
    return found


def _end_printed(printed: str) -> str:
    line = " ".join(printed.split())
    return line if len(line) <= _SHOWN else f"…{line[-_SHOWN:]}"
