"""Records that cannot be: unknown and repeated keys, ids, arms that do not add up; and what the system refuses."""

from __future__ import annotations

import contextlib
import json
import resource
import shutil
from collections.abc import Callable, Iterator
from pathlib import Path

import pytest
from tests.cases import case_stages
from tests.cases.case_study import ARCHIVE, Said, Trial, arm, card, everything, lines, penmark, texts

from penmark import study
from penmark.format import canonical_json

OF_ARCHIVE = [f"--option={name}={value}" for name, value in ARCHIVE.items()]


@pytest.fixture(scope="module")
def steps(tmp_path_factory: pytest.TempPathFactory) -> dict[str, Path]:
    return case_stages.made(tmp_path_factory.mktemp("stages"))


@pytest.fixture
def at(steps: dict[str, Path], tmp_path: Path) -> Callable[[str], Trial]:
    """A copy of the small study at a step."""

    def copied(step: str) -> Trial:
        return Trial.at(Path(shutil.copytree(steps[step], tmp_path / step)) / "study")

    return copied


def edited(path: Path, old: str, new: str) -> None:
    """Change the first place of a file where ``old`` stands."""
    text = path.read_text()
    assert old in text
    path.write_text(text.replace(old, new, 1))


def told(said: Said, code: int, *parts: str) -> None:
    """The message has these parts, and a remedy below them."""
    assert said.code == code, said
    assert "should not happen" not in said.err
    for part in parts:
        assert part in said.err, said
    assert "\n    " in said.err, said


# --- keys ----------------------------------------------------------------------------------------------------------


@pytest.mark.parametrize(
    ("file", "old", "new", "fact"),
    [
        ("protocol.yaml", '"level"', '"levl": "0.95", "level"', "did you mean level?"),
        ("protocol.yaml", '"payer"', '"payer": "M", "payer"', "the key `payer` stands twice"),
        ("cards/says.yaml", '"boundary"', '"bounds": [], "boundary"', "did you mean bands?"),
        ("cards/says.yaml", '"vendor"', '"vendor": "x", "vendor"', "the key `vendor` stands twice"),
    ],
)
def test_unknown_and_repeated_keys_of_what_people_write(
    at: Callable[[str], Trial], file: str, old: str, new: str, fact: str
) -> None:
    trial = at("promised")
    path = trial.root / file if "/" in file else trial.edition.root / file
    text = path.read_text()
    path.write_text(text if old in text else text.replace("{", '{"level": "0.95", ', 1))
    edited(path, old, new)
    before = everything(trial.root)
    told(trial.run("commit"), 1, f"{path.name}:1", fact)
    assert everything(trial.root) == before


def test_unknown_and_repeated_keys_of_records_that_penmark_wrote(at: Callable[[str], Trial]) -> None:
    """Whatever is not its own canonical form is a fault before anything reads it."""
    for step, name, command in (
        ("collected", "corpus/A/documents.jsonl", "screen"),
        ("frozen", "seals/corpus.json", "scan"),
        ("scanned", "journal/says.jsonl", "report"),
        ("scanned", "seals/heads-0001.json", "report"),
        ("published", "deviations.jsonl", "report"),
    ):
        for old, new, fact in (
            ('{"', '{"zz":1,"', "canonical"),
            ('{"', '{ "', "canonical"),
            ('"}', '","zz":"unknown"}', "")
            if name != "corpus/A/documents.jsonl"  # whose first object that ends so is a locator, of any keys
            else ('{"address"', '{"aa":"unknown","address"', "unknown"),
        ):
            trial = at(step)
            path = (trial.root if name.startswith("corpus") else trial.edition.root) / name
            if not path.exists():
                canonical = {"at": "2026-01-01T00:00:00Z", "detector": None, "what": "A power cut."}
                path.write_bytes(canonical_json.encode_json(canonical) + b"\n")
            edited(path, old, new)
            said = trial.run(command)
            assert said.code == 1, (name, new, said)
            assert path.name in said.out + said.err, (name, new, said)
            assert fact in said.out + said.err, (name, new, said)
            assert "should not happen" not in said.err
            shutil.rmtree(trial.root.parent)


@pytest.mark.parametrize(
    ("name", "content", "parts"),
    [
        ("rows.csv", "id,text,text\n1,a,b\n", ["rows.csv:1", "two columns are named 'text'"]),
        ("rows.jsonl", '{"id": "1", "text": "a", "text": "b"}\n', ["rows.jsonl:1", "'text' stands there twice"]),
        ("rows.json", '[{"id": "1", "id": "2", "text": "a"}]', ["rows.json", "'id' stands there twice"]),
    ],
)
def test_repeated_keys_of_tables(at: Callable[[str], Trial], name: str, content: str, parts: list[str]) -> None:
    trial = at("collected")
    path = trial.root.parent / name
    path.write_text(content)
    before = everything(trial.root)
    told(trial.run("collect", "A", "--from", "table", "--path", str(path), *OF_ARCHIVE), 1, *parts)
    assert everything(trial.root) == before


def test_unknown_columns_of_a_table_are_told_and_left_out(tmp_path: Path) -> None:
    trial = Trial(tmp_path / "study", [arm("A", "human", 1)])
    trial.done("commit")
    said = trial.collect("A", {"1": "Some words."}, {"1": {"license": "CC0", "lisence": "x"}}, **ARCHIVE)
    assert said.code == 0
    assert "columns that no record has were left out" in said.err
    assert "license (did you mean licence?)" in said.err


# --- ids -----------------------------------------------------------------------------------------------------------


@pytest.mark.parametrize("name", ["a/b", "../a", "a..b", "a\\b", "", "a\nb", "x" * 129, "."])
def test_ids_that_could_be_a_path_are_refused(tmp_path: Path, name: str) -> None:
    trial = Trial(tmp_path / "study", [arm("A", "human", 2)])
    trial.done("commit")
    before = everything(trial.root)
    said = trial.collect("A", {"fine": "Fine words.", name: "Other words."}, **ARCHIVE)
    if name == ".":  # nothing is ever named by an id
        assert said.code == 0
        return
    told(said, 1, "study-A.jsonl:2", "id")
    assert everything(trial.root) == before


def test_an_id_twice_is_a_fault_in_a_table_and_across_arms(tmp_path: Path) -> None:
    trial = Trial(tmp_path / "study", [arm("A", "human", 1), arm("B", "human", 1)])
    trial.done("commit")
    path = tmp_path / "twice.csv"
    path.write_text("id,text\n1,One text.\n2,Another.\n1,A third.\n")
    before = everything(trial.root)
    told(trial.run("collect", "A", "--from", "table", "--path", str(path), *OF_ARCHIVE), 1, "twice.csv:4", "1")
    assert everything(trial.root) == before
    assert trial.collect("A", {"1": "One text."}, **ARCHIVE).code == 0
    before = everything(trial.root)
    told(trial.collect("B", {"1": "Another text."}, **ARCHIVE), 1, "study-B.jsonl:1", "arm A")
    assert everything(trial.root) == before


# --- the promise ----------------------------------------------------------------------------------------------------


@pytest.mark.parametrize(
    ("wrong", "fact"),
    [
        ({"quotas": [{"where": {"register": "a"}, "documents": 2}, {"where": {"register": "b"}, "documents": 3}]},
         "the quotas by register add up to 5, the arm to 4"),
        ({"documents": 0}, "arms.A.documents: 0 is less than 1"),
        ({"documents": "four"}, "four"),
        ({"headline": True, "truth": "mixed"}, "a mixed arm never enters headline rates"),
        ({"truth": "humann"}, "humann"),
    ],
)  # fmt: skip
def test_arms_that_do_not_add_up_are_refused(tmp_path: Path, wrong: dict[str, object], fact: str) -> None:
    trial = Trial(tmp_path / "study", [arm("A", "human", 4) | wrong])
    before = everything(trial.root)
    told(trial.run("commit"), 1, "protocol.yaml:", fact)
    assert everything(trial.root) == before
    assert trial.run("status").code == 1


def test_a_score_outside_its_scale_and_an_unknown_verdict_are_no_result(tmp_path: Path) -> None:
    said = {"fine": "0.5", "high": "1.5", "percent": "87", "under": "-0.1"}
    trial = Trial(tmp_path / "study", [arm("A", "human", 4)])
    trial.frozen(A={name: f'Text {name}.\n{{"score": {score}}}' for name, score in said.items()})
    trial.done("scan")
    trial.done("report")
    rows = trial.readings()
    assert {name: rows[name]["score"] for name in said} == said  # never clipped, never rescaled
    assert {name for name in said if rows[name]["call"] == ""} == {"high", "percent", "under"}
    for name in ("high", "percent", "under"):
        assert rows[name]["state"] == "declined"
        assert rows[name]["reason"] == f"score outside the declared scale: {said[name]}"
    assert trial.whole("A")["no_result"] == "3"


# --- two final readings, and a journal that was cut ---------------------------------------------------------------------


def test_two_final_readings_of_a_pair_are_a_fault_wherever_they_come_from(at: Callable[[str], Trial]) -> None:
    trial = at("scanned")
    answers = trial.root.parent / "material" / "answers.json"
    before = everything(trial.root)
    told(trial.run("record", str(answers), "--detector", "seen"), 1, "answers.json:", "has its final reading already")
    assert everything(trial.root) == before
    journal = trial.edition.journals / "says.jsonl"
    written = journal.read_bytes().splitlines()
    again = next(line for line in written if b'"kind":"reading"' in line)
    forged = {**json.loads(again), "prev": canonical_json.sha256(written[-1])}
    journal.write_bytes(journal.read_bytes() + canonical_json.encode_json(forged) + b"\n")
    for command in ("report", "scan"):
        said = trial.run(command)
        assert said.code == 1, said
        assert "says.jsonl" in said.err
        assert "should not happen" not in said.err
    assert not trial.edition.tables.exists()


def test_a_journal_cut_in_mid_line_goes_on_and_loses_nothing(at: Callable[[str], Trial]) -> None:
    """As a crash leaves it: half a line after what was sealed last. It is moved aside, and the scan goes on."""
    trial = at("frozen")
    trial.done("scan")
    journal = trial.edition.journals / "says.jsonl"
    whole = journal.read_bytes()
    journal.write_bytes(whole + b'{"at":"2026-11-30T12:00:0')
    told(trial.run("report", "--close"), 1, "says.jsonl:", "the last line is not finished", "Run the scan again")
    assert trial.run("scan").code == 0
    assert journal.read_bytes().startswith(whole)
    assert b'{"at":"2026-11-30T12:00:0' in journal.with_name("says.jsonl.torn").read_bytes()
    trial.done("report", "--close")
    assert {row["state"] for row in trial.table("readings") if row["detector"] == "says"} == {"answered"}


# --- what the system refuses -------------------------------------------------------------------------------------------


@contextlib.contextmanager
def full(size: int) -> Iterator[None]:
    """No file grows beyond ``size`` bytes while in the block: the system refuses, as a full disk does."""
    soft, hard = resource.getrlimit(resource.RLIMIT_FSIZE)
    resource.setrlimit(resource.RLIMIT_FSIZE, (size, hard))
    try:
        yield
    finally:
        resource.setrlimit(resource.RLIMIT_FSIZE, (soft, hard))


@pytest.mark.parametrize(
    ("step", "argv", "size"),
    [
        ("promised", ["commit"], 300),
        ("collected", ["collect", "C", "--anew", "--from", "table", "--path", "material/C.csv"], 150),
        ("collected", ["freeze"], 600),
        ("frozen", ["scan"], 900),
        ("frozen", ["record", "material/answers.csv", "--detector", "seen"], 900),
        ("scanned", ["report", "--close"], 700),
        ("published", ["publish", "--out", "out", "--no-tar"], 2000),
    ],
)
def test_a_full_disk_is_told_and_the_same_command_goes_on(
    at: Callable[[str], Trial], step: str, argv: list[str], size: int
) -> None:
    trial = at(step)
    folder = trial.root.parent
    kind = ["--option=kind=generated", "--option=grade=stated", "--option=provider=P", "--option=model=M"]
    words = [
        each.replace("material/", f"{folder}/material/").replace("out", f"{folder}/out", each == "out") for each in argv
    ]
    words += kind if argv[0] == "collect" else []
    before = everything(trial.root)
    with full(size):
        said = trial.run(*words)
    assert said.code == 3, said
    message = said.out if argv[0] == "scan" else said.err
    assert "file too large" in message or "no space left on device" in message
    assert "Free some space and run the same command again; nothing was lost." in message
    assert str(folder) in message
    assert "should not happen" not in said.err
    after = everything(folder)
    assert not [path for path in after if path.endswith(".tmp")]
    for path, data in before.items():
        kept = after[f"study/{path}"]
        assert kept == data or (kept.startswith(data) and "journal" in path), path
    assert not (folder / "out").exists()
    trial.done(*words)
    if step == "frozen":
        trial.done("report", "--close")
    bundle = folder / "bundle-of-all"
    if step in ("frozen", "scanned"):
        trial.done("publish", "--out", str(bundle), "--no-tar")
        checked = penmark("verify", str(bundle))
        assert checked.code == 0, checked.out


@pytest.mark.parametrize(
    ("step", "lock", "argv"),
    [
        ("promised", "private/lock", ["commit"]),
        ("collected", "private/lock", ["collect", "C", "--from", "table", "--path", "material/C.csv"]),
        ("collected", "private/lock", ["freeze"]),
        ("scanned", "private/lock",
         ["amend", "--what", "a", "--why", "b", "--before", "c", "--after", "d"]),
        ("frozen", "editions/TAG/scan.lock", ["scan"]),
        ("frozen", "editions/TAG/scan.lock", ["record", "material/answers.csv", "--detector", "seen"]),
        ("scanned", "editions/TAG/scan.lock", ["report", "--close"]),
        ("published", "private/lock", ["publish", "--out", "out", "--no-tar"]),
    ],
)  # fmt: skip
def test_the_second_of_two_runs_is_refused_and_names_the_first(
    at: Callable[[str], Trial], step: str, lock: str, argv: list[str]
) -> None:
    trial = at(step)
    words = [each.replace("material/", f"{trial.root.parent}/material/") for each in argv]
    with study.lock_file(trial.root / lock.replace("TAG", trial.edition.tag), "somebody's run"):
        before = everything(trial.root)
        said = trial.run(*words)
        told(said, 2, "in use by somebody's run (process ", "Wait until it ends, or stop that process.")
        assert said.out == ""
        assert everything(trial.root) == before


def test_a_report_is_not_made_while_a_shard_is_scanned(at: Callable[[str], Trial]) -> None:
    trial = at("frozen")
    trial.done("scan", "--shard", "1/2")
    with study.lock_file(trial.edition.root / "scan.1of2.lock", "penmark scan --shard 1/2"):
        told(trial.run("report", "--close"), 2, "in use by penmark scan --shard 1/2")
    assert not trial.edition.seal("evidence").exists()


def test_a_folder_that_cannot_be_written_is_told(tmp_path: Path) -> None:
    trial = Trial(tmp_path / "study", [arm("A", "human", 1)], cards=[card()])
    trial.edition.seals.parent.joinpath("seals").write_text("a file where a folder should be")
    said = trial.run("commit")
    assert said.code == 3, said
    assert "seals" in said.err
    assert "move it away" in said.err
    trial.edition.seals.unlink()
    trial.done("commit")


def test_nothing_is_collected_from_a_table_with_one_bad_row(tmp_path: Path) -> None:
    trial = Trial(tmp_path / "study", [arm("A", "human", 3)])
    trial.done("commit")
    given = texts(2) | {"bad/id": "Words."}
    before = everything(trial.root)
    told(trial.collect("A", given, **ARCHIVE), 1, "study-A.jsonl:3")
    assert everything(trial.root) == before
    assert trial.collect("A", texts(3), **ARCHIVE).code == 0
    assert len(lines(trial.place.documents("A"))) == 3
