"""A bundle made to hurt whoever checks it: links, devices, names, sizes, depths, bytes. A fault with its place, no more."""

from __future__ import annotations

import gzip
import os
import random
import shutil
import socket
from collections.abc import Callable
from pathlib import Path

import pytest
from tests.forgeries import both_verifiers
from tests.forgeries.forger import Forger

from penmark import cli
from penmark.stages.verify import gzip_files
from penmark.stages.verify.check_findings import make_plain
from penmark.study import digests

DEEP = 10**6


def caught(forger: Forger, check: int, word: str) -> both_verifiers.Told:
    """Both say no; ours in this check, naming ``word``."""
    ours, alone = both_verifiers.ours(forger.root), both_verifiers.alone(forger.root)
    said = "\n".join(f"{n}: {ours.faults(n)}" for n in sorted(ours.failed))
    assert check in ours.failed, said
    assert word in ours.faults(check), said
    assert alone.failed, said
    return ours


# --- what is no plain file -----------------------------------------------------------------------------------------------


def link_to_a_file(path: Path) -> None:
    path.unlink()
    path.symlink_to("/etc/hostname")


def link_that_leads_nowhere(path: Path) -> None:
    path.unlink()
    path.symlink_to("nowhere")


def pipe(path: Path) -> None:
    path.unlink()
    os.mkfifo(path)


def device(path: Path) -> None:
    path.unlink()
    try:
        os.mknod(path, 0o600 | 0o020000, os.makedev(1, 5))  # /dev/zero: it never ends
    except PermissionError:
        pytest.skip("only root makes devices")


def endpoint(path: Path) -> None:
    path.unlink()
    before = Path.cwd()
    os.chdir(path.parent)  # names of sockets are short
    try:
        with socket.socket(socket.AF_UNIX) as made:
            made.bind(path.name)
    finally:
        os.chdir(before)


@pytest.mark.parametrize("path", ["protocol.json", "seals/corpus.json", "journal/plain.jsonl", "SHA256SUMS"])
@pytest.mark.parametrize(
    "make", [link_to_a_file, link_that_leads_nowhere, pipe, device, endpoint], ids=lambda f: f.__name__
)
def test_what_is_no_plain_file_is_named_and_nothing_else_is_opened(
    forger: Forger, make: Callable[[Path], None], path: str
) -> None:
    make(forger.root / path)
    ours = caught(forger, 1, path)
    assert ours.failed == {1}
    assert "the bundle holds links or special files" in ours.unknown()


@pytest.mark.parametrize("name", ["texts", "seals", "report"])
def test_a_link_to_a_folder(forger: Forger, tmp_path: Path, name: str) -> None:
    shutil.move(forger.root / name, tmp_path / "elsewhere")
    (forger.root / name).symlink_to(tmp_path / "elsewhere")
    assert caught(forger, 1, name).failed == {1}


def test_a_hard_link_is_a_file_like_any_other(forger: Forger, tmp_path: Path) -> None:
    os.link(forger.root / "LICENSE", tmp_path / "second")
    assert both_verifiers.ours(forger.root).failed == set()
    (tmp_path / "second").write_bytes(b"other\n")
    caught(forger, 1, "LICENSE")


@pytest.mark.parametrize(
    "path", ["protocol.json", "seals/corpus.json", "texts", "README.md", "evidence/plain-0001.jsonl.gz"]
)
def test_a_folder_where_a_file_should_be_and_the_other_way_round(forger: Forger, path: str) -> None:
    target = forger.root / path
    if target.is_dir():
        shutil.rmtree(target)
        target.write_bytes(b"")
    else:
        target.unlink()
        target.mkdir()
    caught(forger, 1, path)


def test_folders_in_folders_are_not_entered(forger: Forger) -> None:
    deep = forger.root / "texts" / "a"
    for _ in range(200):
        deep = deep / "a"
    deep.mkdir(parents=True)
    os.mkfifo(deep / "pipe")
    assert caught(forger, 1, "texts/a/").failed == {1}


def test_a_folder_in_which_nothing_stands(forger: Forger) -> None:
    (forger.root / "replies").mkdir()
    assert caught(forger, 1, "replies/").failed == {1}


# --- names ---------------------------------------------------------------------------------------------------------------

NAMES = [
    "Manifest.jsonl", "manifest.jsonl ", "manifest.jsonl\n", "m\u0430nifest.jsonl", "manifest\u2028.jsonl",
    "..manifest", "...", "-rf", "a\\b", "\x1b[2Jall ok", "caf\u0065\u0301", "x" * 255, ".hidden", "CON", "texts.lnk",
    "seals/promise-\u0430.tsr", "tables/rates.csv\r", "tables/Rates.csv", "texts/" + "A" * 64 + ".txt", "journal/a b.jsonl",
    "evidence/plain-1.jsonl.gz", "evidence/plain-0001.jsonl", "report/index.htm", "amendments/0001.json.bak",
]  # fmt: skip


@pytest.mark.parametrize("listed", [False, True])
def test_names_that_the_format_does_not_have(forger: Forger, listed: bool) -> None:
    for name in NAMES:
        (forger.root / name).write_bytes(b"")
    if listed:
        forger.sums()
    ours, alone = both_verifiers.ours(forger.root), both_verifiers.alone(forger.root)
    assert 1 in ours.failed & alone.failed
    named = {check.subject for check in ours.checks if check.state == "failed"}
    assert {make_plain(name) for name in NAMES} <= named


def test_a_name_that_is_no_text(forger: Forger) -> None:
    try:
        (Path(os.fsdecode(os.fsencode(forger.root) + b"/\xff\xfe"))).write_bytes(b"")
    except OSError:
        pytest.skip("this file system takes no such name")
    assert caught(forger, 1, "\\udcff\\udcfe").failed == {1}


SUMS = [
    (b"  LICENSE\n", b"  LICENSE\r\n"),
    (b"  LICENSE\n", b" *LICENSE\n"),
    (b"  LICENSE\n", b"\tLICENSE\n"),
    (b"  LICENSE\n", b"  ./LICENSE\n"),
    (b"  LICENSE\n", b"  ../LICENSE\n"),
    (b"  LICENSE\n", b"  /etc/passwd\n"),
    (b"  LICENSE\n", b"  LICENSE\n\n"),
    (b"  LICENSE\n", b"  LICENSE\n# all well\n"),
    (b"  LICENSE\n", "  LICEN\u2028SE\n".encode()),
    (b"  LICENSE\n", b"  LICENSE\x00\n"),
    (b"  LICENSE\n", b"  \xff\n"),
    (b"  verify.py\n", b"  verify.py"),
    (b"  verify.py\n", b"  verify.py\n" + b"0" * 64 + b"  verify.py\n"),
    (b"  verify.py\n", b"  verify.py\n" + b"0" * 64 + b"  SHA256SUMS\n"),
    (b"  verify.py\n", b"  verify.py\n" + b"0" * 64 + b"  a\n"),
]


@pytest.mark.parametrize(("old", "new"), SUMS, ids=range(len(SUMS)))
def test_sums_that_two_readers_read_differently(forger: Forger, old: bytes, new: bytes) -> None:
    data = forger.read("SHA256SUMS")
    assert old in data
    forger.write("SHA256SUMS", data.replace(old, new))
    assert caught(forger, 1, "SHA256SUMS").failed == {1}
    assert both_verifiers.alone(forger.root).failed == {1}


def test_sums_with_every_line_end_turned(forger: Forger) -> None:
    forger.write("SHA256SUMS", forger.read("SHA256SUMS").replace(b"\n", b"\r\n"))
    assert "has CRLF line ends" in caught(forger, 1, "SHA256SUMS").faults(1)


def test_lines_out_of_order(forger: Forger) -> None:
    lines = forger.read("SHA256SUMS").split(b"\n")[:-1]
    forger.write("SHA256SUMS", b"\n".join([lines[-1], *lines[:-1]]) + b"\n")
    caught(forger, 1, "SHA256SUMS")


def test_upper_case_digests(forger: Forger) -> None:
    data = forger.read("SHA256SUMS")
    first = data[:64]
    forger.write("SHA256SUMS", data.replace(first, first.upper()))
    caught(forger, 1, "SHA256SUMS:1")


# --- sizes ---------------------------------------------------------------------------------------------------------------

LARGE = ["texts/" + "0" * 64 + ".txt", "manifest.jsonl", "protocol.yaml", "report/index.html", "SHA256SUMS",
         "journal/plain.jsonl", "tables/rates.csv", "evidence/plain-0001.jsonl.gz"]  # fmt: skip


@pytest.mark.parametrize("path", LARGE)
def test_an_absurdly_large_file(forger: Forger, path: str) -> None:
    (forger.root / path).unlink(missing_ok=True)
    with (forger.root / path).open("wb") as file:
        try:
            file.truncate(digests.LARGEST + 1)  # it has holes: nothing of it is on the disk
        except OSError:
            pytest.skip("this file system takes no such file")
    ours = both_verifiers.ours(forger.root)
    assert 1 in ours.failed
    assert path in ours.faults(1)


@pytest.mark.parametrize("path", ["evidence/plain-0001.jsonl.gz", "texts/0001.jsonl.gz"])
@pytest.mark.parametrize("unit", [b"\0", b"\n", b"{}\n"], ids=["zeros", "line ends", "objects"])
def test_a_bomb(forger: Forger, path: str, unit: bytes) -> None:
    piece = unit * (2**20 // len(unit))
    with (forger.root / path).open("wb") as raw, gzip.GzipFile("", "wb", 1, raw, 0) as file:
        for _ in range(80):
            file.write(piece)
    forger.sums()
    caught(forger, 5 if "plain" in path else 4, path.rsplit("/", 1)[1].split("-")[0])


def test_a_file_that_expands_beyond_the_limit(forger: Forger, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(gzip_files, "EXPANDED", 500)
    ours = caught_ours(forger)
    assert "expands to more than 500 bytes" in ours.faults(5)


def caught_ours(forger: Forger) -> both_verifiers.Told:
    """What ours says of a bundle that is too much for it."""
    ours = both_verifiers.ours(forger.root)
    assert ours.failed
    return ours


@pytest.mark.parametrize(
    "bend",
    [
        lambda data: data + data,
        lambda data: data + b"\0" * 10,
        lambda data: data[:-4],
        lambda data: data[:3] + b"\x08" + data[4:10] + b"name\0" + data[10:],
        lambda data: data[:4] + b"\x01" + data[5:],
        lambda data: b"",
        lambda data: gzip.decompress(data),
    ],
    ids=["two members", "a tail", "cut", "a name", "a time", "nothing", "not packed"],
)
def test_a_packed_file_that_two_readers_read_differently(forger: Forger, bend: Callable[[bytes], bytes]) -> None:
    path = forger.root / "evidence/plain-0001.jsonl.gz"
    path.write_bytes(bend(path.read_bytes()))
    forger.sums()
    ours = caught(forger, 5, "evidence/plain-0001.jsonl.gz")
    assert ours.failed == both_verifiers.alone(forger.root).failed == {5}


# --- bytes ---------------------------------------------------------------------------------------------------------------

JSON = [
    "protocol.json",
    "seals/promise.json",
    "seals/evidence.json",
    "detectors/plain.json",
    "seed.json",
    "amendments/0001.json",
]
LINES = ["manifest.jsonl", "journal/plain.jsonl", "salts.jsonl", "deviations.jsonl", "evidence/plain-0001.jsonl.gz"]
JUNK: dict[str, bytes] = {
    "nothing": b"",
    "deep": b"[" * DEEP + b"]" * DEEP,
    "deep objects": b'{"a":' * DEEP + b"1" + b"}" * DEEP,
    "unclosed": b"[" * DEEP,
    "a huge integer": b'{"a":' + b"9" * DEEP + b"}",
    "beyond 2^53": b'{"a":9007199254740993}',
    "a float": b'{"a":1.5}',
    "NaN": b'{"a":NaN}',
    "a key twice": b'{"a":1,"a":2}',
    "not UTF-8": b'{"a":"\xff"}',
    "NUL": b"\0" * 100,
    "a lone surrogate": b'{"a":"\\ud800"}',
    "half of one": b'{"a":"\xed\xa0\x80"}',
    "a BOM": b'\xef\xbb\xbf{"a":1}',
    "a list": b"[1,2]",
    "null": b"null",
    "UTF-16": '{"a":1}'.encode("utf-16"),
    "steers a terminal": b'{"\x1b[2J":"\x1b]0;all ok\x07"}',
}


EVERY = os.environ.get("PENMARK_SOAK") == "1"
PAIRS = [(p, j) for a, p in enumerate([*JSON, *LINES]) for b, j in enumerate(JUNK) if EVERY or (a + b) % 6 == 0]


@pytest.mark.parametrize(("path", "kind"), PAIRS, ids=lambda value: value)
def test_junk_instead_of_json(forger: Forger, path: str, kind: str) -> None:
    junk = JUNK[kind]
    forger.write(path, junk + b"\n" if path in LINES and junk else junk)
    forger.sums()
    ours = both_verifiers.ours(forger.root)
    said = "\n".join(f"{n}: {ours.faults(n)}" for n in sorted(ours.failed))
    assert "(TypeError" not in said
    assert "(KeyError" not in said
    assert "(AttributeError" not in said
    if path == "deviations.jsonl" and not junk:
        assert ours.failed == set()  # a study of which nothing is told
        return
    assert ours.failed - {1}, said
    assert path.removesuffix("-0001.jsonl.gz") in said
    assert both_verifiers.alone(forger.root).failed or path in ("amendments/0001.json", "deviations.jsonl")


@pytest.mark.parametrize(
    "path", ["protocol.yaml", "screening.csv", "tables/rates.csv", "report/index.html", "README.md"]
)
@pytest.mark.parametrize("junk", ["nothing", "deep", "NUL", "not UTF-8", "UTF-16"])
def test_junk_instead_of_text(forger: Forger, path: str, junk: str) -> None:
    forger.write(path, JUNK[junk])
    forger.sums()
    ours = both_verifiers.ours(forger.root)
    assert ours.failed, path
    assert ours.says(path)


def test_deep_nesting_in_a_protocol_for_people(forger: Forger) -> None:
    forger.write("protocol.yaml", b"a: " + b"[" * 10_000 + b"]" * 10_000 + b"\n")
    caught(forger, 3, "protocol.yaml")


def test_a_deep_page(forger: Forger) -> None:
    forger.write("report/index.html", b"<!doctype html>\n<html>" + b"<div>" * 10_000)
    assert both_verifiers.ours(forger.root).says("report/index.html")


@pytest.mark.parametrize(
    "body",
    [
        "[" * 200_000 + "]" * 200_000,
        '{"verdict":' + "9" * 100_000 + "}",
        '{"verdict":"\\ud800"}',
        '{"verdict":1e999999999}',
        "\0",
    ],
    ids=["deep", "a huge number", "a lone surrogate", "a huge exponent", "NUL"],
)
def test_an_answer_is_only_data(forger: Forger, body: str) -> None:
    """Whatever a vendor sent back is evidence; it has no score, or one that no rule takes."""
    nothing = dict.fromkeys(("displayed", "score", "label"))
    forger.answer("plain", "A-04", body, state="declined", reason="no answer that can be read", **nothing)
    forger.finish()
    ours, alone = both_verifiers.ours(forger.root), both_verifiers.alone(forger.root)
    assert both_verifiers.agree(ours, alone) == []
    if "verdict" not in body or "ud800" in body:
        assert ours.failed == set(), [ours.faults(n) for n in ours.failed]
    else:
        assert ours.failed == {5}  # the number is displayed, so it is an answer


@pytest.mark.parametrize("when", ["9999-12-31T23:59:59Z", "9999-12-30T23:59:59Z", "0001-01-01T00:00:00Z"])
def test_a_seal_at_an_end_of_time(forger: Forger, when: str) -> None:
    forger.edit("seals/corpus.json", lambda seal: seal.update(sealed_at=when))
    forger.finish("corpus")
    for told in (both_verifiers.ours(forger.root), both_verifiers.alone(forger.root)):
        assert 2 in told.failed
        assert not [check for check in told.checks if "cannot be checked" in str(check.got)]


def test_a_table_of_findings_with_a_cell_that_never_ends(forger: Forger) -> None:
    forger.write("screening.csv", forger.read("screening.csv") + b'warning,"' + b"x" * 200_000)
    forger.finish("page")
    caught(forger, 4, "screening.csv")


def test_a_cell_that_a_spreadsheet_runs_is_guarded(forger: Forger) -> None:
    rows = forger.read("tables/documents.csv").decode()
    assert "'=HYPERLINK(A1)" in rows
    forger.write("tables/documents.csv", rows.replace("'=HYPERLINK(A1)", "=HYPERLINK(A1)").encode())
    forger.finish("tables")
    ours = both_verifiers.ours(forger.root)
    assert ours.failed == both_verifiers.alone(forger.root).failed == {7}
    assert ours.says("tables/documents.csv:6")


# --- names with dots -----------------------------------------------------------------------------------------------------


def test_a_detector_with_the_name_of_a_shard_is_not_promised(forger: Forger) -> None:
    def two(value: dict[str, object]) -> None:
        detectors = value["detectors"]
        assert isinstance(detectors, list)
        detectors.append(detectors[0] | {"name": "edge.2.1of2"})

    forger.promise(two)
    forger.write("detectors/edge.2.1of2.json", forger.read("detectors/edge.2.json"))
    forger.finish()
    caught(forger, 3, "shard")
    assert both_verifiers.alone(forger.root).says("shard")


def test_a_shard_under_another_name(forger: Forger) -> None:
    (forger.root / "journal/edge.2.2of2.jsonl").rename(forger.root / "journal/edge.2.2of3.jsonl")
    forger.finish()
    caught(forger, 5, "journal/edge.2.2of3.jsonl")


# --- nobody sees a traceback ---------------------------------------------------------------------------------------------


def no_files(forger: Forger) -> None:
    for path in forger.root.rglob("*"):
        if path.is_file():
            path.unlink()


def only_sums(forger: Forger) -> None:
    no_files(forger)
    forger.write("SHA256SUMS", b"")


def nothing_but_names(forger: Forger) -> None:
    for path in forger.root.rglob("*"):
        if path.is_file():
            path.write_bytes(b"")


def terminal(forger: Forger) -> None:
    forger.replace("report/index.html", ">50.00", ">\x1b[2J50.00")
    forger.write("\x1b]0;x\x07", b"")


def test_a_folder_without_files_is_no_bundle(forger: Forger, capsys: pytest.CaptureFixture[str]) -> None:
    no_files(forger)
    with pytest.raises(SystemExit) as ended:
        cli.main(["verify", str(forger.root)])
    assert ended.value.code == 2
    assert str(forger.root) in capsys.readouterr().err


@pytest.mark.parametrize("act", [only_sums, nothing_but_names, terminal], ids=lambda f: f.__name__)
@pytest.mark.parametrize("form", [[], ["--json"]], ids=["words", "json"])
def test_the_command_says_place_fact_and_remedy(
    forger: Forger, act: Callable[[Forger], None], form: list[str], capsys: pytest.CaptureFixture[str]
) -> None:
    act(forger)
    with pytest.raises(SystemExit) as ended:
        cli.main(["verify", str(forger.root), *form])
    out, err = capsys.readouterr()
    assert ended.value.code == 1
    assert err == ""
    assert "Traceback" not in out
    assert "should not happen" not in out
    assert "\x1b" not in out
    if not form:
        assert out.splitlines()[-1].startswith("FAILED: ")


def test_a_file_less(forger: Forger) -> None:
    """One file less, one after the other: a fault with its name, whatever else then cannot be checked."""
    wanted = [p for p in sorted(forger.root.rglob("*")) if p.is_file()]
    for path in wanted if EVERY else random.Random(8).sample(wanted, 12):
        data, name = path.read_bytes(), path.relative_to(forger.root).as_posix()
        path.unlink()
        ours = both_verifiers.ours(forger.root)
        assert 1 in ours.failed
        assert name in ours.faults(1)
        assert both_verifiers.alone(forger.root).says(name)
        path.write_bytes(data)
    assert both_verifiers.ours(forger.root).failed == set()
