"""The methods of the in-phone server, as an explicit table. What is not in the table does not exist.

Source: the interface of u2.jar 0.4.1. This file must never know HTTP.
"""

from __future__ import annotations

import asyncio
import base64
from typing import Final

from droidpilot.virtual.faults.faults import Kind
from droidpilot.virtual.rpc import gestures
from droidpilot.virtual.rpc.caller import CONFIGURATOR, Caller, Method, Params, first_of
from droidpilot.virtual.rpc.compressing import compressed
from droidpilot.virtual.rpc.objects import OBJECT_METHODS
from droidpilot.virtual.rpc.values import BadParams, describe_node, flag_at, number_at, text_at, whole_at
from droidpilot.virtual.ui.hierarchy import DEFAULT_DEPTH
from droidpilot.virtual.ui.keys import MAX_CODE, SERVER_NAMES

MAX_WAIT_MS: Final = 120_000
SHELL_MS: Final = 60_000
TIMED_OUT: Final = 124
ORIENTATIONS: Final = {"natural": 0, "n": 0, "left": 1, "l": 1, "upsidedown": 2, "u": 2, "right": 3, "r": 3}
"""Quarter turns by the names that the client and the server in the phone use."""


def _device_info(caller: Caller, _: Params) -> object:
    caller.phone.look()
    display = caller.phone.display
    screen = display.rect
    return {
        "currentPackageName": caller.phone.package,
        "displayHeight": screen.height,
        "displayWidth": screen.width,
        "displayRotation": display.rotation,
        "displaySizeDpX": screen.width * 160 // display.dpi,
        "displaySizeDpY": screen.height * 160 // display.dpi,
        "productName": "virtual_phone",
        "screenOn": caller.phone.screen_on,
        "sdkInt": caller.phone.sdk,
        "naturalOrientation": display.rotation % 2 == 0,
    }


def _dump(caller: Caller, params: Params) -> object:
    is_compressed = caller.trouble.compresses(flag_at(params, 0, False) if params else None)
    text = caller.phone.dump(whole_at(params, 1, DEFAULT_DEPTH))
    return compressed(text) if is_compressed else text


async def _shell(caller: Caller, params: Params) -> object:
    """Run a line in the mini shell, for so many ms at most."""
    line, at_most_ms = text_at(params, 0), whole_at(params, 1, SHELL_MS)
    if caller.run_line is None or not 0 < at_most_ms <= MAX_WAIT_MS:
        raise BadParams(f"a time is 1 to {MAX_WAIT_MS} ms")
    try:
        async with asyncio.timeout(at_most_ms / 1000):
            code, out, errors = await caller.run_line(line)
    except TimeoutError:
        code, out, errors = TIMED_OUT, b"", b"timed out\n"
    return {
        "stdout": out.decode("utf-8", "replace"),
        "stderr": errors.decode("utf-8", "replace"),
        "returnCode": code,
    }


async def _screenshot(caller: Caller, params: Params) -> object:
    scale = number_at(params, 0) if params else 1.0
    if not 0 < scale <= 1:
        raise BadParams("a scale is above 0 and at most 1")
    return base64.b64encode(await caller.camera.jpeg(scale, whole_at(params, 1, 80))).decode("ascii")


def _press_key(caller: Caller, params: Params) -> object:
    code = SERVER_NAMES.get(text_at(params, 0).lower())
    if code is None:
        return False
    caller.touch.key(code)
    return True


def _press_key_code(caller: Caller, params: Params) -> object:
    code = whole_at(params, 0)
    if not 0 < code <= MAX_CODE:
        return False
    caller.touch.key(code)
    return True


def _count(caller: Caller, params: Params) -> object:
    return len(caller.nodes(first_of(params)))


def _exist(caller: Caller, params: Params) -> object:
    return bool(caller.nodes(first_of(params)))


def _info(caller: Caller, params: Params) -> object:
    return describe_node(caller.node(first_of(params)))


def _all_infos(caller: Caller, params: Params) -> object:
    return [describe_node(node) for node in caller.nodes(first_of(params))]


async def _wait_for(caller: Caller, params: Params) -> object:
    selector, at_most = first_of(params), min(MAX_WAIT_MS, whole_at(params, 1, 0))
    return await caller.poll(lambda: bool(caller.nodes(selector)), at_most)


async def _wait_gone(caller: Caller, params: Params) -> object:
    selector, at_most = first_of(params), min(MAX_WAIT_MS, whole_at(params, 1, 0))
    return await caller.poll(lambda: not caller.nodes(selector), at_most)


def _get_text(caller: Caller, params: Params) -> object:
    return caller.node(first_of(params)).text


def _set_text(caller: Caller, params: Params) -> object:
    text = text_at(params, 1)
    return caller.touch.set_text(caller.node(first_of(params)), text)


def _clear_field(caller: Caller, params: Params) -> object:
    caller.touch.set_text(caller.node(first_of(params)), "")
    return None


def _clear_input(caller: Caller, _: Params) -> object:
    caller.touch.clear_focused()
    return None


def _set_clipboard(caller: Caller, params: Params) -> object:
    caller.phone.clipboard = text_at(params, 1)
    return None


def _paste(caller: Caller, _: Params) -> object:
    return caller.touch.type_text(caller.phone.clipboard, kind="paste")


def _clear_toast(caller: Caller, _: Params) -> object:
    caller.phone.last_toast = None
    return None


def _power(is_on: bool) -> Method:
    def switch(caller: Caller, _: Params) -> object:
        caller.phone.inputs.note("power", on=is_on)
        caller.touch.power(is_on)
        return None

    return switch


def _set_orientation(caller: Caller, params: Params) -> object:
    """Turn the display and hold it so. Source: UiDevice.setOrientationLeft and its siblings."""
    rotation = ORIENTATIONS.get(text_at(params, 0).lower())
    if rotation is None:
        return False
    with caller.phone.lock:
        caller.phone.orientation.freeze(rotation)
    return True


def _freeze_rotation(caller: Caller, params: Params) -> object:
    with caller.phone.lock:
        if flag_at(params, 0, True):
            caller.phone.orientation.freeze()
        else:
            caller.phone.orientation.thaw()
    return None


def _open_shade(*, is_quick: bool) -> Method:
    def pull(caller: Caller, _: Params) -> object:
        phone = caller.phone
        if phone.screen_on and not phone.keyguard.is_showing:
            phone.later(lambda: phone.shade.open(is_quick=is_quick))
        return True

    return pull


def _set_configurator(caller: Caller, params: Params) -> object:
    given = first_of(params)
    if not isinstance(given, dict):
        raise BadParams("a configurator is an object")
    caller.configurator |= {k: v for k, v in given.items() if k in CONFIGURATOR and isinstance(v, int)}
    return caller.configurator


def _launch(caller: Caller, params: Params) -> object:
    return caller.phone.start(text_at(params, 0))


async def _idle(caller: Caller, params: Params) -> object:
    at_most = min(MAX_WAIT_MS, whole_at(params, 0, 10_000))
    await caller.poll(lambda: caller.phone.is_idle, at_most)
    return None


METHODS: Final[dict[str, Method]] = {
    "ping": lambda _, __: "pong",
    "deviceInfo": _device_info,
    "dumpWindowHierarchy": _dump,
    "takeScreenshot": _screenshot,
    "click": gestures.click,
    "longClick": gestures.long_click,
    "swipe": gestures.swipe,
    "swipePoints": gestures.swipe_points,
    "drag": gestures.drag,
    "dragTo": gestures.drag_to,
    "injectInputEvent": gestures.finger,
    "pressKey": _press_key,
    "pressKeyCode": _press_key_code,
    "exist": _exist,
    "count": _count,
    "objInfo": _info,
    "objInfoOfAllInstances": _all_infos,
    "waitForExists": _wait_for,
    "waitUntilGone": _wait_gone,
    "getText": _get_text,
    "setText": _set_text,
    "clearTextField": _clear_field,
    "clearInputText": _clear_input,
    "setClipboard": _set_clipboard,
    "getClipboard": lambda caller, _: caller.phone.clipboard,
    "pasteClipboard": _paste,
    "getLastToast": lambda caller, _: caller.phone.last_toast,
    "clearLastToast": _clear_toast,
    "getLastTraversedText": lambda _, __: None,
    "clearLastTraversedText": lambda _, __: None,
    "wakeUp": _power(True),
    "sleep": _power(False),
    "isScreenOn": lambda caller, _: caller.phone.screen_on,
    "setOrientation": _set_orientation,
    "freezeRotation": _freeze_rotation,
    "openNotification": _open_shade(is_quick=False),
    "openQuickSettings": _open_shade(is_quick=True),
    "scrollForward": gestures.scroll_once(is_forward=True),
    "scrollBackward": gestures.scroll_once(is_forward=False),
    "scrollToEnd": gestures.scroll_all(is_forward=True),
    "scrollToBeginning": gestures.scroll_all(is_forward=False),
    "scrollTo": gestures.scroll_to,
    "flingForward": gestures.scroll_once(is_forward=True, steps=5),
    "flingBackward": gestures.scroll_once(is_forward=False, steps=5),
    "flingToEnd": gestures.scroll_all(is_forward=True, steps=5),
    "flingToBeginning": gestures.scroll_all(is_forward=False, steps=5),
    "waitForIdle": _idle,
    "getConfigurator": lambda caller, _: caller.configurator,
    "setConfigurator": _set_configurator,
    "launchApp": _launch,
    "executeShellCommand": _shell,
    **OBJECT_METHODS,
}

INPUTS: Final[frozenset[str]] = frozenset(
    {
        *(
            "click",
            "longClick",
            "swipe",
            "swipePoints",
            "drag",
            "dragTo",
            "injectInputEvent",
            "pressKey",
            "pressKeyCode",
        ),
        *("setText", "clearTextField", "clearInputText", "pasteClipboard"),
        *("scrollForward", "scrollBackward", "scrollToEnd", "scrollToBeginning", "scrollTo"),
        *("gesture", "pinchIn", "pinchOut"),
        *("flingForward", "flingBackward", "flingToEnd", "flingToBeginning"),
    }
)
"""Methods that touch or type: they come one after another, as on a real phone."""
KIND_OF: Final[dict[str, Kind]] = {
    **dict.fromkeys(INPUTS, "input"),
    "dumpWindowHierarchy": "dump",
    "takeScreenshot": "picture",
    "launchApp": "start",
}
"""What a method's call counts as, beside being an RPC."""
