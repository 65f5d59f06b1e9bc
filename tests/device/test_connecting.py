"""Connecting, pairing and finding phones in the network: a stand-in adb server, and the real one where it can be."""

from __future__ import annotations

import socket
import threading
from collections.abc import Callable

import pytest
from tests.fakes.stand_in_adb import StandInAdb, served

from droidpilot.core.clock import Deadline, ManualClock, SystemClock
from droidpilot.core.errors import DeviceTimeout, DeviceUnavailable, UsageError
from droidpilot.device import pairing
from droidpilot.device.adb import AdbServer
from droidpilot.device.connecting import Address, connect_phone, disconnect_phone, parse_address
from droidpilot.device.discovery import Service, bare_name, find_phone, is_mdns_there, services
from droidpilot.virtual.server import VirtualPhone

Within = Callable[[float], Deadline]

ODD_NAME = "adb-R5AA (2)"


@pytest.mark.parametrize(
    ("text", "host", "port", "said"),
    [
        ("192.168.1.7", "192.168.1.7", 5555, "192.168.1.7:5555"),
        ("192.168.1.7:37123", "192.168.1.7", 37123, "192.168.1.7:37123"),
        (" pixel.local:5556 ", "pixel.local", 5556, "pixel.local:5556"),
        ("::1", "::1", 5555, "[::1]:5555"),
        ("[::1]", "::1", 5555, "[::1]:5555"),
        ("[fe80::1%wlan0]:37123", "fe80::1%wlan0", 37123, "[fe80::1%wlan0]:37123"),
        ("2001:db8::7", "2001:db8::7", 5555, "[2001:db8::7]:5555"),
    ],
)
def test_an_address_is_read_in_every_form_that_people_type(text: str, host: str, port: int, said: str) -> None:
    address = parse_address(text)
    assert (address.host, address.port, str(address)) == (host, port, said)


@pytest.mark.parametrize(
    "text",
    [
        "",
        ":5555",
        "host:",
        "host:x",
        "host:0",
        "host:65536",
        "ho st:1",
        "http://a:1",
        "[::1",
        "[::1]x",
        "a;b:1",
        "-s:1",
    ],
)
def test_what_is_no_address_is_refused_before_adb_is_asked(text: str) -> None:
    with pytest.raises(UsageError) as caught:
        parse_address(text)
    assert "HOST:PORT" in caught.value.hint


def test_a_port_for_pairing_must_be_given() -> None:
    with pytest.raises(UsageError, match="port is missing"):
        parse_address("192.168.1.7", default_port=None)


# connecting


def test_a_phone_is_connected_and_the_second_time_said_to_be_so(within: Within) -> None:
    with served(StandInAdb(listening={"10.0.0.7:5555": "device"})) as adb:
        server = AdbServer(adb.port)
        first = connect_phone(server, "10.0.0.7", within(5))
        again = connect_phone(server, "10.0.0.7:5555", within(5))
    assert (first.device.serial, first.device.model, first.was_connected) == ("10.0.0.7:5555", "Pixel 9", False)
    assert again.was_connected and again.device.is_ready


@pytest.mark.parametrize("state", ["auth", "unauthorized"])
def test_a_phone_that_does_not_trust_this_computer_has_its_exact_next_step(state: str, within: Within) -> None:
    with served(StandInAdb(listening={"10.0.0.7:5555": state})) as adb, pytest.raises(DeviceUnavailable) as caught:
        connect_phone(AdbServer(adb.port), "10.0.0.7", within(5))
    assert caught.value.code == "unauthorized"
    assert "Allow USB debugging" in caught.value.hint


def test_field_39_a_port_that_changed_is_found_by_what_the_phone_announces(within: Within) -> None:
    adb = StandInAdb(listening={"10.0.0.7:41234": "device"})
    adb.announce("adb-R5AA-x1Y2z3", "connect", "10.0.0.7:41234")
    with served(adb):
        found = connect_phone(AdbServer(adb.port), "10.0.0.7:37123", within(5))
    assert (found.device.serial, found.moved_from) == ("10.0.0.7:41234", "10.0.0.7:37123")


def test_field_39_a_phone_is_found_by_its_serial_number_and_by_its_service_name(within: Within) -> None:
    adb = StandInAdb(listening={"10.0.0.7:41234": "device", "10.0.0.8:5000": "device"})
    adb.announce("adb-R5AA-x1Y2z3", "connect", "10.0.0.7:41234")
    adb.announce(ODD_NAME, "connect", "10.0.0.8:5000")
    with served(adb):
        server = AdbServer(adb.port)
        assert connect_phone(server, "R5AA", within(5)).device.serial == "10.0.0.7:41234"
        assert connect_phone(server, "adb-R5AA-x1Y2z3", within(5)).was_connected
        odd = connect_phone(server, f"{ODD_NAME}._adb-tls-connect._tcp", within(5))
    assert odd.device.serial == "10.0.0.8:5000"


def test_field_39_the_port_for_pairing_is_not_the_one_to_connect_to(within: Within) -> None:
    adb = StandInAdb()
    adb.announce("adb-R5AA-x1Y2z3", "pairing", "10.0.0.7:40001")
    with served(adb), pytest.raises(DeviceUnavailable) as caught:
        connect_phone(AdbServer(adb.port), "10.0.0.7:40001", within(5))
    assert "port for pairing" in caught.value.message and "droidpilot pair 10.0.0.7:40001" in caught.value.hint


def test_nobody_there_is_one_error_with_the_words_of_adb(within: Within) -> None:
    with served(StandInAdb()) as adb, pytest.raises(DeviceUnavailable) as caught:
        connect_phone(AdbServer(adb.port), "10.0.0.7", within(5))
    assert caught.value.code == "not_connected_by_adb" and "Connection refused" in caught.value.message


def test_letting_go_of_a_phone_and_of_one_that_is_not_there(within: Within) -> None:
    with served(StandInAdb(phones={"10.0.0.7:5555": "device"})) as adb:
        server = AdbServer(adb.port)
        assert disconnect_phone(server, "10.0.0.7", within(5)) == "10.0.0.7:5555"
        with pytest.raises(DeviceUnavailable) as caught:
            disconnect_phone(server, "10.0.0.7", within(5))
    assert caught.value.code == "not_connected_before"


def test_the_real_server_connects_over_ipv6_and_lets_go(adb: AdbServer, phone: VirtualPhone, within: Within) -> None:
    try:
        listener = socket.create_server(("::1", 0), family=socket.AF_INET6)
    except OSError:
        pytest.skip("this machine has no IPv6")

    def forward() -> None:
        connection, _ = listener.accept()
        with connection, socket.create_connection(("127.0.0.1", phone.port)) as real:
            threading.Thread(target=pump, args=(real, connection), daemon=True).start()
            pump(connection, real)

    def pump(source: socket.socket, sink: socket.socket) -> None:
        try:
            while data := source.recv(65536):
                sink.sendall(data)
        except OSError:
            pass

    thread = threading.Thread(target=forward, daemon=True)
    thread.start()
    with listener:
        found = connect_phone(adb, f"[::1]:{listener.getsockname()[1]}", within(15))
        assert found.device.is_ready and Address("::1", listener.getsockname()[1]).is_serial(found.device.serial)
        disconnect_phone(adb, f"[::1]:{listener.getsockname()[1]}", within(15))
    thread.join(5)


# what is announced


def test_announcements_are_read_and_what_makes_no_sense_is_left_out(within: Within) -> None:
    lines = [
        "adb-R5AA-x1Y2z3\t_adb-tls-connect._tcp\t10.0.0.7:41234",
        "adb-R5AA-x1Y2z3\t_adb-tls-connect._tcp\t10.0.0.7:41234",
        f"{ODD_NAME}\t_adb-tls-connect._tcp.\t[fe80::1]:5000",
        "droidpilot-abc\t_adb-tls-pairing._tcp\t10.0.0.9:40000",
        "old\t_adb._tcp\t10.0.0.3:5555",
        "printer\t_ipp._tcp\t10.0.0.4:631",
        "cut\t_adb._tcp",
        "bad\t_adb._tcp\t10.0.0.4:70000",
        "",
    ]
    with served(StandInAdb(announced=lines)) as adb:
        assert services(AdbServer(adb.port), within(5)) == [
            Service("adb-R5AA-x1Y2z3", "connect", "10.0.0.7", 41234),
            Service(ODD_NAME, "connect", "fe80::1", 5000),
            Service("droidpilot-abc", "pairing", "10.0.0.9", 40000),
            Service("old", "plain", "10.0.0.3", 5555),
        ]
        assert is_mdns_there(AdbServer(adb.port), within(5))


def test_a_server_without_mdns_announces_nothing(adb: AdbServer, within: Within) -> None:
    with served(StandInAdb(has_mdns=False)) as old:
        assert services(AdbServer(old.port), within(5)) == []
        assert not is_mdns_there(AdbServer(old.port), within(5))
    assert services(adb, within(5)) == []  # the real one, started with ADB_MDNS=0


def test_a_phone_is_never_taken_for_one_whose_number_only_begins_alike() -> None:
    seen = [Service("adb-R5AAB-q", "connect", "10.0.0.1", 1), Service("adb-R5AA-q", "connect", "10.0.0.2", 2)]
    found = find_phone(seen, "R5AA")
    assert found is not None and found.host == "10.0.0.2"
    assert find_phone(seen, "R5") is None and find_phone(seen, "") is None
    assert bare_name("adb-R5AA (2)._adb-tls-connect._tcp.") == ODD_NAME


# pairing


def test_pairing_by_code_names_the_phone(within: Within) -> None:
    with served(StandInAdb(codes={"10.0.0.7:40001": ("123456", "adb-R5AA-x", "10.0.0.7:41234")})) as adb:
        server = AdbServer(adb.port)
        paired = pairing.pair(server, Address("10.0.0.7", 40001), "123456", within(5))
        assert paired == pairing.Paired("10.0.0.7:40001", "adb-R5AA-x")
        found = pairing.wait_for_phone(server, paired.name, SystemClock(), within(1))
    assert found is not None and found.address == "10.0.0.7:41234"


def test_a_wrong_code_is_an_error_that_does_not_repeat_it(within: Within) -> None:
    with served(StandInAdb(codes={"10.0.0.7:40001": ("123456", "n", "10.0.0.7:1")})) as adb:
        with pytest.raises(DeviceUnavailable) as caught:
            pairing.pair(AdbServer(adb.port), Address("10.0.0.7", 40001), "999999", within(5))
        assert caught.value.code == "not_paired" and "one try" in caught.value.hint
        assert "999999" not in str(caught.value)
        with pytest.raises(DeviceUnavailable) as caught:
            pairing.pair(AdbServer(adb.port), Address("10.0.0.7", 40002), "123456", within(5))
        assert "Pair device with pairing code" in caught.value.hint


def test_the_real_server_says_no_to_a_pairing_where_nobody_listens(adb: AdbServer, within: Within) -> None:
    with pytest.raises(DeviceUnavailable) as caught:
        pairing.pair(adb, Address("127.0.0.1", 9), "123456", within(15))
    assert caught.value.code == "not_paired" and "Unable to start pairing client" in caught.value.message


@pytest.mark.parametrize("code", ["", "12345", "12 345", "123:456", "1234567890" * 7, "12345\n"])
def test_what_cannot_be_a_code_is_not_sent(code: str, within: Within) -> None:
    with served(StandInAdb()) as adb, pytest.raises(UsageError):
        pairing.pair(AdbServer(adb.port), Address("10.0.0.7", 1), code, within(5))
    assert adb.asked == []


def test_a_scanned_code_is_noticed_and_paired(within: Within) -> None:
    offer = pairing.new_offer()
    assert offer.text == f"WIFI:T:ADB;S:{offer.name};P:{offer.password};;"
    assert offer.password not in repr(offer) and pairing.new_offer().password != offer.password
    adb = StandInAdb(codes={"10.0.0.7:40001": (offer.password, "adb-R5AA-x", "10.0.0.7:41234")})
    adb.announce("droidpilot-somebody-else", "pairing", "10.0.0.9:1")
    clock = ManualClock()
    with served(adb):
        server = AdbServer(adb.port)
        ticks: list[int] = []

        def tick() -> None:
            ticks.append(1)
            if len(ticks) == 3:
                adb.announce(offer.name, "pairing", "10.0.0.7:40001")

        found = pairing.wait_for_scan(server, offer, clock, Deadline.after(clock, 60), tick=tick)
        assert found.address == "10.0.0.7:40001" and len(ticks) == 3
        assert pairing.pair(server, Address(found.host, found.port), offer.password, within(5)).name == "adb-R5AA-x"


def test_a_code_that_nobody_scans_ends_in_time() -> None:
    clock = ManualClock()
    with served(StandInAdb()) as adb, pytest.raises(DeviceTimeout) as caught:
        pairing.wait_for_scan(AdbServer(adb.port), pairing.new_offer(), clock, Deadline.after(clock, 60))
    assert caught.value.code == "not_scanned" and 60 <= clock.monotonic() < 61
