"""What the page says of each line, without a browser: states, targets on pictures, broken transcripts, sizes."""

from __future__ import annotations

import io
from dataclasses import replace
from html.parser import HTMLParser
from pathlib import Path

import pytest
from hypothesis import given
from hypothesis import strategies as st
from PIL import Image

from droidpilot.core.errors import UsageError
from droidpilot.core.events import Target
from droidpilot.transcript.artifacts import ArtifactStore
from droidpilot.transcript.page import page
from droidpilot.transcript.page_cards import BADGES, Card
from droidpilot.transcript.page_text import Paper, visible
from droidpilot.transcript.page_view import CardItem, PageView, page_view
from droidpilot.transcript.pictures import read_picture
from droidpilot.transcript.projections import CallState
from droidpilot.transcript.reader import parse, read_events
from droidpilot.transcript.redaction import Redactor
from droidpilot.transcript.verify import verify
from tests.page.page_events import BUY, called, ended, look, node, returned, started
from tests.page.page_sessions import ID, Book, hostile, long, ordinary, page_of, picture, resolved


def view_of(directory: Path) -> PageView:
    store = ArtifactStore(directory, redactor=Redactor())
    return page_view(read_events(directory), verify(directory), store.get)


def cards_of(view: PageView) -> list[Card]:
    return [item.card for section in view.sections for item in section.items if isinstance(item, CardItem)]


def nothing(digest: str) -> bytes:
    raise UsageError(f"there is no artifact {digest}")


def test_each_ending_of_a_call_has_a_word_and_an_icon_of_its_own(tmp_path: Path) -> None:
    words = [card.badge.word for card in cards_of(view_of(ordinary(tmp_path).directory))]
    assert words == ["ok"] * 3 + ["refused", "failed for now", "not possible"] + ["not sent"] * 2 + ["unknown", "ok"]
    resolved_words = [card.badge.word for card in cards_of(view_of(resolved(tmp_path / "more").directory))]
    assert resolved_words == ["found to have happened", "unknown"]


def test_all_states_of_a_call_have_a_badge_and_only_good_ones_are_green() -> None:
    assert set(BADGES) == set(CallState)
    assert {state for state, badge in BADGES.items() if badge.tone == "good"} == {CallState.OK, CallState.DONE}
    assert {badge.icon for badge in BADGES.values() if badge.tone == "good"} == {"check"}
    assert "check" not in {badge.icon for badge in BADGES.values() if badge.tone != "good"}


def test_what_needs_a_look_is_listed_first_and_linked(tmp_path: Path) -> None:
    book = ordinary(tmp_path)
    view, html = view_of(book.directory), book.html()
    assert [worry.badge.word for worry in view.worries] == [
        "refused",
        "failed for now",
        "not possible",
        "not sent",
        "not sent",
        "unknown",
        "failed",
    ]
    assert all(html.count(f'id="{worry.anchor}"') == 1 for worry in view.worries)


def test_a_target_is_marked_on_a_picture_of_the_very_same_screen_only(tmp_path: Path) -> None:
    cards = cards_of(view_of(ordinary(tmp_path).directory))
    buy, delete = cards[1].drawing, cards[3].drawing
    assert buy is not None and buy.picture == 0
    assert (buy.width, buy.height, buy.points) == (1080, 2400, ((540, 2190),))
    assert buy.scale_x == pytest.approx(1080 / 495)
    assert [box.is_main for box in buy.boxes] == [False, True]
    assert delete is not None and delete.picture is None
    assert "no picture" in delete.caption


def test_a_picture_of_another_shape_carries_no_mark(tmp_path: Path) -> None:
    book = Book(tmp_path)
    shot = book.keep(picture(1100, 495), "jpg")
    book.add(started(), look(1), called("a", "Shoot", send_key=""), returned("a", "ok", screen=1, picture=shot))
    book.add(look(2, f"{1:064x}"), called("b", "Tap", screen=2, target=BUY), returned("b", "Done."))
    drawing = cards_of(view_of(book.directory))[1].drawing
    assert drawing is not None and drawing.picture is None
    assert "another shape" in drawing.caption


def test_a_display_whose_size_is_not_recorded_is_guessed_and_says_so(tmp_path: Path) -> None:
    book = Book(tmp_path)
    book.add(started(), look(1, width=0, height=0), called("a", "Tap", target=BUY), returned("a", "Done."))
    drawing = cards_of(view_of(book.directory))[0].drawing
    assert drawing is not None and "guess" in drawing.caption
    assert (drawing.width, drawing.height) == (1080, 2400)


def test_a_target_off_the_display_stays_inside_the_drawing(tmp_path: Path) -> None:
    huge = Target(package="p", points=[(10**15, -3)], nodes=[node("x", (-(10**15), -1, 10**15, 10**15))])
    book = Book(tmp_path)
    book.add(started(), look(1), called("a", "Tap", target=huge), returned("a", "Done."))
    drawing = cards_of(view_of(book.directory))[0].drawing
    assert drawing is not None
    assert drawing.points == ((1080, 0),)
    assert (drawing.boxes[0].width, drawing.boxes[0].height) == (1080, 2400)


def test_pictures_that_are_gone_changed_or_no_pictures_are_said_to_be(tmp_path: Path) -> None:
    book = ordinary(tmp_path)
    transcript, verification = read_events(book.directory), verify(book.directory)
    assert "the picture cannot be shown: there is no artifact" in page(transcript, verification, artifact=nothing)
    svg = page(transcript, verification, artifact=lambda digest: b"<svg onload=alert(1)>")
    assert "it is no JPEG or PNG" in svg
    assert "data:" not in svg.replace("img-src data:", "").replace("no-referrer", "")


def test_each_picture_is_on_the_page_once_however_often_it_is_shown(tmp_path: Path) -> None:
    html = ordinary(tmp_path).html()
    assert html.count("data:image/jpeg;base64,") == 1
    assert html.count('href="#picture-0"') == 3


def test_a_changed_transcript_is_marked_from_its_first_bad_line_on(tmp_path: Path) -> None:
    book = ordinary(tmp_path)
    path = book.directory / "transcript.jsonl"
    lines = path.read_bytes().splitlines(keepends=True)
    at = next(number for number, line in enumerate(lines) if b"Tap Delete account" in line)
    path.write_bytes(
        b"".join([*lines[:at], lines[at].replace(b"Tap Delete account", b"Tap something"), *lines[at + 1 :]])
    )
    html = page_of(book.directory)
    assert f"NOT verified: line {at + 1} is the first bad one" in html
    mark = html.index(f"from line {at + 1} of the transcript on nothing is proven")
    assert html.index("Tap Buy now in com.example.shop</span></h3>") < mark < html.index("Call a tool, or done.")


@pytest.mark.parametrize("cut", [0, 1, 700, 3_000, 9_000])
def test_a_transcript_cut_anywhere_still_makes_a_page(tmp_path: Path, cut: int) -> None:
    book = ordinary(tmp_path)
    path = book.directory / "transcript.jsonl"
    path.write_bytes(path.read_bytes()[:cut])
    html = page_of(book.directory)
    assert "NOT verified" in html and "No ending" in html


def test_a_line_of_a_later_version_and_one_of_no_version_are_shown_as_unread(tmp_path: Path) -> None:
    book = ordinary(tmp_path)
    data = (book.directory / "transcript.jsonl").read_bytes()
    later = data.replace(b'"kind":"noted"', b'"kind":"<b>dreamed"')
    assert later != data
    transcript = parse(later + b"no json at all\n")
    html = page(transcript, verify(book.directory), artifact=nothing)
    assert "a line of kind &lt;b&gt;dreamed that this version cannot read" in html
    assert "cannot be read" in html


def test_ids_are_ours_and_never_twice(tmp_path: Path) -> None:
    seen: list[str] = []

    class Ids(HTMLParser):
        def handle_starttag(self, tag: str, attrs: list[tuple[str, str | None]]) -> None:
            seen.extend(value or "" for name, value in attrs if name == "id")

    Ids().feed(hostile(tmp_path).html())
    assert len(seen) == len(set(seen)) > 30
    assert all(word.replace("-", "").isalnum() for word in seen)


def test_a_page_of_200_turns_stays_below_20_mb_and_says_what_it_left_out(tmp_path: Path) -> None:
    book = long(tmp_path, 200)
    html = book.html()
    assert 10_000_000 < len(html.encode()) < 20_000_000
    assert html.count('<article class="card') == 400
    assert "the picture is left out to keep this page small" in html
    assert "Tap Buy now, turn 200" in html


def test_text_alone_stays_below_the_bound_too(tmp_path: Path) -> None:
    paper = Paper(room=1_000)
    assert paper.text("<" * 500, 400) == "<" * 400 + "… [100 more characters are in the transcript]"
    assert len(paper.text("x" * 5_000, 4_000)) < 120  # the room is used up: `<` takes four bytes
    assert len(hostile(tmp_path).html()) < 1_000_000


def test_an_answer_of_nothing_but_line_breaks_stays_small(tmp_path: Path) -> None:
    book = Book(tmp_path)
    book.add(started(), look(1), called("a", "Tap"), returned("a", "\n" * 11_000, screen=1))
    html = book.html()
    assert "more lines are in the transcript" in html
    assert len(html) < 60_000


@given(st.text(alphabet=st.characters(), max_size=200))
def test_no_hidden_or_reordering_character_reaches_the_page(text: str) -> None:
    shown = visible(text)
    shown.encode()  # raises where a lone surrogate is left
    assert not set(shown) & {
        chr(code) for code in (0, 7, 0x1B, 0x7F, 0x9B, 0xAD, 0x200B, 0x202E, 0x2066, 0xFEFF, 0xE0041)
    }


def test_hidden_characters_are_named_not_dropped() -> None:
    assert visible("a\u202eb\u200b\u200b\u200bc\x1b[31m") == "a⟨U+202E⟩b⟨U+200B ×3⟩c⟨U+001B⟩[31m"
    assert visible("👩\u200d🚀 می\u200cخواهم\n\tok") == "👩\u200d🚀 می\u200cخواهم\n\tok"


def test_a_label_of_look_alikes_is_unmasked_and_an_accent_is_not(tmp_path: Path) -> None:
    book = Book(tmp_path)
    fake, honest = node("Аррlе Рау", (0, 0, 9, 9), folded="Apple Pay"), node("Zoë", (0, 0, 9, 9), folded="Zoe")
    book.add(started(), look(1))
    for name, one in (("a", fake), ("b", honest)):
        book.add(called(name, "Tap", target=Target(package="p", nodes=[one])), returned(name, "Done."))
    first, second = cards_of(view_of(book.directory))
    assert (first.under[0].looks_like, second.under[0].looks_like) == ("Apple Pay", "")


@given(st.integers(1, 2_000), st.integers(1, 2_000), st.sampled_from(["JPEG", "PNG"]))
def test_a_pictures_size_is_read_from_its_first_bytes(width: int, height: int, kind: str) -> None:
    out = io.BytesIO()
    Image.new("1" if kind == "PNG" else "L", (width, height)).save(out, kind)
    found = read_picture(out.getvalue())
    assert found is not None and (found.width, found.height) == (width, height)


@given(
    st.binary(max_size=64), st.sampled_from([b"", b"\xff\xd8\xff", b"\x89PNG\r\n\x1a\n", b"\xff\xd8\xff\xe0\x00\x00"])
)
def test_bytes_that_are_no_picture_are_told_from_one(data: bytes, start: bytes) -> None:
    found = read_picture(start + data)
    assert found is None or (0 < found.width <= 20_000 and 0 < found.height <= 20_000)


def test_the_whole_answer_is_shown_where_its_artifact_is_there(tmp_path: Path) -> None:
    cards = cards_of(view_of(ordinary(tmp_path).directory))
    assert len(cards[2].lines) == 59 and not cards[2].is_open
    assert [line.mark for line in cards[1].lines] == ["", "came", "changed", "went", ""]


def test_an_ended_session_without_turns_still_has_a_head(tmp_path: Path) -> None:
    book = Book(tmp_path)
    book.add(started(""), ended("done", 0))
    view = view_of(book.directory)
    assert view.sections == ()
    assert replace(view.head, figures=()).goal == "A single command, without a goal"
    assert "Nothing was recorded." in book.html()
    assert view.head.title == ID
