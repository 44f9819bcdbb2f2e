"""The overhead of Assay around a target: the same requests through the bare client and through `assay observe`.

    python -m benchmarks.overhead [--cases 1000] [--concurrency 64] [--repeats 3]

The target is a separate process that answers at once, and then after 200 ms. Both sides use httpx2 with the same
number of connections; Assay's side includes the template, the mapping, the checks, the journal and its fsyncs. Each
figure is the best of the repeats; both sides take turns, so that a noisy machine affects them equally.
"""

from __future__ import annotations

import argparse
import asyncio
import json
import resource
import subprocess
import sys
import tempfile
import time
from collections.abc import Awaitable, Callable
from pathlib import Path

import httpx2

from assay.formats.run_files.run_folder import ObservationJournal, RunFolder
from assay.records.golden_set import Case
from assay.records.settings import HttpTargetSettings
from assay.runs.observation_runner import ObservationLimits, ObservationRunner, ObservationTask
from assay.runs.observe_run import ObservationWriter
from assay.targets.http import HttpTarget as Target
from assay.text.escaping import Redactor

SERVER = """
import asyncio, json, sys
delay = float(sys.argv[1])
chunks = [{"chunk_id": f"doc:{n}", "score": 1 - n / 100, "text": "x" * 150} for n in range(10)]
body = json.dumps({"answer": "y" * 300, "stages": [{"name": "retrieved", "chunks": chunks}], "citations": ["doc:0"]})
head = f"HTTP/1.1 200 OK\\r\\ncontent-type: application/json\\r\\ncontent-length: {len(body)}\\r\\n\\r\\n"
reply = (head + body).encode()

class Answer(asyncio.Protocol):
    def connection_made(self, transport):
        self.transport, self.data = transport, b""
    def data_received(self, data):
        self.data += data
        while b"\\r\\n\\r\\n" in self.data:
            head, _, rest = self.data.partition(b"\\r\\n\\r\\n")
            size = int(next(l.split(b":")[1] for l in head.lower().split(b"\\r\\n") if l.startswith(b"content-length")))
            if len(rest) < size:
                return
            self.data = rest[size:]
            if delay:
                asyncio.get_running_loop().call_later(delay, self.transport.write, reply)
            else:
                self.transport.write(reply)

async def main():
    server = await asyncio.get_running_loop().create_server(Answer, "127.0.0.1", 0)
    print(server.sockets[0].getsockname()[1], flush=True)
    await server.serve_forever()

asyncio.run(main())
"""


async def bare(url: str, cases: int, concurrency: int, folder: Path) -> None:
    """Send the same bodies with the client alone, read the replies and decode them."""
    limits = httpx2.Limits(max_connections=concurrency, max_keepalive_connections=concurrency)
    numbers = iter(range(cases))
    async with httpx2.AsyncClient(limits=limits, trust_env=False, timeout=60) as client:

        async def work() -> None:
            for number in numbers:
                reply = await client.post(url, json={"question": f"question {number}"})
                reply.raise_for_status()
                json.loads(reply.content)

        await asyncio.gather(*(work() for _ in range(concurrency)))


async def assay(url: str, cases: int, concurrency: int, folder: Path) -> None:
    """Observe the cases through the HTTP target, the runner and the journal."""
    target = Target("system", HttpTargetSettings(url=url), concurrency, typed=True)
    with RunFolder(folder) as run:
        run.write_manifest({})
        journal = ObservationJournal(run)
        runner = ObservationRunner(
            target,
            ObservationLimits(target.operations, concurrency=concurrency),
            ObservationWriter(journal, Redactor([])),
        )
        tally = await runner.run([ObservationTask(Case(f"c{number}", f"question {number}")) for number in range(cases)])
        journal.close()
        await target.aclose()
    if (tally.done, tally.failed) != (cases, 0):
        raise SystemExit(f"not all observed: {tally}")


Side = Callable[[str, int, int, Path], Awaitable[None]]


def timed(side: Side, url: str, cases: int, concurrency: int) -> tuple[float, float]:
    """Return the wall and CPU seconds of one side."""
    with tempfile.TemporaryDirectory() as folder:
        wall, cpu = time.perf_counter(), time.process_time()
        asyncio.run(side(url, cases, concurrency, Path(folder) / "run"))  # type: ignore[arg-type]
        return time.perf_counter() - wall, time.process_time() - cpu


def main() -> int:
    """Print the figures; the exit status is 1 where Assay reaches less than 80% of the bare client."""
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0] if __doc__ else None)
    parser.add_argument("--cases", type=int, default=1000)
    parser.add_argument("--concurrency", type=int, default=64)
    parser.add_argument("--repeats", type=int, default=3)
    options = parser.parse_args()
    missed = False
    print(f"{options.cases} cases at concurrency {options.concurrency}, best of {options.repeats}")
    for delay in (0.0, 0.2):
        server = subprocess.Popen([sys.executable, "-c", SERVER, str(delay)], stdout=subprocess.PIPE, text=True)
        assert server.stdout is not None
        url = f"http://127.0.0.1:{server.stdout.readline().strip()}/ask"
        best: dict[str, tuple[float, float]] = {}
        for _ in range(options.repeats):
            for name, side in (("bare httpx2", bare), ("assay", assay)):
                timing = timed(side, url, options.cases, options.concurrency)
                best[name] = min(best.get(name, timing), timing)
        server.kill()
        server.communicate()
        for name, (wall, cpu) in best.items():
            rate = options.cases / wall
            print(f"  {delay * 1000:3.0f} ms  {name:12} {rate:7.0f} cases/s  {wall:6.2f} s  CPU {cpu:5.2f} s")
        share = best["bare httpx2"][0] / best["assay"][0]
        print(f"  {delay * 1000:3.0f} ms  assay reaches {share:.0%} of the bare client")
        missed = missed or share < 0.8
    peak = resource.getrusage(resource.RUSAGE_SELF).ru_maxrss / 1024
    print(f"  peak memory of both sides together {peak:.0f} MiB")
    return int(missed)


if __name__ == "__main__":
    sys.exit(main())
