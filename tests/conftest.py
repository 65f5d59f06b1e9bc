"""What every test may use: the folder of real dumps, where there is one, and where it lies."""

from __future__ import annotations

import os
from pathlib import Path

import pytest
from hypothesis import settings

# On a machine that others use too, a slow example says nothing about the code.
settings.register_profile("shared", deadline=None)
settings.load_profile("shared")

#: Set by `.ci/run` where the cases are at hand; a clean clone proves the same with tests/data.
CASES = "DROIDPILOT_CASES"


def cases_folder() -> Path | None:
    """Return the folder of cases, None where the variable is not set; set but empty is an error."""
    value = os.environ.get(CASES)
    if value is None:
        return None
    folder = Path(value)
    if not value or not any(folder.glob("dumps/*.xml")):
        raise pytest.UsageError(f"{CASES}={value!r} holds no dumps/*.xml")
    return folder


@pytest.fixture(scope="session")
def cases_dir() -> Path | None:
    return cases_folder()


def pytest_report_header() -> str:
    folder = cases_folder()
    if folder is None:
        return f"cases: {CASES} is not set; only the dumps in tests/data are used"
    return f"cases: {len(list(folder.glob('dumps/*.xml')))} dumps"


@pytest.fixture(autouse=True)
def _own_home(tmp_path_factory: pytest.TempPathFactory, monkeypatch: pytest.MonkeyPatch) -> None:
    """No test reads or writes the state, settings or keys of whoever runs it."""
    for name in [name for name in os.environ if name.startswith("DROIDPILOT_") and name != CASES]:
        monkeypatch.delenv(name)
    monkeypatch.setenv("DROIDPILOT_HOME", str(tmp_path_factory.mktemp("home")))
    for name in ("OPENAI_API_KEY", "OPENROUTER_API_KEY", "ANTHROPIC_API_KEY"):
        monkeypatch.delenv(name, raising=False)
