"""Serve the handbook over HTTP on this machine: `python -m examples.handbook.serve_http --port 0`.

`POST /search` takes `{"query": …, "k": …}`, `POST /ask` takes `{"question": …}`; who asks stands in the headers
`x-tenant`, `x-roles` and `x-position`. It is an example to measure, not a server for a network: it trusts the headers.
"""

from __future__ import annotations

import argparse
import json
import re
import sys
from collections.abc import Sequence
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer
from typing import Any

from examples.handbook.app.endpoint import EndpointError
from examples.handbook.app.pipeline import Handbook
from examples.handbook.app.settings import LONGEST_QUESTION, MOST_RESULTS, add_options, application, identity

LARGEST_BODY = 64 * 1024
_LONE_SURROGATE = re.compile("[\ud800-\udfff]")


class BadRequestError(ValueError):
    """What the caller sent cannot be answered; the message says why."""


def reply(handbook: Handbook, path: str, fields: Any, user: dict[str, object]) -> dict[str, Any]:
    """Return what `/search` or `/ask` answers; raises BadRequestError for a field missing or of the wrong type."""
    if not isinstance(fields, dict):
        raise BadRequestError("the body must be a JSON object")
    name = "query" if path == "/search" else "question"
    text = fields.get(name)
    if not (isinstance(text, str) and text.strip()):
        raise BadRequestError(f"{name} must be a text (got {text!r:.80})")
    if len(text) > LONGEST_QUESTION or _LONE_SURROGATE.search(text):
        raise BadRequestError(f"{name} must be valid Unicode of at most {LONGEST_QUESTION} characters")
    if path == "/ask":
        return handbook.ask(text, user)
    k = fields.get("k", 10)
    if isinstance(k, bool) or not isinstance(k, int) or not 1 <= k <= MOST_RESULTS:
        raise BadRequestError(f"k must be a whole number from 1 to {MOST_RESULTS} (got {k!r:.80})")
    return handbook.search(text, k, user)


class Server(ThreadingHTTPServer):
    """One handbook, one thread for each connection, on the loopback interface only."""

    daemon_threads = True

    def __init__(self, handbook: Handbook, port: int) -> None:
        super().__init__(("127.0.0.1", port), Handler)
        self.handbook = handbook

    @property
    def url(self) -> str:
        """Return where the server listens."""
        return f"http://127.0.0.1:{self.server_address[1]}"


class Handler(BaseHTTPRequestHandler):
    """Reads one JSON object and answers with one."""

    protocol_version = "HTTP/1.1"
    timeout = 30
    server: Server

    def do_POST(self) -> None:
        """Answer `/search` and `/ask`."""
        try:
            if self.path not in ("/search", "/ask"):
                self.close_connection = True  # the body is left unread
                self._send(404, {"error": f"no such path {self.path!r} (expected /search or /ask)"})
                return
            self._send(200, reply(self.server.handbook, self.path, self._body(), self._user()))
        except BadRequestError as error:
            self._send(400, {"error": str(error)})
        except EndpointError as error:
            self._send(502, {"error": str(error)})

    def _user(self) -> dict[str, object]:
        try:
            return identity(*(self.headers.get(name) for name in ("x-tenant", "x-roles", "x-position")))
        except ValueError:
            raise BadRequestError(f"x-position must be a number (got {self.headers.get('x-position')!r})") from None

    def _body(self) -> Any:
        length = self.headers.get("content-length", "")
        if not length.isdecimal() or int(length) > LARGEST_BODY:
            self.close_connection = True
            raise BadRequestError(f"Content-Length must be a number up to {LARGEST_BODY} (got {length!r})")
        try:
            return json.loads(self.rfile.read(int(length)))
        except (ValueError, RecursionError):
            raise BadRequestError("the body is not JSON") from None

    def _send(self, status: int, body: dict[str, Any]) -> None:
        data = json.dumps(body, ensure_ascii=False).encode()
        self.send_response(status)
        self.send_header("Content-Type", "application/json; charset=utf-8")
        self.send_header("Content-Length", str(len(data)))
        if self.close_connection:
            self.send_header("Connection", "close")
        self.end_headers()
        self.wfile.write(data)

    def log_message(self, *_: object) -> None:
        """Keep the terminal quiet: questions are nobody else's business."""


def main(arguments: Sequence[str] | None = None) -> None:
    """Print the address and serve until interrupted."""
    parser = argparse.ArgumentParser(prog="python -m examples.handbook.serve_http", description=__doc__)
    parser.add_argument("--port", type=int, default=8350, help="0 takes a free one")
    add_options(parser)
    options = parser.parse_args(arguments)
    try:
        handbook = application(options)
    except (ValueError, EndpointError) as error:
        parser.error(str(error))
    with Server(handbook, options.port) as server:
        sys.stdout.write(server.url + "\n")
        sys.stdout.flush()
        try:
            server.serve_forever()
        except KeyboardInterrupt:
            return


if __name__ == "__main__":
    main()
