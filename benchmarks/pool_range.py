"""How often the range of `golden pool` holds the value with all labels: `python -m benchmarks.pool_range [WORLDS]`.

Worlds with known truth are drawn: 40 questions, 200 chunks, two systems that rank 10 chunks each. Each chunk truly has
the fact, is background or is unrelated, in shares that differ from world to world; of each question one chunk with the
fact is labelled. In every other world the systems have some skill, in the others anything from always wrong to always
right. The range that `pool` gives without the other labels is compared with the value that merging the true grades
gives. Printed are, for each metric, in how many of the worlds and systems the value lies in the range, by how much it
misses it, and how wide the range is.
"""

from __future__ import annotations

import random
import sys
import tempfile
from collections import defaultdict
from pathlib import Path
from typing import NamedTuple

from msgspec import json

from assay.cli import main as run_assay
from assay.formats.golden_files import load_golden, write_golden
from assay.golden.pooling.collect_pool import POOL_METRICS, PoolRequest, pool_runs, score_graded_rows
from assay.golden.pooling.pooled_chunks import ChunkGrade, merge_grades
from assay.records.golden_set import Case, Evidence, GoldenSet
from assay.records.observations import Chunk, Observation, Stage
from assay.stats.intervals import wilson_interval

QUESTIONS, CHUNKS, RANKED = 40, 200, 10


class PoolWorld(NamedTuple):
    """A labelled set, what two systems ranked, and the true grade of each chunk for each case."""

    golden: GoldenSet
    rows: dict[str, list[Observation]]
    truth: dict[tuple[str, str], int]


def draw_world(seed: int) -> PoolWorld:
    """Return a world with shares of relevant chunks, and skills of systems, of its own."""
    chance = random.Random(seed)
    fact_share, background_share = chance.uniform(0, 0.15), chance.uniform(0, 0.3)
    cases: list[Case] = []
    truth: dict[tuple[str, str], int] = {}
    rows: dict[str, list[Observation]] = {"a": [], "b": []}
    low, high = (0.0, 3.0) if seed % 2 else (-9.0, 9.0)
    skills = {config: chance.uniform(low, high) for config in rows}
    for number in range(QUESTIONS):
        name, labelled = f"q{number}", f"c{chance.randrange(CHUNKS)}"
        grades = {f"c{chunk}": _draw_grade(chance, fact_share, background_share) for chunk in range(CHUNKS)}
        grades[labelled] = 3
        cases.append(Case(name, f"Question {number}?", evidence=(Evidence(({"chunk_id": labelled},)),), reference="x"))
        truth |= {(name, chunk): grade for chunk, grade in grades.items()}
        for config, skill in skills.items():
            noisy = {chunk: skill * grade / 3 + chance.gauss(0, 1) for chunk, grade in grades.items()}
            ranking = sorted(noisy, key=lambda chunk: -noisy[chunk])[:RANKED]
            stage = Stage("retrieved", tuple(map(Chunk, ranking)))
            rows[config].append(Observation(name, answer="x", config_id=config, stages=(stage,)))
    return PoolWorld(GoldenSet(tuple(cases), judgments="partial"), rows, truth)


def _draw_grade(chance: random.Random, fact_share: float, background_share: float) -> int:
    draw = chance.random()
    return 3 if draw < fact_share else chance.choice((1, 2)) if draw < fact_share + background_share else 0


def measure(worlds: int) -> dict[str, list[tuple[float, float, float]]]:
    """Return the low end, the true value and the high end of each metric, for each world and system."""
    found: dict[str, list[tuple[float, float, float]]] = defaultdict(list)
    for seed in range(worlds):
        world = draw_world(seed)
        with tempfile.TemporaryDirectory() as folder:
            golden, outputs, run = (str(Path(folder, name)) for name in ("golden.jsonl", "outputs.jsonl", "run"))
            write_golden(world.golden, golden)
            lines = [json.encode(row) + b"\n" for rows in world.rows.values() for row in rows]
            Path(outputs).write_bytes(b"".join(lines))
            words = ["score", "--golden", golden, "--outputs", outputs, "--run-dir", run, "--no-history"]
            run_assay([*words, "--format", "json"])
            report = pool_runs(PoolRequest([run], depth=RANKED))
            grades = [
                ChunkGrade(item.case, item.chunk, world.truth[item.case, item.chunk], "truth") for item in report.chunks
            ]
            judged, conflicts = merge_grades(load_golden(golden).golden, grades, None)
            assert not conflicts
            for share in report.configs:
                true = score_graded_rows(judged, None, world.rows[share.config], list(POOL_METRICS))
                for row in share.metrics:
                    values = true[row.metric].values()
                    assert row.low is not None and row.high is not None
                    found[row.metric].append((row.low, sum(values) / len(values), row.high))
    return found


def main() -> None:
    """Print how often the range holds the truth."""
    worlds = int(sys.argv[1]) if sys.argv[1:] else 40
    for metric, rows in sorted(measure(worlds).items()):
        held = sum(low - 1e-9 <= true <= high + 1e-9 for low, true, high in rows)
        miss = max(max(low - true, true - high, 0.0) for low, true, high in rows)
        width = sum(high - low for low, _, high in rows) / len(rows)
        bounds = wilson_interval(held, len(rows))
        share = f"{held}/{len(rows)} = {held / len(rows):.3f} [{bounds.low:.3f}, {bounds.high:.3f}]"
        print(f"{metric}: the truth lies in the range {share}, misses it by at most {miss:.4f}; mean width {width:.3f}")


if __name__ == "__main__":
    main()
