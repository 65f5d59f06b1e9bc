"""Text and keys: type_text and press.

A text goes in by the field's own setText, which needs no keyboard. Where the phone refuses that, and has thereby done
nothing, a second route is taken and said: key presses for what keys can make, else AdbKeyboard where the settings let
the keyboard be switched. A text that no route can carry is refused before anything is sent. Each is tried once.
"""

from __future__ import annotations

import re
from collections.abc import Sequence
from dataclasses import dataclass
from typing import ClassVar, Literal

from pydantic import Field, field_validator

from droidpilot.core.calls import Effect, Tier
from droidpilot.core.errors import DeviceRefused, TargetError
from droidpilot.device.driver import KEYS
from droidpilot.device.keystrokes import is_several_lines, untypable
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


_STANDS_THERE = (ReadBack.EXACT, ReadBack.REFORMATTED)


@dataclass(frozen=True, slots=True)
class _Typing:
    """What `run` needs: how the phone finds the field, where it lies, and the whole text it shall hold.

    Keys add `keys` to what stands there, after deleting `erase`. A field whose text is that of its hint `is_unsure`:
    then what is added goes in by keys where they can, which take nothing away; the field holds `text` after it if it
    was empty, and `text_if_full` if it was not.
    """

    field: Selector
    bounds: Bounds
    text: str
    keys: str
    erase: str
    is_secret: bool
    before: str  # what stands there, or is its hint
    is_append: bool
    is_unsure: bool

    @property
    def text_if_full(self) -> str:
        return self.before + self.text if self.is_append and self.is_unsure else self.text

    def compare(self, node: Node) -> ReadBack:
        """Compare what was to stand there with what does; of an emptied field that may have held its hint, nothing."""
        if not self.text and self.is_unsure and node.is_hint_or_text:
            return ReadBack.UNREADABLE
        return compare(self._wanted(node), node)

    def finding(self, fields: Sequence[Node]) -> Finding:
        """Say what the field holds, as `compare` does."""
        wanted = self._wanted(fields[0]) if len(fields) == 1 else self.text
        if not self.text and self.is_unsure and len(fields) == 1 and fields[0].is_hint_or_text:
            wanted = fields[0].text  # the two cannot be told apart
        return finding_of(wanted, fields, is_secret=self.is_secret)

    def _wanted(self, node: Node) -> str:
        is_full = self.text_if_full != self.text and compare(self.text_if_full, node) in _STANDS_THERE
        return self.text_if_full if is_full else self.text


def selector_of(hierarchy: Hierarchy, node: Node) -> Selector:
    """Describe `node` so that the phone finds exactly it: class, id and package, and its number among equals."""
    plain = Selector(cls=node.cls, resource_id=node.resource_id, package=node.package)
    equals = [other.index for other in plain.find(hierarchy)]
    return Selector(cls=node.cls, resource_id=node.resource_id, package=node.package, instance=equals.index(node.index))


#: Codes of a driver that will not fill a field, and what they mean. It has done nothing then.
_REFUSALS = {
    "not_editable": "the phone does not let this field be filled",
    "untypable": "without the helper this phone is typed into by keys",
    "unsure": "the field's text is that of its hint, so nobody can tell whether it is empty, and filling it replaces",
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
                erase="" if arguments.mode == "append" else content_of(field),
                is_secret=is_secret,
                before=field.text if field.is_hint_or_text else content_of(field),
                is_append=arguments.mode == "append",
                is_unsure=field.is_hint_or_text,
            ),
        )

    def run(self, arguments: TypeTextArguments, aim: Aim, phone: Phone) -> Done:
        plan: _Typing = aim.plan
        if _is_safer_by_keys(plan, phone):
            return Done(text=_by_another_route(plan, phone, "unsure"))
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
        return True if plan.compare(found[0]) is ReadBack.EXACT else None

    def read_back(self, arguments: Arguments, aim: Aim, after: Screen) -> Finding:
        """The field tells what became of the text."""
        plan: _Typing = aim.plan
        return plan.finding(plan.field.find(after.hierarchy))

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


def _is_safer_by_keys(plan: _Typing, phone: Phone) -> bool:
    """Tell whether something is added where perhaps only a hint stands, and keys can add it without taking any away.

    Where they cannot, the text of the hint counts as the hint (B25): that a person typed just that is the rarer thing.
    """
    is_asked = plan.is_append and plan.is_unsure and bool(plan.keys)
    is_typable = not untypable(plan.keys) and not is_several_lines(plan.before)
    return is_asked and is_typable and phone.driver.has_focus(plan.field, plan.bounds, phone.deadline)


def _by_another_route(plan: _Typing, phone: Phone, refusal: str) -> str:
    """Type into a field that refused to be filled, and say how.

    Raises:
        DeviceError: code `not_focused` or `no_route` (sent "no") where nothing can be tried.
    """
    if plan.is_append and ("\n" in plan.before or "\r" in plan.before):
        # The key for the end goes to that of one line, and no key to that of a field is there on every phone.
        raise DeviceRefused(
            f"{_REFUSALS[refusal]}, and keys cannot be brought to the end of several lines",
            code="several_lines",
            hint="use mode replace with the whole text",
        )
    beyond = untypable(plan.keys)
    keyboard = phone.keyboard if beyond else None
    if beyond and keyboard is None:
        hint = "set `keyboard` to switch in your settings, if the phone has AdbKeyboard"
        raise _no_route(plan, beyond, refusal, hint)
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
        phone.driver.type_keys(
            plan.keys,
            phone.deadline,
            erase=len(plan.erase),
            several_lines=is_several_lines(plan.erase),
            at_end=plan.is_append,
        )
        return f"Typed as key presses: {_REFUSALS[refusal]}."
    problem = keyboard.type_text(plan.keys, phone.deadline, is_replacing=not plan.is_append)
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


#: What home screens are called. Source: packages of AOSP, Google, Samsung, Xiaomi, Huawei, OnePlus, Sony, Motorola.
_LAUNCHER = re.compile(r"launcher|trebuchet|lawnchair|\.home$|miui\.home")


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
        """A launcher that came to the front shows that home arrived, another page of the same app that back did.

        Nothing else is proof: an app may come to the front by itself.
        """
        key = aim.words[0]
        if before.package is None or after.package is None:
            return None
        if key == "back" and before.package == after.package:
            return True if None not in (pages := (before.activity, after.activity)) and pages[0] != pages[1] else None
        is_launcher = before.package != after.package and _LAUNCHER.search(after.package) is not None
        return True if key == "home" and is_launcher else None
