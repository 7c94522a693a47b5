"""Nothing private is reached, whatever an address looks like, a name is looked up as, or a page redirects to."""

from __future__ import annotations

import ipaddress
from collections.abc import Callable
from typing import Any

import httpcore
import pytest
from hypothesis import given
from hypothesis import strategies as st

from kgot_core.errors import KgotError
from kgot_tools_web.net.addresses import is_public, literal
from kgot_tools_web.net.guard import Blocked, Guard
from kgot_tools_web.net.transport import GuardedBackend

LOCAL = [
    "127.0.0.1",
    "127.1",
    "2130706433",
    "0x7f000001",
    "0x7f.0.0.1",
    "0177.0.0.1",
    "017700000001",
    "127.0.0.1.",
    "0.0.0.0",
    "0",
    "[::1]",
    "[::]",
    "[::ffff:127.0.0.1]",
    "[::ffff:7f00:1]",
    "[0:0:0:0:0:ffff:127.0.0.1]",
    "[::127.0.0.1]",
    "[64:ff9b::7f00:1]",
    "[2002:7f00:1::]",
    "[::ffff:0:127.0.0.1]",
    "[64:ff9b:1:7f00:0:100:808:808]",
    "localhost",
    "LOCALHOST.",
    "app.localhost",
    "①②⑦.⓪.⓪.①",
    "127。0。0。1",
]
PRIVATE = [
    "10.0.0.5",
    "172.16.0.1",
    "192.168.1.1",
    "169.254.169.254",
    "2852039166",
    "100.100.100.200",
    "168.63.129.16",
    "[fd00:ec2::254]",
    "[fe80::1]",
    "[fe80::1%25eth0]",
    "198.18.0.1",
    "224.0.0.1",
    "255.255.255.255",
    "metadata.google.internal",
    "printer.local",
]


@pytest.mark.parametrize("host", LOCAL)
def test_no_form_of_loopback_is_reached(call: Callable[..., Any], web: Any, host: str) -> None:
    """Case D34: this machine."""
    port = web.place.rpartition(":")[2]
    result = call("visit_page", more={"allow_hosts": ()}, url=f"http://{host}:{port}/secret")
    assert result.failed and "blocked address" in result.text, result.text
    assert not web.seen


@pytest.mark.parametrize("host", PRIVATE)
def test_no_private_or_metadata_address_is_reached(host: str) -> None:
    """Case D34: private networks."""
    with pytest.raises(Blocked, match="blocked address"):
        Guard().check(f"http://{host}/latest/meta-data/")


@pytest.mark.parametrize(
    "url",
    ["file:///etc/passwd", "gopher://127.0.0.1:70/", "ftp://example.org/", "data:text/html,x", "javascript:alert(1)"],
)
def test_only_http_and_https_are_reached(call: Callable[..., Any], url: str) -> None:
    """Case D34: other schemes."""
    result = call("visit_page", url=url)
    assert result.failed and "only http and https" in result.text and "root:" not in result.text


@pytest.mark.parametrize(
    "url", ["http://", "https://exa mple.org/", "http://[::1/", "http://a:99999/", "words", "http://-/"]
)
def test_what_is_no_address_is_said(call: Callable[..., Any], url: str) -> None:
    result = call("visit_page", url=url)
    assert result.failed and "\n" not in result.text


def test_a_redirect_to_a_private_address_is_not_followed(call: Callable[..., Any], web: Any, web_kit: Any) -> None:
    """Case D34: redirects."""
    port = web.place.rpartition(":")[2]
    for number, target in enumerate(
        (f"http://localhost:{port}/secret", "http://169.254.169.254/", "file:///etc/passwd")
    ):
        web.paths[f"/to{number}"] = web_kit.Answer(status=302, headers={"Location": target})
        result = call("visit_page", url=f"{web.url}/to{number}")
        assert result.failed and ("blocked address" in result.text or "only http and https" in result.text)
    assert web.seen["/secret"] == 0


def test_an_opened_host_opens_its_port_alone(call: Callable[..., Any], web: Any) -> None:
    with pytest.raises(Blocked):
        Guard([web.place]).check("http://127.0.0.1:1/")
    assert Guard(["127.0.0.1"]).check("http://127.1:1/").port == 1


async def test_a_name_is_looked_up_once_and_its_address_is_the_one_connected_to(web: Any) -> None:
    port = int(web.place.rpartition(":")[2])
    answers = [["93.184.216.34"], ["127.0.0.1"]]
    asked: list[str] = []

    async def rebinding(host: str, port: int) -> list[Any]:
        asked.append(host)
        return [ipaddress.ip_address(text) for text in answers[min(len(asked), len(answers)) - 1]]

    guard = Guard(resolver=rebinding)
    connected: list[str] = []

    class Recorder(httpcore.AnyIOBackend):
        async def connect_tcp(self, host: str, *arguments: Any, **named: Any) -> Any:
            connected.append(host)
            raise httpcore.ConnectError("not in a test")

    backend = GuardedBackend(guard, Recorder())
    with pytest.raises(httpcore.ConnectError):
        await backend.connect_tcp("rebind.example", port)
    # The check and the connection used one and the same look-up; the next one is judged anew.
    assert (asked, connected) == (["rebind.example"], ["93.184.216.34"])
    with pytest.raises(Blocked):
        await backend.connect_tcp("rebind.example", port)
    assert connected == ["93.184.216.34"] and not web.seen


async def test_a_name_with_a_private_address_beside_a_public_one_is_refused() -> None:
    """Case D34: names."""

    async def both(host: str, port: int) -> list[Any]:
        return [ipaddress.ip_address("93.184.216.34"), ipaddress.ip_address("10.0.0.5")]

    with pytest.raises(Blocked):
        await Guard(resolver=both).addresses("two.example", 80)
    assert len(await Guard(["two.example"], resolver=both).addresses("two.example", 80)) == 2


def test_blocked_hosts_are_blocked_with_all_below_them(call: Callable[..., Any], web: Any) -> None:
    guard = Guard(block=["answers.example", "https://other.example/page"])
    for url in ("http://answers.example/", "https://www.ANSWERS.example./x", "https://other.example/y"):
        with pytest.raises(Blocked, match="block_hosts"):
            guard.check(url)
    assert guard.check("https://myanswers.example/").host == "myanswers.example"
    result = call("visit_page", more={"block_hosts": ("127.0.0.1",)}, url=web.page_url("Alps"))
    assert result.failed and "block_hosts" in result.text and not web.seen


@given(st.ip_addresses(v=4))
def test_an_address_is_judged_alike_in_every_form(address: ipaddress.IPv4Address) -> None:
    number = int(address)
    a, b, c, d = address.packed
    forms = [
        str(number),
        hex(number),
        f"0x{a:x}.{b}.{c}.{d}",
        f"0{a:o}.0{b:o}.0{c:o}.0{d:o}",
        f"{a}.{number & 0xFFFFFF}",
    ]
    forms += [f"::ffff:{address}", f"64:ff9b::{a:02x}{b:02x}:{c:02x}{d:02x}"]
    for form in forms:
        found = literal(form)
        assert found is not None and is_public(found) == is_public(address), form


@given(st.text(max_size=40))
def test_any_text_is_refused_in_words_or_is_a_target(text: str) -> None:
    try:
        target = Guard().check(f"http://{text}/")
    except KgotError as error:
        assert str(error)
    else:
        address = literal(target.host)
        assert address is None or is_public(address)
