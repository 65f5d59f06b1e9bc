"""The Wi-Fi page of Settings: the main switch, the networks in reach, and the password dialog."""

from __future__ import annotations

from droidpilot.virtual.apps.packages import SETTINGS
from droidpilot.virtual.host import Host
from droidpilot.virtual.ui.motion import Slide
from droidpilot.virtual.ui.views import Rows, TextField, View, natural
from droidpilot.virtual.ui.widgets import button, check_box, dialog, label, main_switch, page, row, text_field
from droidpilot.virtual.ui.windows import Window
from droidpilot.virtual.wifi import MIN_PASSWORD, Network

BARS = ("No signal", "Weak signal", "Fair signal", "Good signal", "Strong signal")


class WifiPages:
    """Makes the windows that have to do with Wi-Fi."""

    def __init__(self, host: Host) -> None:
        self._host = host
        self._arrival: Slide | None = None

    def page(self) -> Window:
        """Make the Wi-Fi page."""
        window = Window(
            SETTINGS, f"{SETTINGS}.Settings$WifiSettingsActivity", "Wi-Fi", "Wi-Fi", lambda: self._body(window)
        )
        return window

    def _body(self, window: Window) -> View:
        wifi = self._host.wifi
        made = [main_switch("Use Wi-Fi", is_on=wifi.is_on, on_click=lambda: self._host.later(self._turn))]
        if wifi.is_on:
            first = sorted(wifi.networks, key=lambda network: network.ssid != wifi.connected)
            made += [self._network(network) for network in first]
            made.append(row("Saved networks", f"{len(wifi.saved)} networks" if wifi.saved else ""))
            for view in made[1:]:
                view.slide = self._arrival
        else:
            made.append(label("To see available networks, turn on Wi-Fi", size=40, pad=(66, 40, 66, 40)))
        shown = View("androidx.recyclerview.widget.RecyclerView", "com.android.settings:id/recycler_view")
        shown.scroll = window.scroll("list")
        shown.rows = Rows([natural(view, self._host.display.rect.width)[1] for view in made], lambda n: made[n])
        return page(SETTINGS, "Wi-Fi", shown, on_up=self._host.back)

    def _turn(self) -> None:
        settings = self._host.settings
        if not settings.is_on("global", "wifi_on"):
            self._arrival = self._host.slide(dy=120)
        settings.put("global", "wifi_on", "0" if settings.is_on("global", "wifi_on") else "1", source=SETTINGS)

    def _network(self, network: Network) -> View:
        wifi = self._host.wifi
        if wifi.connected == network.ssid:
            return row(network.ssid, "Connected", on_click=lambda: self._host.open(self._details(network)))
        secured = "secured" if network.is_secured else "open"
        summary = "Saved" if network.ssid in wifi.saved else f"{BARS[network.bars]}, {secured}"
        if network.is_secured and network.ssid not in wifi.saved:
            return row(network.ssid, summary, on_click=lambda: self._host.open(self._password_dialog(network)))
        return row(network.ssid, summary, on_click=lambda: self._host.later(lambda: self._join(network)))

    def _join(self, network: Network) -> None:
        wifi = self._host.wifi
        if network.ssid in wifi.saved:
            wifi.chosen = network.ssid
        else:
            wifi.connect(network.ssid, None)

    def _details(self, network: Network) -> Window:
        def forget() -> None:
            self._host.later(lambda: self._host.wifi.forget(network.ssid))
            self._host.close(window)

        def body() -> View:
            column = View("android.widget.LinearLayout")
            column.children = [
                row(network.ssid, "Connected"),
                button("Forget", id="com.android.settings:id/button1", on_click=forget),
                row("Signal strength", BARS[network.bars]),
            ]
            return page(SETTINGS, "Network details", column, on_up=self._host.back)

        window = Window(SETTINGS, f"{SETTINGS}.SubSettings", "Network details", f"wifi/{network.ssid}", body)
        return window

    def _password_dialog(self, network: Network) -> Window:
        password = TextField("password", is_password=True)

        def connect() -> None:
            if len(password.text) >= MIN_PASSWORD:
                self._host.later(lambda: self._host.wifi.connect(network.ssid, password.text))
                self._host.close(window)

        def reveal() -> None:
            password.is_revealed = not password.is_revealed

        def body() -> View:
            field = text_field(password, id="com.android.settings:id/password", is_focused=window.focus is password)
            show = check_box(
                "Show password",
                id="com.android.settings:id/show_password",
                is_checked=password.is_revealed,
                on_click=lambda: self._host.later(reveal),
            )
            cancel = button("CANCEL", id="android:id/button2", on_click=lambda: self._host.close(window))
            okay = button(
                "CONNECT", id="android:id/button1", on_click=connect, is_enabled=len(password.text) >= MIN_PASSWORD
            )
            return dialog(network.ssid, [label("Password", size=38), field, show], [cancel, okay])

        activity = f"{SETTINGS}.wifi.WifiDialogActivity"
        window = Window(SETTINGS, activity, network.ssid, f"wifi dialog/{network.ssid}", body, is_dialog=True)
        window.focus = password
        window.on_enter = connect
        return window
