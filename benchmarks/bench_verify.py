"""How long `penmark verify` takes for a large bundle, against sha256sum over it plus one polars read of its journals.

    python benchmarks/bench_verify.py [--documents 100000] [--detectors 10] [--at FOLDER]

Prints seconds and peak memory of each side, each in a process of its own, and the ratio to the sums with each of the two
reads (see reading.py) beside the limit. The bundle is made up (made.py): every journal line, raw answer, text and table
of a real one.
*Reads* and *writes* a made-up bundle in a temporary folder, or in FOLDER, where it is kept.
"""

from __future__ import annotations

import argparse
import json
import subprocess
import sys
import tempfile
import time
from pathlib import Path

from reading import READS, read, taken, told

LIMIT = 3.0
"""Verification takes at most so many times as long as the sums and the read together."""


def main() -> None:
    """Make the bundle, measure the sides, print."""
    options = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    options.add_argument("--documents", type=int, default=100_000)
    options.add_argument("--detectors", type=int, default=10)
    options.add_argument("--at", type=Path, default=None)
    options.add_argument("--side", choices=[*READS, "verify"], default=None, help=argparse.SUPPRESS)
    given = options.parse_args()
    if given.side is not None:
        journals = sorted((given.at / "journal").glob("*.jsonl"))
        print(json.dumps(_verify(given.at) if given.side == "verify" else read(journals, given.side)))
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
        sides = {side: _run(side, bundle) for side in (*READS, "verify")}
    print(f"{'sha256sum -c':26} {sums:6.2f} s")
    for side, name in {**READS, "verify": "penmark verify"}.items():
        each = sides[side]
        print(f"{name:26} {each['seconds']:6.2f} s  {each['cpu']:6.2f} s of CPU  {each['mib']:6.0f} MiB")
    print(f"findings: {sides['verify']['told']}")
    for side, name in READS.items():
        told(f"against the sums and {name}", sides["verify"]["seconds"] / (sums + sides[side]["seconds"]), LIMIT)


def _bundle(root: Path, detectors: int, documents: int) -> Path:
    """A whole bundle of a made-up edition, closed and published."""
    import made

    from penmark import cards, protocol, study
    from penmark.corpus import manifest
    from penmark.format import canonical_json
    from penmark.page import descriptions, render_page
    from penmark.stages import publish, score
    from penmark.stages.commit import make_seals
    from penmark.stages.score import tables

    found = list(root.glob("*/SHA256SUMS"))
    if found:
        return found[0].parent
    edition = made.make(root, detectors=detectors, documents=documents, texts=True, evidence=True).edition
    promised = protocol.read_sealed(edition)
    known = {d.name: cards.read_sealed_card(edition, d.name).card for d in promised.detectors}
    scored = score.score_edition(edition)
    tabled = tables.compute_tables(scored, protocol.write_departures_csv(protocol.list_departures(promised, known)))
    for path, data in tabled.items():
        study.write_bytes(edition.root / path, data)
    heads = {f"journal/{name}": head for name, head in scored.heads.items()}
    make_seals.make_seal(
        edition, "evidence", promised.study, list(tabled), journals=heads, authorities=(), now="2026-12-31T23:59:59Z"
    )
    study.write_bytes(edition.report / "index.html", render_page(edition, tabled))
    study.write_bytes(edition.root / "format", b"1\n")
    study.write_bytes(edition.root / "seed.json", canonical_json.encode_json({"beacon": None, "seed": made.SEED.hex()}))
    descriptions.write_descriptions(edition, promised, manifest.read_manifest(edition), edition.root)
    publish._write_checksums(edition.root)
    return edition.root


def _run(side: str, bundle: Path) -> dict[str, float]:
    command = [sys.executable, __file__, "--side", side, "--at", str(bundle)]
    done: dict[str, float] = json.loads(subprocess.run(command, check=True, capture_output=True).stdout)
    return done


def _verify(bundle: Path) -> dict[str, object]:
    """All eight checks."""
    from penmark import timestamps
    from penmark.stages.verify.check8_page.remake import check_and_remake

    start, cpu = time.perf_counter(), time.process_time()
    found = check_and_remake(bundle, timestamps.Trust.load([]))
    failed = [f"{c.number} {c.subject}: {c.got}" for c in found if c.state == "failed"]
    return taken(start, cpu) | {"told": f"{len(found)}, {len(failed)} failed {failed[:3]}"}


if __name__ == "__main__":
    main()
