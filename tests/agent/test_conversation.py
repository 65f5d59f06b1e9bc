"""The messages of a session: every call answered once, pictures behind the answers, and only the last of them kept."""

from __future__ import annotations

import base64
from typing import Any

import pytest
from tests.fakes.model import FakeModel, call, reply
from tests.fakes.road import Road, make_road

from droidpilot.agent.context import IMAGE_GONE, IMAGE_REFUSED, MOST_IMAGES, Conversation
from droidpilot.agent.loop import Loop
from droidpilot.core.errors import ModelRejected, ModelUnreachable
from droidpilot.core.images import Image
from droidpilot.pipeline.approval import AskMode


def image(number: int) -> Image:
    return Image(b"\xff\xd8" + bytes([number]), "image/jpeg", 5, 10)


def pictures_in(message: Any) -> list[bytes]:
    content = message["content"]
    if not isinstance(content, list):
        return []
    return [
        base64.b64decode(part["image_url"]["url"].removeprefix("data:image/jpeg;base64,"))
        for part in content
        if part["type"] == "image_url"
    ]


def turns(count: int, *, images: int = 1) -> Conversation:
    talk = Conversation("system", "goal")
    for turn in range(count):
        talk.add_reply(reply("", call("screenshot", id=f"c{turn}")), [(f"c{turn}", "Picture follows")])
        talk.add_images([image(10 * turn + number) for number in range(images)])
    return talk


def test_t58_pictures_of_a_turn_are_one_user_message_behind_all_of_its_answers() -> None:
    talk = Conversation("system", "goal")
    talk.add_reply(
        reply("", call("screenshot", id="a"), call("ui_tree", id="b"), call("screenshot", id="c")),
        [("a", "one"), ("b", "two"), ("c", "three")],
    )
    talk.add_images([image(1), image(2)])
    assert [message["role"] for message in talk.messages] == [
        *("system", "user", "assistant", "tool", "tool", "tool", "user")
    ]
    assert pictures_in(talk.messages[-1]) == [image(1).data, image(2).data]
    assert all(isinstance(message["content"], str) for message in talk.messages if message["role"] == "tool")


def test_a_turn_without_pictures_adds_nothing() -> None:
    talk = Conversation("system", "goal")
    talk.add_images([])
    assert len(talk.messages) == 2


@pytest.mark.parametrize("count", [1, 2, 3, 7])
def test_inv_49_only_the_last_two_messages_with_pictures_stay(count: int) -> None:
    talk = turns(count)
    shown = [pictures_in(message) for message in talk.messages if pictures_in(message)]
    kept = [[image(10 * turn).data] for turn in range(count)][-MOST_IMAGES:]
    assert shown == kept
    gone = [message for message in talk.messages if message["content"] == IMAGE_GONE]
    assert len(gone) == max(0, count - MOST_IMAGES)
    assert all(message["role"] == "user" for message in gone)
    assert len(talk.messages) == 2 + 3 * count, "nothing else moves"


def run(model: FakeModel) -> tuple[str, Road]:
    road = make_road(ask=AskMode.NEVER)
    loop = Loop(
        model=model,
        dispatch=road.executor,
        budget=road.budget,
        tools=[],
        shown_screen=lambda: road.executor.shown_screen,
        record=road.lines.append,
        on_text=lambda piece: None,
        clock=road.clock,
        stop=road.stop,
    )
    return loop.run("Look", road.executor.first_look()).how, road


def test_the_loop_hands_pictures_to_the_model_and_forgets_old_ones() -> None:
    answers = [reply("", call("screenshot", id=f"s{number}"), call("press", key=key)) for number, key in KEYS]
    model = FakeModel([*answers, DONE])
    how, road = run(model)
    assert how == "done"
    counts = [sum(len(pictures_in(message)) for message in request.messages) for request in model.requests]
    assert counts == [0, 1, 2, 2, 2]
    assert [message["role"] for message in model.requests[1].messages][-4:] == ["assistant", "tool", "tool", "user"]
    written = "".join(line.model_dump_json() for line in road.lines)
    assert "image_url" not in written and "base64" not in written, "a picture is an artifact and never a line"


def test_an_endpoint_that_takes_no_images_gets_words_instead_and_the_run_goes_on() -> None:
    look = reply("", call("screenshot", id="s"))
    model = FakeModel([look, ModelRejected("400: image input is not supported"), look, DONE])
    how, road = run(model)
    assert how == "done"
    shown = [sum(len(pictures_in(message)) for message in request.messages) for request in model.requests]
    assert shown == [0, 1, 0, 0]
    assert [message["content"] for message in model.requests[-1].messages].count(IMAGE_REFUSED) == 2
    assert road.kinds.count("model_failed") == 1


@pytest.mark.parametrize(
    "answers",
    [
        [ModelRejected("401: wrong key")],
        [reply("", call("screenshot", id="s")), ModelUnreachable("gone")],
        [reply("", call("screenshot", id="s")), ModelRejected("no", code="content_filter")],
        [reply("", call("screenshot", id="s")), ModelRejected("no images"), ModelRejected("still no")],
    ],
)
def test_any_other_refusal_ends_the_run(answers: list[Any]) -> None:
    assert run(FakeModel([*answers, DONE]))[0] == "model"


DONE = reply("", call("done", id="end", summary="x"))
#: Different keys, so that no breaker ends the run.
KEYS = list(enumerate(("back", "home", "tab", "dpad_down")))
