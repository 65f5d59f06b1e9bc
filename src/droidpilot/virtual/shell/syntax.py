"""The grammar of the mini shell: quotes, `;` `&&` `||` `|` `>` `>>` `<` `2>&1`, `$VAR`, `$?`, `VAR=value`,
`"$(command)"`.

Not a shell for people: loops, functions, globs and substitutions outside of quotes are refused. This file must never
know a command.
"""

from __future__ import annotations

import re
from dataclasses import dataclass, field
from typing import Final, Literal

Connector = Literal[";", "&&", "||"]
MAX_WORDS = 4_000
_NAME: Final = re.compile(r"[A-Za-z_][A-Za-z0-9_]*")
_OPERATORS: Final = ("&&", "||", ">>", "2>&1", "2>", ";", "|", ">", "<", "&", "\n", "(", ")")
_REDIRECTS: Final = (">", ">>", "<", "2>")


class SyntaxProblem(Exception):
    """The line cannot be read; the shell says so and exits with 2."""


@dataclass(frozen=True, slots=True)
class Part:
    """A piece of a word. `is_name` means the name of a variable, `is_line` a command line whose output stands there."""

    text: str
    is_name: bool = False
    is_line: bool = False

    @property
    def is_plain(self) -> bool:
        return not (self.is_name or self.is_line)


Word = tuple[Part, ...]


@dataclass(slots=True)
class Simple:
    """One command: assignments before it, its words, where its output goes."""

    sets: list[tuple[str, Word]] = field(default_factory=list)
    words: list[Word] = field(default_factory=list)
    redirects: list[tuple[str, Word]] = field(default_factory=list)
    joins_errors: bool = False


@dataclass(slots=True)
class Step:
    """One pipeline, and what must hold for it to run."""

    connector: Connector
    pipeline: list[Simple]


def parse(line: str) -> list[Step]:
    """Read a command line.

    Raises:
        SyntaxProblem: an open quote, an operator where a command is due, or something this shell does not know.
    """
    steps: list[Step] = []
    current = Simple()
    step = Step(";", [current])
    waiting: str | None = None
    for token in _tokens(line):
        if isinstance(token, tuple):
            if waiting is not None:
                current.redirects.append((waiting, token))
                waiting = None
            elif not current.words and (setting := _assignment(token)) is not None:
                current.sets.append(setting)
            else:
                current.words.append(token)
            continue
        if waiting is not None:
            raise SyntaxProblem(f"syntax error: unexpected '{token.strip() or 'newline'}'")
        if token == "2>&1":
            current.joins_errors = True
        elif token in _REDIRECTS:
            waiting = token
        elif token == "|":
            if _is_empty(current):
                raise SyntaxProblem("syntax error: unexpected '|'")
            current = Simple()
            step.pipeline.append(current)
        elif token in (";", "&&", "||", "\n"):
            if _is_empty(current):
                if token in ("&&", "||"):
                    raise SyntaxProblem(f"syntax error: unexpected '{token}'")
                continue
            steps.append(step)
            current = Simple()
            step = Step("&&" if token == "&&" else "||" if token == "||" else ";", [current])
        else:
            raise SyntaxProblem(f"syntax error: '{token}' is not known to this shell")
    if waiting is not None or (_is_empty(current) and (len(step.pipeline) > 1 or step.connector != ";")):
        raise SyntaxProblem("syntax error: unexpected end")
    if not _is_empty(current):
        steps.append(step)
    return steps


def _is_empty(simple: Simple) -> bool:
    return not (simple.words or simple.sets or simple.redirects)


def _assignment(word: Word) -> tuple[str, Word] | None:
    first = word[0] if word else Part("")
    name, equals, rest = first.text.partition("=")
    if not first.is_plain or not equals or not _NAME.fullmatch(name):
        return None
    return name, (Part(rest), *word[1:])


def _tokens(line: str) -> list[str | Word]:
    tokens: list[str | Word] = []
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
                tokens.append(operator)
                at += len(operator)
            else:
                word, at = _word(line, at)
                tokens.append(word)
        if len(tokens) > MAX_WORDS:
            raise SyntaxProblem("syntax error: too many words")
    return tokens


def _word(line: str, at: int) -> tuple[Word, int]:
    parts: list[Part] = [Part("")]
    while at < len(line) and line[at] not in " \t\r\n;|&<>()":
        char = line[at]
        if char == "'":
            end = line.find("'", at + 1)
            if end < 0:
                raise SyntaxProblem("syntax error: no closing quote")
            parts.append(Part(line[at + 1 : end]))
            at = end + 1
        elif char == '"':
            at = _double_quoted(line, at + 1, parts)
        elif char == "\\":
            parts.append(Part(line[at + 1 : at + 2]))
            at += 2
        elif char == "$":
            at = _variable(line, at, parts)
        elif char == "`":
            raise SyntaxProblem("syntax error: '`' is not known to this shell")
        else:
            parts.append(Part(char))
            at += 1
    return _joined(parts), at


def _double_quoted(line: str, at: int, parts: list[Part]) -> int:
    while at < len(line) and line[at] != '"':
        if line[at] == "\\" and line[at + 1 : at + 2] in ('"', "\\", "$", "`"):
            parts.append(Part(line[at + 1]))
            at += 2
        elif line.startswith("$(", at):
            at = _command(line, at + 2, parts)
        elif line[at] == "$":
            at = _variable(line, at, parts)
        else:
            parts.append(Part(line[at]))
            at += 1
    if at >= len(line):
        raise SyntaxProblem("syntax error: no closing quote")
    return at + 1


def _command(line: str, at: int, parts: list[Part]) -> int:
    """Read up to the closing parenthesis; one inside, or a quote, is more than this shell knows."""
    end = line.find(")", at)
    inside = line[at:end]
    if end < 0 or set(inside) & set("(\"'`\\$"):
        raise SyntaxProblem("syntax error: '$(' is not known to this shell")
    parts.append(Part(inside, is_line=True))
    return end + 1


def _variable(line: str, at: int, parts: list[Part]) -> int:
    rest = line[at + 1 :]
    if rest.startswith(("(", "{")):
        raise SyntaxProblem(f"syntax error: '${rest[0]}' is not known to this shell")
    if rest.startswith("?"):
        parts.append(Part("?", is_name=True))
        return at + 2
    name = _NAME.match(rest)
    if name is None:
        parts.append(Part("$"))
        return at + 1
    parts.append(Part(name.group(), is_name=True))
    return at + 1 + name.end()


def _joined(parts: list[Part]) -> Word:
    """Put neighbouring plain pieces together."""
    word: list[Part] = []
    for part in parts:
        if word and part.is_plain and word[-1].is_plain:
            word[-1] = Part(word[-1].text + part.text)
        else:
            word.append(part)
    return tuple(word)
