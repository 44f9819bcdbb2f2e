"""Which addresses may be called: what is typed on the command line is trusted, what stands in a file much less.

Refused always: other schemes than http and https, a user or password in the address, hosts with letters outside ASCII,
and link-local addresses (169.254.0.0/16, fe80::/10), where clouds keep credentials. From a file, besides loopback,
only https to public addresses is allowed, unless the person who runs Assay names the host.
"""

from __future__ import annotations

import asyncio
import ipaddress
import socket
from collections.abc import Sequence
from urllib.parse import parse_qsl, urlsplit

from assay.ports import CallError

IP = ipaddress.IPv4Address | ipaddress.IPv6Address
_SECRET_PARAMETERS = ("key", "api_key", "apikey", "token", "access_token", "password", "secret", "sig", "signature")
_METADATA = (ipaddress.ip_address("fd00:ec2::254"), ipaddress.ip_address("100.100.100.200"))


def check_url(url: str, *, typed: bool, allowed: Sequence[str] = ()) -> str:
    """Return what forbids an address as such, before its name is looked up; empty where nothing does."""
    try:
        parts = urlsplit(url)
        host = parts.hostname or ""
        _ = parts.port
    except ValueError as error:
        return f"not an address: {error}"
    if parts.scheme not in ("http", "https"):
        return f"scheme {parts.scheme or 'missing'!r} (expected http or https)"
    if parts.username is not None or parts.password is not None:
        return "a user or password in the address (expected auth: {env: NAME})"
    if not host:
        return "no host"
    if not host.isascii() or any(label.startswith("xn--") for label in host.split(".")):
        return "a host with letters outside ASCII, which may look like another one"
    if any(name.lower() in _SECRET_PARAMETERS for name, _ in parse_qsl(parts.query)):
        return "a secret in the query (expected auth: {env: NAME})"
    known = _literal(host)
    if known is not None:
        return check_ip(known, parts.scheme, typed=typed or host in allowed)
    if parts.scheme == "http" and not typed and host not in allowed and not is_localhost(host):
        return f"http to {host} from a settings file (expected https, or --allow-host {host})"
    return ""


def check_ip(ip: IP, scheme: str, *, typed: bool) -> str:
    """Return what forbids a number that a host stands for; empty where nothing does."""
    plain = (getattr(ip, "ipv4_mapped", None) or getattr(ip, "sixtofour", None) or ip) if ip.version == 6 else ip
    if plain.is_link_local or plain.is_multicast or plain.is_unspecified or plain in _METADATA:
        return f"{ip} is an address that is never called"
    if typed or plain.is_loopback:
        return ""
    if not plain.is_global:
        return f"{ip} is a private address, named in a settings file (expected --allow-host with its host)"
    return "" if scheme == "https" else f"http to {ip} from a settings file (expected https, or --allow-host)"


async def check_resolved(url: str, *, typed: bool, allowed: Sequence[str] = ()) -> str:
    """Return the number to connect to, with every one of the host allowed. Raises CallError: refused or connection."""
    parts = urlsplit(url)
    host = parts.hostname or ""
    port = parts.port or (443 if parts.scheme == "https" else 80)
    loop = asyncio.get_running_loop()
    try:
        found = await loop.getaddrinfo(host, port, type=socket.SOCK_STREAM)
    except OSError as error:
        raise CallError("connection", f"{host} cannot be looked up: {error.strerror or error}") from None
    numbers = list(dict.fromkeys(str(each[4][0]) for each in found))
    for number in numbers:
        refused = check_ip(ipaddress.ip_address(number.split("%")[0]), parts.scheme, typed=typed or host in allowed)
        if refused:
            raise CallError("refused", f"{host}: {refused}")
    return min(numbers, key=lambda number: ":" in number)


def is_localhost(host: str) -> bool:
    """Return whether a name always means this machine."""
    return host.lower() == "localhost" or host.lower().endswith(".localhost")


def _literal(host: str) -> IP | None:
    """Return the number that a host is, also in forms that only some resolvers read (2130706433, 0x7f.1, 0177.1)."""
    try:
        return ipaddress.ip_address(host)
    except ValueError:
        pass
    try:
        return ipaddress.IPv4Address(socket.inet_aton(host))
    except OSError:
        return None
