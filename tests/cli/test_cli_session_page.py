"""`session show --html` and `--open`: one file written whole, and the system's own opener told what to open."""

from __future__ import annotations

import os
import stat
from pathlib import Path

import pytest

from tests.cli.cli_shell import Shell
from tests.page.page_events import ended, started
from tests.page.page_sessions import ID, Book, ordinary


@pytest.fixture
def shell(tmp_path: Path) -> Shell:
    return Shell(tmp_path)


def opener(shell: Shell, *, code: int = 0) -> str:
    """Put an opener into a folder of its own that notes what it was given; return that folder as a PATH."""
    folder = shell.cwd / "bin"
    folder.mkdir()
    for name in ("xdg-open", "open"):
        program = folder / name
        program.write_text(f'#!/bin/sh\nprintf "%s\\n" "$#" "$1" >> "{shell.cwd}/opened"\nexit {code}\n')
        program.chmod(0o755)
    return str(folder)


def opened(shell: Shell) -> list[str]:
    path = shell.cwd / "opened"
    return path.read_text().splitlines() if path.exists() else []


def test_a_page_is_written_for_its_owner_alone(shell: Shell) -> None:
    ordinary(shell.home)
    done = shell.quick("session", "show", "--html", "page.html")
    assert (done.returncode, done.stderr) == (0, "")
    path = shell.cwd / "page.html"
    assert "page.html" in done.stdout
    assert stat.S_IMODE(path.stat().st_mode) == 0o600
    assert path.read_text(encoding="utf-8").startswith("<!doctype html>")
    again = shell.quick("session", "show", ID[:8], "--html", "page.html")
    assert again.returncode == 0
    assert [one.name for one in shell.cwd.iterdir()] == ["page.html"]


@pytest.mark.parametrize("name", ["folder", "missing/page.html", "pipe", "link.html", "n" * 300])
def test_what_cannot_be_a_page_is_refused_and_left_alone(shell: Shell, name: str) -> None:
    ordinary(shell.home)
    (shell.cwd / "folder").mkdir()
    os.mkfifo(shell.cwd / "pipe")
    (shell.cwd / "target").write_text("mine")
    (shell.cwd / "link.html").symlink_to(shell.cwd / "target")
    before = sorted(one.name for one in shell.cwd.iterdir())
    done = shell.quick("session", "show", "--html", name)
    assert done.returncode == 2
    assert done.stderr.count("\n") == 1 and "page" in done.stderr
    assert "Errno" not in done.stderr and ".page-" not in done.stderr
    assert sorted(one.name for one in shell.cwd.iterdir()) == before
    assert (shell.cwd / "target").read_text() == "mine"


def test_show_prints_where_the_pictures_lie(shell: Shell) -> None:
    book = ordinary(shell.home)
    picture = next((book.directory / "artifacts").glob("*.jpg"))
    assert f"picture of t1c1: {picture}" in shell.quick("session", "show").stdout
    assert shell.json("session", "show")["pictures"] == [{"call_id": "t1c1", "path": str(picture)}]
    picture.unlink()
    assert "picture of t1c1: it is gone" in shell.quick("session", "show").stdout
    # What is gone is not as it was written.
    assert shell.json("session", "show", code=1)["pictures"] == [{"call_id": "t1c1", "path": None}]


def test_open_hands_each_picture_to_the_systems_opener(shell: Shell) -> None:
    book = ordinary(shell.home)
    picture = next((book.directory / "artifacts").glob("*.jpg"))
    done = shell.quick("session", "show", "--open", PATH=opener(shell))
    assert (done.returncode, done.stderr) == (0, "")
    assert opened(shell) == ["1", str(picture)]
    assert "Tap Buy now" in done.stdout


def test_open_with_a_page_opens_the_page(shell: Shell) -> None:
    ordinary(shell.home)
    assert shell.quick("session", "show", "--html", "-page.html", "--open", PATH=opener(shell)).returncode == 0
    assert opened(shell) == ["1", str(shell.cwd / "-page.html")]


def test_open_without_a_picture_makes_a_page_in_the_state_folder(shell: Shell) -> None:
    Book(shell.home).add(started(), ended("done", 0))
    assert shell.quick("session", "show", "--open", PATH=opener(shell)).returncode == 0
    path = shell.home / "pages" / f"{ID}.html"
    assert opened(shell) == ["1", str(path)]
    assert stat.S_IMODE(path.stat().st_mode) == 0o600


def test_open_says_so_where_there_is_no_opener_or_it_fails(shell: Shell) -> None:
    ordinary(shell.home)
    (shell.cwd / "empty").mkdir()
    done = shell.quick("session", "show", "--open", PATH=str(shell.cwd / "empty"))
    assert done.returncode == 2
    assert "there is no " in done.stderr and "to open files with" in done.stderr
    assert "picture of t1c1" in done.stdout  # so that a person can open it
    done = shell.quick("session", "show", "--open", PATH=opener(shell, code=4))
    assert done.returncode == 2 and "could not open" in done.stderr


def test_json_goes_with_no_page(shell: Shell) -> None:
    ordinary(shell.home)
    for words in (("--html", "page.html"), ("--open",)):
        done = shell.quick("session", "show", "--json", *words)
        assert done.returncode == 2 and "--json" in done.stderr
    assert not (shell.cwd / "page.html").exists()
