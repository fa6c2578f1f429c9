"""The page of findings: all that is public, nothing that runs, nothing of a withheld text."""

from html.parser import HTMLParser

from penmark.stages.screen import Finding, render_screening_page


class Reader(HTMLParser):
    def __init__(self):
        super().__init__()
        self.open, self.names, self.text = [], set(), ""

    def handle_starttag(self, tag, attrs):
        self.names.add(tag)
        assert not any(name.startswith("on") or name == "src" for name, _ in attrs)
        if tag not in ("meta", "br"):
            self.open.append(tag)

    def handle_endtag(self, tag):
        assert self.open.pop() == tag

    def handle_data(self, data):
        self.text += data


def finding(severity, rule, message, document="d", private=False):
    return Finding(severity, rule, "A", document, "corpus/A/documents.jsonl", 1, message, "Look.", private)


def test_the_page():
    page = render_screening_page(
        [
            finding("error", "empty", "the text holds <script>alert(1)</script> no word & so on", "<b>"),
            *(finding("warning", "cut-off", f"ends {n}") for n in range(205)),
            finding("warning", "markup", "a secret", private=True),
            finding("note", "profile", "of 9 texts"),
        ],
        "BENCH-2026-Q4",
    )
    reader = Reader()
    reader.feed(page.decode())
    assert reader.open == []
    assert "script" not in reader.names
    assert "1 error, 205 warnings, 1 note" in reader.text
    assert "holds <script>alert(1)</script> no word & so on" in reader.text
    assert "ends 199" in reader.text
    assert "ends 200" not in reader.text
    assert "and 5 more" in reader.text
    assert "secret" not in reader.text
    assert page.endswith(b"</html>\n")


def test_an_empty_page():
    assert b"0 errors, 0 warnings, 0 notes" in render_screening_page([], "BENCH-2026-Q4")
