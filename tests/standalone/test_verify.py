"""The stand-alone verifier against a bundle made by hand, against forgers, and against broken and hostile bytes.

Every forgery changes one thing and makes everything later from the change; the test names the checks that must notice,
and no other may. `handmade.py` computes the expected bundle without a line of the verifier; the literal cells below were
worked out from the list of answers in it, and the intervals with another program.
"""

from __future__ import annotations

import ast
import csv
import importlib.util
import io
import json
import os
import random
import re
import shutil
import subprocess
import sys
from collections.abc import Callable
from pathlib import Path
from types import ModuleType
from typing import Any

import pytest
import rfc8785
from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st

HERE = Path(__file__).parent
VERIFIER = HERE.parents[1] / "src" / "penmark" / "standalone" / "verify.py"


def load(name: str, path: Path) -> ModuleType:
    spec = importlib.util.spec_from_file_location(name, path)
    assert spec is not None
    assert spec.loader is not None
    module = importlib.util.module_from_spec(spec)
    spec.loader.exec_module(module)
    return module


verify = load("standalone_verify", VERIFIER)
handmade = load("standalone_handmade", HERE / "handmade.py")
GOLDEN = handmade.build()
Files = dict[str, bytes]


def checks_of(root: Path) -> list[dict[str, Any]]:
    found: list[dict[str, Any]] = verify.verify(root)
    assert [number for number in range(1, 9) if number not in {check["number"] for check in found}] == []
    return found


def failed(checks: list[dict[str, Any]]) -> set[int]:
    return {check["number"] for check in checks if check["state"] == "failed"}


def named(checks: list[dict[str, Any]], number: int, path: str) -> bool:
    told = [check for check in checks if check["state"] == "failed" and check["number"] == number]
    return any(path in check["subject"] + check["got"] for check in told)


def resummed(files: Files) -> Files:
    return files | {"SHA256SUMS": handmade.sums(files)}


def rows(name: str, files: Files = GOLDEN) -> list[dict[str, str]]:
    return list(csv.DictReader(io.StringIO(files[f"tables/{name}.csv"].decode(), newline="")))


# ---- a true bundle ---------------------------------------------------------------------------------------------------


@pytest.mark.parametrize("retrospective", [False, True])
def test_a_true_bundle_passes(tmp_path: Path, retrospective: bool) -> None:
    handmade.write(handmade.build(retrospective=retrospective), tmp_path)
    checks = checks_of(tmp_path)
    assert failed(checks) == set()
    assert {check["number"] for check in checks if check["state"] == "ok"} == set(range(1, 8))
    assert any(check["got"].startswith("retrospective") for check in checks) == retrospective
    assert {check["state"] for check in checks if check["number"] == 8} == {"not checked"}
    openssl = [check["remedy"] for check in checks if check["remedy"].startswith("openssl ts -verify")]
    assert len(openssl) == 5
    assert openssl[-2].endswith("seals/promise-example.tsr -CAfile ROOTS.pem -attime 1790812800")


def test_the_reference_follows_the_published_schemas() -> None:
    jsonschema = pytest.importorskip("jsonschema")
    folder = HERE.parents[1] / "docs" / "schemas"
    lines = {
        path: [json.loads(line) for line in data.splitlines()] for path, data in GOLDEN.items() if "jsonl" in path[-5:]
    }
    files = {path: json.loads(data) for path, data in GOLDEN.items() if path.endswith(".json") and "/" in path}
    readings = [
        line for path in lines if path.startswith("journal/") for line in lines[path] if line["kind"] == "reading"
    ]
    for line in readings:
        del line["kind"], line["at"], line["prev"]
    records = {
        "protocol": [json.loads(GOLDEN["protocol.json"])],
        "sealed-card": [files[path] for path in files if path.startswith("detectors/")],
        "seal": [files[path] for path in files if path.startswith("seals/")],
        "amendment": [files[path] for path in files if path.startswith("amendments/")],
        "deviation": lines["deviations.jsonl"],
        "document": lines["manifest.jsonl"][1:],
        "reading": readings,
    }
    for name, values in records.items():
        schema = json.loads((folder / f"{name}.json").read_text("utf-8"))
        assert values
        for value in values:
            jsonschema.Draft202012Validator(schema).validate(value)


def test_cells_worked_out_by_hand() -> None:
    arms = {(row["detector"], row["version"], row["arm"]): row for row in rows("rates") if row["slice_by"] == ""}
    # alpha on A: 0.10 no, 0.50 yes (at the boundary), unsure (0.3 to 0.45) no, one refusal
    assert list(arms["alpha", "a-1", "A"].values())[5:] == (
        ["4", "3", "1", "1", "1", "0", "0", "0.333333", "0.061492", "0.792340", "0.045587", "0.849961"]
    )
    # alpha on C: 1 yes; one failed; 1.5 is outside the scale
    assert list(arms["alpha", "a-1", "C"].values())[5:] == (
        ["3", "1", "1", "0", "2", "0", "0", "1.000000", "0.206549", "1.000000", "0.061492", "1.000000"]
    )
    # gamma speaks of humans, at most 20 is AI: 99, 20, 55, and one text not scannable
    assert list(arms["gamma", "g1", "A"].values())[5:13] == ["4", "3", "1", "0", "0", "1", "0", "0.333333"]
    # beta on B: human, mixed, human; mixed is a flag only in the lenient table
    lenient = {(row["detector"], row["arm"]): row["k"] for row in rows("rates_lenient") if row["slice_by"] == ""}
    assert (arms["beta", "", "B"]["k"], lenient["beta", "B"]) == ("0", "1")
    table1 = {(row["detector"], row["version"]): row for row in rows("table1")}
    alpha, second = table1["alpha", "a-1"], table1["gamma", "g2"]
    assert [alpha[at] for at in ("fp_rate", "fp_low", "fp_high", "human_mix")] == (
        ["0.500000", "0.187616", "0.812384", "3 A + 3 B"]
    )
    assert [alpha[at] for at in ("declined", "failed", "in_doubt", "status")] == ["2", "1", "0", "COMPLETE"]
    assert [second[at] for at in ("version_state", "fp_rate", "status")] == ["changed", "", "INCOMPLETE 2 of 12"]
    assert (alpha["first_scanned_at"], alpha["last_scanned_at"]) == ("2026-10-02T00:00:00.0Z", "2026-10-02T00:00:09.9Z")
    units = {(row["detector"], row["version"], row["arm"]): list(row.values())[4:] for row in rows("units")}
    # B: two documents of topic t1, one of t2. gamma flags that of t2: ((0·3 - 2·1)² + (1·3 - 1·1)²) / (3·1·2) = 4/3
    assert units["gamma", "g1", "B"] == ["3", "3", "1", "2", "1.333333", "2.250000", "", "", "fewer than 15 units"]
    assert units["alpha", "a-1", "B"][4:6] == ["1.000000", "3.000000"]  # 2/6 is less than one
    assert units["beta", "", "B"][4:6] == ["1.500000", "2.000000"]  # none flagged: 3 documents, 2 units
    assert units["alpha", "a-1", "A"][1:] == ["3", "1", "1", "", "", "", "", "2 without author"]
    assert units["alpha", "a-1", "D"][1:] == ["0", "0", "0", "", "", "", "", "no answers"]
    agreement = [row["count"] for row in rows("agreement") if row["arm"] == "B"]
    assert agreement == ["1", "1", "1", "0"]  # B-01 by none, B-03 by alpha, B-02 by alpha and gamma


def test_states_and_reasons_worked_out_by_hand() -> None:
    pairs = {(row["detector"], row["version"], row["document"]): row for row in rows("readings")}
    reasons = {
        ("alpha", "a-1", "A-04"): ("declined", "the vendor wants more words"),
        ("alpha", "a-1", "'=C2"): ("failed", "HTTP 500 three times"),
        ("alpha", "a-1", "C-3"): ("declined", "score outside the declared scale: 1.5"),
        ("alpha", "a-1", "D-1"): ("declined", "other text scanned"),
        ("alpha", "a-1", "D-2"): ("in_doubt", "sent at 2026-10-02T00:00:11Z, no answer on record"),
        ("beta", "", "A-04"): ("declined", 'verdict not in the card: =maybe, "perhaps"\nor not'),
        ("beta", "", "D-2"): ("not_run", "not asked"),
        ("gamma", "g1", "A-03"): ("not_scannable", "not a language of this detector"),
        ("gamma", "g1", "C-3"): ("not_run", "answered under version g2"),
        ("gamma", "g2", "A-03"): ("not_run", "not asked"),
    }
    assert {key: (pairs[key]["state"], pairs[key]["reason"]) for key in reasons} == reasons
    assert pairs["alpha", "a-1", "'=C2"]["attempts"] == "3"
    assert pairs["alpha", "a-1", "A-02"]["displayed"] == "0.50"
    assert pairs["beta", "", "A-04"]["displayed"] == '\'=maybe, "perhaps"\nor not'
    assert {row["timing"] for row in pairs.values()} == {"prospective"}
    assert {row["timing"] for row in rows("readings", handmade.build(retrospective=True))} == {"retrospective"}


def crowd(study: Any) -> None:
    """A thousand more documents in A, by forty authors, of whom twenty write what beta takes for AI."""
    first = study.documents[0]
    for document in study.documents[:4]:
        document["author"] = "w0"
    extra = []
    for number in range(1000):
        name, text = f"A-{number + 1000}", f"Text number {number} of many.".encode()
        study.texts[name] = study.published[handmade.sha256(text)] = text
        facts = {"id": name, "address": handmade.sha256(text), "canonical_sha256": handmade.sha256(text), "words": 5}
        extra.append(first | facts | {"characters": len(text), "author": f"w{number % 40}"})
    study.documents[4:4] = extra
    study.header["arms"]["A"], study.header["documents"] = 1004, 1012


def test_a_thousand_texts_travel_in_shards(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    for number in range(1000):
        shown = "Likely AI" if number % 40 < 20 and number % 7 < 5 else "Likely human"
        monkeypatch.setitem(handmade.BETA, f"A-{number + 1000}", shown)
    forge = {"protocol": lambda study: study.protocol["arms"][0].update(documents=1004), "corpus": crowd}
    files = handmade.build(forge)
    assert "texts/0001.jsonl.gz" in files
    beta = next(row for row in rows("units", files) if row["detector"] == "beta")
    assert (beta["n"], beta["units"], beta["reason"]) == ("1003", "40", "")
    assert float(beta["deff"]) > 10
    assert float(beta["low"]) < int(beta["k"]) / 1003 < float(beta["high"])
    assert failed(checks_of(handmade.write(files, tmp_path))) == set()
    shard = files.pop("texts/0001.jsonl.gz")
    lines = handmade.gzip.decompress(shard).splitlines(keepends=True)
    for place, texts in {
        "texts/0002.jsonl.gz": {"texts/0002.jsonl.gz": shard},
        "texts/0001.jsonl.gz:2": {"texts/0001.jsonl.gz": handmade.packed(b"".join(reversed(lines)))},
        "1 loose": {"texts/0001.jsonl.gz": shard, f"texts/{'0' * 64}.txt": b""},
        "0 texts": {"texts/0001.jsonl.gz": shard, "texts/0002.jsonl.gz": handmade.packed(b"")},
        "500 texts": {
            "texts/0001.jsonl.gz": handmade.packed(b"".join(lines[:500])),
            "texts/0002.jsonl.gz": handmade.packed(b"".join(lines[500:])),
        },
    }.items():
        shutil.rmtree(tmp_path)
        checks = checks_of(handmade.write(resummed(files | texts), tmp_path))
        assert failed(checks) == {4}
        assert named(checks, 4, place)


# ---- forgeries -------------------------------------------------------------------------------------------------------

Forger = Callable[[Any], object]
Forgery = tuple[str, int, str, set[int] | None, Callable[[], Files]]
FORGERIES: list[Forgery] = []


def forgery(
    number: int, path: str, stage: str = "raw", also: set[int] | None = frozenset()
) -> Callable[[Forger], Forger]:  # type: ignore[assignment]
    """A change that check `number` must notice, with the name of the file; of the others, only `also` (None: any).

    `raw` forgers change the finished files, with the sums made again; the others change the study at a stage.
    """

    def register(forge: Forger) -> Forger:
        def make() -> Files:
            if stage != "raw":
                built: Files = handmade.build({stage: forge})
                return built
            files = dict(GOLDEN)
            forge(files)
            return resummed(files)

        FORGERIES.append((forge.__name__, number, path, also, make))
        return forge

    return register


def line_of(study: Any, path: str, document: str, kind: str = "reading") -> Any:
    lines = study.journals[path]
    return next(line for line in lines if line.get("document") == document and line["kind"] == kind)


def edited_line(files: Files, path: str, number: int, **facts: Any) -> None:
    lines = files[path].split(b"\n")
    lines[number - 1] = handmade.canonical(json.loads(lines[number - 1]) | facts)
    files[path] = b"\n".join(lines)


def address_at(files: Files, line: int) -> str:
    return str(json.loads(files["manifest.jsonl"].split(b"\n")[line - 1])["address"])


# 1 sums: nothing is recomputed, or the list itself is bent


@forgery(1, "notes.txt")
def a_file_that_the_format_does_not_know(files: Files) -> None:
    files["notes.txt"] = b"hello\n"


@forgery(1, "LICENSE")
def a_file_left_out_with_its_sum(files: Files) -> None:
    del files["LICENSE"]


@forgery(1, "texts/nested/a.txt")
def a_folder_in_a_folder(files: Files) -> None:
    files["texts/nested/a.txt"] = b"x"


@forgery(1, "format", also=None)
def no_format(files: Files) -> None:
    files["format"] = b"0\n"


@forgery(2, "seals/promise.json", also=None)
def another_format(files: Files) -> None:
    files["format"] = b"3\n"


# 2 seals


@forgery(2, "screening.csv")
def a_screening_finding_removed_later(files: Files) -> None:
    files["screening.csv"] += b"warning,duplicate,A,A-01,,,said twice,\n"


@forgery(2, "seals/corpus.json", "protocol")
def a_corpus_sealed_before_the_promise(study: Any) -> None:
    study.sealed_at["promise"] = handmade.at(1, 90)


@forgery(2, "seals/corpus-example.tsr")
def a_token_of_another_seal(files: Files) -> None:
    files["seals/corpus-example.tsr"] = files["seals/promise-example.tsr"]


@forgery(2, "seals/corpus-example.tsr")
def a_token_cut_off(files: Files) -> None:
    files["seals/corpus-example.tsr"] = files["seals/corpus-example.tsr"][:-4]


@forgery(2, "seals/corpus.json")
def a_token_made_after_the_next_seal(files: Files) -> None:
    files["seals/promise-example.tsr"] = handmade.token(files["seals/promise.json"], handmade.at(1, 75))


@forgery(2, "seals/promise-example.tsr")
def a_token_that_was_refused(files: Files) -> None:
    files["seals/promise-example.tsr"] = files["seals/promise-example.tsr"].replace(
        b"\x30\x03\x02\x01\x00", b"\x30\x03\x02\x01\x02"
    )


@forgery(2, "seals/heads-0001.json previous", "heads")
def a_chain_that_skips_a_seal(study: Any) -> None:
    study.seals["heads-0001"]["previous"] = study.seals["corpus"]["previous"]


@forgery(2, "seals/evidence.json study", "seals")
def a_seal_of_another_study(study: Any) -> None:
    study.seals["evidence"]["study"] = "another"


@forgery(2, "seals/evidence.json digests", "seals")
def a_table_left_out_of_the_seal(study: Any) -> None:
    del study.seals["evidence"]["digests"]["tables/departures.csv"]


@forgery(2, "seals/heads-*.json")
def a_gap_in_the_heads(files: Files) -> None:
    for end in (".json", "-example.tsr"):
        files[f"seals/heads-0002{end}"] = files.pop(f"seals/heads-0001{end}")


@forgery(2, "seals/promise-example.tsr")
def a_promise_rewritten_after_the_results(files: Files) -> None:
    tokens = {path: data for path, data in files.items() if path.endswith(".tsr")}

    def tuned(study: Any) -> None:
        study.protocol["detectors"][0]["rule"]["value"] = "2"

    files |= handmade.build({"protocol": tuned}) | tokens  # nobody can make old tokens for new seals


@forgery(2, "seals/corpus.json sealed_at", "corpus_seal")
def a_corpus_that_says_it_is_older(study: Any) -> None:
    study.seals["corpus"]["sealed_at"] = "2026-09-30T00:00:00Z"


@forgery(2, "seals/heads-0009-example.tsr")
def a_token_of_nothing(files: Files) -> None:
    files["seals/heads-0009-example.tsr"] = files["seals/promise-example.tsr"]


# 3 protocol


def reprotocol(study: Any, **facts: Any) -> None:
    study.files["protocol.json"] = handmade.canonical(study.protocol | facts)
    study.seals["promise"]["digests"]["protocol.json"] = handmade.sha256(study.files["protocol.json"])


@forgery(3, "protocol.json level", "promise", also=None)
def a_level_of_its_own(study: Any) -> None:
    reprotocol(study, level="0.80")


@forgery(3, "protocol.json", "promise", also=None)
def an_arm_twice(study: Any) -> None:
    reprotocol(study, arms=[*study.protocol["arms"], study.protocol["arms"][0]])


@forgery(3, "protocol.json", "promise", also=None)
def a_detector_twice(study: Any) -> None:
    reprotocol(study, detectors=[*study.protocol["detectors"], study.protocol["detectors"][0]])


@forgery(3, "protocol.json", also=None)  # the intervals differ too
def a_promise_changed_without_its_seal(files: Files) -> None:
    files["protocol.json"] = files["protocol.json"].replace(b'"level":"0.95"', b'"level":"0.90"')


@forgery(3, "protocol.yaml", also={2})
def a_readable_protocol_changed_later(files: Files) -> None:
    files["protocol.yaml"] += b"# and one more\n"


@forgery(3, "detectors/beta.json", "promise", also={2})
def a_card_that_was_not_promised(study: Any) -> None:
    del study.seals["promise"]["digests"]["detectors/beta.json"]


@forgery(3, "detectors/delta.json", "tables")
def a_card_that_the_protocol_does_not_name(study: Any) -> None:
    study.cards["delta"] = study.cards["beta"]


@forgery(3, "protocol.json edition", "protocol", also={4})
def a_promise_of_another_edition(study: Any) -> None:
    study.protocol["edition"] = "BENCH-2027-Q1"


@forgery(3, "deviations.jsonl")
def a_deviation_that_is_not_canonical(files: Files) -> None:
    files["deviations.jsonl"] = files["deviations.jsonl"].replace(b'":', b'": ')


@forgery(3, "protocol.json", "promise", also=None)
def a_protocol_with_a_line_end(study: Any) -> None:
    study.files["protocol.json"] += b"\n"
    study.seals["promise"]["digests"]["protocol.json"] = handmade.sha256(study.files["protocol.json"])


@forgery(3, "detectors/gamma.json", "tables", also=None)
def a_rule_of_an_unknown_kind(study: Any) -> None:
    next(one for one in study.protocol["detectors"] if one["name"] == "gamma")["rule"]["kind"] = "mood"


# 4 manifest


@forgery(4, "manifest.jsonl:2", "corpus", also=None)
def a_register_that_is_a_number(study: Any) -> None:
    study.documents[0]["register"] = 5


@forgery(4, "in shards")
def few_texts_in_a_shard(files: Files) -> None:
    texts = {path: files.pop(path).decode() for path in list(files) if path.startswith("texts/")}
    lines = [{"address": path[6:-4], "text": text} for path, text in sorted(texts.items())]
    files["texts/0001.jsonl.gz"] = handmade.packed(handmade.jsonl(lines))


@forgery(4, "manifest.jsonl:2 words", "corpus")
def a_wrong_count_of_words(study: Any) -> None:
    study.documents[0]["words"] += 1


@forgery(4, "manifest.jsonl:4 characters", "corpus")
def a_wrong_count_of_characters(study: Any) -> None:
    study.documents[2]["characters"] -= 1  # the accent alone


@forgery(4, "manifest.jsonl:3 canonical_sha256", "corpus")
def a_digest_of_the_text_as_it_is(study: Any) -> None:
    study.documents[1]["canonical_sha256"] = study.documents[1]["address"]


@forgery(4, "texts/")
def a_text_exchanged(files: Files) -> None:
    path = f"texts/{address_at(files, 2)}.txt"
    files[path] = files[path].replace(b"three", b"seven")


@forgery(4, "draft of D-1")
def a_draft_exchanged(files: Files) -> None:
    files[f"texts/{handmade.sha256(handmade.DRAFT.encode())}.txt"] = (
        b"A draft of three lies, and of eleven words more, or thereabouts, ten."
    )


@forgery(4, "manifest.jsonl:12")
def a_draft_left_out(files: Files) -> None:
    del files[f"texts/{handmade.sha256(handmade.DRAFT.encode())}.txt"]


@forgery(4, "texts/", also={5})
def a_salt_exchanged(files: Files) -> None:
    edited_line(files, "salts.jsonl", 1, salt="00" * 32)


@forgery(4, "salts.jsonl")
def a_salt_of_a_withheld_text(files: Files) -> None:
    files["salts.jsonl"] += handmade.jsonl([{"document": "B-03", "salt": "00" * 32}])


@forgery(4, "texts/")
def a_withheld_text_published(files: Files) -> None:
    files[f"texts/{address_at(files, 8)}.txt"] = b"Nobody may read this."


@forgery(4, "manifest.jsonl:8", "corpus")
def facts_of_a_withheld_text(study: Any) -> None:
    study.document("B-03")["words"] = 4


@forgery(4, "manifest.jsonl:1 documents", "corpus")
def a_header_that_counts_one_more(study: Any) -> None:
    study.header["documents"] = 13


@forgery(4, "manifest.jsonl:3", "corpus")
def documents_out_of_order(study: Any) -> None:
    study.documents[0], study.documents[1] = study.documents[1], study.documents[0]


@forgery(4, "manifest.jsonl:2", "corpus", also=None)
def a_fact_that_the_format_does_not_know(study: Any) -> None:
    study.documents[0]["mood"] = "good"


@forgery(4, "manifest.jsonl:3", "files", also=None)
def one_id_twice(study: Any) -> None:
    lines = [study.header, study.documents[0], *study.documents]
    study.files["manifest.jsonl"] = handmade.jsonl(lines)


@forgery(4, "manifest.jsonl:5 evidence_date", "corpus")
def a_date_after_the_cutoff(study: Any) -> None:
    study.document("A-04")["provenance"]["evidence_date"] = "2023-01-01"


@forgery(4, "manifest.jsonl:12 words_changed", "corpus")
def an_edit_over_its_budget(study: Any) -> None:
    study.document("D-1")["provenance"]["words_changed"] = 2


@forgery(4, "manifest.jsonl:12 draft_words", "corpus")
def a_draft_made_longer_on_paper(study: Any) -> None:
    study.document("D-1")["provenance"]["draft_words"] = 140


@forgery(4, "manifest.jsonl, arm A, {'register': 'academic'}", "corpus")
def a_quota_not_met(study: Any) -> None:
    study.document("A-01")["register"] = "casual"


@forgery(4, "manifest.jsonl, arm A", "protocol")
def an_arm_smaller_than_promised(study: Any) -> None:
    study.protocol["arms"][0]["documents"] = 5


@forgery(4, "seed.json")
def another_seed(files: Files) -> None:
    files["seed.json"] = files["seed.json"].replace(b"0102", b"0103")


@forgery(4, "journal/alpha.jsonl", "journals")
def a_scan_in_another_order(study: Any) -> None:
    lines, names = study.journals["journal/alpha.jsonl"], study.order()[:2]
    first = [[line for line in lines if line.get("document") == name] for name in names]
    rest = [line for line in lines[1:] if line.get("document") not in names]
    study.journals["journal/alpha.jsonl"] = [lines[0], *first[1], *first[0], *rest]
    evidence = study.evidence["alpha"]
    study.evidence["alpha"] = sorted(
        evidence, key=lambda line: names[::-1].index(line["document"]) if line["document"] in names else 2
    )


@forgery(4, "journal/gamma.1of2.jsonl", "journals")
def a_shard_with_the_documents_of_another(study: Any) -> None:
    one, two = study.journals["journal/gamma.1of2.jsonl"], study.journals["journal/gamma.2of2.jsonl"]
    study.journals["journal/gamma.1of2.jsonl"] = [one[0], *one[1:], *two[-2:]]
    study.journals["journal/gamma.2of2.jsonl"] = two[:-2]
    names = [
        line["document"]
        for path in sorted(study.journals)
        if "gamma" in path
        for line in study.journals[path]
        if line["kind"] == "reading"
    ]
    study.evidence["gamma"].sort(key=lambda line: names.index(line["document"]))


# 5 journals


@forgery(5, "journal/alpha.jsonl", "journals")
def a_score_that_the_evidence_does_not_hold(study: Any) -> None:
    line_of(study, "journal/alpha.jsonl", "A-01").update(score="0.90", displayed="0.90")


@forgery(5, "journal/alpha.jsonl", "journals")
def a_label_that_the_evidence_does_not_hold(study: Any) -> None:
    line_of(study, "journal/alpha.jsonl", "A-01").update(label="AI")


@forgery(5, "journal/alpha.jsonl", "journals")
def other_digits_of_the_same_number(study: Any) -> None:
    line_of(study, "journal/alpha.jsonl", "A-02").update(score="0.5", displayed="0.5")


@forgery(5, "journal/beta.jsonl", "journals")
def a_label_that_the_display_does_not_hold(study: Any) -> None:
    line_of(study, "journal/beta.jsonl", "A-02").update(label="Likely AI")


@forgery(5, "evidence/alpha-0001.jsonl.gz", "journals")
def an_answer_changed_in_the_evidence(study: Any) -> None:
    line = study.evidence["alpha"][0]
    line["body"] = line["body"].replace("MIXED", "Mixed")


@forgery(5, "journal/alpha.jsonl", "journals")
def an_answer_exchanged_for_another_that_says_the_same(study: Any) -> None:
    line = study.evidence["alpha"][0]
    line["body"] += " "
    line["sha256"] = study.address(line["document"], line["body"].encode())


@forgery(5, "journal/alpha.jsonl", "journals")
def evidence_left_out(study: Any) -> None:
    del study.evidence["alpha"][-1]


@forgery(5, "evidence/alpha-0001.jsonl.gz", "journals")
def evidence_twice(study: Any) -> None:
    study.evidence["alpha"].append(study.evidence["alpha"][-1])


@forgery(5, "evidence/alpha-0001.jsonl.gz", "files")
def evidence_of_a_withheld_text(study: Any) -> None:
    line = line_of(study, "journal/alpha.jsonl", "B-03")
    body = handmade.ALPHA["B-03"].replace("SENT", '"Nobody may read this."')
    record = {"attempt": 1, "body": body, "detector": "alpha", "document": "B-03", "encoding": "utf-8"}
    lines = [*study.evidence["alpha"], record | {"sha256": line["evidence_sha256"]}]
    study.files["evidence/alpha-0001.jsonl.gz"] = handmade.packed(handmade.jsonl(lines))


@forgery(5, "evidence/alpha-0001.jsonl.gz", "files", also=None)
def evidence_packed_with_a_time(study: Any) -> None:
    data = bytearray(study.files["evidence/alpha-0001.jsonl.gz"])
    data[4] = 1
    study.files["evidence/alpha-0001.jsonl.gz"] = bytes(data)


@forgery(5, "journal/beta.jsonl", "journals")
def a_second_final_reading(study: Any) -> None:
    lines = study.journals["journal/beta.jsonl"]
    lines.append(lines[-1] | {"displayed": "Likely AI", "label": "Likely AI"})


@forgery(5, "journal/alpha.jsonl", "journals")
def asked_again_after_the_answer(study: Any) -> None:
    study.journals["journal/alpha.jsonl"].append(
        {"kind": "sent", "document": "D-1", "attempt": 2, "at": handmade.at(4)}
    )


@forgery(5, "journal/alpha.jsonl", "journals")
def asked_again_though_in_doubt(study: Any) -> None:
    study.journals["journal/alpha.jsonl"].append(
        {"kind": "sent", "document": "D-2", "attempt": 2, "at": handmade.at(4)}
    )


@forgery(5, "journal/alpha.jsonl", "journals")
def an_answer_without_a_question(study: Any) -> None:
    lines = study.journals["journal/alpha.jsonl"]
    lines.remove(line_of(study, "journal/alpha.jsonl", "A-03", "sent"))


@forgery(5, "journal/gamma.", "journals")
def a_text_skipped_and_read(study: Any) -> None:
    path = next(
        path
        for path in study.journals
        if "gamma" in path and any(line.get("document") == "A-01" for line in study.journals[path])
    )
    study.journals[path].append({"kind": "skipped", "document": "A-01", "at": handmade.at(6), "reason": "too short"})


@forgery(5, "journal/alpha.jsonl", "journals")
def an_answer_hidden_as_a_refusal(study: Any) -> None:
    line_of(study, "journal/alpha.jsonl", "A-02").update(state="declined", reason="the vendor was tired")


@forgery(5, "journal/alpha.jsonl", "journals")
def an_answer_hidden_as_another_text(study: Any) -> None:
    line_of(study, "journal/alpha.jsonl", "A-02").update(state="declined", reason="other text scanned")


@forgery(5, "journal/alpha.jsonl", "journals")
def an_answer_without_its_evidence(study: Any) -> None:
    line_of(study, "journal/alpha.jsonl", "B-02").update(evidence_sha256=None)
    study.evidence["alpha"] = [line for line in study.evidence["alpha"] if line["document"] != "B-02"]


@forgery(5, "journal/alpha.jsonl", "journals")
def an_answer_about_another_text(study: Any) -> None:
    line_of(study, "journal/alpha.jsonl", "D-1").update(state="answered", reason=None)


@forgery(5, "journal/alpha.jsonl", "journals")
def a_reading_of_another_address(study: Any) -> None:
    line_of(study, "journal/alpha.jsonl", "A-01")["address"] = study.document("A-02")["address"]


@forgery(5, "journal/gamma.1of2.jsonl", "protocol")
def a_scan_after_the_window(study: Any) -> None:
    study.protocol["window"]["closes"] = "2026-10-05"


@forgery(5, "journal/alpha.jsonl:1 card_sha256", "journals")
def a_scan_under_another_card(study: Any) -> None:
    study.journals["journal/alpha.jsonl"][0]["card_sha256"] = "0" * 64


@forgery(5, "journal/alpha.jsonl:1 plugin", "journals")
def a_scan_by_another_program(study: Any) -> None:
    study.journals["journal/alpha.jsonl"][0]["plugin"] = {"name": "alpha", "version": "1.3"}


@forgery(5, "journal/delta.jsonl", also={2})
def a_detector_that_was_not_committed(files: Files) -> None:
    files["journal/delta.jsonl"] = files["journal/beta.jsonl"]


@forgery(5, "journal/alpha.jsonl", "heads")
def a_journal_rewritten_after_a_head_was_sealed(study: Any) -> None:
    study.seals["heads-0001"]["journals"]["journal/alpha.jsonl"]["head"] = "0" * 64


@forgery(5, "journal/beta.jsonl", "seals", also={2})
def a_journal_without_a_sealed_head(study: Any) -> None:
    del study.seals["evidence"]["journals"]["journal/beta.jsonl"]


@forgery(5, "journal/beta.jsonl:4 prev", "seals")
def a_line_put_into_the_chain(study: Any) -> None:
    lines = study.files["journal/beta.jsonl"].split(b"\n")[:-1]
    broken = handmade.canonical(json.loads(lines[3]) | {"prev": "0" * 64})
    rest = [json.loads(line) for line in lines[4:]]
    journal = b"\n".join([*lines[:3], broken]) + b"\n" + handmade.chained(rest, handmade.sha256(broken))
    study.files["journal/beta.jsonl"] = journal
    study.seals["evidence"]["journals"]["journal/beta.jsonl"] = handmade.head(journal)


@forgery(5, "evidence/alpha-0002.jsonl.gz")
def a_gap_in_the_evidence(files: Files) -> None:
    files["evidence/alpha-0002.jsonl.gz"] = files.pop("evidence/alpha-0001.jsonl.gz")


@forgery(5, "evidence/alpha-0002.jsonl.gz")
def evidence_without_a_line(files: Files) -> None:
    files["evidence/alpha-0002.jsonl.gz"] = handmade.packed(b"")


@forgery(5, "evidence/alpha-0001.jsonl.gz")
def evidence_cut_in_two(files: Files) -> None:
    lines = handmade.gzip.decompress(files["evidence/alpha-0001.jsonl.gz"]).splitlines(keepends=True)
    for number, part in enumerate((lines[:3], lines[3:]), 1):
        files[f"evidence/alpha-000{number}.jsonl.gz"] = handmade.packed(b"".join(part))


@forgery(5, "vendor_at", "journals")
def a_time_of_the_vendor_that_follows_from_nothing(study: Any) -> None:
    line_of(study, "journal/alpha.jsonl", "A-01").update(vendor_at=handmade.at(2))


@forgery(5, "journal/alpha.jsonl", "heads")
def a_journal_shorter_than_a_sealed_head(study: Any) -> None:
    study.seals["heads-0001"]["journals"]["journal/alpha.jsonl"]["lines"] = 999


@forgery(5, "seals/evidence.json", "seals", also={2})
def a_journal_that_was_sealed_and_left_out(study: Any) -> None:
    study.seals["evidence"]["journals"]["journal/zeta.jsonl"] = {"head": "0" * 64, "lines": 3}


@forgery(5, "journal/beta.jsonl", "tables")
def a_reading_of_an_unknown_document(study: Any) -> None:
    lines = study.journals["journal/beta.jsonl"]
    lines.append(lines[-1] | {"document": "Z-1"})


@forgery(5, "journal/alpha.jsonl", "protocol")
def more_attempts_than_promised(study: Any) -> None:
    study.protocol["attempts"] = 2


@forgery(5, "journal/alpha.jsonl", "journals")
def a_retry_of_nothing(study: Any) -> None:
    line = {"kind": "retry", "document": "D-1", "attempt": 1, "at": handmade.at(4), "reason": "again, please"}
    study.journals["journal/alpha.jsonl"].append(line)


@forgery(5, "journal/beta.jsonl", "journals", also=None)
def an_origin_that_does_not_exist(study: Any) -> None:
    line_of(study, "journal/beta.jsonl", "A-01")["origin"] = "remembered"


@forgery(5, "journal/alpha.jsonl", "journals", also={6})
def a_refusal_without_a_reason(study: Any) -> None:
    line_of(study, "journal/alpha.jsonl", "A-04")["reason"] = None


@forgery(5, "journal/gamma.", "journals")
def a_reading_of_a_text_that_was_skipped(study: Any) -> None:
    path = next(path for path in study.journals if any(line["kind"] == "skipped" for line in study.journals[path]))
    facts = {"displayed": "7 %", "score": "7", "version": "g1", "origin": "typed", "got_at": handmade.at(6)}
    study.journals[path].append(handmade.reading(study, "A-03", **facts, at=handmade.at(6)))


@forgery(5, "journal/alpha", "journals", also=None)
def a_failure_and_a_reading_of_one_text(study: Any) -> None:
    facts = {"displayed": "0.1", "score": "0.1", "version": "a-1", "origin": "typed", "got_at": handmade.at(4)}
    line = handmade.reading(study, "=C2", **facts, at=handmade.at(4))
    study.journals["journal/alpha.jsonl"].append(line)


@forgery(5, "journal/beta.jsonl:1", "journals")
def a_journal_without_its_start(study: Any) -> None:
    study.journals["journal/beta.jsonl"][0] = {"kind": "stop", "at": handmade.at(5), "reason": "begins with an end"}


@forgery(5, "journal/beta.jsonl", also=None)
def a_journal_cut_at_its_end(files: Files) -> None:
    files["journal/beta.jsonl"] = b"\n".join(files["journal/beta.jsonl"].split(b"\n")[:-2]) + b"\n"


# 6 completeness, where 7 notices too


@forgery(6, "tables/readings.csv", "tables", also={7})
def a_failure_dropped_from_the_readings(study: Any) -> None:
    study.tables["readings"] = [row for row in study.tables["readings"] if row[5] != "failed"]


@forgery(6, "tables/readings.csv", "tables", also={7})
def a_state_that_does_not_exist(study: Any) -> None:
    next(row for row in study.tables["readings"] if row[5] == "declined")[5] = "excluded"


@forgery(6, "tables/readings.csv", "tables", also={7})
def a_state_without_a_reason(study: Any) -> None:
    next(row for row in study.tables["readings"] if row[5] == "in_doubt")[11] = ""


@forgery(6, "rows of beta", "tables", also={7})
def a_detector_left_out_of_the_readings(study: Any) -> None:
    study.tables["readings"] = [row for row in study.tables["readings"] if row[0] != "beta"]


@forgery(6, "tables/readings.csv:2", "tables", also={7})
def a_document_moved_to_another_arm(study: Any) -> None:
    study.tables["readings"][1][4] = "B"


@forgery(6, "tables/rates.csv", "tables", also={7})
def failures_dropped_from_a_denominator(study: Any) -> None:
    study.tables["rates"][1][5] -= 1


@forgery(6, "tables/rates.csv", "tables", also={7})
def failures_dropped_from_a_sum(study: Any) -> None:
    study.tables["rates"][1][5] -= 1
    study.tables["rates"][1][9] -= 1


@forgery(6, "tables/rates.csv", "tables", also={7})
def a_flag_left_out_of_k(study: Any) -> None:
    study.tables["rates"][1][7] = 0


# 7 tables


@forgery(7, "tables/rates.csv:2 low", "tables")
def a_digit_of_an_interval(study: Any) -> None:
    study.tables["rates"][1][13] = "0.061493"


@forgery(7, "tables/rates_lenient.csv:2 worst_high", "tables")
def a_digit_of_the_worst_case(study: Any) -> None:
    study.tables["rates_lenient"][1][16] = "0.849960"


@forgery(7, "tables/table1.csv:2 relation", "tables")
def a_relation_left_out(study: Any) -> None:
    study.tables["table1"][1][7] = "own"


@forgery(7, "tables/table2.csv:4 group", "tables")
def groups_in_another_order(study: Any) -> None:
    table = study.tables["table2"]
    table[3], table[4] = table[4], table[3]


@forgery(7, "tables/agreement.csv", "tables")
def an_arm_left_out_of_the_agreement(study: Any) -> None:
    study.tables["agreement"] = [row for row in study.tables["agreement"] if row[0] != "D"]


@forgery(7, "tables/agreement.csv:16", "tables")
def a_row_too_many(study: Any) -> None:
    study.tables["agreement"].append(study.tables["agreement"][-1])


@forgery(7, "tables/units.csv:3 deff", "tables")
def a_design_effect_made_smaller(study: Any) -> None:
    study.tables["units"][2][8] = "0.333333"


@forgery(7, "tables/documents.csv:5 exposures", "tables")
def exposures_left_out(study: Any) -> None:
    next(row for row in study.tables["documents"] if row[0] == "A-04")[13] = ""


@forgery(7, "tables/readings.csv", "tables")
def a_retrospective_word_in_a_prospective_table(study: Any) -> None:
    for row in study.tables["readings"][1:]:
        row[-1] = "retrospective"


@forgery(7, "tables/rates.csv", "seals", also=None)
def line_ends_of_another_system(study: Any) -> None:
    table = study.files["tables/rates.csv"] = study.files["tables/rates.csv"].replace(b"\n", b"\r\n")
    study.seals["evidence"]["digests"]["tables/rates.csv"] = handmade.sha256(table)


@pytest.mark.parametrize("forged", FORGERIES, ids=[forged[0] for forged in FORGERIES])
def test_a_forgery_is_noticed_by_its_check(tmp_path: Path, forged: Forgery) -> None:
    _, number, path, also, make = forged
    checks = checks_of(handmade.write(make(), tmp_path))
    faults = [check for check in checks if check["state"] == "failed"]
    assert named(checks, number, path), faults
    if also is not None:
        assert failed(checks) == {number, *also}, faults


def test_every_check_has_three_forgeries_or_more() -> None:
    for number in range(1, 8):
        assert sum(forged[1] == number for forged in FORGERIES) >= 3


def test_a_retrospective_edition_cannot_call_itself_prospective(tmp_path: Path) -> None:
    def renamed(study: Any) -> None:
        for name in ("readings", "table1", "table2", "agreement"):
            study.tables[name] = [
                [cell if cell != "retrospective" else "prospective" for cell in row] for row in study.tables[name]
            ]

    checks = checks_of(handmade.write(handmade.build({"tables": renamed}, retrospective=True), tmp_path))
    assert failed(checks) == {7}
    assert named(checks, 7, "tables/readings.csv timing")
    assert named(checks, 7, "tables/table1.csv:2 timing")


def test_what_screening_told_before_the_freeze_is_no_fault(tmp_path: Path) -> None:
    def bent(study: Any) -> None:
        study.document("A-04")["provenance"]["evidence_date"] = "2023-01-01"
        study.document("D-1")["provenance"]["words_changed"] = 2

    def told(study: Any) -> None:
        findings = b"warning,after-cutoff,A,A-04,,,too late,\nwarning,over-budget,D,D-1,,,too much,\n"
        study.files["screening.csv"] += findings
        study.seals["corpus"]["digests"]["screening.csv"] = handmade.sha256(study.files["screening.csv"])

    silent = handmade.build({"corpus": bent})
    assert failed(checks_of(handmade.write(silent, tmp_path / "silent"))) == {4}
    open_about_it = handmade.build({"corpus": bent, "corpus_seal": told})
    assert failed(checks_of(handmade.write(open_about_it, tmp_path / "told"))) == set()


# ---- sums, with nothing made again -----------------------------------------------------------------------------------


@pytest.mark.parametrize(
    "line",
    ["{sum}  ../outside", "{sum}  /etc/hostname", "{sum} *README.md", "{SUM}  README.md", "{sum}  README.md\r", ""],
)
def test_a_bent_line_of_the_sums(tmp_path: Path, line: str) -> None:
    handmade.write(GOLDEN, tmp_path)
    digest = handmade.sha256(GOLDEN["README.md"])
    sums = GOLDEN["SHA256SUMS"].decode()
    bent = sums.replace(f"{digest}  README.md", line.format(sum=digest, SUM=digest.upper()))
    (tmp_path / "SHA256SUMS").write_bytes(bent.encode())
    assert failed(checks_of(tmp_path)) == {1}


def test_sums_out_of_order(tmp_path: Path) -> None:
    first, second, *rest = GOLDEN["SHA256SUMS"].split(b"\n")
    handmade.write(GOLDEN | {"SHA256SUMS": b"\n".join([second, first, *rest])}, tmp_path)
    assert named(checks_of(tmp_path), 1, "SHA256SUMS:2")


def test_a_file_without_a_sum(tmp_path: Path) -> None:
    root = handmade.write(GOLDEN | {"amendments/0002.json": b"{}"}, tmp_path)
    checks = checks_of(root)
    assert failed(checks) == {1, 3}
    assert named(checks, 1, "amendments/0002.json")


def test_links_devices_and_odd_names(tmp_path: Path) -> None:
    outside = tmp_path / "outside"
    outside.mkdir()
    (outside / "README.md").write_bytes(GOLDEN["README.md"])
    root = handmade.write(GOLDEN, tmp_path / "bundle")
    (root / "README.md").unlink()
    (root / "README.md").symlink_to(outside / "README.md")
    checks = checks_of(root)
    assert failed(checks) == {1}
    assert named(checks, 1, "README.md")
    (root / "README.md").unlink()
    shutil.copy(outside / "README.md", root / "README.md")
    for name in ("LICENSE\n", "a\\b", "odd\x1b[2J"):
        (root / name).write_bytes(b"")
    os.mkfifo(root / "CHANGES.md~")
    (root / "journal").rename(root / "elsewhere")
    (root / "journal").symlink_to(root / "elsewhere")
    checks = checks_of(root)
    assert {1, 5} <= failed(checks)
    assert all(check["subject"].isprintable() for check in checks)
    assert named(checks, 1, "CHANGES.md~")
    assert named(checks, 1, "journal")


def test_flipped_bytes(tmp_path: Path) -> None:
    root = handmade.write(GOLDEN, tmp_path)
    chance = random.Random(20261001)
    paths = sorted(GOLDEN) + chance.choices(sorted(GOLDEN), k=150 - len(GOLDEN))
    for path in paths:
        data = bytearray(GOLDEN[path])
        at = chance.randrange(len(data))
        data[at] ^= 1 << chance.randrange(8)
        (root / path).write_bytes(data)
        checks = checks_of(root)
        assert 1 in failed(checks), (path, at)
        assert path == "SHA256SUMS" or named(checks, 1, path)
        (root / path).write_bytes(GOLDEN[path])
    assert failed(checks_of(root)) == set()


# ---- broken and hostile bytes ----------------------------------------------------------------------------------------


@pytest.mark.parametrize("junk", [b"", b"[]", b"null\n", b"\xff\xfe\x00", b"{" * 5000])
def test_junk_in_any_file_is_a_fault_with_its_name(tmp_path: Path, junk: bytes) -> None:
    root = handmade.write(GOLDEN, tmp_path)
    for path in sorted(set(GOLDEN) - {"SHA256SUMS"}):
        (root / path).write_bytes(junk)
        (root / "SHA256SUMS").write_bytes(handmade.sums(GOLDEN | {path: junk}))
        checks = checks_of(root)
        free = (
            "CHANGES",
            "CITATION",
            "LICENSE",
            "README",
            "croissant",
            "datapackage",
            "report",
            "verify",
            "amendments",
        )
        emptied = path == "deviations.jsonl" and junk == b""
        if not path.startswith(free) and not emptied:
            assert any(path in check["subject"] + check["got"] for check in checks if check["state"] == "failed"), path
        (root / path).write_bytes(GOLDEN[path])


def test_an_empty_folder_fails_every_check_that_is_made(tmp_path: Path) -> None:
    assert failed(checks_of(tmp_path)) == {1, 2, 3, 4, 6, 7}  # no detector is known: there is no journal to miss


LINES = [
    b'{"a":1,"a":1}', b'{"a":1.0}', b'{"a":NaN}', b'{"a":9007199254740992}', b'{"a":-0}', b'{"a":1e2}', b' {"a":1}',
    b'{"b":1,"a":1}', b'{"a":"\\ud800"}', b'{"a":"\\u0041"}', b'{"a":"\\/"}', '{"ä":1}'.encode(), b'{"a":"\x7f\xff"}',
    b"[" * 200 + b"]" * 200, b'{"a":"\\u001F"}', b'{"a":"\xef\xbf\xbe"} ', b"\xef\xbb\xbf{}", b'{"a":"\t"}', b"",
]  # fmt: skip


@pytest.mark.parametrize("line", LINES)
def test_a_line_that_is_not_canonical_is_a_fault(line: bytes) -> None:
    with pytest.raises(verify.Fault):
        verify.canonical(line)


def ascii_text() -> st.SearchStrategy[str]:
    return st.text(st.characters(max_codepoint=127), max_size=6)


VALUES = st.recursive(
    st.none() | st.booleans() | st.integers(-(2**53) + 1, 2**53 - 1) | st.text(max_size=8),
    lambda inner: st.lists(inner, max_size=4) | st.dictionaries(ascii_text(), inner, max_size=4),
    max_leaves=12,
)


@given(VALUES)
def test_canonical_form_is_that_of_rfc_8785(value: Any) -> None:
    data = rfc8785.dumps(value)
    assert verify.canonical(data) == value
    assert handmade.canonical(value) == data
    for other in (data + b"\n", b" " + data, json.dumps(value, indent=1).encode()):
        if other != data:
            with pytest.raises(verify.Fault):
                verify.canonical(other)


JSON_FILES = sorted(
    path for path in GOLDEN if path.endswith((".json", ".jsonl")) and not path.startswith(("croissant", "data"))
)


@settings(max_examples=120, deadline=None, suppress_health_check=list(HealthCheck))
@given(st.sampled_from(JSON_FILES), st.randoms(use_true_random=False), VALUES)
def test_a_value_of_another_kind_anywhere_never_breaks_the_verifier(
    tmp_path_factory: pytest.TempPathFactory, path: str, chance: random.Random, value: Any
) -> None:
    lines = GOLDEN[path].split(b"\n")
    at = chance.randrange(max(1, len(lines) - 1))
    record = json.loads(lines[at])
    holder: Any = record
    while True:
        key = chance.choice(sorted(holder)) if isinstance(holder, dict) else chance.randrange(len(holder))
        if not isinstance(holder[key], dict | list) or not holder[key] or chance.random() < 0.3:
            break
        holder = holder[key]
    same = holder[key] == value and type(holder[key]) is type(value)
    holder[key] = value
    lines[at] = rfc8785.dumps(record)
    root = tmp_path_factory.mktemp("bundle")
    checks = checks_of(handmade.write(resummed(GOLDEN | {path: b"\n".join(lines)}), root))
    assert failed(checks) or same or path.startswith(("amendments", "deviations", "seed"))
    shutil.rmtree(root)


def test_limits_of_size(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    root = handmade.write(GOLDEN, tmp_path)
    for limit, value, number in (
        ("EXPANDED", 300, 5),
        ("LINE", 100, 5),
        ("SMALL", 100, 3),
        ("FILES", 5, 1),
        ("FILE", 50, 1),
    ):
        with monkeypatch.context() as patch:
            patch.setattr(verify, limit, value)
            if limit == "LINE":
                patch.setattr(verify, "CHUNK", 64)
            assert number in failed(checks_of(root)), limit


@pytest.mark.parametrize(
    ("bend", "told"),
    [
        (lambda data: data[:-5], "cut off"),
        (lambda data: data + data, "goes on behind its end"),
        (lambda data: data + b"\0", "goes on behind its end"),
        (lambda data: b"\x1f\x8b\x08\x08" + data[4:10] + b"name\0" + data[10:], "without a name"),
        (lambda data: data[:40] + bytes([data[40] ^ 255]) + data[41:], "evidence/alpha-0001.jsonl.gz"),
        (lambda data: handmade.packed(b"x" * 100), "middle of a line"),
        (lambda data: handmade.packed(b"[" * 100_000 + b"\n"), "no JSON that can be read"),
    ],
)
def test_evidence_that_is_not_packed_as_it_should_be(tmp_path: Path, bend: Callable[[bytes], bytes], told: str) -> None:
    path = "evidence/alpha-0001.jsonl.gz"
    checks = checks_of(handmade.write(resummed(GOLDEN | {path: bend(GOLDEN[path])}), tmp_path))
    faults = [check for check in checks if check["state"] == "failed" and check["number"] == 5]
    assert any(told in check["subject"] + check["got"] + check["expected"] for check in faults)
    assert named(checks, 5, path)


def test_a_file_of_more_lines_than_it_may_hold(tmp_path: Path) -> None:
    (tmp_path / "deviations.jsonl").write_bytes(b"{}\n" * 4)
    report = verify.Report()
    bundle = verify.Bundle(tmp_path, report)
    assert len(list(bundle.records(4, "deviations.jsonl", most=3))) == 3
    assert [check["got"] for check in report.found] == ["line 4"]
    assert len(list(bundle.records(5, "deviations.jsonl", most=4))) == 4
    assert report.faults == {4: 1}


def test_a_hostile_answer_is_only_data(tmp_path: Path) -> None:
    bodies = [
        "[" * 3000,
        '{"out": {"score": ' + "9" * 10_000 + "}}",
        '{"class": "AI", "class": "Human"}',
        "\u001b[2J",
        "NaN",
    ]
    for body in bodies:

        def replaced(study: Any, body: str = body) -> None:
            line = study.evidence["alpha"][0]
            reading = line_of(study, "journal/alpha.jsonl", line["document"])
            line["body"] = body
            line["sha256"] = reading["evidence_sha256"] = study.address(line["document"], body.encode())

        checks = checks_of(
            handmade.write(handmade.build({"journals": replaced}), tmp_path / handmade.sha256(body.encode()))
        )
        assert failed(checks) == {5}
        assert all(check["got"].isprintable() for check in checks)


def test_only_fifty_faults_are_told_and_the_rest_is_counted(tmp_path: Path) -> None:
    def shouted(study: Any) -> None:
        study.tables["rates"] = [[*row[:-1], "!"] for row in study.tables["rates"]]

    files = handmade.build({"tables": shouted})
    told = [check for check in checks_of(handmade.write(files, tmp_path)) if check["state"] == "failed"]
    assert len(told) == 51
    assert told[-1]["got"] == f"{len(rows('rates')) + 1 - 50} more faults"


# ---- the parts -------------------------------------------------------------------------------------------------------


@pytest.mark.parametrize(
    ("text", "words"),
    [
        ("", 0), ("— – -", 0), ("one—two", 2), ("one–two", 2), ("one - two", 2), ("1914–1918", 1), ("a—1", 1),
        ("—fine", 1), ("no—", 1), ("a——b", 1), ("don’t well-known", 2), ("a\x1fb", 1), ("a\u00a0b\u3000c\u2028d\x85e", 5),
        ("é—è", 2), ("e\u0301—e", 1), ("٣ 五 %", 2), ("a\u200bb", 1),
    ],
)  # fmt: skip
def test_words(text: str, words: int) -> None:
    assert verify.count_words(text, spaced=True) == verify.count_words(text, spaced=False) == words


@given(st.integers(1, 10**6).flatmap(lambda n: st.tuples(st.integers(0, n), st.just(n))))
def test_wilson_in_decimals_is_wilson_in_fractions(pair: tuple[int, int]) -> None:
    assert list(verify.wilson(*pair, "0.95")) == handmade.wilson(*pair)


def test_a_rate_is_never_rounded_to_nothing_or_all() -> None:
    assert verify.wilson(1, 10**8, "0.95")[:2] == ("0.000001", "0.000001")
    assert verify.wilson(10**8 - 1, 10**8, "0.95")[0::2] == ("0.999999", "0.999999")
    assert verify.wilson(0, 10, "0.95")[:2] == ("0.000000", "0.000000")
    assert verify.wilson(1, 128, "0.95")[0] == "0.007812"  # 0.0078125: half to even
    assert verify.wilson(3, 128, "0.95")[0] == "0.023438"  # 0.0234375


def judge(**card: Any) -> Any:
    scale = {"low": "0", "high": "100", "unit": card.pop("unit", ""), "direction": "ai", "meaning": ""}
    rule = {"kind": "boundary", "operator": ">=", "value": "50", "source": "", "date": ""} | card.pop("rule", {})
    return verify.Judge({"answer": {}, "scale": scale, "verdicts": {}, "boundary": rule} | card, None)


@pytest.mark.parametrize(
    ("unit", "displayed", "score", "label"),
    [
        ("percent", " 87.5\u00a0%\n", "87.5", None), ("percent", "87%", "87", None), ("percent", "87", None, "87"),
        ("", "87", "87", None), ("", "87%", None, "87%"), ("", ".5", None, ".5"), ("", "1_000", None, "1_000"),
        ("", "-1.5e3", "-1.5e3", None), ("", "٣", None, "٣"), ("", "", None, ""), ("", "50", None, "50"),
    ],
)  # fmt: skip
def test_what_a_display_says(unit: str, displayed: str, score: str | None, label: str | None) -> None:
    verdicts = {"50": "uncertain"} if label == "50" else {}
    found = judge(unit=unit, verdicts=verdicts).from_display(displayed)
    assert found == {"score": score, "label": label}


@pytest.mark.parametrize(
    ("operator", "score", "call"),
    [
        (">=", "50", True), (">=", "49.999999999999999999999999999999999999999999999999999999", False), (">", "50", False),
        (">", "50.000000000000000000000000000000000000000000000000000000001", True), ("<=", "50", True), ("<", "50", False),
        ("<", "-0", True), (">=", "5e1", True),
    ],
)  # fmt: skip
def test_boundaries_compare_exact_decimals(operator: str, score: str, call: bool) -> None:
    assert judge(rule={"operator": operator}).call(score, None) == ("", call, call, False)


@pytest.mark.parametrize("score", ["NaN", "Infinity", "1e", "+5", "0x5", " 5", "5 ", "1_0", "٣", "50%", ""])
def test_a_score_that_is_no_decimal_number_has_no_call(score: str) -> None:
    assert judge().call(score, None)[0] == f"score is not a decimal number: {score}"


@pytest.mark.parametrize(
    ("score", "why"),
    [("1e99999999999999999999", "outside"), ("-1e99999999999999999999", "outside"), ("1e-99999999999999999999", "")],
)
def test_an_exponent_beyond_all_others_is_compared_all_the_same(score: str, why: str) -> None:
    assert judge().call(score, None)[0].partition(" the declared scale")[0].removeprefix("score ") == why
    assert judge().call("0e99999999999999999999", None) == judge().call("0", None)


def test_the_rule_is_total() -> None:
    verdicts = {"AI": "ai", "Part AI": "mixed", "Helped": "assisted", "Hm": "uncertain", "Human": "human"}
    bounded, plain = judge(verdicts=verdicts), judge(verdicts=verdicts, rule={"kind": "verdict"})
    assert plain.call(None, " part\tai ") == ("", False, True, False)
    assert plain.call("99", "hm") == ("", False, False, True)
    assert plain.call("99", None)[0] == "no verdict in the answer"
    assert plain.call("99", "Robot")[0] == "verdict not in the card: Robot"
    assert bounded.call(None, "Robot")[0] == "verdict not in the card: Robot"
    assert bounded.call("99", "Robot") == ("", True, True, False)
    assert bounded.call(None, "AI")[0] == "no score in the answer"
    assert bounded.call("49", "Helped") == ("", False, True, False)
    assert bounded.call("50", "Hm") == ("", True, True, False)
    assert bounded.call("101", "AI")[0] == "score outside the declared scale: 101"
    assert judge(rule={"kind": "verdict"}).call(None, "anything") == ("", False, False, False)


BANDS = [
    {"low": "10", "high": "40", "verdict": "mixed", "shown": None},
    {"low": "30", "high": "60", "verdict": "uncertain", "shown": "Hm"},
    {"low": "1", "high": "19", "verdict": "human", "shown": "*%"},
    {"low": "80", "high": "90", "verdict": "mixed", "shown": "*%"},
    {"low": "50", "high": "100", "verdict": "mixed", "shown": "Part AI"},
]


@pytest.mark.parametrize(
    ("score", "label", "expected"),
    [
        (None, " *% ", ("", False, False, False)),  # the first of two bands with this verdict
        (None, "part AI", ("", True, True, False)),
        (None, "hm", ("the boundary lies inside the numbers that the verdict stands for: hm", False, False, False)),
        (None, "Human", ("no score in the answer", False, False, False)),
        (None, None, ("no score in the answer", False, False, False)),
        ("40", None, ("", False, True, False)),  # both ends included, the first of two
        ("40.1", None, ("", False, False, True)),
        ("40.1", "Human", ("", False, False, False)),  # a label goes before the bands
        ("55", None, ("", True, True, False)),
        ("61", None, ("", True, True, False)),
        ("5", "no such", ("", False, False, False)),
    ],
)
def test_bands_of_the_scale(score: str | None, label: str | None, expected: tuple[str, bool, bool, bool]) -> None:
    verdicts = {"*%": "human", "Hm": "uncertain", "Part AI": "mixed", "Human": "human"}
    assert judge(bands=BANDS, verdicts=verdicts).call(score, label) == expected


def test_an_answer_that_measured_nothing() -> None:
    signs = [{"at": "/e", "among": ["0", "true"], "because": "x"}, {"at": "/code", "among": ["short"], "because": "y"}]
    answer = {"displayed": None, "score": "/s", "label": "/l", "version": "/v", "text": "/t", "unmeasured": signs}
    for sign, measured in (
        *(('"e": 0', False), ('"e": true', False), ('"code": "short"', False), ('"code": "Short"', True)),
        *(('"e": 0.0', True), ('"e": null', True), ('"e": ["0"]', True)),
    ):
        found = judge(answer=answer).extract(f'{{"s": 1, "l": "x", "v": "2", "t": "y", {sign}}}'.encode())
        values = ("1", "1", "x") if measured else (None, None, None)
        assert tuple(found.values()) == (*values, "2", "y"), sign


def test_pointers_find_what_rfc_6901_says() -> None:
    answer = verify.ANSWERS.decode('{"": "empty", "a/b": {"~": [1.50, true, null, {"x": 1}]}, "m": {"-": "dash"}}')
    expected = {
        "/": "empty", "/a~1b/~0/0": "1.50", "/a~1b/~0/1": "true", "/a~1b/~0/2": None, "/a~1b/~0/3": None, "": None,
        "/a~1b/~0/3/x": "1", "/a~1b/~0/00": None, "/a~1b/~0/4": None, "/a~1b/~0/-": None, "/m/-": "dash", "/m/-/z": None,
    }  # fmt: skip
    assert {pointer: verify.pointed(answer, pointer) for pointer in expected} == expected
    assert verify.pointed(verify.ANSWERS.decode("0.5e-3"), "") == "0.5e-3"
    assert verify.pointed(answer, None) is None


@pytest.mark.parametrize(
    ("body", "found"),
    [
        ('{"s": 1, "l": "x"}', {"displayed": "1", "score": "1", "label": "x"}),
        ('{"l": "x", "d": true}', {"displayed": "true", "label": "x"}),
        ('{"s": 1, "s": 2}', {}),
        ('{"a": {"s": 1, "s": 1}, "l": "x"}', {}),
        ('{"s": "\\ud800", "l": "x"}', {}),
        ('{"s": "\\ud83d\\ude00", "other": "\\ud800"}', {"displayed": "😀", "score": "😀"}),
        ('{"s": NaN, "l": -Infinity}', {"displayed": "NaN", "score": "NaN", "label": "-Infinity"}),
        ('{"s": 1, "deep": ' + "[" * 127 + "]" * 127 + "}", {"displayed": "1", "score": "1"}),
        ('{"s": 1, "deep": ' + "[" * 128 + "]" * 128 + "}", {}),
        ('\ufeff{"s": 1}', {}),
        ('{"s": 1} {"s": 1}', {}),
        ('{"s": 01}', {}),
        ("", {}),
    ],
)
def test_what_a_raw_answer_holds(body: str, found: dict[str, str]) -> None:
    pointers = {"displayed": "/d", "score": "/s", "label": "/l", "version": None, "text": None}
    nothing = dict.fromkeys(("displayed", "score", "label", "version", "text"))
    assert judge(answer=pointers).extract(body.encode()) == nothing | found
    assert judge(answer=pointers).extract(b"\xff") == nothing


def test_a_token_of_another_shape() -> None:
    token = GOLDEN["seals/promise-example.tsr"]
    assert verify.imprint_and_time(token) == (handmade.sha256(GOLDEN["seals/promise.json"]), "2026-10-01T00:00:00Z")
    changes = [  # signed data, TSTInfo, SHA-256, status, the tag of the time, the zone of the time
        (b"\x2a\x86\x48\x86\xf7\x0d\x01\x07\x02", b"\x2a\x86\x48\x86\xf7\x0d\x01\x07\x01"),
        (b"\x09\x10\x01\x04", b"\x09\x10\x01\x05"),
        (b"\x03\x04\x02\x01\x05\x00\x04", b"\x03\x04\x02\x02\x05\x00\x04"),
        (b"\x30\x03\x02\x01\x00", b"\x30\x03\x04\x01\x00"),
        (b"\x18\x0f2026", b"\x17\x0f2026"),
        (b"000000Z", b"0000001"),
    ]
    for old, new in changes:
        assert token.count(old) == 1
        with pytest.raises(verify.Fault):
            verify.imprint_and_time(token.replace(old, new))
    for other in (b"", b"\x30", b"\x30\x80\x00\x00", token + b"\x05\x00", token[:1] + b"\x82\x00" + token[2:]):
        with pytest.raises(verify.Fault):
            verify.imprint_and_time(other)


@pytest.mark.skipif(shutil.which("openssl") is None, reason="openssl is not installed")
def test_a_token_made_by_openssl(tmp_path: Path) -> None:
    config = "[tsa]\ndefault_tsa = a\n[a]\nserial = serial\ndefault_policy = 1.2.3.4\ndigests = sha256\n"
    config += "signer_digest = sha256\naccuracy = secs:1\nordering = yes\ness_cert_id_chain = no\n"
    (tmp_path / "tsa.cnf").write_text(
        config + "[req]\ndistinguished_name = n\n[n]\n[x]\nextendedKeyUsage = critical,timeStamping\n"
    )
    (tmp_path / "serial").write_text("01\n")
    (tmp_path / "seal.json").write_bytes(b"{}")
    for line in (
        "req -new -x509 -newkey rsa:2048 -nodes -keyout key.pem -out cert.pem -subj /CN=tests -config tsa.cnf -extensions x",
        "ts -query -data seal.json -sha256 -cert -out query.tsq",
        "ts -reply -queryfile query.tsq -signer cert.pem -inkey key.pem -config tsa.cnf -section a -out seal.tsr",
        "ts -verify -data seal.json -in seal.tsr -CAfile cert.pem",
    ):
        subprocess.run(["openssl", *line.split()], cwd=tmp_path, check=True, capture_output=True)
    token = (tmp_path / "seal.tsr").read_bytes()
    imprint, time = verify.imprint_and_time(token)
    assert imprint == handmade.sha256(b"{}")
    assert verify.TIME.fullmatch(time)
    for cut in range(0, len(token), 7):
        with pytest.raises(verify.Fault):
            verify.imprint_and_time(token[:cut])


# ---- the command -----------------------------------------------------------------------------------------------------


def run(*arguments: object, cwd: Path | None = None) -> subprocess.CompletedProcess[str]:
    command = [sys.executable, "-I", "-S", *map(str, arguments)]
    return subprocess.run(command, cwd=cwd, capture_output=True, text=True, check=False)


def test_it_runs_alone(tmp_path: Path) -> None:
    root = handmade.write(GOLDEN, tmp_path / "bundle")
    copy = shutil.copy(VERIFIER, tmp_path / "alone.py")
    done = run(copy, cwd=root)
    assert (done.returncode, done.stderr) == (0, "")
    lines = done.stdout.splitlines()
    assert lines[0].startswith("1 sums")
    unchecked = sum(line[16:].startswith("not checked ") for line in lines)
    assert unchecked > 10
    assert lines[-1] == f"0 of 8 checks failed; {unchecked} questions not checked here"
    (root / "tables/rates.csv").write_bytes(GOLDEN["tables/rates.csv"].replace(b"0.061492", b"0.061493", 1))
    done = run(copy, root)
    assert done.returncode == 1
    assert re.search(
        r"7 tables {8}failed {7}tables/rates\.csv:2 low \([^)]+\): 0\.061493; expected 0\.061492\.", done.stdout
    )
    assert done.stdout.splitlines()[-1].startswith("3 of 8 checks failed")
    found = json.loads(run(copy, root, "--json").stdout)
    assert found["ok"] is False
    keys = {"number", "name", "state", "subject", "got", "expected", "remedy"}
    assert all(set(check) == keys for check in found["checks"])
    assert {check["number"] for check in found["checks"] if check["state"] == "failed"} == {1, 2, 7}
    for arguments in ([root, root], ["--help"], [tmp_path / "nowhere"], [copy]):
        done = run(copy, *arguments)
        assert (done.returncode, done.stdout) == (2, "")
        assert done.stderr.startswith("usage")


HOOKED = """
import sys, os
path, root = sys.argv[1:]
scope = {"__name__": "hooked"}
exec(compile(open(path).read(), path, "exec"), scope)
def hook(event, arguments):
    if event.split(".")[0] in ("socket", "subprocess", "ctypes", "urllib", "ftplib", "http", "import") or event in (
        "os.system", "os.exec", "os.fork", "os.forkpty", "os.posix_spawn", "os.spawn", "os.remove", "os.rename",
        "os.mkdir", "os.rmdir", "os.link", "os.symlink", "os.chmod", "os.truncate", "pty.spawn",
    ):
        raise RuntimeError(f"not allowed: {event} {arguments}")
    if event in ("open", "os.scandir", "os.listdir"):
        inside = os.path.normpath(str(arguments[0])).startswith(root)
        if not inside or (event == "open" and arguments[2] & (os.O_WRONLY | os.O_RDWR | os.O_CREAT | os.O_TRUNC)):
            os.write(2, f"not allowed: {event} {arguments}".encode())
            os._exit(9)
sys.addaudithook(hook)
sys.exit(scope["main"]([root]))
"""


@pytest.mark.parametrize("broken", [False, True])
def test_it_touches_nothing_but_the_bundle(tmp_path: Path, broken: bool) -> None:
    root = handmade.write(GOLDEN, tmp_path / "bundle")
    if broken:
        (tmp_path / "secret").write_bytes(b"{}")
        (root / "seed.json").unlink()
        (root / "seed.json").symlink_to(tmp_path / "secret")
        sums = GOLDEN["SHA256SUMS"] + f"{handmade.sha256(b'{}')}  zz/../../secret\n".encode()
        (root / "SHA256SUMS").write_bytes(sums)
        seal = json.loads(GOLDEN["seals/evidence.json"])
        seal["digests"]["../secret"] = handmade.sha256(b"{}")
        seal["journals"]["../secret"] = {"head": "0" * 64, "lines": 1}
        (root / "seals/evidence.json").write_bytes(handmade.canonical(seal))
    done = run("-c", HOOKED, VERIFIER, root)
    assert "not allowed" not in done.stdout + done.stderr
    assert (done.returncode, done.stderr) == (int(broken), "")


def test_it_imports_the_standard_library_only() -> None:
    imported = {
        line.split()[1].split(".")[0]
        for line in VERIFIER.read_text("utf-8").splitlines()
        if line.startswith(("import ", "from "))
    }
    assert imported <= sys.stdlib_module_names
    assert not imported & {"socket", "subprocess", "urllib", "http", "ctypes", "pickle", "importlib"}


OLDER = [path for name in ("3.8", "3.9", "3.10") for path in [shutil.which(f"python{name}")] if path is not None]
OLDER += [
    str(path) for name in ("8", "9", "10") for path in Path.home().glob(f".pyenv/versions/3.{name}.*/bin/python3")
]


@pytest.mark.skipif(not OLDER, reason="no older Python here")
def test_an_older_python_says_what_it_needs(tmp_path: Path) -> None:
    root, asked = handmade.write(handmade.build(), tmp_path), 0
    for python in OLDER:
        if subprocess.run([python, "-c", ""], capture_output=True, check=False).returncode == 0:
            done = subprocess.run([python, verify.__file__, root], capture_output=True, text=True, check=False)
            assert (done.returncode, done.stdout) == (2, "")
            assert done.stderr.startswith("verify.py needs Python 3.11 or newer; this is 3.")
            assert done.stderr.count("\n") == 1
            asked += 1
    if asked == 0:
        pytest.skip("no older Python that runs")


def test_its_syntax_is_read_by_python_3_8() -> None:
    ast.parse(Path(verify.__file__).read_text(encoding="utf-8"), feature_version=(3, 8))
