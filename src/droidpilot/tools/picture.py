"""Pictures: what the screen looks like, for what its text cannot tell. Taking, shrinking and waiting are the road's."""

from __future__ import annotations

from typing import ClassVar

from droidpilot.screens.hierarchy import Bounds
from droidpilot.tools.observe import Read
from droidpilot.tools.picture_frame import Taken
from droidpilot.tools.registry import Aim, Arguments, Done, NoArguments, Phone, Scene


class Screenshot(Read):
    name: ClassVar[str] = "screenshot"
    summary: ClassVar[str] = (
        "Take a picture of the screen, for what text cannot tell: images, colors, maps, games. ui_tree is cheaper."
    )
    arguments: ClassVar[type[Arguments]] = NoArguments

    def aim(self, arguments: NoArguments, scene: Scene) -> Aim:
        return Aim(sentence="Take a picture of the screen", package=scene.screen.package)

    def run(self, arguments: NoArguments, aim: Aim, phone: Phone) -> Done:
        taken = phone.picture()
        return Done(text=told(taken), value=taken, image=taken.image, looks=taken.looks)


def told(taken: Taken) -> str:
    """Say which picture follows and how to name a place in it."""
    frame = taken.frame
    display: Bounds = frame.screen.display
    size = f"Picture {frame.number} follows, {frame.width} x {frame.height} px"
    screen = f"{display.width} x {display.height}"
    if frame.screen.is_unread:
        return f"{size}. The text of this screen cannot be read, so nothing on it can be tapped: wait or go elsewhere."
    if not frame.is_fitting:
        return f"{size}. It has not the shape of the screen ({screen}): take no places from it, use refs."
    where = f"For a place in it that has no ref: x and y in its px, and picture={frame.number}."
    return f"{size}, of a screen of {screen}. {where}"
