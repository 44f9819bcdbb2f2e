"""Decides which addresses may be called: those on the command line are trusted, those in a settings file much less.

Always refused are schemes other than http and https, a user or password in the address, hosts with characters outside
ASCII, and link-local addresses (169.254.0.0/16, fe80::/10), where clouds serve credentials. Apart from loopback, an
address in a settings file must be https to a public address, unless its host is allowed on the command line (ADR 0013).
"""

from __future__ import annotations

import asyncio
import ipaddress
import socket
from collections.abc import Sequence
from urllib.parse import parse_qsl, urlsplit

from assay.calls.interfaces import CallError

IPAddress = ipaddress.IPv4Address | ipaddress.IPv6Address
_SECRET_PARAMETERS = ("key", "api_key", "apikey", "token", "access_token", "password", "secret", "sig", "signature")
_CLOUD_METADATA = (ipaddress.ip_address("fd00:ec2::254"), ipaddress.ip_address("100.100.100.200"))


def check_url(url: str, *, typed: bool, allowed: Sequence[str] = ()) -> str:
    """Return why an address may not be called, before its host is resolved; empty if it may."""
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
        return "a host with characters outside ASCII, which may look like another one"
    if any(name.lower() in _SECRET_PARAMETERS for name, _ in parse_qsl(parts.query)):
        return "a secret in the query (expected auth: {env: NAME})"
    ip = _parse_ip(host)
    if ip is not None:
        return check_ip(ip, parts.scheme, typed=typed or host in allowed)
    if parts.scheme == "http" and not typed and host not in allowed and not is_localhost(host):
        return f"http to {host} from a settings file (expected https, or --allow-host {host})"
    return ""


def check_ip(ip: IPAddress, scheme: str, *, typed: bool) -> str:
    """Return why an IP address may not be called; empty if it may."""
    plain: IPAddress = ip
    if isinstance(ip, ipaddress.IPv6Address):
        plain = ip.ipv4_mapped or ip.sixtofour or ip  # an IPv4 address written as IPv6 is what is called in the end
    if plain.is_link_local or plain.is_multicast or plain.is_unspecified or plain in _CLOUD_METADATA:
        return f"{ip} is an address that is never called"
    if typed or plain.is_loopback:
        return ""
    if not plain.is_global:
        return f"{ip} is a private address, named in a settings file (expected --allow-host with its host)"
    return "" if scheme == "https" else f"http to {ip} from a settings file (expected https, or --allow-host)"


async def resolve_address(url: str, *, typed: bool, allowed: Sequence[str] = ()) -> str:
    """Resolve the host and return the IP address to connect to, after checking all of them.

    Raises CallError with code `refused` if one of them may not be called, `connection` if the host cannot be resolved.
    """
    parts = urlsplit(url)
    host = parts.hostname or ""
    port = parts.port or (443 if parts.scheme == "https" else 80)
    loop = asyncio.get_running_loop()
    try:
        records = await loop.getaddrinfo(host, port, type=socket.SOCK_STREAM)
    except OSError as error:
        raise CallError("connection", f"{host} cannot be looked up: {error.strerror or error}") from None
    addresses = list(dict.fromkeys(str(record[4][0]) for record in records))
    for address in addresses:
        ip = ipaddress.ip_address(address.split("%")[0])  # without the zone of an IPv6 address
        refused = check_ip(ip, parts.scheme, typed=typed or host in allowed)
        if refused:
            raise CallError("refused", f"{host}: {refused}")
    return min(addresses, key=lambda address: ":" in address)  # IPv4 first


def is_localhost(host: str) -> bool:
    """Return whether a host name always means this machine."""
    return host.lower() == "localhost" or host.lower().endswith(".localhost")


def _parse_ip(host: str) -> IPAddress | None:
    """Return the IP address that a host is, including forms that only some resolvers read (2130706433, 0x7f.1)."""
    try:
        return ipaddress.ip_address(host)
    except ValueError:
        pass
    try:
        return ipaddress.IPv4Address(socket.inet_aton(host))
    except OSError:
        return None
