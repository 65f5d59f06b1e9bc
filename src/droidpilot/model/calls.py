"""Tool calls put together from the pieces of a stream, and their arguments read as strict JSON or not at all (INV-51).

A call whose arguments are broken, missing, cut or ambiguous becomes a ReplyCall that says so and is never executed;
what goes back into the history is valid JSON all the same. Nothing is repaired or guessed (B40, B43).
"""

from __future__ import annotations

import json
import re
from collections.abc import Mapping
from dataclasses import dataclass, field
from typing import Any, Final, NoReturn

from droidpilot.core.errors import ModelUnusable
from droidpilot.core.text import one_line, shorten
from droidpilot.model.client import ReplyCall

MOST_CALLS: Final = 64
MOST_ARGUMENT_BYTES: Final = 1024 * 1024
_LONGEST_ID: Final = 256
_NAME = re.compile(r"[A-Za-z0-9_-]{1,64}\Z")
_ID = re.compile(rf"[\x21-\x7e]{{1,{_LONGEST_ID}}}\Z")
_SURROGATE = re.compile(r"[\ud800-\udfff]")


@dataclass(slots=True)
class _Slot:
    """One call while it arrives."""

    id: str = ""
    name: str = ""
    pieces: list[str] = field(default_factory=list)

    @property
    def arguments(self) -> str:
        return "".join(self.pieces)


class CallAssembly:
    """Collects `tool_calls` deltas. Order of the calls is the order in which they began."""

    def __init__(self) -> None:
        self._slots: list[_Slot] = []
        self._by_index: dict[int, _Slot] = {}
        self._size = 0

    def __len__(self) -> int:
        return len(self._slots)

    @property
    def argument_text(self) -> str:
        """All that was received, names included; for estimates."""
        return "".join(slot.name + slot.arguments for slot in self._slots)

    def add(self, delta: object) -> None:
        """Take one entry of a chunk's `tool_calls`. Entries that are no object are ignored.

        Raises:
            ModelUnusable: more calls or longer arguments than any reply has reason for.
        """
        if not isinstance(delta, Mapping):
            return
        raw_function = delta.get("function")
        function: Mapping[str, Any] = raw_function if isinstance(raw_function, Mapping) else {}
        call_id, name = _text(delta.get("id")), _text(function.get("name"))
        arguments = function.get("arguments")
        # Some endpoints send the arguments as an object instead of a string that holds one.
        piece = json.dumps(arguments) if isinstance(arguments, dict) else _text(arguments)
        index = delta.get("index")
        slot = self._slot(index if isinstance(index, int) else None, call_id, name, piece)
        slot.id = slot.id or call_id
        if name and name != slot.name:  # some endpoints repeat the whole name in each piece
            slot.name += name
        slot.pieces.append(piece)
        self._size += len(name) + len(piece.encode("utf-8", "replace"))
        if self._size > MOST_ARGUMENT_BYTES:
            raise ModelUnusable("the reply's tool calls are longer than 1 MiB", hint="choose another model")

    def finish(self, *, is_cut: bool) -> tuple[ReplyCall, ...]:
        """Return the calls. `is_cut` (the token limit ended the reply) makes every one of them malformed."""
        taken: set[str] = set()
        return tuple(_finish(slot, number, taken, is_cut=is_cut) for number, slot in enumerate(self._slots))

    def _slot(self, index: int | None, call_id: str, name: str, piece: str) -> _Slot:
        slot = self._by_index.get(index) if index is not None else self._without_index(call_id)
        if slot is None or _is_another(slot, call_id, name, piece):
            if len(self._slots) >= MOST_CALLS:
                raise ModelUnusable(f"the reply asks for more than {MOST_CALLS} calls", hint="choose another model")
            slot = _Slot()
            self._slots.append(slot)
        if index is not None:
            self._by_index[index] = slot
        return slot

    def _without_index(self, call_id: str) -> _Slot | None:
        same = next((slot for slot in self._slots if call_id and slot.id == call_id), None)
        return same or (self._slots[-1] if self._slots else None)


def _is_another(slot: _Slot, call_id: str, name: str, piece: str) -> bool:
    """Tell whether a piece begins a new call though it bears an old index (parallel calls glued together)."""
    if call_id and slot.id:
        return call_id != slot.id
    if not name or (name == slot.name and not piece) or not slot.pieces or not slot.pieces[-1].endswith("}"):
        return False
    return not _read_object(slot.arguments)[1]


def _finish(slot: _Slot, number: int, taken: set[str], *, is_cut: bool) -> ReplyCall:
    call_id = slot.id if _ID.match(slot.id) and slot.id not in taken else f"call_{number}"
    while call_id in taken:
        call_id += "_"
    taken.add(call_id)
    arguments, malformed = _read_object(slot.arguments)
    tool = slot.name
    if is_cut:
        malformed = "the reply was cut off by the token limit: nothing was done, ask again with a shorter reply"
    elif not tool:
        malformed = "the call names no tool"
    elif not _NAME.match(tool):
        malformed = f"{shorten(one_line(tool), 80)!r} cannot be the name of a tool"
    if not _NAME.match(tool):
        tool = re.sub(r"[^A-Za-z0-9_-]", "_", tool)[:64] or "unnamed"
    if malformed:
        return ReplyCall(id=call_id, tool=tool, arguments={}, arguments_json="{}", malformed=malformed)
    return ReplyCall(id=call_id, tool=tool, arguments=arguments, arguments_json=slot.arguments)


def _read_object(text: str) -> tuple[dict[str, Any], str]:
    """Read one strict JSON object; otherwise say what is wrong with it."""
    if not text.strip():
        return {}, "the arguments are missing: send {} where a tool takes none"
    try:
        value = json.loads(text, object_pairs_hook=_without_doubles, parse_constant=_no_constant)
    except RecursionError:
        return {}, "the arguments are nested too deeply"
    except ValueError as error:
        return {}, f"the arguments are not valid JSON: {shorten(one_line(str(error)), 120)}"
    if not isinstance(value, dict):
        return {}, f"the arguments must be a JSON object, not {_KINDS.get(type(value), 'a number')}"
    # Escapes can name characters that no text may hold and that could not be sent back.
    plain = json.dumps(value, ensure_ascii=False)
    if _SURROGATE.search(plain) or "\\u0000" in plain:
        return {}, "the arguments hold a NUL or half a character"
    return value, ""


_KINDS: Final[Mapping[type, str]] = {list: "a list", str: "a text", bool: "true or false", type(None): "null"}


def _without_doubles(pairs: list[tuple[str, Any]]) -> dict[str, Any]:
    value = dict(pairs)
    if len(value) != len(pairs):
        raise ValueError("a key stands twice in one object")
    return value


def _no_constant(name: str) -> NoReturn:
    raise ValueError(f"{name} is not JSON")


def _text(value: object) -> str:
    return value if isinstance(value, str) else ""
