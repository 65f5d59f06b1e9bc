"""All tools that exist, in the order in which the model sees them."""

from __future__ import annotations

from droidpilot.tools.apps import OpenApp
from droidpilot.tools.control import Finish, Wait
from droidpilot.tools.observe import ListApps, ReadSetting, UiTree
from droidpilot.tools.picture import Screenshot
from droidpilot.tools.registry import Registry
from droidpilot.tools.text import Press, TypeText
from droidpilot.tools.touch import LongPress, Scroll, Swipe, Tap


def all_tools() -> Registry:
    """Return every tool. The order is part of the prompt's stable prefix: add at the end, before done."""
    return Registry.of(
        [
            UiTree(),
            Tap(),
            LongPress(),
            Swipe(),
            Scroll(),
            TypeText(),
            Press(),
            OpenApp(),
            ListApps(),
            Wait(),
            ReadSetting(),
            Screenshot(),
            Finish(),
        ]
    )
