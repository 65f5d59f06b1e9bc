"""Messages: a list of conversations, and in each a text field and Send. What was sent stands in the outbox."""

from __future__ import annotations

from dataclasses import dataclass, field

from droidpilot.virtual.apps.packages import MESSAGES
from droidpilot.virtual.apps.people import people
from droidpilot.virtual.host import Host
from droidpilot.virtual.ui.views import Rows, TextField, View, text_lines
from droidpilot.virtual.ui.widgets import ROW_HEIGHT, label, page, row, text_field
from droidpilot.virtual.ui.windows import Window

CONVERSATIONS = 30
MAX_SENT = 1_000
BUBBLE_WIDTH = 760
LINES = (
    "See you at six?",
    "The parcel has arrived.",
    "Can you call me back when you have a minute? It is about the keys.",
    "Thanks!",
    "On my way",
    "Happy birthday!",
    "Did you see the game yesterday?",
    "Meeting moved to Thursday, same room.",
)


@dataclass(slots=True)
class Conversation:
    name: str
    messages: list[tuple[bool, str]]
    """(whether we sent it, text), oldest first."""
    draft: TextField = field(default_factory=lambda: TextField("compose_message_text", hint="Text message"))


class Messages:
    """The messaging app."""

    package = MESSAGES
    activity = ".ui.ConversationListActivity"
    label = "Messages"

    def __init__(self, host: Host) -> None:
        self._host = host
        self.clear()

    def clear(self) -> None:
        random = self._host.random("messages")
        self._conversations = [
            Conversation(name, [(random.random() < 0.4, random.choice(LINES)) for _ in range(random.randint(3, 14))])
            for name in people(random, CONVERSATIONS)
        ]
        self._outbox: list[dict[str, object]] = []

    def state(self) -> dict[str, object]:
        return {"outbox": [dict(sent) for sent in self._outbox]}

    def first(self) -> Window:
        window = Window(
            MESSAGES,
            f"{MESSAGES}{self.activity}",
            "Messages",
            "list",
            lambda: self._list(window),
        )
        return window

    def _list(self, window: Window) -> View:
        shown = self._conversations
        rows = View("androidx.recyclerview.widget.RecyclerView", "android:id/list", scroll=window.scroll("list"))
        rows.rows = Rows([ROW_HEIGHT] * len(shown), lambda n: self._row(shown[n]))
        return page(MESSAGES, "Messages", rows, on_up=None)

    def _row(self, conversation: Conversation) -> View:
        from_us, text = conversation.messages[-1]
        made = row(
            conversation.name,
            f"You: {text}" if from_us else text,
            on_click=lambda: self._host.open(self._conversation(conversation)),
        )
        made.id = f"{MESSAGES}:id/swipeableContainer"
        words = made.children[0].children
        words[0].id, words[1].id = f"{MESSAGES}:id/conversation_name", f"{MESSAGES}:id/conversation_snippet"
        words[1].text = words[1].text[:60]
        return made

    def _conversation(self, conversation: Conversation) -> Window:
        window = Window(
            MESSAGES,
            f"{MESSAGES}.ui.conversation.ConversationActivity",
            conversation.name,
            f"conversation/{conversation.name}",
            lambda: self._thread(window, conversation),
        )
        window.scroll("messages", keeps_end=True)
        return window

    def _thread(self, window: Window, conversation: Conversation) -> View:
        heights = [text_lines(text, 44, BUBBLE_WIDTH) * 60 + 80 for _, text in conversation.messages]
        thread = View("androidx.recyclerview.widget.RecyclerView", "android:id/list", weight=1)
        thread.scroll = window.scroll("messages")
        thread.rows = Rows(heights, lambda n: self._bubble(*conversation.messages[n]))
        draft = conversation.draft
        compose = View("android.widget.LinearLayout", f"{MESSAGES}:id/compose_message_box", layout="row")
        compose.pad = (30, 20, 20, 20)
        send = View("android.widget.ImageButton", f"{MESSAGES}:id/send_message_button_icon", desc="Send")
        send.width, send.height = 154, 154
        send.on_click = lambda: self._send(conversation)
        send.is_enabled = bool(draft.text.strip())
        field_id = f"{MESSAGES}:id/compose_message_text"
        compose.children = [text_field(draft, id=field_id, is_focused=window.focus is draft, weight=1), send]
        content = View("android.widget.LinearLayout", children=[thread, compose])
        return page(MESSAGES, conversation.name, content, on_up=self._host.back)

    def _bubble(self, from_us: bool, text: str) -> View:
        bubble = label(text, id=f"{MESSAGES}:id/message_text", pad=(36, 20, 36, 20))
        bubble.width = BUBBLE_WIDTH + 72
        frame = View("android.widget.FrameLayout", layout="row", children=[bubble])
        if from_us:
            frame.children.insert(0, View("android.widget.Space", weight=1, height=1))
        return frame

    def _send(self, conversation: Conversation) -> None:
        self._host.later(lambda: self._sent(conversation))

    def _sent(self, conversation: Conversation) -> None:
        text = conversation.draft.text.strip()
        if not text:
            return
        conversation.draft.put("")
        conversation.messages.append((True, text))
        del conversation.messages[:-MAX_SENT]
        self._outbox.append({"to": conversation.name, "text": text})
        del self._outbox[:-MAX_SENT]
        self._conversations.remove(conversation)
        self._conversations.insert(0, conversation)
