"""The words around the numbers of a bundle: README, CHANGES, citation, licence, catalogues, the second verifier.

*Reads* the bundle as far as it is made. *Writes* the files for people and catalogues. *Never* prints a number that is not
in a table: the block of Table 1 is generated, and check 8 holds it to the table.
"""

from __future__ import annotations

import csv
import io
import json
from importlib.resources import files
from pathlib import Path
from typing import Any

from penmark import study, timestamps
from penmark.corpus import manifest
from penmark.format import canonical_json
from penmark.format.show_figures import escape_markdown, render_markdown_table1
from penmark.page import limits_of_evidence
from penmark.protocol import amendments
from penmark.records import Protocol
from penmark.study.digests import digest_file
from penmark.study.seal_files import read_seal

_LONGEST = 2**16
"""No head of a table is longer (bytes)."""


def write_descriptions(
    edition: study.Edition, promised: Protocol, frozen: manifest.Manifest, out: Path, *, withdrawn: int = 0
) -> None:
    """Write every descriptive file of the bundle ``out``, whose other files are there. ``withdrawn``: texts that their
    authors took back after the freeze."""
    withheld = sum(row["withheld"] is not None for row in frozen.documents)
    for path, data in make_descriptions(edition, promised, out, withheld=withheld, withdrawn=withdrawn).items():
        study.write_bytes(out / path, data)
    study.write_bytes(out / "verify.py", files("penmark.standalone").joinpath("verify.py").read_bytes())


def make_descriptions(
    edition: study.Edition, promised: Protocol, out: Path, *, withheld: int, withdrawn: int
) -> dict[str, bytes]:
    """The descriptive files of the bundle ``out`` but verify.py, by path; they follow from its other files alone."""
    tables = {p.name: _read_header(p) for p in study.own(out / "tables", "*.csv")}
    return {
        "README.md": _render_readme(promised, out, withheld, withdrawn).encode(),
        "CHANGES.md": amendments.render_changes([edition], tag=promised.edition).encode(),
        "LICENSE": _LICENCE.encode(),
        "CITATION.cff": _render_citation(promised, out).encode(),
        "datapackage.json": canonical_json.format_json(_build_datapackage(promised, tables)),
        "croissant.json": canonical_json.format_json(_build_croissant(promised, tables, out)),
    }


def _render_readme(promised: Protocol, out: Path, withheld: int, withdrawn: int) -> str:
    table1 = study.read_bytes(out / "tables" / "table1.csv")
    timing = next(iter(csv.DictReader(io.StringIO(table1.decode()))), {}).get("timing", "prospective")
    when = (
        "**Retrospective**: the rules were written after the answers existed."
        if timing == "retrospective"
        else "Prospective: the rules were sealed before the answers existed."
    )
    announced = read_seal(study.Edition(out), "corpus").announced
    public = "" if announced is not None else " The protocol was not publicly pre-registered."
    stamped = study.own(out / "seals", "*.tsr")
    openssl = "\n".join(f"    {_format_openssl_line(token)}" for token in stamped)
    held = (
        "All texts are in `texts/`."
        if withheld == 0
        else "Some texts are withheld; `tables/documents.csv` says which and why."
    )
    if withdrawn:
        held = "Not all texts are here any more." if withheld == 0 else held
        held += (
            " Their authors took texts back after the freeze: `withdrawn.jsonl` says which. What was answered about them"
            " stays in journals and tables; it cannot be held against a text any more."
        )
    return _README.format(
        title=escape_markdown(promised.title),
        edition=promised.edition,
        study=promised.study,
        when=when,
        public=public,
        table1=render_markdown_table1(table1),
        held=held,
        openssl=openssl or "    (there is no timestamp token in this bundle)",
        roots=_ROOTS if stamped else "",
        cannot=_render_list(limits_of_evidence.CANNOT),
        catch=_render_list(limits_of_evidence.CATCH),
    )


def _format_openssl_line(token: Path) -> str:
    """The line that checks a token without penmark, also when the signer's certificate has expired."""
    at = timestamps.read_token_time(lambda name: study.read_bytes(token.with_name(name)), token.name)
    return timestamps.make_openssl_line(
        f"seals/{timestamps.name_sealed_file(token.name)}", f"seals/{token.name}", at=at
    )


def _render_list(items: tuple[str, ...]) -> str:
    return "\n".join(f"- {item}" for item in items)


def _read_header(path: Path) -> list[str]:
    with path.open("rb") as file:
        return next(csv.reader([file.readline(_LONGEST).decode("utf-8")]))


def _render_citation(promised: Protocol, out: Path) -> str:
    authors = "\n".join(f"  - name: {json.dumps(p.name, ensure_ascii=False)}" for p in promised.people)
    sealed = study.Edition(out).seal("evidence")
    date = read_seal(study.Edition(out), "evidence").sealed_at[:10]
    return f"""cff-version: 1.2.0
message: "If you use these data, cite this edition and the digest of its evidence seal, given here as an identifier."
type: dataset
title: {json.dumps(f"{promised.title}, edition {promised.edition}", ensure_ascii=False)}
authors:
{authors}
version: {json.dumps(promised.edition)}
date-released: {date}
identifiers:
  - type: other
    value: "sha256:{canonical_json.sha256(study.read_bytes(sealed))}"
    description: "SHA-256 of seals/evidence.json, which binds promise, corpus, journals and tables"
"""


def _build_datapackage(promised: Protocol, tables: dict[str, list[str]]) -> dict[str, Any]:
    return {
        "name": f"{promised.study}-{promised.edition}".lower(),
        "title": promised.title,
        "version": promised.edition,
        "profile": "tabular-data-package",
        "resources": [
            {
                "name": name.removesuffix(".csv"),
                "path": f"tables/{name}",
                "format": "csv",
                "encoding": "utf-8",
                "schema": {"fields": [{"name": column, "type": "string"} for column in header]},
            }
            for name, header in tables.items()
        ],
    }


def _build_croissant(promised: Protocol, tables: dict[str, list[str]], out: Path) -> dict[str, Any]:
    """Croissant 1.0 (MLCommons) metadata: the tables as file objects and record sets."""
    return {
        "@context": {
            "@vocab": "https://schema.org/",
            "cr": "http://mlcommons.org/croissant/",
            "sc": "https://schema.org/",
        },
        "@type": "sc:Dataset",
        "conformsTo": "http://mlcommons.org/croissant/1.0",
        "name": f"{promised.study}-{promised.edition}",
        "description": promised.title,
        "version": promised.edition,
        "distribution": [
            {
                "@type": "cr:FileObject",
                "@id": name,
                "contentUrl": f"tables/{name}",
                "encodingFormat": "text/csv",
                "sha256": digest_file(out / "tables" / name),
            }
            for name in tables
        ],
        "recordSet": [
            {
                "@type": "cr:RecordSet",
                "@id": name.removesuffix(".csv"),
                "field": [
                    {
                        "@type": "cr:Field",
                        "@id": f"{name.removesuffix('.csv')}/{column}",
                        "dataType": "sc:Text",
                        "source": {"fileObject": {"@id": name}, "extract": {"column": column}},
                    }
                    for column in header
                ],
            }
            for name, header in tables.items()
        ],
    }


_ROOTS = """
`ROOTS.pem` is a file of yours: the root certificates of the authorities that signed the timestamps, got from them and not
from here. A bundle cannot say whom to trust. Where no known authority signed, a timestamp is *not checked: authority
unknown*, which is no fault of the bundle; `penmark verify . --trust ROOTS.pem` says ok for those whose root you give.
"""

_LICENCE = """The tables, journals, seals and pages of this bundle may be used by anyone for any purpose (CC0 1.0, the public
domain dedication: creativecommons.org/publicdomain/zero/1.0). The texts and the vendors' raw answers are not ours to
license: each text has the licence that its provenance names (tables/documents.csv), and raw answers stand here as
evidence for what was measured.
verify.py is part of penmark and stands under the Apache License 2.0.
"""

_README = """# {title}

Edition {edition} of the study {study}: how often AI-text detectors call human writing AI, and how
often they find AI writing.
{when}{public}

## What was found

False positives first: human documents that a detector called AI. Rates are of answered documents, with Wilson intervals.

{table1}

Detectors stand in alphabetical order. There is no winner: a snapshot cannot support that sentence.
The whole of it, with the plots, is in `report/index.html`; every score is in `tables/readings.csv`. {held}

## Three ways to check

    sha256sum -c SHA256SUMS
{openssl}
    python3 verify.py .

`penmark verify .` makes all eight checks, `verify.py` those that need only the standard library of Python. Take both from
the penmark release, not from this bundle: the party that is checked should not supply the checker.
{roots}
## What this bundle cannot show

{cannot}

## How to catch us

{catch}

## Where things are

`protocol.yaml` is what was promised, `detectors/` the facts of each detector as sealed, `manifest.jsonl` the documents,
`journal/` every attempt and answer, `evidence/` the raw answers, `seals/` the digests with their timestamps, `tables/`
the numbers. Where there is a folder `replies/`, it has what vendors answered, unedited and outside the seals.
`seed.json` reveals the secret from which the scan order follows. Texts have licences of their own: see the provenance
column of `tables/documents.csv`.

In `tables/` and `screening.csv` a cell that a spreadsheet would run has an apostrophe (') before it; the exact characters
are in the JSON lines that it came from.
"""
