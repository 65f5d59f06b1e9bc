"""Text and keys: type_text and press.

A text goes in by the field's own setText, which needs no keyboard. Where the phone refuses that, and has thereby done
nothing, a second route is taken and said: key presses for what keys can make, else AdbKeyboard where the settings let
the keyboard be switched. A text that no route can carry is refused before anything is sent. Each is tried once.
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import ClassVar, Literal

from pydantic import Field, field_validator

from droidpilot.core.calls import Effect, Tier
from droidpilot.core.errors import DeviceRefused, TargetError
from droidpilot.device.driver import KEYS
from droidpilot.device.keystrokes import untypable
from droidpilot.policy.risk import secret_name
from droidpilot.screens.hierarchy import Bounds, Hierarchy, Node
from droidpilot.screens.labels import clean
from droidpilot.screens.screen import Screen
from droidpilot.screens.selector import Selector
from droidpilot.tools.enter import CONFIRMING, default_buttons
from droidpilot.tools.read_back import ReadBack, compare, content_of, finding_of
from droidpilot.tools.registry import Aim, Arguments, Done, Finding, Phone, Scene
from droidpilot.tools.touch import REF, in_quotes, name_of


class TypeTextArguments(Arguments):
    text: str = Field(max_length=5000, description="exactly what shall stand in the field", examples=["hello"])
    ref: int | None = REF
    mode: Literal["replace", "append"] = Field(default="replace", description="replace what stands there, or add to it")

    @field_validator("text")
    @classmethod
    def no_nul(cls, text: str) -> str:
        if "\x00" in text:
            raise ValueError("a NUL character cannot be typed")
        return text


@dataclass(frozen=True, slots=True)
class _Typing:
    """What `run` needs: how the phone finds the field, where it lies, and the whole text it shall hold.

    Keys add `keys` to what stands there, after deleting `erase` characters.
    """

    field: Selector
    bounds: Bounds
    text: str
    keys: str
    erase: int
    is_secret: bool


def selector_of(hierarchy: Hierarchy, node: Node) -> Selector:
    """Describe `node` so that the phone finds exactly it: class, id and package, and its number among equals."""
    plain = Selector(cls=node.cls, resource_id=node.resource_id, package=node.package)
    equals = [other.index for other in plain.find(hierarchy)]
    return Selector(cls=node.cls, resource_id=node.resource_id, package=node.package, instance=equals.index(node.index))


#: Codes of a driver that will not fill a field, and what they mean. It has done nothing then.
_REFUSALS = {
    "not_editable": "the phone does not let this field be filled",
    "untypable": "without the helper this phone is typed into by keys",
}


class TypeText:
    name: ClassVar[str] = "type_text"
    summary: ClassVar[str] = "Put text into a field: the one with the ref, or the focused one. It does not press enter."
    arguments: ClassVar[type[Arguments]] = TypeTextArguments
    effect: ClassVar[Effect] = Effect.WRITE
    tier: ClassVar[Tier] = Tier.RECONCILABLE
    needs_screen: ClassVar[bool] = True

    def aim(self, arguments: TypeTextArguments, scene: Scene) -> Aim:
        screen = scene.screen
        field = self._field(arguments, scene)
        text = arguments.text
        is_secret = scene.is_secret(field) or bool(secret_name((field.desc, field.hint), (field.resource_id,)))
        if arguments.mode == "append":
            if is_secret:
                raise TargetError(
                    "what stands in a password field cannot be read, so nothing can be added to it",
                    code="no_field",
                    hint="use mode replace with the whole text",
                )
            text = content_of(field) + text
        said = "a secret" if is_secret else in_quotes(clean(arguments.text))
        verb = "Add" if arguments.mode == "append" else "Type"
        above = tuple(node for node in screen.hierarchy.ancestors(field) if node.clickable or node.long_clickable)
        # A line break may be taken as enter, which presses the form's button (A29).
        presses = "\n" in arguments.text or "\r" in arguments.text
        buttons = tuple(default_buttons(screen.hierarchy)) if presses else ()
        return Aim(
            sentence=f"{verb} {said} into {name_of(screen, field)}",
            package=field.package or screen.package,
            nodes=(field, *above),
            maybe=buttons,
            words=(arguments.text,),
            is_matchable=True,
            is_secret=is_secret,
            also_as=("press",) if presses else (),
            plan=_Typing(
                field=selector_of(screen.hierarchy, field),
                bounds=field.bounds,
                text=text,
                keys=arguments.text,
                erase=0 if arguments.mode == "append" else len(content_of(field)),
                is_secret=is_secret,
            ),
        )

    def run(self, arguments: TypeTextArguments, aim: Aim, phone: Phone) -> Done:
        plan: _Typing = aim.plan
        try:
            phone.driver.set_text(plan.field, plan.bounds, plan.text, phone.deadline)
        except DeviceRefused as error:
            # Only what proves that nothing was done lets another route be tried.
            if error.code not in _REFUSALS or error.sent != "no":
                raise
            return Done(text=_by_another_route(plan, phone, error.code))
        return Done(text="")

    def look_after(self, arguments: Arguments, aim: Aim, before: Screen, after: Screen) -> bool | None:
        """The field tells, unless it hides what it holds; it does not tell what a line break pressed."""
        plan: _Typing = aim.plan
        found = plan.field.find(after.hierarchy)
        if len(found) != 1 or found[0].password or plan.is_secret or aim.maybe:
            return None
        return True if compare(plan.text, found[0]) is ReadBack.EXACT else None

    def read_back(self, arguments: Arguments, aim: Aim, after: Screen) -> Finding:
        """The field tells what became of the text."""
        plan: _Typing = aim.plan
        return finding_of(plan.text, plan.field.find(after.hierarchy), is_secret=plan.is_secret)

    def _field(self, arguments: TypeTextArguments, scene: Scene) -> Node:
        if arguments.ref is not None:
            field = scene.find(arguments.ref)
            if not field.is_editable:
                inside = [node for node in scene.screen.hierarchy.subtree(field) if node.is_editable]
                if len(inside) != 1:
                    raise TargetError(f"{name_of(scene.screen, field)} is no text field", code="no_field")
                field = inside[0]
        else:
            focused = [node for node in scene.screen.nodes if node.focused and node.is_editable]
            if len(focused) != 1:
                raise TargetError(
                    "no text field has the focus" if not focused else "several text fields claim the focus",
                    code="no_field",
                    hint="give the ref of a field",
                )
            field = focused[0]
        if not field.enabled:
            raise TargetError(f"{name_of(scene.screen, field)} is disabled", code="disabled")
        return field


def _by_another_route(plan: _Typing, phone: Phone, refusal: str) -> str:
    """Type into a field that refused to be filled, and say how.

    Raises:
        DeviceError: code `not_focused` or `no_route` (sent "no") where nothing can be tried.
    """
    beyond = untypable(plan.keys)
    keyboard = phone.keyboard if beyond else None
    if beyond and keyboard is None:
        raise _no_route(
            plan, beyond, refusal, "set `keyboard` to switch in your settings, if the phone has AdbKeyboard"
        )
    if keyboard is not None and not keyboard.is_installed(phone.deadline):
        hint = "install AdbKeyboard on the phone yourself (it comes with uiautomator2's app)"
        raise _no_route(plan, beyond, refusal, hint)
    if not phone.driver.has_focus(plan.field, plan.bounds, phone.deadline):
        raise DeviceRefused(
            f"{_REFUSALS[refusal]}, and it does not have the focus",
            code="not_focused",
            hint="tap it first; then its text goes in as key presses",
        )
    if keyboard is None:
        phone.driver.type_keys(plan.keys, phone.deadline, erase=plan.erase)
        return f"Typed as key presses: {_REFUSALS[refusal]}."
    problem = keyboard.type_text(plan.keys, phone.deadline, is_replacing=bool(plan.erase))
    back = f"But {problem}." if problem else "The phone's own keyboard is back."
    return f"Typed through AdbKeyboard: {_REFUSALS[refusal]}. {back}"


def _no_route(plan: _Typing, beyond: str, refusal: str, hint: str) -> DeviceRefused:
    which = "some of its characters" if plan.is_secret else f"the characters {_named(beyond)}"
    return DeviceRefused(f"{_REFUSALS[refusal]}, and no key makes {which}", code="no_route", hint=hint)


def _named(characters: str) -> str:
    """Name characters for a person: as they are where they can be seen, else by their number."""
    shown = [one if one.isprintable() and not one.isspace() else f"U+{ord(one):04X}" for one in characters]
    return " ".join(shown[:12]) + (f" and {len(shown) - 12} more" if len(shown) > 12 else "")


class PressArguments(Arguments):
    key: str = Field(description=f"one of {', '.join(KEYS)}", examples=["back"], json_schema_extra={"enum": list(KEYS)})

    @field_validator("key")
    @classmethod
    def known(cls, key: str) -> str:
        if key not in KEYS:
            raise ValueError(f"no such key; one of {', '.join(KEYS)}")
        return key


class Press:
    name: ClassVar[str] = "press"
    summary: ClassVar[str] = "Press a key: back, home, recents, enter, tab, the arrows (dpad_*), ..."
    arguments: ClassVar[type[Arguments]] = PressArguments
    effect: ClassVar[Effect] = Effect.WRITE
    tier: ClassVar[Tier] = Tier.PARTIAL
    needs_screen: ClassVar[bool] = True

    def aim(self, arguments: PressArguments, scene: Scene) -> Aim:
        screen = scene.screen
        nodes = tuple(default_buttons(screen.hierarchy)) if arguments.key in CONFIRMING else ()
        where = f", with {name_of(screen, nodes[0])} in focus" if nodes else ""
        return Aim(
            sentence=f"Press {arguments.key}{where}",
            package=screen.package,
            maybe=nodes,
            words=(arguments.key,),
            is_matchable=True,
            is_blind=arguments.key in CONFIRMING and not nodes,
        )

    def run(self, arguments: PressArguments, aim: Aim, phone: Phone) -> Done:
        phone.driver.press(arguments.key, phone.deadline)
        return Done(text="")

    def look_after(self, arguments: Arguments, aim: Aim, before: Screen, after: Screen) -> bool | None:
        """Another app or page in front shows that back, home or recents arrived; nothing else is proof."""
        is_away = (before.package, before.activity) != (after.package, after.activity)
        return True if is_away and aim.words[0] in ("back", "home", "recents") else None
