"""Finds and reads a policy: a shipped one or the user's by name, any file by path, and a project's lines on top.

It must never know where those folders are: that is config's business.
"""

from __future__ import annotations

import os
import re
import stat
from collections.abc import Sequence
from dataclasses import dataclass
from pathlib import Path

from droidpilot.core.calls import Answer
from droidpilot.core.errors import PolicyError
from droidpilot.core.text import quoted
from droidpilot.policy.grammar import nearest, parse_line, parse_rules
from droidpilot.policy.rules import Rule, RuleSet

SUFFIX = ".rules"
MAX_BYTES = 1024 * 1024
PROJECT_SOURCE = "./droidpilot.toml"
_NAME = re.compile(r"[A-Za-z0-9_][A-Za-z0-9._-]{0,63}")


@dataclass(frozen=True, slots=True)
class Policy:
    """The rules in force and where they came from."""

    name: str  # as asked for: a name, or a path
    path: Path  # of the file that was read
    rules: RuleSet

    @property
    def digest(self) -> str:
        """The sha256 of all lines in force, the project's included."""
        return self.rules.digest


def load_policy(
    name_or_path: str,
    *,
    user_dir: Path,
    shipped_dir: Path,
    tools: frozenset[str],
    extra_lines: Sequence[str] = (),
    extra_source: str = PROJECT_SOURCE,
) -> Policy:
    """Read the policy of that name, or the file where the value has a slash, with `extra_lines` on top.

    `extra_lines` may only tighten: deny and ask, and an ask of theirs never lifts a deny of the policy.
    Raises PolicyError for a file that is missing, ambiguous or unreadable, and for the first line that is not
    understood.
    """
    path = _find(name_or_path, user_dir=user_dir, shipped_dir=shipped_dir)
    source = name_or_path if "/" in name_or_path or "\\" in name_or_path else path.name
    rules = parse_rules(_read(path, source), source=source, tools=tools)
    return Policy(name_or_path, path, RuleSet(rules, tightening=_extra(extra_lines, extra_source, tools)))


def policy_names(*, user_dir: Path, shipped_dir: Path) -> tuple[str, ...]:
    """List the names that `load_policy` knows, sorted."""
    found = {
        path.name.removesuffix(SUFFIX)
        for folder in (user_dir, shipped_dir)
        if folder.is_dir()
        for path in folder.glob(f"*{SUFFIX}")
    }
    return tuple(sorted(name for name in found if _NAME.fullmatch(name)))


def _find(name: str, *, user_dir: Path, shipped_dir: Path) -> Path:
    if "/" in name or "\\" in name:
        return Path(name)
    known = policy_names(user_dir=user_dir, shipped_dir=shipped_dir)
    if not _NAME.fullmatch(name):
        raise PolicyError("this can be no name of a policy", source=quoted(name), line=0, hint=_known(name, known))
    own, shipped = user_dir / f"{name}{SUFFIX}", shipped_dir / f"{name}{SUFFIX}"
    if own.is_file() and shipped.is_file() and own.read_bytes() != shipped.read_bytes():
        raise PolicyError(
            f"there is a shipped policy of that name and another one of your own, {own}",
            source=name,
            line=0,
            hint=f"give yours another name, or its path: --policy {own}",
        )
    for path in (own, shipped):
        if path.is_file():
            return path
    if Path(name).suffix == SUFFIX:
        raise PolicyError(
            "a name has no suffix",
            source=name,
            line=0,
            hint=f"the file in this folder is ./{name}; {_known(name, known)}",
        )
    raise PolicyError("there is no such policy", source=name, line=0, hint=_known(name, known))


def _known(name: str, known: tuple[str, ...]) -> str:
    listed = f"there are {', '.join(known)}; a path has a slash" if known else "a path has a slash: ./my.rules"
    return f"{nearest(name, known)} {listed}".strip()


def _open_at_once(path: str, flags: int) -> int:
    """Open without waiting: a pipe that nobody writes to must not hold us before it is known to be one."""
    return os.open(path, flags | getattr(os, "O_NONBLOCK", 0))


def _read(path: Path, source: str) -> str:
    try:
        with open(path, "rb", opener=_open_at_once) as file:
            if not stat.S_ISREG(os.fstat(file.fileno()).st_mode):
                raise PolicyError("is no ordinary file", source=source, line=0, hint="give a file of rules")
            data = file.read(MAX_BYTES + 1)
    except OSError as error:
        reason = error.strerror or str(error)
        raise PolicyError(f"cannot be read: {reason}", source=source, line=0, hint="check the path") from error
    if len(data) > MAX_BYTES:
        raise PolicyError("is bigger than 1 MiB", source=source, line=0, hint="is this a rules file?")
    try:
        return data.decode("utf-8")
    except UnicodeDecodeError as error:
        line = data.count(b"\n", 0, error.start) + 1
        raise PolicyError("is not UTF-8 text", source=source, line=line, hint="save it as UTF-8") from error


def _extra(lines: Sequence[str], source: str, tools: frozenset[str]) -> tuple[Rule, ...]:
    rules: list[Rule] = []
    for number, line in enumerate(lines, 1):
        if "\n" in line or "\r" in line:
            raise PolicyError("one entry is one line", source=source, line=number, hint="write several entries")
        rule = parse_line(line, source=source, number=number, tools=tools)
        if rule is None:
            continue
        if rule.verb is Answer.ALLOW:
            raise PolicyError(
                f"`{rule.text}`: a project's line may only deny or ask",
                source=source,
                line=number,
                hint="put allow lines into a rules file of your own and name it with --policy",
            )
        rules.append(rule)
    return tuple(rules)
