"""What stands below a line of rules: `#why:` for people, `#match:` and `#not:` for the line's own test.

An example is `TOOL LABEL [in PACKAGE]` and is tried on its line alone when the rules are read: a line that does not do
what its writer says of it is an error. It must never know the other lines, nor change what a line matches.
"""

from __future__ import annotations

import re
from dataclasses import dataclass
from typing import Protocol

from droidpilot.core.calls import Answer
from droidpilot.policy.patterns import Pattern
from droidpilot.screens.labels import Label

_MARK = re.compile(r"[ \t]*#(why|match|not):(.*)", re.DOTALL)
_PACKAGE = re.compile(r"[A-Za-z0-9_]+(?:\.[A-Za-z0-9_]+)*")


class Line(Protocol):
    """A rule, as far as an example tries it."""

    @property
    def verb(self) -> Answer: ...
    @property
    def pattern(self) -> Pattern | None: ...
    def fits_tool(self, tool: str) -> bool: ...
    def fits_package(self, package: str) -> bool: ...


@dataclass(frozen=True, slots=True)
class Example:
    """One call that a line must match, or must not. Without a package the app is no part of the test."""

    tool: str
    label: str
    package: str | None
    is_match: bool
    line: int  # where it stands

    def __str__(self) -> str:
        return " ".join(part for part in (self.tool, self.label, self.package and f"in {self.package}") if part)

    def is_met_by(self, line: Line) -> bool:
        """Tell whether the line does with this call what the example says."""
        return _matches(line, self) == self.is_match


def mark_of(text: str) -> tuple[str, str] | None:
    """Return `("why" | "match" | "not", rest)` for a line that belongs to the rule above it, else None."""
    found = _MARK.fullmatch(text)
    return None if found is None else (found[1], found[2].strip())


def example(text: str, *, is_match: bool, line: int) -> Example | None:
    """Read `TOOL LABEL [in PACKAGE]`; None where it names no tool."""
    tool, _, rest = text.partition(" ")
    if not tool:
        return None
    label, package = rest.strip(), None
    head, word, tail = f" {label}".rpartition(" in ")
    if word and _PACKAGE.fullmatch(tail):
        label, package = head.strip(), tail
    return Example(tool.lower(), label, package, is_match, line)


def _matches(line: Line, tried: Example) -> bool:
    if not line.fits_tool(tried.tool) or (tried.package is not None and not line.fits_package(tried.package)):
        return False
    if line.pattern is None:
        return True
    label = Label.of(tried.label)
    # As in real life: an allow line must match what is written, the others any form of it.
    forms = (label.raw,) if line.verb is Answer.ALLOW else (label.raw, label.cleaned, label.folded)
    return any(line.pattern.is_in(form) for form in forms)
