"""Tables: every value a string as it is written, every fault with its row."""

import json
from pathlib import Path

import polars as pl
import pytest

from penmark.errors import FaultsError, ServiceError, UsageError
from penmark.plugins import Draft, Source, load_source


def table(path: Path, **options: str) -> Source:
    return load_source("table")({"path": str(path)} | {k.replace("__", "."): v for k, v in options.items()})


def gather(path: Path, **options: str) -> list[Draft]:
    return list(table(path, **options).gather("A"))


def faults(path: Path, **options: str) -> tuple[list[Draft], str]:
    found: list[Draft] = []
    with pytest.raises(FaultsError) as caught:
        found.extend(table(path, **options).gather("A"))  # what comes before the faults is kept
    return found, str(caught.value)


def test_strings_stay_strings_through_bom_crlf_and_quoted_line_breaks(tmp_path):
    path = tmp_path / "t.csv"
    path.write_bytes(
        b"\xef\xbb\xbfid,text,register,word_target,colour\r\n"
        b'007,"One, ""two""\r\nthree",NA,0.50,\r\n'
        b"NA,null,null,,red\r\n"
        b"\r\n"
        b"null, spaced ,,=1+1,\r\n"
    )
    one, two, three = gather(path, kind="archive", grade="stated")
    assert [d.id for d in (one, two, three)] == ["007", "NA", "null"]
    assert one.text == b'One, "two"\r\nthree'
    assert one.fields == {"register": "NA"}
    assert one.provenance == {"word_target": "0.50", "kind": "archive", "grade": "stated"}
    assert (two.text, two.provenance["colour"], "word_target" in two.provenance) == (b"null", "red", False)
    assert three.text == b" spaced "
    assert [d.place for d in (one, two, three)] == [f"{path}:2", f"{path}:4", f"{path}:6"]


def test_the_same_rows_in_every_format(tmp_path):
    rows = [{"Index": "01", "Document": "Eins\nzwei", "n": 7, "ok": True, "none": None}, {"Index": "2", "Document": ""}]
    wanted = [("01", b"Eins\nzwei", {"n": "7", "ok": "true"}), ("2", b"", {})]
    (tmp_path / "t.json").write_text(json.dumps(rows))
    (tmp_path / "t.jsonl").write_text("\ufeff" + "\n\n".join(json.dumps(r) for r in rows), encoding="utf-8")
    (tmp_path / "t.tsv").write_text('Index\tDocument\tn\tok\n01\t"Eins\nzwei"\t7\ttrue\n2\t\t\t\n')
    pl.DataFrame(rows, schema_overrides={"Index": pl.String}).write_parquet(tmp_path / "t.parquet")
    for name in ("t.json", "t.jsonl", "t.tsv", "t.parquet"):
        found = gather(tmp_path / name, column__id="Index", column__text="Document")
        assert [(d.id, d.text, d.provenance) for d in found] == wanted, name


def test_numbers_keep_their_digits_and_null_is_absent(tmp_path):
    path = tmp_path / "t.jsonl"
    path.write_text('{"id": 0.50, "text": "x", "settings": {"t": 1e-2}, "vendors": ["a", "b"], "author": null}\n')
    (one,) = gather(path)
    assert (one.id, one.provenance, one.fields) == ("0.50", {"settings": '{"t": "1e-2"}', "vendors": "a;b"}, {})


def test_columns_constants_and_rows(tmp_path):
    path = tmp_path / "t.csv"
    path.write_text("Label,source,text,url,licence\nAI,s,one,u,\nHuman,s,two,v,mine\n")
    options = {
        "column__id": "text",
        "column__text": "url",
        "column__source": "",
        "column__provenance__source": "source",
    }
    (one,) = gather(path, where__Label="Human", kind="archive", licence="CC0", **options)
    assert (one.id, one.text, one.fields) == ("two", b"v", {})
    assert one.provenance == {"Label": "Human", "licence": "mine", "source": "s", "kind": "archive"}
    (other,) = gather(path, where__Label="AI", kind="archive", licence="CC0", column__id="text", column__text="text")
    assert (other.fields["source"], other.provenance["source"], other.provenance["licence"]) == ("s", "s", "CC0")


def test_texts_and_drafts_in_files_beside_the_table(tmp_path):
    (tmp_path / "texts").mkdir()
    (tmp_path / "texts" / "a.txt").write_bytes(b"\xffraw")
    (tmp_path / "d.txt").write_bytes(b"draft")
    path = tmp_path / "t.csv"
    path.write_text("id,file,draft_file\na,texts/a.txt,d.txt\nb,../x.txt,\nc,none.txt,\nd,texts,\n")
    found, told = faults(path)
    assert [(d.text, d.draft) for d in found] == [(b"\xffraw", b"draft")]
    assert f"{path}:3: ../x.txt lies outside" in told
    assert f"{path}:4: there is no file none.txt" in told
    assert f"{path}:5: there is no file texts" in told


@pytest.mark.parametrize(
    ("name", "data", "expected"),
    [
        ("t.csv", b"", ":1: is empty"),
        ("t.csv", b"id,text,id\n", ":1: two columns are named 'id'"),
        ("t.csv", b"id|text\n1|2\n", "its columns: id|text\n"),
        ("t.csv", b"id;text\n1;2;3\n", ":2: 3 cells, where the header has 2\n    Quote cells that hold semicolons"),
        ("t.csv", b"sep=|\nid\ttext\n1\t2\n", "delimiter=tab"),
        ("t.tsv", b"id;text\n1;2\n", "delimiter=;"),
        ("t.csv", "id,text\n".encode("utf-16"), "is UTF-16"),
        ("t.csv", b"id,text\n1,a\n2,a,b\n3,c\n", ":3: 3 cells, where the header has 2"),
        ("t.csv", b'id,text\n1,a\n2,"b\n3,c\n', ":3: is not CSV: unexpected end of data"),
        ("t.csv", b"id,text\n,a\n1,b\n", ":2: no id"),
        (
            "t.csv",
            b"id,txt\n1,a\n2,b\n",
            "t.csv: has neither a column `text` nor a column `file`; its columns: id, txt\n",
        ),
        ("t.jsonl", b'{"id": "1", "text": "a"}\n{"id": "2", "text"\n[0.1]\n0.9\n', ":2: is not valid JSON"),
        ("t.jsonl", b"[0.1]\n", ':1: is not an object: ["0.1"]'),
        ("t.jsonl", b'{"id": "1", "id": "2", "text": "a"}\n', "the key 'id' stands there twice"),
        ("t.jsonl", b'{"id": NaN, "text": "a"}\n', "NaN is not JSON"),
        ("t.jsonl", b"[" * 100_000 + b"\n", "is not valid JSON"),
        ("t.json", b'{"id": "1"}', "is not a list of objects"),
        ("t.json", b"[0.1, 0.9]", ": item 2: is not an object"),
        ("t.parquet", b"PAR1", "is not a parquet file"),
        ("t.xlsx", b"PK", "is not a kind of table"),
    ],
)
def test_bad_tables(tmp_path, name, data, expected):
    (tmp_path / name).write_bytes(data)
    _, told = faults(tmp_path / name)
    assert expected in told


def test_good_rows_come_through_beside_bad_ones(tmp_path):
    path = tmp_path / "t.csv"
    path.write_bytes(b"id,text\n1,a\n2,a,b\n3,caf\xe9\n")
    found, _ = faults(path)
    assert [(d.id, d.text) for d in found] == [("1", b"a"), ("3", b"caf\xe9")]


def test_a_column_that_is_nowhere_is_one_fault(tmp_path):
    path = tmp_path / "t.csv"
    path.write_text("ID,text\n" + "x,y\n" * 50)
    _, told = faults(path, column__id="Id")
    assert told.count("\n") == 1
    assert "column.id: no row has a column 'Id' (did you mean ID?)" in told


def test_missing_files_and_options(tmp_path):
    _, told = faults(tmp_path / "none.csv")
    assert "there is no such file" in told
    with pytest.raises(UsageError, match="needs the option `path`"):
        load_source("table")({})
    with pytest.raises(UsageError, match="is not one character"):
        load_source("table")({"path": "t.csv", "delimiter": "||"})


def test_an_unknown_plugin_is_named_with_the_nearest():
    with pytest.raises(UsageError, match=r"no source plugin 'tabel' \(did you mean table\?\)"):
        load_source("tabel")
    with pytest.raises((UsageError, ServiceError), match="folder"):
        load_source("folder ")
