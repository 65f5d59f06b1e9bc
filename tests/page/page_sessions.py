"""Sessions to make pages of, written by the real writer: an ordinary one, a hostile one, and one of many turns."""

from __future__ import annotations

import io
import random
from pathlib import Path
from typing import Any

from PIL import Image, ImageDraw

from droidpilot.core.clock import ManualClock
from droidpilot.core.events import (
    ApprovalAnswered,
    ApprovalAsked,
    CheckFinished,
    CheckStarted,
    Event,
    ModelFailed,
    Noted,
    Nudged,
    OutcomeResolved,
    Target,
    TargetNode,
    VerdictLine,
)
from droidpilot.transcript.artifacts import ArtifactStore
from droidpilot.transcript.page import page
from droidpilot.transcript.reader import read_events
from droidpilot.transcript.redaction import Redactor
from droidpilot.transcript.verify import verify
from droidpilot.transcript.writer import TranscriptWriter
from tests.page.page_events import (
    BUY,
    SHOP,
    asked,
    called,
    connected,
    ended,
    look,
    node,
    replied,
    returned,
    started,
    verdicts,
)

ID = "20260101-000000-abcd"


class Book:
    """Writes one session and makes its page."""

    def __init__(self, home: Path, session_id: str = ID) -> None:
        self.clock = ManualClock()
        self.writer = TranscriptWriter.create(home, session_id, clock=self.clock, redactor=Redactor())
        self.directory = self.writer.directory

    def add(self, *events: Event) -> None:
        for event in events:
            self.clock.advance(0.4)
            self.writer.append(event)

    def keep(self, data: bytes, suffix: str) -> str:
        return self.writer.artifacts.put(data, suffix)

    def html(self) -> str:
        return page_of(self.directory)


def page_of(directory: Path) -> str:
    store = ArtifactStore(directory, redactor=Redactor())
    return page(read_events(directory), verify(directory), artifact=store.get)


def picture(width: int = 495, height: int = 1100, *, noise: int = 0) -> bytes:
    """Draw a shop's screen; with `noise`, a seed, one that no JPEG can make small."""
    if noise:
        image = Image.frombytes("RGB", (width, height), random.Random(noise).randbytes(width * height * 3))
    else:
        image = Image.new("RGB", (width, height), "#fdfdfb")
        draw = ImageDraw.Draw(image)
        draw.rectangle((0, 0, width, 70), fill="#20566b")
        draw.text((20, 25), "Blue kettle", fill="white", font_size=24)
        draw.ellipse((width // 4, 160, 3 * width // 4, 400), fill="#3f7fd0")
        draw.text((20, 470), "1.7 litres, enamelled steel\n38.90 EUR", fill="#222222", font_size=22)
        draw.rounded_rectangle((30, 960, width - 30, 1050), radius=20, fill="#e07a1f")
        draw.text((190, 990), "Buy now", fill="white", font_size=28)
    out = io.BytesIO()
    image.save(out, "JPEG", quality=70)
    return out.getvalue()


def ordinary(home: Path) -> Book:
    """Write a session in which every kind of ending of a call occurs."""
    book = Book(home)
    shot = book.keep(picture(), "jpg")
    long_answer = "Done.\n" + "\n".join(f"{number} Row number {number}" for number in range(1, 60))
    whole = book.keep(long_answer.encode(), "txt")
    book.add(started(), connected(), look(1, why="start"))
    book.add(
        asked(1),
        replied(1, "I look at the kettle first.", ("t1c1", "screenshot", {})),
        look(2, "f" * 64),
        called("t1c1", "Take a picture", screen=2, tool="screenshot", effect="read", arguments={}, send_key=""),
        returned("t1c1", "Picture 495x1100.", tool="screenshot", sent="no", screen=2, picture=shot),
    )
    book.add(
        asked(2),
        replied(2, "38.90 is below 40, so I buy it.", ("t2c1", "tap", {"ref": 7}), ("t2c2", "tap", {"ref": 8})),
        look(3, "f" * 64),
        ApprovalAsked(
            prompt_id="p1",
            call_id="t2c1",
            sentence=f"Tap Buy now in {SHOP}",
            level="strong",
            signals=['"Buy now" says buy'],
            rule="default.rules:21: ask tap matching (?i)buy",
            approver="terminal",
            expires_s=180,
        ),
        ApprovalAnswered(prompt_id="p1", call_id="t2c1", answer="yes", approver="terminal", waited_s=6.2),
        called("t2c1", f"Tap Buy now in {SHOP}", screen=3, target=BUY, signals=["risky_word"]),
        returned("t2c1", "Done.\n<screen com.example.shop>\n+ 12 Delivery\n~ 7 Buy now disabled\ngone 9\n</screen>"),
        called(
            "t2c2", "Swipe up", screen=3, tool="swipe", target=Target(package=SHOP, points=[(540, 1800), (540, 600)])
        ),
        returned("t2c2", "Done.", artifact=whole, screen=3),
    )
    rule = "default.rules:11: deny tap matching (?i)delete account"
    book.add(
        asked(3),
        replied(3, "", *[(f"t3c{number}", "tap", {"ref": number}) for number in range(1, 6)]),
        look(4),
        called(
            "t3c1",
            "Tap Delete account",
            screen=4,
            target=Target(package=SHOP, points=[(300, 800)], nodes=[node("Delete account", (100, 700, 900, 900), 1)]),
            verdicts=verdicts(until="rules", code="rule", reason="a rule says no", rule=rule),
            send_key="",
        ),
        returned("t3c1", "Refused by the rules gate: a rule says no.", status="refused"),
        called("t3c2", "Tap Next", screen=4),
        returned("t3c2", "The phone is busy. Nothing was sent.", status="transient"),
        called("t3c3", "Tap Old", screen=4),
        returned("t3c3", "There is no ref 3 any more.", status="logic", code="stale_ref"),
        Noted(text="the phone's clock is off by 3 minutes"),
    )
    book.add(
        asked(4),
        replied(4, "I confirm the order.", ("t4c1", "tap", {"ref": 7}), is_estimated=True, usd=None, attempts=2),
        look(5, is_settled=False),
        called("t4c1", "Tap Place order", screen=5, target=BUY),
        returned("t4c1", "The cable came off. It may have happened.", status="unknown", sent="unknown", code="lost"),
        Nudged(turn=4, text="Call a tool, or done."),
        ModelFailed(turn=5, code="model_timeout", message="the model did not answer in 60 s"),
    )
    book.add(
        CheckStarted(expression="text=Order placed", call_id="check1"),
        look(6),
        called("check1", "Look", screen=6, origin="check", tool="ui_tree", effect="read", arguments={}, send_key=""),
        returned("check1", "<screen com.example.shop>\n- Your cart\n</screen>", tool="ui_tree", screen=6),
        CheckFinished(expression="text=Order placed", passed=False, reason="the whole screen was read without it"),
        ended(),
    )
    return book


def resolved(home: Path) -> Book:
    """Write a session of one unknown write that was found to have happened, killed before its end."""
    book = Book(home)
    book.add(
        started(),
        asked(1),
        replied(1, "Go.", ("a", "tap", {"ref": 7}), ("b", "tap", {"ref": 7})),
        look(1),
        called("a", "Tap Buy now", target=BUY),
        returned("a", "It may have happened.", status="unknown", sent="unknown"),
        OutcomeResolved(call_id="a", outcome="done", by="look"),
        called("b", "Tap Buy now again", target=BUY),
    )
    return book


#: What a phone, a page or a model might say. Each would run, load or break something if it became markup.
ATTACKS = (
    "<script>document.title='PWNED'</script>",
    "</script><script>document.title='PWNED'</script>",
    "<img src=x onerror=\"document.title='PWNED'\">",
    "<img src=http://evil.example/pixel.png>",
    "</style><style>body{background:url(http://evil.example/css)}</style>",
    "<svg onload=\"document.title='PWNED'\"><script>document.title='PWNED'</script></svg>",
    "<a href=\"javascript:document.title='PWNED'\">tap me</a>",
    "javascript:document.title='PWNED'",
    '"><iframe src=http://evil.example/frame></iframe>',
    "' onmouseover='document.title=`PWNED`' x='",
    "<link rel=stylesheet href=http://evil.example/a.css><meta http-equiv=refresh content=0;url=http://evil.example/>",
    "{{ 7 * 191 }}{% raw %}{{ view }}",
    "]]><!-- --><details open ontoggle=\"document.title='PWNED'\">",
    "\u202eevil\u202c \u2066hidden\u2069 \u200b\u200b\u200b zero",
    "\x1b[31mred\x1b[0m \x00 \x07 \x9b5m",
    "\udcff lone \ud800 surrogates",
    "Z" + "\u0353\u030d\u0352\u0347" * 400,
    "W" * 5_000,
    "\U000e0041\U000e0042 tags",
    "&lt;b&gt; &amp;&#106;avascript&colon;",
)


def hostile(home: Path) -> Book:
    """Write a session in which every text is an attack."""
    book = Book(home)
    worst = "".join(ATTACKS)
    no_picture = book.keep(b"<svg xmlns='http://www.w3.org/2000/svg'><script>1</script></svg>", "svg")
    book.add(started(worst, model=worst, base_url=worst, policy=worst, tools=[worst], checks=[worst], serial=worst))
    book.add(connected().model_copy(update={"model": worst, "transport": worst}), look(1, package=worst))
    for turn, attack in enumerate(ATTACKS, start=1):
        call_id = f"t{turn}c1{attack[:40]}"
        hostile_node = TargetNode(
            ref=turn,
            cls=attack,
            resource_id=attack,
            package=attack,
            bounds=(-(10**12), -5, 10**12, 10**9),
            raw=attack,
            cleaned=attack,
            folded="plain",
        )
        book.add(
            asked(turn),
            replied(turn, attack, (call_id, attack, {attack[:50]: attack, "ref": turn}), finish_reason=attack),
            ApprovalAsked(
                prompt_id=call_id,
                call_id=call_id,
                sentence=attack,
                level="confirm",
                signals=[attack],
                rule=attack,
                approver=attack,
                expires_s=1,
            ),
            ApprovalAnswered(prompt_id=call_id, call_id=call_id, answer="no", approver=attack, waited_s=1),
            called(
                call_id,
                attack,
                target=Target(package=attack, points=[(10**12, -1)], nodes=[hostile_node]),
                signals=[attack],
                tool=attack,
                arguments={attack[:50]: [attack, {attack[:20]: attack}]},
                verdicts=[VerdictLine(gate=attack, answer=attack, code=attack, reason=attack, rule=attack)],
            ),
            returned(
                call_id,
                f"{attack}\n+ {attack}\n{attack}",
                status="refused",
                tool=attack,
                code=attack,
                ends=attack,
                artifact=attack,
                picture=no_picture if turn % 2 else attack,
            ),
            Noted(text=attack),
            Nudged(turn=turn, text=attack),
            ModelFailed(turn=turn, code=attack, message=attack),
            CheckFinished(expression=attack, passed=None, reason=attack),
        )
    book.add(ended(worst, 1, reason=worst, summary=worst))
    return book


def long(home: Path, turns: int) -> Book:
    """Write a session of many turns with long answers and, in every third one, a picture that does not compress."""
    book = Book(home)
    book.add(started())
    answer = book.keep(("Done.\n" + "\n".join('"<&>" row' * 12 for _ in range(150))).encode(), "txt")
    for turn in range(1, turns + 1):
        shot = book.keep(picture(noise=turn), "jpg") if turn % 3 == 0 else ""
        calls: list[tuple[str, str, dict[str, Any]]] = [
            (f"t{turn}c{n}", "tap", {"ref": n, "why": "<&>" * 60}) for n in (1, 2)
        ]
        book.add(asked(turn), replied(turn, '"<&>' * 400, *calls), look(turn))
        for call_id, _, _ in calls:
            book.add(
                called(call_id, f"Tap Buy now, turn {turn}", screen=turn, target=BUY),
                returned(call_id, "Done.\n" + "<&>" * 600, artifact=answer, screen=turn, picture=shot),
            )
    book.add(ended("done", 0))
    return book
