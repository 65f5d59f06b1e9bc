"""What an apk says of itself: package, version and label, read out of its binary manifest.

Source: AOSP `ResourceTypes.h` (chunks 0x0003 XML, 0x0001 string pool, 0x0102 start of an element). Apks come from
clients: everything is bounded, and what does not fit is no apk. This file must never know the phone.
"""

from __future__ import annotations

import io
import re
import struct
import zipfile
from dataclasses import dataclass
from typing import Final

MAX_MANIFEST: Final = 4 * 1024 * 1024
MAX_STRINGS: Final = 100_000
_XML, _POOL, _START = 0x0003, 0x0001, 0x0102
_UTF8: Final = 1 << 8
_TYPE_STRING, _TYPE_INT = 0x03, 0x10
_NAME: Final = re.compile(r"[A-Za-z][A-Za-z0-9_]*(\.[A-Za-z0-9_]+)+")


class NoApk(Exception):
    """The bytes are no apk."""


@dataclass(frozen=True, slots=True)
class Manifest:
    """The head of an app's manifest."""

    package: str
    version: str
    code: int


def read_manifest(data: bytes) -> Manifest:
    """Read the manifest of an apk.

    Raises:
        NoApk: no zip file, no manifest, or one that cannot be read.
    """
    try:
        with zipfile.ZipFile(io.BytesIO(data)) as archive:
            entry = archive.getinfo("AndroidManifest.xml")
            if entry.file_size > MAX_MANIFEST:
                raise NoApk("the manifest is too large")
            return _manifest(archive.read(entry))
    except (zipfile.BadZipFile, KeyError, struct.error, IndexError, ValueError, RuntimeError, OSError) as error:
        raise NoApk(f"{type(error).__name__}: {error}") from error
    except (NotImplementedError, EOFError) as error:  # zipfile: a compression that it does not know, a cut archive
        raise NoApk("the archive cannot be read") from error


def _manifest(data: bytes) -> Manifest:
    kind, head, _ = struct.unpack_from("<HHI", data, 0)
    if kind != _XML:
        raise NoApk("the manifest is no binary XML")
    strings: list[str] = []
    at = head
    while at + 8 <= len(data):
        kind, _, size = struct.unpack_from("<HHI", data, at)
        if size < 8:
            break
        if kind == _POOL:
            strings = _strings(data[at : at + size])
        elif kind == _START:
            return _head(data[at : at + size], strings)
        at += size
    raise NoApk("the manifest has no element")


def _head(chunk: bytes, strings: list[str]) -> Manifest:
    name, begin, width, count = struct.unpack_from("<4xI3H", chunk, 16)[0:4]
    if strings[name] != "manifest" or width < 20:
        raise NoApk("the first element is no manifest")
    package, version, code = "", "", 0
    for number in range(count):
        key, raw, kind, value = struct.unpack_from("<4xIi3xBI", chunk, 16 + begin + number * width)
        if strings[key] == "package" and raw >= 0:
            package = strings[raw]
        elif strings[key] == "versionName" and kind == _TYPE_STRING:
            version = strings[value]
        elif strings[key] == "versionCode" and kind == _TYPE_INT:
            code = value
    if not _NAME.fullmatch(package) or len(package) > 200:
        raise NoApk("the manifest names no package")
    return Manifest(package, version[:100], code)


def _strings(pool: bytes) -> list[str]:
    count, _, flags, begin = struct.unpack_from("<4I", pool, 8)
    if count > MAX_STRINGS:
        raise NoApk("too many strings")
    found = []
    for offset in struct.unpack_from(f"<{count}I", pool, 28):
        at = begin + offset
        if flags & _UTF8:
            at += 2 if pool[at] & 0x80 else 1
            length, at = (((pool[at] & 0x7F) << 8) | pool[at + 1], at + 2) if pool[at] & 0x80 else (pool[at], at + 1)
            found.append(pool[at : at + length].decode("utf-8", "replace"))
        else:
            (length,) = struct.unpack_from("<H", pool, at)
            found.append(pool[at + 2 : at + 2 + 2 * length].decode("utf-16-le", "replace"))
    return found
