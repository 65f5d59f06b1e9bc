"""Verification: a changed, deleted, inserted, reordered or cut line is found, and the first bad one is named."""

from __future__ import annotations

from pathlib import Path

import pytest
from hypothesis import given
from hypothesis import strategies as st

from droidpilot.core.clock import ManualClock
from droidpilot.core.events import Noted
from droidpilot.transcript import chain
from droidpilot.transcript.reader import parse, read_events
from droidpilot.transcript.redaction import Redactor
from droidpilot.transcript.verify import Verification, verify, verify_bytes
from droidpilot.transcript.writer import TranscriptWriter

SESSION = "20261130-211455-k3f9"
COUNT = 6


def made(count: int = COUNT, session: str = SESSION) -> tuple[list[bytes], bytes]:
    """Make the lines of a transcript, with their newlines, and its head."""
    lines, head = [], chain.START
    for seq in range(count):
        fields = {"v": 1, "seq": seq, "ts": "t", "session": session, "kind": "noted", "text": f"line {seq}"}
        line, digest = chain.seal(fields, head.hash)
        lines.append(line)
        head = chain.Head(seq, digest)
    return lines, chain.head_record(head)


def check(lines: list[bytes], head: bytes | None) -> Verification:
    return verify_bytes(b"".join(lines), head, session=SESSION)


def test_an_untouched_transcript_verifies() -> None:
    lines, head = made()
    assert check(lines, head) == Verification(True, None, "", COUNT, end=chain.Head(5, head[14:78].decode()))


def test_a_transcript_without_lines_verifies() -> None:
    assert check([], chain.head_record(chain.START)).ok


@pytest.mark.parametrize("at", range(COUNT))
def test_inv_96_a_changed_line_is_found(at: int) -> None:
    lines, head = made()
    for old, new in ((b'"line', b'"Line'), (b'"t"', b'"u"'), (b'"noted"', b'"other"'), (b'"seq":', b'"seq": ')):
        changed = [*lines]
        changed[at] = changed[at].replace(old, new)
        found = check(changed, head)
        assert (found.ok, found.first_bad_line) == (False, at + 1), new


@pytest.mark.parametrize("at", range(COUNT))
def test_inv_96_a_changed_line_with_a_new_hash_is_found_at_the_line_after_it(at: int) -> None:
    lines, head = made()
    sealed = chain.unseal(lines[at][:-1])
    assert sealed is not None
    lines[at], _ = chain.seal({**sealed.fields, "text": "forged"}, sealed.prev)
    found = check(lines, head)
    assert (found.ok, found.first_bad_line) == (False, at + 2 if at + 1 < COUNT else at + 1)


@pytest.mark.parametrize("at", range(COUNT - 1))
def test_inv_96_a_deleted_line_is_found(at: int) -> None:
    lines, head = made()
    found = check(lines[:at] + lines[at + 1 :], head)
    assert (found.ok, found.first_bad_line) == (False, at + 1)


@pytest.mark.parametrize("at", range(COUNT + 1))
@pytest.mark.parametrize("new", ["copy", "forged", "garbage", "blank"])
def test_inv_96_an_inserted_line_is_found(at: int, new: str) -> None:
    lines, head = made()
    sealed = chain.unseal(lines[max(0, at - 1)][:-1])
    assert sealed is not None
    forged = chain.seal({**sealed.fields, "seq": at}, sealed.claimed)[0]
    line = {"copy": lines[2], "forged": forged, "garbage": b"garbage\n", "blank": b"\n"}[new]
    if new == "copy" and at in (2, 3):
        return  # a copy beside itself: either of the two is the inserted one; the next test has it
    if new == "forged" and at == COUNT:
        # One well-formed line more than the head says is what a kill between line and head leaves.
        assert check([*lines, forged], head).is_head_behind
        return
    found = check([*lines[:at], line, *lines[at:]], head)
    assert not found.ok
    assert found.first_bad_line in (at + 1, at + 2) if new == "forged" else found.first_bad_line == at + 1


def test_inv_96_a_doubled_line_is_found() -> None:
    lines, head = made()
    found = check([*lines[:3], lines[2], *lines[3:]], head)
    assert (found.ok, found.first_bad_line) == (False, 4)


def test_two_lines_more_than_the_head_says_are_not_ours() -> None:
    lines, _ = made()
    _, old_head = made(COUNT - 2)
    found = check(lines, old_head)
    assert (found.ok, found.first_bad_line) == (False, COUNT - 1)


@pytest.mark.parametrize("at", range(COUNT - 1))
def test_inv_96_two_swapped_lines_are_found(at: int) -> None:
    lines, head = made()
    lines[at], lines[at + 1] = lines[at + 1], lines[at]
    found = check(lines, head)
    assert (found.ok, found.first_bad_line) == (False, at + 1)


@pytest.mark.parametrize("seq", [0, 2, True, "1", None])
def test_a_wrong_number_is_found_even_in_an_unbroken_chain(seq: object) -> None:
    (first,), _ = made(1)
    sealed = chain.unseal(first[:-1])
    assert sealed is not None
    second, digest = chain.seal({**sealed.fields, "seq": seq}, sealed.claimed)
    found = check([first, second], chain.head_record(chain.Head(1, digest)))
    assert (found.ok, found.first_bad_line) == (False, 2)


@pytest.mark.parametrize("left", range(COUNT))
def test_inv_96_a_cut_at_the_end_is_found(left: int) -> None:
    lines, head = made()
    found = check(lines[:left], head)
    assert (found.ok, found.first_bad_line) == (False, left + 1)
    assert "cut off" in found.reason
    torn = check([*lines[:left], lines[left][:-20]], head)
    assert (torn.ok, torn.first_bad_line) == (False, left + 1)


def test_inv_96_lines_of_another_session_are_found() -> None:
    lines, head = made(session="20261130-211455-aaaa")
    found = check(lines, head)
    assert (found.ok, found.first_bad_line) == (False, 1)


@pytest.mark.parametrize("head", [None, b"", b"garbage", b"+000000000005 " + b"0" * 63 + b"\n"])
def test_a_missing_or_broken_head_is_found(head: bytes | None) -> None:
    found = check(made()[0], head)
    assert (found.ok, found.first_bad_line) == (False, COUNT + 1)
    assert "head" in found.reason


def test_a_replaced_head_is_found() -> None:
    found = check(made()[0], chain.head_record(chain.Head(5, "0" * 64)))
    assert (found.ok, found.first_bad_line) == (False, COUNT)


def test_a_head_one_behind_is_a_crash() -> None:
    lines, _ = made()
    found = check(lines, made(COUNT - 1)[1])
    assert found.ok
    assert found.is_head_behind


def test_bytes_put_before_a_note_that_vouches_for_others_are_found(tmp_path: Path) -> None:
    clock, redactor = ManualClock(), Redactor()
    with TranscriptWriter.create(tmp_path, SESSION, clock=clock, redactor=redactor) as writer:
        writer.append(Noted(text="one"))
    whole = writer.path.read_bytes()
    writer.path.write_bytes(whole + b'{"v":1,')
    with TranscriptWriter.reopen(tmp_path, SESSION, clock=clock, redactor=redactor) as writer:
        writer.append(Noted(text="two"))
    assert verify(writer.directory).ok
    for old, new in ((b'{"v":1,\n', b'{"v":2,\n'), (b'{"v":1,\n', b""), (b'{"v":1,\n', b'{"v":1,\nx\n')):
        data = writer.path.read_bytes()
        tampered = data[: len(whole)] + data[len(whole) :].replace(old, new, 1)
        found = verify_bytes(tampered, (writer.directory / "HEAD").read_bytes(), session=SESSION)
        # Where the bytes are gone, the note still stands in the chain, so nothing that counts was changed.
        assert found.ok == (new == b"")


def test_a_directory_without_a_transcript_does_not_verify(tmp_path: Path) -> None:
    assert not verify(tmp_path).ok


@given(st.binary(max_size=300), st.binary(max_size=100))
def test_no_bytes_make_reading_or_verifying_fail(data: bytes, head: bytes) -> None:
    lines, _ = made(2)
    for whole in (data, lines[0] + data, data + b"\n" + lines[0], lines[0] + data + b"\n" + lines[1]):
        parse(whole)
        verify_bytes(whole, head, session=SESSION)


@given(st.data())
def test_any_changed_byte_is_found(data: st.DataObject) -> None:
    lines, head = made(3)
    whole = b"".join(lines)
    at = data.draw(st.integers(0, len(whole) - 2))
    new = data.draw(st.integers(0, 255).filter(lambda value: value != whole[at]))
    found = verify_bytes(whole[:at] + bytes([new]) + whole[at + 1 :], head, session=SESSION)
    assert not found.ok
    assert found.first_bad_line == whole[:at].count(b"\n") + 1


@given(st.data())
def test_whatever_is_cut_out_of_it_is_found(data: st.DataObject) -> None:
    lines, head = made(3)
    whole = b"".join(lines)
    left = data.draw(st.integers(0, len(whole) - 2))
    right = data.draw(st.integers(left + 1, len(whole)))
    found = verify_bytes(whole[:left] + whole[right:], head, session=SESSION)
    is_only_newline = (left, right) == (len(whole) - 1, len(whole))
    assert found.ok == is_only_newline


def test_a_deep_or_huge_line_is_garbage_and_no_more() -> None:
    tail = b',"prev":"' + b"0" * 64 + b'","hash":"' + b"0" * 64 + b'"}'
    for line in (
        b'{"a":' + b"[" * 100_000 + tail,
        b"[" + tail,
        b"x" * (9 * 1024 * 1024) + tail,
        b'{"a":1' + tail + b" ",
    ):
        assert len(parse(line + b"\n").bad) == 1


def test_lines_of_a_later_version_are_read_as_they_are(tmp_path: Path) -> None:
    from droidpilot.transcript.reader import RawEvent

    line, digest = chain.seal(
        {"v": 2, "seq": 0, "ts": "t", "session": SESSION, "kind": "dreamt", "of": ["sheep"]}, chain.GENESIS
    )
    path = tmp_path / "transcript.jsonl"
    path.write_bytes(line)
    (only,) = read_events(path).lines
    assert only.event == RawEvent("dreamt", {"kind": "dreamt", "of": ["sheep"]})
    assert verify_bytes(line, chain.head_record(chain.Head(0, digest)), session=SESSION).ok
