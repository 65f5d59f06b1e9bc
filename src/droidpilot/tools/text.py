"""Text and keys: type_text by the field's own setText, press for keys. No keyboard on the phone is switched."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass
from typing import ClassVar, Literal

from pydantic import Field, field_validator

from droidpilot.core.calls import Effect, Tier
from droidpilot.core.errors import TargetError
from droidpilot.device.driver import KEYS
from droidpilot.policy.risk import secret_name
from droidpilot.screens.hierarchy import Bounds, Hierarchy, Node
from droidpilot.screens.labels import clean
from droidpilot.screens.screen import Screen
from droidpilot.screens.selector import Selector
from droidpilot.tools.registry import Aim, Arguments, Done, Phone, Scene
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
    """What `run` needs: how the phone finds the field, where it lies, and the whole text it shall hold."""

    field: Selector
    bounds: Bounds
    text: str


def selector_of(hierarchy: Hierarchy, node: Node) -> Selector:
    """Describe `node` so that the phone finds exactly it: class, id and package, and its number among equals."""
    plain = Selector(cls=node.cls, resource_id=node.resource_id, package=node.package)
    equals = [other.index for other in plain.find(hierarchy)]
    return Selector(cls=node.cls, resource_id=node.resource_id, package=node.package, instance=equals.index(node.index))


def content_of(node: Node) -> str:
    """Return what a person typed into a field; a hint shown in an empty field is no content (B25)."""
    return "" if node.text == node.hint else node.text


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
            plan=_Typing(selector_of(screen.hierarchy, field), field.bounds, text),
        )

    def run(self, arguments: TypeTextArguments, aim: Aim, phone: Phone) -> Done:
        plan: _Typing = aim.plan
        phone.driver.set_text(plan.field, plan.bounds, plan.text, phone.deadline)
        return Done(text="")

    def look_after(self, arguments: Arguments, aim: Aim, before: Screen, after: Screen) -> bool | None:
        """The field tells, unless it hides what it holds; it does not tell what a line break pressed."""
        plan: _Typing = aim.plan
        found = plan.field.find(after.hierarchy)
        if len(found) != 1 or found[0].password or aim.maybe:
            return None
        return True if content_of(found[0]) == plan.text else None

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


class PressArguments(Arguments):
    key: str = Field(description=f"one of {', '.join(KEYS)}", examples=["back"], json_schema_extra={"enum": list(KEYS)})

    @field_validator("key")
    @classmethod
    def known(cls, key: str) -> str:
        if key not in KEYS:
            raise ValueError(f"no such key; one of {', '.join(KEYS)}")
        return key


#: Keys that press what has the focus, or a form's default button (A29).
_CONFIRMING = frozenset({"enter", "dpad_center", "space", "search"})


def default_buttons(hierarchy: Hierarchy) -> Iterator[Node]:
    """Yield what enter may press: the focused node; for a text field also the buttons of its window.

    Which button an app binds to enter cannot be seen, so every candidate is judged; rows of a list are none.
    """
    for focused in (node for node in hierarchy.nodes if node.focused):
        yield focused
        if focused.is_editable:
            around = {above.index for above in hierarchy.ancestors(focused)}
            for node in hierarchy.nodes:
                if node.window == focused.window and _is_button(node) and not _is_in_list(hierarchy, node, around):
                    yield node


def _is_button(node: Node) -> bool:
    return node.clickable and node.enabled and node.visible and not node.is_editable


def _is_in_list(hierarchy: Hierarchy, node: Node, around: set[int]) -> bool:
    lists = ("RecyclerView", "ListView", "GridView", "ViewPager")
    above = hierarchy.ancestors(node)
    return any(one.scrollable and one.index not in around and one.cls.endswith(lists) for one in above)


class Press:
    name: ClassVar[str] = "press"
    summary: ClassVar[str] = "Press a key: back, home, recents, enter, tab, the arrows (dpad_*), ..."
    arguments: ClassVar[type[Arguments]] = PressArguments
    effect: ClassVar[Effect] = Effect.WRITE
    tier: ClassVar[Tier] = Tier.PARTIAL
    needs_screen: ClassVar[bool] = True

    def aim(self, arguments: PressArguments, scene: Scene) -> Aim:
        screen = scene.screen
        nodes = tuple(default_buttons(screen.hierarchy)) if arguments.key in _CONFIRMING else ()
        where = f", with {name_of(screen, nodes[0])} in focus" if nodes else ""
        return Aim(
            sentence=f"Press {arguments.key}{where}",
            package=screen.package,
            maybe=nodes,
            words=(arguments.key,),
            is_matchable=True,
            is_blind=arguments.key in _CONFIRMING and not nodes,
        )

    def run(self, arguments: PressArguments, aim: Aim, phone: Phone) -> Done:
        phone.driver.press(arguments.key, phone.deadline)
        return Done(text="")

    def look_after(self, arguments: Arguments, aim: Aim, before: Screen, after: Screen) -> bool | None:
        """Another app or page in front shows that back, home or recents arrived; nothing else is proof."""
        is_away = (before.package, before.activity) != (after.package, after.activity)
        return True if is_away and aim.words[0] in ("back", "home", "recents") else None
