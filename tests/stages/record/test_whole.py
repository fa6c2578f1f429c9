"""From work sheets to a bundle: what people read is checked by both verifiers, down to what each of them typed."""

from __future__ import annotations

import gzip
import json
import shutil
from pathlib import Path

import pytest
from tests import screen_readings
from tests.forgeries import both_verifiers

from penmark import study
from penmark.format import canonical_json
from penmark.study import Study


@pytest.fixture(scope="module")
def whole(tmp_path_factory: pytest.TempPathFactory) -> tuple[Study, Path]:
    """A published bundle of a study that two people read."""
    return screen_readings.published(tmp_path_factory.mktemp("whole"))


def test_both_verifiers_find_nothing_wrong(whole: tuple[Study, Path]) -> None:
    _, bundle = whole
    one, other = both_verifiers.ours(bundle), both_verifiers.alone(bundle)
    assert one.failed == other.failed == set(), [one.faults(n) for n in one.failed]


def test_the_bundle_tells_what_was_typed_and_shows_no_picture(whole: tuple[Study, Path]) -> None:
    place, bundle = whole
    [settled] = list(study.read_json_lines(bundle / "deviations.jsonl"))
    assert "as '99%' and '9%'; settled as '99%' by EF: the picture says so" in settled[1]["what"]
    kept = gzip.decompress((bundle / "evidence" / "turnitin-0001.jsonl.gz").read_bytes())
    rows = [json.loads(json.loads(line)["body"]) for line in kept.splitlines()]
    assert len(rows) == 4  # the fifth text is withheld, and so is what was typed about it
    assert all(len(row["readings"]) == 2 for row in rows)
    assert not (bundle / "screenshots").exists()
    picture = canonical_json.sha256(b"a picture with an account")
    assert (place.edition().root / "screenshots" / f"{picture}.png").is_file()
    assert b"a picture with an account" not in b"".join(p.read_bytes() for p in bundle.rglob("*") if p.is_file())
    readings = (bundle / "tables" / "readings.csv").read_text()
    assert ",*%,,*%,not-ai," in readings
    assert ",not_scannable,,,,,," in readings


@pytest.mark.parametrize("field", ["displayed", "version"])
def test_a_typed_row_that_says_otherwise_than_its_reading(
    whole: tuple[Study, Path], tmp_path: Path, field: str
) -> None:
    forged = tmp_path / screen_readings.TAG
    shutil.copytree(whole[1], forged)
    path = forged / "evidence" / "turnitin-0001.jsonl.gz"
    lines = [json.loads(line) for line in gzip.decompress(path.read_bytes()).splitlines()]
    document = lines[0]["document"]
    lines[0]["body"] = json.dumps(json.loads(lines[0]["body"]) | {field: "1%"})
    lines[0]["sha256"] = canonical_json.sha256(lines[0]["body"].encode())
    path.write_bytes(study.compress_gzip(b"".join(canonical_json.encode_json(line) + b"\n" for line in lines)))
    for told in (both_verifiers.ours(forged), both_verifiers.alone(forged)):
        assert 5 in told.failed
        assert told.says(document) or told.says("turnitin")


def test_a_typed_row_that_was_changed_with_its_digest(whole: tuple[Study, Path], tmp_path: Path) -> None:
    """The reading names the forged row: what the row displays gives it away."""
    forged = tmp_path / screen_readings.TAG
    shutil.copytree(whole[1], forged)
    path = forged / "evidence" / "turnitin-0001.jsonl.gz"
    lines = [json.loads(line) for line in gzip.decompress(path.read_bytes()).splitlines()]
    body = json.loads(lines[0]["body"])
    lines[0]["body"] = json.dumps(body | {"displayed": "7%"})
    digest, lines[0]["sha256"] = lines[0]["sha256"], canonical_json.sha256(lines[0]["body"].encode())
    path.write_bytes(study.compress_gzip(b"".join(canonical_json.encode_json(line) + b"\n" for line in lines)))
    journal = forged / "journal" / "turnitin.jsonl"
    chained, head = b"", canonical_json.sha256((forged / "seals" / "corpus.json").read_bytes())
    for line in journal.read_bytes().replace(digest.encode(), lines[0]["sha256"].encode()).splitlines():
        again = canonical_json.encode_json(json.loads(line) | {"prev": head})
        chained, head = chained + again + b"\n", canonical_json.sha256(again)
    journal.write_bytes(chained)
    for told in (both_verifiers.ours(forged), both_verifiers.alone(forged)):
        assert "7%" in told.faults(5), told.faults(5)
