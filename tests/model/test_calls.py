"""Calls put together from a stream's pieces: strict JSON or malformed, never repaired, never executed by chance."""

from __future__ import annotations

import json
from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st

from droidpilot.core.errors import ModelUnusable
from droidpilot.model.calls import CallAssembly
from droidpilot.model.client import ReplyCall


def piece(arguments: Any = "", *, name: Any = None, **fields: Any) -> dict[str, Any]:
    return {**fields, "function": {"name": name, "arguments": arguments}}


def assembled(*pieces: object, is_cut: bool = False) -> tuple[ReplyCall, ...]:
    assembly = CallAssembly()
    for one in pieces:
        assembly.add(one)
    return assembly.finish(is_cut=is_cut)


@pytest.mark.parametrize(
    ("arguments", "reason"),
    [
        ("", "missing"),
        ("  \n", "missing"),
        (None, "missing"),
        (12, "missing"),
        ('{"ref": ', "not valid JSON"),
        ('{"ref": 1}}', "not valid JSON"),
        ('{"ref": 1}{"ref": 2}', "not valid JSON"),
        ("{'ref': 1}", "not valid JSON"),
        ('{"ref": 1,}', "not valid JSON"),
        ('```json\n{"ref": 1}\n```', "not valid JSON"),
        ('{"ref": NaN}', "NaN is not JSON"),
        ('{"ref": 1, "ref": 2}', "stands twice"),
        ('{"a": {"b": 1, "b": 2}}', "stands twice"),
        ('{"text": "a\tb"}', "not valid JSON"),
        ('{"text": "a\x00b"}', "not valid JSON"),
        ('{"text": "a\\u0000b"}', "NUL"),
        ('{"text": "\\ud83d"}', "half a character"),
        ('{"\\udc00": 1}', "half a character"),
        ('{"n": ' + "9" * 5000 + "}", "not valid JSON"),
        ("[1]", "not a list"),
        ('"tap"', "not a text"),
        ("null", "not null"),
        ("true", "not true or false"),
        ("7", "not a number"),
        ('{"a":' * 200_000, "nested too deeply"),
    ],
)
def test_inv_51_arguments_that_are_no_strict_object_are_malformed(arguments: Any, reason: str) -> None:
    (call,) = assembled(piece(arguments, name="tap", index=0, id="a"))
    assert reason in call.malformed
    assert dict(call.arguments) == {}
    assert call.arguments_json == "{}"
    assert len(call.malformed) < 300


def test_arguments_are_sent_back_as_they_came() -> None:
    (call,) = assembled(piece('{ "ref" :12 }', name="tap", index=0, id="a"))
    assert call.arguments == {"ref": 12}
    assert call.arguments_json == '{ "ref" :12 }'


def test_a_call_in_pieces_is_one_call() -> None:
    calls = assembled(
        piece("", name="tap", index=0, id="a"),
        piece('{"re', index=0),
        piece('f": 1}', index=0),
    )
    assert [(call.id, call.tool, dict(call.arguments)) for call in calls] == [("a", "tap", {"ref": 1})]


def test_an_endpoint_that_repeats_name_and_id_makes_no_second_call() -> None:
    same: dict[str, Any] = {"name": "tap", "index": 0, "id": "a"}
    calls = assembled(piece('{"ref": ', **same), piece("1}", **same), piece("", **same))
    assert [(call.tool, dict(call.arguments)) for call in calls] == [("tap", {"ref": 1})]


def test_an_endpoint_that_repeats_the_name_without_id_makes_no_second_call() -> None:
    calls = assembled(piece('{"ref": 1}', name="tap", index=0), piece("", name="tap", index=0))
    assert [dict(call.arguments) for call in calls] == [{"ref": 1}]


@pytest.mark.parametrize("second", [{"id": "b"}, {"index": 0, "id": "b"}, {"index": 0}, {}])
def test_glued_calls_are_taken_apart(second: dict[str, Any]) -> None:
    first = {"id": "a"} if "index" not in second else {"id": "a", "index": 0}
    calls = assembled(
        piece('{"ref": 1}', name="tap", **first),
        piece('{"key": "back"}', name="press", **second),
    )
    assert [(call.tool, dict(call.arguments)) for call in calls] == [("tap", {"ref": 1}), ("press", {"key": "back"})]


def test_pieces_that_alternate_go_to_their_own_call() -> None:
    calls = assembled(
        piece("", name="tap", index=0, id="a"),
        piece("", name="press", index=1, id="b"),
        piece('{"ref": ', index=0),
        piece('{"key": ', index=1),
        piece("1}", index=0),
        piece('"back"}', index=1),
    )
    assert [dict(call.arguments) for call in calls] == [{"ref": 1}, {"key": "back"}]


def test_arguments_given_as_an_object_are_taken() -> None:
    (call,) = assembled(piece({"ref": 1}, name="tap", index=0, id="a"))
    assert call.arguments == {"ref": 1}
    assert json.loads(call.arguments_json) == {"ref": 1}


def test_ids_that_are_missing_double_or_odd_are_made() -> None:
    good = '{"ref": 1}'
    calls = assembled(
        piece(good, name="tap", index=0),
        piece(good, name="tap", index=1, id="x"),
        piece(good, name="tap", index=2, id="x"),
        piece(good, name="tap", index=3, id="a\nb"),
        piece(good, name="tap", index=4, id="y" * 300),
        piece(good, name="tap", index=5, id="call_0"),
    )
    ids = [call.id for call in calls]
    assert len(set(ids)) == 6
    assert ids[1] == "x"
    assert all(one.isprintable() and len(one) < 260 for one in ids)


@pytest.mark.parametrize("name", ["", None, "a b", "tap;rm", "x" * 65, "\u0442\u0430\u0440", 7])
def test_a_name_that_no_tool_can_have_is_malformed_and_sent_back_clean(name: Any) -> None:
    (call,) = assembled(piece('{"ref": 1}', name=name, index=0, id="a"))
    assert call.malformed
    assert call.tool.isascii()
    assert 0 < len(call.tool) <= 64


def test_report_b43_a_cut_reply_makes_every_call_malformed() -> None:
    calls = assembled(
        piece('{"text": "Send 100 to Alice"}', name="type_text", index=0, id="a"),
        piece('{"text": "Send 100 to Al', name="type_text", index=1, id="b"),
        is_cut=True,
    )
    assert all("token limit" in call.malformed and not call.arguments for call in calls)


def test_absurd_amounts_are_refused() -> None:
    with pytest.raises(ModelUnusable):
        assembled(*(piece("{}", name="tap", index=index, id=f"c{index}") for index in range(65)))
    with pytest.raises(ModelUnusable):
        assembled(*(piece("x" * 65536, name="tap", index=0, id="a") for _ in range(17)))


values = st.integers() | st.booleans() | st.none() | st.text(max_size=8)


@given(st.dictionaries(st.text(max_size=8), values | st.lists(values, max_size=3), max_size=4), st.data())
def test_any_object_cut_anywhere_into_pieces_comes_out_whole(value: dict[str, Any], data: st.DataObject) -> None:
    text = json.dumps(value)
    cuts = sorted(data.draw(st.lists(st.integers(0, len(text)), max_size=5)))
    parts = [text[start:end] for start, end in zip([0, *cuts], [*cuts, len(text)], strict=True)]
    (call,) = assembled(piece("", name="tap", index=0, id="a"), *(piece(part, index=0) for part in parts))
    if not call.malformed:  # NUL and half characters are refused
        assert call.arguments == value
    else:
        assert "\\u0000" in text or "\\ud" in text


@given(st.dictionaries(st.text(min_size=1, max_size=4), st.integers(), min_size=1), st.data())
def test_inv_51_no_true_prefix_of_an_object_is_ever_executed(value: dict[str, int], data: st.DataObject) -> None:
    text = json.dumps(value)
    end = data.draw(st.integers(0, len(text) - 1))
    (call,) = assembled(piece(text[:end], name="tap", index=0, id="a"))
    assert call.malformed


junk = st.recursive(
    st.none() | st.booleans() | st.integers() | st.floats() | st.text(max_size=10),
    lambda inner: (
        st.lists(inner, max_size=3)
        | st.dictionaries(st.sampled_from(["index", "id", "function", "name", "arguments", "type"]), inner, max_size=4)
    ),
    max_leaves=12,
)


@given(st.lists(junk, max_size=6))
def test_junk_never_raises_and_never_makes_a_runnable_call_without_an_object(pieces: list[Any]) -> None:
    for call in assembled(*pieces):
        assert isinstance(json.loads(call.arguments_json), dict)
        assert call.malformed or json.loads(call.arguments_json) == call.arguments
