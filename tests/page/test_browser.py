"""The page in a real browser: on a phone and a desk, by day and by night. Skipped where there is no chromium."""

from __future__ import annotations

import re
from collections.abc import Iterator
from itertools import pairwise
from pathlib import Path
from types import ModuleType
from typing import Any

import pytest

CHROMIUM = Path("/usr/bin/chromium")
ARGS = ["--headless", "--no-sandbox", "--disable-gpu", "--disable-quic", "--no-first-run"]
ARGS += ["--disable-background-networking", "--disable-component-update", "--disable-sync"]
sync_api = pytest.importorskip("playwright.sync_api")
pytestmark = pytest.mark.skipif(not CHROMIUM.exists(), reason="there is no /usr/bin/chromium on this machine")
KINDS = ("plain", "retrospective", "hostile")
COLOURS = """() => {
  const main = 'h1, h2, h3, h4, p, li, th, td, small, caption, figcaption, dt, dd, a:not(.skip), summary, ' +
    'strong, em, code';
  const paper = getComputedStyle(document.body).backgroundColor;
  return [...document.querySelectorAll(main)].map(e => {
    let around = e;
    while (around && getComputedStyle(around).backgroundColor === 'rgba(0, 0, 0, 0)') around = around.parentElement;
    const style = getComputedStyle(e);
    const behind = around ? getComputedStyle(around).backgroundColor : paper;
    return [e.tagName, style.color, behind, parseFloat(style.fontSize)];
  });
}"""


@pytest.fixture(scope="module")
def browser() -> Iterator[Any]:
    with sync_api.sync_playwright() as running:
        browser = running.chromium.launch(executable_path=str(CHROMIUM), args=ARGS)
        yield browser
        browser.close()


@pytest.fixture(scope="module")
def made(small: ModuleType, tmp_path_factory: pytest.TempPathFactory) -> Path:
    root = tmp_path_factory.mktemp("pages")
    small.write(root / "plain")
    small.write(root / "retrospective", timing="retrospective")
    small.write(root / "hostile", hostile=True, announced=True)
    return root


def _luminance(colour: str) -> float:
    """Relative luminance of ``rgb(r, g, b)`` (WCAG 2.2)."""
    parts = [int(p) / 255 for p in re.findall(r"[0-9]+", colour)[:3]]
    linear = [p / 12.92 if p <= 0.04045 else ((p + 0.055) / 1.055) ** 2.4 for p in parts]
    return 0.2126 * linear[0] + 0.7152 * linear[1] + 0.0722 * linear[2]


@pytest.mark.parametrize("scheme", ["light", "dark"])
@pytest.mark.parametrize("width", [320, 390, 1280])
@pytest.mark.parametrize("kind", KINDS)
def test_it_reads_well(browser: Any, made: Path, tmp_path: Path, kind: str, width: int, scheme: str) -> None:
    context = browser.new_context(viewport={"width": width, "height": 900}, color_scheme=scheme)
    page = context.new_page()
    said: list[str] = []
    asked: list[str] = []
    page.on("console", lambda message: said.append(message.text))
    page.on("pageerror", lambda error: said.append(str(error)))
    page.on("dialog", lambda dialog: said.append(dialog.message))
    page.on("request", lambda request: asked.append(request.url))
    address = (made / kind / "report" / "index.html").as_uri()
    page.goto(address)
    page.screenshot(path=tmp_path / f"{kind}-{width}-{scheme}.png", full_page=True)
    assert said == []
    assert asked == [address]
    assert page.evaluate("document.documentElement.scrollWidth") <= width, "the page scrolls sideways"
    assert page.evaluate(
        "[...document.querySelectorAll('.scroll')].every(e => e.getBoundingClientRect().right <= innerWidth)"
    )
    colours = page.evaluate(COLOURS)
    assert len(colours) > 300
    for tag, text, paper, size in colours:
        light, dark = sorted((_luminance(text), _luminance(paper)), reverse=True)
        assert (light + 0.05) / (dark + 0.05) >= 4.5, f"{tag}: {text} on {paper}"
        assert size >= 11, f"{tag}: {size} px"
    context.close()


@pytest.mark.parametrize("width", [1280, 1600])
@pytest.mark.parametrize("kind", ["plain", "retrospective"])
def test_on_a_desk_no_table_scrolls_sideways(browser: Any, made: Path, kind: str, width: int) -> None:
    page = browser.new_page(viewport={"width": width, "height": 900})
    page.goto((made / kind / "report" / "index.html").as_uri())
    page.evaluate("document.querySelectorAll('details').forEach(d => d.open = true)")
    wide = page.evaluate("[...document.querySelectorAll('.scroll')].map(e => [e.scrollWidth, e.clientWidth])")
    assert len(wide) >= 8
    assert all(inside <= outside for inside, outside in wide), wide
    assert page.evaluate("[...document.querySelectorAll('.more')].every(e => e.offsetHeight === 0)")
    page.close()


@pytest.mark.parametrize("width", [360, 768])
def test_a_table_that_scrolls_says_so(browser: Any, made: Path, width: int) -> None:
    page = browser.new_page(viewport={"width": width, "height": 900})
    page.goto((made / "plain" / "report" / "index.html").as_uri())
    told = page.evaluate(
        """() => ['one-caption', 'two-caption', 'arms-caption', 'corpus-caption'].map(id => {
          const caption = document.getElementById(id), around = caption.closest('.scroll');
          return [around.scrollWidth > around.clientWidth, caption.querySelector('.more').offsetHeight > 0];
        })"""
    )
    assert told == [[True, True]] * 4
    page.close()


def test_landmarks_heads_and_captions(browser: Any, made: Path) -> None:
    page = browser.new_page()
    page.goto((made / "plain" / "report" / "index.html").as_uri())
    counts = {name: page.locator(name).count() for name in ("header", "nav", "main", "footer", "h1")}
    assert counts == dict.fromkeys(counts, 1)
    assert page.evaluate(
        "[...document.querySelectorAll('table')].every(t => t.caption && t.caption.textContent.trim())"
    )
    assert page.evaluate("[...document.querySelectorAll('th')].every(h => h.scope === 'col' || h.scope === 'row')")
    assert page.evaluate(
        "[...document.querySelectorAll('[aria-labelledby]')].every(e => e.ariaLabelledByElements.length === 1)"
    )
    assert page.evaluate(
        "[...document.querySelectorAll('a[href^=\"#\"]')].every(a => document.getElementById(a.hash.slice(1)))"
    )
    levels = page.evaluate("[...document.querySelectorAll('h1, h2, h3, h4')].map(h => +h.tagName[1])")
    assert all(after <= before + 1 for before, after in pairwise(levels)), levels
    page.keyboard.press("Tab")
    assert page.evaluate("document.activeElement.textContent") == "Skip to the results"
    assert page.evaluate("document.activeElement.getBoundingClientRect().left >= 0")
    page.close()


def test_dots_stand_where_the_scale_says(browser: Any, made: Path) -> None:
    """The picture agrees with the figure beside it, to a pixel."""
    page = browser.new_page(viewport={"width": 1280, "height": 900})
    page.goto((made / "plain" / "report" / "index.html").as_uri())
    marks = page.evaluate(
        """() => [...document.querySelectorAll('svg')].filter(s => s.querySelector('circle')).map(s => {
          const box = s.getBoundingClientRect(), dot = s.querySelector('circle').getBoundingClientRect();
          const row = s.closest('tr').querySelector('td:last-child [data-as=percent]').textContent;
          return [100 * (dot.left + dot.width / 2 - box.left) / box.width, parseFloat(row)];
        })"""
    )
    assert len(marks) >= 18
    for drawn, told in marks:
        assert abs(drawn - told) < 0.6
    page.close()


def test_print(browser: Any, made: Path, tmp_path: Path) -> None:
    page = browser.new_page(viewport={"width": 695, "height": 1000}, color_scheme="dark")
    page.goto((made / "plain" / "report" / "index.html").as_uri())
    page.emulate_media(media="print")
    assert page.evaluate("document.documentElement.scrollWidth") <= 695
    assert page.evaluate("getComputedStyle(document.body).backgroundColor") == "rgb(255, 255, 255)"
    assert page.pdf(path=tmp_path / "page.pdf", format="A4").startswith(b"%PDF")
    page.close()
