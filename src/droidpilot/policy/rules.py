"""Rules: the first matching line decides (T02, T03), on what is really under the finger, never on a caller's words.

It must never widen when something is missing: an unknown app, nothing to match on, several apps at once.
"""

from __future__ import annotations

import hashlib
from collections.abc import Iterable, Iterator
from dataclasses import dataclass
from functools import cached_property

from droidpilot.core.calls import Answer
from droidpilot.policy.grammar import Rule, parse_line, parse_rules
from droidpilot.policy.patterns import PatternSet

__all__ = ["Decision", "QueryLabel", "Rule", "RuleQuery", "RuleSet", "parse_line", "parse_rules", "strictest"]

#: From strict to lenient. No rule is stricter than allow: it leaves the call to the approval mode.
_STRICTNESS: tuple[Answer | None, ...] = (Answer.HALT, Answer.DENY, Answer.ASK, None, Answer.ALLOW)
#: Packages come from the phone; an endless stream of made-up ones must not fill the memory.
_MAX_CACHED = 512


@dataclass(frozen=True, slots=True)
class QueryLabel:
    """What a node says, in the forms of DESIGN.md section 3."""

    raw: str
    cleaned: str
    folded: str

    @classmethod
    def plain(cls, text: str) -> QueryLabel:
        """Make a label whose forms are all the same, for words of our own: a key, a setting's name."""
        return cls(text, text, text)


@dataclass(frozen=True, slots=True, kw_only=True)
class RuleQuery:
    """One call as rules see it."""

    tool: str
    packages: tuple[str | None, ...]  # under the finger, in no order; None: not known. Empty is not known either
    labels: tuple[QueryLabel, ...] = ()  # of every labelled node under the finger
    ids: tuple[str, ...] = ()  # resource ids behind their `/`; they count for deny and ask only
    is_matchable: bool = True  # False for a tool where there is nothing to match on: wait, ui_tree
    has_app: bool = True  # False for a tool that touches no app by its nature: wait, done; no line with `in` is for it


@dataclass(frozen=True, slots=True)
class Decision:
    """What the rules say. Without an answer no line matched, and the approval mode decides.

    Codes: rule (a line matched), no_label (it has `matching` and there is nothing to match on), package_unknown (it has
    `in` and the app is not known), no_rule.
    """

    answer: Answer | None
    rule: Rule | None = None
    code: str = "no_rule"
    reason: str = ""


NO_RULE = Decision(None)


def strictest(decisions: Iterable[Decision]) -> Decision:
    """Return the strictest decision, the first one among equals: deny, ask person, ask, no rule, allow.

    Of none, no rule.
    """
    return min(decisions, key=_strictness, default=NO_RULE)


def _strictness(decision: Decision) -> tuple[int, bool]:
    return _STRICTNESS.index(decision.answer), decision.rule is None or not decision.rule.needs_person


class RuleSet:
    """Rules in order, and on top of them lines that may only tighten.

    `tightening` holds deny and ask lines of a source that is trusted less than the policy: what they say counts only
    where it is stricter than what the policy says, so an ask line among them never lifts a deny.
    """

    def __init__(self, rules: Iterable[Rule], *, tightening: Iterable[Rule] = ()) -> None:
        """Raises ValueError where a tightening line allows."""
        self.rules = tuple(rules)
        self.tightening = tuple(tightening)
        if any(rule.verb is Answer.ALLOW for rule in self.tightening):
            raise ValueError("a tightening line may not allow")
        self._policy = _Lines(self.rules)
        self._extra = _Lines(self.tightening)

    def decide(self, query: RuleQuery) -> Decision:
        """Decide one call: per package the first matching line, over the packages the strictest answer."""
        decisions: list[Decision] = []
        found, found_extra = self._policy.matches(query), self._extra.matches(query)
        for package in dict.fromkeys(query.packages or (None,)):
            decision = self._policy.decide(query, package, found)
            extra = self._extra.decide(query, package, found_extra)
            decisions.append(decision if extra.answer is None else strictest((extra, decision)))
        return strictest(decisions)

    def names_app(self, package: str) -> bool:
        """Tell whether an ask or deny line names this app, which makes it a guarded one; `in *` names none."""
        return any(
            rule.verb is not Answer.ALLOW
            and rule.package_glob is not None
            and rule.package_glob.strip("*.") != ""
            and rule.fits_package(package)
            for rule in (*self.tightening, *self.rules)
        )

    @cached_property
    def digest(self) -> str:
        """The sha256 of all lines in force, in order, without comments."""
        text = "".join(f"{rule.text}\n" for rule in self.tightening) + "--\n"
        text += "".join(f"{rule.text}\n" for rule in self.rules)
        return hashlib.sha256(text.encode()).hexdigest()


@dataclass(frozen=True, slots=True)
class _Matches:
    """Which expressions were found: in any form of any label or id; in the raw label of every labelled node."""

    anywhere: frozenset[int]
    everywhere: frozenset[int]


_NO_MATCHES = _Matches(frozenset(), frozenset())


class _Lines:
    """One list of rules, ready to be asked quickly."""

    def __init__(self, rules: tuple[Rule, ...]) -> None:
        self._rules = rules
        self._with_pattern = tuple(rule for rule in rules if rule.pattern is not None)
        self._patterns = PatternSet([rule.pattern for rule in self._with_pattern if rule.pattern is not None])
        self._index = {id(rule): index for index, rule in enumerate(self._with_pattern)}
        self._candidates: dict[tuple[str, str | None], tuple[Rule, ...]] = {}

    def matches(self, query: RuleQuery) -> _Matches:
        """Look for all expressions at once; done once per call, whatever the number of lines and packages."""
        if not self._with_pattern or not query.is_matchable or not self._fits_any(query):
            return _NO_MATCHES
        raw = {label.raw for label in query.labels if label.raw}
        in_raw = [self._patterns.found_in([text]) for text in raw]
        other = {form for label in query.labels for form in (label.cleaned, label.folded) if form} | set(query.ids)
        anywhere = self._patterns.found_in(other - raw - {""}).union(*in_raw)
        return _Matches(anywhere, frozenset.intersection(*in_raw) if in_raw else frozenset())

    def decide(self, query: RuleQuery, package: str | None, found: _Matches) -> Decision:
        for rule in self._candidates_for(query.tool, package):
            if rule.package_glob is not None and not query.has_app:
                continue
            if rule.package_glob is not None and package is None:
                if rule.verb is Answer.ALLOW:
                    continue
                return Decision(
                    Answer.DENY, rule, "package_unknown", "the line names an app, and which app this is cannot be told"
                )
            if rule.pattern is None:
                return _said(rule)
            if not query.is_matchable:
                if rule.verb is Answer.ALLOW:
                    continue
                return Decision(
                    Answer.DENY, rule, "no_label", f"the line has `matching`, and {query.tool} has nothing to match on"
                )
            hits = found.everywhere if rule.verb is Answer.ALLOW else found.anywhere
            if self._index[id(rule)] in hits:
                return _said(rule)
        return NO_RULE

    def _fits_any(self, query: RuleQuery) -> bool:
        return any(
            rule.pattern is not None
            for package in (query.packages or (None,))
            for rule in self._candidates_for(query.tool, package)
        )

    def _candidates_for(self, tool: str, package: str | None) -> tuple[Rule, ...]:
        """Return the lines whose tool and package fit; for an unknown package all of the tool's."""
        key = (tool.lower(), package)
        known = self._candidates.get(key)
        if known is None:
            if len(self._candidates) >= _MAX_CACHED:
                self._candidates.clear()
            known = self._candidates[key] = tuple(self._fitting(tool, package))
        return known

    def _fitting(self, tool: str, package: str | None) -> Iterator[Rule]:
        for rule in self._rules:
            if rule.fits_tool(tool) and (package is None or rule.fits_package(package)):
                yield rule


def _said(rule: Rule) -> Decision:
    return Decision(rule.verb, rule, "rule")
