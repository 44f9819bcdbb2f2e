"""The environment of every test: no network except loopback, a home directory of its own, fixed Hypothesis settings."""

from __future__ import annotations

import gc
import os
import sys
from collections.abc import Generator, Iterator
from pathlib import Path
from typing import Any

import pytest
from hypothesis import settings
from tests.faults.forking import CommandForker

from assay.records.errors import BUG_EVENT

collect_ignore = ["faults/raw_mcp.py", "faults/rude_mcp.py", "support/tiny_model.py"]  # programs that tests start

# Chosen again on every run, 30 examples a law find over some runs what 100 that stay the same do; CI, where they stay
# the same, tries 100, and a thorough run a thousand.
settings.register_profile("dev", deadline=None, max_examples=30)
settings.register_profile("ci", deadline=None, derandomize=True, print_blob=True, max_examples=100)
settings.register_profile("thorough", deadline=None, print_blob=True, max_examples=1000)
settings.load_profile(os.environ.get("ASSAY_EXAMPLES") or ("ci" if os.environ.get("CI") else "dev"))

# A few thousand tests and all modules stay alive to the end: at the default threshold, looking for cycles among them
# takes a third of the time of collecting the tests.
gc.set_threshold(100_000, 50, 1000)

# The place of the address in the arguments of each event that can leave the machine.
NETWORK_EVENTS = {"socket.connect": 1, "socket.sendto": 1, "socket.sendmsg": 1, "socket.getaddrinfo": 0}


def _is_local(address: Any) -> bool:
    host = address[0] if isinstance(address, tuple) else address
    if isinstance(host, bytes):
        host = host.decode(errors="replace")
    # A host of None is this machine; a socket address that is a plain string is a path.
    return host in (None, "", "localhost", "::1") or host.startswith(("127.", "/", "\0"))


def _refuse_network(event: str, arguments: tuple[Any, ...]) -> None:
    position = NETWORK_EVENTS.get(event)
    if position is not None and not _is_local(arguments[position]):
        raise PermissionError(f"tests may not use the network: {event} {arguments[position]!r}")


sys.addaudithook(_refuse_network)


_bug_lines: list[str] = []


def _note_bug(event: str, arguments: tuple[Any, ...]) -> None:
    if event == BUG_EVENT:
        _bug_lines.append(str(arguments[0]))


sys.addaudithook(_note_bug)


# Hooks and no fixtures: for thirteen thousand tests, two fixtures that all of them use take several seconds.
@pytest.hookimpl(tryfirst=True)
def pytest_runtest_setup() -> None:
    """Forget the bugs that Assay reported between tests."""
    _bug_lines.clear()


@pytest.hookimpl(wrapper=True, tryfirst=True)
def pytest_runtest_teardown(item: pytest.Item) -> Generator[None]:
    """Forget the metrics that a test made of rubrics; fail a test during which Assay reported a bug of its own.

    A test that is marked `provokes_bug` may do so.
    """
    from assay.metrics.catalog import CATALOG, parse_metric

    rows = len(CATALOG)
    CATALOG.forget_rows()
    if len(CATALOG) < rows:
        parse_metric.cache_clear()  # else no name in it depends on the test, and reading all takes a millisecond
    yield
    is_expected = item.get_closest_marker("provokes_bug") is not None or isinstance(item, pytest.DoctestItem)
    if _bug_lines and not is_expected:
        pytest.fail("\n".join(_bug_lines))


@pytest.fixture(scope="session", autouse=True)
def _own_home(tmp_path_factory: pytest.TempPathFactory) -> Iterator[None]:
    """Keep tests away from the files of the user who runs them."""
    with pytest.MonkeyPatch.context() as patch:
        patch.setenv("HOME", str(tmp_path_factory.mktemp("home")))
        for name in ("XDG_CONFIG_HOME", "XDG_CACHE_HOME", "XDG_DATA_HOME", "XDG_STATE_HOME"):
            patch.delenv(name, raising=False)
        yield


@pytest.fixture(scope="session")
def forker() -> Iterator[CommandForker]:
    """What starts `assay` commands as processes, for all tests that start many: it imports the package once."""
    with CommandForker() as started:
        yield started


@pytest.fixture(scope="session")
def test_data() -> Path:
    """The folder of third-party test data; the test is skipped without it unless ASSAY_REQUIRE names `data`."""
    folder = os.environ.get("ASSAY_TEST_DATA")
    if folder and Path(folder).is_dir():
        return Path(folder)
    reason = f"ASSAY_TEST_DATA names no folder of test data (got {folder!r})"
    if "data" in os.environ.get("ASSAY_REQUIRE", "").split(","):
        pytest.fail(reason)
    pytest.skip(reason)
