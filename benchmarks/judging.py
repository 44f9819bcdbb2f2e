"""The cost of judging: 1,000 judgements at concurrency 64 against a local server that answers after 200 ms.

    python -m benchmarks.judging [--judgements 1000] [--concurrency 64] [--repeats 3] [--peers PYTHON]

Everything that `assay judge` does with a request is included: rendering, guards, parsing, intents, and verdicts that
are on the disk before they count. Targets: within 10% of the ideal (judgements × 0.2 s / concurrency), at most 0.8 CPU
seconds for 1,000, and a replay of 1,000 from the verdict store under 0.2 s. With `--peers`, the Python of an
environment with other tools, the same number of judgements is requested at 0 ms through each tool installed there.
"""

from __future__ import annotations

import argparse
import asyncio
import gc
import subprocess
import sys
import tempfile
import time
from collections.abc import Iterator
from contextlib import closing, contextmanager
from pathlib import Path
from typing import NamedTuple

from assay.cli import GC_THRESHOLD
from assay.formats.settings_file import find_secrets
from assay.judging.budget import Budget
from assay.judging.call_scheduler import JudgingLimits, JudgingRunner
from assay.judging.choose_judge import make_secret_filter
from assay.judging.http_client import HttpTransport
from assay.judging.llm_judge import LLMJudge, build_judge_identity
from assay.judging.provider import HttpReply, HttpRequest
from assay.judging.rubric_files import Rubrics, load_rubrics
from assay.judging.verdict_store import SqliteVerdictStore, read_store
from assay.metrics.judged.judge_requests import find_rubric
from assay.metrics.judged.vote_folding import fold_votes
from assay.records.verdicts import JudgeRequest
from assay.text.escaping import Redactor
from benchmarks.judging_peers import NAMES, passages

ROOT = Path(__file__).resolve().parents[1]
DELAY = 0.2
CPU_BAR, REPLAY_BAR, WALL_BAR = 0.8, 0.2, 1.1


class Timed(NamedTuple):
    """Seconds of one repeat."""

    wall: float
    cpu: float


def requests(count: int, rubrics: Rubrics) -> list[JudgeRequest]:
    """Return requests about one claim each, with a context of three passages, about 1.5 kB."""
    rubric = find_rubric(rubrics, "support", "en")
    judge_requests = []
    for number in range(count):
        question, answer, context = passages(number)
        inputs = {
            "claims": [{"id": "c1", "text": answer}],
            "question": question,
            "context": [{"id": f"s{index}", "text": text} for index, text in enumerate(context)],
        }
        labels = tuple(label.name for label in rubric.labels)
        judge_requests.append(
            JudgeRequest("support", rubric.version, rubric.hash, "en", inputs, ("c1",), labels, rubric.quotes)
        )
    return judge_requests


async def judged(url: str, judge_requests: list[JudgeRequest], rubrics: Rubrics, path: Path, concurrency: int) -> Timed:
    """Ask everything through the judge, the scheduler and the verdict store."""
    wall, cpu = time.perf_counter(), time.process_time()
    budget = Budget()
    transport = HttpTransport(concurrency)
    with closing(SqliteVerdictStore(path)) as store:
        redact = make_secret_filter(Redactor(find_secrets()))
        send = budget.count_calls(transport.send)
        identity = build_judge_identity("openai", "bench-1", "local")
        judge = LLMJudge(
            identity, rubrics, send, base_url=url, redact=redact, keep=store.keep_rendered, close=transport.aclose
        )
        store.register_judge(judge.identity)
        limits = JudgingLimits(concurrency)
        runner = JudgingRunner(judge, store, lambda _, samples: not samples, limits, budget)
        await runner.run(judge_requests)
        await judge.aclose()
    spent = Timed(time.perf_counter() - wall, time.process_time() - cpu)
    if (runner.tally.asked, dict(runner.tally.unscored)) != (len(judge_requests), {}):
        raise SystemExit(f"not all judged: {runner.tally}")
    return spent


async def bare(url: str, asked: list[JudgeRequest], rubrics: Rubrics, concurrency: int) -> Timed:
    """Post the same bodies with the client alone, and read nothing but their bytes."""
    bodies: list[bytes] = []
    transport = HttpTransport(concurrency)

    async def caught(request: HttpRequest) -> HttpReply:
        bodies.append(request.body)
        return await transport.send(request)

    identity = build_judge_identity("openai", "bench-1", "local")
    await LLMJudge(identity, rubrics, caught, base_url=url).ask(asked[0], 0)
    wall, cpu = time.perf_counter(), time.process_time()
    numbers = iter(range(len(asked)))

    async def work() -> None:
        for _ in numbers:
            await transport.send(HttpRequest(f"{url}/chat/completions", {}, bodies[0]))

    await asyncio.gather(*(work() for _ in range(concurrency)))
    await transport.aclose()
    return Timed(time.perf_counter() - wall, time.process_time() - cpu)


def replayed(path: Path, judge_requests: list[JudgeRequest], rubrics: Rubrics) -> Timed:
    """Read all verdicts of the store and fold the votes on every request."""
    wall, cpu = time.perf_counter(), time.process_time()
    contents = read_store(path)
    (judge,) = contents.judges
    by_request = contents.verdicts[judge.digest]
    rubric = find_rubric(rubrics, "support", "en")
    rulings = [fold_votes(by_request[request.digest], rubric) for request in judge_requests]
    spent = Timed(time.perf_counter() - wall, time.process_time() - cpu)
    if sum(ruling.scored for ruling in rulings) != len(judge_requests):
        raise SystemExit("not all replayed")
    return spent


@contextmanager
def server(delay: float) -> Iterator[str]:
    """Yield the address of a judge's endpoint in a process of its own."""
    command = [sys.executable, str(ROOT / "tests/support/judge_server.py"), "--delay-ms", str(delay * 1000)]
    process = subprocess.Popen(command, stdout=subprocess.PIPE, text=True, cwd=ROOT)
    assert process.stdout is not None
    try:
        yield f"{process.stdout.readline().strip()}/v1"
    finally:
        process.terminate()
        process.communicate()


def best(asked: list[JudgeRequest], rubrics: Rubrics, delay: float, concurrency: int, repeats: int) -> list[Timed]:
    """Return the best repeat of judging, of replaying and of the client alone, taken in turns."""
    timings: list[list[Timed]] = [[], [], []]
    with server(delay) as url, tempfile.TemporaryDirectory() as folder:
        for number in range(repeats):
            path = Path(folder) / f"{number}.sqlite"
            timings[0].append(asyncio.run(judged(url, asked, rubrics, path, concurrency)))
            timings[1].append(replayed(path, asked, rubrics))
            timings[2].append(asyncio.run(bare(url, asked, rubrics, concurrency)))
    return [min(repeats_of_side) for repeats_of_side in timings]


def peers(python: str, count: int, concurrency: int) -> None:
    """Ask the same number of judgements at 0 ms through every tool of an environment, each in a process of its own."""
    command = [python, "-m", "benchmarks.judging_peers"]
    endpoint = subprocess.Popen([*command, "serve"], stdin=subprocess.PIPE, stdout=subprocess.PIPE, text=True, cwd=ROOT)
    assert endpoint.stdout is not None
    url = endpoint.stdout.readline().strip()
    for name in NAMES:
        arguments = [*command, name, url, str(count), str(concurrency)]
        process = subprocess.run(arguments, capture_output=True, text=True, cwd=ROOT, check=False)
        output = (process.stdout if process.returncode == 0 else process.stderr).strip().splitlines() or [
            "nothing was said"
        ]
        print(f"  {name:16} {output[-1] if process.returncode == 0 else f'left out: {output[-1]}'}", flush=True)
    endpoint.communicate()


def main() -> int:
    """Print the figures; the exit code is 1 if a target is missed."""
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0] if __doc__ else None)
    parser.add_argument("--judgements", type=int, default=1000)
    parser.add_argument("--concurrency", type=int, default=64)
    parser.add_argument("--repeats", type=int, default=3)
    parser.add_argument("--peers", metavar="PYTHON")
    options = parser.parse_args()
    gc.set_threshold(GC_THRESHOLD)  # as the command line does
    rubrics = load_rubrics()
    asked = requests(options.judgements, rubrics)
    print(f"{options.judgements} judgements at concurrency {options.concurrency}, best of {options.repeats}")
    thousands = options.judgements / 1000
    judging, replay, client = best(asked, rubrics, DELAY, options.concurrency, options.repeats)
    ideal = options.judgements * DELAY / options.concurrency
    share, cpu = judging.wall / ideal, judging.cpu / thousands
    print(f"  200 ms: {judging.wall:.2f} s ({share:.1%} of the ideal {ideal:.3f} s; bar {WALL_BAR:.0%})")
    print(f"  200 ms: {cpu:.2f} CPU s per 1,000 (bar {CPU_BAR})")
    print(
        f"  200 ms: {client.wall:.2f} s and {client.cpu / thousands:.2f} CPU s for the client alone, at the same time"
    )
    print(f"  replay: {replay.wall:.3f} s (bar {REPLAY_BAR * thousands:.2f} s)")
    at_once, _, client = best(asked, rubrics, 0.0, options.concurrency, options.repeats)
    print(f"  assay at 0 ms: {at_once.wall:.2f} s, {at_once.cpu / thousands:.2f} CPU s per 1,000")
    print(f"  client alone at 0 ms: {client.wall:.2f} s, {client.cpu / thousands:.2f} CPU s per 1,000")
    if options.peers:
        peers(options.peers, options.judgements, options.concurrency)
    missed = share > WALL_BAR or cpu > CPU_BAR or replay.wall > REPLAY_BAR * thousands
    return int(missed)


if __name__ == "__main__":
    sys.exit(main())
