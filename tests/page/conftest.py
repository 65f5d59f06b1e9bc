"""The browser that the page is opened in; where there is none, the summary says that nothing was opened."""

from __future__ import annotations

from collections.abc import Iterator
from pathlib import Path

import pytest

from tests.page.browser import NAMES, Browser, find_browser
from tests.page.page_sessions import hostile, ordinary

_MISSING = f"the browser tests did NOT run: none of {', '.join(NAMES)} is installed"


@pytest.fixture(scope="session")
def browser(tmp_path_factory: pytest.TempPathFactory) -> Iterator[Browser]:
    executable = find_browser()
    if executable is None:
        pytest.skip(_MISSING)
    with Browser(executable, tmp_path_factory.mktemp("profile")) as running:
        yield running


@pytest.fixture(scope="session")
def pages(tmp_path_factory: pytest.TempPathFactory) -> dict[str, Path]:
    """Write the ordinary and the hostile page once."""
    folder = tmp_path_factory.mktemp("pages")
    made = {}
    for name, write in (("ordinary", ordinary), ("hostile", hostile)):
        made[name] = folder / f"{name}.html"
        made[name].write_bytes(write(folder / name).html().encode())
    return made


def pytest_terminal_summary(terminalreporter: pytest.TerminalReporter) -> None:
    skipped = terminalreporter.stats.get("skipped", [])
    if any("tests/page" in report.nodeid for report in skipped):
        terminalreporter.write_line(_MISSING, yellow=True)
