"""Installing and uninstalling, by every way that adb and the libraries take."""

from __future__ import annotations

import contextlib
import io
import struct
import zipfile
from collections.abc import Iterator
from pathlib import Path
from random import Random

import pytest
from tests.virtual.virtual_rig import Rig, adb_server, attached_rig

from droidpilot.virtual.shell.apk import NoApk, read_manifest

KEYBOARD = "com.github.uiautomator/.AdbKeyboard"


@pytest.fixture(scope="module")
def adb_port(tmp_path_factory: pytest.TempPathFactory) -> Iterator[int]:
    with adb_server(tmp_path_factory.mktemp("adb-home")) as port:
        yield port


@pytest.fixture(scope="module")
def rig(adb_port: int) -> Iterator[Rig]:
    with attached_rig(adb_port) as made:
        yield made


def made_apk(package: str, code: int = 7, version: str = "1.2") -> bytes:
    """Build an apk that holds nothing but the head of a manifest."""
    words = ["manifest", "package", "versionCode", "versionName", package, version]
    pool, offsets = b"", []
    for word in words:
        offsets.append(len(pool))
        pool += struct.pack("<H", len(word)) + word.encode("utf-16-le") + b"\0\0"
    pool += b"\0" * (-len(pool) % 4)
    begin = 28 + 4 * len(words)
    strings = struct.pack("<HHI5I", 1, 28, begin + len(pool), len(words), 0, 0, begin, 0)
    strings += struct.pack(f"<{len(words)}I", *offsets) + pool

    def attribute(name: int, raw: int, kind: int, value: int) -> bytes:
        return struct.pack("<iIiHBBI", -1, name, raw, 8, 0, kind, value)

    attributes = attribute(1, 4, 3, 4) + attribute(2, -1, 0x10, code) + attribute(3, 5, 3, 5)
    element = struct.pack("<HHIIiiIHHHHHH", 0x102, 16, 36 + len(attributes), 1, -1, -1, 0, 20, 20, 3, 0, 0, 0)
    body = strings + element + attributes
    archive = io.BytesIO()
    with zipfile.ZipFile(archive, "w") as made:
        made.writestr("AndroidManifest.xml", struct.pack("<HHI", 3, 8, 8 + len(body)) + body)
    return archive.getvalue()


def test_a_manifest_is_read() -> None:
    found = read_manifest(made_apk("org.example.one", 12, "3.4"))
    assert (found.package, found.code, found.version) == ("org.example.one", 12, "3.4")


def test_a_cut_apk_is_none() -> None:
    whole = made_apk("org.example.one")
    for cut in range(0, len(whole), 7):
        with pytest.raises(NoApk):
            read_manifest(whole[:cut])


def test_a_manifest_of_garbage_is_none() -> None:
    random = Random(4)
    for _ in range(300):
        archive = io.BytesIO()
        with zipfile.ZipFile(archive, "w") as made:
            body = bytearray(zipfile.ZipFile(io.BytesIO(made_apk("org.example.one"))).read("AndroidManifest.xml"))
            for _ in range(random.randint(1, 30)):
                body[random.randrange(len(body))] = random.randrange(256)
            made.writestr("AndroidManifest.xml", bytes(body))
        with contextlib.suppress(NoApk):
            read_manifest(archive.getvalue())


def test_adb_install_streams_and_uninstall_takes_away(rig: Rig, tmp_path: Path) -> None:
    file = tmp_path / "any name.apk"
    file.write_bytes(made_apk("org.example.streamed"))
    done = rig.cli("install", "-r", "-t", str(file))
    assert done.returncode == 0 and b"Success" in done.stdout, done
    assert "org.example.streamed" in rig.u2.app_list("-3")
    assert rig.u2.app_info("org.example.streamed")["versionName"] == "1.2"
    done = rig.cli("uninstall", "org.example.streamed")
    assert done.returncode == 0 and b"Success" in done.stdout
    assert "org.example.streamed" not in rig.u2.app_list()


def test_adb_install_by_a_pushed_file(rig: Rig, tmp_path: Path) -> None:
    file = tmp_path / "pushed.apk"
    file.write_bytes(made_apk("org.example.pushed"))
    done = rig.cli("install", "--no-streaming", str(file))
    assert done.returncode == 0, done
    assert "org.example.pushed" in rig.u2.app_list()
    assert rig.u2.app_uninstall("org.example.pushed") is True


def test_the_library_installs_and_uninstalls(rig: Rig, tmp_path: Path) -> None:
    file = tmp_path / "library.apk"
    file.write_bytes(made_apk("org.example.library"))
    rig.u2.app_install(str(file))
    assert "org.example.library" in rig.u2.app_list()
    rig.adb.uninstall("org.example.library")
    assert "org.example.library" not in rig.u2.app_list()


def test_what_cannot_be_installed_says_why(rig: Rig, tmp_path: Path) -> None:
    file = tmp_path / "bad.apk"
    file.write_bytes(b"no apk at all")
    done = rig.cli("install", str(file))
    assert done.returncode == 1 and b"INSTALL_PARSE_FAILED_NOT_APK" in done.stderr + done.stdout
    file.write_bytes(made_apk("org.example.big"))
    rig.faults.set("storage-full")
    done = rig.cli("install", str(file))
    rig.faults.clear()
    assert done.returncode == 1 and b"INSTALL_FAILED_INSUFFICIENT_STORAGE" in done.stderr + done.stdout
    assert "org.example.big" not in rig.u2.app_list()
    done = rig.cli("uninstall", "org.example.nothing")
    assert done.returncode == 1 and b"Failure" in done.stdout + done.stderr
    assert rig.cli("uninstall", "com.android.settings").returncode == 1


def test_an_older_version_is_refused_unless_it_may_be_older(rig: Rig, tmp_path: Path) -> None:
    file = tmp_path / "down.apk"
    for code, words, is_done in ((9, (), True), (5, (), False), (5, ("-d",), True)):
        file.write_bytes(made_apk("org.example.down", code))
        assert (rig.cli("install", *words, str(file)).returncode == 0) is is_done, (code, words)


def test_the_keyboard_comes_with_its_apk(rig: Rig) -> None:
    import uiautomator2

    apk = Path(uiautomator2.__file__).parent / "assets" / "app-uiautomator.apk"
    assert rig.cli("uninstall", "com.github.uiautomator").returncode == 0
    assert KEYBOARD not in rig.adb.shell("ime list -s -a")
    assert rig.cli("install", str(apk)).returncode == 0
    assert KEYBOARD in rig.adb.shell("ime list -s -a")


def test_permissions_are_granted_and_revoked(rig: Rig) -> None:
    package, permission = "com.google.android.apps.messaging", "android.permission.CAMERA"
    assert rig.adb.shell2(f"pm grant {package} {permission}", v2=True).returncode == 0
    assert rig.vp.phone.is_granted(package, permission)
    rig.adb.shell(f"pm revoke {package} {permission}")
    assert not rig.vp.phone.is_granted(package, permission)
    assert rig.adb.shell2(f"pm grant no.such.app {permission}", v2=True).returncode == 255
