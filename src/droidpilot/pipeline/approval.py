"""Asking a person: the Approver port, the question as a value, and the gate that decides whether to ask.

The gate asks where a rule says ask, or where the risk is at the mode's threshold. It never shows anything itself.
"""

from __future__ import annotations

from collections.abc import Callable, Iterable
from dataclasses import dataclass
from enum import StrEnum
from typing import Literal, Protocol

from droidpilot.core.calls import Answer, Effect, Verdict
from droidpilot.core.clock import Clock, Deadline
from droidpilot.core.events import ApprovalAnswered, ApprovalAsked, Event
from droidpilot.core.text import shorten
from droidpilot.pipeline.case import APPROVED, PERSON, Case
from droidpilot.pipeline.identity import refused_keys, same_call_keys
from droidpilot.policy.lexicon import AppTier, tier_of
from droidpilot.policy.risk import is_always_asked
from droidpilot.policy.rules import RuleSet

#: Seconds until no answer means no (T09), and the same for a strong confirm.
CONFIRM_EXPIRES_S = 180.0
STRONG_EXPIRES_S = 30.0

#: Why a press on nothing that can be read is asked about, in apps where the rules want that.
UNSEEN = "nothing can be read under it, and what cannot be read needs a yes in this app"


class AskMode(StrEnum):
    """When risk alone is reason to ask. Rules that say ask, and strong confirms, ask in every mode."""

    NEVER = "never"
    RISKY = "risky"
    EVERY = "every"


@dataclass(frozen=True, slots=True, kw_only=True)
class ApprovalRequest:
    """What the approver is shown. `challenge` must be retyped for a strong confirm; it is empty for a yes or no."""

    prompt_id: str
    call_id: str
    sentence: str
    package: str | None
    level: Literal["confirm", "strong"]
    signals: tuple[str, ...]
    rule: str | None
    challenge: str
    expires_s: float


@dataclass(frozen=True, slots=True)
class ApprovalReply:
    """An answer, bound to its question. Anything but yes means no."""

    prompt_id: str
    answer: Literal["yes", "no", "expired", "nobody"]


class Approver(Protocol):
    """Gives a yes or no to one call. Raises Interrupted and nothing else."""

    @property
    def name(self) -> str:
        """Name for the record: terminal, demo, none."""
        ...

    @property
    def is_person(self) -> bool:
        """Whether a person answers, whom an `ask person` line wants; a program that answers for one is none."""
        ...

    def ask(self, request: ApprovalRequest) -> ApprovalReply: ...


class NoApprover:
    """Nobody is there, which means no."""

    name = "none"
    is_person = False

    def ask(self, request: ApprovalRequest) -> ApprovalReply:
        return ApprovalReply(request.prompt_id, "nobody")


def guards(rules: RuleSet) -> Callable[[str | None], bool]:
    """Return the test for guarded apps: unknown, of tier HIGH, or named by a line that asks or denies."""

    def is_guarded(package: str | None) -> bool:
        return package is None or tier_of(package) is AppTier.HIGH or rules.names_app(package)

    return is_guarded


class ApprovalGate:
    """Asks where a rule says ask or the risk says so. Remembers every no: the same call is never asked about twice."""

    name = "approval"

    def __init__(
        self,
        mode: AskMode,
        approver: Approver,
        *,
        is_guarded: Callable[[str | None], bool],
        clock: Clock,
        record: Callable[[Event], None],
        waited: Callable[[float], None],
    ) -> None:
        self._mode = mode
        self._approver = approver
        self._is_guarded = is_guarded
        self._clock = clock
        self._record = record
        self._waited = waited
        self._refused_once: set[str] = set()
        self._unknown: dict[str, str] = {}
        self._earlier: dict[str, str] = {}
        self._prompts = 0

    @property
    def unresolved(self) -> int:
        """How many writes may or may not have happened."""
        return len(set(self._unknown.values()))

    def note_unknown(self, case: Case) -> None:
        """Remember a write that may have happened: a yes to it was used up, and it blocks its own repetition."""
        self._unknown.update(dict.fromkeys(same_call_keys(case), case.call.id))

    def note_earlier(self, keys: Iterable[str], name: str) -> None:
        """Remember a write of an earlier session that may have happened; only its resolution lifts it (INV-82)."""
        self._earlier.update(dict.fromkeys(keys, name))

    def note_resolved(self, case: Case) -> None:
        self._unknown = {key: call_id for key, call_id in self._unknown.items() if call_id != case.call.id}

    def judge(self, case: Case) -> Verdict:
        if case.aim is None or case.tool is None:
            return Verdict(self.name, Answer.ALLOW)
        is_write = case.effect is Effect.WRITE
        before = next((self._unknown[key] for key in same_call_keys(case) if key in self._unknown), None)
        if is_write and before is not None:
            return self._no(
                Answer.DENY,
                "unresolved",
                f"the same call ({before}) may already have happened; look for its effect instead",
            )
        earlier = next((self._earlier[key] for key in same_call_keys(case) if key in self._earlier), None)
        if is_write and earlier is not None:
            return self._no(
                Answer.DENY,
                "unresolved",
                "the same call of an earlier session may already have happened; look for its effect, and have a person "
                f"say what became of it: droidpilot session actions resolve {earlier} --as done|not-done",
            )
        level, rule, why = self._level(case, is_write=is_write)
        if level is None:
            return Verdict(self.name, Answer.ALLOW)
        keys = refused_keys(case)
        if not keys.isdisjoint(self._refused_once):
            return self._no(Answer.HALT, "refused_twice", "a person said no to this before")
        if not self._approver.is_person and any(verdict.code == PERSON for verdict in case.verdicts):
            how = "run it in a terminal, or have a person do it on the phone"
            return self._no(Answer.DENY, "needs_person", f"{rule} wants a person's own yes ({how})")
        return self._ask(case, level, rule, why, keys)

    def _level(self, case: Case, *, is_write: bool) -> tuple[Literal["confirm", "strong"] | None, str | None, str]:
        """Say how to ask, which line wants it, and why where neither a line nor a signal says it.

        Rules come first, then risk by mode; strong is never silenced.
        """
        assert case.aim is not None
        ruled = next((verdict for verdict in case.verdicts if verdict.gate == "rules"), None)
        asks = ruled is not None and ruled.answer is Answer.ASK
        rule = ruled.rule if asks and ruled is not None else None
        allows = ruled is not None and ruled.answer is Answer.ALLOW and ruled.rule is not None
        why = ruled.reason if asks and ruled is not None else ""
        if is_write and len(case.signals) >= 2:
            return "strong", rule, why
        if asks:
            return "confirm", rule, why
        if not is_write:
            return None, None, ""
        if is_always_asked(case.signals):
            return "confirm", None, ""
        if allows or self._mode is AskMode.NEVER:
            return None, None, ""
        has_words = bool(case.labels or case.aim.words)
        is_unseen = case.aim.is_blind or (bool(case.aim.points) and not has_words)
        is_blind = is_unseen and any(self._is_guarded(package) for package in case.packages)
        if self._mode is AskMode.EVERY or case.signals or is_blind:
            return "confirm", None, UNSEEN if is_blind and not case.signals else ""
        return None, None, ""

    def _ask(
        self, case: Case, level: Literal["confirm", "strong"], rule: str | None, why: str, keys: frozenset[str]
    ) -> Verdict:
        self._prompts += 1
        request = ApprovalRequest(
            prompt_id=f"{case.call.id}-p{self._prompts}",
            call_id=case.call.id,
            sentence=case.sentence,
            package=case.aim.package if case.aim is not None else None,
            level=level,
            signals=(*(signal.detail for signal in case.signals), *([why] if why else [])),
            rule=rule,
            challenge=_challenge(case) if level == "strong" else "",
            expires_s=STRONG_EXPIRES_S if level == "strong" else CONFIRM_EXPIRES_S,
        )
        self._record(
            ApprovalAsked(
                prompt_id=request.prompt_id,
                call_id=request.call_id,
                sentence=request.sentence,
                level=level,
                signals=list(request.signals),
                rule=rule,
                approver=self._approver.name,
                expires_s=request.expires_s,
            )
        )
        started = self._clock.monotonic()
        answer: Literal["yes", "no", "expired", "nobody", "stopped"] = "stopped"
        try:
            reply = self._approver.ask(request)
            is_late = self._clock.monotonic() - started > request.expires_s
            # An answer to another question, or one that comes too late, is no answer (INV-20).
            answer = "expired" if is_late or reply.prompt_id != request.prompt_id else reply.answer
        finally:
            waited = self._clock.monotonic() - started
            case.was_asked = True
            # Waiting for a person must not eat the time of the call itself.
            case.deadline = Deadline(self._clock, case.deadline.at + waited)
            self._waited(waited)
            self._record(
                ApprovalAnswered(
                    prompt_id=request.prompt_id,
                    call_id=request.call_id,
                    answer=answer,
                    approver=self._approver.name,
                    waited_s=round(waited, 3),
                )
            )
        return self._verdict(answer, level, rule, keys)

    def _verdict(self, answer: str, level: str, rule: str | None, keys: frozenset[str]) -> Verdict:
        by = self._approver.name
        match answer:
            case "yes":
                return Verdict(self.name, Answer.ALLOW, APPROVED, f"approved by {by}", rule)
            case "no":
                self._refused_once |= keys
                if level == "strong":
                    return self._no(Answer.HALT, "person_said_no", f"{by} said no to something risky", rule)
                return self._no(Answer.DENY, "person_said_no", f"{by} said no; do not try it again", rule)
            case "nobody":
                how = "run in a terminal to be asked, or allow it with a line in the policy"
                return self._no(Answer.DENY, "nobody_to_ask", f"it needs a yes and nobody can be asked ({how})", rule)
            case _:
                return self._no(Answer.DENY, "expired", "nobody answered in time; stop and call done", rule)

    def _no(self, answer: Answer, code: str, reason: str, rule: str | None = None) -> Verdict:
        return Verdict(self.name, answer, code, reason, rule)


def _challenge(case: Case) -> str:
    """Choose what must be retyped: the label under the finger, so that the eye is on what will be pressed."""
    label = next((label.cleaned for label in case.labels), "")
    return shorten(label, 24).rstrip("…") or "yes, do it"
