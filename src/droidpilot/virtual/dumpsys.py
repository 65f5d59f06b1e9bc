"""dumpsys: the few lines of its services that libraries look for, in the words of Android 14.

This file must never change anything on the phone.
"""

from __future__ import annotations

from collections.abc import Callable
from typing import Final

from droidpilot.virtual.commands_apps import process_id
from droidpilot.virtual.commands_device import DISPLAY_ID
from droidpilot.virtual.phone import Phone
from droidpilot.virtual.shell import Job
from droidpilot.virtual.trouble import cut_reply


def _record(phone: Phone) -> str:
    """Return `package/activity` of the window in front, the activity in full."""
    phone.look()
    return f"{phone.package}/{phone.activity}"


def _window(phone: Phone, _: list[str]) -> str:
    record = _record(phone)
    screen = phone.display.rect
    secure = "SECURE " if phone.is_secure else ""
    focus = f"Window{{3f1c2ab u0 {record}}}" if phone.screen_on else "null"
    return (
        "WINDOW MANAGER WINDOWS (dumpsys window windows)\n"
        f"  Window #0 Window{{3f1c2ab u0 {record}}}:\n"
        f"    mDisplayId=0 rootTaskId=12 mSession=Session{{8d2f 2000:u0a10}} package={phone.package}\n"
        f"    mAttrs={{(0,0)(fillxfill) sim={{adjust=resize}} ty=BASE_APPLICATION wanim=0x10302f8\n"
        f"      fl=LAYOUT_IN_SCREEN LAYOUT_INSET_DECOR {secure}SPLIT_TOUCH HARDWARE_ACCELERATED\n"
        f"      pfl=FORCE_DRAW_STATUS_BAR_BACKGROUND USE_BLAST}}\n"
        f"    mBounds=Rect(0, 0 - {screen.width}, {screen.height})\n"
        f"  mCurrentFocus={focus}\n"
        f"  mFocusedApp=ActivityRecord{{a1b2c3d u0 {record} t12}}\n"
        f"  mAwake={str(phone.screen_on).lower()}\n"
        f"  mDreamingLockscreen=false\n"
        f"  isKeyguardShowing=false\n"
    )


def _activity(phone: Phone, words: list[str]) -> str:
    record = _record(phone)
    if words[:1] == ["top"]:
        pid = process_id(phone, phone.package) or 0
        return f"TASK {phone.package} id=12 userId=0\n  ACTIVITY {record} a1b2c3d pid={pid}\n"
    return (
        "ACTIVITY MANAGER ACTIVITIES (dumpsys activity activities)\n"
        f"  topResumedActivity=ActivityRecord{{a1b2c3d u0 {record} t12}}\n"
        f"  mResumedActivity: ActivityRecord{{a1b2c3d u0 {record} t12}}\n"
    )


def _display(phone: Phone, _: list[str]) -> str:
    screen, rotation = phone.display.rect, phone.display.rotation
    return (
        "DISPLAY MANAGER (dumpsys display)\n"
        f"  mViewports=[DisplayViewport{{type=INTERNAL, valid=true, isActive=true, displayId=0, "
        f"orientation={rotation}, logicalFrame=Rect(0, 0 - {screen.width}, {screen.height}), "
        f"deviceWidth={screen.width}, deviceHeight={screen.height}}}]\n"
        f"  mCurrentOrientation={rotation}\n"
    )


def _power(phone: Phone, _: list[str]) -> str:
    awake = "Awake" if phone.screen_on else "Asleep"
    held = "true" if phone.screen_on else "false"
    return f"POWER MANAGER (dumpsys power)\n  mWakefulness={awake}\n  mHoldingDisplaySuspendBlocker={held}\n"


def _battery(_: Phone, __: list[str]) -> str:
    return (
        "Current Battery Service state:\n  AC powered: false\n  USB powered: true\n  Wireless powered: false\n"
        "  Max charging current: 500000\n  Max charging voltage: 5000000\n  Charge counter: 3480000\n  status: 2\n"
        "  health: 2\n  present: true\n  level: 87\n  scale: 100\n  voltage: 4200\n  temperature: 270\n"
        "  technology: Li-ion\n"
    )


def _package(phone: Phone, words: list[str]) -> str:
    package = phone.packages.get(words[-1] if words else "")
    if package is None:
        return f"Unable to find package: {(words[-1] if words else '')[:200]}\n"
    flags = "SYSTEM HAS_CODE" if package.is_system else "HAS_CODE ALLOW_CLEAR_USER_DATA"
    return (
        f"Packages:\n  Package [{package.name}] (5c1f2e):\n    userId={package.uid}\n"
        f"    codePath=/data/app/~~virtual==/{package.name}\n    versionCode={package.code} minSdk=26 targetSdk=34\n"
        f"    versionName={package.version}\n    signatures=PackageSignatures{{5c1f2e version:2, signatures:[a1b2c3], "
        f"past signatures:[]}}\n    PackageSignatures{{5c1f2e [a1b2c3]}}\n    pkgFlags=[ {flags} ]\n"
        "    firstInstallTime=2026-01-01 00:00:00\n    lastUpdateTime=2026-01-01 00:00:00\n"
    )


def _input_method(phone: Phone, _: list[str]) -> str:
    ime = phone.settings.get("secure", "default_input_method")
    return f"Current Input Method Manager state:\n  mCurMethodId={ime}\n  mInputShown=false\n"


def _wifi(phone: Phone, _: list[str]) -> str:
    state = "enabled" if phone.wifi.is_on else "disabled"
    ssid = f'"{phone.wifi.connected}"' if phone.wifi.connected else "<unknown ssid>"
    return f"Wi-Fi is {state}\nmWifiInfo SSID: {ssid}\n"


def _surface_flinger(_: Phone, __: list[str]) -> str:
    return f'Display {DISPLAY_ID} (HWC display 0): port=0 pnpId=VRT displayName="Virtual"\n'


SERVICES: Final[dict[str, Callable[[Phone, list[str]], str]]] = {
    "window": _window,
    "activity": _activity,
    "display": _display,
    "power": _power,
    "battery": _battery,
    "package": _package,
    "input_method": _input_method,
    "wifi": _wifi,
    "SurfaceFlinger": _surface_flinger,
}


async def dumpsys(job: Job) -> int:
    """Run `dumpsys SERVICE [ARGUMENT...]`."""
    async with job.context.trouble.call("dumpsys") as met:
        if "dumpsys-cut" in met:
            cut_reply(lambda: None)
        return _dumpsys(job)


def _dumpsys(job: Job) -> int:
    words = [word for word in job.args[1:] if word == "-3" or not word.startswith("-")]
    service = SERVICES.get(words[0]) if words else None
    if service is None:
        return job.fail(f"Can't find service: {' '.join(words[:1])[:100]}", 0)
    with job.phone.lock:
        job.out += service(job.phone, words[1:]).encode("utf-8", "replace")
    return 0
