"""Every dump at hand: our own, and the cases where there are some."""

from __future__ import annotations

from pathlib import Path

import pytest
from tests.screens.screen_maker import OWN_DUMPS


@pytest.fixture(scope="session")
def all_dumps(cases_dir: Path | None) -> list[Path]:
    """Return the dump files, our own first."""
    found = sorted(OWN_DUMPS.glob("*.xml"))
    if cases_dir is not None:
        found += sorted((cases_dir / "dumps").glob("*.xml"))
    return found
