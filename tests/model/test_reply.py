"""A reply while it arrives: text, thoughts, usage and errors out of chunks of any shape."""

from __future__ import annotations

from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st
from tests.fakes.raw_endpoint import delta

from droidpilot.core.errors import ModelUnusable
from droidpilot.model.reply import Draft, StreamError, error_in


def drafted(*chunks: Any) -> tuple[Draft, list[str]]:
    draft = Draft()
    pieces = [draft.add(chunk) for chunk in chunks]
    pieces.append(draft.finish())
    return draft, [piece for piece in pieces if piece]


def thoughts(draft: Draft) -> str:
    usage = draft.usage(prices=None, prompt_estimate=lambda: 1)
    return draft.reply(usage=usage, asked_model="m", attempts=1).reasoning


def test_text_comes_out_as_it_comes_in() -> None:
    draft, pieces = drafted(delta(content="I "), delta(content="tap\x00."), delta("stop"))
    assert pieces == ["I ", "tap."]
    assert draft.text == "I tap."
    assert draft.finish_reason == "stop"


def test_text_in_typed_parts_is_read() -> None:
    parts = [{"type": "text", "text": "Hi"}, {"type": "image", "text": "no"}, 3]
    assert drafted(delta(content=parts))[0].text == "Hi"


@pytest.mark.parametrize("field", ["reasoning_content", "reasoning"])
def test_reasoning_is_never_the_answer(field: str) -> None:
    draft, pieces = drafted(delta(**{field: "I should tap"}), delta("stop"))
    assert pieces == []
    assert draft.is_empty
    assert draft.is_started
    assert thoughts(draft) == "I should tap"


@pytest.mark.parametrize("size", [1, 3, 7, 100])
def test_a_think_block_in_front_of_the_text_is_reasoning(size: int) -> None:
    text = "\n<think>Where is < it?</think>\n\nI tap it, 1 < 2."
    chunks = [delta(content=text[start : start + size]) for start in range(0, len(text), size)]
    draft, pieces = drafted(*chunks)
    assert "".join(pieces) == draft.text
    assert draft.text.strip() == "I tap it, 1 < 2."
    assert thoughts(draft) == "Where is < it?"


def test_a_think_block_that_never_ends_is_no_answer() -> None:
    draft, _ = drafted(delta(content="<think>Hm"), delta(content="m"), delta("length"))
    assert draft.is_empty
    assert thoughts(draft) == "Hmm"


@given(st.lists(st.sampled_from(["<", "<think>", "thi", "nk>", " ", "a", "<b>", "\n"]), max_size=8))
def test_text_without_a_think_block_is_never_lost(parts: list[str]) -> None:
    text = "".join(parts)
    if text.lstrip().startswith("<think>"):
        return
    draft, pieces = drafted(*(delta(content=part) for part in parts))
    assert draft.text == "".join(pieces) == text


@pytest.mark.parametrize(
    ("chunk", "status", "message"),
    [
        ({"choices": None, "error": {"code": 429, "message": "slow down"}}, 429, "slow down"),
        ({"error": "boom"}, 0, "boom"),
        ({"error": {"message": None}}, 0, "without words"),
        ({"error": {"error": {"message": "inner", "code": 503}}}, 503, "inner"),
        ({"object": "error", "message": "busy", "code": 500}, 500, "busy"),
        ({"type": "error", "detail": ["x"]}, 0, "x"),
        ({"error": {"code": "rate_limit", "message": "m"}}, 0, "m"),
        ({"error": 1}, 0, "without words"),
    ],
)
def test_report_b42_an_error_object_is_found(chunk: dict[str, Any], status: int, message: str) -> None:
    error = error_in(chunk)
    assert error is not None
    assert error.status == status
    assert message in error.message
    with pytest.raises(StreamError):
        Draft().add(chunk)


@pytest.mark.parametrize("chunk", [{}, {"error": None}, {"error": {}}, {"choices": []}, {"choices": [None]}])
def test_a_chunk_without_anything_is_nothing(chunk: dict[str, Any]) -> None:
    assert not drafted(chunk)[0].is_started


def test_the_last_usage_counts() -> None:
    draft, _ = drafted(
        {"usage": {"prompt_tokens": 5, "completion_tokens": 1}, "choices": []},
        {"usage": None, "choices": []},
        {"usage": {"prompt_tokens": 5, "completion_tokens": 9}, "choices": []},
    )
    assert draft.usage(prices=None, prompt_estimate=lambda: 1).tokens == 14


def test_a_model_name_is_one_short_line() -> None:
    draft, _ = drafted({"model": "big\nmodel\x1b" + "x" * 900})
    assert draft.model.startswith("big model x")
    assert len(draft.model) <= 200


def test_only_the_first_choice_counts() -> None:
    second = {"index": 1, "delta": {"content": "other"}}
    assert drafted({"choices": [{"index": 0, "delta": {"content": "one"}}, second]})[0].text == "one"


def test_a_text_without_end_is_refused() -> None:
    with pytest.raises(ModelUnusable):
        drafted(*(delta(content="x" * 65536) for _ in range(17)))
    with pytest.raises(ModelUnusable):
        drafted(*(delta(reasoning="x" * 65536) for _ in range(17)))


junk = st.recursive(
    st.none() | st.booleans() | st.integers() | st.text(max_size=6),
    lambda inner: (
        st.lists(inner, max_size=3)
        | st.dictionaries(
            st.sampled_from(
                [
                    "choices",
                    "delta",
                    "message",
                    "content",
                    "tool_calls",
                    "finish_reason",
                    "usage",
                    "model",
                    "error",
                    "text",
                ]
            ),
            inner,
            max_size=5,
        )
    ),
    max_leaves=15,
)


@given(st.lists(junk, max_size=4))
def test_chunks_of_any_shape_are_read_or_refused(chunks: list[Any]) -> None:
    draft = Draft()
    for chunk in chunks:
        try:
            draft.add(chunk)
        except StreamError as error:
            assert error.message
    draft.finish()
    usage = draft.usage(prices=None, prompt_estimate=lambda: 1)
    draft.reply(usage=usage, asked_model="m", attempts=1)
