"""The written list: whatever stands in the file, it is a list, or one that cannot be read; never anything else."""

from __future__ import annotations

import json
from pathlib import Path
from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st

from droidpilot.core.errors import DroidpilotError, UsageError
from droidpilot.device.kept import FOLDER, KINDS, Change, ChangeList, every_list

PHONE = "SN1"
GOOD: dict[str, Any] = {
    "kind": "setting",
    "namespace": "global",
    "key": "window_animation_scale",
    "before": "1.0",
    "ours": ["0"],
    "since": "2026-01-01T00:00:00Z",
    "pid": 1,
    "serial": "S",
}


def put(home: Path, changes: object, version: object = 1) -> ChangeList:
    """Write a file as it may be found, and return the list that reads it."""
    listed = ChangeList(home, PHONE)
    (home / FOLDER).mkdir(parents=True, exist_ok=True)
    for old in (home / FOLDER).iterdir():
        old.unlink()
    told = {"v": version, "phone": PHONE, "changes": changes}
    listed._path.write_text(json.dumps(told), encoding="utf-8")
    return listed


def test_a_change_that_is_one_is_read(tmp_path: Path) -> None:
    (change,) = put(tmp_path, [GOOD]).read()
    assert (change.what, change.before, change.ours) == ("global/window_animation_scale", "1.0", ("0",))


@pytest.mark.parametrize(
    "odd",
    [
        {"ours": []},
        {"ours": ""},
        {"ours": "abc"},
        {"ours": [1]},
        {"kind": "enabled", "ours": []},
        {"kind": "enabled", "ours": ["a/.B", "c/.D"]},
        {"kind": "enabled", "ours": [""]},
        {"kind": "keyboard", "ours": [""]},
        {"kind": ["setting"]},
        {"before": "\ud83d"},
        {"before": "\0x"},
        {"serial": "\ud83d"},
        {"serial": "a\x1b[2J"},
        {"since": "z" * 100_000},
        {"pid": 10**30},
        {"pid": float("inf")},
        {"pid": True},
        {"namespace": "glo bal;reboot"},
        {"key": "a b"},
        {"key": ""},
    ],
)
def test_a_change_that_is_none_is_set_aside_with_one_line(tmp_path: Path, odd: dict[str, Any]) -> None:
    listed = put(tmp_path, [GOOD, GOOD | odd])
    with pytest.raises(UsageError) as caught:
        listed.read()
    assert caught.value.code == "list_unreadable" and caught.value.message.isprintable()
    aside = listed.set_aside()
    assert aside is not None and aside.is_file()
    assert listed.read() == () and every_list(tmp_path) == []


ANY = st.recursive(
    st.none() | st.booleans() | st.integers() | st.floats() | st.text(max_size=8) | st.just("\ud800"),
    lambda some: st.lists(some, max_size=3) | st.dictionaries(st.text(max_size=5), some, max_size=3),
    max_leaves=8,
)


def nearly() -> st.SearchStrategy[dict[str, Any]]:
    """A change of which some fields are anything."""
    odd = st.dictionaries(st.sampled_from(sorted(GOOD)), ANY, max_size=3)
    return st.builds(lambda kind, some: GOOD | {"kind": kind} | some, st.sampled_from(KINDS), odd)


@given(st.one_of(ANY, st.lists(nearly() | ANY, max_size=3)), st.just(1) | ANY)
def test_any_json_is_a_list_or_one_that_cannot_be_read(
    tmp_path_factory: pytest.TempPathFactory, changes: Any, version: Any
) -> None:
    home = tmp_path_factory.getbasetemp() / "any"
    listed = put(home, changes, version)
    try:
        read = listed.read()
    except DroidpilotError as error:
        assert str(error).isprintable()
        listed.set_aside()
        return
    for change in read:
        assert isinstance(change, Change) and change.ours and all(isinstance(one, str) for one in change.ours)
        assert change.kind != "enabled" or len(change.ours) == 1
        listed.put(change)
        listed.remove(change)


@given(st.binary(max_size=200))
def test_any_bytes_are_a_list_or_one_that_cannot_be_read(tmp_path_factory: pytest.TempPathFactory, data: bytes) -> None:
    listed = put(tmp_path_factory.getbasetemp() / "bytes", [])
    listed._path.write_bytes(data)
    with pytest.raises(UsageError):
        listed.read()
