"""Apps: bringing one to the front. It is judged by the package that opens, not by the app in front now (INV-14)."""

from __future__ import annotations

from collections.abc import Sequence
from typing import ClassVar

from pydantic import Field

from droidpilot.core.calls import Effect, Tier
from droidpilot.core.errors import TargetError
from droidpilot.core.text import shorten
from droidpilot.device.driver import App
from droidpilot.screens.labels import clean
from droidpilot.screens.screen import Screen
from droidpilot.tools.registry import Aim, Arguments, Done, Phone, Scene
from droidpilot.tools.touch import in_quotes


class OpenAppArguments(Arguments):
    app: str = Field(min_length=1, max_length=200, description="the app's label or package", examples=["Settings"])


def find_app(apps: Sequence[App], wanted: str) -> App:
    """Find one app by package or label, exactly but for case; a part of a name only suggests (T26).

    Raises:
        TargetError: no_app or ambiguous_app, naming candidates.
    """
    folded = clean(wanted).casefold()
    by_package = [app for app in apps if app.package == wanted.strip()]
    exact = by_package or [app for app in apps if folded in (app.package.casefold(), clean(app.label).casefold())]
    if len(exact) == 1:
        return exact[0]
    near = exact or [app for app in apps if folded in app.package.casefold() or folded in clean(app.label).casefold()]
    names = ", ".join(f"{shorten(clean(app.label), 40)} ({app.package})" for app in near[:5])
    if exact:
        raise TargetError(
            f'several apps are called "{shorten(wanted, 40)}": {names}', code="ambiguous_app", hint="give the package"
        )
    raise TargetError(
        f'no app is called "{shorten(wanted, 40)}"',
        code="no_app",
        hint=f"perhaps {names}" if near else "see list_apps",
    )


class OpenApp:
    name: ClassVar[str] = "open_app"
    summary: ClassVar[str] = "Bring an app to the front, by its label or package."
    arguments: ClassVar[type[Arguments]] = OpenAppArguments
    effect: ClassVar[Effect] = Effect.WRITE
    tier: ClassVar[Tier] = Tier.RECONCILABLE
    needs_screen: ClassVar[bool] = True

    def aim(self, arguments: OpenAppArguments, scene: Scene) -> Aim:
        app = find_app(scene.apps(), arguments.app)
        return Aim(
            sentence=f"Open {in_quotes(clean(app.label))}",
            package=app.package,
            words=(app.label,),
            is_matchable=True,
            plan=app,
        )

    def run(self, arguments: OpenAppArguments, aim: Aim, phone: Phone) -> Done:
        app: App = aim.plan
        phone.driver.start_app(app.package, phone.deadline)
        return Done(text="")

    def look_after(self, arguments: Arguments, aim: Aim, before: Screen, after: Screen) -> bool | None:
        """The app in front tells, unless it was there before."""
        if before.package == aim.package:
            return None
        return True if after.package == aim.package else None
