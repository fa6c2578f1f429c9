"""A command line as a detector: what it prints is the answer, and whatever else it does costs nobody but itself."""

from __future__ import annotations

import json
import os
import shlex
import sys
import time
from pathlib import Path

import pytest

from penmark import plugins
from penmark.errors import UsageError
from penmark.plugins import Answer, Declined, UnansweredError
from penmark.shipped.detectors.command import Command


def program(tmp_path: Path, code: str, **options: str) -> Command:
    """The detector that runs this Python code, which has ``text``, the bytes that it was given."""
    path = tmp_path / "detect it.py"
    path.write_text(f"import json, os, sys, time\ntext = sys.stdin.buffer.read()\n{code}\n")
    argv = shlex.join([sys.executable, "-I", str(path)])
    return Command({"argv": argv, **options})


def said(detector: Command, text: str) -> bytes:
    answer = detector.read(text)
    assert isinstance(answer, Answer)
    return answer.body


def test_the_text_comes_in_and_the_answer_goes_out_byte_by_byte(tmp_path: Path) -> None:
    detector = program(tmp_path, "print(json.dumps({'hex': text.hex(), 'score': 0.50}))")
    text = "a\r\nb\x00 “c”\n"
    assert json.loads(said(detector, text)) == {"hex": text.encode().hex(), "score": 0.5}
    assert said(program(tmp_path, "sys.stdout.write('{\"score\": 0.50}')"), text) == b'{"score": 0.50}'
    assert said(program(tmp_path, "print('not json')"), text) == b"not json\n"


def test_a_large_text_and_a_program_that_reads_none_of_it(tmp_path: Path) -> None:
    detector = program(tmp_path, "print(json.dumps({'n': len(text)}))")
    assert json.loads(said(detector, "x" * 3_000_000)) == {"n": 3_000_000}
    deaf = Command({"argv": f"{shlex.quote(sys.executable)} -I -c 'print(1)'"})
    assert said(deaf, "x" * 3_000_000) == b"1\n"


def test_it_declines_in_words(tmp_path: Path) -> None:
    detector = program(tmp_path, "print(json.dumps({'declined': 'too short', 'least': 50}))")
    assert detector.read("x") == Declined("too short", b'{"declined": "too short", "least": 50}\n')


@pytest.mark.parametrize(
    ("code", "fact"),
    [
        ("sys.exit(3)", r"^the command ended with 3$"),
        ("sys.exit('no model')", r"^the command ended with 1 \(no model\)$"),
        ("print('{}'); sys.stderr.write('x' * 999 + ' bad\\n'); sys.exit(2)", r"ended with 2 \(x+ bad\)$"),
        ("os.kill(os.getpid(), 9)", r"^the command was ended by signal 9$"),
        ("", r"^the command printed nothing$"),
        ("print('  ')", r"^the command printed nothing$"),
    ],
)
def test_what_is_no_answer(tmp_path: Path, code: str, fact: str) -> None:
    with pytest.raises(UnansweredError, match=fact) as caught:
        program(tmp_path, code).read("a text")
    assert (caught.value.again, caught.value.stop) == (False, False)
    assert len(str(caught.value)) < 300


def test_a_reason_never_quotes_the_text(tmp_path: Path) -> None:
    text = "My grandmother kept the keys in a jar of flour."
    with pytest.raises(UnansweredError, match=r"^the command ended with 1$"):
        program(tmp_path, "sys.exit('cannot read: ' + text.decode())").read(text)


def test_it_is_ended_in_time_with_all_that_it_started(tmp_path: Path) -> None:
    child = "\n".join(
        [
            "import subprocess",
            "subprocess.Popen([sys.executable, '-c', 'import time; time.sleep(600)'])",
            f"open({str(tmp_path / 'pid')!r}, 'w').write(str(os.getpid()))",
            "time.sleep(600)",
        ]
    )
    with pytest.raises(UnansweredError, match="did not come to its end within 1 seconds"):
        program(tmp_path, child, timeout="1").read("x")
    group = int((tmp_path / "pid").read_text())
    for _ in range(200):  # the system may take a moment to bury what was killed
        if not _alive(group):
            break
        time.sleep(0.05)
    assert not _alive(group)


def _alive(group: int) -> bool:
    """Whether a process of this group runs (one that is dead and not yet buried does not)."""
    for path in Path("/proc").glob("[0-9]*/stat"):
        try:
            state, _, its_group = path.read_text().rpartition(")")[2].split()[:3]
        except OSError:
            continue
        if int(its_group) == group and state != "Z":
            return True
    return False


def test_it_prints_no_more_than_it_may(tmp_path: Path) -> None:
    endless = "while True: print('x' * 65536)"
    with pytest.raises(UnansweredError, match="printed more than 1000 bytes"):
        program(tmp_path, endless, limit="1000").read("x")
    noisy = "sys.stderr.write('y' * 5_000_000); print('{\"score\": 1}')"
    assert said(program(tmp_path, noisy), "x") == b'{"score": 1}\n'


def test_it_sees_few_variables_and_an_empty_folder(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("WORDY_MODEL", "small")
    monkeypatch.setenv("WORDY_TOKEN", "not for the record")
    show = "print(json.dumps({'environment': sorted(os.environ), 'files': os.listdir('.')}))"
    seen = json.loads(said(program(tmp_path, show, environment="WORDY_MODEL"), "x"))
    assert "WORDY_MODEL" in seen["environment"]
    assert "WORDY_TOKEN" not in seen["environment"]
    assert seen["files"] == []
    leak = "print(json.dumps({'token': os.environ['WORDY_TOKEN'], 'score': 1}))"
    body = said(program(tmp_path, leak, environment="WORDY_TOKEN"), "x")
    assert json.loads(body) == {"token": "[hidden]", "score": 1}
    coded = "print(json.dumps({'token': ''.join(chr(92) + 'u%04x' % ord(c) for c in os.environ['WORDY_TOKEN'])})"
    coded += ".replace(chr(92) * 2, chr(92)))"
    with pytest.raises(UnansweredError, match="printed a secret"):
        program(tmp_path, coded, environment="WORDY_TOKEN").read("x")


def test_its_version_is_the_digest_of_its_files(tmp_path: Path) -> None:
    one = program(tmp_path, "print(1)").version
    assert program(tmp_path, "print(1)").version == one
    assert program(tmp_path, "print(2)").version != one
    assert len(one) == 16
    with pytest.raises(UsageError, match="not the promised 00"):
        program(tmp_path, "print(1)", sha256="0" * 64)


@pytest.mark.parametrize(
    ("options", "fact"),
    [
        ({}, "no command is named"),
        ({"argv": "no-such-program-here"}, "there is no program 'no-such-program-here'"),
        ({"argv": "'unfinished"}, "argv is no command line"),
        ({"argv": "true", "arg": "x"}, "has no option arg"),
        ({"argv": "true", "timeout": "0"}, "timeout is '0'"),
        ({"argv": "true", "timeout": "soon"}, "timeout is 'soon'"),
        ({"argv": "true", "limit": "1.5"}, "limit is '1.5'"),
        ({"argv": "true", "limit": "99999999"}, "limit is '99999999'"),
        ({"argv": "true", "environment": "NO_SUCH_VARIABLE_HERE"}, "NO_SUCH_VARIABLE_HERE is not set"),
    ],
)
def test_options_that_do_not_fit(options: dict[str, str], fact: str) -> None:
    assert "NO_SUCH_VARIABLE_HERE" not in os.environ
    with pytest.raises(UsageError, match=fact):
        Command(options)


def test_it_is_found_by_name() -> None:
    assert plugins.load_detector("command") is Command
