"""What is written about the rules is what they are."""

import re
from pathlib import Path

from penmark.stages.screen import RULES

ROOT = Path(__file__).parents[3]


def test_the_documentation_lists_every_rule():
    table = re.findall(
        r"^\| `([a-z-]+)` \| (error|warning|note) \| (.+) \|$", (ROOT / "docs" / "corpus.md").read_text(), re.M
    )
    assert table == [(name, severity, finds) for name, (severity, finds) in RULES.items()]


def test_every_rule_is_raised_somewhere_and_every_one_that_is_raised_is_a_rule():
    code = "".join(
        path.read_text()
        for path in [*(ROOT / "src/penmark/stages/screen").glob("*.py"), ROOT / "src/penmark/corpus/provenance.py"]
        if path.name != "findings.py"
    )
    mentioned = set(re.findall(r'"([a-z]+(?:-[a-z]+)*)"', code))
    assert set(RULES) - {"unknown-rule"} <= mentioned
