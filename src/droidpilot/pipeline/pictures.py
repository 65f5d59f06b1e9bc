"""Pictures: takes them, at most one a second, and remembers the last one so that a place in it can be found.

A picture is taken between two looks, so that what may be told of it is judged by what was there before and after.
Whether it may be told is decided in the executor, not here.
"""

from __future__ import annotations

from droidpilot.core.clock import Clock, Deadline
from droidpilot.core.errors import DeviceError, ScreenUnreadable, ToolError
from droidpilot.core.images import ImageLimits
from droidpilot.core.stop import Stop
from droidpilot.device.driver import Driver, Picture
from droidpilot.device.pictures import shrunk
from droidpilot.pipeline.observer import Observer
from droidpilot.screens.screen import Screen
from droidpilot.tools.picture_frame import PictureFrame, Taken, is_same_shape, no_picture

#: Seconds between two pictures (T20): a model that asks faster waits.
GAP_S = 1.0


class Pictures:
    """The pictures of one session."""

    def __init__(
        self,
        driver: Driver,
        observer: Observer,
        clock: Clock,
        stop: Stop,
        limits: ImageLimits,
        *,
        is_kept: bool = False,
    ) -> None:
        self.is_kept = is_kept  # whether a picture is kept of each screen before a write
        self._driver = driver
        self._observer = observer
        self._clock = clock
        self._stop = stop
        self._limits = limits
        self._taken_at = float("-inf")
        self._count = 0
        self._last: PictureFrame | None = None

    def frame(self, number: int) -> PictureFrame:
        """Return the picture of that number, which must be the last one (INV-31).

        Raises:
            TargetError: no_picture.
        """
        return self._last if self._last is not None and self._last.number == number else no_picture(number)

    def take(self, deadline: Deadline) -> Taken:
        """Wait for its turn, let the screen settle, and take a picture; also of a screen whose text cannot be read.

        Raises:
            ToolError: code `secure_screen` or `secure_unknown`: it forbids pictures of itself, or may;
                `black_picture`: there is nothing to be seen on it.
            DeviceError: code `capture_failed` where the phone gave no picture.
        """
        self._wait(deadline)
        unreadable: ScreenUnreadable | None = None
        try:
            before = self._observer.settled("call", deadline)
        except ScreenUnreadable as error:
            unreadable = error
            before = self._observer.unread("call", error, deadline)
        self._taken_at = self._clock.monotonic()
        picture = self._driver.screenshot(deadline)
        if unreadable is None:
            after = self._observer.glance("call", deadline, anew=True)
        else:
            after = self._observer.unread("call", unreadable, deadline)
        _refuse_nothing(picture, after)
        image = shrunk(picture.image, self._limits)
        is_still = _shape(before) == _shape(after)
        self._count += 1
        frame = PictureFrame(
            number=self._count,
            width=image.width,
            height=image.height,
            screen=after,
            is_fitting=unreadable is None
            and is_still
            and is_same_shape(picture.image.width, picture.image.height, after),
        )
        self._last = frame
        return Taken(frame=frame, image=image, whole=picture.image, looks=(before, after))

    def keep(self, deadline: Deadline) -> bytes:
        """Take a picture for the record; empty where none is wanted or to be had, which fails nothing."""
        if not self.is_kept:
            return b""
        try:
            picture = self._driver.screenshot(deadline)
        except DeviceError:
            return b""
        return b"" if picture.is_secure is not False or picture.is_black else shrunk(picture.image, self._limits).data

    def _wait(self, deadline: Deadline) -> None:
        left_s = self._taken_at + GAP_S - self._clock.monotonic()
        if left_s > 0:
            with self._stop.interruptible():
                self._clock.sleep(min(left_s, deadline.left_s()))


def _shape(screen: Screen) -> tuple[int, int, int]:
    return screen.width, screen.height, screen.rotation


def _refuse_nothing(picture: Picture, screen: Screen) -> None:
    """Refuse a picture on which nothing can be seen; a failed capture never comes here (B45)."""
    if picture.is_secure:
        raise ToolError(
            f"{screen.package or 'the app in front'} forbids pictures of this screen",
            code="secure_screen",
            hint="the screen's text can still be read: use ui_tree",
        )
    if picture.is_secure is None:
        raise ToolError(
            "the phone does not say whether this screen forbids pictures of itself, which counts as if it did",
            code="secure_unknown",
            hint="the screen's text can still be read: use ui_tree; or try again later",
        )
    if picture.is_black:
        raise ToolError(
            "the picture is all black: the screen is off, or what it shows is protected",
            code="black_picture",
            hint="use ui_tree",
        )
