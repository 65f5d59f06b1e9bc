"""The page in a real browser: it loads nothing, runs nothing, shows every call and verdict, and fits a phone."""

from __future__ import annotations

from pathlib import Path

import pytest

from tests.page.browser import Browser
from tests.page.page_events import GATES
from tests.page.page_sessions import ATTACKS

#: What hostile words would leave behind if any of them ran.
_IS_PWNED = (
    "document.title.startsWith('PWNED') || !!document.querySelector('script, iframe, object, embed, link, base')"
)
_HANDLERS = """
[...document.querySelectorAll('*')].flatMap(one => [...one.attributes])
  .filter(it => it.name.startsWith('on') || /^\\s*(javascript|https?|file):/i.test(it.value)).map(it => it.name)
"""
_WIDTHS = """
[document.documentElement.scrollWidth,
 ...[...document.querySelectorAll('body *')].map(it => Math.ceil(it.getBoundingClientRect().right))]
"""


@pytest.mark.parametrize("name", ["ordinary", "hostile"])
def test_the_page_loads_nothing_and_runs_nothing(browser: Browser, pages: dict[str, Path], name: str) -> None:
    visit = browser.open(pages[name])
    assert visit.requests == []
    assert visit.dialogs == []
    assert visit.complaints == []  # nothing was even tried: the policy had nothing to block
    assert browser.value(_IS_PWNED) is False
    assert browser.value(_HANDLERS) == []


def test_without_its_policy_the_hostile_page_still_runs_nothing(
    browser: Browser, pages: dict[str, Path], tmp_path: Path
) -> None:
    html = pages["hostile"].read_text(encoding="utf-8")
    start = html.index('<meta http-equiv="Content-Security-Policy"')
    bare = tmp_path / "bare.html"
    bare.write_text(html[:start] + html[html.index(">", start) + 1 :], encoding="utf-8")
    visit = browser.open(bare)
    assert (visit.requests, visit.dialogs, visit.complaints) == ([], [], [])
    assert browser.value(_IS_PWNED) is False


def test_without_escaping_the_policy_still_blocks_everything(
    browser: Browser, pages: dict[str, Path], tmp_path: Path
) -> None:
    attacks = "".join(attack.encode("utf-8", "replace").decode() for attack in ATTACKS[:8])
    html = pages["ordinary"].read_text(encoding="utf-8")
    raw = tmp_path / "raw.html"
    raw.write_text(html.replace("<main>", f"<main>{attacks}"), encoding="utf-8")
    visit = browser.open(raw)
    assert browser.value("document.title").startswith("PWNED") is False
    assert any("Content Security Policy" in complaint for complaint in visit.complaints)
    # The same words with neither defence: the test can see an attack that works.
    start = html.index('<meta http-equiv="Content-Security-Policy"')
    bare = html[:start] + html[html.index(">", start) + 1 :]
    raw.write_text(bare.replace("<main>", f"<main>{attacks}"), encoding="utf-8")
    visit = browser.open(raw)
    assert browser.value("document.title") == "PWNED"
    assert any("evil.example" in url for url in visit.requests)


def test_every_call_verdict_and_ending_can_be_read_without_a_click(browser: Browser, pages: dict[str, Path]) -> None:
    browser.open(pages["ordinary"])
    text = browser.text
    for sentence in ("Take a picture", "Tap Buy now in com.example.shop", "Swipe up", "Tap Delete account", "Tap Next"):
        assert sentence in text
    for word in ("REFUSED", "UNKNOWN", "NOT SENT", "NOT POSSIBLE", "FAILED FOR NOW", "FAILED"):
        assert word in text, word
    cards = browser.value("[...document.querySelectorAll('article')].map(it => it.innerText)")
    assert len(cards) == 10
    assert all(gate in cards[0] for gate in GATES)
    assert "default.rules:11: deny tap matching (?i)delete account" in text
    assert "rules deny" in cards[3]
    assert "risky word" in text and "yes (by terminal after 6.2 s)" in text
    assert "Outcome unknown" in text and "exit code 7" in text
    assert "the chain holds" in text
    assert "seen: the whole screen was read without it" in text
    assert "2,150 tokens in, 21 out" in text and "812 ms" in text


def test_a_target_lies_where_it_lay_on_the_phone(browser: Browser, pages: dict[str, Path]) -> None:
    browser.open(pages["ordinary"])
    ratio, left, bottom = browser.value("""(() => {
      const phone = [...document.querySelectorAll('article')][1].querySelector('svg.phone');
      const all = phone.getBoundingClientRect(), main = phone.querySelector('.main').getBoundingClientRect();
      const image = phone.querySelector('use').getBoundingClientRect();
      return [image.height / all.height, (main.left - all.left) / all.width, (main.bottom - all.top) / all.height];
    })()""")
    assert ratio == pytest.approx(1, abs=0.05)  # the picture, scaled to device px, fills the drawing
    assert left == pytest.approx(65 / 1080, abs=0.03)
    assert bottom == pytest.approx(2291 / 2400, abs=0.03)


@pytest.mark.parametrize("name", ["ordinary", "hostile"])
@pytest.mark.parametrize("width", [360, 768, 1200])
def test_nothing_reaches_over_the_side(browser: Browser, pages: dict[str, Path], name: str, width: int) -> None:
    browser.open(pages[name], width=width)
    assert browser.value("window.innerWidth") == width
    assert browser.value("document.documentElement.scrollWidth") == width
    assert max(browser.value(_WIDTHS)) <= width


def test_print_shows_what_is_folded_away(browser: Browser, pages: dict[str, Path]) -> None:
    folded = "Row number 59"
    browser.open(pages["ordinary"])
    assert folded not in browser.text
    browser.open(pages["ordinary"], media="print")
    assert folded in browser.text


def test_light_and_dark_both_keep_words_readable(browser: Browser, pages: dict[str, Path]) -> None:
    """Every text has a contrast of 4.5 to what is behind it (WCAG AA), in both schemes."""
    grounds = set()
    for scheme in ("light", "dark"):
        browser.open(pages["ordinary"], scheme=scheme)
        grounds.add(browser.value("getComputedStyle(document.body).backgroundColor"))
        assert browser.value(_LOW_CONTRAST) == []
    assert len(grounds) == 2


_LOW_CONTRAST = """(() => {
  const rgb = text => text.match(/[\\d.]+/g).map(Number);
  const light = ([r, g, b]) => [r, g, b].map(c => c / 255)
    .map(c => c <= 0.03928 ? c / 12.92 : ((c + 0.055) / 1.055) ** 2.4)
    .reduce((sum, c, i) => sum + c * [0.2126, 0.7152, 0.0722][i], 0);
  const ground = it => {
    for (; it; it = it.parentElement) {
      const color = rgb(getComputedStyle(it).backgroundColor);
      if (color.length < 4 || color[3] > 0) return color;
    }
    return [255, 255, 255];
  };
  return [...document.querySelectorAll('body *')]
    .filter(it => [...it.childNodes].some(child => child.nodeType === 3 && child.data.trim()))
    .filter(it => !it.closest('svg') && it.getClientRects().length)
    .map(it => {
      const [a, b] = [light(rgb(getComputedStyle(it).color)), light(ground(it))].sort((x, y) => y - x);
      return [it.className + ': ' + it.textContent.slice(0, 30), (a + 0.05) / (b + 0.05)];
    })
    .filter(([, ratio]) => ratio < 4.5);
})()"""
