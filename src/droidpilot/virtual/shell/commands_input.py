"""The command `input`: taps, swipes, text and keys. Texts and codes are those of Android 14.

This file must never know a view.
"""

from __future__ import annotations

from droidpilot.virtual.shell.job import Job
from droidpilot.virtual.ui.keys import key_code

MAX_SWIPE_MS = 60_000
SWIPE_MS = 300
SOURCES = frozenset({"touchscreen", "keyboard", "mouse", "stylus", "touchpad", "trackball", "dpad", "gamepad"})
MOTIONS = {"DOWN": 0, "UP": 1, "MOVE": 2}
KEY_UP, KEY_DOWN, KEY_LEFT, KEY_RIGHT, KEY_CENTER = 19, 20, 21, 22, 23
COMBINATIONS = {("113", "50"): 279, ("114", "50"): 279, ("57", "61"): 187, ("58", "61"): 187}
"""Keys held together that mean what one key means: Ctrl+V is paste, Alt+Tab the recent apps."""


async def run_input(job: Job) -> int:
    """Run `input ...`."""
    async with job.context.trouble.call("input") as met, job.context.turn:
        if "inject-denied" in met:
            return job.fail(
                "java.lang.SecurityException: Injecting to another application requires INJECT_EVENTS permission", 255
            )
        return 0 if "tap-lost" in met else await _inject(job)


async def _inject(job: Job) -> int:
    words = job.args[1:]
    if words[:1] == ["-d"]:
        words = words[2:]
    if words and words[0] in SOURCES:
        words = words[1:]
    verb, rest = (words[0], words[1:]) if words else ("", [])
    touch = job.context.touch
    took = 0
    try:
        if verb == "tap" and len(rest) == 2:
            took = touch.tap(float(rest[0]), float(rest[1]))
        elif verb in ("swipe", "draganddrop") and len(rest) in (4, 5):
            x1, y1, x2, y2 = (float(word) for word in rest[:4])
            lasts_ms = min(MAX_SWIPE_MS, int(rest[4])) if len(rest) == 5 else SWIPE_MS
            kind = "swipe" if verb == "swipe" else "drag"
            took = touch.swipe([(x1, y1), (x2, y2)], lasts_ms, kind=kind)
        elif verb == "text" and rest:
            touch.type_text(" ".join(rest).replace("%s", " "))
        elif verb == "keyevent" and rest:
            for name in rest:
                if not name.startswith("--"):
                    touch.key(key_code(name), is_long="--longpress" in rest)
        elif verb == "keycombination" and len(rest) in (2, 4):
            codes = [str(key_code(name)) for name in (rest[2:] if rest[0] == "-t" else rest)]
            touch.key(COMBINATIONS.get((codes[0], codes[1]), int(codes[1])))
        elif verb == "press" and not rest:
            touch.key(KEY_CENTER)
        elif verb == "roll" and len(rest) == 2:
            dx, dy = float(rest[0]), float(rest[1])
            touch.key((KEY_RIGHT if dx > 0 else KEY_LEFT) if abs(dx) >= abs(dy) else (KEY_DOWN if dy > 0 else KEY_UP))
        elif verb == "motionevent" and len(rest) == 3 and rest[0].upper() in MOTIONS:
            touch.finger(MOTIONS[rest[0].upper()], float(rest[1]), float(rest[2]))
        else:
            return job.fail("Error: Invalid arguments for command: " + " ".join(words)[:200], 255)
    except (ValueError, OverflowError) as problem:
        return job.fail(f"Error: {problem}", 255)
    await job.context.pause(took)
    return 0
