"""The extract about one detector, and what a vendor replied: a part of the bundle, byte for byte, and no more."""

from __future__ import annotations

import csv
import json
import re
import shutil
import subprocess
from pathlib import Path

import pytest
from tests import screen_readings
from tests.cases.case_study import penmark
from tests.forgeries import both_verifiers

from penmark import study
from penmark.cli import invoke
from penmark.errors import PenmarkError, UsageError
from penmark.stages.publish import publish_edition
from penmark.stages.publish.vendor_extract import SAME, make_extract
from penmark.study import Study

REPLY = "date: 2026-12-01\nfrom: A. N., Turnitin\n\nThe share of text is no verdict.\n\nWe measured 1 % ourselves.\n"


@pytest.fixture(scope="module")
def whole(tmp_path_factory: pytest.TempPathFactory) -> tuple[Study, Path]:
    """A published study whose vendor replied after the report, and its bundle."""
    place = screen_readings.typed(tmp_path_factory.mktemp("whole"))
    screen_readings.run(place, "report")
    study.write_bytes(place.edition().root / "replies" / "turnitin.md", REPLY.encode())
    with pytest.raises(PenmarkError, match=r"something was told after it was made\n.*penmark report"):
        invoke(["-C", str(place.root), "publish", "--no-tar"])
    with pytest.raises(PenmarkError, match=r"turnitin.md: is not on the page\n.*penmark report"):
        publish_edition(place, place.edition(), place.bundles / screen_readings.TAG)
    screen_readings.run(place, "report")
    screen_readings.run(place, "publish", "--no-tar")
    return place, place.bundles / screen_readings.TAG


def test_the_reply_is_in_the_bundle_and_both_verifiers_allow_it(whole: tuple[Study, Path]) -> None:
    _, bundle = whole
    assert (bundle / "replies" / "turnitin.md").read_text() == REPLY
    assert "We measured 1 % ourselves." in (bundle / "report" / "index.html").read_text()
    one, other = both_verifiers.ours(bundle), both_verifiers.alone(bundle)
    assert one.failed == other.failed == set(), [one.faults(n) for n in one.failed]


def test_a_reply_that_was_changed_after_publication(whole: tuple[Study, Path], tmp_path: Path) -> None:
    forged = tmp_path / screen_readings.TAG
    shutil.copytree(whole[1], forged)
    path = forged / "replies" / "turnitin.md"
    path.write_text(path.read_text().replace("no verdict", "our verdict"))
    told = both_verifiers.ours(forged)
    assert {1, 8} <= told.failed
    assert 1 in both_verifiers.alone(forged).failed
    assert "our verdict" in told.faults(8)


def test_an_extract_is_a_part_of_the_bundle(whole: tuple[Study, Path], tmp_path: Path) -> None:
    place, bundle = whole
    out = tmp_path / "extract"
    screen_readings.run(place, "publish", "--detector", "turnitin", "--out", str(out))
    held = {p.relative_to(out).as_posix() for p in out.rglob("*") if p.is_file()}
    listed = {line.split("  ")[1]: line.split("  ")[0] for line in (out / SAME).read_text().splitlines()}
    assert held == listed.keys() | {SAME, "README.md"} | {
        f"rows/{n}.csv" for n in ("readings", "table1", "table2", "rates")
    }
    for path in listed:
        assert (out / path).read_bytes() == (bundle / path).read_bytes(), path
    assert {"journal/turnitin.jsonl", "evidence/turnitin-0001.jsonl.gz", "detectors/turnitin.json"} <= listed.keys()
    assert {"protocol.json", "seals/promise.json", "manifest.jsonl", "replies/turnitin.md"} <= listed.keys()
    for folder in (out, bundle):
        done = subprocess.run(
            ["sha256sum", "-c", "--quiet", str(out / SAME)], cwd=folder, capture_output=True, check=False
        )
        assert done.returncode == 0, done.stderr
    told = (out / "README.md").read_text()
    assert "**It is not a bundle**" in told
    assert "our own log" in told
    assert [line[:64] for line in (bundle / "SHA256SUMS").read_text().splitlines()]
    with pytest.raises(UsageError, match="is there already"):
        make_extract(bundle, "turnitin", out)


def test_its_rows_are_those_of_the_tables(whole: tuple[Study, Path], tmp_path: Path) -> None:
    _, bundle = whole
    out = tmp_path / "extract"
    made = make_extract(bundle, "turnitin", out)
    assert (made.readings, made.texts, made.kept_back) == (5, 4, 0)
    for name in ("readings", "table1", "table2", "rates"):
        lines = (bundle / "tables" / f"{name}.csv").read_text().splitlines()
        own = [line for line in lines[1:] if line.startswith("turnitin,")]
        assert (out / "rows" / f"{name}.csv").read_text().splitlines() == [lines[0], *own]
    texts = {p.read_text() for p in (out / "texts").iterdir()}
    assert texts == {screen_readings.TEXTS[name] for name in ("A-1", "A-2", "C-1", "C-2")}


def test_a_text_goes_to_no_vendor_whom_its_author_did_not_name(whole: tuple[Study, Path], tmp_path: Path) -> None:
    """The shy author's text is public and was never given to this vendor. Had it been, the extract would leave it out."""
    bundle = tmp_path / screen_readings.TAG
    shutil.copytree(whole[1], bundle)
    path = bundle / "tables" / "readings.csv"
    with path.open(newline="") as file:
        header, *rows = csv.reader(file)
    for row in rows:
        if row[header.index("document")] == screen_readings.SHY:
            row[header.index("state")] = "answered"
    path.write_bytes(study.encode_csv(header, rows))
    made = make_extract(bundle, "turnitin", tmp_path / "extract")
    assert (made.texts, made.kept_back) == (4, 1)
    assert screen_readings.TEXTS[screen_readings.SHY] not in {
        p.read_text() for p in (tmp_path / "extract" / "texts").iterdir()
    }


def test_what_is_refused(whole: tuple[Study, Path], tmp_path: Path) -> None:
    place, bundle = whole
    with pytest.raises(UsageError, match=r"no detector 'turnit' in this bundle \(did you mean turnitin\?\)"):
        make_extract(bundle, "turnit", tmp_path / "out")
    with pytest.raises(UsageError, match=r"no bundle here\n.*--bundle BUNDLE; or run `penmark publish` first"):
        make_extract(tmp_path, "turnitin", tmp_path / "out")
    broken = tmp_path / "broken"
    shutil.copytree(bundle, broken)
    (broken / "journal" / "turnitin.jsonl").write_bytes(b"{}\n")
    with pytest.raises(PenmarkError, match="is not the published file"):
        make_extract(broken, "turnitin", tmp_path / "out")
    assert not (tmp_path / "out").exists()
    assert {p.name for p in tmp_path.iterdir()} == {"broken"}
    assert json.loads(screen_readings.run(place, "publish", "--detector", "turnitin", "--json"))["texts"] == 4
    assert (place.bundles / f"{screen_readings.TAG}-turnitin" / SAME).is_file()


# --- what is said of each detector, in protocol, tables and page -----------------------------------------------------


def test_surface_tier_payer_settings_and_relation_stand_in_tables_and_page(whole: tuple[Study, Path]) -> None:
    _, bundle = whole
    with (bundle / "tables" / "table1.csv").open(newline="") as file:
        [row] = csv.DictReader(file)
    assert [row[c] for c in ("surface", "tier", "payer", "relation")] == ["web", "one seat", "N", "none"]
    assert (bundle / "tables" / "settings.csv").read_text() == "detector,setting,value\nturnitin,report,AI writing\n"
    page = (bundle / "report" / "index.html").read_text()
    for cited in ("surface", "tier", "payer", "relation"):
        assert f'data-cell="tables/table1.csv:1:{cited}"' in page
    assert 'data-quote="protocol.json#/detectors/0/settings" data-as="text">report: AI writing<' in page


def test_settings_that_nobody_promised(whole: tuple[Study, Path], tmp_path: Path) -> None:
    forged = tmp_path / screen_readings.TAG
    shutil.copytree(whole[1], forged)
    (forged / "tables" / "settings.csv").write_text("detector,setting,value\nturnitin,report,all\n")
    assert "settings.csv:2 value (turnitin, report): all; expected AI writing" in both_verifiers.ours(forged).faults(7)
    (forged / "tables" / "settings.csv").unlink()
    assert 7 in both_verifiers.ours(forged).failed


# --- as it is typed --------------------------------------------------------------------------------------------------


def test_a_bundle_that_lies_elsewhere_is_named(whole: tuple[Study, Path], tmp_path: Path) -> None:
    place, bundle = whole
    elsewhere, out = tmp_path / "elsewhere", tmp_path / "extract"
    shutil.copytree(bundle, elsewhere)
    kept = bundle.rename(bundle.with_name("kept"))
    run = ("-C", str(place.root), "publish", "--detector", "turnitin", "--out", str(out))
    try:
        said = penmark(*run)
        assert (said.code, said.out) == (2, "")
        assert said.err.startswith(
            f"penmark: {bundle}: there is no bundle here\n    Name it where it lies elsewhere, with --b"
        )
        assert penmark(*run, "--bundle", str(elsewhere)).code == 0
    finally:
        kept.rename(bundle)
    assert (out / SAME).is_file()


def test_an_extract_is_told_for_what_it_is(whole: tuple[Study, Path], tmp_path: Path) -> None:
    place, bundle = whole
    out = tmp_path / "extract"
    screen_readings.run(place, "publish", "--detector", "turnitin", "--out", str(out))
    before = {path: path.read_bytes() for path in out.rglob("*") if path.is_file()}
    for argv in (
        ("verify", str(out)),
        ("-C", str(out), "status"),
        ("-C", str(out), "report", "--boundary", "turnitin=50"),
        ("init", str(tmp_path / "new"), "--from", str(out)),
        (
            "-C",
            str(place.root),
            "publish",
            "--detector",
            "turnitin",
            "--bundle",
            str(out),
            "--out",
            str(tmp_path / "o"),
        ),
    ):
        said = penmark(*argv)
        assert (said.code, said.out) == (2, ""), argv
        assert said.err.startswith(
            f"penmark: {out}: is an extract about one detector, not a bundle\n    It is checked "
        ), argv
        assert f"`sha256sum -c {SAME}`" in said.err
        assert "`penmark verify BUNDLE`" in said.err
    assert {path: path.read_bytes() for path in out.rglob("*") if path.is_file()} == before
    (bundle / SAME).write_text("")  # a bundle stays one, with a file too many
    try:
        assert penmark("verify", str(bundle)).code == 1
    finally:
        (bundle / SAME).unlink()


def test_its_readme_says_how_to_ask_for_another_boundary(whole: tuple[Study, Path], tmp_path: Path) -> None:
    place, bundle = whole
    screen_readings.run(place, "publish", "--detector", "turnitin", "--out", str(tmp_path / "extract"))
    [line] = re.findall(r"`penmark (-C BUNDLE report [^`]+)`", (tmp_path / "extract" / "README.md").read_text())
    argv = line.replace("BUNDLE", str(bundle)).replace("VALUE", "50").split()
    said = penmark(*argv, "--out", str(tmp_path / "other"))
    assert said.code == 0, said.err
    assert "not the promised boundary" in (tmp_path / "other" / "tables" / "table1.csv").read_text()
