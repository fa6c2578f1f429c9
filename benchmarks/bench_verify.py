"""How long `penmark verify` takes for a large bundle, against sha256sum over it plus one polars read of its journals.

    python benchmarks/bench_verify.py [--documents 100000] [--detectors 10] [--at FOLDER]

Prints seconds and peak memory of each side, each in a process of its own, and the ratio beside its limit. The bundle is
made up (made.py): every journal line, raw answer, text and table of a real one.
*Reads* and *writes* a made-up bundle in a temporary folder, or in FOLDER, where it is kept.
"""

from __future__ import annotations

import argparse
import json
import resource
import subprocess
import sys
import tempfile
import time
from pathlib import Path

LIMIT = 3.0
"""Verification takes at most so many times as long as the sums and the read together."""


def main() -> None:
    """Make the bundle, measure the sides, print."""
    options = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    options.add_argument("--documents", type=int, default=100_000)
    options.add_argument("--detectors", type=int, default=10)
    options.add_argument("--at", type=Path, default=None)
    options.add_argument("--side", choices=["read", "verify"], default=None, help=argparse.SUPPRESS)
    given = options.parse_args()
    if given.side is not None:
        print(json.dumps(_read(given.at) if given.side == "read" else _verify(given.at)))
        return
    with tempfile.TemporaryDirectory(prefix="penmark-benchmark-") as folder:
        root = (given.at or Path(folder)) / f"bundle-{given.detectors}x{given.documents}"
        bundle = _bundle(root, given.detectors, given.documents)
        files = [p for p in bundle.rglob("*") if p.is_file()]
        size = sum(p.stat().st_size for p in files)
        print(
            f"{given.detectors} detectors x {given.documents:,} documents, {size / 2**20:,.0f} MiB in {len(files)} files"
        )
        start = time.perf_counter()
        subprocess.run(["sha256sum", "--quiet", "-c", "SHA256SUMS"], cwd=bundle, check=True)
        sums = time.perf_counter() - start
        sides = {side: _run(side, bundle) for side in ("read", "verify")}
    print(f"sha256sum -c           {sums:6.2f} s")
    for side, name in (("read", "one read by polars"), ("verify", "penmark verify")):
        print(f"{name:22} {sides[side]['seconds']:6.2f} s  {sides[side]['mib']:6.0f} MiB")
    print(f"findings: {sides['verify']['told']}")
    ratio = sides["verify"]["seconds"] / (sums + sides["read"]["seconds"])
    print(f"ratio {ratio:.2f}, limit {LIMIT:g}: {'within it' if ratio <= LIMIT else 'BEYOND it'}")


def _bundle(root: Path, detectors: int, documents: int) -> Path:
    """A whole bundle of a made-up edition, closed and published."""
    import made

    from penmark import canon, cards, manifest, protocol, publish, scoring, sealing, study, tables
    from penmark.publish import describe
    from penmark.report import page

    found = list(root.glob("*/SHA256SUMS"))
    if found:
        return found[0].parent
    edition = made.make(root, detectors=detectors, documents=documents, texts=True, evidence=True).edition
    promised = protocol.read_sealed(edition)
    known = {d.name: cards.sealed(edition, d.name).card for d in promised.detectors}
    scored = scoring.score(edition)
    tabled = tables.of(scored, protocol.departures_csv(protocol.departures(promised, known)))
    for path, data in tabled.items():
        study.write(edition.root / path, data)
    heads = {f"journal/{name}": head for name, head in scored.heads.items()}
    sealing.seal(
        edition, "evidence", promised.study, list(tabled), journals=heads, authorities=(), now="2026-12-31T23:59:59Z"
    )
    study.write(edition.report / "index.html", page(edition, tabled))
    study.write(edition.root / "format", b"1\n")
    study.write(edition.root / "seed.json", canon.encode({"beacon": None, "seed": made.SEED.hex()}))
    describe.write(edition, promised, manifest.read(edition), edition.root)
    publish._sums(edition.root)
    return edition.root


def _run(side: str, bundle: Path) -> dict[str, float]:
    command = [sys.executable, __file__, "--side", side, "--at", str(bundle)]
    done: dict[str, float] = json.loads(subprocess.run(command, check=True, capture_output=True).stdout)
    return done


def _read(bundle: Path) -> dict[str, object]:
    """One read of the journals, nothing else."""
    import polars as pl

    from penmark.journal.lines import TYPES

    start = time.perf_counter()
    frame = pl.read_ndjson(sorted((bundle / "journal").glob("*.jsonl")), schema=TYPES)
    return _taken(start) | {"lines": frame.height}


def _verify(bundle: Path) -> dict[str, object]:
    """All eight checks."""
    from penmark import tokens
    from penmark.verify import check

    start = time.perf_counter()
    found = check(bundle, tokens.Trust.load([]))
    taken = _taken(start)
    failed = [f"{c.number} {c.subject}: {c.got}" for c in found if c.state == "failed"]
    return taken | {"told": f"{len(found)}, {len(failed)} failed {failed[:3]}"}


def _taken(start: float) -> dict[str, object]:
    peak = resource.getrusage(resource.RUSAGE_SELF).ru_maxrss / (1 if sys.platform == "darwin" else 1024)
    return {"seconds": time.perf_counter() - start, "mib": peak}


if __name__ == "__main__":
    main()
