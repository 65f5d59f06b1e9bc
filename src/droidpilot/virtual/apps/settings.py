"""Settings: the pages that lead somewhere, each bound to the phone's real settings.

Wi-Fi, Display, other devices and the search have their own files. Nothing here is kept outside the settings provider,
except how far a list is scrolled.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence

from droidpilot.virtual.apps.packages import SETTINGS, Package
from droidpilot.virtual.apps.settings_devices import DevicePages
from droidpilot.virtual.apps.settings_display import DisplayPages
from droidpilot.virtual.apps.settings_rows import bound_switch, settings_page
from droidpilot.virtual.apps.settings_search import Entry, search_window
from droidpilot.virtual.apps.wifi_settings import WifiPages
from droidpilot.virtual.host import Host
from droidpilot.virtual.ui.views import FILL, Rows, TextField, View
from droidpilot.virtual.ui.widgets import ROW_HEIGHT, button, dialog, label, page, row, text_field
from droidpilot.virtual.ui.windows import Window

Act = Callable[[], None]


class SettingsApp:
    """The Settings app."""

    package = SETTINGS
    activity = ".Settings"
    label = "Settings"

    def __init__(self, host: Host, packages: Sequence[Package]) -> None:
        self._host = host
        self._packages = packages
        self._wifi = WifiPages(host)
        self._display = DisplayPages(host)
        self._devices = DevicePages(host)

    def clear(self) -> None:
        """Do nothing: the settings provider and the radios keep what is set here."""

    def state(self) -> dict[str, object]:
        return self._devices.state()

    def first(self) -> Window:
        activity = ".homepage.SettingsHomepageActivity"
        return settings_page(self._host, "Settings", self._main, activity=activity, is_first=True)

    def _page(self, title: str, rows: Callable[[], list[View]], *, activity: str = ".SubSettings") -> Window:
        return settings_page(self._host, title, rows, activity=activity)

    def _leads(self, title: str, summary: str, make: Callable[[], Window]) -> View:
        return row(title, summary, on_click=lambda: self._host.open(make()))

    def _main(self) -> list[View]:
        night = "On" if self._host.settings.get("secure", "ui_night_mode") == "2" else "Off"
        return [
            self._search_bar(),
            self._leads("Network & internet", "Wi-Fi, mobile data, airplane mode", self._network_page),
            self._leads("Connected devices", "Bluetooth, pairing", self._devices.page),
            self._leads("Apps", f"{len(self._packages)} apps installed", self._apps_page),
            self._fact("Notifications", "Notification history, conversations", "No recent notifications"),
            self._fact("Battery", "87%", "87% - about 1 day, 3 hr left"),
            self._fact("Storage", "31% used - 88 GB free", "40 GB used of 128 GB"),
            self._fact("Sound & vibration", "Volume, haptics, Do Not Disturb", "Ring volume 60%"),
            self._leads("Display", f"Dark theme: {night}, screen timeout", self._display.page),
            self._fact("Wallpaper & style", "Colors, themed icons", "Wallpaper: Default"),
            self._fact("Accessibility", "Display, interaction, audio", "No services installed"),
            self._fact("Security & privacy", "App security, device lock", "Screen lock: None"),
            self._fact("Location", "On - 2 apps have access to location", "No apps recently accessed location"),
            self._fact("Passwords & accounts", "Saved passwords, autofill", "No accounts"),
            self._leads("System", "Languages, gestures, time, backup", self._system_page),
            self._leads("About phone", self._host.settings.get("global", "device_name") or "", self._about_page),
        ]

    def _search_bar(self) -> View:
        bar = View("android.view.ViewGroup", f"{SETTINGS}:id/search_action_bar", pad=(66, 30, 66, 30))
        bar.children = [label("Search settings", id=f"{SETTINGS}:id/search_action_bar_title", size=48)]
        bar.on_click = lambda: self._host.open(search_window(self._host, self._index()))
        return bar

    def _index(self) -> list[Entry]:
        """Return what the search finds."""
        network, devices, screen = "Network & internet", "Connected devices", "Display"
        return [
            Entry("Wi-Fi", network, self._wifi.page),
            Entry("Mobile data", network, self._network_page),
            Entry("Airplane mode", network, self._network_page),
            Entry("Bluetooth", devices, self._devices.bluetooth_page),
            Entry("NFC", devices, self._devices.nfc_page),
            Entry("Dark theme", screen, self._display.page),
            Entry("Brightness level", screen, self._display.brightness_dialog),
            Entry("Font size", screen, self._display.font_page),
            Entry("Screen timeout", screen, self._display.timeout_page),
            Entry("All apps", "Apps", self._all_apps_page),
            Entry("Erase all data (factory reset)", "System > Reset options", self._erase_page),
            Entry("Device name", "About phone", self._about_page),
        ]

    def _fact(self, title: str, summary: str, fact: str) -> View:
        return self._leads(title, summary, lambda: self._page(title, lambda: [row(fact)]))

    def _network_page(self) -> Window:
        return self._page("Network & internet", self._network)

    def _network(self) -> list[View]:
        wifi = self._host.wifi
        state = (f"Connected to {wifi.connected}" if wifi.connected else "On") if wifi.is_on else "Off"
        return [
            self._leads("Wi-Fi", state, self._wifi.page),
            bound_switch(self._host, "Mobile data", "Virtual Mobile", "global", "mobile_data"),
            bound_switch(self._host, "Airplane mode", "", "global", "airplane_mode_on"),
            row("Private DNS", "Automatic"),
        ]

    def _apps_page(self) -> Window:
        return self._page("Apps", lambda: [self._leads("All apps", f"{len(self._packages)} apps", self._all_apps_page)])

    def _all_apps_page(self) -> Window:
        def body() -> View:
            shown = View("androidx.recyclerview.widget.RecyclerView", "com.android.settings:id/apps_list")
            shown.scroll = window.scroll("apps")
            shown.rows = Rows([ROW_HEIGHT] * len(self._packages), lambda n: self._app_row(self._packages[n]))
            return page(SETTINGS, "All apps", shown, on_up=self._host.back)

        window = Window(SETTINGS, f"{SETTINGS}.Settings$ManageApplicationsActivity", "All apps", "All apps", body)
        return window

    def _app_row(self, package: Package) -> View:
        return self._leads(package.label, f"{package.megabytes} MB", lambda: self._app_page(package))

    def _app_page(self, package: Package) -> Window:
        return self._page(
            "App info",
            lambda: [
                label(package.label, id="com.android.settings:id/entity_header_title", size=60, pad=(66, 40, 66, 40)),
                row("Storage & cache", f"{package.megabytes} MB used"),
                row("Version", package.version),
                row("Package", package.name),
            ],
            activity=".applications.InstalledAppDetails",
        )

    def _system_page(self) -> Window:
        return self._page(
            "System",
            lambda: [
                row("Languages", "English (United States)"),
                row("Date & time", "UTC"),
                self._leads("Reset options", "Network, apps, or phone can be reset", self._reset_page),
            ],
        )

    def _reset_page(self) -> Window:
        return self._page(
            "Reset options",
            lambda: [
                row("Reset Bluetooth & Wi-Fi", on_click=self._reset_network),
                self._leads("Erase all data (factory reset)", "", self._erase_page),
            ],
        )

    def _reset_network(self) -> None:
        def forget() -> None:
            for ssid in list(self._host.wifi.saved):
                self._host.wifi.forget(ssid)
            self._devices.forget_all()
            self._host.toast("Network settings have been reset")

        self._host.later(forget)

    def _erase_page(self) -> Window:
        warning = (
            "This will erase all data from your phone's internal storage, including:\n"
            "Your accounts\nSystem and app data and settings\nDownloaded apps\nPhotos and other user data"
        )
        return self._page(
            "Erase all data",
            lambda: [
                label(warning, id="com.android.settings:id/message", pad=(66, 40, 66, 40)),
                button(
                    "Erase all data",
                    id="com.android.settings:id/initiate_main_clear",
                    width=FILL,
                    on_click=lambda: self._host.open(self._erase_dialog()),
                ),
            ],
        )

    def _erase_dialog(self) -> Window:
        def body() -> View:
            cancel = button("CANCEL", id="android:id/button2", on_click=lambda: self._host.close(window))
            erase = button("ERASE", id="android:id/button1", on_click=lambda: self._host.later(self._host.reset))
            return dialog("Erase all data?", [label("You can't undo this action.")], [cancel, erase])

        window = Window(SETTINGS, f"{SETTINGS}.SubSettings", "Erase all data?", "erase dialog", body, is_dialog=True)
        return window

    def _about_page(self) -> Window:
        return self._page(
            "About phone",
            lambda: [
                self._leads_dialog("Device name", self._host.settings.get("global", "device_name") or ""),
                row("Model", "Virtual Phone"),
                row("Android version", "14"),
                row("Build number", "VP1A.240101.001"),
            ],
        )

    def _leads_dialog(self, title: str, summary: str) -> View:
        return row(title, summary, on_click=lambda: self._host.open(self._name_dialog()))

    def _name_dialog(self) -> Window:
        field = TextField("edit", hint="Device name")
        field.put(self._host.settings.get("global", "device_name") or "")

        def save() -> None:
            self._host.later(lambda: self._host.settings.put("global", "device_name", field.text, source=SETTINGS))
            self._host.close(window)

        def body() -> View:
            cancel = button("CANCEL", id="android:id/button2", on_click=lambda: self._host.close(window))
            okay = button("OK", id="android:id/button1", on_click=save, is_enabled=bool(field.text.strip()))
            edit = text_field(field, id="android:id/edit", is_focused=window.focus is field)
            return dialog("Device name", [edit], [cancel, okay])

        window = Window(SETTINGS, f"{SETTINGS}.SubSettings", "Device name", "name dialog", body, is_dialog=True)
        window.focus = field
        window.on_enter = lambda: save() if field.text.strip() else None
        return window
