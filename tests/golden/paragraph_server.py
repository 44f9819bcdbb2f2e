"""A small system with ids of its own: it cuts the handbook's documents at blank lines and serves them over HTTP."""

from __future__ import annotations

import json
import re
import threading
from collections.abc import Iterator
from contextlib import contextmanager
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer
from pathlib import Path
from typing import Any

import yaml

DOCUMENTS = Path("examples/handbook/docs")
WORD = re.compile(r"\w+")


def load_paragraphs() -> list[dict[str, Any]]:
    """Return the sections of all documents, numbered through, with who may see them."""
    rows: list[dict[str, Any]] = []
    for path in sorted(DOCUMENTS.glob("*.md")):
        _, front, body = path.read_text(encoding="utf-8").split("---\n", 2)
        fields = yaml.safe_load(front)
        for text in re.split(r"\n(?=## )", body):
            rows.append({"chunk_id": f"p{len(rows)}", "text": text.strip(), "words": set(WORD.findall(text.lower()))})
            rows[-1] |= {"tenant": fields["tenant"], "roles": fields["roles"]}
    return rows


def search(rows: list[dict[str, Any]], question: str, tenant: str, roles: set[str]) -> list[dict[str, Any]]:
    """Return the sections that a user may see by the share of their rare words in the question, best first."""
    words = set(WORD.findall(question.lower()))
    counts = {word: sum(word in row["words"] for row in rows) for word in words}
    scored = []
    for row in rows:
        if row["tenant"] == tenant and (not row["roles"] or roles & set(row["roles"])):
            score = sum(1 / counts[word] for word in words & row["words"])
            scored.append({"chunk_id": row["chunk_id"], "text": row["text"], "score": score})
    return sorted(scored, key=lambda row: -row["score"])[:10]


@contextmanager
def serving_paragraphs() -> Iterator[str]:
    """Serve `POST /ask` on a free port of this machine, and yield its address."""
    rows = load_paragraphs()

    class Handler(BaseHTTPRequestHandler):
        def do_POST(self) -> None:
            question = json.loads(self.rfile.read(int(self.headers["content-length"])))["question"]
            roles = set((self.headers.get("x-roles") or "").split(","))
            found = search(rows, question, self.headers.get("x-tenant") or "", roles)
            answer = found[0]["text"] if found else "I do not know."
            body = json.dumps({"answer": answer, "retrieved_chunks": found}).encode()
            self.send_response(200)
            self.send_header("content-type", "application/json")
            self.send_header("content-length", str(len(body)))
            self.end_headers()
            self.wfile.write(body)

        def log_message(self, format: str, *arguments: object) -> None:
            pass

    server = ThreadingHTTPServer(("127.0.0.1", 0), Handler)
    thread = threading.Thread(target=server.serve_forever, daemon=True)
    thread.start()
    try:
        yield f"http://127.0.0.1:{server.server_address[1]}"
    finally:
        server.shutdown()
        server.server_close()
        thread.join()
