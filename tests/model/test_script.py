"""Scripts: read from YAML with file and line in every complaint, and refs looked up in the screen text."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import pytest

from droidpilot.core.errors import ConfigError
from droidpilot.model.chunks import compose
from droidpilot.model.script import (
    LabelNotFound,
    Script,
    ScriptedCall,
    SlowFault,
    StatusFault,
    Step,
    find_ref,
    load_script,
    parse_script,
)

WHOLE = """
model: scripted
steps:
  - say: I open Settings.
    calls:
      - tool: open_app
        args: {app: Settings}
      - tool: tap
        find: Network & internet
    usage: {prompt: 1200, completion: 40, cost: 0.001}
  - fault: {status: 429, retry_after: 1}
  - fault: {slow: 2.5}
  - fault: cut_stream
then: repeat
"""


def test_a_whole_script_is_read() -> None:
    script = parse_script(WHOLE)
    assert script.then == "repeat"
    assert script.steps[0].calls[1].find == "Network & internet"
    assert script.steps[0].usage is not None
    assert [step.fault for step in script.steps[1:]] == [
        StatusFault(status=429, retry_after=1),
        SlowFault(slow=2.5),
        "cut_stream",
    ]


@pytest.mark.parametrize(
    ("text", "line", "words"),
    [
        ("", 1, "mapping"),
        ("- a", 1, "mapping"),
        ("steps: 7", 1, "list"),
        ("model: m\nstep: []", 2, "step"),
        ("steps:\n  - calls:\n    - tol: tap", 3, "tool"),
        ("steps:\n  - say: hi\n  - say: [1]", 3, "steps.1.say"),
        ("steps:\n  - fault: cut_strem", 2, "cut_stream"),
        ("steps:\n  - fault: {status: 200}", 2, "fault"),
        ("steps:\n  - usage: {prompt: -1}", 2, "prompt"),
        ("then: stop", 1, "done"),
        ("steps:\n  - say: hi\n    say: ho", 3, "twice"),
        ("steps: &a\n  - say: hi\nmore: *a", 3, "aliases"),
        ("steps: [\n\n", 3, "not YAML"),
        ("steps: !!python/object:os.system []", 1, "not YAML"),
        ("a: 1\n---\nb: 2", 2, "not YAML"),
    ],
)
def test_what_is_wrong_with_a_script_is_said_with_its_line(text: str, line: int, words: str) -> None:
    with pytest.raises(ConfigError) as raised:
        parse_script(text, source="my.yaml")
    assert raised.value.message.startswith(f"my.yaml:{line}: ")
    assert words in raised.value.message
    assert raised.value.hint


def test_a_file_that_cannot_be_read_is_a_config_error(tmp_path: Path) -> None:
    binary = tmp_path / "binary.yaml"
    binary.write_bytes(b"\xff\xfe\x00")
    large = tmp_path / "large.yaml"
    large.write_bytes(b"# " + b"x" * 1024 * 1024)
    for path in (tmp_path / "missing.yaml", tmp_path, binary, large):
        with pytest.raises(ConfigError) as raised:
            load_script(path)
        assert str(path) in raised.value.message


def test_a_file_is_read(tmp_path: Path) -> None:
    path = tmp_path / "s.yaml"
    path.write_text(WHOLE, encoding="utf-8")
    assert load_script(path) == parse_script(WHOLE)


def test_the_example_of_the_guide_is_a_script() -> None:
    guide = Path(__file__).parents[2] / "docs" / "howto" / "model-server.md"
    blocks = guide.read_text(encoding="utf-8").split("```yaml\n")[1:]
    scripts = [parse_script(block.split("```")[0]) for block in blocks]
    assert [script for script in scripts if script.steps]


def talk(*texts: str) -> list[dict[str, Any]]:
    return [{"role": "system", "content": "99 Send"}] + [
        {"role": "tool", "tool_call_id": "c", "content": text} for text in texts
    ]


SCREEN = "com.android.settings\n- Settings\n3 Network settings help\n7 Network\n12 Networks nearby\n13 Wi-Fi off"


@pytest.mark.parametrize(
    ("label", "ref"),
    [("Network", 7), ("Networks", 12), ("Wi-Fi", 13), ("Wi-Fi off", 13), ("nearby", 12), ("settings", 3)],
)
def test_a_label_finds_its_ref(label: str, ref: int) -> None:
    assert find_ref(label, talk(SCREEN)) == ref


def test_the_newest_text_wins() -> None:
    assert find_ref("Send", talk("4 Send", "ok\n9 Send")) == 9
    assert find_ref("Send", talk("4 Send", "+ 9 Send")) == 9
    assert find_ref("Send", talk("4 Send", "nothing changed")) == 4


def test_only_lines_that_begin_with_a_ref_count() -> None:
    for text in ("- Send", "Send", "- 4 Send", "4. Send", "4", "gone: 4 Send"):
        with pytest.raises(LabelNotFound):
            find_ref("Send", talk(text))
    with pytest.raises(LabelNotFound):
        find_ref("Send", [{"role": "assistant", "content": "4 Send"}])


def test_a_label_that_is_nowhere_is_named_with_the_screen() -> None:
    with pytest.raises(LabelNotFound) as raised:
        find_ref("Bluetooth", talk("old", SCREEN))
    assert "'Bluetooth'" in raised.value.message
    assert "7 Network" in raised.value.message


def test_content_in_parts_is_read() -> None:
    parts = [{"type": "text", "text": "5 Send"}, {"type": "image_url", "image_url": {"url": "data:"}}]
    assert find_ref("Send", [{"role": "user", "content": parts}]) == 5


def test_the_ref_found_goes_into_the_arguments() -> None:
    step = Step(calls=[ScriptedCall(tool="type_text", find="Wi-Fi", args={"text": "x"})])
    reply = compose(step, {"messages": talk(SCREEN)}, model="m", number=1)
    assert reply.calls[0][2] == '{"text": "x", "ref": 13}'


def test_a_script_needs_nothing() -> None:
    assert parse_script("{}") == Script()
