"""Browser: an address bar over a web page, as a WebView shows it: nested views without ids, links, and a form.

The web is three small sites that live in this file; every page that is opened is a window, so that Back goes back.
"""

from __future__ import annotations

from dataclasses import dataclass, field
from typing import Final

from droidpilot.virtual.apps.packages import BROWSER
from droidpilot.virtual.host import Host
from droidpilot.virtual.ui.views import FILL, TextField, View
from droidpilot.virtual.ui.widgets import text_field
from droidpilot.virtual.ui.windows import Window

START: Final = "village.example"
MAX_VISITS = 200


@dataclass(frozen=True, slots=True)
class WebPage:
    """A page: its title, paragraphs, and links as (words, address). One page has the form."""

    title: str
    paragraphs: tuple[str, ...]
    links: tuple[tuple[str, str], ...] = ()
    has_form: bool = False


WEB: Final[dict[str, WebPage]] = {
    "village.example": WebPage(
        "Village news",
        ("The bridge is open again.", "The market moves to the old square in spring."),
        (("All news", "village.example/news"), ("Write to us", "village.example/contact"), ("Weather", "sky.example")),
    ),
    "village.example/news": WebPage(
        "All news",
        tuple(f"{day} March: {what}" for day, what in enumerate(
            ("choir on Friday", "lost cat found", "new opening hours", "library closed", "tree planting", "bus late",
             "bake sale", "road works", "swimming hall reopens", "council meets", "cinema night", "bicycle check",
             "school fair", "boat race", "long evening", "flea market", "power cut", "first swallows"), 1)),
        (("Home", "village.example"),),
    ),
    "village.example/contact": WebPage("Write to us", ("We read every letter.",), (("Home", "village.example"),), True),
    "sky.example": WebPage("Weather", ("Sunny, 14 degrees", "Wind from the west"), (("Village", "village.example"),)),
}  # fmt: skip


@dataclass(slots=True, eq=False)
class Tab:
    """What one opened page keeps: its address bar and what was typed into its form."""

    address: str
    bar: TextField
    name: TextField = field(default_factory=lambda: TextField("name"))
    letter: TextField = field(default_factory=lambda: TextField("message"))
    is_copy_wanted: bool = False
    is_sent: bool = False


class Browser:
    """A browser with one tab. What was sent with the form stands in the truth."""

    package = BROWSER
    activity = ".BrowserActivity"
    label = "Browser"

    def __init__(self, host: Host) -> None:
        self._host = host
        self.clear()

    def clear(self) -> None:
        self._visits: list[str] = []
        self._letters: list[dict[str, object]] = []

    def state(self) -> dict[str, object]:
        return {
            "browser": {"visits": list(self._visits), "letters": [dict(letter) for letter in self._letters]},
        }

    def view(self, url: str) -> None:
        """Come to the front with a page, as a link in another app does."""
        self._host.start(self.package)
        self._go(url)

    def first(self) -> Window:
        return self._visit(START)

    def _visit(self, address: str) -> Window:
        bar = TextField("url_bar", hint="Search or type web address")
        bar.put(address)
        tab = Tab(address, bar)
        self._visits.append(address)
        del self._visits[:-MAX_VISITS]
        title = WEB[address].title if address in WEB else "Page not found"
        window = Window(
            BROWSER, f"{BROWSER}{self.activity}", title, f"web/{len(self._visits)}", lambda: self._body(window, tab)
        )
        window.on_enter = lambda: self._go(bar.text) if window.focus is bar else self._send(tab)
        return window

    def _go(self, typed: str) -> None:
        address = typed.strip().lower().removeprefix("https://").removeprefix("http://").rstrip("/")
        if address:
            self._host.open(self._visit(address))

    def _body(self, window: Window, tab: Tab) -> View:
        bar = View("android.widget.FrameLayout", f"{BROWSER}:id/toolbar", layout="row", height=154)
        lock = View("android.widget.ImageView", f"{BROWSER}:id/location_bar_status_icon", width=100, height=100)
        lock.desc = "Connection is secure"
        url = text_field(tab.bar, id=f"{BROWSER}:id/url_bar", is_focused=window.focus is tab.bar, weight=1)
        reload = View(
            "android.widget.ImageButton", f"{BROWSER}:id/refresh_button", desc="Refresh", width=154, height=154
        )
        reload.on_click = lambda: self._go(tab.address)
        bar.children = [lock, url, reload]
        web = View(
            "android.webkit.WebView", weight=1, scroll=window.scroll("web"), children=[self._document(window, tab)]
        )
        shown = WEB.get(tab.address)
        web.text = shown.title if shown is not None else "This site can't be reached"
        holder = View("android.widget.FrameLayout", f"{BROWSER}:id/compositor_view_holder", weight=1, children=[web])
        return View("android.widget.LinearLayout", height=FILL, children=[bar, holder])

    def _document(self, window: Window, tab: Tab) -> View:
        shown = WEB.get(tab.address)
        root = View("android.view.View", "root", pad=(42, 42, 42, 42))
        if shown is None:
            site = tab.address.split("/")[0][:100]
            root.children = [_words("This site can't be reached", 60), _words(f"{site} took too long to respond.", 44)]
            return root
        # A page is a tree of boxes that say nothing; only the leaves have words.
        root.children = [View(children=[View("android.view.View", "header", children=[_words(shown.title, 72)])])]
        root.children += [View(children=[View(children=[_words(text, 44)])]) for text in shown.paragraphs]
        if shown.has_form:
            root.children.append(self._form(window, tab))
        root.children.append(View("android.view.View", "links", children=[self._link(*link) for link in shown.links]))
        return root

    def _link(self, words: str, address: str) -> View:
        """Make a link: the anchor takes the tap and says the words, its text node says them again."""
        made = View(desc=words, pad=(0, 24, 0, 24), on_click=lambda: self._go(address))
        made.children = [_words(words, 46)]
        return made

    def _form(self, window: Window, tab: Tab) -> View:
        if tab.is_sent:
            return View("android.view.View", "thanks", children=[_words("Thank you, your letter has arrived.", 50)])

        def turn() -> None:
            tab.is_copy_wanted = not tab.is_copy_wanted

        copy = View("android.widget.CheckBox", "copy", "Send me a copy", pad=(80, 30, 30, 30), is_checkable=True)
        copy.on_click, copy.is_checked = lambda: self._host.later(turn), tab.is_copy_wanted
        send = View("android.widget.Button", "submit", "Send", width=400, height=132, pad=(48, 30, 48, 30))
        send.on_click = lambda: self._send(tab)
        parts = [_words("Your name", 40), text_field(tab.name, id="name", is_focused=window.focus is tab.name)]
        parts += [_words("Message", 40), text_field(tab.letter, id="message", is_focused=window.focus is tab.letter)]
        return View("android.view.View", "contact-form", children=[*parts, copy, send])

    def _send(self, tab: Tab) -> None:
        def arrive() -> None:
            if tab.letter.text.strip() and not tab.is_sent:
                tab.is_sent = True
                self._letters.append({"name": tab.name.text, "text": tab.letter.text, "copy": tab.is_copy_wanted})
                del self._letters[:-MAX_VISITS]

        self._host.later(arrive)


def _words(text: str, size: int) -> View:
    return View("android.widget.TextView", text=text, size=size, pad=(0, 16, 0, 16))
