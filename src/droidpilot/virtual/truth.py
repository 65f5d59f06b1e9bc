"""The truth about a phone, ready for JSON, so that a test can compare it with what anybody was told.

This file must never change anything on the phone.
"""

from __future__ import annotations

from dataclasses import asdict
from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from droidpilot.virtual.phone import Phone


def truth(phone: Phone) -> dict[str, object]:
    """Return what is in front, what was set and sent, and which inputs were executed."""
    window, display = phone.top, phone.display
    told: dict[str, object] = {
        "seed": phone.seed,
        "model": "Virtual Phone",
        "sdk": phone.sdk,
        "screen_on": phone.screen_on,
        "locked": phone.keyguard.is_showing,
        "display": {
            "width": display.rect.width,
            "height": display.rect.height,
            "rotation": display.rotation,
            "folded": display.is_folded,
        },
        "package": phone.package,
        "activity": phone.activity,
        "title": window.title,
        "dialog": window.is_dialog,
        "windows": [shown.name for shown in phone.windows()],
        "keyboard": phone.stack.has_keyboard,
        "focus": window.focus.name if window.focus is not None else None,
        "scroll": {name: scroll.offset for name, scroll in sorted(window.scrolls.items())},
        "recents": list(phone.recents),
        "settings": {namespace: dict(sorted(v.items())) for namespace, v in phone.settings.values.items()},
        "settings_changed": [asdict(change) for change in phone.settings.changes],
        "ime_default": phone.settings.get("secure", "default_input_method"),
        "wifi": phone.wifi.state(),
        "toast": phone.last_toast,
        "notifications": phone.notifications.state(),
        "permissions": phone.permissions.state(),
        "hung": sorted(phone.failing.hung),
        "factory_resets": phone.resets,
        "inputs": phone.inputs.state(),
        "faults": phone.faults.state(),
    }
    for app in phone.apps.values():
        told |= app.state()
    if phone.scene is not None:
        # What the phone's own windows would show is not what anybody sees.
        scene = phone.scene.state()
        told |= {"title": scene.get("page"), "dialog": False, "windows": [phone.activity], "scroll": {}}
        told["scene"] = scene
    return told
