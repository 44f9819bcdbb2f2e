"""Memory of a monitor does not grow with the answers it has gone through: of a week, counts and estimates are left."""

from __future__ import annotations

import gc
import tracemalloc
from functools import _lru_cache_wrapper, partial
from pathlib import Path

import pytest
from tests.trends.production import list_traffic, write_traffic

import assay
from assay.audit.load_answers import iterate_answer_pages
from assay.trends.collect_traffic import Traffic, TrafficCollector

pytestmark = pytest.mark.slow
MOST_BYTES_OF_A_WEEK = 50_000


def test_what_a_monitor_keeps_does_not_grow_with_the_answers(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    peaks: list[int] = []
    collect = TrafficCollector.collect

    def collect_traced(collector: TrafficCollector) -> Traffic:
        tracemalloc.start()
        try:
            traffic = collect(collector)
            peaks.append(tracemalloc.get_traced_memory()[1])
        finally:
            tracemalloc.stop()
        return traffic

    monkeypatch.setenv("ASSAY_AUDIT_KEY", "a secret of the tests, long enough")
    monkeypatch.setattr(TrafficCollector, "collect", collect_traced)
    monkeypatch.setattr("assay.trends.collect_traffic.iterate_answer_pages", partial(iterate_answer_pages, page=100))
    lines = (
        line | {"user_uid": f"user-{number}", "question": f"{line['question']} Contract {number} of {number % 97}?"}
        for number, line in enumerate(list_traffic(84, 30))
    )
    store = str(tmp_path / "audit.sqlite")
    assay.audit.ingest(store, write_traffic(tmp_path / "traffic.jsonl", lines))
    metrics = ("refusal_rate", "hallucination_risk(by=rules)")
    # A cache that other tests have filled takes in new texts for older ones, which nobody saw being allocated.
    for cached in gc.get_objects():
        if isinstance(cached, _lru_cache_wrapper):
            cached.cache_clear()
    for last in ("2026-03-29", "2026-02-01", "2026-03-29"):  # the first one fills the caches of texts
        assay.monitor(store, first="2026-01-05", last=last, metrics=metrics, budget=60)
    assert peaks[2] - peaks[1] < 8 * MOST_BYTES_OF_A_WEEK, peaks
