"""A scene shows a dump byte for byte, knows what lies under a finger, keeps what is typed, goes where its file says."""

from __future__ import annotations

from pathlib import Path

import pytest
from tests.screens.screen_maker import OWN_DUMPS
from tests.virtual.test_virtual_shell import run
from tests.virtual.virtual_hand import Hand

from droidpilot.core.errors import UsageError
from droidpilot.screens.parse import parse_hierarchy
from droidpilot.virtual.drawing.marks import Words
from droidpilot.virtual.drawing.sketch import sketch
from droidpilot.virtual.scenes.file import read_scene, scene_of
from droidpilot.virtual.scenes.port import DumpRefused
from droidpilot.virtual.scenes.scene import Scene, show

FIELD = (
    b'<node index="1" text="Name" hint="Name" showing-hint="true" resource-id="a:id/name" focused="false" '
    b"class='android.widget.EditText' package=\"com.example.form\" bounds=\"[0,100][500,200]\" enabled='true'/>"
)
OTHER = FIELD.replace(b"a:id/name", b"a:id/other").replace(b"[0,100][500,200]", b"[0,300][500,400]")
FORM = (
    b'<?xml version="1.0"?>\r\n<hierarchy rotation="1"><node class="a.FrameLayout" package="com.example.form"'
    b' bounds="[0,0][800,480]">' + FIELD + OTHER + b'<node text="Pay \xff&#1;" class="android.widget.Button"'
    b' package="com.example.form" clickable="true" bounds="[600,0][800,100]"/></node></hierarchy>trailing\x00'
)


def scene_on(hand: Hand, data: bytes) -> Scene:
    return show(hand.phone, scene_of(data))


@pytest.fixture
def hand() -> Hand:
    return Hand.at()


def test_the_file_comes_back_byte_for_byte_and_the_display_is_the_dump_s(hand: Hand) -> None:
    scene = scene_on(hand, FORM)
    assert hand.phone.dump_bytes(50) == FORM
    assert (hand.phone.display.rect.right, hand.phone.display.rect.bottom) == (800, 480)
    assert (hand.phone.display.rotation, hand.phone.display.natural) == (1, (480, 800))
    assert hand.phone.package == "com.example.form" and scene.activity == "com.example.form.MainActivity"


def test_the_log_names_the_node_under_the_finger(hand: Hand) -> None:
    scene_on(hand, FORM)
    hand.touch.tap(700, 50)
    hand.touch.tap(700, 300)
    hand.touch.swipe([(700, 50), (700, 400)], 100)
    hand.touch.key(4)
    hand.touch.long_press(700, 50, 900)
    events = hand.phone.inputs.events
    assert [(event["kind"], event.get("on")) for event in events] == [
        ("tap", "Pay \ufffd."[:5] + "\x01"),
        ("tap", None),
        ("swipe", None),
        ("key", None),
        ("long_press", "Pay \ufffd\x01"),
    ]
    assert hand.phone.dump_bytes(50) == FORM, "nothing of that changes a byte"


def test_typed_text_stands_in_its_field_and_every_other_byte_stays(hand: Hand) -> None:
    scene = scene_on(hand, FORM)
    hand.touch.tap(100, 150)
    assert hand.touch.type_text('Ä<&"')
    typed = FIELD.replace(b'text="Name"', 'text="Ä&lt;&amp;&quot;"'.encode()).replace(b'hint="true"', b'hint="false"')
    assert hand.phone.dump_bytes(50) == FORM.replace(FIELD, typed.replace(b'focused="false"', b'focused="true"'))
    assert hand.touch.clear_focused()
    assert b'text="Name" hint="Name" showing-hint="true"' in hand.phone.dump_bytes(50)
    node = next(node for node in scene.page.nodes() if node.view.id == "a:id/other")
    assert hand.touch.set_text(node, "\U0001f600")
    assert b'text="&#128512;"' in hand.phone.dump_bytes(50)
    assert scene.state()["fields"] == [
        {"field": "a:id/name Name", "text": ""},
        {"field": "a:id/other Name", "text": "😀"},
    ]
    assert not hand.touch.set_text(scene.page.nodes()[0], "x"), "a layout takes no text"


def test_keys_write_into_the_field_and_a_password_shows_bullets(hand: Hand) -> None:
    scene = scene_on(hand, FORM.replace(b"resource-id", b'password="true" resource-id'))
    hand.touch.tap(100, 150)
    for code in (29, 30, 67, 31):
        hand.touch.key(code)
    assert scene.focus is not None and scene.focus.text == "ac"
    assert 'text="••"'.encode() in hand.phone.dump_bytes(50)
    assert b"ac" not in hand.phone.dump_bytes(50).replace(b"package", b"").replace(b"android", b"").replace(
        b"place", b""
    )


@pytest.mark.parametrize("name, package", [("dialog_two_roots", "com.google.android.permissioncontroller")])
def test_a_smaller_window_lies_over_a_larger_one(hand: Hand, name: str, package: str) -> None:
    scene = scene_on(hand, (OWN_DUMPS / f"{name}.xml").read_bytes())
    assert scene.package == package
    hand.touch.tap(540, 1200)
    on = hand.phone.inputs.events[-1]["on"]
    assert on is None or "Pay" not in str(on), "the page's button lies under the dialog"


def test_windows_with_layers_lie_as_these_say(hand: Hand) -> None:
    scene = scene_on(hand, (OWN_DUMPS / "keyboard_windows.xml").read_bytes())
    assert scene.package == "com.example.notes", "neither the bar nor the keyboard is in front"


@pytest.mark.parametrize(
    "keyboard, kind", [("com.samsung.android.honeyboard", ""), ("com.lge.ime", ""), ("com.odd", 'window-type="2"')]
)
def test_the_app_under_a_keyboard_is_in_front_and_the_phone_says_that_a_keyboard_is_shown(
    hand: Hand, keyboard: str, kind: str
) -> None:
    window = f'<node class="a.FrameLayout" package="{keyboard}" bounds="[0,300][800,480]" {kind}/>'.encode()
    app, end = FORM.rsplit(b"</hierarchy>", 1)
    assert "mInputShown=false" in dumpsys(hand, FORM)
    assert "mInputShown=true" in dumpsys(hand, app + window + b"</hierarchy>" + end)
    assert hand.phone.package == "com.example.form"
    scene_on(hand, b'<hierarchy rotation="0">' + window + b"</hierarchy>")
    assert hand.phone.package == keyboard, "what is alone is an app"


def dumpsys(hand: Hand, data: bytes) -> str:
    scene_on(hand, data)
    return run("dumpsys input_method", hand=hand)[0]


@pytest.mark.parametrize("over", [b"<!-- %b -->", b"<![CDATA[%b]]>"])
def test_a_comment_holds_no_nodes(hand: Hand, over: bytes) -> None:
    page = scene_on(hand, FORM.replace(b"</hierarchy>", over % FIELD + b"</hierarchy>")).page
    assert len(page.scan.nodes) == len(scene_on(hand, FORM).page.scan.nodes)


def test_every_dump_of_ours_comes_back_and_has_the_nodes_that_are_read_from_it(hand: Hand) -> None:
    """Two scanners that share no code find the same nodes."""
    seen = 0
    for path in sorted(OWN_DUMPS.glob("*.xml")):
        data = path.read_bytes()
        scene = scene_on(hand, data)
        assert len(sketch(hand.phone)) >= 1
        if scene.page.scan.nodes and path.stem != "cut":
            assert scene.dump() == data
            read = [(node.text, node.desc, node.resource_id, node.cls) for node in parse_hierarchy(data).nodes]
            views = [node.view for node in scene.page.nodes()]
            assert [(view.text, view.desc, view.id, view.cls) for view in views] == read, path.name
            seen += 1
    assert seen >= 20


@pytest.mark.parametrize(
    "data, line",
    [
        (b"ERROR: could not get idle state.\n", "ERROR: could not get idle state."),
        (b"java.lang.IllegalArgumentException: Illegal character (d83d)\n\tat x\n", "java.lang"),
        (b"Killed\n", "Killed"),
    ],
)
def test_a_message_in_place_of_a_dump_is_a_dump_that_fails(hand: Hand, data: bytes, line: str) -> None:
    scene_on(hand, data)
    with pytest.raises(DumpRefused) as refused:
        hand.phone.dump_bytes(50)
    assert refused.value.line.startswith(line)


@pytest.mark.parametrize(
    "data", [b"", b'{"status":"error","error":"x"}', b"\xff\xfe\x00", b"<hierarchy rotation='0'/>"]
)
def test_what_is_neither_comes_back_as_it_is(hand: Hand, data: bytes) -> None:
    scene_on(hand, data)
    assert hand.phone.dump_bytes(50) == data


def test_what_powershell_saved_is_shown_and_can_be_typed_into(hand: Hand) -> None:
    data = b"\xff\xfe" + FORM.replace(b"\xff", b"").decode("latin-1").encode("utf-16-le")
    scene_on(hand, data)
    assert hand.phone.dump_bytes(50) == data
    hand.touch.tap(100, 150)
    hand.touch.type_text("é")
    changed = hand.phone.dump_bytes(50)
    assert 'text="é" hint="Name"' in changed.decode("utf-16") and changed[:2] == b"\xff\xfe"


def test_huge_bounds_and_deep_nesting_are_shown_all_the_same(hand: Hand) -> None:
    node = b'<node bounds="[0,0][999999999,999999999]" clickable="true" text="x">'
    scene_on(hand, b"<hierarchy>" + node * 5_000)
    assert hand.phone.display.rect.right <= 8_192
    hand.touch.tap(10, 10)
    assert hand.phone.inputs.events[-1]["on"] == "x"
    assert hand.phone.look().roots and sketch(hand.phone)


# folders

TOML = """
[[page]]
name = "list"
file = "list.xml"
activity = ".ListActivity"

[[page]]
name = "pay"
file = "pay.xml"
display = "720x1280"
rotation = 0
secure = true
package = "com.example.bank"

[[on]]
page = "list"
tap = "name"
go = "pay"

[[on]]
page = "list"
tap = "700,50"
go = "pay"

[[on]]
page = "list"
tap = "400,450"
go = "pay"

[[on]]
page = "pay"
key = "back"
go = "list"

[[on]]
page = "pay"
after_ms = 1500
go = "list"
"""


@pytest.fixture
def folder(tmp_path: Path) -> Path:
    (tmp_path / "list.xml").write_bytes(FORM)
    (tmp_path / "pay.xml").write_bytes((OWN_DUMPS / "flutter_payment.xml").read_bytes())
    (tmp_path / "scene.toml").write_text(TOML)
    return tmp_path


@pytest.mark.parametrize("x, y", [(100, 150), (750, 20), (420, 430)])
def test_a_tap_leads_to_another_page_by_id_node_or_place(hand: Hand, folder: Path, x: int, y: int) -> None:
    scene = show(hand.phone, read_scene(folder))
    assert scene.activity == "com.example.form.ListActivity"
    hand.touch.tap(x, y)
    assert hand.phone.state()["scene"] == {"page": "pay", "fields": []}
    assert (hand.phone.package, hand.phone.is_secure) == ("com.example.bank", True)
    assert (hand.phone.display.rect.right, hand.phone.display.rect.bottom) == (720, 1280)
    hand.touch.key(4)
    assert scene.state()["page"] == "list"


def test_a_tap_beside_leads_nowhere(hand: Hand, folder: Path) -> None:
    scene = show(hand.phone, read_scene(folder))
    hand.touch.tap(550, 250)
    hand.touch.key(3)
    assert scene.state()["page"] == "list"


def test_time_leads_to_another_page(hand: Hand, folder: Path) -> None:
    scene = show(hand.phone, read_scene(folder))
    hand.touch.tap(750, 20)
    hand.clock.advance(1.4)
    assert hand.phone.look().roots[0].package != "com.example.form" and scene.state()["page"] == "pay"
    hand.clock.advance(0.2)
    assert hand.phone.look().roots[0].package == "com.example.form", "a look alone notices it"


@pytest.mark.parametrize(
    "toml, words",
    [
        ("[[page", "is no TOML"),
        ("", "has no page"),
        ("[page]\nname='a'", "[[page]]"),
        ("[[page]]\nname='a'", "page 1: a page needs a name and a file"),
        ("[[page]]\nname='a'\nfile='nowhere.xml'", "nowhere.xml cannot be read"),
        ("[[page]]\nname='a'\nfile='../list.xml'", "outside of the folder"),
        ("[[page]]\nname='a'\nfile='list.xml'\nsize='1x1'", "`size` is not known"),
        ("[[page]]\nname='a'\nfile='list.xml'\nrotation=4", "from 0 to 3"),
        ("[[page]]\nname='a'\nfile='list.xml'\ndisplay='9'", "is no display"),
        ("[[page]]\nname='a'\nfile='list.xml'\npackage='x y'", "is no package name"),
        ("[[page]]\nname='a'\nfile='list.xml'\n[[page]]\nname='a'\nfile='list.xml'", "page 2: the name 'a' is taken"),
        ("[[page]]\nname='a'\nfile='list.xml'\n[[on]]\npage='a'\ntap='x'", "on 1: `go` is missing"),
        ("[[page]]\nname='a'\nfile='list.xml'\n[[on]]\npage='a'\ntap='x'\ngo='b'", "there is no page 'b'"),
        ("[[page]]\nname='a'\nfile='list.xml'\n[[on]]\npage='a'\ngo='a'", "exactly one of tap, key and after_ms"),
        ("[[page]]\nname='a'\nfile='list.xml'\n[[on]]\npage='a'\nkey='no'\ngo='a'", "no key is called 'no'"),
        ("[[page]]\nname='a'\nfile='list.xml'\n[[on]]\npage='a'\ntap=' '\ngo='a'", "`tap` is empty"),
    ],
)
def test_what_is_wrong_in_a_folder_is_one_line(folder: Path, toml: str, words: str) -> None:
    (folder / "scene.toml").write_text(toml)
    with pytest.raises(UsageError) as wrong:
        read_scene(folder)
    assert words in str(wrong.value)
    assert "\n" not in wrong.value.message.strip() and str(folder) in wrong.value.message


def test_a_scene_that_is_not_there(tmp_path: Path) -> None:
    for path in (tmp_path / "nothing.xml", tmp_path):
        with pytest.raises(UsageError) as wrong:
            read_scene(path)
        assert wrong.value.hint


def test_a_picture_shows_what_only_descriptions_say(hand: Hand) -> None:
    scene_on(hand, (OWN_DUMPS / "flutter_payment.xml").read_bytes())
    words = [mark.text for mark in sketch(hand.phone) if isinstance(mark, Words)]
    assert {"Cancel payment?", "Continue payment", "Cancel booking"} <= set(words)
