"""The grammar of the mini shell: `;` `&&` `||` `|`, outputs and inputs sent elsewhere, `VAR=value`, `if ... fi`.

Not a shell for people: loops, functions, groups, jobs in the background and globs are refused. This file must never
know a command.
"""

from __future__ import annotations

from dataclasses import dataclass, field
from typing import Final, Literal

from droidpilot.virtual.shell.words import JOINS, NAME, REDIRECTS, Part, SyntaxProblem, Word, literal, tokens

__all__ = ["Choice", "Redirect", "Simple", "Step", "SyntaxProblem", "Word", "parse"]
Connector = Literal[";", "&&", "||"]
MAX_CHOICES: Final = 20
"""So deep may `if` stand in `if`."""
_UNKNOWN: Final = frozenset({"for", "while", "until", "case", "select", "function", "do", "done", "{", "}", "!", "[["})
_OF_CHOICES: Final = frozenset({"then", "elif", "else", "fi"})


@dataclass(frozen=True, slots=True)
class Redirect:
    """Where an output goes or the input comes from: a file, or (`to`) where another output goes."""

    fd: int
    path: Word = ()
    appends: bool = False
    to: int | None = None


@dataclass(slots=True)
class Simple:
    """One command: assignments before it, its words, where its output goes. Or an `if` in its place."""

    sets: list[tuple[str, Word]] = field(default_factory=list)
    words: list[Word] = field(default_factory=list)
    redirects: list[Redirect] = field(default_factory=list)
    choice: Choice | None = None


@dataclass(slots=True)
class Step:
    """One pipeline, and what must hold for it to run."""

    connector: Connector
    pipeline: list[Simple]


@dataclass(slots=True)
class Choice:
    """`if ...; then ...; elif ...; then ...; else ...; fi`: what is asked and what is then done, one after another."""

    branches: list[tuple[list[Step], list[Step]]] = field(default_factory=list)
    otherwise: list[Step] = field(default_factory=list)


def parse(line: str) -> list[Step]:
    """Read a command line.

    Raises:
        SyntaxProblem: an open quote, an operator where a command is due, or something this shell does not know.
    """
    return _Reader(tokens(line)).steps(frozenset())


class _Reader:
    """Reads tokens one after another."""

    def __init__(self, found: list[str | Word]) -> None:
        self._tokens = found
        self._at = 0
        self._depth = 0

    @property
    def _next(self) -> str | Word | None:
        return self._tokens[self._at] if self._at < len(self._tokens) else None

    @property
    def _reserved(self) -> str | None:
        return literal(self._next) if isinstance(self._next, tuple) else None

    def steps(self, ends: frozenset[str]) -> list[Step]:
        """Read pipelines up to the end, or to one of these words."""
        steps: list[Step] = []
        connector: Connector = ";"
        while True:
            while self._next in (";", "\n"):
                self._at += 1
            if self._next is None or (ends and self._reserved in ends):
                break
            steps.append(Step(connector, self._pipeline()))
            connector = ";"
            if self._next == "&&" or self._next == "||":
                connector = "&&" if self._next == "&&" else "||"
                self._at += 1
            elif self._next not in (";", "\n", None):
                raise self._unexpected()
        if connector != ";" or (ends and (self._next is None or not steps)):
            raise self._unexpected()
        return steps

    def _unexpected(self) -> SyntaxProblem:
        token = self._next
        if token in ("&", "(", ")", "<<"):
            return SyntaxProblem(f"syntax error: '{token}' is not known to this shell")
        if token is None:
            return SyntaxProblem("syntax error: unexpected end")
        shown = token.strip() or "newline" if isinstance(token, str) else "".join(part.text for part in token)[:100]
        return SyntaxProblem(f"syntax error: unexpected '{shown}'")

    def _pipeline(self) -> list[Simple]:
        pipeline = [self._command()]
        while self._next == "|":
            self._at += 1
            while self._next == "\n":
                self._at += 1
            pipeline.append(self._command())
        if len(pipeline) > 1 and any(simple.choice for simple in pipeline):
            raise SyntaxProblem("syntax error: 'if' in a pipe is not known to this shell")
        return pipeline

    def _command(self) -> Simple:
        reserved = self._reserved
        if reserved == "if":
            return Simple(choice=self._choice())
        if reserved in _UNKNOWN:
            raise SyntaxProblem(f"syntax error: '{reserved}' is not known to this shell")
        if reserved in _OF_CHOICES:
            raise self._unexpected()
        simple, begin = Simple(), self._at
        while (token := self._next) is not None:
            if isinstance(token, tuple):
                setting = _assignment(token) if not simple.words else None
                if setting is not None:
                    simple.sets.append(setting)
                else:
                    simple.words.append(token)
            elif token in JOINS:
                fd, to = JOINS[token]
                simple.redirects.append(Redirect(fd, to=to))
            elif token in REDIRECTS:
                self._at += 1
                path = self._next
                if not isinstance(path, tuple):
                    raise self._unexpected()
                fd = 0 if token == "<" else 2 if token.startswith("2") else 1
                simple.redirects.append(Redirect(fd, path, appends=token.endswith(">>")))
            else:
                break
            self._at += 1
        if self._at == begin:
            raise self._unexpected()
        return simple

    def _choice(self) -> Choice:
        self._depth += 1
        if self._depth > MAX_CHOICES:
            raise SyntaxProblem("syntax error: nested too deeply")
        choice = Choice()
        while self._reserved in ("if", "elif"):
            self._at += 1
            asked = self.steps(frozenset({"then"}))
            self._at += 1
            choice.branches.append((asked, self.steps(frozenset({"elif", "else", "fi"}))))
        if self._reserved == "else":
            self._at += 1
            choice.otherwise = self.steps(frozenset({"fi"}))
        self._at += 1
        self._depth -= 1
        return choice


def _assignment(word: Word) -> tuple[str, Word] | None:
    first = word[0] if word else Part("")
    name, equals, rest = first.text.partition("=")
    if first.kind != "text" or first.is_quoted or not equals or not NAME.fullmatch(name):
        return None
    return name, (Part(rest), *word[1:])
