"""Tools that touch no phone: letting time pass, and saying that the goal is reached or cannot be."""

from __future__ import annotations

from typing import ClassVar

from pydantic import Field

from droidpilot.core.calls import Effect, Tier
from droidpilot.core.text import one_line, shorten
from droidpilot.screens.screen import Screen
from droidpilot.tools.registry import Aim, Arguments, Done, Phone, Scene


class _NoPhone:
    """What tools without a phone have in common."""

    effect: ClassVar[Effect] = Effect.READ
    tier: ClassVar[Tier] = Tier.FULL
    needs_screen: ClassVar[bool] = False

    def look_after(self, arguments: Arguments, aim: Aim, before: Screen, after: Screen) -> bool | None:
        return None


class WaitArguments(Arguments):
    ms: int = Field(default=1000, ge=100, le=15_000, description="milliseconds, 100 to 15000", examples=[1000])


class Wait(_NoPhone):
    name: ClassVar[str] = "wait"
    summary: ClassVar[str] = (
        "Let time pass, for something slow; then look. Results already wait until the screen is still."
    )
    arguments: ClassVar[type[Arguments]] = WaitArguments

    def aim(self, arguments: WaitArguments, scene: Scene | None) -> Aim:
        return Aim(sentence=f"Wait {arguments.ms} ms")

    def run(self, arguments: WaitArguments, aim: Aim, phone: Phone) -> Done:
        with phone.stop.interruptible():
            phone.clock.sleep(min(arguments.ms / 1000, phone.deadline.left_s()))
        return Done(text=f"Waited {arguments.ms} ms.")


class DoneArguments(Arguments):
    summary: str = Field(
        max_length=2000,
        description="what was done, or why it cannot be done; one or two sentences",
        examples=["Wi-Fi is on."],
    )


class Finish(_NoPhone):
    name: ClassVar[str] = "done"
    summary: ClassVar[str] = "End the task: when the goal is reached, or when it cannot be. Say which."
    arguments: ClassVar[type[Arguments]] = DoneArguments

    def aim(self, arguments: DoneArguments, scene: Scene | None) -> Aim:
        return Aim(sentence=f"Finish: {shorten(one_line(arguments.summary), 120)}")

    def run(self, arguments: DoneArguments, aim: Aim, phone: Phone) -> Done:
        return Done(text="The session ends.", value=arguments.summary, ends="done")
