"""A rules file: lines of `VERB TOOL-GLOB [in PACKAGE-GLOB] [matching REGEX...]`, with what stands below. Fails closed.

A line that is not understood completely is an error with its source and number; nothing is skipped, guessed or dropped
(INV-3, INV-4). It must never know what a line is applied to.
"""

from __future__ import annotations

import difflib
import re
import string
import unicodedata
from collections.abc import Iterable
from dataclasses import dataclass, replace
from typing import Literal

from droidpilot.core.calls import Answer
from droidpilot.core.errors import PolicyError
from droidpilot.core.text import shorten
from droidpilot.policy.beside import Example, example, mark_of
from droidpilot.policy.patterns import Pattern, PatternError

MAX_LINES = 5_000
MAX_LINE_LENGTH = 2_000
#: Tools of other servers are not known when rules are read.
FOREIGN_TOOLS = "mcp__"

Verb = Literal[Answer.ALLOW, Answer.ASK, Answer.DENY]

_VERBS: dict[str, Verb] = {"allow": Answer.ALLOW, "ask": Answer.ASK, "deny": Answer.DENY, "block": Answer.DENY}
_TOOL_GLOB = re.compile(r"[a-z0-9_*-]+")
_PACKAGE_GLOB = re.compile(r"[A-Za-z0-9_.*-]+")
_ASCII_LOWER = {ord(upper): upper.lower() for upper in string.ascii_uppercase}
_WORD = re.compile(r"[^ \t]+")
_SPACES = re.compile(r"[ \t]+")
_EXAMPLE_HINT = "an example is: TOOL LABEL [in PACKAGE], like `#match: tap Pay now in com.shop`"
_EXAMPLE = "a line is: VERB TOOL [in PACKAGE] [matching REGEX], like `ask tap in com.shop matching (?i)pay`"


@dataclass(frozen=True, slots=True, eq=False)
class Rule:
    """One line, understood."""

    verb: Verb
    tool_glob: str  # lower case
    package_glob: str | None  # lower case; None: whatever the app
    pattern: Pattern | None  # searched for in labels; None: whatever they say
    source: str
    line: int
    text: str  # the line as it counts: as written, without comment and with single spaces
    needs_person: bool = False  # `ask person`: no program may answer
    why: str = ""  # its writer's reason, shown where it decides
    examples: tuple[Example, ...] = ()  # each was tried

    def __str__(self) -> str:
        return f"{self.source}:{self.line}: {self.text}"

    def fits_tool(self, tool: str) -> bool:
        return is_glob_match(self.tool_glob, _lower(tool))

    def fits_package(self, package: str) -> bool:
        """Tell whether the line's `in` names `package`; a line without `in` fits every one."""
        return self.package_glob is None or is_glob_match(self.package_glob, _lower(package))


def parse_rules(text: str, *, source: str, tools: frozenset[str], first_line: int = 1) -> tuple[Rule, ...]:
    """Read a whole rules file; the order of the lines is the order of the result.

    Raises PolicyError, with source and line number, at the first line that is not understood completely, and at the
    first example that its line does not meet.
    """
    lines = text.removeprefix("\ufeff").split("\n")
    if len(lines) > MAX_LINES:
        raise PolicyError(f"more than {MAX_LINES} lines", source=source, line=0, hint="use globs, and fewer lines")
    rules: list[Rule] = []
    is_below_one = False
    for number, line in enumerate(lines, first_line):
        text = line.removesuffix("\r")
        reader = _Reader(text, source=source, number=number, tools=tools)
        if mark_of(text) is not None:
            if not is_below_one:
                raise reader.belongs_to_none()
            rules[-1] = reader.beside(rules[-1])
        elif (rule := reader.rule()) is not None:
            rules.append(rule)
            is_below_one = True
        elif not text.strip():
            is_below_one = False
    return tuple(rules)


def parse_line(line: str, *, source: str, number: int, tools: frozenset[str]) -> Rule | None:
    """Read one line; None for a blank one and a comment. Raises PolicyError as `parse_rules` does."""
    reader = _Reader(line, source=source, number=number, tools=tools)
    return reader.rule()


def is_glob_match(glob: str, text: str) -> bool:
    """Tell whether `glob` describes the whole of `text`; `*` is any run of characters, nothing else is special.

    Both are compared as they are: lower-case them first.
    """
    head, *rest = glob.split("*")
    if not rest:
        return glob == text
    *middle, tail = rest
    if not text.startswith(head) or not text.endswith(tail) or len(text) < len(head) + len(tail):
        return False
    at, end = len(head), len(text) - len(tail)
    for piece in middle:
        # Leftmost is enough: a later place never leaves more room for the pieces after it.
        at = text.find(piece, at, end)
        if at < 0:
            return False
        at += len(piece)
    return True


def _lower(text: str) -> str:
    # ASCII only: a Kelvin sign must not become the k of somebody else's package.
    return text.translate(_ASCII_LOWER)


def nearest(word: str, known: Iterable[str]) -> str:
    """Return `did you mean X?` for the closest of `known`, or an empty string."""
    close = difflib.get_close_matches(word.lower(), sorted(known), n=1, cutoff=0.5)
    return f"did you mean {close[0]}?" if close else ""


class _Reader:
    """Takes one line apart from the left. Everything it cannot place is an error."""

    def __init__(self, line: str, *, source: str, number: int, tools: frozenset[str]) -> None:
        self._line = line
        self._source = source
        self._number = number
        self._tools = tools
        self._at = 0
        self._words: list[str] = []

    def rule(self) -> Rule | None:
        self._check_length()
        if self._next() is None:
            return None
        self._refuse_hidden()
        verb = self._verb()
        needs_person = self._person(verb)
        tool = self._tool()
        package: str | None = None
        pattern: Pattern | None = None
        word = self._take()
        if word is not None and word.lower() == "in":
            package = self._package()
            word = self._take()
        if word is not None and word.lower() == "matching":
            pattern = self._pattern()
        elif word is not None:
            raise self._unexpected(word, has_package=package is not None)
        return Rule(
            verb, tool, package, pattern, self._source, self._number, " ".join(self._words), needs_person=needs_person
        )

    def beside(self, rule: Rule) -> Rule:
        """Return the rule with what this line says of it."""
        self._check_length()
        self._refuse_hidden()
        mark, text = mark_of(self._line) or ("", "")
        if not text:
            raise self._error(f"`#{mark}:` says nothing", "write it out, or take the line away")
        if mark == "why":
            if rule.why:
                raise self._error("the line above has a `#why:` already", "one reason is enough")
            return replace(rule, why=text)
        tried = example(text, is_match=mark == "match", line=self._number)
        if tried is None or (tried.tool not in {tool.lower() for tool in self._tools} and "__" not in tried.tool):
            hint = nearest(text.split(" ")[0], self._tools) or _EXAMPLE_HINT
            raise self._error(f"there is no tool {shorten(text.split(' ')[0], 40)} in this example", hint)
        if not tried.is_met_by(rule):
            does, says = ("does not match", "must") if tried.is_match else ("matches", "must not")
            raise self._error(
                f"line {rule.line} {does} `{shorten(str(tried), 80)}`, which it {says}",
                f"mend the line or the example; the line is: {shorten(rule.text, 120)}",
            )
        return replace(rule, examples=(*rule.examples, tried))

    def belongs_to_none(self) -> PolicyError:
        mark = (mark_of(self._line) or ("",))[0]
        return self._error(f"`#{mark}:` stands below no rule", "put it right below the line that it is about")

    def _person(self, verb: Verb) -> bool:
        """Take the word `person` of `ask person`."""
        found = self._next()
        if verb is not Answer.ASK or found is None or found[0].lower() != "person":
            return False
        self._take()
        return True

    def _check_length(self) -> None:
        if len(self._line) > MAX_LINE_LENGTH:
            raise self._error(f"the line is longer than {MAX_LINE_LENGTH} characters", "split it into several lines")

    def _verb(self) -> Verb:
        word = self._take() or ""
        verb = _VERBS.get(word.lower())
        if verb is None:
            hint = nearest(word, _VERBS) or "a line begins with allow, ask or deny"
            raise self._error(f"unknown verb {shorten(word, 40)!r}", hint)
        return verb

    def _tool(self) -> str:
        word = self._take()
        if word is None:
            raise self._error("the line names no tool", _EXAMPLE)
        glob = word.lower()
        if glob in ("in", "matching") and glob not in self._tools:
            raise self._error(f"a tool is missing before `{glob}`", "write * for every tool")
        if not _TOOL_GLOB.fullmatch(glob):
            raise self._error(f"{shorten(word, 40)!r} is no name of a tool", "letters, digits, _ and * only")
        if glob.startswith(FOREIGN_TOOLS):
            return glob
        known = {tool.lower() for tool in self._tools}
        if "*" not in glob and glob not in known:
            hint = nearest(glob, known) or f"there are {', '.join(sorted(known))}"
            raise self._error(f"there is no tool {shorten(word, 40)}", hint)
        if not any(is_glob_match(glob, tool) for tool in known):
            raise self._error(f"no tool has a name like {shorten(word, 40)}", f"there are {', '.join(sorted(known))}")
        return glob

    def _package(self) -> str:
        word = self._take()
        if word is None:
            raise self._error("`in` names no package", "write it like `in com.example.app` or `in com.example.*`")
        if word.lower() == "matching":
            raise self._error("a package is missing between `in` and `matching`", _EXAMPLE)
        if not _PACKAGE_GLOB.fullmatch(word):
            raise self._error(
                f"{shorten(word, 60)!r} can be no package",
                "packages have ASCII letters, digits, _ and dots; * is allowed",
            )
        return word.lower()

    def _pattern(self) -> Pattern:
        # The rest of the line as it is: a # in it is part of the expression.
        text = _SPACES.sub(" ", self._line[self._at :]).strip(" ")
        self._at = len(self._line)
        self._words.append(text)
        if not text:
            raise self._error(
                "`matching` has no expression", "leave `matching` out to match whatever is under the finger"
            )
        try:
            return Pattern(text)
        except PatternError as error:
            raise self._error(f"the expression {shorten(text, 80)!r} is not valid: {error}", error.hint) from error

    def _next(self) -> re.Match[str] | None:
        """Find the next word without taking it; a comment ends the line."""
        found = _WORD.search(self._line, self._at)
        return None if found is None or found[0].startswith("#") else found

    def _take(self) -> str | None:
        found = self._next()
        if found is None:
            return None
        self._at = found.end()
        self._words.append(found[0])
        return found[0]

    def _unexpected(self, word: str, *, has_package: bool) -> PolicyError:
        expected = ["matching"] if has_package else ["in", "matching"]
        if has_package and word.lower() == "in":
            return self._error("a line has one `in`", "write one line for each package, or use *")
        hint = nearest(word, expected) or _EXAMPLE
        return self._error(f"unexpected word {shorten(word, 40)!r}", hint)

    def _refuse_hidden(self) -> None:
        """Refuse characters that a reader of the file cannot see: the line would not mean what it shows."""
        for char in self._line:
            if char not in " \t" and unicodedata.category(char) in ("Cc", "Cf", "Cs", "Co", "Cn", "Zs", "Zl", "Zp"):
                raise self._error(
                    f"the line holds an invisible character, U+{ord(char):04X}",
                    "remove it; inside an expression write it as \\x{...}",
                )

    def _error(self, message: str, hint: str) -> PolicyError:
        return PolicyError(message, source=self._source, line=self._number, hint=hint)
