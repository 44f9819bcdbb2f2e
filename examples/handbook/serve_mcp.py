"""Serve the handbook as an MCP server: `python -m examples.handbook.serve_mcp` speaks over stdio, with `--http` over
streamable HTTP on this machine. The tools are `search` and `ask`; they need the extra `mcp`.
"""

from __future__ import annotations

import argparse
import socket
import sys
from collections.abc import Sequence
from importlib.util import find_spec

from examples.handbook.app.endpoint import EndpointError
from examples.handbook.app.settings import add_options, application


def main(arguments: Sequence[str] | None = None) -> None:
    """Serve until the client leaves or the server is interrupted; with `--http`, print the address first."""
    parser = argparse.ArgumentParser(prog="python -m examples.handbook.serve_mcp", description=__doc__)
    parser.add_argument("--http", action="store_true", help="streamable HTTP instead of stdio")
    parser.add_argument("--port", type=int, default=8351, help="with --http; 0 takes a free one")
    add_options(parser)
    options = parser.parse_args(arguments)
    if find_spec("mcp") is None:
        parser.error("the MCP server needs the package mcp: pip install 'mcp>=2.3,<3'")
    from examples.handbook.app.mcp_tools import build

    try:
        server = build(application(options))
    except (ValueError, EndpointError) as error:
        parser.error(str(error))
    if not options.http:
        server.run("stdio")
        return
    import uvicorn  # type: ignore[import-not-found, unused-ignore]

    # The port is taken before its number is printed, so that whoever reads it can connect at once.
    listener = socket.create_server(("127.0.0.1", options.port))
    sys.stdout.write(f"http://127.0.0.1:{listener.getsockname()[1]}/mcp\n")
    sys.stdout.flush()
    app = server.streamable_http_app(json_response=True, stateless_http=True)
    uvicorn.Server(uvicorn.Config(app, log_level="error")).run(sockets=[listener])


if __name__ == "__main__":
    main()
