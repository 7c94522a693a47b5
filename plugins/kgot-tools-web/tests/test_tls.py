"""https: a certificate counts only for the name that was asked for, and only from somebody who is trusted."""

from __future__ import annotations

import asyncio
import datetime
import ipaddress
import ssl
from collections.abc import Callable, Iterator
from pathlib import Path
from types import ModuleType
from typing import Any

import pytest
from cryptography import x509
from cryptography.hazmat.primitives import hashes, serialization
from cryptography.hazmat.primitives.asymmetric import ec
from h2.config import H2Configuration
from h2.connection import H2Connection
from h2.events import RequestReceived

from kgot_tools_web.session import WebSession
from kgot_tools_web.settings import WebSettings


@pytest.fixture
def certificate(tmp_path: Path) -> Path:
    """A certificate for 127.0.0.1 that nobody has signed, with its key."""
    key = ec.generate_private_key(ec.SECP256R1())
    name = x509.Name([x509.NameAttribute(x509.NameOID.COMMON_NAME, "loopback")])
    now = datetime.datetime.now(datetime.UTC)
    made = (
        x509.CertificateBuilder()
        .subject_name(name)
        .issuer_name(name)
        .public_key(key.public_key())
        .serial_number(1)
        .not_valid_before(now - datetime.timedelta(days=1))
        .not_valid_after(now + datetime.timedelta(days=1))
        .add_extension(x509.SubjectAlternativeName([x509.IPAddress(ipaddress.ip_address("127.0.0.1"))]), False)
        .sign(key, hashes.SHA256())
    )
    pem, form = serialization.Encoding.PEM, serialization.PrivateFormat.PKCS8
    path = tmp_path / "loopback.pem"
    path.write_bytes(made.public_bytes(pem) + key.private_bytes(pem, form, serialization.NoEncryption()))
    return path


@pytest.fixture
def secure(web_kit: ModuleType, launcher: Callable[[str], ModuleType], certificate: Path) -> Iterator[Any]:
    """The loopback web over https."""
    tls = ssl.SSLContext(ssl.PROTOCOL_TLS_SERVER)
    tls.load_cert_chain(certificate)
    with web_kit.Loopback(web_kit.stored_pages(), launcher("loopback_wiki").answer, tls) as server:
        yield server


def test_a_certificate_of_nobody_is_refused(call: Callable[..., Any], secure: Any) -> None:
    result = call("visit_page", more={"allow_hosts": (secure.place,)}, url=secure.page_url("Alps"))
    assert result.failed and "the certificate of 127.0.0.1 is not valid" in result.text and not secure.seen


def test_a_certificate_that_the_user_trusts_is_taken_for_its_name_alone(
    call: Callable[..., Any], secure: Any, certificate: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setenv("SSL_CERT_FILE", str(certificate))
    more = {"allow_hosts": (secure.place, secure.place.replace("127.0.0.1", "localhost"))}
    assert "Alps" in call("visit_page", more=more, url=secure.page_url("Alps")).text
    other = call("visit_page", more=more, url=secure.page_url("Comics").replace("127.0.0.1", "localhost"))
    assert other.failed and "the certificate of localhost is not valid" in other.text


async def test_a_server_that_speaks_http_2_is_answered_in_it(
    certificate: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    asked: list[dict[bytes, bytes]] = []

    async def serve(reader: asyncio.StreamReader, writer: asyncio.StreamWriter) -> None:
        connection = H2Connection(H2Configuration(client_side=False))
        connection.initiate_connection()
        while True:
            writer.write(connection.data_to_send())
            data = await reader.read(1 << 16)
            if not data:
                break
            for event in connection.receive_data(data):
                if isinstance(event, RequestReceived):
                    asked.append(dict(event.headers))
                    connection.send_headers(event.stream_id, [(":status", "200"), ("content-type", "text/html")])
                    connection.send_data(event.stream_id, b"<p>Two.</p>", end_stream=True)
        writer.close()

    monkeypatch.setenv("SSL_CERT_FILE", str(certificate))
    tls = ssl.SSLContext(ssl.PROTOCOL_TLS_SERVER)
    tls.load_cert_chain(certificate)
    tls.set_alpn_protocols(["h2"])
    server = await asyncio.start_server(serve, "127.0.0.1", 0, ssl=tls)
    async with server:
        place = f"127.0.0.1:{server.sockets[0].getsockname()[1]}"
        fetched = await WebSession(WebSettings(allow_hosts=(place,))).pages.get(f"https://{place}/two")
    assert fetched.body == b"<p>Two.</p>" and fetched.kind == "text/html"
    (headers,) = asked
    assert headers[b":path"] == b"/two" and headers[b":authority"] == place.encode()
