"""A pytest plugin with one fixture: `virtual_phone`, a virtual phone behind a real adb server, new for each test.

How it is started stands in a marker:

    @pytest.mark.virtual_phone(scene="checkout.xml", faults=["tap-lost@1"], seed=7, profile="old")

A relative scene lies beside the test's file. pytest loads this file at every start, so it imports nothing of ours
before a test asks for a phone.
"""

from __future__ import annotations

from collections.abc import Iterator
from contextlib import ExitStack
from pathlib import Path
from typing import TYPE_CHECKING, Any

import pytest

if TYPE_CHECKING:
    from droidpilot.device.adb_server import PrivateServer
    from droidpilot.testbed import PhoneUnderTest

MARKER = "virtual_phone"
OPTIONS = ("scene", "faults", "seed", "profile", "transition_ms")


def pytest_configure(config: pytest.Config) -> None:
    """Say that there is such a marker."""
    config.addinivalue_line(
        "markers",
        f"{MARKER}({', '.join(f'{name}=...' for name in OPTIONS)}): how the virtual phone of a test is started",
    )


@pytest.fixture(scope="session")
def droidpilot_adb(tmp_path_factory: pytest.TempPathFactory) -> Iterator[PrivateServer]:
    """An adb server for the virtual phones of this run, and for no other phone."""
    from droidpilot.testbed import adb_server

    with adb_server(tmp_path_factory.mktemp("droidpilot-adb")) as server:
        yield server


@pytest.fixture
def virtual_phone(
    request: pytest.FixtureRequest, droidpilot_adb: PrivateServer, tmp_path_factory: pytest.TempPathFactory
) -> Iterator[PhoneUnderTest]:
    """A running virtual phone, and droidpilot on it. See docs/howto/without-a-phone.md."""
    from droidpilot.core.errors import UsageError
    from droidpilot.testbed import virtual_phone as running

    home = tmp_path_factory.mktemp("droidpilot-home")
    with ExitStack() as stack:
        try:
            phone = stack.enter_context(running(home=home, server=droidpilot_adb, **_options(request)))
        except UsageError as error:
            pytest.fail(f"@pytest.mark.{MARKER}: {error}", pytrace=False)
        yield phone


def _options(request: pytest.FixtureRequest) -> dict[str, Any]:
    """Read the marker of a test; one on its class or module counts where the nearer one does not say."""
    options: dict[str, Any] = {}
    for mark in request.node.iter_markers(MARKER):
        odd = sorted(set(mark.kwargs) - set(OPTIONS))
        if odd or mark.args:
            wrong = f"there is no option {odd[0]!r}" if odd else "options have names"
            pytest.fail(f"@pytest.mark.{MARKER}: {wrong} (there are: {', '.join(OPTIONS)})", pytrace=False)
        options = {**mark.kwargs, **options}
    scene = options.get("scene")
    if isinstance(scene, str | Path):
        options["scene"] = request.path.parent / scene
    return options
