"""What a phone sends as a picture: checked, measured, made smaller. A failed capture is never taken for a secret."""

from __future__ import annotations

import base64
import io
import random
from collections.abc import Iterator
from contextlib import contextmanager

import PIL.Image
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from tests.fakes.driver import FakeDriver, State, dump, node, plain_picture
from tests.fakes.in_phone import CountingServer, InPhoneLink, error, in_phone, result

from droidpilot.core.clock import Deadline, ManualClock, SystemClock
from droidpilot.core.errors import DeviceRefused
from droidpilot.core.images import Image, ImageLimits
from droidpilot.device.adb import ShellAnswer
from droidpilot.device.android import AndroidDriver
from droidpilot.device.driver import DeviceFacts
from droidpilot.device.pictures import MAX_PIXELS, read_picture, shrunk, without_chatter
from droidpilot.virtual.server import VirtualPhone

SECURE = """  Window #3 Window{cd34 u0 com.bank/com.bank.Pin}:
    mOwnerUid=10099 package=com.bank appop=NONE
    mAttrs={(0,0)(fillxfill) ty=BASE_APPLICATION
      fl=LAYOUT_IN_SCREEN SECURE SPLIT_TOUCH
      pfl=USE_BLAST}
  mCurrentFocus=Window{cd34 u0 com.bank/com.bank.Pin}
"""
OPEN = SECURE.replace("SECURE ", "")


def picture(kind: str = "JPEG", size: tuple[int, int] = (108, 234), color: str = "#4060a0") -> bytes:
    out = io.BytesIO()
    PIL.Image.new("RGB", size, color).save(out, kind)
    return out.getvalue()


@contextmanager
def scripted(
    *script: bytes, window: str = OPEN, printed: tuple[bytes, ...] = ()
) -> Iterator[tuple[AndroidDriver, InPhoneLink]]:
    clock = SystemClock()
    with in_phone(*script) as (_, link):
        link.shell_answers = [ShellAnswer(0, window)] * 3
        link.printed = list(printed)
        yield AndroidDriver(link, CountingServer(link, clock), clock, DeviceFacts("s", "m", "b", 34, "14")), link


def soon() -> Deadline:
    return Deadline.after(SystemClock(), 10)


def sent(data: bytes) -> bytes:
    return result(base64.b64encode(data).decode())


def test_the_in_phone_server_is_asked_first() -> None:
    with scripted(sent(picture())) as (phone, link):
        taken = phone.screenshot(soon())
    assert (taken.image.mime, taken.image.width, taken.image.height) == ("image/jpeg", 108, 234)
    assert not taken.is_black and not taken.is_secure
    assert ["screencap", "-p"] not in link.commands


@pytest.mark.parametrize(
    "answer",
    [result(None), result(""), error("method not found", code=-32601), error("java.lang.NullPointerException")],
)
def test_where_it_has_none_screencap_is_used(answer: bytes) -> None:
    chatter = b"[Warning] Multiple displays were found, but no display id was specified!\n"
    with scripted(answer, printed=(chatter + picture("PNG"),)) as (phone, link):
        taken = phone.screenshot(soon())
    assert (taken.image.mime, taken.image.width) == ("image/png", 108)
    assert link.commands[0] == ["screencap", "-p"]


@pytest.mark.parametrize(
    ("printed", "said"),
    [
        (b"", "it sent nothing"),
        (b"Permission denied\n", "Permission denied"),
        (b"error: more than one device/emulator", "more than one device"),
        (picture("PNG")[:60], "no picture"),
    ],
)
def test_report_b19_b21_b45_a_failed_capture_is_an_error_that_says_so_and_no_secure_screen(
    printed: bytes, said: str
) -> None:
    with (
        scripted(result(None), window=SECURE, printed=(printed,)) as (phone, _),
        pytest.raises(DeviceRefused) as caught,
    ):
        phone.screenshot(soon())
    assert (caught.value.code, caught.value.sent) == ("capture_failed", "no")
    assert said in str(caught.value) and "secure" not in str(caught.value).lower()


@pytest.mark.parametrize(
    ("data", "window", "is_black", "is_secure"),
    [
        (picture(color="black"), SECURE, True, True),
        (picture(color="black"), OPEN, True, False),
        (picture(size=(1, 1), color="white"), SECURE, True, True),
        (picture(color="#202020"), OPEN, False, False),
        (picture(), SECURE, False, True),
    ],
)
def test_black_and_secure_are_told_apart(data: bytes, window: str, is_black: bool, is_secure: bool) -> None:
    with scripted(sent(data), window=window) as (phone, _):
        taken = phone.screenshot(soon())
    assert (taken.is_black, taken.is_secure) == (is_black, is_secure)


def test_a_picture_cut_off_is_a_failed_capture() -> None:
    noise = PIL.Image.frombytes("L", (200, 200), random.Random(1).randbytes(40_000))
    out = io.BytesIO()
    noise.save(out, "JPEG")
    with pytest.raises(DeviceRefused) as caught:
        read_picture(out.getvalue()[:5_000])
    assert caught.value.code == "capture_failed"


def test_a_picture_larger_than_any_screen_is_not_decoded() -> None:
    side = int(MAX_PIXELS**0.5) + 10
    out = io.BytesIO()
    PIL.Image.new("1", (side, side)).save(out, "PNG")
    with pytest.raises(DeviceRefused) as caught:
        read_picture(out.getvalue())
    assert "larger than any screen" in str(caught.value)


@settings(max_examples=60, deadline=None)
@given(st.binary(max_size=300))
def test_no_bytes_break_it_in_another_way(data: bytes) -> None:
    for read in (read_picture, without_chatter):
        with pytest.raises(DeviceRefused):
            read(b"\x89PNX" + data)


@settings(max_examples=40, deadline=None)
@given(st.integers(1, 400), st.integers(1, 400), st.integers(1, 300), st.sampled_from(["JPEG", "PNG"]))
def test_shrinking_keeps_the_shape_and_the_limit(width: int, height: int, edge: int, kind: str) -> None:
    image, _ = read_picture(picture(kind, (width, height)))
    small = shrunk(image, ImageLimits(edge, 70))
    assert PIL.Image.open(io.BytesIO(small.data)).size == (small.width, small.height)
    assert max(small.width, small.height) <= max(1, edge)
    assert small.width <= width and small.height <= height
    scale = min(1.0, edge / max(width, height))
    assert abs(small.width - width * scale) <= 1 and abs(small.height - height * scale) <= 1


def test_shrinking_what_is_no_picture_is_a_failed_capture() -> None:
    with pytest.raises(DeviceRefused):
        shrunk(Image(b"no", "image/png", 10, 10), ImageLimits())


def test_a_real_stack_takes_pictures_and_sees_secure_windows(driver: AndroidDriver, phone: VirtualPhone) -> None:
    first = driver.screenshot(soon())
    assert (first.image.width, first.image.height, first.is_black, first.is_secure) == (1080, 2340, False, False)
    with phone.phone.lock:
        phone.phone.top.is_secure = True
        phone.phone.changed()
    hidden = driver.screenshot(soon())
    assert (hidden.is_black, hidden.is_secure) == (True, True)
    with phone.phone.lock:
        phone.phone.top.is_secure = False
        phone.phone.changed()
    assert not driver.screenshot(soon()).is_secure


def test_the_fake_takes_pictures_too() -> None:
    fake = FakeDriver({"s": State([dump(node())], picture=plain_picture(10, 20, color="black", is_secure=True))}, "s")
    taken = fake.screenshot(Deadline.after(ManualClock(), 1))
    assert (taken.image.width, taken.image.height, taken.is_black, taken.is_secure) == (10, 20, True, True)
    assert read_picture(taken.image.data)[1]
