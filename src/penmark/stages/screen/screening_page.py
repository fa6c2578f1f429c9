"""``screening.html``: the findings of ``screening.csv`` as a page for the operator, beside it.

One file that runs nothing and loads nothing. It is not part of a bundle, whose page tells the findings again.
*Reads* and *writes* nothing: bytes in, bytes out. *Never* tells a finding that is not in ``screening.csv``.
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterable
from html import escape
from itertools import groupby

from penmark.errors import count_noun
from penmark.protocol import RULES, Severity
from penmark.stages.screen.findings import Finding

SHOWN = 200
"""Findings of one rule that the page lists."""
_TITLES: dict[Severity, str] = {"error": "Errors", "warning": "Warnings", "note": "Notes"}
_SAID = {
    "error": "An error stops the freeze.",
    "warning": "Warnings are published in the bundle.",
    "note": "Notes say how the corpus is.",
}
_STYLE = """
body { font: 16px/1.5 system-ui, sans-serif; max-width: 60rem; margin: 2rem auto; padding: 0 1rem;
  color: #1d1d1f; background: #fff }
table { border-collapse: collapse; width: 100% } th, td { text-align: left; vertical-align: top; padding: .3rem .8rem .3rem 0;
  border-bottom: 1px solid #ddd; overflow-wrap: anywhere } th { font-weight: 600 } summary { cursor: pointer; padding: .3rem 0 }
.error { color: #a40000 } code { font-size: .9em }
@media (prefers-color-scheme: dark) { body { color: #eee; background: #161618 } th, td { border-color: #444 }
  .error { color: #ff8a80 } }
"""


def render_screening_page(findings: Iterable[Finding], edition: str) -> bytes:
    """The page of the public findings, in their order."""
    public = [finding for finding in findings if not finding.private]
    counts = Counter(finding.severity for finding in public)
    told = ", ".join(count_noun(counts[name], name) for name in _TITLES)
    parts = [
        f"<h1>Screening of {escape(edition)}</h1>",
        f'<p>{told}. Nothing was repaired. All of it is in <a href="screening.csv"><code>screening.csv</code></a>.</p>',
    ]
    for severity, several in groupby(public, key=lambda finding: finding.severity):
        parts += [f'<h2 class="{severity}">{_TITLES[severity]}</h2>', f"<p>{_SAID[severity]}</p>"]
        parts += [_render_rule(rule, list(same)) for rule, same in groupby(several, key=lambda finding: finding.rule)]
    head = f'<meta charset="utf-8"><meta name="viewport" content="width=device-width"><title>{escape(edition)}</title>'
    page = f'<!doctype html>\n<html lang="en"><head>{head}<style>{_STYLE}</style></head><body>\n'
    return (page + "\n".join(parts) + "\n</body></html>\n").encode()


def _render_rule(rule: str, several: list[Finding]) -> str:
    rows = "".join(_render_row(finding) for finding in several[:SHOWN])
    more = f"<p>and {len(several) - SHOWN} more</p>" if len(several) > SHOWN else ""
    remedy = "".join(f"<p>{escape(each)}</p>" for each in dict.fromkeys(finding.remedy for finding in several[:SHOWN]))
    head = f"<summary><strong>{escape(rule)}</strong>: {escape(RULES[rule][1])} ({len(several)})</summary>"
    shown = " open" if len(several) <= 3 else ""
    table = f"<table><thead><tr><th>Arm</th><th>Document</th><th>Finding</th></tr></thead><tbody>{rows}</tbody></table>"
    return f"<details{shown}>{head}{table}{more}{remedy}</details>"


def _render_row(finding: Finding) -> str:
    cells = (finding.arm, finding.document, finding.message)
    return "<tr>" + "".join(f"<td>{escape(cell)}</td>" for cell in cells) + "</tr>"
