"""A judge for the demonstration: an endpoint on loopback that repeats what one careful reader said of each answer.

    python -m examples.handbook.recorded_judge [--unread FILE]

scores both recorded configurations, judges them through the protocol of a real endpoint and writes the verdicts to
`judge/verdicts.jsonl`. The readings are in `judge/readings.jsonl`, a line for each request: the digest of its data,
its question, and for each item the label, the words that decide it and the reason.
What the judge leaves to review is settled by `judge/reviews.jsonl`: a line for each item that a person read, with the
digest of what the review sheet shows, the label, and the reason.
A request or an item that nobody has read stops the recording with exit code 1; `--unread` keeps them, to be read.
"""

from __future__ import annotations

import argparse
import hashlib
import json
import os
import re
import subprocess
import sys
import tempfile
import threading
from collections.abc import Iterator, Mapping
from contextlib import contextmanager
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer
from pathlib import Path
from typing import Any

HANDBOOK = Path(__file__).parent
READINGS, VERDICTS = HANDBOOK / "judge/readings.jsonl", HANDBOOK / "judge/verdicts.jsonl"
REVIEWS = HANDBOOK / "judge/reviews.jsonl"
CONFIGS = ("vector-only", "hybrid-rerank")
METRICS = "faithfulness(by=judge),answer_relevance(by=judge)"
RECORDED_AT = "2026-05-04T09:00:00Z"
_SHOWN = ("metric", "question", "answer", "item", "reference", "sources")
"""What a review sheet shows of an item; a decision belongs to exactly that."""
_FENCED = re.compile(r"^<<<\S+ [0-9a-f]{16,}>>>\n(.*)$", re.MULTILINE)
_MARK = re.compile(r"\[\[/?[a-z]{16}\]\]")


def parse_request(body: Mapping[str, Any]) -> dict[str, Any]:
    """Return the data that a request asks about, without marks, which differ between requests of the same data."""
    text = "\n".join(message["content"] for message in body["messages"])
    fenced = _FENCED.search(text)
    assert fenced is not None, "a request without data"
    data: dict[str, Any] = json.loads(_MARK.sub("", fenced[1]))
    data.pop("note", None)
    return data


def make_key(data: Mapping[str, Any]) -> str:
    """Return the digest by which a reading belongs to a request."""
    return hashlib.sha256(json.dumps(data, sort_keys=True, ensure_ascii=False).encode()).hexdigest()[:16]


def read_readings(path: Path = READINGS) -> dict[str, list[dict[str, str]]]:
    """Return the items of each reading by the key of its request."""
    readings = map(json.loads, path.read_text("utf-8").splitlines())
    return {reading["key"]: reading["items"] for reading in readings}


def make_reply(body: Mapping[str, Any], items: list[dict[str, str]]) -> dict[str, Any]:
    """Return the items of a reading as the schema of the request wants them."""
    schema = body["response_format"]["json_schema"]["schema"]["properties"]["items"]["items"]["properties"]
    data = parse_request(body)
    labelled = []
    for name, item in zip(schema["id"]["enum"], items, strict=True):
        reply = {"id": name, "reasoning": item["reasoning"], "label": item["label"]}
        if "source" in schema:
            quote = item.get("quote", "")
            sources = [source["id"] for source in data["context"] if quote and quote in source["text"]]
            reply |= {"source": sources[0] if sources else "", "quote": quote}
        labelled.append(reply)
    return {"items": labelled, "echo": ""}


class RecordedJudge(ThreadingHTTPServer):
    """An endpoint for chat completions that replies with readings; requests without one are kept in `unread`."""

    def __init__(self, readings: Mapping[str, list[dict[str, str]]]) -> None:
        super().__init__(("127.0.0.1", 0), _Handler)
        self.readings = readings
        self.unread: dict[str, dict[str, Any]] = {}

    @property
    def url(self) -> str:
        return f"http://127.0.0.1:{self.server_address[1]}"


class _Handler(BaseHTTPRequestHandler):
    server: RecordedJudge

    def log_message(self, format: str, *args: object) -> None: ...

    def do_POST(self) -> None:
        body = json.loads(self.rfile.read(int(self.headers["Content-Length"])))
        data = parse_request(body)
        items = self.server.readings.get(make_key(data))
        if items is None:
            self.server.unread[make_key(data)] = data
            self.send_error(503)
            return
        content = json.dumps(make_reply(body, items), ensure_ascii=False)
        message = {"index": 0, "finish_reason": "stop", "message": {"role": "assistant", "content": content}}
        usage = {"prompt_tokens": 0, "completion_tokens": 0, "total_tokens": 0}
        reply = json.dumps({"id": "recorded", "model": body["model"], "choices": [message], "usage": usage}).encode()
        self.send_response(200)
        self.send_header("Content-Type", "application/json")
        self.send_header("Content-Length", str(len(reply)))
        self.end_headers()
        self.wfile.write(reply)


@contextmanager
def serve_readings(readings: Mapping[str, list[dict[str, str]]]) -> Iterator[RecordedJudge]:
    """Serve readings until the block ends."""
    server = RecordedJudge(readings)
    threading.Thread(target=server.serve_forever, daemon=True).start()
    try:
        yield server
    finally:
        server.shutdown()
        server.server_close()


def record_verdicts(folder: Path, server: RecordedJudge, target: Path) -> None:
    """Score and judge both configurations in a folder, and export the verdicts."""
    store = folder / "verdicts.sqlite"
    for config in CONFIGS:
        run = folder / config
        _run_assay(
            "score", "--golden", f"{HANDBOOK}/golden/handbook.jsonl", "--corpus", f"{HANDBOOK}/corpus/chunks.jsonl",
            "--outputs", f"{HANDBOOK}/outputs/{config}.jsonl", "--run-dir", str(run), "--no-history",
        )  # fmt: skip
    for config in (*CONFIGS, *CONFIGS):  # the second time for the controls that a first small run had no room for
        _run_assay(
            "judge", "--run", str(folder / config), "--judge", "recorded", "--model", "recorded-reader",
            "--base-url-env", "RECORDED_JUDGE_URL", "--metrics", METRICS, "--votes", "1", "--store", str(store),
            "--attempts", "1", "--control-share", "0.3", "--now", RECORDED_AT, url=server.url,
        )  # fmt: skip
    if server.unread:
        return
    for config in CONFIGS:
        settle_reviews(folder, folder / config, store, server.unread)
    if not server.unread:
        _run_assay("judge", "export", "--store", str(store), "--to", str(target))


def settle_reviews(folder: Path, run: Path, store: Path, unread: dict[str, dict[str, Any]]) -> None:
    """Settle what the judge left to review in a run by the recorded reviews; add what nobody has read to `unread`."""
    sheets = folder / f"review-{run.name}"
    left_open = json.loads(_run_assay("judge", "review", "--run", str(run), "--format", "json"))
    if not left_open["items"]:
        return
    _run_assay("judge", "review", "--run", str(run), "--out", str(sheets))
    reviews = {review["key"]: review for review in map(json.loads, REVIEWS.read_text("utf-8").splitlines())}
    decisions = []
    for row in map(json.loads, (sheets / "review.jsonl").read_text("utf-8").splitlines()):
        shown = {name: row[name] for name in _SHOWN}
        review = reviews.get(make_key(shown))
        if review is None:
            unread[make_key(shown)] = shown
            continue
        decision = {"row_id": row["row_id"], "label": review["label"], "note": review["reason"]}
        decisions.append(json.dumps(decision | {"rater": review["reviewer"]}, ensure_ascii=False) + "\n")
    if unread:
        return
    (sheets / "decided.jsonl").write_text("".join(decisions), "utf-8")
    _run_assay(
        "judge", "settle", str(sheets / "decided.jsonl"), "--key", str(sheets / "key.json"), "--store", str(store),
        "--now", RECORDED_AT,
    )  # fmt: skip


def _run_assay(*arguments: str, url: str = "") -> str:
    """Return what a command prints; end the recording if it failed."""
    command = [sys.executable, "-m", "assay", *arguments]
    done = subprocess.run(  # noqa: S603  # this interpreter with arguments of this file
        command, env={**os.environ, "RECORDED_JUDGE_URL": url}, capture_output=True, text=True, check=False
    )
    if done.returncode not in (0, 1, 3):  # a gate, or what was not measured, is no failure of the recording
        sys.exit(f"{' '.join(arguments)}\n{done.stdout}{done.stderr}")
    return done.stdout


def main() -> int:
    """Record the verdicts, and say which requests nobody has read."""
    parser = argparse.ArgumentParser(description=(__doc__ or "").partition("\n")[0])
    parser.add_argument("--unread", type=Path, help="where requests that nobody has read are written")
    options = parser.parse_args()
    with tempfile.TemporaryDirectory() as folder, serve_readings(read_readings()) as server:
        record_verdicts(Path(folder), server, VERDICTS)
        unread = server.unread
    if options.unread is not None:
        lines = [json.dumps({"key": key, "data": data}, ensure_ascii=False) + "\n" for key, data in unread.items()]
        options.unread.write_text("".join(lines), "utf-8")
    sys.stdout.write(
        f"{len(unread)} requests or items have no reading\n" if unread else f"verdicts written to {VERDICTS}\n"
    )
    return int(bool(unread))


if __name__ == "__main__":
    sys.exit(main())
