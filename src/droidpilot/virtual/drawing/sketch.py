"""Sketches a phone's screen: which marks its windows, its status bar and its navigation bar are made of.

It looks at placed and clipped nodes only, so that a picture never shows what the hierarchy does not say; bars and scrim
are all that it adds. This file must never know the library that paints, or an app's code.
"""

from __future__ import annotations

from droidpilot.virtual.drawing.glyphs import (
    app_icon,
    arrow_left,
    arrow_send,
    painted_box,
    radio,
    round_button,
    status_icons,
    tick,
)
from droidpilot.virtual.drawing.marks import (
    BLACK,
    DARK,
    LIGHT,
    WALLPAPER,
    WHITE,
    Color,
    Fill,
    Gradient,
    Mark,
    Outline,
    Palette,
    Shade,
    Words,
)
from droidpilot.virtual.phone import HOME, Phone
from droidpilot.virtual.ui.geometry import Rect
from droidpilot.virtual.ui.hierarchy import SeenNode
from droidpilot.virtual.ui.views import text_width
from droidpilot.virtual.ui.windows import STATUS_BAR

CLOCK = "12:00"
"""The status bar's clock stands still, as Android's own demo mode lets it: equal screens make equal pictures."""
DIALOG_RADIUS = 76
SCRIM = 0.45
TEXT_SCALE = 0.94
"""The font is a little wider than the layout thinks."""


def sketch(phone: Phone) -> tuple[Mark, ...]:
    """Return the marks of what the phone shows now, bottom first."""
    with phone.lock:
        look = phone.look()
        screen = phone.display.rect
        if not phone.screen_on:
            return (Fill(screen, BLACK, screen),)
        marks: list[Mark] = []
        palette = DARK if phone.settings.get("secure", "ui_night_mode") == "2" else LIGHT
        if phone.scene is not None:
            return _scene(look.roots, palette, screen, is_secure=phone.is_secure)
        windows = phone.windows()
        known = {shown.window: shown.root for shown in look.windows}
        for number, window in enumerate(windows):
            root = known[window] if window in known else phone.see(window)
            if number and window.is_modal:
                marks.append(Shade(SCRIM))
            if window.is_secure:
                # The window may not be captured: where it is, a picture is black.
                marks.append(Fill(root.view.bounds if root is not None else screen, BLACK, screen))
            else:
                marks += _Painter(palette, screen, is_dialog=window.is_dialog).window(root, window.package)
        if not windows[-1].is_secure:
            is_shaded = any(window.is_modal for window in windows[1:])
            marks += _bars(phone, palette if windows[0].package != HOME else DARK, is_shaded=is_shaded)
        return tuple(marks)


def _scene(roots: list[SeenNode], palette: Palette, screen: Rect, *, is_secure: bool) -> tuple[Mark, ...]:
    """Return the marks of a foreign screen: of what its nodes say, and nothing else."""
    if is_secure:
        return (Fill(screen, BLACK, screen),)
    marks: list[Mark] = [Fill(screen, palette.surface, screen)]
    # A dump does not say which window lies on top; a smaller one is taken for the upper one.
    for root in sorted(roots, key=lambda root: -root.bounds.width * root.bounds.height):
        marks += _Painter(palette, screen, is_dialog=False, is_scene=True).window(root, root.package)
    return tuple(marks)


def _bars(phone: Phone, palette: Palette, *, is_shaded: bool) -> list[Mark]:
    screen = phone.display.rect
    color = WHITE if is_shaded else palette.text
    clock = Words(CLOCK, Rect(66, 0, 300, STATUS_BAR), color, screen, 40, is_middle=True)
    pill = Rect(screen.width // 2 - 150, screen.bottom - 38, screen.width // 2 + 150, screen.bottom - 26)
    airplane = phone.settings.is_on("global", "airplane_mode_on")
    icons = status_icons(color, screen, has_wifi=phone.wifi.connected is not None, is_airplane=airplane)
    return [clock, *icons, Fill(pill, color, screen, 6)]


SILENT = ("WebView", "SeekBar")
"""Their text is for those who cannot see: a page's title, how far a slider is."""


class _Painter:
    """Sketches one window."""

    def __init__(self, palette: Palette, screen: Rect, *, is_dialog: bool, is_scene: bool = False) -> None:
        self._palette = palette
        self._screen = screen
        self._is_dialog = is_dialog
        self._is_scene = is_scene
        self._marks: list[Mark] = []

    def window(self, root: SeenNode | None, package: str) -> list[Mark]:
        palette, screen = self._palette, self._screen
        if package == HOME:
            self._marks.append(Gradient(screen, *WALLPAPER))
        elif root is not None:
            color = palette.raised if self._is_dialog else palette.surface
            self._marks.append(Fill(root.view.bounds, color, screen, DIALOG_RADIUS if self._is_dialog else 0))
        if root is not None:
            for node in root.walk():
                if not node.bounds.is_empty:
                    self._node(node)
        return self._marks

    def _node(self, node: SeenNode) -> None:
        kind, view = node.view.cls.rpartition(".")[2], node.view
        if kind == "Switch":
            self._switch(node)
        elif kind == "CheckBox":
            self._check_box(node)
        elif kind == "Button":
            self._button(node)
        elif kind == "ImageButton":
            self._image_button(node)
        elif kind == "EditText":
            self._field(node)
        elif kind == "RadioButton":
            color = self._palette.accent if view.is_checked else self._palette.faint
            self._marks += radio(view.bounds, color, node.bounds, is_on=view.is_checked)
        elif kind == "ImageView" and view.on_click is not None:
            self._app(node, view.desc, view.bounds)
        elif view.id.endswith(":id/main_switch_bar"):
            self._fill(_inset(view.bounds, 30, 12), node.bounds, self._palette.tint, radius=62)
        elif view.id.endswith(":id/task"):
            self._fill(_inset(view.bounds, 0, 12), node.bounds, self._palette.tint, radius=44)
            if view.desc:
                self._app(
                    node, view.desc, Rect(view.bounds.right - 216, view.bounds.top + 90, view.bounds.right - 96, 0)
                )
        elif view.id.endswith(":id/compose_message_box"):
            self._fill(view.bounds, node.bounds, self._palette.surface)
        elif view.id.endswith(":id/message_text"):
            self._bubble(node)
        elif node.package == HOME and view.on_click is not None and view.text:
            self._launcher_icon(node)
        elif node.text and kind not in SILENT:
            self._text(node)
        elif self._is_scene:
            self._bare(node)
        self._canvas(node)
        if node.is_scrollable and view.scroll is not None:
            self._scroll_bar(node)

    def _bare(self, node: SeenNode) -> None:
        """Show what a node of a dump is without any text: its edge where it takes taps, its description as a leaf."""
        view, b = node.view, node.bounds
        is_page = b.width * b.height * 2 > self._screen.width * self._screen.height
        if view.is_clickable and not is_page:
            self._marks.append(Outline(b, self._palette.disabled, b, min(16, b.height // 2), 2))
        if view.desc and not node.children:
            self._words(node, view.desc, self._palette.faint, is_centered=True)

    def _canvas(self, node: SeenNode) -> None:
        """Show what a canvas paints and accessibility does not know."""
        for painted in node.view.paints:
            ground, ink = self._palette.raised, self._palette.text
            if painted.is_lit:
                ground, ink = self._palette.accent, self._palette.on_accent
            self._marks += painted_box(painted.box, painted.words, node.view.bounds, ground, ink, node.bounds)

    def _fill(self, box: Rect, clip: Rect, color: Color, *, radius: int = 0) -> None:
        self._marks.append(Fill(box, color, clip, radius))

    def _words(self, node: SeenNode, text: str, color: Color, *, is_centered: bool = False) -> None:
        view = node.view
        left, top, right, bottom = (8, 0, 8, 0) if is_centered else view.pad
        b = view.bounds
        box = Rect(b.left + left, b.top + top, b.right - right, b.bottom - bottom)
        if view.mirrors:
            box = Rect(max(box.left, box.right - text_width(text, view.size)), box.top, box.right, box.bottom)
        lines = max(1, round(box.height / (view.size * 4 / 3)))
        self._marks.append(
            Words(
                text,
                box,
                color,
                node.bounds,
                int(view.size * TEXT_SCALE),
                lines,
                "center" if is_centered else "left",
                is_middle=is_centered or view.edits is not None or box.height < view.size * 2,
            )
        )

    def _text(self, node: SeenNode) -> None:
        second = node.view.id.endswith(("/summary", "_snippet")) or node.view.size < 44
        on_tint = node.parent is not None and self._is_on_tint(node)
        color = self._palette.faint if second else self._palette.on_tint if on_tint else self._palette.text
        if node.package == HOME and not on_tint:
            color = WHITE
        self._words(node, node.text, color)

    @staticmethod
    def _is_on_tint(node: SeenNode) -> bool:
        above: SeenNode | None = node
        while above is not None and not above.view.id.endswith((":id/main_switch_bar", ":id/task")):
            above = above.parent
        return above is not None

    def _switch(self, node: SeenNode) -> None:
        palette, b = self._palette, node.view.bounds
        middle = (b.top + b.bottom) // 2
        track = Rect(b.left + 11, middle - 33, b.left + 119, middle + 33)
        if node.view.is_checked:
            self._fill(track, node.bounds, palette.accent, radius=33)
            self._disc(track.right - 33, middle, 24, palette.on_accent, node.bounds)
        else:
            self._fill(track, node.bounds, palette.raised, radius=33)
            self._marks.append(Outline(track, palette.faint, node.bounds, 33, 5))
            self._disc(track.left + 33, middle, 17, palette.faint, node.bounds)

    def _disc(self, x: int, y: int, radius: int, color: Color, clip: Rect) -> None:
        self._fill(Rect(x - radius, y - radius, x + radius, y + radius), clip, color, radius=radius)

    def _check_box(self, node: SeenNode) -> None:
        palette, b = self._palette, node.view.bounds
        middle = (b.top + b.bottom) // 2
        box = Rect(b.left + 8, middle - 25, b.left + 58, middle + 25)
        if node.view.is_checked:
            self._fill(box, node.bounds, palette.accent, radius=8)
            self._marks += tick(box, palette.on_accent, node.bounds)
        else:
            self._marks.append(Outline(box, palette.faint, node.bounds, 8, 5))
        self._words(node, node.text, palette.text)

    def _button(self, node: SeenNode) -> None:
        view, palette = node.view, self._palette
        is_filled = not self._is_dialog and node.package != HOME
        if node.package == HOME:
            self._fill(_inset(view.bounds, 4, 16), node.bounds, palette.raised, radius=50)
            color = palette.text
        elif is_filled:
            self._fill(
                _inset(view.bounds, 40, 16),
                node.bounds,
                palette.accent if view.is_enabled else palette.raised,
                radius=50,
            )
            color = palette.on_accent
        else:
            color = palette.accent
        self._words(node, node.text or view.desc, color if view.is_enabled else palette.disabled, is_centered=True)

    def _image_button(self, node: SeenNode) -> None:
        view, palette = node.view, self._palette
        if view.desc == "Send":
            x, y = (view.bounds.left + view.bounds.right) // 2, (view.bounds.top + view.bounds.bottom) // 2
            self._disc(x, y, 62, palette.accent if view.is_enabled else palette.raised, node.bounds)
            color = palette.on_accent if view.is_enabled else palette.disabled
            self._marks += arrow_send(view.bounds, color, node.bounds)
        elif view.desc in ("Navigate up", "Back"):
            self._marks += arrow_left(view.bounds, palette.text, node.bounds)
        else:
            self._marks += round_button(view.bounds, view.desc, palette.tint, palette.on_tint, node.bounds)

    def _field(self, node: SeenNode) -> None:
        view, palette = node.view, self._palette
        box = _inset(view.bounds, 4, 8)
        field = view.edits
        assert field is not None
        ground = palette.surface if self._is_dialog else palette.raised
        self._fill(box, node.bounds, ground, radius=40)
        edge, width = (palette.accent, 6) if view.is_focused else (palette.faint, 3)
        self._marks.append(Outline(box, edge, node.bounds, 40, width))
        if field.is_hidden and field.text:
            self._bullets(node, len(field.text))
        elif node.text:
            self._words(node, node.text, palette.text if field.text else palette.faint)
        if view.is_focused and not field.text:
            left, middle = view.bounds.left + view.pad[0] - 8, (view.bounds.top + view.bounds.bottom) // 2
            self._fill(Rect(left, middle - 32, left + 4, middle + 32), node.bounds, palette.accent)

    def _bullets(self, node: SeenNode, count: int) -> None:
        """Show that something was typed, and how much: the font has no bullet."""
        b, step = node.view.bounds, 30
        y, x = (b.top + b.bottom) // 2, b.left + node.view.pad[0] + 12
        room = max(1, (b.width - 2 * node.view.pad[0]) // step)
        for number in range(min(count, room)):
            self._disc(x + number * step, y, 9, self._palette.text, node.bounds)

    def _bubble(self, node: SeenNode) -> None:
        view, b = node.view, node.view.bounds
        is_ours = b.left > self._screen.width // 6
        margins = view.pad[0] + view.pad[2]
        # As wide as its words; ours stand at the right.
        width = min(b.width - 36, text_width(view.text, view.size) + margins)
        left = b.right - width - 30 if is_ours else b.left + 30
        box = Rect(left, b.top + 6, left + width, b.bottom - 6)
        self._fill(box, node.bounds, self._palette.tint if is_ours else self._palette.raised, radius=44)
        color = self._palette.on_tint if is_ours else self._palette.text
        text = Rect(left + view.pad[0], b.top + view.pad[1], left + width - view.pad[2] + 8, b.bottom - view.pad[3])
        lines = max(1, round(text.height / (view.size * 4 / 3)))
        size = int(view.size * TEXT_SCALE)
        self._marks.append(Words(view.text, text, color, node.bounds, size, lines, is_middle=True))

    def _launcher_icon(self, node: SeenNode) -> None:
        view, b = node.view, node.view.bounds
        left = (b.left + b.right) // 2 - 72
        self._app(node, view.text, Rect(left, b.top + 36, left + 144, b.top + 180))
        label = Rect(b.left, b.top + view.pad[1] + 8, b.right, b.bottom)
        self._marks.append(Words(view.text, label, WHITE, node.bounds, view.size, 1, "center"))

    def _app(self, node: SeenNode, label: str, box: Rect) -> None:
        square = Rect(box.left, box.top, box.right, box.top + box.width)
        self._marks += app_icon(label, square, node.bounds)

    def _scroll_bar(self, node: SeenNode) -> None:
        scroll, b = node.view.scroll, node.bounds
        assert scroll is not None
        content = scroll.limit + scroll.page
        if content <= 0 or b.height <= 0:
            return
        length = max(72, b.height * scroll.page // content)
        top = b.top + (b.height - length) * min(scroll.offset, scroll.limit) // max(1, scroll.limit)
        self._fill(Rect(b.right - 14, top, b.right - 6, top + length), b, self._palette.disabled, radius=4)


def _inset(box: Rect, x: int, y: int) -> Rect:
    return Rect(box.left + x, box.top + y, box.right - x, box.bottom - y)
