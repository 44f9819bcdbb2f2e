"""Memory of a monitor does not grow with the answers it has gone through: of a week, counts and estimates are left."""

from __future__ import annotations

import gc
import json
import os
import subprocess
import sys
import tracemalloc
from functools import partial
from pathlib import Path
from unittest.mock import patch

import pytest
from tests.trends.production import list_traffic, write_traffic

import assay
from assay.audit.load_answers import iterate_answer_pages
from assay.trends.collect_traffic import Traffic, TrafficCollector

pytestmark = pytest.mark.slow
ROOT = Path(__file__).parents[2]
MOST_BYTES_OF_A_WEEK = 60_000
"""Bytes by which a further week may raise the peak: mostly garbage of its answers that waits to be collected."""
MOST_BYTES_KEPT_OF_A_WEEK = 4_000
"""Bytes that are left of a further week: counts and estimates."""
MEASURE = "import sys; from tests.trends.test_monitor_memory import measure_peaks; measure_peaks(sys.argv[1])"


def measure_peaks(folder: str) -> None:
    """Write to `peaks.json` the peaks of memory while a monitor collects twelve weeks, four, and twelve again, and what
    it keeps of them."""
    peaks: list[int] = []
    kept: list[int] = []
    collect = TrafficCollector.collect

    def collect_traced(collector: TrafficCollector) -> Traffic:
        gc.collect()
        tracemalloc.reset_peak()
        before, _ = tracemalloc.get_traced_memory()
        traffic = collect(collector)
        peaks.append(tracemalloc.get_traced_memory()[1] - before)
        gc.collect()
        kept.append(tracemalloc.get_traced_memory()[0] - before)
        return traffic

    lines = (
        line | {"user_uid": f"user-{number}", "question": f"{line['question']} Contract {number} of {number % 97}?"}
        for number, line in enumerate(list_traffic(84, 12))
    )
    store = str(Path(folder, "audit.sqlite"))
    assay.audit.ingest(store, write_traffic(Path(folder, "traffic.jsonl"), lines))
    metrics = ("refusal_rate", "hallucination_risk(by=rules)")
    small_pages = partial(iterate_answer_pages, page=100)
    tracemalloc.start()  # before the caches fill: what replaces an entry takes the place of what was counted too
    with (
        patch.object(TrafficCollector, "collect", collect_traced),
        patch("assay.trends.collect_traffic.iterate_answer_pages", small_pages),
    ):
        for last in ("2026-03-29", "2026-02-01", "2026-03-29"):  # the first one fills the caches of texts
            assay.monitor(store, first="2026-01-05", last=last, metrics=metrics, budget=60)
    Path(folder, "peaks.json").write_text(json.dumps([peaks, kept]), encoding="utf-8")


def test_what_a_monitor_keeps_does_not_grow_with_the_answers(tmp_path: Path) -> None:
    # In a process of its own: what other tests left behind decides how long garbage waits for its collection.
    environment = os.environ | {"ASSAY_AUDIT_KEY": "a secret of the tests, long enough"}
    words = [sys.executable, "-c", MEASURE, str(tmp_path)]
    measured = subprocess.run(words, cwd=ROOT, env=environment, capture_output=True, text=True, check=False)
    assert measured.returncode == 0, measured.stderr
    peaks, kept = json.loads((tmp_path / "peaks.json").read_text(encoding="utf-8"))
    assert peaks[2] - peaks[1] < 8 * MOST_BYTES_OF_A_WEEK, peaks
    assert kept[2] - kept[1] < 8 * MOST_BYTES_KEPT_OF_A_WEEK, kept
