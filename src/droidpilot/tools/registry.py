"""Tool: the port every named action implements, and the registry that holds them in a fixed order.

A tool works in two steps. `aim` resolves what the call would touch on one screen and says it in one sentence; gates
judge that. `run` acts once. A tool never judges, never waits and never writes to the transcript.
"""

from __future__ import annotations

import difflib
import shlex
from collections.abc import Callable, Collection, Mapping, Sequence
from dataclasses import dataclass, field
from typing import Any, ClassVar, Protocol, runtime_checkable

from pydantic import BaseModel, ConfigDict, ValidationError
from pydantic_core import ErrorDetails

from droidpilot.core.calls import Effect, Tier
from droidpilot.core.clock import Clock, Deadline
from droidpilot.core.errors import BadArguments
from droidpilot.core.images import Image
from droidpilot.core.stop import Stop
from droidpilot.core.text import one_line, quoted, shorten
from droidpilot.device.driver import App, Driver
from droidpilot.device.keyboard import AdbKeyboard
from droidpilot.screens.hierarchy import Node
from droidpilot.screens.screen import Screen
from droidpilot.tools.picture_frame import PictureFrame, Taken, no_picture

#: Seconds a call may take in all, waiting for a person excluded (T29).
CALL_TIMEOUT_S = 60.0


class Arguments(BaseModel):
    """Base of all tool arguments: nothing unknown, nothing coerced silently from another kind of value."""

    model_config = ConfigDict(extra="forbid", frozen=True, str_max_length=20_000)


def is_password(node: Node) -> bool:
    return node.password


class NoArguments(Arguments):
    """For tools that take none."""


@dataclass(frozen=True, slots=True, kw_only=True)
class Scene:
    """What a tool may look at while it aims: one screen, and reads that do not concern the screen."""

    screen: Screen
    find: Callable[[int], Node]  # the node of a ref on this screen; raises TargetError
    apps: Callable[[], Sequence[App]]
    picture: Callable[[int], PictureFrame] = no_picture  # the picture of a number; raises TargetError
    is_secret: Callable[[Node], bool] = is_password  # whether what is typed there must not be written


@dataclass(frozen=True, slots=True, kw_only=True)
class Aim:
    """What a call would touch. Rules, risk and the approver see this, not the caller's words."""

    sentence: str  # 'Tap "Send"', without the package; starts with a verb
    package: str | None = None  # the app that would be touched
    points: tuple[tuple[int, int], ...] = ()
    nodes: tuple[Node, ...] = ()  # under the points, topmost first
    maybe: tuple[Node, ...] = ()  # what a key may press: which of them cannot be seen, so each counts for deny and ask
    words: tuple[str, ...] = ()  # what `matching` sees beside the nodes' labels: a key, a text, an app label, a setting
    is_matchable: bool = False  # whether there is anything for `matching` to see with this tool
    is_by_place: bool = False  # the caller named coordinates, so what lay there when it looked matters
    seen_on: Screen | None = None  # the look they were read from; None: the one that was told last
    also_as: tuple[str, ...] = ()  # other tools that do the same here, whose rules count too
    is_blind: bool = False  # it presses something, and what cannot be seen
    is_gesture_over: bool = False  # moves over labels without pressing them: their words are no risk
    is_secret: bool = False  # the text goes into a password field
    plan: Any = None  # what `run` needs, private to the tool


@dataclass(frozen=True, slots=True, kw_only=True)
class Phone:
    """What a tool acts with. One deadline for all of it."""

    driver: Driver
    clock: Clock
    deadline: Deadline
    look: Callable[[], Screen]  # a settled look, recorded
    picture: Callable[[], Taken]  # a picture, after waiting for its turn; raises ToolError and DeviceError
    stop: Stop
    keyboard: AdbKeyboard | None = None  # where the settings let the phone's keyboard be switched for a text


@dataclass(frozen=True, slots=True, kw_only=True)
class Done:
    """What came of it. `screen` is set by tools that looked; after a write the road looks by itself."""

    text: str
    value: Any = None
    screen: Screen | None = None
    from_ref: int | None = None  # of `screen`: the line that its text begins with; None: the whole
    image: Image | None = None  # goes to the asker behind the text
    looks: tuple[Screen, ...] = ()  # what `image` shows: all of them must be screens that may be told
    ends: str = ""


@dataclass(frozen=True, slots=True)
class Finding:
    """What a look shows of a write that the phone took. `words` may quote the screen; empty where all is well."""

    name: str  # exact, reformatted, cut, changed, unreadable or late
    words: str
    is_failure: bool = False  # it is not what was asked for, or not yet


class Tool(Protocol):
    """A named action. `needs_screen` tools get a fresh Scene; for the others `aim` is called with None."""

    name: ClassVar[str]
    summary: ClassVar[str]
    arguments: ClassVar[type[Arguments]]
    effect: ClassVar[Effect]
    tier: ClassVar[Tier]
    needs_screen: ClassVar[bool]

    def aim(self, arguments: Any, scene: Any) -> Aim:
        """Resolve the target. `scene` is a Scene, None for a tool that needs no screen.

        Raises:
            TargetError: there is none, or it cannot be used.
            DeviceError: a read failed.
        """
        ...

    def run(self, arguments: Any, aim: Aim, phone: Phone) -> Done:
        """Act once.

        Raises:
            DeviceError: its `sent` says whether a write may have happened.
        """
        ...

    def look_after(self, arguments: Any, aim: Aim, before: Screen, after: Screen) -> bool | None:
        """Tell from two looks whether an unknown write happened; None where they cannot tell."""
        ...


@runtime_checkable
class ReadsBack(Protocol):
    """A tool whose effect can be read off the screen: not whether it was sent, but what came of it."""

    def read_back(self, arguments: Any, aim: Aim, after: Screen) -> Finding | None:
        """Compare a look after the write with what was asked for; None where that says nothing."""
        ...


@dataclass(frozen=True, slots=True)
class Registry:
    """Tools in a fixed order, so that the schema the model gets is the same every time."""

    tools: Mapping[str, Tool] = field(default_factory=dict)

    @classmethod
    def of(cls, tools: Sequence[Tool]) -> Registry:
        return cls({tool.name: tool for tool in tools})

    @property
    def names(self) -> frozenset[str]:
        return frozenset(self.tools)

    def get(self, name: str) -> Tool | None:
        return self.tools.get(name)

    def nearest(self, name: str) -> str:
        """Return the tool whose name is most like `name`, empty where none is."""
        return next(iter(difflib.get_close_matches(name, self.tools, n=1)), "")

    def schemas(self, allowed: frozenset[str]) -> list[dict[str, Any]]:
        """Return the allowed tools as OpenAI function schemas, in registry order."""
        return [schema(tool) for tool in self.tools.values() if tool.name in allowed]


def schema(tool: Tool) -> dict[str, Any]:
    """Return the OpenAI function schema of one tool, without pydantic's titles."""
    parameters = tool.arguments.model_json_schema()
    parameters.pop("title", None)
    parameters.pop("description", None)
    for prop in parameters.get("properties", {}).values():
        prop.pop("title", None)
    parameters.setdefault("properties", {})
    return {
        "type": "function",
        "function": {"name": tool.name, "description": tool.summary, "parameters": parameters},
    }


def validate(tool: Tool, arguments: Mapping[str, Any]) -> Arguments:
    """Turn raw arguments into the tool's own.

    Raises:
        BadArguments: says which field is wrong and gives an example.
    """
    try:
        return tool.arguments.model_validate(dict(arguments))
    except ValidationError as error:
        faults = error.errors(include_url=False, include_input=False)[:3]
        problems = "; ".join(_fault(tool, item) for item in faults)
        named = {str(item["loc"][0]) for item in faults if item["loc"]}
        hint = f"example: {example(tool, also=named)}"
        raise BadArguments(f"{tool.name}: {shorten(one_line(problems), 400)}", hint=hint) from None


def example(tool: Tool, *, also: Collection[str] = ()) -> str:
    """Return one call of the tool as a person would write it, from the fields' own examples.

    Fields that may be left out stand in it where they are what the tool is about, or in `also`.
    """
    words = [
        f"{name}={shlex.quote(str(info.examples[0]))}"
        for name, info in tool.arguments.model_fields.items()
        if info.examples and (info.is_required() or name in ("ref", "direction", *also))
    ]
    return " ".join([tool.name, *words])


def _fault(tool: Tool, item: ErrorDetails) -> str:
    """Say what is wrong with one argument. Its value is not repeated: it may be a secret, and it is known."""
    name = quoted(".".join(str(part) for part in item["loc"]))[1:-1]
    known = list(tool.arguments.model_fields)
    limits = item.get("ctx", {})
    match item["type"]:
        case "missing":
            return f"{name} is missing"
        case "extra_forbidden":
            near = next(iter(difflib.get_close_matches(name, known, n=1)), "")
            takes = f"it takes {', '.join(known)}" if known else "it takes none"
            return f"there is no argument {name}; {f'did you mean {near}?' if near else takes}"
        case "int_parsing" | "int_type" | "int_from_float" | "int_parsing_size" | "finite_number":
            return f"{name} must be a whole number"
        case "string_type":
            return f"{name} must be text"
        case "greater_than_equal":
            return f"{name} must be at least {limits['ge']}"
        case "less_than_equal":
            return f"{name} must be at most {limits['le']}"
        case "string_too_short":
            return f"{name} must not be empty"
        case "string_too_long":
            return f"{name} must have at most {limits['max_length']} characters"
        case "literal_error":
            return f"{name} must be one of {str(limits['expected']).replace(' or ', ', ')}".replace("'", "")
        case "string_pattern_mismatch":
            return f"{name} holds a character that it cannot have"
        case "value_error":
            return f"{name}: {limits['error']}" if name else str(limits["error"])
        case _:
            return f"{name}: {item['msg']}"
