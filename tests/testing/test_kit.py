"""The conformance kit tells the author of a plugin each thing that is wrong with it, and lets a good one pass."""

from __future__ import annotations

import itertools
import json
import shlex
import sys
import threading
from collections.abc import Callable, Iterator
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer
from pathlib import Path
from typing import Any

import pytest

from penmark import cards
from penmark.records import Card
from penmark.testing import Nonconforming, check_detector, check_generator, check_source

CARD = """\
name: wordy
title: W
vendor: W
homepage: none
ask: {by: plugin, plugin: wordy}
answer: {displayed: /score, score: /score, label: /said, version: /version}
scale: {meaning: probability, direction: ai, low: "0", high: "1"}
verdicts: {AI: ai, human: human}
boundary: {kind: boundary, operator: ">=", value: "0.5", source: s, date: "2026-11-30"}
display: document
terms: {where: none, results_may_be_published: "yes"}
facts_as_of: "2026-11-30"
"""
GOOD = """
import json
from penmark import plugins
from penmark.plugins import Answer, Declined

class Wordy:
    version = "1"

    def __init__(self, options):
        self.scale = int(plugins.check_options(options, "scale").get("scale", "1000"))

    def read(self, text):
        if len(text.split()) < 2:
            return Declined("fewer than 2 words")
        score = min(1, len(text.split()) / self.scale)
        return Answer(json.dumps({"score": f"{score:.3f}", "said": "AI" if score >= 0.5 else "human", "version": "1"}).encode())
"""


def installed(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, code: str, group: str = "detectors", target: str = "wordy:Wordy"
) -> None:
    """The plugin ``wordy``, as an installed distribution."""
    info = tmp_path / "wordy-1.dist-info"
    info.mkdir()
    (info / "METADATA").write_text("Metadata-Version: 2.1\nName: wordy\nVersion: 1\n")
    (info / "entry_points.txt").write_text(f"[penmark.{group}]\nwordy = {target}\n")
    (tmp_path / "wordy.py").write_text(code)
    (tmp_path / "wordy.yaml").write_text(CARD)
    monkeypatch.syspath_prepend(tmp_path)


def told(tmp_path: Path, **further: Any) -> list[str]:
    """What the kit says of the detector ``wordy``: place and fact of each finding."""
    with pytest.raises(Nonconforming) as caught:
        check_detector("wordy", card=tmp_path / "wordy.yaml", **further)
    for fault in caught.value.faults:
        assert fault.place is not None
        assert fault.fact.strip() != ""
    assert isinstance(caught.value, AssertionError)
    assert str(caught.value).startswith("this plugin does not conform:\n")
    return [f"{fault.place}: {fault.fact}" for fault in caught.value.faults]


def test_a_good_detector_passes(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    installed(tmp_path, monkeypatch, GOOD)
    check_detector("wordy", card=tmp_path / "wordy.yaml", texts=["two words"], variants={"scale": ("1000", "2000")})
    (tmp_path / "cards").mkdir()
    (tmp_path / "cards" / "wordy.yaml").write_text(CARD)
    monkeypatch.chdir(tmp_path)
    check_detector("wordy", options={"scale": "500"})


@pytest.mark.parametrize("name", ["always-human", "coin", "length"])
def test_the_shipped_controls_pass(name: str) -> None:
    check_detector(name, variants={"seed": ("one", "two")} if name == "coin" else None)


def test_a_command_line_passes(tmp_path: Path) -> None:
    code = "import json, sys; print(json.dumps({'score': len(sys.stdin.buffer.read()) % 100 / 100, 'version': '7'}))"
    text = CARD.replace("plugin: wordy}", "plugin: command, options: {argv: ARGV}}").replace("label: /said, ", "")
    (tmp_path / "wordy.yaml").write_text(
        text.replace("ARGV", json.dumps(shlex.join([sys.executable, "-I", "-c", code])))
    )
    check_detector("command", card=tmp_path / "wordy.yaml")


@pytest.fixture
def serving() -> Iterator[Callable[[Callable[[str], object]], str]]:
    """Serves what a function says of a text, at an address on this machine."""
    open_ones: list[ThreadingHTTPServer] = []

    def serve(says: Callable[[str], object]) -> str:
        class Handler(BaseHTTPRequestHandler):
            def do_POST(self) -> None:
                given = json.loads(self.rfile.read(int(self.headers["Content-Length"])))
                body = json.dumps(says(given["text"])).encode()
                self.send_response(200)
                self.send_header("Content-Length", str(len(body)))
                self.end_headers()
                self.wfile.write(body)

            def log_message(self, *given: object) -> None:
                pass

        server = ThreadingHTTPServer(("127.0.0.1", 0), Handler)
        threading.Thread(target=server.serve_forever, args=(0.05,)).start()
        open_ones.append(server)
        return f"http://127.0.0.1:{server.server_address[1]}/read"

    yield serve
    for server in open_ones:
        server.shutdown()
        server.server_close()


def http_card(tmp_path: Path, url: str) -> Path:
    request = {"send": {"url": url, "body": '{"text": "{text}"}'}}
    ask = json.dumps({"by": "http", "request": request})
    path = tmp_path / "wordy.yaml"
    path.write_text(CARD.replace("{by: plugin, plugin: wordy}", ask).replace("label: /said, ", ""))
    return path


def test_an_http_address_passes(tmp_path: Path, serving: Callable[[Callable[[str], object]], str]) -> None:
    url = serving(lambda text: {"score": f"{len(text) % 100 / 100:.2f}", "version": "7"})
    check_detector("wordy", card=http_card(tmp_path, url))


def test_what_an_http_address_gets_wrong(tmp_path: Path, serving: Callable[[Callable[[str], object]], str]) -> None:
    asked = itertools.count()
    http_card(tmp_path, serving(lambda text: {"score": "7" if text == "Yes" else f"{next(asked) % 97 / 100:.2f}"}))
    found = told(tmp_path)
    assert any("says something else when it is asked again" in fault for fault in found)
    assert any("the declared scale: 7" in fault for fault in found)
    assert any("the card's pointer to the version, /version, finds nothing" in fault for fault in found)
    http_card(tmp_path, "https://detector.example/read")
    assert told(tmp_path) == ["detector wordy: asks https://detector.example/read, which may cost money"]


# --- what a detector may get wrong -----------------------------------------------------------------------------------

ODD = """
import json, socket, sys
from penmark.plugins import Answer, Declined
print("hello from wordy")

class Wordy:
    def __init__(self, options):
        pass

    def read(self, text):
        if text.startswith("One caf", 1):
            return Declined("")
        if text == "Yes":
            raise ValueError("too short for me")
        if text == "bytes":
            return Answer("not bytes")
        if text == "none":
            return None
        if text == "json":
            return Answer(b"score: 0.5")
        if text == "twice":
            return Answer(b'{"score": 1, "score": 0}')
        if text == "scale":
            return Answer(b'{"score": 65, "said": "AI"}')
        if text == "word":
            return Answer(b'{"score": "high", "said": "AI"}')
        if text == "verdict":
            return Answer(b'{"score": null, "said": "Probably AI"}')
        if text == "empty":
            return Answer(b'{"score": null}')
        if text == "other":
            return Answer(b'{"score": 0.1, "text": "another text"}')
        if text == "socket":
            try:
                socket.create_connection(("127.0.0.1", 9), timeout=0.1)
            except OSError:
                pass
        return Answer(b'{"score": 0.1}')
"""
TEXTS = ("bytes", "none", "json", "twice", "scale", "word", "verdict", "empty", "other", "socket")


def test_everything_that_is_wrong_is_told_at_once(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    installed(tmp_path, monkeypatch, ODD)
    path = tmp_path / "wordy.yaml"
    path.write_text(CARD.replace("version: /version}", "version: /version, text: /text}"))
    found = told(tmp_path, texts=TEXTS, variants={"mode": ("fast", "slow")})
    places = {text: f"detector wordy, text 'your text {n}'" for n, text in enumerate(TEXTS, 1)}
    assert set(found) == {
        "detector wordy: prints: hello from wordy",
        "detector wordy: opens connections: connect ('127.0.0.1', 9), getaddrinfo 127.0.0.1",
        "detector wordy: accepts an option that it does not know",
        "detector wordy: has no version",
        "detector wordy: ignores the option mode: two values give the same answers",
        "detector wordy: the card's pointer to the version, /version, finds nothing in any answer",
        "detector wordy, text 'unusual characters': declines without a reason",
        "detector wordy, text 'one word': raises ValueError: too short for me",
        f"{places['bytes']}: returns a body of str",
        f"{places['none']}: returns NoneType",
        f"{places['json']}: the answer is not JSON: Expecting value (character 0)",
        f"{places['twice']}: the answer is not JSON that has one meaning: an object has a key twice",
        f"{places['scale']}: score outside the declared scale: 65",
        f"{places['word']}: score is not a decimal number: high",
        f"{places['verdict']}: verdict not in the card: Probably AI",
        f"{places['empty']}: nothing in the answer where the card looks for it",
        f"{places['other']}: other text scanned",
    }


def test_a_detector_that_asks_others_may_say_so(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    installed(tmp_path, monkeypatch, ODD)
    assert not any("opens connections" in each for each in told(tmp_path, texts=["socket"], local=False))


@pytest.mark.parametrize(
    ("line", "fact"),
    [
        ("score = __import__('random').random()", "when it is asked again"),
        (
            "score = 0.001 * (self.__dict__.setdefault('calls', []).append(1) or len(self.calls))",
            "when it is asked again",
        ),
        ("score = len(getattr(self, 'before', '')) % 7 / 10; self.before = text", "when"),
        ("score = id(self) % 997 / 1000", "when it is made anew"),
        ("score = hash(text) % 1000 / 1000", "in another process"),
        (
            "self.text = text; __import__('time').sleep(0.005); score = len(self.text) % 100 / 100",
            "when two threads ask at once",
        ),
    ],
)
def test_the_same_text_gets_the_same_answer(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, line: str, fact: str
) -> None:
    installed(tmp_path, monkeypatch, GOOD.replace("score = min(1, len(text.split()) / self.scale)", line))
    found = told(tmp_path)
    assert len(found) == 1, found
    assert f"says something else {fact}" in found[0]


def test_what_hangs_on_the_text_before(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """Asked again in the same order it says the same, since the round begins as it ended; only another order tells."""
    line = "score = len(self.before) % 97 / 100; self.before = text"
    code = GOOD.replace("score = min(1, len(text.split()) / self.scale)", line)
    last = "a last text, as before the first"
    installed(tmp_path, monkeypatch, code.replace('    version = "1"\n', f'    version = "1"\n    before = {last!r}\n'))
    found = told(tmp_path, texts=[last])
    assert "says something else when other texts come before" in found[0]


def test_a_detector_that_cannot_be_made_or_loaded(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    code = GOOD.replace("self.scale = int", 'options["key"]; self.scale = int')
    installed(tmp_path, monkeypatch, code)
    assert told(tmp_path) == ["detector wordy: cannot be made with these options: KeyError: 'key'"]
    (tmp_path / "wordy.py").write_text("import no_such_module_here\n")
    [found] = told(tmp_path)
    assert "No module named 'no_such_module_here'" in found
    (tmp_path / "wordy.py").write_text(
        GOOD.replace("plugins.check_options(options, ", "dict(options, **{options.pop('no-such-option', 'a'): 1})[")
    )
    assert told(tmp_path)


def test_a_detector_that_ends_the_process_or_never_ends(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    installed(tmp_path, monkeypatch, GOOD.replace("score = min", "__import__('os')._exit(3); score = min"))
    assert told(tmp_path) == ["detector wordy: ended the process with 3: "]
    (tmp_path / "wordy.py").write_text(GOOD.replace("score = min", "__import__('time').sleep(60); score = min"))
    assert told(tmp_path, patience=1.5) == ["detector wordy: did not come to an end within 1.5 seconds"]


def test_a_slow_import_is_told(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    busy = "import time\nwhile time.process_time() < began + 0.3: pass\n"
    installed(tmp_path, monkeypatch, f"import time\nbegan = time.process_time()\n{busy}{GOOD}")
    [found] = told(tmp_path, import_seconds=0.1)
    assert "its import takes 0." in found
    assert "more than 0.1" in found


def test_a_card_that_is_missing_or_of_another(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    installed(tmp_path, monkeypatch, GOOD)
    monkeypatch.chdir(tmp_path)
    with pytest.raises(Nonconforming, match="there is no card 'wordy'"):
        check_detector("wordy")
    (tmp_path / "wordy.yaml").write_text(CARD.replace("plugin: wordy}", "plugin: coin}"))
    assert f"{tmp_path / 'wordy.yaml'}: is asked by plugin coin, not by the plugin wordy" in told(tmp_path)
    given: Card = cards.load_card(tmp_path / "wordy.yaml")
    check_detector("wordy", card=given)


# --- sources ---------------------------------------------------------------------------------------------------------

SOURCE = """
from penmark import plugins
from penmark.plugins import Draft

class Wordy:
    def __init__(self, options):
        plugins.check_options(options)

    def gather(self, arm_name):
        row = {"kind": "archive", "grade": "stated", "source": "s", "archive": "a", "licence": "CC0"}
        row |= {"evidence_date": "2020-05-01"}
        yield Draft("007", b"one", "a.csv:2", {"language": "en"}, row)
        yield Draft("NA", "zw\\u00f6lf".encode(), "a.csv:3", {}, row)
"""


def test_a_good_source_passes(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    installed(tmp_path, monkeypatch, SOURCE, "sources")
    check_source("wordy")
    table = tmp_path / "rows.csv"
    table.write_text(
        "id,text,kind,grade,source,archive,evidence_date,licence\n007,one,archive,stated,s,a,2020-05-01,CC0\n"
    )
    check_source("table", options={"path": str(table)})


def test_everything_that_is_wrong_with_a_source(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    code = SOURCE.replace("plugins.check_options(options)", "self.n = __import__('os').getpid()") + "\n".join(
        [
            '        yield Draft("007", b" ", "", {"lang": "en"}, row)',
            '        yield Draft("x", "words", "a.csv:5", {}, row)',
            '        yield Draft("y", b"\\xff", "a.csv:6", {}, {"kind": "archive"})',
            '        yield Draft(str(self.n), b"words", "a.csv:7", {}, row)',
            '        yield "a text"',
            '        raise KeyError("path")',
            "",
        ]
    )
    installed(tmp_path, monkeypatch, code, "sources")
    with pytest.raises(Nonconforming) as caught:
        check_source("wordy")
    found = str(caught.value)
    for fact in (
        "accepts an option that it does not know",
        "raises KeyError: 'path'",
        "yields the id '007' twice",
        "draft '007': has no place",
        "draft '007': its text is empty",
        "draft '007': has the field 'lang'",
        "draft 4: its text is a str, not bytes",
        "draft 'y': its text is not UTF-8",
        "draft 7: is a str, not a Draft",
        "yields other drafts when it is asked again",
    ):
        assert fact in found, found
    assert "source wordy, draft 'y'" in found


# --- generators ------------------------------------------------------------------------------------------------------

WRITER = """
import json, os
from penmark import plugins
from penmark.plugins import Prepared

class Wordy:
    local = True

    def __init__(self, options):
        self.given = plugins.check_options(options, "model", "key", "settings.heat")

    def prepare(self, prompt):
        body = json.dumps({"prompt": prompt, "heat": self.given.get("settings.heat")}).encode()
        return Prepared("POST", "http://127.0.0.1:1/v1", (("Accept", "*/*"),), body, {"heat": "1"}, ())
"""


def test_a_good_generator_passes(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    installed(tmp_path, monkeypatch, WRITER, "generators")
    check_generator("wordy", options={"model": "m", "settings.heat": "1"})
    monkeypatch.setenv("KIT_KEY", "key-of-the-tests")
    for name in ("openai", "anthropic", "google", "cohere"):
        check_generator(name, options={"model": "m", "key": "KIT_KEY", "settings.temperature": "0.5"})


def test_everything_that_is_wrong_with_a_generator(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    code = WRITER.replace("    local = True\n", "")
    code = code.replace(
        '{"prompt": prompt,', '{"prompt": prompt.strip("."), "n": os.getpid(), "key": os.environ["KIT_KEY"],'
    )
    installed(tmp_path, monkeypatch, code.replace('{"heat": "1"}', "{}"), "generators")
    monkeypatch.setenv("KIT_KEY", "key-of-the-tests")
    with pytest.raises(Nonconforming) as caught:
        check_generator("wordy", options={"model": "m", "key": "KIT_KEY", "settings.heat": "1"}, prompts=["Write."])
    found = [fault.fact for fault in caught.value.faults]
    assert found == [
        "does not say whether it is local",
        "prepares another request for the same prompt",
        "the prompt does not stand in the body, whole",
        "says nothing of some of the settings: heat",
        "the key stands in the prepared request",
    ]
