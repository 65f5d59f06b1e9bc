"""Reads: the screen, the list of apps, a setting."""

from __future__ import annotations

from typing import ClassVar, Literal

from pydantic import Field

from droidpilot.core.calls import Effect, Tier
from droidpilot.screens.labels import clean
from droidpilot.screens.render import neutral
from droidpilot.screens.screen import Screen
from droidpilot.tools.registry import Aim, Arguments, Done, NoArguments, Phone, Scene


class Read:
    """What reads have in common: nothing to undo and nothing to find out later."""

    effect: ClassVar[Effect] = Effect.READ
    tier: ClassVar[Tier] = Tier.FULL
    needs_screen: ClassVar[bool] = True

    def look_after(self, arguments: Arguments, aim: Aim, before: Screen, after: Screen) -> bool | None:
        return None


class UiTreeArguments(Arguments):
    from_ref: int | None = Field(
        default=None, ge=1, description="only where a screen was cut: the ref it names to go on from", examples=[57]
    )


class UiTree(Read):
    name: ClassVar[str] = "ui_tree"
    summary: ClassVar[str] = (
        "Look at the screen. Each line is one thing to use (beginning with its ref) or to read (beginning with -). "
        "Results of other tools already show what changed, so look only when that is not enough."
    )
    arguments: ClassVar[type[Arguments]] = UiTreeArguments

    def aim(self, arguments: UiTreeArguments, scene: Scene) -> Aim:
        return Aim(sentence="Look at the screen", package=scene.screen.package)

    def run(self, arguments: UiTreeArguments, aim: Aim, phone: Phone) -> Done:
        screen = phone.look()
        return Done(text="", value=screen, screen=screen, from_ref=arguments.from_ref)


class ListApps(Read):
    name: ClassVar[str] = "list_apps"
    summary: ClassVar[str] = "List the apps that can be opened, as `label - package`."
    arguments: ClassVar[type[Arguments]] = NoArguments

    def aim(self, arguments: NoArguments, scene: Scene) -> Aim:
        return Aim(sentence="List the apps", package=scene.screen.package)

    def run(self, arguments: NoArguments, aim: Aim, phone: Phone) -> Done:
        apps = phone.driver.apps(phone.deadline)
        # An app names itself: its label is untrusted text (A09), so it is cleaned and the package stands beside it.
        return Done(
            text="\n".join(f"{neutral(clean(app.label))} - {app.package}" for app in apps) or "No apps found.",
            value=apps,
        )


class ReadSettingArguments(Arguments):
    namespace: Literal["system", "secure", "global"] = Field(
        description="system, secure or global", examples=["global"]
    )
    key: str = Field(
        pattern=r"^[A-Za-z0-9_.:/-]{1,200}$", description="name of the setting, e.g. wifi_on", examples=["wifi_on"]
    )


class ReadSetting(Read):
    name: ClassVar[str] = "read_setting"
    summary: ClassVar[str] = "Read one Android setting, e.g. global wifi_on."
    arguments: ClassVar[type[Arguments]] = ReadSettingArguments

    def aim(self, arguments: ReadSettingArguments, scene: Scene) -> Aim:
        path = f"{arguments.namespace}/{arguments.key}"
        return Aim(
            sentence=f"Read the setting {path}",
            package=scene.screen.package,
            words=(path,),
            is_matchable=True,
        )

    def run(self, arguments: ReadSettingArguments, aim: Aim, phone: Phone) -> Done:
        value = phone.driver.read_setting(arguments.namespace, arguments.key, phone.deadline)
        shown = "is not set" if value is None else f"= {neutral(clean(value))}"
        return Done(text=f"{arguments.namespace}/{arguments.key} {shown}", value=value)
