"""The page about trouble shows what the program prints, all of it and nothing else."""

from __future__ import annotations

import tomllib
from importlib import resources
from pathlib import Path

import pytest

from tests.docs.trouble import PAGE, SITUATIONS, blocks, printed


def test_every_block_has_its_situation_and_every_situation_its_block() -> None:
    assert set(blocks()) == set(SITUATIONS)
    assert PAGE.read_text(encoding="utf-8").count("```text") == len(SITUATIONS)


@pytest.mark.parametrize("name", SITUATIONS)
def test_the_lines_of_the_page_are_those_that_the_program_prints(name: str, tmp_path: Path) -> None:
    lines = printed(SITUATIONS[name], tmp_path)
    assert lines and blocks()[name] == lines


def test_the_table_of_brands_names_every_switch() -> None:
    text = PAGE.read_text(encoding="utf-8")
    data = tomllib.loads(resources.files("droidpilot.device").joinpath("phone_notes.toml").read_text(encoding="utf-8"))
    assert all(f"| {switch['name']}" in text for switch in data["switch"])
