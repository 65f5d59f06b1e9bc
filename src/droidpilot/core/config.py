"""Settings and folders: what a person set, where it was set, and where we keep things.

The only file that reads the environment. It must never know what a setting is used for, and no key to a model's
endpoint is ever a setting: keys come from the environment (`api_keys`) and are not kept in files.

Layers, the first that says something wins: flags, `DROIDPILOT_*`, `./droidpilot.toml`, the user's file, defaults. The
project's file is not trusted (it may come from a cloned repository): against the layers below it, it may only lower
limits, raise `ask`, and add `deny` and `ask` lines.
"""

from __future__ import annotations

import difflib
import os
import re
import tomllib
from collections.abc import Iterable, Mapping
from dataclasses import dataclass
from pathlib import Path
from typing import Any, Literal, get_args

import platformdirs
from pydantic import BaseModel, ConfigDict, Field, ValidationError

from droidpilot.core.errors import ConfigError
from droidpilot.core.text import quoted

Ask = Literal["never", "risky", "every"]

#: The variable whose value seals transcripts.
AUDIT_KEY = "DROIDPILOT_AUDIT_KEY"
#: An audit key that is shorter can be tried out.
MIN_AUDIT_KEY = 16
#: Strictness of `ask`, loosest first.
ASK_ORDER: tuple[Ask, ...] = get_args(Ask)
#: What a project's file may lower.
LIMITS = ("max_turns", "max_actions", "max_tokens", "max_usd", "max_seconds")
PREFIX = "DROIDPILOT_"
#: Variables with our prefix that are no settings.
RESERVED = frozenset({"DROIDPILOT_HOME", "DROIDPILOT_CASES", "DROIDPILOT_API_KEY", AUDIT_KEY})
PROJECT_FILE = "droidpilot.toml"
USER_FILE = "config.toml"
#: A settings file larger than this is refused.
MAX_FILE_BYTES = 64 * 1024


class Prices(BaseModel):
    """What the model costs, in US dollars per million tokens. 0 says that it is free."""

    model_config = ConfigDict(extra="forbid", frozen=True, allow_inf_nan=False)

    input: float = Field(ge=0, le=100_000, description="USD per million tokens sent")
    output: float = Field(ge=0, le=100_000, description="USD per million tokens received")
    cached: float | None = Field(
        default=None, ge=0, le=100_000, description="USD per million sent tokens read from the provider's cache"
    )


class Settings(BaseModel):
    """What is in force after all layers."""

    model_config = ConfigDict(extra="forbid", frozen=True, allow_inf_nan=False)

    device: str | None = Field(
        default=None,
        min_length=1,
        max_length=200,
        pattern=r"^[^\x00-\x1f\x7f]+$",
        description="serial of the phone, or `virtual`; unset: the only one attached",
    )
    model: str | None = Field(
        default=None,
        min_length=1,
        max_length=200,
        pattern=r"^[^\x00-\x1f\x7f]+$",
        description="name of the model, as its endpoint calls it",
    )
    base_url: str = Field(
        default="https://api.openai.com/v1",
        min_length=1,
        max_length=2000,
        pattern=r"^[^\x00-\x20\x7f]+$",
        description="OpenAI-compatible endpoint of the model",
    )
    policy: str = Field(
        default="default",
        min_length=1,
        max_length=1000,
        pattern=r"^[^\x00-\x1f\x7f]+$",
        description="rules file: a shipped or own name, or a path (with a slash)",
    )
    ask: Ask = Field(default="risky", description="when to ask because of risk: never, risky or every")
    approver: str | None = Field(
        default=None,
        min_length=1,
        max_length=1000,
        pattern=r"^[^\x00-\x1f\x7f]+$",
        description="command that is asked instead of a person at the terminal (JSON in and out)",
    )
    max_turns: int = Field(default=50, ge=1, le=200, description="model requests of one session")
    max_actions: int = Field(default=100, ge=1, le=10_000, description="writes sent to the phone")
    max_tokens: int = Field(default=500_000, ge=1, le=1_000_000_000, description="tokens sent and received")
    context_tokens: int = Field(
        default=128_000,
        ge=8_000,
        le=2_000_000,
        description="context window of the model; one screen takes at most a quarter of it",
    )
    max_usd: float | None = Field(
        default=None, gt=0, le=100_000, description="US dollars; needs a price that is known (see `prices`)"
    )
    max_seconds: float = Field(
        default=900.0, gt=0, le=86_400, description="seconds, those spent waiting for a person left out"
    )
    lock_screen: bool = Field(
        default=False, description="act on a locked phone too; otherwise only its power and wakeup keys are pressed"
    )
    pictures: bool = Field(
        default=False, description="keep a picture of the screen before each write, for `session show --html`"
    )
    link_patience_s: float = Field(
        default=40.0,
        ge=0,
        le=55,
        description="seconds that a phone which dropped off is waited for in a call, which has 60",
    )
    keyboard: Literal["keep", "switch"] = Field(
        default="keep",
        description="whether a text that nothing else can type may go in through AdbKeyboard, where the phone has it: "
        "keep (never switch the phone's keyboard) or switch (for that text, then back)",
    )
    animations: Literal["keep", "off"] = Field(
        default="keep", description="the phone's animation scales during a session: keep, or off (0, then as before)"
    )
    rotation: Literal["keep", "0", "1", "2", "3"] = Field(
        default="keep",
        description="the phone's rotation during a session: keep, or held at 0 to 3 quarter turns, then as before",
    )
    adb_port: int = Field(default=5037, ge=1, le=65_535, description="port of the adb server on 127.0.0.1")
    prices: Prices | None = Field(
        default=None, description="what the model costs (table of `input`, `output`, `cached`)"
    )


@dataclass(frozen=True, slots=True, kw_only=True)
class Loaded:
    """Settings, and where each value comes from: `--max-turns`, `DROIDPILOT_ASK`, `FILE:LINE` or `default`.

    `rules` are the project's own deny and ask lines, `notes` what a person should know about the layering.
    """

    settings: Settings
    origins: Mapping[str, str]
    rules: tuple[str, ...] = ()
    notes: tuple[str, ...] = ()


def environment() -> Mapping[str, str]:
    """Return the process's environment."""
    return os.environ


def load_settings(flags: Mapping[str, Any], *, cwd: Path, env: Mapping[str, str]) -> Loaded:
    """Layer the settings. A flag that is None was not given.

    Raises:
        ConfigError: an unknown key, a value out of range or of the wrong type, a file that cannot be read; one line
            that says what, where and what to do.
    """
    values: dict[str, Any] = {}
    origins = dict.fromkeys(Settings.model_fields, "default")

    user = _read_file(config_home(env) / USER_FILE)
    for key, value in user.values.items():
        _known(key, Settings.model_fields, where=user.where(key), what="setting")
        values[key] = _checked(key, value, where=user.where(key), is_text=False)
        origins[key] = user.where(key)

    rules, notes = _apply_project(_read_file(cwd / PROJECT_FILE), values, origins)

    for key, (text, variable) in _from_environment(env).items():
        values[key] = _checked(key, text, where=variable, is_text=True)
        origins[key] = variable

    for key, value in flags.items():
        if value is not None:
            _known(key, Settings.model_fields, where=_flag(key), what="setting")
            values[key] = _checked(key, value, where=_flag(key), is_text=True)
            origins[key] = _flag(key)
    return Loaded(settings=Settings(**values), origins=origins, rules=rules, notes=notes)


def _apply_project(
    file: _File, values: dict[str, Any], origins: dict[str, str]
) -> tuple[tuple[str, ...], tuple[str, ...]]:
    """Tighten `values` by the project's file and return its rules and what to tell about it."""
    rules: tuple[str, ...] = ()
    notes: list[str] = []
    for key, value in file.values.items():
        where = file.where(key)
        if key == "rules":
            rules = _project_rules(value, where)
            continue
        if key not in LIMITS and key != "ask":
            _known(key, [*Settings.model_fields, "rules"], where=where, what="setting")
            raise ConfigError(
                f"{where}: `{key}` may not be set by a project's file",
                hint=f"it may only hold {', '.join(LIMITS)}, ask and rules; move it to your own {USER_FILE}",
            )
        given = _checked(key, value, where=where, is_text=False)
        in_force = values.get(key, Settings.model_fields[key].default)
        if _is_tighter(key, given, in_force):
            values[key], origins[key] = given, where
        elif given != in_force:
            notes.append(f"{where}: {key} = {given} is looser than {in_force}, which stays: this file may only tighten")
    return rules, tuple(notes)


def _is_tighter(key: str, given: Any, in_force: Any) -> bool:
    if key == "ask":
        return ASK_ORDER.index(given) > ASK_ORDER.index(in_force)
    return in_force is None or bool(given < in_force)


def _project_rules(value: Any, where: str) -> tuple[str, ...]:
    if not isinstance(value, list) or not all(isinstance(line, str) for line in value):
        raise ConfigError(
            f"{where}: `rules` is not a list of lines", hint='write rules = ["deny tap in com.example.*"]'
        )
    for line in value:
        if len(line.splitlines()) != 1 or not line.isprintable():
            raise ConfigError(f"{where}: a rule holds a line break or an unprintable character, or is empty")
        if line.split(maxsplit=1)[0:1] == [] or line.split()[0].lower() not in ("deny", "block", "ask"):
            raise ConfigError(
                f"{where}: a project's rule must begin with deny or ask: {quoted(line)}",
                hint="lines that allow belong into a rules file of your own",
            )
    return tuple(value)


def _from_environment(env: Mapping[str, str]) -> dict[str, tuple[str | dict[str, str], str]]:
    """Return `field -> (text, variable)` of every setting that the environment gives."""
    variables = {PREFIX + name.upper(): name for name in Settings.model_fields if name != "prices"}
    price_variables = {f"{PREFIX}PRICES_{name.upper()}": name for name in Prices.model_fields}
    found: dict[str, tuple[str | dict[str, str], str]] = {}
    prices: dict[str, str] = {}
    if port := env.get("ANDROID_ADB_SERVER_PORT"):
        found["adb_port"] = (port, "ANDROID_ADB_SERVER_PORT")
    for variable in sorted(env):
        if not variable.startswith(PREFIX) or variable in RESERVED:
            continue
        _known(variable, [*variables, *price_variables, *RESERVED], where="environment", what="variable")
        if not env[variable]:
            raise ConfigError(f"{variable} is set but empty", hint="unset it or give it a value")
        if variable in price_variables:
            prices[price_variables[variable]] = env[variable]
            found["prices"] = (prices, f"{PREFIX}PRICES_*")
        else:
            found[variables[variable]] = (env[variable], variable)
    return found


def _known(key: str, names: Iterable[str], *, where: str, what: str) -> None:
    names = list(names)
    if key in names:
        return
    if "api_key" in key:
        hint = "keys do not belong into files; set DROIDPILOT_API_KEY in the environment"
    elif close := difflib.get_close_matches(key.removeprefix(PREFIX), [n.removeprefix(PREFIX) for n in names], n=1):
        hint = f"did you mean {PREFIX if key.startswith(PREFIX) else ''}{close[0]}?"
    else:
        hint = f"known: {', '.join(sorted(names))}"
    raise ConfigError(f"{where}: unknown {what} {quoted(key)}", hint=hint)


def _checked(key: str, value: Any, *, where: str, is_text: bool) -> Any:
    """Validate one value. Text from flags and variables is converted; a file has types of its own."""
    try:
        return getattr(Settings.model_validate({key: value}, strict=not is_text), key)
    except ValidationError as error:
        first = error.errors(include_url=False)[0]
        name = ".".join(str(part) for part in first["loc"])
        problem = first["msg"][:1].lower() + first["msg"][1:]
        shown = repr(first["input"])
        raise ConfigError(
            f"{where}: {name} = {shown[:80]}: {problem}",
            hint=f"{key}: {Settings.model_fields[key].description}",
        ) from None


def _flag(key: str) -> str:
    return "--" + key.replace("_", "-")


@dataclass(frozen=True, slots=True)
class _File:
    path: Path
    text: str
    values: dict[str, Any]

    def where(self, key: str) -> str:
        """Return `FILE:LINE` of a top-level key, or just the file where the line is not obvious."""
        found = re.search(rf"^[ \t]*\[?[ \t]*[\"']?{re.escape(key)}[\"']?[ \t]*[=.\]]", self.text, re.MULTILINE)
        return f"{self.path}:{self.text.count(chr(10), 0, found.start()) + 1}" if found else str(self.path)


def _read_file(path: Path) -> _File:
    """Read a settings file; one that does not exist says nothing."""
    try:
        if not path.exists():
            return _File(path, "", {})
        if not path.is_file():
            raise ConfigError(f"{path} is not a file", hint="remove it or make it a TOML file")
        with path.open("rb") as stream:
            data = stream.read(MAX_FILE_BYTES + 1)
    except OSError as error:
        raise ConfigError(f"{path} cannot be read: {error.strerror or error}", hint="check its permissions") from None
    if len(data) > MAX_FILE_BYTES:
        raise ConfigError(f"{path} is larger than {MAX_FILE_BYTES} bytes", hint="a settings file is a few lines long")
    try:
        text = data.decode("utf-8-sig")
        return _File(path, text, tomllib.loads(text))
    except UnicodeDecodeError:
        raise ConfigError(f"{path} is not UTF-8", hint="save it as UTF-8 text") from None
    except tomllib.TOMLDecodeError as error:
        line = re.search(r"line (\d+)", str(error))
        where = f"{path}:{line[1]}" if line else str(path)
        problem = re.sub(r" \(at .*\)$", "", str(error))
        raise ConfigError(f"{where}: {problem}", hint='a line reads: max_turns = 20, or ask = "every"') from None
    except RecursionError:
        raise ConfigError(f"{path} is nested too deeply", hint="a settings file is a few lines long") from None


def _home(env: Mapping[str, str]) -> Path | None:
    value = env.get("DROIDPILOT_HOME")
    if value is None:
        return None
    if not value.strip():
        raise ConfigError("DROIDPILOT_HOME is set but empty", hint="unset it or name a folder")
    return Path(value).expanduser().absolute()


def config_home(env: Mapping[str, str]) -> Path:
    """Return the folder of the user's file and policies. It need not exist."""
    return _home(env) or Path(platformdirs.user_config_dir("droidpilot", appauthor=False))


def state_folder(env: Mapping[str, str]) -> Path:
    """Return where the folder of sessions and running phones is or will be; it is not made.

    Raises:
        ConfigError: DROIDPILOT_HOME is empty.
    """
    return _home(env) or Path(platformdirs.user_state_dir("droidpilot", appauthor=False))


def state_home(env: Mapping[str, str]) -> Path:
    """Return the folder of sessions and running phones, made for the user alone (0700) where it did not exist.

    Raises:
        ConfigError: it cannot be made or written.
    """
    home = state_folder(env)
    try:
        if not home.is_dir():
            home.parent.mkdir(parents=True, exist_ok=True)
            home.mkdir(mode=0o700, exist_ok=True)
    except OSError as error:
        raise ConfigError(
            f"the state folder {home} cannot be made: {error.strerror or error}",
            hint="set DROIDPILOT_HOME to a folder you can write",
        ) from None
    if not os.access(home, os.W_OK | os.X_OK):
        raise ConfigError(
            f"the state folder {home} cannot be written", hint="set DROIDPILOT_HOME to a folder you can write"
        )
    return home


def user_policies_dir(env: Mapping[str, str]) -> Path:
    """Return the folder of the user's own rules files. It need not exist."""
    return config_home(env) / "policies"


def shipped_dir(name: Literal["policies", "scripts_lua"]) -> Path:
    """Return a folder that is shipped with us: inside the package, or at the top of an editable checkout.

    Raises:
        ConfigError: neither is there, so the installation is damaged.
    """
    package = Path(__file__).resolve().parents[1]
    installed = package / "shipped" / name
    checkout = package.parents[1] / name
    if installed.is_dir():
        return installed
    if checkout.is_dir() and (package.parents[1] / "pyproject.toml").is_file():
        return checkout
    raise ConfigError(f"the shipped folder {name} is missing ({installed})", hint="install droidpilot again")


def api_keys(env: Mapping[str, str]) -> dict[str, str]:
    """Return every `*_API_KEY` variable that is set; which key goes to which endpoint is the model room's to decide."""
    return {name: value for name, value in env.items() if name.endswith("_API_KEY") and value}


def audit_key(env: Mapping[str, str]) -> bytes:
    """Return the key that transcripts are sealed and verified with, empty where none is set.

    Raises:
        ConfigError: it is too short.
    """
    key = env.get(AUDIT_KEY, "")
    if key and len(key) < MIN_AUDIT_KEY:
        raise ConfigError(
            f"{AUDIT_KEY} has fewer than {MIN_AUDIT_KEY} characters", hint="make one with: openssl rand -hex 32"
        )
    return key.encode("utf-8", "surrogateescape")


def is_color_wanted(env: Mapping[str, str]) -> bool:
    """Say whether colours may be used on a terminal. Source: no-color.org, and `TERM=dumb`."""
    return not env.get("NO_COLOR") and env.get("TERM") != "dumb"
