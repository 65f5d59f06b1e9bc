"""Finding and reading a policy: names, paths, a project's lines, and errors that say what to do."""

from __future__ import annotations

import os
from pathlib import Path

import pytest

from droidpilot.core.calls import Answer
from droidpilot.core.errors import PolicyError
from droidpilot.policy.policies import Policy, load_policy, policy_names
from droidpilot.policy.rules import RuleQuery

TOOLS = frozenset({"tap", "press"})


@pytest.fixture
def folders(tmp_path: Path) -> tuple[Path, Path]:
    user, shipped = tmp_path / "user", tmp_path / "shipped"
    user.mkdir()
    shipped.mkdir()
    (shipped / "default.rules").write_text("deny tap\n")
    (user / "mine.rules").write_text("allow tap\n")
    return user, shipped


def load(folders: tuple[Path, Path], name: str, *extra: str) -> Policy:
    return load_policy(name, user_dir=folders[0], shipped_dir=folders[1], tools=TOOLS, extra_lines=extra)


def answer(policy: Policy) -> Answer | None:
    return policy.rules.decide(RuleQuery(tool="tap", packages=("com.a",))).answer


def test_a_name_is_a_shipped_policy_or_the_users(folders: tuple[Path, Path]) -> None:
    assert answer(load(folders, "default")) is Answer.DENY
    assert answer(load(folders, "mine")) is Answer.ALLOW
    assert policy_names(user_dir=folders[0], shipped_dir=folders[1]) == ("default", "mine")


def test_a_value_with_a_slash_is_a_path(folders: tuple[Path, Path], tmp_path: Path) -> None:
    file = tmp_path / "other.txt"
    file.write_text("ask tap")
    assert answer(load(folders, str(file))) is Answer.ASK


def test_the_source_of_a_line_is_the_file(folders: tuple[Path, Path]) -> None:
    assert str(load(folders, "default").rules.rules[0]) == "default.rules:1: deny tap"


def test_a_name_that_is_both_shipped_and_the_users_is_an_error(folders: tuple[Path, Path]) -> None:
    (folders[0] / "default.rules").write_text("allow tap\n")
    with pytest.raises(PolicyError, match="another one of your own"):
        load(folders, "default")
    (folders[0] / "default.rules").write_text("deny tap\n")
    assert answer(load(folders, "default")) is Answer.DENY


@pytest.mark.parametrize(
    ("name", "words"),
    [
        ("defautl", "did you mean default"),
        ("nothing", "there are default, mine"),
        ("default.rules", "a name has no suffix"),
        ("..", "can be no name"),
        ("", "can be no name"),
        ("./nothing.rules", "cannot be read"),
    ],
)
def test_a_policy_that_is_not_there_is_an_error_that_helps(folders: tuple[Path, Path], name: str, words: str) -> None:
    with pytest.raises(PolicyError) as caught:
        load(folders, name)
    assert words in str(caught.value)


def test_a_folder_a_big_file_and_a_file_of_bytes_are_errors(folders: tuple[Path, Path], tmp_path: Path) -> None:
    (tmp_path / "big.rules").write_bytes(b"#" * (1024 * 1024 + 1))
    (tmp_path / "latin.rules").write_bytes(b"# ok\ndeny tap matching \xe9\n")
    for name, words in (("", "cannot be read"), ("big.rules", "bigger"), ("latin.rules", ":2: is not UTF-8")):
        with pytest.raises(PolicyError) as caught:
            load(folders, f"{tmp_path}/{name}")
        assert words in str(caught.value)


def test_a_pipe_is_an_error_at_once(folders: tuple[Path, Path], tmp_path: Path) -> None:
    os.mkfifo(tmp_path / "pipe.rules")
    with pytest.raises(PolicyError, match="no ordinary file"):
        load(folders, f"{tmp_path}/pipe.rules")


def test_a_bad_line_of_the_project_is_an_error_there(folders: tuple[Path, Path]) -> None:
    for line, words in (
        ("allow tap", "only deny or ask"),
        ("deny tapp", "did you mean tap"),
        ("ask tap\ndeny tap", "one line"),
    ):
        with pytest.raises(PolicyError) as caught:
            load(folders, "mine", "# ok", line)
        assert words in str(caught.value)
        assert str(caught.value).startswith("./droidpilot.toml:2:")


def test_a_projects_lines_tighten_and_never_loosen(folders: tuple[Path, Path]) -> None:
    assert answer(load(folders, "mine", "ask tap")) is Answer.ASK
    assert answer(load(folders, "default", "ask tap")) is Answer.DENY


def test_the_digest_covers_the_projects_lines(folders: tuple[Path, Path]) -> None:
    plain, extra = load(folders, "mine"), load(folders, "mine", "ask tap")
    assert plain.digest != extra.digest
    assert len(plain.digest) == 64
