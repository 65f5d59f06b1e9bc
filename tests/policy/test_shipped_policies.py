"""The shipped rules files: what each of them decides, call by call, and that they leave harmless things alone."""

from __future__ import annotations

from pathlib import Path

import pytest

from droidpilot.core.calls import Answer
from droidpilot.policy.policies import load_policy, policy_names
from droidpilot.policy.rules import QueryLabel, RuleQuery, RuleSet

TOOLS = frozenset(
    [
        "ui_tree",
        "screenshot",
        "tap",
        "long_press",
        "swipe",
        "scroll",
        "type_text",
        "press",
        "open_app",
        "list_apps",
        "wait",
        "read_setting",
        "done",
    ]
)
READS = ("ui_tree", "screenshot", "list_apps", "wait", "read_setting", "done")
WRITES = tuple(sorted(TOOLS - set(READS)))
SHIPPED = Path(__file__).parents[2] / "policies"

HARMLESS_TAPS = [
    "Wi-Fi", "Settings", "Network & internet", "Sendai", "Sender", "Shareholder", "Payload", "Reset filters",
    "Installed apps", "Install history", "Power menu", "Powerful", "Erased chapter", "Data usage", "Back", "1",
    "日本語", "Fabrik",
]  # fmt: skip


def rules(name: str) -> RuleSet:
    return load_policy(name, user_dir=SHIPPED / "none", shipped_dir=SHIPPED, tools=TOOLS).rules


def decide(
    name: str, tool: str, text: str = "", *, ids: tuple[str, ...] = (), package: str | None = "com.android.settings"
) -> Answer | None:
    labels = (QueryLabel.plain(text),) if text else ()
    is_matchable = tool not in ("ui_tree", "list_apps", "wait", "done")
    query = RuleQuery(tool=tool, packages=(package,), labels=labels, ids=ids, is_matchable=is_matchable)
    return rules(name).decide(query).answer


def test_these_policies_are_shipped() -> None:
    assert policy_names(user_dir=SHIPPED / "none", shipped_dir=SHIPPED) == ("ci", "default", "read-only", "unattended")


@pytest.mark.parametrize("name", ["ci", "default", "read-only", "unattended"])
@pytest.mark.parametrize("tool", READS)
def test_every_shipped_policy_lets_reads_pass(name: str, tool: str) -> None:
    for package in ("com.android.settings", None):
        assert decide(name, tool, package=package) in (None, Answer.ALLOW)


@pytest.mark.parametrize(
    ("tool", "text", "expected"),
    [
        ("tap", "Factory reset", Answer.DENY),
        ("tap", "Erase all data", Answer.DENY),
        ("tap", "Erase all data (factory reset)", Answer.DENY),
        ("tap", "FACTORY DATA RESET", Answer.DENY),
        ("tap", "Auf Werkseinstellungen zurücksetzen", Answer.DENY),
        ("tap", "Restaurar datos de fábrica", Answer.DENY),
        ("press", "Erase all data", Answer.DENY),
        ("long_press", "Reset phone", Answer.DENY),
        ("tap", "OEM unlocking", Answer.DENY),
        ("tap", "USB debugging", Answer.ASK),
        ("tap", "Use developer options", Answer.ASK),
        ("tap", "Install", Answer.ASK),
        ("tap", "Installieren", Answer.ASK),
        ("press", "power", Answer.ASK),
        ("press", "home", None),
        ("press", "enter", None),
        ("type_text", "factory reset", None),
        ("tap", "Send", None),
        *[("tap", text, None) for text in HARMLESS_TAPS],
    ],
)
def test_default(tool: str, text: str, expected: Answer | None) -> None:
    assert decide("default", tool, text) is expected
    assert decide("default", tool, text, package=None) is expected


@pytest.mark.parametrize(
    "button", ["allow", "allow_foreground_only", "allow_one_time", "deny", "deny_and_dont_ask_again"]
)
def test_default_asks_at_a_permission_dialog_in_every_language(button: str) -> None:
    assert decide("default", "tap", "許可", ids=(f"permission_{button}_button",)) is Answer.ASK


@pytest.mark.parametrize("tool", WRITES)
def test_read_only_refuses_every_write(tool: str) -> None:
    assert decide("read-only", tool, "OK") is Answer.DENY
    assert decide("read-only", tool, package=None) is Answer.DENY
    assert decide("read-only", "mcp__mail__send") is Answer.DENY


@pytest.mark.parametrize(
    ("tool", "text", "expected"),
    [
        ("tap", "Send", Answer.ALLOW),
        ("tap", "Delete", Answer.ALLOW),
        ("tap", "", Answer.ALLOW),
        ("tap", "Buyer's guide", Answer.ALLOW),
        ("tap", "Pay attention to this", Answer.ALLOW),
        *[(tool, "OK", Answer.ALLOW) for tool in WRITES],
        ("tap", "Buy", Answer.DENY),
        ("tap", "Buy for $1.99", Answer.DENY),
        ("tap", "Pay now", Answer.DENY),
        ("tap", "Pay $ 12.00", Answer.DENY),
        ("tap", "Erase all data", Answer.DENY),
        ("tap", "USB debugging", Answer.DENY),
        ("press", "power", Answer.DENY),
        ("mcp__mail__send", "", None),
    ],
)
def test_ci(tool: str, text: str, expected: Answer | None) -> None:
    assert decide("ci", tool, text) is expected


@pytest.mark.parametrize(
    ("tool", "text", "expected"),
    [
        *[
            ("tap", text, Answer.DENY)
            for text in (
                "Send",
                "SEND MESSAGE",
                "Pay now",
                "Delete",
                "Call",
                "Post",
                "Update",
                "Senden",
                "Überweisen",
                "Log out",
            )
        ],
        ("tap", "Factory reset", Answer.DENY),
        ("tap", "USB debugging", Answer.DENY),
        ("press", "enter", Answer.DENY),
        ("press", "power", Answer.DENY),
        ("press", "back", None),
        ("swipe", "", Answer.DENY),
        ("scroll", "", None),
        ("type_text", "hello", None),
        ("open_app", "Settings", None),
        ("tap", "Call history", None),
        ("tap", "Software update", None),
        *[("tap", text, None) for text in HARMLESS_TAPS],
    ],
)
def test_unattended(tool: str, text: str, expected: Answer | None) -> None:
    assert decide("unattended", tool, text) is expected


@pytest.mark.parametrize("name", ["send_button", "btn_send", "btnSend", "permission_allow_button"])
def test_unattended_reads_ids(name: str) -> None:
    assert decide("unattended", "tap", "➤", ids=(name,)) is Answer.DENY
    assert decide("unattended", "tap", "➤", ids=("sender_name",)) is None


@pytest.mark.parametrize("name", ["ci", "default", "read-only", "unattended"])
def test_every_line_of_a_shipped_policy_stands_below_a_comment(name: str) -> None:
    is_explained = False
    for line in (SHIPPED / f"{name}.rules").read_text(encoding="utf-8").splitlines():
        if line.startswith("#"):
            is_explained = True
        elif not line.strip():
            is_explained = False
        else:
            assert is_explained, line
