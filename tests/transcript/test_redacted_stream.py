"""Text that streams to a terminal holds no secret, however it is cut into pieces."""

from __future__ import annotations

from hypothesis import given
from hypothesis import strategies as st

from droidpilot.transcript.redaction import RedactedStream, Redactor


def streamed(secret: str, pieces: list[str]) -> str:
    out: list[str] = []
    stream = RedactedStream(Redactor([secret]), out.append)
    for piece in pieces:
        stream(piece)
    return "".join(out)


@given(
    st.text("abc", max_size=12), st.text("abcd", min_size=4, max_size=9), st.text("abc", max_size=12), st.integers(1, 5)
)
def test_a_secret_is_hidden_wherever_it_is_cut(before: str, secret: str, after: str, size: int) -> None:
    text = before + secret + after
    pieces = [text[at : at + size] for at in range(0, len(text), size)]
    assert secret not in streamed(secret, pieces)


def test_other_text_arrives_whole_and_in_time() -> None:
    assert streamed("hunter2", ["Open ", "the hu", "t door."]) == "Open the hut door."
    assert streamed("hunter2", ["Say hunt", "er2 now."]) == "Say [redacted] now."


def test_a_reply_that_starts_over_forgets_what_was_held_back() -> None:
    assert streamed("hunter2", ["hunt", "", "er2 is said"]) == "er2 is said"
