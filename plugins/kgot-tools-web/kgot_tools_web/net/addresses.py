"""Which addresses of the net are public."""

from __future__ import annotations

import ipaddress
import re
from typing import TypeAlias

Address: TypeAlias = ipaddress.IPv4Address | ipaddress.IPv6Address

_NUMBER = re.compile(r"0[xX][0-9a-fA-F]*|[0-9]+")
# Networks whose last 32 bits are an IPv4 address that a translator passes on to.
_TRANSLATED = (ipaddress.IPv6Network("64:ff9b::/96"), ipaddress.IPv6Network("::ffff:0:0:0/96"))
# Carriers' shared addresses, those that clouds give their metadata services, and translators of a network's own.
_CLOSED = tuple(
    ipaddress.ip_network(net)
    for net in (
        *("100.64.0.0/10", "168.63.129.16/32", "192.0.0.0/24", "192.88.99.0/24", "198.18.0.0/15"),
        *("fec0::/10", "64:ff9b:1::/48"),
    )
)


def is_public(address: Address) -> bool:
    """Tells whether an address is one that everybody can reach: not private, loopback, link-local or reserved.

    An IPv4 address that is wrapped in an IPv6 one counts as what it is.
    """
    if isinstance(address, ipaddress.IPv6Address):
        inner = _wrapped(address)
        if inner is not None:
            return is_public(inner)
        if address.scope_id:
            return False
    if any(address in net for net in _CLOSED if net.version == address.version):
        return False
    return address.is_global and not (address.is_multicast or address.is_reserved or address.is_unspecified)


def literal(host: str) -> Address | None:
    """Reads a host that is an address, in any form that a system's resolver takes for one.

    ``2130706433``, ``0x7f.1`` and ``0177.0.0.1`` all are 127.0.0.1.
    """
    text = host.strip("[]").partition("%")[0]
    try:
        return ipaddress.ip_address(text)
    except ValueError:
        pass
    parts = text.rstrip(".").split(".")
    if not 1 <= len(parts) <= 4 or not all(_NUMBER.fullmatch(part) for part in parts):
        return None
    numbers = [_number(part) for part in parts]
    *high, last = numbers
    if any(number > 255 for number in high) or last >= 256 ** (4 - len(high)):
        return None
    value = last + sum(number << 8 * (3 - place) for place, number in enumerate(high))
    return ipaddress.IPv4Address(value)


def _number(part: str) -> int:
    if part[:2].lower() == "0x":
        return int(part[2:] or "0", 16)
    octal = len(part) > 1 and part.startswith("0") and not set(part) & {"8", "9"}
    return int(part, 8 if octal else 10)


def _wrapped(address: ipaddress.IPv6Address) -> ipaddress.IPv4Address | None:
    """Gives the IPv4 address that an IPv6 one stands for: mapped, compatible, translated, 6to4, Teredo or NAT64."""
    if address.ipv4_mapped is not None:
        return address.ipv4_mapped
    if address.sixtofour is not None:
        return address.sixtofour
    if address.teredo is not None:
        return address.teredo[1]
    value = int(address)
    if any(address in net for net in _TRANSLATED) or 1 < value < 1 << 32:
        return ipaddress.IPv4Address(value & 0xFFFFFFFF)
    return None
