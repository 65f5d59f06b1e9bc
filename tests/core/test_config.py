"""Layers of settings: who wins, what a project may not do; every mistake is one line that says where."""

from __future__ import annotations

import stat
from collections.abc import Mapping
from pathlib import Path
from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st

from droidpilot.core import config
from droidpilot.core.config import Loaded, load_settings
from droidpilot.core.errors import ConfigError, Exit


class Place:
    """A user's folder and a project's folder, both empty at first."""

    def __init__(self, root: Path) -> None:
        self.home = root / "home"
        self.project = root / "project"
        self.home.mkdir(parents=True)
        self.project.mkdir()

    def user_file(self, text: str) -> None:
        (self.home / "config.toml").write_text(text, encoding="utf-8")

    def project_file(self, text: str) -> None:
        (self.project / "droidpilot.toml").write_text(text, encoding="utf-8")

    def load(self, flags: Mapping[str, Any] | None = None, **env: str) -> Loaded:
        return load_settings(flags or {}, cwd=self.project, env={"DROIDPILOT_HOME": str(self.home), **env})

    def error(self, flags: Mapping[str, Any] | None = None, **env: str) -> ConfigError:
        with pytest.raises(ConfigError) as caught:
            self.load(flags, **env)
        assert "\n" not in str(caught.value)
        assert caught.value.exit is Exit.USAGE
        return caught.value


@pytest.fixture
def place(tmp_path: Path) -> Place:
    return Place(tmp_path)


def test_defaults_are_those_of_the_decisions(place: Place) -> None:
    settings = place.load().settings
    limits = (settings.max_turns, settings.max_actions, settings.max_tokens, settings.max_usd, settings.max_seconds)
    assert limits == (50, 100, 500_000, None, 900)
    assert (settings.ask, settings.policy, settings.adb_port) == ("risky", "default", 5037)
    assert set(place.load().origins.values()) == {"default"}


def test_each_layer_beats_the_one_below(place: Place) -> None:
    place.user_file("max_turns = 40\nmax_actions = 40\nmax_tokens = 4000\nmax_seconds = 40\n")
    place.project_file("max_turns = 30\nmax_actions = 30\nmax_tokens = 3000\n")
    loaded = place.load({"max_turns": 10}, DROIDPILOT_MAX_TURNS="20", DROIDPILOT_MAX_ACTIONS="20")
    settings = loaded.settings
    assert (settings.max_turns, settings.max_actions, settings.max_tokens, settings.max_seconds) == (10, 20, 3000, 40)
    assert loaded.origins["max_turns"] == "--max-turns"
    assert loaded.origins["max_actions"] == "DROIDPILOT_MAX_ACTIONS"
    assert loaded.origins["max_tokens"] == f"{place.project / 'droidpilot.toml'}:3"
    assert loaded.origins["max_seconds"] == f"{place.home / 'config.toml'}:4"
    assert loaded.origins["max_usd"] == "default"


def test_a_flag_that_was_not_given_says_nothing(place: Place) -> None:
    assert place.load({"max_turns": None, "model": None}, DROIDPILOT_MODEL="m").settings.model == "m"


@given(user=st.integers(1, 200), project=st.integers(1, 200), asks=st.tuples(*[st.sampled_from(config.ASK_ORDER)] * 2))
def test_a_project_only_tightens(
    tmp_path_factory: pytest.TempPathFactory, user: int, project: int, asks: tuple[config.Ask, config.Ask]
) -> None:
    place = Place(tmp_path_factory.mktemp("place"))
    place.user_file(f'max_turns = {user}\nask = "{asks[0]}"\n')
    without = place.load().settings
    place.project_file(f'max_turns = {project}\nask = "{asks[1]}"\nmax_usd = 1\n')
    loaded = place.load()
    assert loaded.settings.max_turns == min(user, project)
    assert loaded.settings.max_usd == 1
    order = config.ASK_ORDER.index
    assert order(loaded.settings.ask) == max(order(without.ask), order(asks[1]))
    is_looser = project > user or order(asks[1]) < order(asks[0])
    assert bool(loaded.notes) == is_looser


@pytest.mark.parametrize(
    "line",
    [
        'device = "virtual"',
        'model = "x"',
        'base_url = "http://evil.example/v1"',
        'policy = "./evil.rules"',
        "adb_port = 5555",
        "[prices]\ninput = 0\noutput = 0",
    ],
)
def test_a_project_may_set_nothing_else(place: Place, line: str) -> None:
    place.project_file(f"max_turns = 5\n{line}\n")
    error = place.error()
    assert f"{place.project / 'droidpilot.toml'}:2: " in error.message
    assert "may not be set by a project" in error.message


def test_a_projects_rules_come_along(place: Place) -> None:
    place.project_file('rules = ["deny tap in com.bank.*", "ASK press", "block type_text matching (?i)pin # x"]\n')
    assert place.load().rules == ("deny tap in com.bank.*", "ASK press", "block type_text matching (?i)pin # x")


@pytest.mark.parametrize(
    "value",
    [
        '["allow tap"]',
        '["deny x\\nallow *"]',
        '["deny x\\u2028allow *"]',
        '["deny x\\u000ballow *"]',
        '["deny x\\u0085allow *"]',
        '["# a comment"]',
        '[""]',
        '["  "]',
        '["deny \\u202ex"]',
        '"deny tap"',
        "[1]",
        '[["deny tap"]]',
        "{deny = 1}",
    ],
)
def test_a_projects_rules_hold_deny_and_ask_lines_only(place: Place, value: str) -> None:
    place.project_file(f"rules = {value}\n")
    assert "rule" in place.error().message


def test_unknown_keys_get_a_suggestion_in_every_layer(place: Place) -> None:
    assert "did you mean DROIDPILOT_MODEL?" in place.error(DROIDPILOT_MODLE="x").hint
    assert "known: " in place.error(DROIDPILOT_ZZZZ="x").hint
    place.user_file('\nmodle = "x"\n')
    error = place.error()
    assert f"{place.home / 'config.toml'}:2" in error.message
    assert error.hint == "did you mean model?"
    place.user_file("")
    place.project_file("max_turn = 3\n")
    assert place.error().hint == "did you mean max_turns?"
    place.project_file("")
    assert place.error({"max_turn": 1}).hint == "did you mean max_turns?"


@pytest.mark.parametrize("key", ["home", "cases", "api_key"])
def test_reserved_names_are_no_settings(place: Place, key: str) -> None:
    loaded = place.load(DROIDPILOT_CASES="/x", DROIDPILOT_API_KEY="k-1234")
    assert "k-1234" not in repr(loaded)
    place.user_file(f'{key} = "x"\n')
    assert "unknown setting" in place.error().message


def test_a_key_in_a_file_is_sent_to_the_environment_and_not_repeated(place: Place) -> None:
    place.user_file('api_key = "k-secret"\n')
    error = place.error()
    assert "DROIDPILOT_API_KEY" in error.hint
    assert "k-secret" not in str(error)


@pytest.mark.parametrize(
    ("variable", "text"),
    [
        ("MAX_TURNS", "0"),
        ("MAX_TURNS", "201"),
        ("MAX_TURNS", "ten"),
        ("MAX_TURNS", "1.5"),
        ("MAX_USD", "nan"),
        ("MAX_USD", "inf"),
        ("MAX_USD", "0"),
        ("MAX_SECONDS", "-1"),
        ("ASK", "always"),
        ("ADB_PORT", "70000"),
        ("DEVICE", "a\nb"),
        ("BASE_URL", "http://a b"),
        ("MODEL", ""),
        ("PRICES_INPUT", "1"),
        ("PRICES_INPUT", "x"),
    ],
)
def test_a_bad_variable_is_named_with_what_it_is_for(place: Place, variable: str, text: str) -> None:
    error = place.error(None, **{f"DROIDPILOT_{variable}": text})
    assert f"DROIDPILOT_{variable.split('_')[0]}" in error.message
    assert error.hint


@pytest.mark.parametrize(
    "line", ['max_turns = "10"', "max_turns = true", "max_turns = 1.0", "ask = 1", "model = 5", "max_usd = nan"]
)
def test_a_file_is_taken_at_its_own_types(place: Place, line: str) -> None:
    place.user_file(f"# first\n{line}\n")
    assert f"config.toml:2: {line.split()[0]} = " in place.error().message


def test_prices_come_from_the_users_file_or_the_environment(place: Place) -> None:
    place.user_file("[prices]\ninput = 3\noutput = 15\n")
    assert place.load().settings.prices == config.Prices(input=3, output=15)
    loaded = place.load(DROIDPILOT_PRICES_INPUT="0", DROIDPILOT_PRICES_OUTPUT="0", DROIDPILOT_PRICES_CACHED="0.5")
    assert loaded.settings.prices == config.Prices(input=0, output=0, cached=0.5)
    place.user_file("[prices]\ninput = 3\n")
    assert "prices.output" in place.error().message
    place.user_file("[prices]\ninput = 3\noutput = 1\noutpt = 2\n")
    assert "prices.outpt" in place.error().message


def test_the_adb_servers_own_variable_counts_below_ours(place: Place) -> None:
    loaded = place.load(ANDROID_ADB_SERVER_PORT="6000")
    assert (loaded.settings.adb_port, loaded.origins["adb_port"]) == (6000, "ANDROID_ADB_SERVER_PORT")
    assert place.load(ANDROID_ADB_SERVER_PORT="6000", DROIDPILOT_ADB_PORT="6001").settings.adb_port == 6001
    assert place.load(ANDROID_ADB_SERVER_PORT="").settings.adb_port == 5037
    assert "ANDROID_ADB_SERVER_PORT" in place.error(ANDROID_ADB_SERVER_PORT="usb").message


@pytest.mark.parametrize(
    ("data", "said"),
    [
        (b"max_turns = \n", ":1: "),
        (b"ok\n", ":1: "),
        (b"a = 1\nb = [\n", "config.toml"),
        (b"\xff\xfe", "not UTF-8"),
        (b"# x\n" * 20_000, "larger than"),
        (b"a = " + b"[" * 20_000, "too deeply"),
        (b"max_turns = 1\nmax_turns = 2\n", "config.toml:2"),
    ],
)
def test_a_file_that_cannot_be_read_is_one_line_with_the_place(place: Place, data: bytes, said: str) -> None:
    (place.home / "config.toml").write_bytes(data)
    error = place.error()
    assert "config.toml" in error.message
    assert said in error.message
    assert error.hint


def test_a_folder_in_place_of_a_file_is_an_error(place: Place) -> None:
    (place.project / "droidpilot.toml").mkdir()
    assert "is not a file" in place.error().message


@given(text=st.text(max_size=200))
def test_any_project_file_is_settings_or_a_config_error(tmp_path_factory: pytest.TempPathFactory, text: str) -> None:
    place = Place(tmp_path_factory.mktemp("place"))
    (place.project / "droidpilot.toml").write_text(text, encoding="utf-8", errors="replace")
    try:
        place.load()
    except ConfigError as error:
        assert "droidpilot.toml" in error.message


def test_the_state_folder_is_made_for_the_user_alone(tmp_path: Path) -> None:
    home = config.state_home({"DROIDPILOT_HOME": str(tmp_path / "a" / "state")})
    assert home == tmp_path / "a" / "state"
    assert stat.S_IMODE(home.stat().st_mode) == 0o700
    assert config.state_home({"DROIDPILOT_HOME": str(home)}) == home


def test_a_state_folder_that_cannot_be_is_a_config_error(tmp_path: Path) -> None:
    (tmp_path / "file").write_text("x")
    for value in (str(tmp_path / "file"), str(tmp_path / "file" / "x"), "", "  "):
        with pytest.raises(ConfigError):
            config.state_home({"DROIDPILOT_HOME": value})


def test_shipped_policies_are_found_in_a_checkout() -> None:
    assert config.shipped_dir("policies").is_dir()


def test_only_keys_are_taken_from_the_environment() -> None:
    env = {"OPENAI_API_KEY": "a", "DROIDPILOT_API_KEY": "b", "X_API_KEY": "", "PATH": "/bin"}
    assert config.api_keys(env) == {"OPENAI_API_KEY": "a", "DROIDPILOT_API_KEY": "b"}


def test_no_color_and_dumb_terminals_are_honoured() -> None:
    assert config.is_color_wanted({"TERM": "xterm"})
    assert config.is_color_wanted({"NO_COLOR": ""})
    assert not config.is_color_wanted({"NO_COLOR": "1", "TERM": "xterm"})
    assert not config.is_color_wanted({"TERM": "dumb"})
