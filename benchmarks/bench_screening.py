"""How long it takes to screen a large corpus, whether that grows linearly, and near duplicates against datasketch.

    python benchmarks/bench_screening.py [--documents 20000] [--words 500] [--at FOLDER]

Makes a corpus of seeded texts in two arms, one text in a hundred a copy of another with some words changed. Prints seconds and
peak memory of the whole screening at a quarter of the documents and at all of them (each in a process of its own), and
beside each other the near-duplicate work alone: penmark's sketches, and datasketch's MinHash and LSH at the same threshold
on the same five-word sequences, both with each candidate verified exactly, and how many of the planted pairs they found.
*Reads* and *writes* a made-up study in a temporary folder, or in FOLDER, where it is kept.
"""

from __future__ import annotations

import argparse
import json
import random
import resource
import subprocess
import sys
import tempfile
import time
from collections.abc import Iterator
from pathlib import Path
from typing import Any

TAG, SEED, MEMORY = "BENCH-2026-Q4", 11, 24
LINEAR = 1.5
"""Seconds a document at most grow so many times from a quarter of the documents to all of them."""
SHARED, PERMUTATIONS = 0.30, 64


def main() -> None:
    """Make both corpora, measure every side, print."""
    options = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    options.add_argument("--documents", type=int, default=20_000)
    options.add_argument("--words", type=int, default=500)
    options.add_argument("--at", type=Path, default=None)
    options.add_argument("--side", choices=["screen", "penmark", "datasketch"], default=None, help=argparse.SUPPRESS)
    given = options.parse_args()
    if given.side is not None:
        print(json.dumps({"screen": screened, "penmark": sketched, "datasketch": minhashed}[given.side](given.at)))
        return
    with tempfile.TemporaryDirectory(prefix="penmark-benchmark-") as folder:
        roots = {}
        for count in (given.documents // 4, given.documents):
            roots[count] = (given.at or Path(folder)) / f"{count}x{given.words}"
            if not roots[count].exists():
                make(roots[count], count, given.words)
        whole = {count: side("screen", root) for count, root in roots.items()}
        near = {name: side(name, roots[given.documents]) for name in ("penmark", "datasketch")}
    told(whole, near, given.documents // 100)


def side(name: str, root: Path) -> dict[str, Any]:
    """One side, in a process of its own; empty where a package is missing."""
    command = [sys.executable, __file__, "--side", name, "--at", str(root)]
    done = subprocess.run(command, check=False, capture_output=True, text=True)
    if done.returncode != 0 and "No module named 'datasketch'" in done.stderr:
        return {}
    if done.returncode != 0:
        raise SystemExit(done.stderr)
    found: dict[str, Any] = json.loads(done.stdout)
    return found


def told(whole: dict[int, dict[str, Any]], near: dict[str, dict[str, Any]], planted: int) -> None:
    """Every side, the ratios, the limits."""
    for count, found in whole.items():
        each = 1e3 * found["seconds"] / count
        print(
            f"{count:>9,} documents screened in {found['seconds']:7.1f} s, {each:.2f} ms each, {found['memory']:.2f} GiB"
        )
    few, many = whole
    grown = (whole[many]["seconds"] / many) / (whole[few]["seconds"] / few)
    print(
        f"a document takes {grown:.2f} times as long among four times as many (limit {LINEAR}); memory limit {MEMORY} GiB"
    )
    for name, found in near.items():
        if not found:
            print(f"near duplicates, {name}: not installed")
            continue
        print(
            f"near duplicates, {name:<10} {found['seconds']:7.1f} s, {found['memory']:.2f} GiB, "
            f"{found['planted']} of {planted} planted pairs, {found['pairs']} in all"
        )
    if near["datasketch"]:
        print(f"datasketch takes {near['datasketch']['seconds'] / near['penmark']['seconds']:.1f} times as long")


# --- the corpus ------------------------------------------------------------------------------------------------------


def texts(count: int, words: int) -> Iterator[tuple[str, str]]:
    """Id and text of each document; of a hundred the last is the first with one word in twenty changed."""
    draw = random.Random(SEED)
    vocabulary = [f"{draw.choice('bcdfglmnprstv')}{draw.choice('aeiou')}{number:x}" for number in range(20_000)]
    weights = [1 / (rank + 10) for rank in range(len(vocabulary))]
    first: list[str] = []
    for number in range(count):
        if number % 100 == 99:
            chosen = [draw.choice(vocabulary) if draw.random() < 0.05 else word for word in first]
        else:
            chosen = draw.choices(vocabulary, weights, k=words)
        first = chosen if number % 100 == 0 else first
        ended = [f"{word}." if place % 15 == 14 else word for place, word in enumerate(chosen)]
        yield f"d{number:07d}", " ".join(ended).capitalize() + "."


def make(root: Path, count: int, words: int) -> None:
    """A study of two arms with such texts, half each."""
    from penmark import protocol, study
    from penmark.format import canonical_json
    from penmark.records import Protocol
    from penmark.text import count_words as counted

    place = study.Study(root)
    held: dict[str, dict[str, bytes]] = {"A": {}, "C": {}}
    rows: dict[str, list[dict[str, Any]]] = {"A": [], "C": []}
    for number, (name, text) in enumerate(texts(count, words)):
        arm, raw = "AC"[number % 2], text.encode()
        address = canonical_json.sha256(raw)
        held[arm][address] = raw
        row = {"id": name, "arm": arm, "address": address, "canonical_sha256": address, "words": counted(text)}
        row |= {"characters": len(text), "language": None, "register": None, "subgroup": None, "author": None}
        row |= {"topic": None, "source": None, "exposures": [], "withheld": None, "provenance": _provenance(arm)}
        rows[arm].append(row)
    evidence = {"kinds": ["archive", "generated"], "grades": ["archived", "stated"]}
    arms = [
        {"name": arm, "title": arm, "truth": truth, "documents": len(rows[arm]), "headline": True, "filled": "-"}
        | {"evidence": evidence, "persists": True}
        for arm, truth in (("A", "human"), ("C", "ai"))
    ]
    detector = {"name": "coin", "card": "coin", "surface": "local", "tier": "-", "payer": "-", "relation": "none"}
    value = {"study": "made", "title": "made", "edition": TAG, "payer": "-", "schedule": "once", "arms": arms}
    value |= {"people": [{"name": "N", "role": "-", "interests": "none"}], "seed_sha256": "0" * 64}
    value |= {"window": {"opens": "2026-10-01", "closes": "2026-12-31"}, "detectors": [detector]}
    edition = study.Edition(root / "editions" / TAG)
    study.write_bytes(
        edition.protocol_json, protocol.encode_protocol(Protocol.model_validate_json(canonical_json.encode_json(value)))
    )
    for arm in rows:
        study.write_texts(place.arm(arm), held[arm])
        study.write_records(place.documents(arm), rows[arm])


def _provenance(arm: str) -> dict[str, Any]:
    if arm == "C":
        from penmark.records import Generated

        return Generated(grade="stated", provider="P", model="M").model_dump(mode="json")
    from penmark.records import Archive

    made = Archive(grade="archived", source="s", archive="a", evidence_date="2020-01-01", licence="CC0")
    return made.model_dump(mode="json")


def corpus(root: Path) -> list[str]:
    """Every text, the two arms one after the other, in the order of their files."""
    from penmark import study

    place = study.Study(root)
    return [raw.decode() for arm in ("A", "C") for _, raw, _ in study.read_texts(place.arm(arm))]


def named(root: Path) -> dict[str, int]:
    """The number of each document, by the address of its text."""
    from penmark import study

    place = study.Study(root)
    return {
        row["address"]: int(row["id"][1:])
        for arm in ("A", "C")
        for _, row in study.read_json_lines(place.documents(arm))
    }


# --- the sides -------------------------------------------------------------------------------------------------------


def screened(root: Path) -> dict[str, Any]:
    """The whole screening."""
    from penmark import protocol, study
    from penmark.stages import screen

    place = study.Study(root)
    edition = study.Edition(root / "editions" / TAG)
    promised = protocol.read_sealed(edition)
    start = time.perf_counter()
    found = screen.screen_corpus(place, edition, promised)
    return measured(start) | {"findings": len(found)}


def sketched(root: Path) -> dict[str, Any]:
    """Near duplicates as the screening finds them."""
    from penmark.stages.screen.near_duplicates import Sketches, verify_candidates
    from penmark.text import fold_white_space

    every = corpus(root)
    start = time.perf_counter()
    sketches = Sketches()
    for position, text in enumerate(every):
        sketches.add(position, fold_white_space(text))
    pairs = sketches.candidates()
    within = {position for pair in pairs for position in pair}
    held = ((position, fold_white_space(every[position])) for position in sorted(within))
    found = [(one, other) for one, other, _ in verify_candidates(sketches, pairs, held)]
    return measured(start) | {"pairs": len(found), "planted": planted(every, found, named(root))}


def minhashed(root: Path) -> dict[str, Any]:
    """Near duplicates by datasketch, each candidate verified exactly."""
    from datasketch import MinHash, MinHashLSH  # type: ignore[import-not-found]

    from penmark.stages.screen.near_duplicates import Sketches, compute_jaccard
    from penmark.text import fold_white_space as fold

    every = corpus(root)
    start = time.perf_counter()
    index = MinHashLSH(threshold=SHARED, num_perm=PERMUTATIONS)
    pairs: list[tuple[int, int]] = []
    for position, text in enumerate(every):
        words = fold(text).lower().replace(".", "").split(" ")
        sketch = MinHash(num_perm=PERMUTATIONS)
        sketch.update_batch([" ".join(words[i : i + 5]).encode() for i in range(len(words) - 4)])
        pairs += [(other, position) for other in index.query(sketch)]
        index.insert(position, sketch)
    exact = Sketches()
    found = [
        (one, other)
        for one, other in pairs
        if compute_jaccard(exact.sequences(fold(every[one])), exact.sequences(fold(every[other]))) >= SHARED
    ]
    return measured(start) | {"pairs": len(found), "planted": planted(every, found, named(root))}


def planted(every: list[str], found: list[tuple[int, int]], names: dict[str, int]) -> int:
    """How many of the pairs that were planted are among those that were found."""
    from penmark.format import canonical_json as format_canonical_json

    numbers = ([names[format_canonical_json.sha256(every[at].encode())] for at in pair] for pair in found)
    return sum(one // 100 == other // 100 for one, other in numbers)


def measured(start: float) -> dict[str, Any]:
    """Seconds since ``start``, and the peak memory of this process (GiB), without that of the one that began it."""
    status = Path("/proc/self/status")
    if status.exists():
        peak = next(line for line in status.read_text().splitlines() if line.startswith("VmHWM")).split()[1]
    else:
        peak = str(resource.getrusage(resource.RUSAGE_SELF).ru_maxrss)
    return {"seconds": time.perf_counter() - start, "memory": int(peak) / 2**20}


if __name__ == "__main__":
    main()
