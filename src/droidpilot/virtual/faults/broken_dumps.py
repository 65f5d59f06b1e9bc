"""How a reading of the screen fails on real phones: by the in-phone server, and by `uiautomator dump`.

Source: messages of AOSP's uiautomator command, of AndroidX UiAutomator and of u2.jar, as public bug reports quote them.
This file must never know a wire.
"""

from __future__ import annotations

from typing import Final

_JAVA: Final = {
    "illegal-character": (
        "java.lang.IllegalArgumentException",
        "java.lang.IllegalArgumentException: Illegal character (U+d83d)\n"
        "\tat com.android.org.kxml2.io.KXmlSerializer.reportInvalidCharacter(KXmlSerializer.java:144)",
    ),
    "idle": (
        "java.lang.RuntimeException",
        "java.util.concurrent.TimeoutException: No idle state with idle timeout: 500 within global timeout: 10000\n"
        "\tat android.app.UiAutomation.waitForIdle(UiAutomation.java:905)",
    ),
    "null-root": (
        "java.lang.IllegalStateException",
        "java.lang.IllegalStateException: null root node returned by UiTestAutomationBridge\n\tat com.wetest.uia2",
    ),
    "no-window": (
        "java.lang.IllegalStateException",
        "java.lang.IllegalStateException: No active window or root filtered out\n\tat com.wetest.uia2",
    ),
}
_PRINTED: Final = {
    "illegal-character": (
        "java.lang.IllegalArgumentException: Illegal character (d83d)\n"
        "\tat org.kxml2.io.KXmlSerializer.reportInvalidCharacter(KXmlSerializer.java:144)",
        1,
    ),
    # These exit with 0 on real phones.
    "idle": ("ERROR: could not get idle state.", 0),
    "null-root": ("ERROR: null root node returned by UiTestAutomationBridge.", 0),
    "no-window": ("ERROR: No active window or root filtered out.", 0),
}
_EMPTY: Final = "<?xml version='1.0' encoding='UTF-8' standalone='yes' ?>\r\n<hierarchy rotation=\"0\" />"


def java_error(kind: str) -> tuple[str, str] | None:
    """Return (class, stack trace) that the in-phone server answers with; None where it answers with a text."""
    return _JAVA.get(kind)


def java_error_of(line: str) -> tuple[str, str]:
    """Return (class, stack trace) with which the in-phone server answers where `uiautomator dump` prints this line."""
    for kind, (printed, _) in _PRINTED.items():
        if kind in _JAVA and printed.partition("\n")[0].strip(".").lower() in line.lower():
            return _JAVA[kind]
    name = line.partition(":")[0]
    java = name if name.startswith(("java.", "android.")) else "java.lang.RuntimeException"
    return java, f"{line}\n\tat com.wetest.uia2"


def printed_error(kind: str) -> tuple[str, int] | None:
    """Return (line, exit code) of `uiautomator dump`; None where it writes a file."""
    return _PRINTED.get(kind)


def spoil(kind: str, text: str) -> str:
    """Return the hierarchy as a phone with that failure would write it."""
    match kind:
        case "empty":
            return ""
        case "no-hierarchy":
            return _EMPTY
        case "garbled":
            return text[: len(text) // 3] + "\x00\x1b<<&;" + text[len(text) // 2 :]
        case "cut":
            return text[: len(text) // 2]
        case "trailing":
            return text + "UI hierchary dumped to: /dev/tty\n\x00\x00\x00"
        case _:
            return text
