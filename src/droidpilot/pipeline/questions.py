"""Questions: what the rules are asked about a call, as values, so that they are written down and can be asked again.

It never decides and never looks at a phone.
"""

from __future__ import annotations

from dataclasses import dataclass

from droidpilot.core.events import Judged
from droidpilot.pipeline.case import Case, inside
from droidpilot.policy.rules import Decision, QueryLabel, Rule, RuleQuery, RuleSet, strictest
from droidpilot.screens.labels import Label, id_texts


@dataclass(frozen=True, slots=True)
class Question:
    """One question. Of an app in `over` (keyboard, system bars) only a line counts that names an app."""

    query: RuleQuery
    over: frozenset[str | None] = frozenset()
    secret_words: int = 0  # so many labels at the end are never written down

    def decide(self, rules: RuleSet) -> Decision:
        if not self.over:
            return rules.decide(self.query)
        decisions = []
        for package in self.query.packages:
            one = RuleQuery(tool=self.query.tool, packages=(package,), is_matchable=self.query.is_matchable)
            decision = rules.decide(one)
            if package in self.over and not (decision.rule is not None and _names_an_app(decision.rule)):
                continue
            decisions.append(decision)
        return strictest(decisions)

    def written(self) -> Judged:
        """Return it as it stands in a transcript; a text for a secret field is left out."""
        labels = self.query.labels[: len(self.query.labels) - self.secret_words]
        return Judged(
            tool=self.query.tool,
            packages=list(self.query.packages),
            over=sorted(package for package in self.over if package is not None),
            labels=[label.raw for label in labels],
            also=list(self.query.ids),
            is_matchable=self.query.is_matchable,
            has_app=self.query.has_app,
        )


def question_of(judged: Judged) -> Question:
    """Read a question out of a transcript."""
    forms = [Label.of(raw) for raw in judged.labels]
    query = RuleQuery(
        tool=judged.tool,
        packages=tuple(judged.packages),
        labels=tuple(QueryLabel(raw=form.raw, cleaned=form.cleaned, folded=form.folded) for form in forms),
        ids=tuple(judged.also),
        is_matchable=judged.is_matchable,
        has_app=judged.has_app,
    )
    return Question(query, frozenset(judged.over))


def call_questions(case: Case) -> tuple[Question, ...]:
    """Return what the rules are asked about a call: one question for each tool whose rules it answers to."""
    tools = (case.call.tool, *(case.aim.also_as if case.aim is not None else ()))
    secret_words = len(case.aim.words) if case.aim is not None and case.aim.is_secret else 0
    return tuple(Question(rule_query(tool, case), secret_words=secret_words) for tool in tools)


def rule_query(tool: str, case: Case) -> RuleQuery:
    """Build what the rules see of a call: every package under the finger, every label in its three forms.

    Ids, and what the nodes say beside their labels, count for deny and ask only.
    """
    aim = case.aim
    if aim is None:
        return RuleQuery(tool=tool, packages=(None,), is_matchable=False)
    under = (*aim.nodes, *aim.maybe)
    packages = dict.fromkeys(case.packages)
    if case.scene is not None and case.scene.screen.package is None:
        # The phone did not say who is in front: what the nodes say of themselves is a guess (B17).
        packages[None] = None
    said = [*case.labels, *(Label.of(word) for word in aim.words)]
    seen = [QueryLabel(raw=label.raw, cleaned=label.cleaned, folded=label.folded) for label in said]
    within = inside(case.scene.screen, aim.nodes) if case.scene is not None else ()
    also = [text for node in (*under, *within) for text in id_texts(node.resource_id)]
    for label in (*case.said_too, *case.said_inside):
        also += [label.raw, label.cleaned, label.folded]
    ids = tuple(dict.fromkeys(also))
    return RuleQuery(
        tool=tool,
        packages=tuple(packages),
        labels=tuple(seen),
        ids=ids,
        is_matchable=aim.is_matchable,
        has_app=case.tool is None or case.tool.needs_screen,
    )


def _names_an_app(rule: Rule) -> bool:
    return rule.package_glob is not None and rule.package_glob.strip("*") != ""
