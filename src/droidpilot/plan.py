"""What a person asked for, and the check of its every word before anything is opened: a typo costs nothing."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, field
from pathlib import Path

from droidpilot.checks.postcondition import Check, parse_check
from droidpilot.core.calls import Origin
from droidpilot.core.config import Settings
from droidpilot.core.errors import ConfigError
from droidpilot.core.images import ImageLimits
from droidpilot.model.provider import ModelSettings, http_warning, image_limits, is_cost_reported, key_for
from droidpilot.model.usage import Prices
from droidpilot.pipeline.approval import Approver, NoApprover
from droidpilot.pipeline.budget import Limits
from droidpilot.policy.policies import Policy, load_policy
from droidpilot.tools.registry import Registry
from droidpilot.tools.shelf import all_tools


@dataclass(frozen=True, slots=True, kw_only=True)
class SessionPlan:
    """What a person asked for, before anything is opened."""

    home: Path  # the state folder
    origin: Origin  # MODEL for run, HUMAN for call and look
    settings: Settings
    user_policies: Path
    shipped_policies: Path
    project_rules: tuple[str, ...] = ()  # deny and ask lines of ./droidpilot.toml
    api_keys: Mapping[str, str] = field(default_factory=dict)
    audit_key: bytes = field(default=b"", repr=False)  # seals the transcript; empty: it is not sealed
    goal: str = ""
    title: str = ""  # what a list of sessions calls it where there is no goal: "call tap ref=12"
    checks: tuple[str, ...] = ()
    is_check_waived: bool = False
    approver: Approver = field(default_factory=NoApprover)
    tools: frozenset[str] | None = None  # None: all there are


@dataclass(frozen=True, slots=True, kw_only=True)
class PhoneAddress:
    """Which phone, and the adb server on 127.0.0.1 that knows it."""

    serial: str
    adb_port: int
    is_virtual: bool = False
    key: str = ""  # names the phone across sessions where its serial does not: one virtual phone after another


@dataclass(frozen=True, slots=True, kw_only=True)
class Prepared:
    """A plan whose every word was understood."""

    plan: SessionPlan
    registry: Registry
    allowed: frozenset[str]
    policy: Policy
    checks: tuple[Check, ...]
    limits: Limits
    model: ModelSettings | None
    images: ImageLimits  # how large a picture is that goes to the model
    notes: tuple[str, ...]


def prepare(plan: SessionPlan) -> Prepared:
    """Check everything that can be checked without a phone or a network.

    Raises:
        UsageError, ConfigError, PolicyError: something cannot be used; nothing was started.
    """
    registry = all_tools()
    policy = load_policy(
        plan.settings.policy,
        user_dir=plan.user_policies,
        shipped_dir=plan.shipped_policies,
        extra_lines=plan.project_rules,
        tools=registry.names,
    )
    model = _model_settings(plan) if plan.origin is Origin.MODEL else None
    warnings = [http_warning(model.base_url)] if model is not None else []
    if not policy.rules.rules:
        warnings.append(f"policy {policy.name} has no rules: nothing is denied, and only risk is a reason to ask")
    allowed = registry.names if plan.tools is None else plan.tools & registry.names
    images = image_limits(model.model, model.base_url) if model is not None else ImageLimits()
    if model is not None and images is None:
        allowed -= {"screenshot"}
        warnings.append(f"{model.model} reads no images: there is no screenshot in this session")
    return Prepared(
        plan=plan,
        registry=registry,
        allowed=allowed,
        policy=policy,
        checks=tuple(parse_check(expression) for expression in plan.checks),
        limits=Limits(
            turns=plan.settings.max_turns,
            actions=plan.settings.max_actions,
            tokens=plan.settings.max_tokens,
            usd=plan.settings.max_usd,
            seconds=plan.settings.max_seconds,
        ),
        model=model,
        images=images or ImageLimits(),
        notes=tuple(warning for warning in warnings if warning),
    )


def _model_settings(plan: SessionPlan) -> ModelSettings:
    settings = plan.settings
    if not settings.model:
        raise ConfigError(
            "no model is set", hint="name one with --model, or set DROIDPILOT_MODEL; droidpilot demo needs none"
        )
    prices = settings.prices
    if settings.max_usd is not None and prices is None and not is_cost_reported(settings.base_url):
        raise ConfigError(
            "--max-usd needs to know what the model costs",
            hint="set [prices] input and output in your config.toml, in USD per million tokens; 0 if it is free",
        )
    return ModelSettings(
        model=settings.model,
        base_url=settings.base_url,
        key=key_for(settings.base_url, plan.api_keys),
        prices=Prices(input_usd=prices.input, output_usd=prices.output, cached_usd=prices.cached) if prices else None,
    )
