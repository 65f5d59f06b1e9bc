"""A script for the scripted model: which reply comes to which request. Pure values; the server is in scripted.py.

A script is a YAML file:

    model: scripted                  # the name the server answers to; optional
    steps:                           # one per request, in order
      - say: I open Settings.        # prose of the reply; optional
        calls:                       # tool calls of the reply; optional
          - tool: open_app
            args: {app: Settings}
          - tool: tap
            find: Network & internet # looked up in the newest screen text, becomes args.ref
        usage: {prompt: 1200, completion: 40, cached: 0, cost: 0.001}   # optional; else estimated from the bytes
      - fault: {status: 429, retry_after: 1}
    then: done                       # after the last step: done (a call of `done`), repeat (from the first), error

`find` takes the first line of the form `12 Label ...` (a ref, a space, the label): a line whose label equals the text
wins, then one that begins with it, then one that contains it; where none does, the request is answered with status 400
and words that name the text and the screen. A fault spoils the step it stands in, for tests of what depends on a model:

    cut_stream       the connection breaks in the middle          bad_json         arguments that are no JSON
    empty            neither text nor call                        reasoning_only   thoughts, but no answer
    length           cut by the token limit in mid-argument       content_filter   refused by the endpoint
    error_in_stream  an error object after status 200             {slow: 2.5}      seconds before the reply
    {status: 429, retry_after: 1, message: ...}                   an HTTP error
"""

from __future__ import annotations

import re
from collections.abc import Iterator, Mapping, Sequence
from pathlib import Path
from typing import Annotated, Any, Final, Literal

import yaml
from pydantic import BaseModel, ConfigDict, Field, ValidationError

from droidpilot.core.errors import ConfigError, UsageError
from droidpilot.core.text import one_line, shorten

MOST_SCRIPT_BYTES: Final = 1024 * 1024

_REF_LINE = re.compile(r"^\s*(?:[+~*]\s*)?(\d{1,9}) (\S.*?)\s*$")

FaultName = Literal["cut_stream", "bad_json", "empty", "reasoning_only", "length", "content_filter", "error_in_stream"]


class _Part(BaseModel):
    model_config = ConfigDict(extra="forbid", frozen=True, allow_inf_nan=False)


class StatusFault(_Part):
    """An HTTP error in place of a reply."""

    status: int = Field(ge=400, le=599, description="the HTTP status")
    retry_after: float | None = Field(default=None, ge=0, description="seconds, sent as Retry-After")
    message: str = Field(default="scripted error", description="words of the error")


class SlowFault(_Part):
    """A reply that is late."""

    slow: float = Field(ge=0, le=600, description="seconds before the reply begins")


class ScriptedUsage(_Part):
    """What the reply claims to have cost."""

    prompt: int = Field(ge=0, description="tokens of the request")
    completion: int = Field(default=0, ge=0, description="tokens of the reply")
    cached: int = Field(default=0, ge=0, description="tokens of the request that were cached")
    cost: float | None = Field(default=None, description="USD")


class ScriptedCall(_Part):
    """One tool call of a reply."""

    tool: str = Field(description="name of the tool")
    args: dict[str, Any] = Field(default={}, description="arguments")
    find: str | None = Field(default=None, min_length=1, description="label to look up; the ref found is args.ref")
    raw: str | None = Field(default=None, description="arguments sent as they stand here, for tests of broken ones")


class Step(_Part):
    """One reply."""

    say: str = Field(default="", description="prose")
    calls: list[ScriptedCall] = Field(default=[], description="tool calls, in order")
    usage: ScriptedUsage | None = Field(default=None, description="claimed usage")
    fault: FaultName | StatusFault | SlowFault | None = Field(default=None, description="what goes wrong")


class Script(_Part):
    """All replies, in order."""

    model: str = Field(default="scripted", min_length=1, description="the model's name")
    steps: Annotated[list[Step], Field(max_length=10_000)] = Field(default=[], description="one per request")
    then: Literal["done", "repeat", "error"] = Field(default="done", description="what follows the last step")


class LabelNotFound(UsageError):
    """`find` names a text that no usable line of the newest screen holds."""

    code = "label_not_found"


def load_script(path: Path) -> Script:
    """Read a script from a YAML file.

    Raises:
        ConfigError: the file cannot be read or does not fit, naming file and line.
    """
    try:
        with path.open("rb") as file:
            data = file.read(MOST_SCRIPT_BYTES + 1)
        text = data.decode("utf-8")
    except OSError as error:
        raise ConfigError(f"{path}: {error.strerror or error}", hint="give the path of a script, a YAML file") from None
    except UnicodeDecodeError:
        raise ConfigError(f"{path}: not UTF-8 text", hint="give the path of a script, a YAML file") from None
    if len(data) > MOST_SCRIPT_BYTES:
        raise ConfigError(f"{path}: larger than 1 MiB", hint="split the script")
    return parse_script(text, source=str(path))


def parse_script(text: str, *, source: str = "script") -> Script:
    """Read a script from YAML text; `source` stands in messages.

    Raises:
        ConfigError: not YAML, or it does not fit, naming source and line.
    """
    hint = "see docs/howto/model-server.md for the form of a script"
    try:
        for event in yaml.parse(text, Loader=yaml.SafeLoader):
            if isinstance(event, yaml.AliasEvent):
                line = event.start_mark.line + 1 if event.start_mark else 1
                raise ConfigError(f"{source}:{line}: aliases are not supported", hint=hint)
        root = yaml.compose(text, Loader=yaml.SafeLoader)
        value = yaml.safe_load(text)
    except yaml.MarkedYAMLError as error:
        line = error.problem_mark.line + 1 if error.problem_mark else 1
        raise ConfigError(f"{source}:{line}: not YAML: {one_line(error.problem or str(error))}", hint=hint) from None
    except (yaml.YAMLError, ValueError, RecursionError) as error:  # ValueError: a date that is none
        raise ConfigError(f"{source}: not YAML: {shorten(one_line(str(error)), 200)}", hint=hint) from None
    double = next(_double_keys(root), None)
    if double is not None:
        line = double.start_mark.line + 1
        raise ConfigError(f"{source}:{line}: {double.value!r} stands twice in one mapping", hint=hint)
    if not isinstance(value, dict):
        raise ConfigError(f"{source}:1: a script is a mapping that holds `steps`", hint=hint)
    try:
        return Script.model_validate(value)
    except ValidationError as error:
        first = error.errors(include_url=False, include_input=False)[0]
        where = ".".join(str(part) for part in first["loc"] if not _is_union_mark(part))
        raise ConfigError(f"{source}:{_line_of(root, first['loc'])}: {where}: {first['msg']}", hint=hint) from None


def find_ref(label: str, messages: Sequence[Mapping[str, Any]]) -> int:
    """Look a label up in the newest screen text of a conversation.

    Raises:
        LabelNotFound: no usable line holds it.
    """
    texts = [text for message in reversed(messages) if (text := _seen_text(message))]
    screens = [lines for text in texts if (lines := _ref_lines(text))]
    for is_match in (_equals, _begins, str.__contains__):
        for lines in screens:
            for ref, shown in lines:
                if is_match(shown, label):
                    return ref
    last = texts[0] if texts else "(no screen in the request)"
    raise LabelNotFound(f"the script looks for {label!r}, which is on no line of the screen; last text: {last[:2000]}")


def _equals(shown: str, label: str) -> bool:
    return shown == label


def _begins(shown: str, label: str) -> bool:
    return shown.startswith(label) and not shown[len(label) : len(label) + 1].isalnum()


def _ref_lines(text: str) -> list[tuple[int, str]]:
    matches = (_REF_LINE.match(line) for line in text.splitlines())
    return [(int(match[1]), match[2]) for match in matches if match]


def _seen_text(message: Mapping[str, Any]) -> str:
    if message.get("role") not in ("tool", "user"):
        return ""
    content = message.get("content")
    if isinstance(content, list):
        parts = [part.get("text") for part in content if isinstance(part, Mapping)]
        return "\n".join(part for part in parts if isinstance(part, str))
    return content if isinstance(content, str) else ""


def _double_keys(node: yaml.Node | None) -> Iterator[yaml.ScalarNode]:
    if isinstance(node, yaml.MappingNode):
        seen: set[str] = set()
        for key, value in node.value:
            if isinstance(key, yaml.ScalarNode):
                if key.value in seen:
                    yield key
                seen.add(key.value)
            yield from _double_keys(value)
    elif isinstance(node, yaml.SequenceNode):
        for item in node.value:
            yield from _double_keys(item)


def _is_union_mark(part: int | str) -> bool:
    """Tell the name of a union's branch, which pydantic puts into the place of an error, from a key of the file."""
    return isinstance(part, str) and (part.startswith("literal[") or part in ("StatusFault", "SlowFault"))


def _line_of(root: yaml.Node | None, loc: tuple[int | str, ...]) -> int:
    """Find the line of the deepest part of `loc` that stands in the file."""
    node, line = root, 1
    for part in loc:
        if isinstance(node, yaml.MappingNode):
            pair = next((pair for pair in node.value if pair[0].value == part), None)
            if pair is None:
                continue
            line, node = pair[0].start_mark.line + 1, pair[1]
        elif isinstance(node, yaml.SequenceNode) and isinstance(part, int) and part < len(node.value):
            node = node.value[part]
            line = node.start_mark.line + 1
    return line
