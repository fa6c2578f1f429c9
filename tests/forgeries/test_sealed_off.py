"""Verification is sealed off: it opens nothing but the bundle and its own installation, starts nothing, asks nobody."""

from __future__ import annotations

import json
import shutil
import subprocess
import sys
from pathlib import Path

import pytest
from tests.forgeries.forger import Forger
from tests.golden import golden_inputs

import penmark

WATCHED = """
import os, sys

bundle, source = sys.argv[1:3]
own = (source, sys.prefix, sys.base_prefix, os.path.dirname(os.__file__), *filter(None, sys.path))
inside = tuple(os.path.realpath(path) + os.sep for path in (bundle, *own))
FORBIDDEN = ("socket.", "subprocess.", "os.system", "os.exec", "os.spawn", "os.posix_spawn", "os.fork", "os.startfile",
             "urllib.", "http.", "ftplib.", "smtplib.", "webbrowser.", "os.remove", "os.rename", "os.mkdir", "os.rmdir",
             "os.link", "os.symlink", "os.truncate", "os.chmod", "os.chown", "shutil.", "tempfile.",
             "sqlite3.")
seen = {"open": 0}

def watch(event, args):
    if event.startswith(FORBIDDEN):
        os.write(2, f"{event} {args}\\n".encode())
        os._exit(99)
    if event in ("open", "os.listdir", "os.scandir"):
        path, mode = args[0], args[1] if event == "open" else "r"
        if isinstance(path, int):
            return
        flags = args[2] if event == "open" else 0
        where = os.path.realpath(os.fsdecode(path) if path is not None else ".")
        writes = (isinstance(mode, str) and set(mode) & set("wax+")) or flags & (os.O_WRONLY | os.O_RDWR | os.O_CREAT)
        if writes or not (where + os.sep).startswith(inside):
            os.write(2, f"{event} {path!r} {mode!r} {flags}\\n".encode())
            os._exit(98)
        seen["open"] += where.startswith(inside[0])

sys.dont_write_bytecode = True
os.chdir("/")
sys.addaudithook(watch)
from penmark.cli import main
try:
    main(["verify", bundle, *sys.argv[3:]])
finally:
    os.write(2, f"opened {seen['open']}\\n".encode())
"""


def watched(bundle: Path, *options: str) -> subprocess.CompletedProcess[str]:
    """``penmark verify`` in a process of its own, which ends at once with 98 or 99 where it reaches for anything else."""
    source = Path(penmark.__file__).parents[1]
    command = [sys.executable, "-P", "-c", WATCHED, str(bundle), str(source), *options]
    environment = {
        "PATH": "/nowhere",
        "PYTHONPATH": str(source),
        "HOME": "/nowhere",
        "http_proxy": "http://127.0.0.1:9",
    }
    return subprocess.run(command, capture_output=True, text=True, check=False, env=environment)


def test_it_opens_the_bundle_and_itself_and_nothing_else(golden: Path) -> None:
    done = watched(golden)
    assert done.returncode == 0, done.stderr + done.stdout
    files = sum(p.is_file() for p in golden.rglob("*"))
    assert int(done.stderr.split("opened ")[1]) > files  # the watch was awake


def test_a_bundle_that_leads_outside_leads_nowhere(forger: Forger) -> None:
    """Links, paths that climb, a card that names a plugin, an answer that names an address: it is all only data."""
    forger.edit("detectors/plain.json", lambda value: value["card"].update(homepage="http://127.0.0.1:9/"))
    forger.edit("seals/corpus.json", lambda value: value["digests"].update({"../../etc/passwd": "0" * 64}))
    forger.replace("SHA256SUMS", "  LICENSE\n", "  ../../../etc/passwd\n")
    forger.replace("report/index.html", "</main>", '<p><a href="../../../etc/passwd">more</a></p></main>')
    done = watched(forger.root, "--json")
    assert done.returncode == 1, done.stderr + done.stdout
    assert not json.loads(done.stdout)["ok"]
    assert "root:" not in done.stdout


def test_a_link_is_not_followed(forger: Forger) -> None:
    (forger.root / "texts" / f"{'0' * 64}.txt").symlink_to("/etc/passwd")
    shutil.rmtree(forger.root / "tables")
    (forger.root / "tables").symlink_to("/etc")
    done = watched(forger.root)
    assert done.returncode == 1, done.stderr + done.stdout
    assert "is a link or a special file" in done.stdout


def test_no_plugin_is_loaded(golden: Path) -> None:
    """The bundle names a plugin that exists nowhere here; nobody misses it."""
    assert json.loads((golden / "detectors/plain.json").read_bytes())["plugin"]["distribution"] == "golden-detector"
    assert "golden_detector" not in golden_inputs.PLUGIN
    code = "import sys; from penmark.stages import verify; print(*sys.modules)"
    done = subprocess.run([sys.executable, "-c", code], capture_output=True, text=True, check=True)
    loaded = done.stdout.split()
    assert "penmark.stages.verify" in loaded
    assert [name for name in loaded if name.startswith(("penmark.shipped.", "penmark.plugins"))] == []


def test_it_needs_no_network(golden: Path) -> None:
    """In a namespace that has none: not even the loopback address is up."""
    unshare = shutil.which("unshare")
    if unshare is None:
        pytest.skip("unshare is not installed")
    for options in (["--net"], ["--map-root-user", "--net"]):
        if subprocess.run([unshare, *options, "true"], capture_output=True, check=False).returncode == 0:
            break
    else:
        pytest.skip("nobody may make a network namespace here")
    for command in (["-m", "penmark", "verify", str(golden)], ["-I", str(golden / "verify.py"), str(golden)]):
        done = subprocess.run(
            [unshare, *options, sys.executable, *command], capture_output=True, text=True, check=False
        )
        assert done.returncode == 0, done.stderr + done.stdout
