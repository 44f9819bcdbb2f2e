"""Stores of both kinds: a SQLite file, and a database of a PostgreSQL server that the test session starts."""

from __future__ import annotations

import os
import pwd
import shutil
import socket
import subprocess
import tempfile
import time
from collections.abc import Iterator
from itertools import count
from pathlib import Path

import pytest

from assay.audit.privacy import AuditKeys

SECRET = "a secret of the tests, long enough"
START_SECONDS = 30
_numbers = count(1)


def _find_binaries() -> Path | None:
    folders = sorted(Path("/usr/lib/postgresql").glob("*/bin"), key=lambda path: float(path.parent.name), reverse=True)
    on_path = shutil.which("initdb")
    if on_path is not None:
        folders.append(Path(on_path).resolve().parent)
    return next((folder for folder in folders if (folder / "initdb").exists() and (folder / "postgres").exists()), None)


def _unprivileged_account() -> str | None:
    """The account of the server: it refuses to run as root."""
    if os.getuid() != 0:
        return None
    for name in ("postgres", "nobody"):
        try:
            pwd.getpwnam(name)
        except KeyError:
            continue
        return name
    return None


@pytest.fixture(scope="session")
def postgres_server() -> Iterator[str]:
    """The address of a PostgreSQL server on loopback, with its own folder and port; skipped where there is none."""
    binaries = _find_binaries()
    if binaries is None:
        reason = "PostgreSQL is not installed (on Debian and Ubuntu: apt-get install postgresql)"
        if "postgres" in os.environ.get("ASSAY_REQUIRE", "").split(","):
            pytest.fail(reason)
        pytest.skip(reason)
    account = _unprivileged_account()
    folder = Path(tempfile.mkdtemp(prefix="assay-postgres-"))
    data = folder / "data"
    if account is not None:
        shutil.chown(folder, account)
    with socket.socket() as probe:
        probe.bind(("127.0.0.1", 0))
        port = probe.getsockname()[1]
    initialise = [str(binaries / "initdb"), "-D", str(data), "-A", "trust", "-U", "assay", "-E", "UTF8", "--no-sync"]
    subprocess.run(initialise, user=account, check=True, capture_output=True, cwd=folder)
    # The tests kill writers, never the server or the machine: nothing has to reach the disk.
    settings = ("listen_addresses=127.0.0.1", "unix_socket_directories=", "max_connections=40", "fsync=off")
    command = [str(binaries / "postgres"), "-D", str(data), "-p", str(port)]
    command += [part for setting in settings for part in ("-c", setting)]
    with open(folder / "log", "wb") as log:
        server = subprocess.Popen(command, user=account, stdout=log, stderr=log, cwd=folder)
    try:
        _wait_until_ready(port, server, folder / "log")
        yield f"postgresql://assay@127.0.0.1:{port}"
    finally:
        server.send_signal(2)  # fast shutdown
        server.wait(120)
        shutil.rmtree(folder, ignore_errors=True)


def _wait_until_ready(port: int, server: subprocess.Popen[bytes], log: Path) -> None:
    import psycopg

    deadline = time.monotonic() + START_SECONDS
    while time.monotonic() < deadline:
        assert server.poll() is None, log.read_text()
        try:
            psycopg.connect(f"postgresql://assay@127.0.0.1:{port}/postgres").close()
        except psycopg.OperationalError:
            time.sleep(0.1)
            continue
        return
    pytest.fail(f"PostgreSQL did not start: {log.read_text()}")


def make_database(server: str) -> str:
    """Create an empty database and return its address."""
    import psycopg

    name = f"audit{next(_numbers)}"
    with psycopg.connect(f"{server}/postgres", autocommit=True) as connection:
        connection.execute(f"CREATE DATABASE {name}")
    return f"{server}/{name}"


def empty_database(address: str) -> None:
    """Make a database as it was when it was created: a new one costs three times as much, and hundreds of files."""
    import psycopg

    of_others = "datname = current_database() AND pid <> pg_backend_pid()"
    with psycopg.connect(address, autocommit=True) as connection:
        connection.execute(f"SELECT pg_terminate_backend(pid) FROM pg_stat_activity WHERE {of_others}")
        connection.execute("DROP SCHEMA public CASCADE")
        connection.execute("CREATE SCHEMA public")


@pytest.fixture(scope="session")
def shared_database(postgres_server: str) -> str:
    """The address of the database that tests use one after the other, empty at the start of each."""
    return make_database(postgres_server)


@pytest.fixture(params=["sqlite", pytest.param("postgres", marks=pytest.mark.slow)])
def address(request: pytest.FixtureRequest, tmp_path: Path) -> str:
    """The address of a store that does not exist yet, once of each kind."""
    if request.param == "sqlite":
        return str(tmp_path / "audit.sqlite")
    database: str = request.getfixturevalue("shared_database")
    empty_database(database)
    return database


@pytest.fixture(autouse=True)
def keys(monkeypatch: pytest.MonkeyPatch) -> AuditKeys:
    """The keys of the tests; their secret is in the default variable."""
    monkeypatch.setenv("ASSAY_AUDIT_KEY", SECRET)
    return AuditKeys(SECRET.encode())
