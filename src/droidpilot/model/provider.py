"""Where the model lives: a base_url judged, the key that may travel there, the prices.

A vendor's key goes to that vendor's host over https and nowhere else. The values of environment variables are handed
in by whoever reads them; this room reads none, and never opens a connection.
"""

from __future__ import annotations

import ipaddress
import re
from collections.abc import Mapping
from dataclasses import dataclass
from typing import Final, Literal
from urllib.parse import urlsplit

from pydantic import SecretStr

from droidpilot.core.errors import ConfigError
from droidpilot.core.images import ImageLimits
from droidpilot.core.text import one_line, shorten
from droidpilot.model.usage import Prices

#: The variable that holds the key for any endpoint that is not a listed vendor's.
KEY_NAME: Final = "DROIDPILOT_API_KEY"

#: Variables that belong to a vendor, and the only hosts their values are sent to. Source: the vendors' API references.
VENDORS: Final[Mapping[str, tuple[str, ...]]] = {
    "OPENAI_API_KEY": ("api.openai.com", "eu.api.openai.com", "us.api.openai.com"),
    "OPENROUTER_API_KEY": ("openrouter.ai",),
    "ANTHROPIC_API_KEY": ("api.anthropic.com",),
    "GEMINI_API_KEY": ("generativelanguage.googleapis.com",),
    "MISTRAL_API_KEY": ("api.mistral.ai",),
    "GROQ_API_KEY": ("api.groq.com",),
    "DEEPSEEK_API_KEY": ("api.deepseek.com",),
    "DASHSCOPE_API_KEY": ("dashscope.aliyuncs.com", "dashscope-intl.aliyuncs.com"),
    "MOONSHOT_API_KEY": ("api.moonshot.ai", "api.moonshot.cn"),
    "TOGETHER_API_KEY": ("api.together.xyz",),
    "FIREWORKS_API_KEY": ("api.fireworks.ai",),
    "XAI_API_KEY": ("api.x.ai",),
    "CEREBRAS_API_KEY": ("api.cerebras.ai",),
}

#: Every variable whose value `key_for` may be handed.
KEY_NAMES: Final[tuple[str, ...]] = (KEY_NAME, *VENDORS)

#: Hosts that make images smaller than ours, or charge by their size; None: no model of theirs reads images. Everywhere
#: else the usual limits hold, which are below what any vendor makes smaller. Source: the vendors' API references.
_IMAGE_LIMITS: Final[Mapping[str, ImageLimits | None]] = {
    "api.deepseek.com": None,
    "api.cerebras.ai": None,
    "api.anthropic.com": ImageLimits(long_edge=1100, quality=80),  # counts px, not bytes: w x h / 750
    "generativelanguage.googleapis.com": ImageLimits(long_edge=1100, quality=80),  # counts tiles of 768 px
}
#: Models that read no images wherever they are served. Source: their model cards.
_TEXT_ONLY = re.compile(
    r"(?:^|/)(?:deepseek-(?:chat|reasoner|coder|v\d|r\d)|gpt-3\.5|gpt-oss|o1-mini|o3-mini|codestral|qwq"
    r"|qwen\d?(?:\.\d)?-?coder|llama-?3\.[13]|kimi-k2(?!\.)|glm-4\.[567](?!v))",
    re.IGNORECASE,
)

Reasoning = Literal["default", "off", "low", "medium", "high"]

_LOCAL_NETWORKS = tuple(
    ipaddress.ip_network(network)
    for network in ("10.0.0.0/8", "172.16.0.0/12", "192.168.0.0/16", "169.254.0.0/16", "fc00::/7", "fe80::/10")
)
#: What a host name may be made of. Anything else could be read differently by the HTTP client than by us.
_HOST = re.compile(r"[a-z0-9_-]+(\.[a-z0-9_-]+)*\Z")
_KEY = re.compile(r"[\x21-\x7e]+\Z")


@dataclass(frozen=True, slots=True)
class Endpoint:
    """A base_url that was judged. `url` has no slash at its end; `is_local` includes loopback."""

    url: str
    scheme: Literal["http", "https"]
    host: str
    port: int
    is_loopback: bool
    is_local: bool


@dataclass(frozen=True, slots=True)
class Key:
    """A key and the variable it came from. No secret at all where a local endpoint is used without one."""

    name: str = ""
    secret: SecretStr | None = None


@dataclass(frozen=True, slots=True, kw_only=True)
class ModelSettings:
    """Which model is asked, where, with which key and at which prices.

    `max_output_tokens` caps what a request may ask for. `reasoning="default"` sends no such field, which is not the
    same as switching it off (INV-53).

    Raises:
        ConfigError: base_url cannot be used, or no model is named.
    """

    model: str
    base_url: str
    key: Key = Key()
    organization: str = ""
    project: str = ""
    prices: Prices | None = None
    max_output_tokens: int = 4096
    reasoning: Reasoning = "default"

    def __post_init__(self) -> None:
        if not self.model.strip():
            raise ConfigError("no model is set", hint="name one with --model, or set DROIDPILOT_MODEL")
        parse_endpoint(self.base_url)

    @property
    def endpoint(self) -> Endpoint:
        return parse_endpoint(self.base_url)


def parse_endpoint(base_url: str) -> Endpoint:
    """Read and judge a base_url.

    Raises:
        ConfigError: no scheme, credentials inside, a query, an odd host, or a path that is not a base.
    """
    shown = shorten(one_line(base_url), 100)
    example = "write it like https://api.openai.com/v1 or http://127.0.0.1:11434/v1"
    if not base_url.isascii() or re.search(r"[\x00-\x20\x7f\\]", base_url):
        raise ConfigError("base_url holds a space, a backslash or a character that is not ASCII", hint=example)
    if "@" in base_url:
        # The URL is not repeated: what stands before the @ is a password.
        raise ConfigError("base_url must not carry a user name or password", hint=f"put the key into {KEY_NAME}")
    try:
        parts = urlsplit(base_url)
        host, port = (parts.hostname or "").lower(), parts.port
    except ValueError as error:
        raise ConfigError(f"base_url {shown} cannot be read: {error}", hint=example) from None
    scheme = parts.scheme.lower()
    if scheme not in ("http", "https") or not base_url.lower().startswith(f"{scheme}://"):
        raise ConfigError(f"base_url {shown} does not begin with http:// or https://", hint=example)
    if not host:
        raise ConfigError(f"base_url {shown} names no host", hint=example)
    if parts.query or parts.fragment or base_url.endswith(("?", "#")):
        raise ConfigError(f"base_url {shown} must not carry a query or a fragment", hint=example)
    address = _address(host)
    if address is None and not _HOST.match(host.removesuffix(".")):
        raise ConfigError(f"base_url {shown} names no usable host", hint=example)
    url = base_url.rstrip("/")
    if url.endswith(("/chat/completions", "/responses", "/completions")):
        raise ConfigError(f"base_url {shown} is a whole address", hint="leave out /chat/completions: it is added")
    is_loopback = _is_loopback(host, address)
    return Endpoint(
        url=url,
        scheme="https" if scheme == "https" else "http",
        host=host,
        port=port or (443 if scheme == "https" else 80),
        is_loopback=is_loopback,
        is_local=is_loopback or _is_local(host, address),
    )


def vendor_key_name(base_url: str) -> str | None:
    """Name the variable whose value may be sent to this endpoint because it is its vendor's, None where there is none.

    Raises:
        ConfigError: base_url cannot be used.
    """
    endpoint = parse_endpoint(base_url)
    if endpoint.scheme != "https" or endpoint.port != 443:
        return None
    return next((name for name, hosts in VENDORS.items() if endpoint.host in hosts), None)


def key_for(base_url: str, env_keys: Mapping[str, str]) -> Key:
    """Choose the key for an endpoint from the values of `KEY_NAMES` that are set.

    A vendor's host gets that vendor's own key, every other host `DROIDPILOT_API_KEY`: a key for a private gateway must
    not travel to a vendor because base_url was forgotten. An endpoint on this machine or a private network may go
    without.

    Raises:
        ConfigError: base_url cannot be used, or there is no key that may be sent there.
    """
    endpoint = parse_endpoint(base_url)
    vendor = vendor_key_name(base_url)
    name = vendor or KEY_NAME
    value = env_keys.get(name, "").strip()
    if value:
        if not _KEY.match(value):
            raise ConfigError(f"{name} holds a space or an odd character", hint="set it again, without quotes")
        return Key(name, SecretStr(value))
    if endpoint.is_local:
        return Key()
    raise ConfigError(f"there is no key for {endpoint.host}", hint=f"set {name}; a key goes to its own host only")


def http_warning(base_url: str) -> str | None:
    """Say what is wrong with plain http to a host outside this machine and its private network (T50); None if nothing.

    Raises:
        ConfigError: base_url cannot be used.
    """
    endpoint = parse_endpoint(base_url)
    if endpoint.scheme == "https" or endpoint.is_local:
        return None
    return f"key and screens travel unencrypted to {endpoint.host}: use https:// in base_url"


def image_limits(model: str, base_url: str) -> ImageLimits | None:
    """Return how large a picture may be that is sent to this model, None where it is known to read none.

    Raises:
        ConfigError: base_url cannot be used.
    """
    if _TEXT_ONLY.search(model):
        return None
    return _IMAGE_LIMITS.get(parse_endpoint(base_url).host, ImageLimits())


def is_cost_reported(base_url: str) -> bool:
    """Tell whether this endpoint is known to report the price of each request, so that no prices need be set."""
    return parse_endpoint(base_url).host == "openrouter.ai"


def _address(host: str) -> ipaddress.IPv4Address | ipaddress.IPv6Address | None:
    try:
        address = ipaddress.ip_address(host)
    except ValueError:
        return None
    return getattr(address, "ipv4_mapped", None) or address


def _is_loopback(host: str, address: ipaddress.IPv4Address | ipaddress.IPv6Address | None) -> bool:
    if address is not None:
        return address.is_loopback
    return host.removesuffix(".") == "localhost"


def _is_local(host: str, address: ipaddress.IPv4Address | ipaddress.IPv6Address | None) -> bool:
    if address is not None:
        return any(address in network for network in _LOCAL_NETWORKS if network.version == address.version)
    return host.removesuffix(".").endswith((".local", ".localhost"))
