"""`droidpilot config`: what is set, and by whom. Keys are never shown, only whether they are set."""

from __future__ import annotations

import re
from pathlib import Path
from typing import TYPE_CHECKING, Any

import typer

from droidpilot.cli import options, output
from droidpilot.core.errors import Exit

if TYPE_CHECKING:
    from droidpilot.core.config import Loaded

app = typer.Typer(help="Show the settings in force.", rich_markup_mode=None, no_args_is_help=True, add_completion=False)


@app.callback()
def options_before() -> None:
    """Keep `config` a group although it has one command."""


@app.command(short_help="Show each setting with its origin.")
def show(json: options.Json = False) -> Exit:
    """Show each setting in force with where it comes from, which keys are set, and where files are looked for.

    Example: droidpilot config show
    """
    from droidpilot.core import config
    from droidpilot.model.provider import KEY_NAMES, VENDORS

    env = config.environment()
    loaded = config.load_settings({}, cwd=Path.cwd(), env=env)
    keys = config.api_keys(env)
    are_set = {name: name in keys for name in KEY_NAMES}
    files = {
        "your settings": config.config_home(env) / config.USER_FILE,
        "project settings": Path.cwd() / config.PROJECT_FILE,
        "your policies": config.user_policies_dir(env),
        "shipped policies": config.shipped_dir("policies"),
        "state": config.state_folder(env),
    }
    if json:
        output.result_json(_as_json(loaded, are_set, files))
        return Exit.DONE
    values = _values(loaded)
    output.table(
        [("SETTING", "VALUE", "FROM"), *((key, _words(value), loaded.origins[key]) for key, value in values.items())]
    )
    for rule in loaded.rules:
        output.result(f"project rule: {rule}")
    output.result()
    output.table(
        [
            ("KEY", "", "GOES TO"),
            *(
                (name, "set" if is_set else "not set", ", ".join(VENDORS.get(name, ("every other endpoint",))))
                for name, is_set in are_set.items()
            ),
        ]
    )
    output.result()
    output.table([("FILES", ""), *((name, _with_absence(path)) for name, path in files.items())])
    for text in loaded.notes:
        output.note(f"note: {text}", style="dim")
    return Exit.DONE


def _values(loaded: Loaded) -> dict[str, Any]:
    values = loaded.settings.model_dump(mode="json")
    # A password does not belong into an address, but somebody may have put one there.
    values["base_url"] = without_password(values["base_url"])
    return values


def without_password(url: str) -> str:
    """Return an address with whatever stands before its `@` taken out."""
    return re.sub(r"(//|^)[^/?#]*@", r"\1***@", url)


def _as_json(loaded: Loaded, are_set: dict[str, bool], files: dict[str, Path]) -> dict[str, Any]:
    return {
        "settings": {key: {"value": value, "origin": loaded.origins[key]} for key, value in _values(loaded).items()},
        "rules": list(loaded.rules),
        "keys": are_set,
        "files": {
            name.replace(" ", "_"): {"path": str(path), "exists": _is_there(path)} for name, path in files.items()
        },
        "notes": list(loaded.notes),
    }


def _words(value: Any) -> str:
    if value is None:
        return "not set"
    if isinstance(value, dict):
        return ", ".join(f"{name} {inner:g}" for name, inner in value.items() if inner is not None)
    return str(value)


def _with_absence(path: Path) -> str:
    return str(path) if _is_there(path) else f"{path} (not there)"


def _is_there(path: Path) -> bool:
    try:
        return path.exists()
    except OSError:  # in a folder that may not be looked into
        return False
