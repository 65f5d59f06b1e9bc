"""The pages of Settings about other devices: Bluetooth with paired and available ones, and NFC.

Bluetooth is on or off by `global bluetooth_on`. AOSP keeps NFC inside its own service; here it is `global nfc_on`.
"""

from __future__ import annotations

from dataclasses import dataclass
from functools import partial

from droidpilot.virtual.apps.packages import SETTINGS
from droidpilot.virtual.apps.parts import confirmation, scroller, wide_button
from droidpilot.virtual.apps.settings_rows import bound_switch, settings_page
from droidpilot.virtual.host import Host
from droidpilot.virtual.ui.views import View
from droidpilot.virtual.ui.widgets import button as text_button
from droidpilot.virtual.ui.widgets import check_box, dialog, label, main_switch, page, row
from droidpilot.virtual.ui.windows import Window

OWNERS = ("Ada", "Bruno", "Kitchen", "Car", "Office", "Mona")
THINGS = ("Headphones", "Speaker", "Watch", "Keyboard", "Buds")
PAIRING_MS = 800


@dataclass(slots=True, eq=False)
class Device:
    name: str
    code: int
    """The pairing code that both sides show."""
    is_paired: bool = False
    is_connected: bool = False


class DevicePages:
    """Makes the windows of Connected devices, and keeps which devices are paired."""

    def __init__(self, host: Host) -> None:
        self._host = host
        random = host.random("bluetooth")
        names = random.sample([f"{owner}'s {thing}" for owner in OWNERS for thing in THINGS], 6)
        self._devices = [Device(name, random.randint(100_000, 999_999)) for name in names]
        for device in self._devices[:2]:
            device.is_paired = True

    def state(self) -> dict[str, object]:
        return {
            "bluetooth": {
                "on": self.is_on,
                "paired": [device.name for device in self._devices if device.is_paired],
                "connected": [device.name for device in self._devices if device.is_connected and self.is_on],
            },
            "nfc": self._host.settings.is_on("global", "nfc_on"),
        }

    @property
    def is_on(self) -> bool:
        return self._host.settings.is_on("global", "bluetooth_on")

    def forget_all(self) -> None:
        """Forget all paired devices, as the reset of the networks does."""
        for device in self._devices:
            device.is_paired = device.is_connected = False

    def page(self) -> Window:
        """Make the page that leads to all others."""
        return settings_page(self._host, "Connected devices", self._rows)

    def _rows(self) -> list[View]:
        host = self._host
        told = ", ".join(device.name for device in self._devices if device.is_connected) if self.is_on else "Off"
        nfc = "On" if host.settings.is_on("global", "nfc_on") else "Off"
        return [
            bound_switch(host, "Use Bluetooth", "", "global", "bluetooth_on"),
            row("Bluetooth", told or "Not connected", on_click=lambda: host.open(self.bluetooth_page())),
            row("NFC", nfc, on_click=lambda: host.open(self.nfc_page())),
            row("USB", "File transfer"),
        ]

    def nfc_page(self) -> Window:
        """Make the NFC page."""
        return settings_page(
            self._host,
            "NFC",
            lambda: [
                bound_switch(self._host, "Use NFC", "", "global", "nfc_on"),
                bound_switch(self._host, "Require device unlock for NFC", "", "secure", "nfc_secure_enabled"),
                row("Contactless payments", "No default app"),
            ],
        )

    def bluetooth_page(self) -> Window:
        """Make the Bluetooth page."""
        return settings_page(self._host, "Bluetooth", self._bluetooth, activity=".Settings$BluetoothSettingsActivity")

    def _bluetooth(self) -> list[View]:
        def turn() -> None:
            self._host.settings.put("global", "bluetooth_on", "0" if self.is_on else "1", source=SETTINGS)

        made = [main_switch("Use Bluetooth", is_on=self.is_on, on_click=lambda: self._host.later(turn))]
        if not self.is_on:
            return [*made, _heading("To see available devices, turn on Bluetooth")]
        for title, is_paired in (("Saved devices", True), ("Available devices", False)):
            made.append(_heading(title))
            made += [self._device_row(device) for device in self._devices if device.is_paired == is_paired]
        return made

    def _device_row(self, device: Device) -> View:
        told = "Connected" if device.is_connected else "Saved" if device.is_paired else ""
        ask = self._details if device.is_paired else self._pairing
        return row(device.name, told, on_click=lambda: self._host.open(ask(device)))

    def _pairing(self, device: Device) -> Window:
        shares = [False]

        def turn() -> None:
            shares[0] = not shares[0]

        def paired() -> None:
            if self.is_on:
                device.is_paired = device.is_connected = True

        def pair() -> None:
            self._host.close(window)
            self._host.after(PAIRING_MS, paired)

        def body() -> View:
            code = label(f"Bluetooth pairing code {device.code}", id="com.android.settings:id/pairing_code_message")
            share = check_box(
                "Allow access to your contacts and call history",
                id="com.android.settings:id/phonebook_sharing_message_confirm_pin",
                is_checked=shares[0],
                on_click=lambda: self._host.later(turn),
            )
            no = text_button("Cancel", id="android:id/button2", on_click=lambda: self._host.close(window))
            yes = text_button("Pair", id="android:id/button1", on_click=pair)
            return dialog(f"Pair with {device.name}?", [code, share], [no, yes])

        activity = f"{SETTINGS}.bluetooth.BluetoothPairingDialog"
        window = Window(SETTINGS, activity, f"Pair with {device.name}?", f"pair/{device.name}", body, is_dialog=True)
        return window

    def _details(self, device: Device) -> Window:
        def connect() -> None:
            device.is_connected = not device.is_connected

        def forget() -> None:
            device.is_paired = device.is_connected = False
            self._host.close(window)

        def ask() -> None:
            text = f"Your phone will no longer be paired with {device.name}"
            self._host.open(
                confirmation(self._host, window, "Forget device?", text, yes="Forget device", on_yes=forget)
            )

        def body() -> View:
            words = "Disconnect" if device.is_connected else "Connect"
            parts = [
                row(device.name, "Connected" if device.is_connected else "Saved"),
                wide_button("Forget", id="com.android.settings:id/button1", on_click=ask),
                wide_button(words, id="com.android.settings:id/button2", on_click=partial(self._host.later, connect)),
            ]
            return page(SETTINGS, "Device details", scroller(window, parts), on_up=self._host.back)

        window = Window(SETTINGS, f"{SETTINGS}.SubSettings", "Device details", f"device/{device.name}", body)
        return window


def _heading(text: str) -> View:
    return label(text, id="android:id/title", size=40, pad=(66, 40, 66, 20))
