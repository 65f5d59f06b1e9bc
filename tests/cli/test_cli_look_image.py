"""`look --image`: a picture for people, with the refs drawn on, or one line that says why there is none."""

from __future__ import annotations

import io
import stat
from collections.abc import Iterator
from pathlib import Path

import PIL.Image
import pytest

from droidpilot.cli.draw import boxes_of, draw
from droidpilot.cli.given_file import write_given
from droidpilot.core.errors import UsageError
from droidpilot.screens.hierarchy import Bounds
from droidpilot.screens.parse import parse_hierarchy
from droidpilot.screens.screen import make_screen
from tests.cli.cli_shell import Bench, running_bench
from tests.fakes.driver import dump, node, plain_picture


@pytest.fixture(scope="module")
def bench(tmp_path_factory: pytest.TempPathFactory) -> Iterator[Bench]:
    with running_bench(tmp_path_factory.mktemp("bench")) as running:
        yield running


@pytest.mark.parametrize(("name", "kind"), [("seen.png", "PNG"), ("seen.JPG", "JPEG"), ("seen.jpeg", "JPEG")])
def test_the_suffix_says_what_is_written(bench: Bench, tmp_path: Path, name: str, kind: str) -> None:
    bench.call("press", "key=home")
    file = tmp_path / name
    done = bench.shell.quick("look", "--image", str(file), "--device", bench.serial)
    assert done.returncode == 0, done.stderr
    assert "Settings" in done.stdout and str(file) in done.stderr
    assert stat.S_IMODE(file.stat().st_mode) == 0o600
    with PIL.Image.open(file) as image:
        assert (image.format, image.size) == (kind, (1080, 2340))


def test_the_boxes_are_those_of_the_refs_that_are_told(bench: Bench, tmp_path: Path) -> None:
    bench.call("press", "key=home")
    file = tmp_path / "seen.png"
    seen = bench.shell.json("look", "--image", str(file), "--device", bench.serial)
    assert seen["image"] == str(file)
    with PIL.Image.open(file) as image:
        for one in seen["refs"]:
            left, top, right, bottom = one["bounds"]
            corners = [(left, top + 60), (left, bottom - 10), (left + 10, bottom - 1), (right - 60, bottom - 1)]
            assert len({image.getpixel(corner) for corner in corners}) == 1, one
    assert bench.call("tap", f"ref={seen['refs'][-1]['ref']}").returncode == 0, "they can be used"


@pytest.mark.parametrize("name", ["seen.gif", "seen", "missing/seen.png", "."])
def test_a_name_that_cannot_be_written_is_a_usage_error_before_anything_is_done(bench: Bench, name: str) -> None:
    before = len(list((bench.shell.home / "sessions").iterdir())) if (bench.shell.home / "sessions").exists() else 0
    done = bench.shell.quick("look", "--image", name, "--device", bench.serial)
    assert done.returncode == 2
    assert done.stdout == "" and len(done.stderr.splitlines()) == 1, done.stderr
    after = len(list((bench.shell.home / "sessions").iterdir())) if (bench.shell.home / "sessions").exists() else 0
    assert after == before


def test_a_dump_has_no_picture(bench: Bench) -> None:
    done = bench.shell.quick("look", "--dump", "x.xml", "--image", "x.png")
    assert done.returncode == 2 and "--image" in done.stderr


def test_a_denied_picture_writes_no_file(bench: Bench, tmp_path: Path) -> None:
    rules, file = tmp_path / "no.rules", tmp_path / "seen.png"
    rules.write_text("deny screenshot\nallow *\n")
    done = bench.shell.quick("look", "--image", str(file), "--device", bench.serial, "--policy", str(rules))
    assert done.returncode == 5
    assert not file.exists()


def test_a_call_by_hand_says_where_the_picture_lies(bench: Bench) -> None:
    done = bench.call("screenshot")
    assert done.returncode == 0, done.stderr
    path = Path(
        next(line for line in done.stderr.splitlines() if line.startswith("picture: ")).removeprefix("picture: ")
    )
    with PIL.Image.open(path) as image:
        assert image.size == (508, 1100)


@pytest.mark.parametrize("kind", ["folder", "link", "dangling"])
def test_a_folder_or_a_link_is_never_written_through(tmp_path: Path, kind: str) -> None:
    target, path = tmp_path / "target", tmp_path / "seen.png"
    if kind == "folder":
        path.mkdir()
    else:
        path.symlink_to(target)
        if kind == "link":
            target.write_bytes(b"kept")
    with pytest.raises(UsageError):
        write_given(path, b"new", "picture")
    assert kind != "link" or target.read_bytes() == b"kept"
    assert not list(tmp_path.glob(".droidpilot-*"))


def test_a_file_is_replaced_whole(tmp_path: Path) -> None:
    path = tmp_path / "seen.png"
    path.write_bytes(b"old")
    write_given(path, b"new", "picture")
    assert path.read_bytes() == b"new"


def test_boxes_are_drawn_where_things_are_whatever_the_size_of_the_picture() -> None:
    hierarchy = parse_hierarchy(dump(node(node(text="OK", clickable=True, bounds=(100, 200, 300, 400)))))
    screen = make_screen(
        number=1,
        hierarchy=hierarchy,
        foreground_package="com.example",
        activity=None,
        width=1000,
        height=2000,
        rotation=0,
        refs={7: 1},
    )
    boxes = boxes_of(screen)
    assert [(box.ref, box.bounds) for box in boxes] == [(7, Bounds(100, 200, 300, 400))]
    data = draw(plain_picture(500, 1000).image, boxes, screen.display, "PNG")
    with PIL.Image.open(io.BytesIO(data)) as image:
        assert image.size == (500, 1000)
        ground, edge = image.getpixel((25, 500)), image.getpixel((50, 150))
        assert edge != ground and image.getpixel((49, 150)) == ground and image.getpixel((100, 180)) == ground
