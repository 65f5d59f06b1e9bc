"""What the phone tells of itself: its system properties, its patch level, and the switches that some brands have.

This file must never know a view.
"""

from __future__ import annotations

from typing import Final

from droidpilot.virtual.phone import MODEL, RELEASES, SDK, Phone
from droidpilot.virtual.registry import phone_id

SECURITY_PATCH: Final = "2026-06-05"


def properties(seed: int, sdk: int = SDK) -> dict[str, str]:
    """Return the system properties that `getprop` knows."""
    release, build = RELEASES[sdk], f"VP{sdk}.{SECURITY_PATCH[2:].replace('-', '')}.001"
    fingerprint = f"droidpilot/virtual_phone/virtual:{release}/{build}/1:user/release-keys"
    return {
        "ro.build.characteristics": "default",
        "ro.build.display.id": build,
        "ro.build.fingerprint": fingerprint,
        "ro.build.id": build,
        "ro.build.product": "virtual",
        "ro.build.tags": "release-keys",
        "ro.build.version.codename": "REL",
        "ro.build.version.incremental": "1",
        "ro.build.version.release_or_codename": release,
        "ro.build.version.security_patch": SECURITY_PATCH,
        "ro.hardware": "virtual",
        "ro.product.board": "virtual",
        "ro.product.cpu.abilist": "x86_64",
        "ro.secure": "1",
        "ro.vendor.build.fingerprint": fingerprint,
        "ro.serialno": phone_id(seed),
        "ro.build.version.sdk": str(sdk),
        "ro.build.version.release": release,
        "ro.product.brand": "droidpilot",
        "ro.product.manufacturer": "droidpilot",
        "ro.product.model": MODEL,
        "ro.product.name": "virtual_phone",
        "ro.product.device": "virtual",
        "ro.product.cpu.abi": "x86_64",
        "ro.product.locale": "en-US",
        "persist.sys.locale": "en-US",
        "ro.build.type": "user",
        "ro.debuggable": "0",
        "ro.kernel.qemu": "0",
        "sys.boot_completed": "1",
        "dev.bootcomplete": "1",
    }


def told_properties(phone: Phone) -> dict[str, str]:
    """Return properties that say how far the phone may be used; a phone that refuses inputs says so as Xiaomi's do."""
    known: dict[str, str] = {}
    if phone.faults.is_set("inject-denied"):
        known["persist.security.adbinput"] = "0"
    return known
