"""Redaction: no secret in any field, in any form, in the transcript, its artifacts or its meta file."""

from __future__ import annotations

import base64
import json
from pathlib import Path
from typing import Any
from urllib.parse import quote, quote_plus
from xml.sax.saxutils import escape, quoteattr

import pytest
from hypothesis import assume, given
from hypothesis import strategies as st

from droidpilot.core.clock import ManualClock
from droidpilot.core.events import (
    EVENTS,
    AskedFor,
    CommandGiven,
    Event,
    ModelReplied,
    Noted,
    ScreenObserved,
    SessionStarted,
    Target,
    TargetNode,
    ToolCalled,
    ToolReturned,
    VerdictLine,
)
from droidpilot.transcript.meta import Meta, MetaFile
from droidpilot.transcript.reader import read_events
from droidpilot.transcript.redaction import MARK, Redactor
from droidpilot.transcript.verify import verify
from droidpilot.transcript.writer import TranscriptWriter

SESSION = "20261130-211455-k3f9"
SECRET = "hunter2'n \"<&é"


def events(text: str) -> list[Event]:
    """Make events that carry `text` wherever somebody else's words can stand."""
    deep = {text: [text, {"a": text, text: (text, 5)}]}
    forms = {"raw": text, "cleaned": text, "folded": text}
    node = TargetNode(ref=1, cls=text, resource_id=text, package=text, bounds=(0, 0, 1, 1), **forms)
    return [
        Noted(text=text),
        Noted(text=f"before {text} after {text}"),
        CommandGiven(tool=text, arguments=deep, call_id="c1"),
        SessionStarted(
            goal=text,
            origin="model",
            version=text,
            serial=text,
            is_virtual=True,
            model=text,
            base_url=text,
            policy=text,
            policy_digest="d",
            ask="risky",
            approver="none",
            tools=[text],
            limits={text: None},
            checks=[text],
        ),
        ModelReplied(
            turn=1,
            model=text,
            text=text,
            calls=[AskedFor(call_id="c2", model_call_id=text, tool=text, arguments=deep, malformed=text)],
            finish_reason=text,
            prompt_tokens=1,
            completion_tokens=1,
            cached_tokens=0,
            usd=None,
            is_estimated=False,
            attempts=1,
            ms=1,
        ),
        ToolCalled(
            call_id="c2",
            origin="model",
            turn_kind="user",
            tool=text,
            effect="write",
            tier="blind",
            arguments=deep,
            sentence=text,
            screen=1,
            target=Target(package=text, nodes=[node]),
            signals=[text],
            verdicts=[VerdictLine(gate="rules", answer="allow", code=text, reason=text, rule=text)],
            send_key="k",
        ),
        ToolReturned(
            call_id="c2",
            tool=text,
            status="ok",
            sent="yes",
            code=text,
            text=text,
            artifact="",
            screen=1,
            ms=1,
            ends=text,
        ),
    ]


def write(home: Path, secret: str, written: list[Event]) -> TranscriptWriter:
    with TranscriptWriter.create(home, SESSION, clock=ManualClock(), redactor=Redactor([secret])) as writer:
        for event in written:
            writer.append(event)
    return writer


def all_bytes(home: Path) -> bytes:
    return b"".join(path.read_bytes() for path in home.rglob("*") if path.is_file())


@given(st.text(min_size=4, max_size=40), st.text(max_size=5))
def test_inv_41_a_secret_in_any_field_never_reaches_the_file(
    tmp_path_factory: pytest.TempPathFactory, secret: str, around: str
) -> None:
    secret = secret.encode("utf-8", "replace").decode()
    assume(len(secret.strip()) >= 4)
    harmless = write(tmp_path_factory.mktemp("a"), "x" * 50, events("")).path.read_text()
    assume(secret not in harmless and secret not in MARK and secret.strip() not in harmless)
    home = tmp_path_factory.mktemp("b")
    writer = write(home, secret, events(f"{around}{secret}{around}"))
    found = all_bytes(home)
    for form in {secret, secret.strip(), json.dumps(secret)[1:-1], json.dumps(secret, ensure_ascii=False)[1:-1]}:
        # The marker and its neighbours may spell it by chance; then the secret itself holds a bracket.
        assert form.encode() not in found.replace(MARK.encode(), b"\x00")
    assert verify(writer.directory).ok
    assert MARK in writer.path.read_text()


def test_every_event_can_be_read_back_after_redaction(tmp_path: Path) -> None:
    written = events("x")
    assert len(read_events(write(tmp_path, SECRET, written).directory).lines) == len(written)
    for event in events(SECRET):
        again = EVENTS.validate_python(Redactor([SECRET]).fields(event))
        assert type(again) is type(event)


@pytest.mark.parametrize("word", ["write", "read", "allow", "deny", "tool_called", "noted", "unknown"])
def test_a_secret_that_is_one_of_our_words_does_not_hide_what_became_of_a_call(word: str) -> None:
    fields = Redactor([word]).fields(events(word)[5])
    assert (fields["kind"], fields["effect"]) == ("tool_called", "write")
    assert fields["sentence"] == MARK


def test_a_short_secret_is_not_looked_for_in_ids_but_a_long_one_is() -> None:
    digest = "ab1234" + "0" * 58
    event = ScreenObserved(
        screen=1,
        why="call",
        package="com.a1234",
        activity=None,
        fingerprint=digest,
        nodes=1,
        is_settled=True,
        is_complete=True,
        ms=1234,
        artifact=digest,
    )
    fields = Redactor(["1234"]).fields(event)
    assert (fields["fingerprint"], fields["artifact"], fields["package"]) == (digest, digest, f"com.a{MARK}")
    assert Redactor([digest[:20]]).fields(event)["artifact"] != digest


def test_a_secret_of_three_characters_is_hidden_only_as_the_whole_text() -> None:
    redactor = Redactor(["abc"])
    assert redactor.text("abc") == MARK
    assert redactor.text("abcd") == "abcd"
    assert redactor.fields(CommandGiven(tool="t", arguments={"abc": "abc"}, call_id="c"))["arguments"] == {MARK: MARK}


@pytest.mark.parametrize("secret", ["", "  ", "\n"])
def test_nothing_is_no_secret(secret: str) -> None:
    assert Redactor([secret]).text("a  b\n") == "a  b\n"


def test_a_number_can_be_a_secret_where_others_wrote_it() -> None:
    event = CommandGiven(tool="t", arguments={"text": 123456, "x": 12, "f": 1.5}, call_id="c")
    assert Redactor(["123456"]).fields(event)["arguments"] == {"text": MARK, "x": 12, "f": 1.5}


def test_two_keys_that_become_the_same_both_stay() -> None:
    event = CommandGiven(tool="t", arguments={"secret-one": 1, "secret-two": 2}, call_id="c")
    found = Redactor(["secret-one", "secret-two"]).fields(event)["arguments"]
    assert sorted(found.values()) == [1, 2]


def test_overlapping_secrets_leave_no_end_over() -> None:
    assert Redactor(["abcdef", "defghi"]).text("xabcdefghix") == f"x{MARK}x"
    assert Redactor(["aaaa"]).text("aaaaaa") == MARK


def _escaped(secret: str) -> list[str]:
    raw = secret.encode()
    return [
        secret,
        escape(secret),
        quoteattr(secret)[1:-1],
        escape(secret, {'"': "&quot;", "'": "&apos;"}),
        escape(secret).encode("ascii", "xmlcharrefreplace").decode(),
        json.dumps(secret)[1:-1],
        json.dumps(secret, ensure_ascii=False)[1:-1],
        quote(secret),
        quote(secret, safe=""),
        quote_plus(secret),
        quote(secret, safe="").lower() if secret.islower() else quote(secret, safe=""),
        *(base64.b64encode(b"." * before + raw + b"." * after).decode() for before in range(4) for after in range(3)),
        *(base64.urlsafe_b64encode(b"." * before + raw).decode() for before in range(4)),
    ]


@given(st.text(min_size=6, max_size=30).filter(lambda text: len(text.strip()) >= 6))
def test_artifacts_hold_no_form_of_a_secret(secret: str) -> None:
    secret = secret.encode("utf-8", "replace").decode()
    assume(secret not in MARK and secret not in '<node text=""/>')
    redactor = Redactor([secret])
    for form in _escaped(secret):
        data = f'<node text="{form}"/>'.encode()
        assert redactor.data(data) != data
        if form == secret:
            assert secret.encode() not in redactor.data(data).replace(MARK.encode(), b"\x00")


def test_an_artifact_without_secrets_stays_as_it_is() -> None:
    data = bytes(range(256)) * 20
    assert Redactor([SECRET]).data(data) == data
    assert Redactor([SECRET]).data(data + b"api_key=xyz").startswith(data)


@pytest.mark.parametrize(
    ("text", "secret"),
    [
        ("Authorization: Bearer abc.DEF-123", "abc.DEF-123"),
        ("authorization=Basic dXNlcjpwYXNz", "dXNlcjpwYXNz"),
        ("{'Authorization': 'Bearer abc.DEF-123'}", "abc.DEF-123"),
        ("sent Bearer abcdefgh12345678 along", "abcdefgh12345678"),
        ("Incorrect API key provided: sk-abcd1234efgh5678.", "sk-abcd1234efgh5678"),
        ("https://x.test/v1?api_key=topsecret&b=1", "topsecret"),
        ('{"api-key": "topsecret"}', "topsecret"),
        ("apikey = topsecret", "topsecret"),
        ("https://user:topsecret@host.test/", "topsecret"),
    ],
)
def test_what_looks_like_a_key_is_always_hidden(text: str, secret: str) -> None:
    assert secret not in Redactor().text(text)
    assert MARK in Redactor().text(text)
    assert secret.encode() not in Redactor().data(text.encode())


@pytest.mark.parametrize(
    "text", ["the bearer of news", "task-list-for-monday", "http://a.b:80/c", "api key", "user@host"]
)
def test_what_does_not_look_like_a_key_stays(text: str) -> None:
    assert Redactor().text(text) == text


def test_a_field_that_is_called_a_key_is_hidden_whatever_it_holds() -> None:
    arguments: dict[str, Any] = {"api_key": "x", "Authorization": "y", "password": "z", "key": "enter"}
    found = Redactor().fields(CommandGiven(tool="t", arguments=arguments, call_id="c"))["arguments"]
    assert found == {"api_key": MARK, "Authorization": MARK, "password": MARK, "key": "enter"}


def test_inv_40_a_secret_that_becomes_known_is_hidden_from_then_on(tmp_path: Path) -> None:
    redactor = Redactor()
    with TranscriptWriter.create(tmp_path, SESSION, clock=ManualClock(), redactor=redactor) as writer:
        redactor.add_secret(SECRET)
        for event in events(SECRET):
            writer.append(event)
        writer.artifacts.put(f"<node text={quoteattr(SECRET)}/>".encode(), "xml")
        MetaFile(writer.directory, redactor=redactor).write(
            Meta(id=SESSION, started="t", goal=f"type {SECRET}", serial=SECRET)
        )
    assert b"hunter2" not in all_bytes(tmp_path)


@given(st.text(max_size=400), st.lists(st.text(max_size=12), max_size=4))
def test_any_text_can_be_redacted(text: str, secrets: list[str]) -> None:
    redactor = Redactor(secrets)
    redactor.text(text)
    redactor.data(text.encode("utf-8", "replace"))


@pytest.mark.parametrize(
    "form",
    ["my%ssecret%spass'9", "my%ssecret%spass'\"'\"'9", "my secret pass'\"'\"'9", "my secret pass'\\''9"],
)
def test_a_secret_as_the_phones_shell_is_told_it_is_hidden(form: str) -> None:
    assert Redactor(["my secret pass'9"]).text(f"input text '{form}'") == f"input text '{MARK}'"
