"""Conversation: the messages of one session, valid at every moment: each call answered once, nothing orphaned."""

from __future__ import annotations

from typing import Any

from droidpilot.model.client import Message, ModelReply


class Conversation:
    """Messages in the wire format. Only ever appended to."""

    def __init__(self, system: str, first: str) -> None:
        self._messages: list[Message] = [
            {"role": "system", "content": system},
            {"role": "user", "content": first},
        ]

    @property
    def messages(self) -> tuple[Message, ...]:
        return tuple(self._messages)

    def add_reply(self, reply: ModelReply, answers: list[tuple[str, str]]) -> None:
        """Add a reply with the answers to its calls, as (the endpoint's call id, text), in the order of the calls."""
        assert [call.id for call in reply.calls] == [call_id for call_id, _ in answers]
        message: dict[str, Any] = {"role": "assistant", "content": reply.text}
        if reply.calls:
            message["tool_calls"] = [
                {
                    "id": call.id,
                    "type": "function",
                    "function": {"name": call.tool, "arguments": call.arguments_json},
                }
                for call in reply.calls
            ]
        self._messages.append(message)
        self._messages += [{"role": "tool", "tool_call_id": call_id, "content": text} for call_id, text in answers]

    def add_user(self, text: str) -> None:
        self._messages.append({"role": "user", "content": text})
