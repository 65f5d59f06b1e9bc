"""Which key may travel where, and what a base_url may be."""

from __future__ import annotations

import httpx2
import pytest
from hypothesis import given
from hypothesis import strategies as st

from droidpilot.core.errors import ConfigError
from droidpilot.model.provider import (
    KEY_NAME,
    KEY_NAMES,
    VENDORS,
    Key,
    ModelSettings,
    http_warning,
    image_limits,
    is_cost_reported,
    key_for,
    parse_endpoint,
)

ALL = {name: f"value-of-{name}" for name in KEY_NAMES}
VENDOR_ONLY = {name: value for name, value in ALL.items() if name != KEY_NAME}


def told(key: Key) -> tuple[str, str]:
    return key.name, key.secret.get_secret_value() if key.secret else ""


@pytest.mark.parametrize(("name", "host"), [(name, host) for name, hosts in VENDORS.items() for host in hosts])
def test_a_vendors_key_goes_to_its_vendor(name: str, host: str) -> None:
    assert told(key_for(f"https://{host}/v1", ALL)) == (name, f"value-of-{name}")


@pytest.mark.parametrize(
    "url",
    [
        "https://api.openai.com.evil.test/v1",
        "https://evil-api.openai.com/v1",
        "https://openai.com/v1",
        "https://api.openai.com:8443/v1",
        "http://api.openai.com/v1",
        "http://api.openai.com:443/v1",
        "https://evil.test/api.openai.com/v1",
        "https://evil.test:443/v1",
        "http://8.8.8.8/v1",
    ],
)
def test_a_vendors_key_goes_nowhere_else(url: str) -> None:
    with pytest.raises(ConfigError) as raised:
        key_for(url, VENDOR_ONLY)
    assert KEY_NAME in raised.value.hint
    assert told(key_for(url, ALL)) == (KEY_NAME, f"value-of-{KEY_NAME}")


def test_our_own_key_does_not_go_to_a_vendor() -> None:
    with pytest.raises(ConfigError) as raised:
        key_for("https://api.openai.com/v1", {"DROIDPILOT_API_KEY": "ours"})
    assert "OPENAI_API_KEY" in raised.value.hint


@pytest.mark.parametrize(
    "url",
    ["http://127.0.0.1:11434/v1", "http://localhost:1/v1", "http://[::1]:1/v1", "http://192.168.1.5/v1",
     "http://box.local/v1", "https://10.0.0.1", "http://[fd00::1]/v1", "http://[::ffff:10.0.0.1]/v1"],
)  # fmt: skip
def test_an_endpoint_nearby_may_go_without_a_key(url: str) -> None:
    assert key_for(url, VENDOR_ONLY) == Key()
    assert told(key_for(url, ALL))[0] == KEY_NAME
    assert http_warning(url) is None


@pytest.mark.parametrize(
    "url",
    ["http://model.example/v1", "http://8.8.8.8/v1", "http://172.32.0.1/v1", "http://2130706433/v1", "http://127.1/v1",
     "http://[::ffff:8.8.8.8]/v1", "http://localhost.evil.test/v1", "http://ollama:11434/v1", "http://local/v1"],
)  # fmt: skip
def test_plain_http_to_anywhere_else_is_warned_of(url: str) -> None:
    assert "https" in (http_warning(url) or "")
    with pytest.raises(ConfigError):
        key_for(url, {})


def test_https_is_not_warned_of() -> None:
    assert http_warning("https://model.example/v1") is None


@pytest.mark.parametrize(
    "url",
    ["", "api.openai.com/v1", "ftp://x/v1", "https://", "https:///v1", "file:///etc/passwd", "https://user:pw@host/v1",
     "https://api.openai.com\\@evil.test/v1", "https://host /v1", "https://ho\tst/v1", "https://h\u00f6st/v1",
     "https://host:99999/v1", "https://host:x/v1", "https://[::1/v1", "https://host/v1?key=1", "https://host/v1#x",
     "https://host/v1?", "https://a..b/v1", "https://ho%73t/v1", "https://host/v1/chat/completions", "https://.host/v1",
     "https://host/v1\n", "https://*/v1"],
)  # fmt: skip
def test_a_base_url_that_cannot_be_used_says_so(url: str) -> None:
    with pytest.raises(ConfigError) as raised:
        parse_endpoint(url)
    assert raised.value.hint
    with pytest.raises(ConfigError):
        ModelSettings(model="m", base_url=url)


def test_a_password_in_a_url_is_not_repeated() -> None:
    with pytest.raises(ConfigError) as raised:
        parse_endpoint("https://user:hunter2@host/v1")
    assert "hunter2" not in str(raised.value)


@given(
    st.from_regex(
        r"(https?|HTTPS?)://[A-Za-z0-9.\-_@\\:%\[\]]{1,24}(:[0-9]{0,6})?(/[A-Za-z0-9./@:\\?#%;]{0,12})?", fullmatch=True
    )
)
def test_what_is_accepted_means_the_same_host_to_the_http_client(url: str) -> None:
    try:
        endpoint = parse_endpoint(url)
    except ConfigError:
        return
    try:
        read = httpx2.URL(endpoint.url)
    except httpx2.InvalidURL:
        return  # then nothing is sent
    assert read.host.lower() == endpoint.host
    assert read.scheme == endpoint.scheme
    assert (read.port or {"https": 443, "http": 80}[read.scheme]) == endpoint.port


def test_a_slash_at_the_end_makes_no_difference() -> None:
    assert parse_endpoint("https://host/v1/").url == "https://host/v1"


@pytest.mark.parametrize("value", ["two words", "\u201csk-1\u201d", "sk\n1"])
def test_a_key_that_no_header_can_hold_is_refused_without_repeating_it(value: str) -> None:
    with pytest.raises(ConfigError) as raised:
        key_for("https://host/v1", {KEY_NAME: value})
    assert value not in str(raised.value)


def test_a_key_is_not_shown() -> None:
    settings = ModelSettings(model="m", base_url="https://host/v1", key=key_for("https://host/v1", ALL))
    assert "value-of" not in repr(settings) + str(settings)


def test_no_model_is_said_with_a_hint() -> None:
    with pytest.raises(ConfigError) as raised:
        ModelSettings(model=" ", base_url="https://host/v1")
    assert "--model" in raised.value.hint


def test_one_endpoint_tells_its_prices() -> None:
    assert is_cost_reported("https://openrouter.ai/api/v1")
    assert not is_cost_reported("https://api.openai.com/v1")


@pytest.mark.parametrize(
    ("model", "base_url", "reads"),
    [
        ("gpt-4.1-mini", "https://api.openai.com/v1", True),
        ("qwen2.5-vl-72b", "http://127.0.0.1:11434/v1", True),
        ("deepseek/deepseek-chat", "https://openrouter.ai/api/v1", False),
        ("anything", "https://api.deepseek.com", False),
        ("openai/gpt-oss-20b", "http://127.0.0.1:1234/v1", False),
        ("meta-llama/Llama-3.2-11b-vision", "http://127.0.0.1:1234/v1", True),
        ("meta-llama/llama-3.3-70b", "http://127.0.0.1:1234/v1", False),
    ],
)
def test_a_model_that_is_known_to_read_no_images_gets_none(model: str, base_url: str, reads: bool) -> None:
    limits = image_limits(model, base_url)
    assert (limits is not None) is reads
    if limits is not None:
        assert limits.long_edge == 1100 and 70 <= limits.quality <= 90


@pytest.mark.parametrize("base_url", ["http://", "https://", "https:///v1", "http://:80/v1"])
def test_an_address_without_a_host_is_said_to_be_one(base_url: str) -> None:
    with pytest.raises(ConfigError, match="names no host"):
        parse_endpoint(base_url)
