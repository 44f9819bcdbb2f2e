"""The network guard in conftest.py: tests can connect to this machine only."""

from __future__ import annotations

import socket

import pytest

ELSEWHERE = "192.0.2.1"  # reserved for documentation (RFC 5737)


def test_connecting_elsewhere_is_refused() -> None:
    with socket.socket() as client, pytest.raises(PermissionError, match="may not use the network"):
        client.connect((ELSEWHERE, 80))


def test_datagrams_and_name_look_ups_are_refused() -> None:
    with socket.socket(type=socket.SOCK_DGRAM) as client, pytest.raises(PermissionError):
        client.sendto(b"x", (ELSEWHERE, 53))
    with pytest.raises(PermissionError):
        socket.getaddrinfo("name.invalid", 80)


def test_loopback_is_open() -> None:
    with socket.create_server(("127.0.0.1", 0)) as server, socket.create_connection(server.getsockname()) as client:
        connection, _ = server.accept()
        with connection:
            client.sendall(b"hello")
            assert b"hello" == connection.recv(5)
