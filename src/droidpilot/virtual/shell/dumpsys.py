"""dumpsys: the few lines of its services that libraries look for, in the words of Android 14.

This file must never change anything on the phone.
"""

from __future__ import annotations

import zlib
from collections.abc import Callable
from dataclasses import dataclass
from typing import Final

from droidpilot.virtual.faults.trouble import cut_reply
from droidpilot.virtual.phone import Phone
from droidpilot.virtual.shell.commands_device import DISPLAY_ID
from droidpilot.virtual.shell.dumpsys_activity import NotTold, activity, app_record
from droidpilot.virtual.shell.job import Job
from droidpilot.virtual.ui.geometry import Rect

TYPES: Final = {
    "app": "BASE_APPLICATION",
    "overlay": "APPLICATION_OVERLAY",
    "keyboard": "INPUT_METHOD",
    "shade": "NOTIFICATION_SHADE",
    "keyguard": "NOTIFICATION_SHADE",
    "system": "SYSTEM_ALERT",
}
"""What the window manager calls the kinds of windows. Source: WindowManager.LayoutParams."""


@dataclass(frozen=True, slots=True)
class _Line:
    """A window as `dumpsys window` prints it."""

    name: str
    package: str
    type: str
    is_secure: bool
    can_have_focus: bool
    bounds: Rect

    @property
    def title(self) -> str:
        """`Window{hash user name}`; the hash is the same for the same window."""
        return f"Window{{{zlib.crc32(self.name.encode()) & 0xFFFFFFF:07x} u0 {self.name}}}"


def _lines(phone: Phone) -> list[_Line]:
    """Return the windows, top to bottom, the one with focus among them."""
    screen = phone.display.rect
    if phone.scene is not None:
        name = f"{phone.package}/{phone.activity}"
        return [_Line(name, phone.package, TYPES["app"], phone.is_secure, True, screen)]
    lines: list[_Line] = []
    for window in reversed(phone.windows()):
        type = "APPLICATION" if window.kind == "app" and window.is_dialog else TYPES[window.kind]
        can = window.kind not in ("overlay", "keyboard")
        bounds = window.box(screen) if window.box is not None else screen
        lines.append(_Line(window.name, window.package, type, window.is_secure, can, bounds))
    return lines


def _focused(phone: Phone) -> _Line | None:
    """Return the window with focus; a dark screen has none."""
    if not phone.screen_on:
        return None
    return next((line for line in _lines(phone) if line.can_have_focus), None)


def _window(phone: Phone, words: list[str]) -> str:
    phone.look()
    focus, record = _focused(phone), app_record(phone)
    locked, secure = str(phone.keyguard.is_showing).lower(), str(phone.keyguard.is_secure).lower()
    out = [] if words[:1] == ["policy"] else ["WINDOW MANAGER WINDOWS (dumpsys window windows)\n"]
    for number, line in enumerate(_lines(phone) if out else []):
        flags = "LAYOUT_IN_SCREEN LAYOUT_INSET_DECOR "
        flags += "" if line.can_have_focus else "NOT_FOCUSABLE NOT_TOUCH_MODAL "
        flags += "SECURE " if line.is_secure else ""
        owner = phone.packages[line.package].uid if line.package in phone.packages else 1000
        b, screen = line.bounds, phone.display.rect
        frame, given = b, ""
        if line.type == TYPES["keyboard"]:
            # An input method's window fills the screen; what of it takes touches is said apart.
            frame = screen
            given = (
                "    mTouchableInsets=3 mGivenInsetsPending=false\n"
                f"    touchable region=SkRegion(({b.left},{b.top},{b.right},{b.bottom}))\n"
            )
        whole = f"[0,0][{screen.width},{screen.height}]"
        place = f"[{frame.left},{frame.top}][{frame.right},{frame.bottom}]"
        out.append(
            f"  Window #{number} {line.title}:\n"
            f"    mDisplayId=0 rootTaskId=12 mSession=Session{{8d2f 2000:u0a10}} mClient=android.os.Proxy@5c1f\n"
            f"    mOwnerUid={owner} showForAllUsers=false package={line.package} appop=NONE\n"
            f"    mAttrs={{(0,0)(fillxfill) sim={{adjust=resize}} ty={line.type} wanim=0x10302f8\n"
            f"      fl={flags}SPLIT_TOUCH HARDWARE_ACCELERATED\n"
            f"      pfl=FORCE_DRAW_STATUS_BAR_BACKGROUND USE_BLAST}}\n"
            f"    mViewVisibility=0x0 mHaveFrame=true mObscured=false\n"
            f"{given}"
            f"    mHasSurface=true isReadyForDisplay()=true\n"
            f"    Frames: parent={whole} display={whole} frame={place} last={place} insetsChanged=false\n"
            f"    isOnScreen=true\n"
            f"    isVisible=true\n"
        )
    out.append(
        f"  mCurrentFocus={focus.title if focus is not None else 'null'}\n"
        f"  mFocusedApp=ActivityRecord{{a1b2c3d u0 {record} t12}}\n"
        f"  mRotation={phone.display.rotation}\n"
        f"  mAwake={str(phone.screen_on).lower()}\n"
        f"  mDreamingLockscreen={locked}\n"
        f"  isKeyguardShowing={locked}\n"
        f"  KeyguardServiceDelegate\n"
        f"    showing={locked}\n"
        f"    secure={secure}\n"
        f"    screenState={'SCREEN_STATE_ON' if phone.screen_on else 'SCREEN_STATE_OFF'}\n"
    )
    return "".join(out)


def _input(phone: Phone, _: list[str]) -> str:
    """Say how the touch screen lies, as tools for streams read it."""
    screen, rotation = phone.display.rect, phone.display.rotation
    return (
        "INPUT MANAGER (dumpsys input)\n"
        "  Device 1: virtual-touchscreen\n"
        f"    SurfaceWidth: {screen.width}px\n    SurfaceHeight: {screen.height}px\n"
        f"    SurfaceOrientation: {rotation}\n"
    )


def _display(phone: Phone, _: list[str]) -> str:
    phone.look()
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
        f"    firstInstallTime=2026-01-01 00:00:00\n    lastUpdateTime=2026-01-01 00:00:00\n"
        f"{_granted(phone, package.name)}"
    )


def _granted(phone: Phone, package: str) -> str:
    """Return the runtime permissions as the package manager prints them."""
    kept = phone.permissions.granted.get(package)
    if not kept:
        return ""
    lines = [
        f"        {name}: granted={str(is_granted).lower()}, flags=[ {_flags(phone, package, name)}]\n"
        for name, is_granted in sorted(kept.items())
    ]
    return "    User 0: ceDataInode=0 installed=true\n      runtime permissions:\n" + "".join(lines)


def _flags(phone: Phone, package: str, permission: str) -> str:
    refused = phone.permissions.refused.get((package, permission), 0)
    return ["", "USER_SET ", "USER_SET|USER_FIXED "][min(2, refused)]


def _notification(phone: Phone, words: list[str]) -> str:
    """List what is posted; titles and texts only with `--noredact`, as on a phone."""
    out = ["Current Notification Manager state:\n  Notification List:\n"]
    for n in phone.notifications.shown:
        title, text = (n.title, n.text) if "--noredact" in words else ("...", "...")
        out.append(
            f"    NotificationRecord(0x0{n.number:06x}: pkg={n.package} user=UserHandle{{0}} id={n.number} tag=null "
            f"importance=3 key={n.key})\n"
            f"      uid={phone.packages[n.package].uid if n.package in phone.packages else 0} userId=0\n"
            f"      opPkg={n.package}\n"
            f"      extras={{\n"
            f"          android.title=String ({title})\n"
            f"          android.text=String ({text})\n"
            f"      }}\n"
        )
    return "".join(out)


def _trust(phone: Phone, _: list[str]) -> str:
    locked = int(phone.keyguard.is_showing and phone.keyguard.is_secure)
    return f'Trust manager state:\n User "Owner" (id=0, flags=0x4c13) (current): trusted=0, deviceLocked={locked}\n'


def _input_method(phone: Phone, _: list[str]) -> str:
    """Say which keyboard is chosen, whether its window is shown, and which view it serves."""
    phone.look()
    ime = phone.settings.get("secure", "default_input_method")
    is_shown = phone.screen_on and (phone.stack if phone.scene is None else phone.scene).has_keyboard
    shown, field = str(is_shown).lower(), phone.top.focus if phone.scene is None else None
    served = (
        f"android.widget.EditText{{5d2ab1 VFED..CL. .F...... app:id/{field.name}}}" if field is not None else "null"
    )
    return (
        "Current Input Method Manager state:\n"
        f"  mCurMethodId={ime}\n  mCurId={ime} mHaveConnection=true mBoundToMethod=true\n"
        f"  mShowRequested={shown} mShowExplicitlyRequested=false mShowForced=false mInputShown={shown}\n"
        f"  mImeWindowVis={'3' if is_shown else '0'}\n"
        f"Input method client state:\n  mServedView={served}\n"
        f"Input method service state for {ime}:\n  mWindowVisible={shown} mDecorViewVisible={shown}\n"
        f"  mIsInputViewShown={shown}\n"
    )


def _wifi(phone: Phone, _: list[str]) -> str:
    state = "enabled" if phone.wifi.is_on else "disabled"
    ssid = f'"{phone.wifi.connected}"' if phone.wifi.connected else "<unknown ssid>"
    return f"Wi-Fi is {state}\nmWifiInfo SSID: {ssid}\n"


def _surface_flinger(_: Phone, __: list[str]) -> str:
    return f'Display {DISPLAY_ID} (HWC display 0): port=0 pnpId=VRT displayName="Virtual"\n'


SERVICES: Final[dict[str, Callable[[Phone, list[str]], str]]] = {
    "window": _window,
    "activity": activity,
    "display": _display,
    "power": _power,
    "battery": _battery,
    "package": _package,
    "input": _input,
    "input_method": _input_method,
    "wifi": _wifi,
    "SurfaceFlinger": _surface_flinger,
    "notification": _notification,
    "trust": _trust,
}


async def dumpsys(job: Job) -> int:
    """Run `dumpsys SERVICE [ARGUMENT...]`."""
    async with job.context.trouble.call("dumpsys") as met:
        if "dumpsys-cut" in met:
            cut_reply(lambda: None)
        return _dumpsys(job)


def _dumpsys(job: Job) -> int:
    words = [word for word in job.args[1:] if word in ("-3", "--noredact") or not word.startswith("-")]
    service = SERVICES.get(words[0]) if words else None
    if service is None:
        return job.fail(f"Can't find service: {' '.join(words[:1])[:100]}", 0)
    try:
        with job.phone.lock:
            job.out += service(job.phone, words[1:]).encode("utf-8", "replace")
    except NotTold as problem:
        return job.fail(str(problem))
    return 0
