"""How the mini shell cuts a line into operators and words: quotes, `$VAR`, `${VAR}`, `$?`, `$$`, `$(LINE)`, comments.

What is inside `$(...)` is only cut out here and read when it is run. This file must never know a command.
"""

from __future__ import annotations

import re
from dataclasses import dataclass
from typing import Final, Literal

MAX_WORDS = 4_000
MAX_NESTED: Final = 8
"""So deep may quotes and `$(...)` stand in one another."""
NAME: Final = re.compile(r"[A-Za-z_][A-Za-z0-9_]*")
JOINS: Final = {"2>&1": (2, 1), ">&2": (1, 2), "1>&2": (1, 2), ">&1": (1, 1), "2>&2": (2, 2)}
"""Operators that send one output where another one goes."""
REDIRECTS: Final = (">", ">>", "<", "2>", "2>>", "1>", "1>>")
_OPERATORS: Final = (
    *("&&", "||", *JOINS, "1>>", "2>>", ">>", "1>", "2>"),
    *("<<", ";", "|", ">", "<", "&", "\n", "(", ")"),
)


class SyntaxProblem(Exception):
    """The line cannot be read; the shell says so and exits with 2."""


@dataclass(frozen=True, slots=True)
class Part:
    """A piece of a word: text as it is, the name of a variable, or a line whose output stands there."""

    text: str
    kind: Literal["text", "name", "line"] = "text"
    is_quoted: bool = False
    """Whether what it gives stays one word."""


Word = tuple[Part, ...]


def literal(word: Word) -> str | None:
    """Return what a word says where nothing of it is quoted or a variable, as reserved words must be."""
    return word[0].text if len(word) == 1 and word[0].kind == "text" and not word[0].is_quoted else None


def tokens(line: str) -> list[str | Word]:
    """Cut a line into operators and words.

    Raises:
        SyntaxProblem: an open quote, something this shell does not know, or more than it takes.
    """
    found: list[str | Word] = []
    at = 0
    while at < len(line):
        char = line[at]
        if char in " \t\r":
            at += 1
        elif char == "#":
            end = line.find("\n", at)
            at = len(line) if end < 0 else end
        else:
            operator = next((o for o in _OPERATORS if line.startswith(o, at)), None)
            if operator is not None:
                found.append(operator)
                at += len(operator)
            else:
                word, at = _word(line, at)
                found.append(word)
        if len(found) > MAX_WORDS:
            raise SyntaxProblem("syntax error: too many words")
    return found


def _word(line: str, at: int) -> tuple[Word, int]:
    parts: list[Part] = []
    while at < len(line) and line[at] not in " \t\r\n;|&<>()":
        char = line[at]
        if char == "'":
            end = line.find("'", at + 1)
            if end < 0:
                raise SyntaxProblem("syntax error: no closing quote")
            parts.append(Part(line[at + 1 : end], is_quoted=True))
            at = end + 1
        elif char == '"':
            at = _double_quoted(line, at + 1, parts)
        elif char == "\\":
            parts.append(Part(line[at + 1 : at + 2], is_quoted=True))
            at += 2
        elif char == "$":
            at = _variable(line, at, parts, is_quoted=False)
        elif char == "`":
            raise SyntaxProblem("syntax error: '`' is not known to this shell")
        else:
            parts.append(Part(char))
            at += 1
    return _joined(parts), at


def _double_quoted(line: str, at: int, parts: list[Part]) -> int:
    parts.append(Part("", is_quoted=True))
    while at < len(line) and line[at] != '"':
        if line[at] == "\\" and line[at + 1 : at + 2] in ('"', "\\", "$", "`"):
            parts.append(Part(line[at + 1], is_quoted=True))
            at += 2
        elif line[at] == "$":
            at = _variable(line, at, parts, is_quoted=True)
        else:
            parts.append(Part(line[at], is_quoted=True))
            at += 1
    if at >= len(line):
        raise SyntaxProblem("syntax error: no closing quote")
    return at + 1


def _variable(line: str, at: int, parts: list[Part], *, is_quoted: bool) -> int:
    rest = line[at + 1 : at + 3]
    if rest.startswith("(") and rest != "((":
        end = _closing(line, at + 2, 0)
        parts.append(Part(line[at + 2 : end], "line", is_quoted))
        return end + 1
    if rest[:1] in ("?", "$"):
        parts.append(Part(rest[0], "name", is_quoted))
        return at + 2
    name = NAME.match(line, at + (2 if rest.startswith("{") else 1))
    if rest.startswith("{") and name is not None and line[name.end() : name.end() + 1] == "}":
        parts.append(Part(name.group(), "name", is_quoted))
        return name.end() + 1
    if rest.startswith(("(", "{")):
        raise SyntaxProblem(f"syntax error: '${'((' if rest == '((' else '{'}' is not known to this shell")
    if name is None:
        parts.append(Part("$", is_quoted=is_quoted))
        return at + 1
    parts.append(Part(name.group(), "name", is_quoted))
    return name.end()


def _closing(line: str, at: int, depth: int) -> int:
    """Return where the `)` stands that ends what began before `at`."""
    if depth >= MAX_NESTED:
        raise SyntaxProblem("syntax error: nested too deeply")
    is_open, quoted = 1, False
    while at < len(line):
        char = line[at]
        if char == "\\":
            at += 1
        elif char == '"':
            quoted = not quoted
        elif line.startswith("$(", at) and quoted:
            at = _closing(line, at + 2, depth + 1)
        elif char == "'" and not quoted:
            at = line.find("'", at + 1)
            if at < 0:
                break
        elif char in "()" and not quoted:
            is_open += 1 if char == "(" else -1
            if not is_open:
                return at
        at += 1
    raise SyntaxProblem("syntax error: no closing ')'")


def _joined(parts: list[Part]) -> Word:
    """Put neighbouring pieces of one kind together."""
    word: list[Part] = []
    for part in parts:
        if word and part.kind == word[-1].kind == "text" and part.is_quoted == word[-1].is_quoted:
            word[-1] = Part(word[-1].text + part.text, is_quoted=part.is_quoted)
        else:
            word.append(part)
    return tuple(word)
