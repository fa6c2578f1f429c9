"""`penmark collect`, as it is typed."""

import json

import pytest

from penmark import study
from penmark.cli import invoke
from penmark.errors import FaultsError, UsageError
from penmark.format import canonical_json


def test_a_folder_a_table_and_a_promised_source(corpus, tmp_path, capsys):
    source = {"plugin": "table", "options": {"path": "../texts.csv", "column.id": "ID", "kind": "generated"}}
    made = corpus(corpus.arm("A", "human"), corpus.arm("C", "ai", source=source))
    folder = tmp_path / "texts"
    folder.mkdir()
    (folder / "007.txt").write_bytes(b"One text.\r\n")
    (folder / "metadata.csv").write_text("id,evidence_date,colour,license\n007,2020-01-01,red,MIT\n")
    (tmp_path / "texts.csv").write_text("ID,text,grade,provider,model\nNA,An AI text.,stated,P,M\n")
    place = ["-C", str(made.place.root)]
    options = [f"{n}={v}" for n, v in {"kind": "archive", "grade": "stated", "source": "s", "archive": "a"}.items()]
    given = [part for option in [*options, "licence=CC0"] for part in ("--option", option)]
    assert invoke([*place, "collect", "A", "--path", str(folder), *given]) == 0
    out, err = capsys.readouterr()
    assert out == "A: 1 document (1 added, 0 updated, 0 unchanged)\n"
    assert err == "note: A: columns that no record has were left out: colour, license (did you mean licence?)\n"
    assert invoke([*place, "collect", "--json"]) == 0
    assert json.loads(capsys.readouterr().out) == [
        {
            "arm": "C",
            "added": 1,
            "updated": 0,
            "unchanged": 0,
            "documents": 1,
            "unused": [],
            "withdrawn": [],
            "pool": None,
            "lacking": [],
            "demoted": {},
        }
    ]
    assert [d["id"] for arm in ("A", "C") for d in made.documents(arm)] == ["007", "NA"]
    assert invoke([*place, "collect", "C", "--option", "grade=recorded"]) == 0  # the row's own cell stands
    assert "1 unchanged" in capsys.readouterr().out


def test_faults_of_all_arms_are_told_and_good_arms_stay(corpus, tmp_path, capsys):
    sources = {n: {"plugin": "table", "options": {"path": f"{n}.jsonl", "kind": "generated"}} for n in "ABC"}
    made = corpus(*(corpus.arm(n, "ai", 1, source=s) for n, s in sources.items()))
    (made.place.root / "A.jsonl").write_text('{"id": "a", "text": "x"}\n')
    (made.place.root / "B.jsonl").write_text(
        '{"id": "b", "text": "x", "grade": "stated", "provider": "P", "model": "M"}\n'
    )
    with pytest.raises(FaultsError) as caught:
        invoke(["-C", str(made.place.root), "collect"])
    assert "A.jsonl:1: no grade" in str(caught.value)
    assert "C.jsonl: there is no such file" in str(caught.value)
    assert capsys.readouterr().out.startswith("B: 1 document (")


def test_what_cannot_be_understood(corpus, tmp_path):
    made = corpus()
    place = ["-C", str(made.place.root), "collect"]
    for argv, expected in (
        (["a"], r"no arm a \(did you mean A\?\)"),
        (
            ["A"],
            r"names no source for the arm A[^\0]*SOURCE is one of dataset, folder, git, liang2023, release, [^\0]*zippy",
        ),
        ([], "no arm of the protocol names a source"),
        (["A", "--from", "tabel"], r"did you mean table\?"),
        (["A", "--from", "csv", "--path", "t.csv"], r"there is no source plugin 'csv' \(did you mean table\?\)"),
        (["A", "--from", "folder", "--path", __file__], r"is a file, not a folder\n.*`--from table`"),
        (["A", "--from", "table"], "needs the option `path`"),
        (["A", "--option", "kind"], "'kind' is not NAME=VALUE"),
        (["A", "--option", "kind=a", "--option", "kind=b"], "kind is given twice"),
    ):
        with pytest.raises(UsageError, match=expected):
            invoke([*place, *argv])


def test_another_source_than_the_promised_one_is_said(corpus, tmp_path, capsys):
    made = corpus(corpus.arm("A", "human", 1, source={"plugin": "liang2023"}))
    path = tmp_path / "t.csv"
    path.write_text("id,text,kind,grade,source,archive,evidence_date,licence\n1,x,archive,stated,s,a,2020-01-01,l\n")
    assert invoke(["-C", str(made.place.root), "collect", "A", "--from", "table", "--path", str(path)]) == 0
    assert "note: the protocol promises the source liang2023 for the arm A" in capsys.readouterr().err


# --- a table that does not fit yet is told in a few lines ----------------------------------------------------------


@pytest.fixture
def wide(corpus, tmp_path):
    """A study, and a table of 150 rows whose columns are called otherwise."""
    made = corpus(corpus.arm("A", "human", 150), corpus.arm("C", "ai"))
    rows = "".join(f"x{n},Some words {n}.,casual,2019\n" for n in range(150))
    (tmp_path / "a.csv").write_text(f"ID,essay,registr,year\n{rows}")
    (tmp_path / "semicolon.csv").write_text("id;text\n1;a\n2;b\n")
    (tmp_path / "blanks").mkdir()
    (tmp_path / "sub").mkdir()
    (tmp_path / "blanks" / "t.csv").write_text("id , Text \n1,a\n")
    return made


ARCHIVED = [f"--option={each}" for each in ("kind=archive", "grade=stated", "source=s", "archive=a", "licence=l")]
COLUMNS = ["--column", "id=ID", "--column", "text=essay"]


@pytest.mark.parametrize(
    ("argv", "told"),
    [
        (
            ["--path", "{}/a.csv"],
            "{}/a.csv: has no column `id` and neither a column `text` nor a column `file`; its columns: ID, essay, registr, "
            "year\n    Say which column holds it: --column id=ID --column text=COLUMN",
        ),
        (
            ["--path", "{}/a.csv", *COLUMNS, "--option", "kind=archive"],
            "{}/a.csv:2: no grade, source, archive, evidence_date and licence (provenance of kind archive needs them) (and 149 "
            "more like it, to line 151)\n    Add columns of these names, or give them for all rows: --option grade=… --option "
            "source=… --option archive=… --option evidence_date=… --option licence=…",
        ),
        (
            ["--path", "{}/a.csv", *COLUMNS, *ARCHIVED],
            "{}/a.csv:2: no evidence_date (provenance of kind archive needs it) (and 149 more like it, to line 151)\n"
            "    Add a column `evidence_date`, or give it for all rows: --option evidence_date=…",
        ),
        (
            ["--path", "{}/a.csv", *COLUMNS, "--option", "kind=archiv"],
            "{}/a.csv:2: no such kind of provenance: archiv (did you mean archive?) (and 149 more like it, to line 151)\n"
            "    `kind` is one of archive, attested, generated, edited, transformed. Add a column `kind`, "
            "or give it for all rows: --option kind=…",
        ),
        (
            ["--path", "{}/semicolon.csv", "--option", "delimiter=,"],
            "{}/semicolon.csv:1: has one column only\n    If another sign parts the cells, give --option 'delimiter=;'",
        ),
        (
            ["--from", "table", "--path", "{}/blanks"],
            "{}/blanks: is a folder, not a table\n    Name the file in it. A folder of texts is read by `--from folder`.",
        ),
        (
            ["--path", "{}/sub/../a.csv", "--column", "id=id", "--column", "text=essay"],
            "{}/sub/../a.csv: column.id: no row has a column 'id' (did you mean ID?)\n"
            "    Columns: ID, essay, registr, year.",
        ),
        (
            ["--path", "{}/blanks/t.csv"],
            "{}/blanks/t.csv: has no column `id` and neither a column `text` nor a column `file`; its columns: ' Text ', "
            "'id '\n    Say which column holds it: --column 'id=id ' --column 'text= Text '",
        ),
        (
            ["--path", "{}/blanks/t.csv", "--column", "id=ID", "--column", "text= Text "],
            "{}/blanks/t.csv: column.id: no row has a column 'ID' (did you mean 'id '?)\n    Columns: ' Text ', 'id '.",
        ),
        (
            ["--path", "{}/missing"],
            "{}/missing: there is no such file or folder\n    Look at the name, and at the option --path.",
        ),
    ],
)
def test_what_all_rows_lack_is_said_once(wide, tmp_path, argv, told):
    with pytest.raises(FaultsError) as caught:
        invoke(["-C", str(wide.place.root), "collect", "A", *(each.replace("{}", str(tmp_path)) for each in argv)])
    assert str(caught.value) == told.replace("{}", str(tmp_path))
    assert not wide.place.documents("A").exists()


def test_what_is_misspelled_is_told_in_words(wide, tmp_path):
    (tmp_path / "a.csv").write_text("id,text,evidence_date\n../a,A text.,2019-01-01\n")
    with pytest.raises(FaultsError) as caught:
        invoke(["-C", str(wide.place.root), "collect", "A", "--path", str(tmp_path / "a.csv"), *ARCHIVED])
    assert str(caught.value) == (
        f"{tmp_path}/a.csv:2: id: is not an id of 1 to 128 characters without slash, backslash, tab, line end or other "
        "control characters (given: '../a')\n    Correct it where the row comes from, and collect again."
    )


@pytest.mark.parametrize("of", ["table", "folder"])
def test_semicolons_are_seen_by_the_first_line(wide, tmp_path, of):
    header = '\ufeffid;text;"evidence_date";kind;grade;source;archive;licence\r\n'
    row = '1;"One, and; ""two""";2019-01-01;archive;stated;s;a;l\r\n'
    folder = tmp_path / "texts"
    folder.mkdir()
    path = folder / "metadata.csv"
    path.write_text(header + row, encoding="utf-8", newline="")
    given = path if of == "table" else folder
    assert invoke(["-C", str(wide.place.root), "collect", "A", "--from", of, "--path", str(given)]) == 0
    [document] = wide.documents("A")
    assert document["id"] == "1"
    assert [raw for _, raw, _ in study.read_texts(wide.place.arm("A"))] == [b'One, and; "two"']


def test_the_columns_that_are_there_are_named(wide, tmp_path, capsys):
    with pytest.raises(FaultsError):
        invoke(["-C", str(wide.place.root), "collect", "A", "--path", str(tmp_path / "a.csv"), *COLUMNS])
    assert capsys.readouterr().err == "note: A: the columns that are there: ID, essay, registr, year\n"
    options = [*COLUMNS, *ARCHIVED, "--option=evidence_date=2019-01-01"]
    assert invoke(["-C", str(wide.place.root), "collect", "A", "--path", str(tmp_path / "a.csv"), *options]) == 0
    told = "note: A: columns that no record has were left out: registr (did you mean register?), year\n"
    assert capsys.readouterr().err == told


@pytest.mark.parametrize(("option", "near"), [("grad=stated", " (did you mean grade?)"), ("frobnicate=1", "")])
def test_an_option_that_nothing_knows_is_refused(wide, tmp_path, option, near):
    argv = ["--path", str(tmp_path / "a.csv"), *COLUMNS, *ARCHIVED, "--option", option]
    with pytest.raises(UsageError, match=r"no record has '\w+'") as caught:
        invoke(["-C", str(wide.place.root), "collect", "A", *argv])
    assert f"{near}, and it is no option of this source" in str(caught.value)


# --- what the arm does not take --------------------------------------------------------------------------------------


def test_what_the_arm_does_not_take_is_told_at_once_with_its_row(corpus, tmp_path, capsys):
    evidence = {"kinds": ["archive"], "grades": ["archived", "released"], "before": "2022-01-01"}
    made = corpus(corpus.arm("A", "human", 8, evidence=evidence))
    path = tmp_path / "t.csv"
    head = "id,text,kind,grade,source,archive,evidence_date,licence,locator.by,locator.url,evidence_sha256"
    kept = f"web-archive,https://example.org/,{canonical_json.sha256(b'kept')}"
    rows = [f"{n},Text {n}.,archive,{'stated' if n > 2 else 'archived'},s,a,2020-01-01,l,{kept}" for n in range(8)]
    rows[1] = rows[1].replace("2020", "2022")
    path.write_text("\n".join([head, *rows, ""]))
    place = ["-C", str(made.place.root)]
    assert invoke([*place, "collect", "A", "--path", str(path)]) == 0
    out, err = capsys.readouterr()
    assert out == "A: 8 documents (8 added, 0 updated, 0 unchanged)\n"
    assert err == (
        "warning: A: 6 texts of this source: not what the arm asks for; collected all the same, and `penmark screen` names "
        f"each\n{path}:3: the evidence is of 2022-01-01, not before 2022-01-01\n    Find a copy or a revision of this text "
        f"that is older, or replace it.\n{path}:5: evidence of grade stated; the arm takes archived or released (and 4 more "
        "like it, to line 9)\n    Find better evidence, or replace the text.\n"
    )
    assert invoke([*place, "collect", "A", "--path", str(path), "--json"]) == 0
    out, err = capsys.readouterr()
    [told] = json.loads(out)
    assert (told["unchanged"], len(told["lacking"])) == (8, 6)
    assert told["lacking"][0]["place"] == f"{path}:3"
    assert err.startswith("warning: A: 6 texts")


def test_a_kind_and_a_truth_that_the_arm_does_not_take(corpus, tmp_path, capsys):
    made = corpus(corpus.arm("A", "human", 1, evidence={"kinds": ["archive"], "grades": ["archived"]}))
    path = tmp_path / "t.jsonl"
    path.write_text('{"id": "a", "text": "x", "kind": "generated", "grade": "stated", "provider": "P", "model": "M"}\n')
    assert invoke(["-C", str(made.place.root), "collect", "A", "--path", str(path)]) == 0
    err = capsys.readouterr().err
    assert err.startswith("warning: A: 1 text of this source: not what")
    assert f"{path}:1: provenance of kind generated; the arm takes archive\n" in err
    assert f"{path}:1: the arm's truth is human, the provenance says generated\n" in err


def test_what_a_draw_leaves_out_is_not_told(corpus, tmp_path, capsys):
    made = corpus(corpus.arm("A", "human", 1, evidence={"kinds": ["archive"], "grades": ["archived"]}))
    path = tmp_path / "t.csv"
    head = "id,text,kind,grade,source,archive,evidence_date,licence,locator.by,locator.url,evidence_sha256\n"
    kept = f"web-archive,https://example.org/,{canonical_json.sha256(b'kept')}"
    rows = (f"{n},Text {n}.,archive,{n},s,a,2020-01-01,l,{kept}\n" for n in ("stated", "archived"))
    path.write_text(head + "".join(rows))
    assert invoke(["-C", str(made.place.root), "collect", "A", "--draw", "--path", str(path)]) == 0
    out, err = capsys.readouterr()
    assert "of 2 candidates 1 were eligible" in out
    assert err == ""
