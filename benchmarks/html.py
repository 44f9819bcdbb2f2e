"""The HTML report of a large run: time to write, size, and time until a browser shows it.

`python -m benchmarks.html [--cases 50000] [--configs 2] [--runs 3]` generates scores of all default metrics, traces of
random words, a fifth of failed cases, and as many case details as the default size limit allows; the bytes are
the same every time. With Chromium on the PATH it opens the file and prints the median times until the first paint and
until the list of all cases can be searched.
"""

from __future__ import annotations

import argparse
import random
import tempfile
import time
from collections.abc import Iterator, Sequence
from pathlib import Path
from statistics import median

import numpy as np

from assay.metrics.catalog import DEFAULT_METRICS, case_column_name, find_metric, parse_metric
from assay.records.golden_set import Case, Evidence
from assay.records.observations import Chunk, Observation, Stage, Usage
from assay.records.release_gates import Decision
from assay.records.scores import CaseChecks, ConfigResult, GoldenInfo, ScoreColumn, ScoreTable, ScoringResult
from assay.report.cases.full_case import CitationMark, Explanation, RankedChunk, RankedStage
from assay.report.page.case_data import CaseDetail, CaseView, ClaimView, HtmlData
from assay.report.page.html_page import render_html_report
from assay.report.page.write_html import read_html_asset
from assay.scoring.slices import find_slices
from assay.scoring.summaries import summarise_table

TAGS = [f"tag-{number:02}" for number in range(40)]
CHECKS = ("retrieval_miss", "context_miss", "bad_citation", "wrong_answer", "wrong_behavior")
WORDS = (
    "ba",
    "ca",
    "nghỉ",
    "phép",
    "ngày",
    "lương",
    "thưởng",
    "hợp",
    "đồng",
    "policy",
    "leave",
    "contract",
    "days",
    "per",
)


def text(seed: random.Random, words: int) -> str:
    """Return random words, about six letters each."""
    return " ".join(seed.choice(WORDS) + str(seed.randrange(400)) for _ in range(words))


def cases_of(count: int) -> tuple[Case, ...]:
    """Return cases with a question of a dozen words, a reference and one or two units of evidence."""
    seed = random.Random(1)
    return tuple(
        Case(
            f"case-{place:06}",
            text(seed, 12),
            reference=text(seed, 30),
            evidence=tuple(Evidence(({"chunk_id": f"doc-{place % 997}:{unit}"},)) for unit in range(1 + place % 2)),
            tags=tuple(seed.sample(TAGS, 3)),
            difficulty="easy" if place % 3 else "hard",
        )
        for place in range(count)
    )


def table_of(config: str, cases: Sequence[Case]) -> ScoreTable:
    """Return scores of every default metric: zeros and ones, ranks, counts or other numbers, some without a score."""
    seed, size = np.random.default_rng(len(config)), len(cases)
    columns = {}
    for name in dict.fromkeys(case_column_name(parse_metric(metric)) for metric in DEFAULT_METRICS):
        metric_row = find_metric(name)
        if metric_row.compute is None:
            continue
        if metric_row.unit == "count":  # whole numbers, most of them 0: leaks, chunks out of date
            values = np.minimum(seed.poisson(0.3, size), metric_row.high).astype(np.float64)
        elif metric_row.unit != "share":
            values = np.minimum(seed.gamma(2.0, 400.0, size), metric_row.high)
        elif name.base in ("rr", "ap", "ndcg", "precision"):
            values = 1 / seed.integers(1, 40, size)
        else:
            values = (seed.random(size) < 0.8).astype(np.float64)
        status = np.where(seed.random(size) < 0.1, 1, 0).astype(np.uint8)
        columns[str(name)] = ScoreColumn(str(name), values, status, status.astype(np.uint16), ("", "not reported"))
    ids = tuple(case.id for case in cases)
    failed = tuple(CaseChecks(ids[row], CHECKS[: 1 + row % 3]) for row in range(0, size, 5))
    return ScoreTable(config, ids, columns, (), failed, versions={"generator": ("small-3",)})


def view_of(case: Case, config: str, place: int) -> CaseView:
    """Return a trace: two stages of ten chunks, five of them the context, and an answer of five claims."""
    seed = random.Random(f"{config} {place}")
    chunks = tuple(
        RankedChunk(rank, f"doc-{seed.randrange(997)}:{rank}", 1 / rank, None, 0, (), text(seed, 50))
        for rank in range(1, 11)
    )
    claims = [text(seed, 12) + "." for _ in range(5)]
    stages = (Stage("retrieved", tuple(Chunk(each.chunk_id) for each in chunks)),)
    seen = Observation(case.id, config, stages=stages, answer=" ".join(claims), usage=Usage(900.0, prompt_tokens=400))
    found = Explanation(
        case,
        config,
        seen,
        (RankedStage("retrieved", chunks, 40.0), RankedStage("rerank", chunks[::-1], 300.0)),
        chunks[:5],
        tuple(CitationMark(each.chunk_id, True, True, True) for each in chunks[:2]),
    )
    return CaseView(
        found, tuple(ClaimView(each, "supported", "rules", "", claims[0][:40], "doc-1:1") for each in claims)
    )


def details_of(cases: Sequence[Case], configs: Sequence[str]) -> Iterator[CaseDetail]:
    """Yield whole cases, the failed ones first."""
    for index in [*range(0, len(cases), 5), *(index for index in range(len(cases)) if index % 5)]:
        yield CaseDetail(index, {config: view_of(cases[index], config, index) for config in configs})


def data_of(count: int, configs: Sequence[str]) -> HtmlData:
    """Return everything that the report of so many cases shows."""
    cases = cases_of(count)
    slices = find_slices(cases, None)
    names = [parse_metric(metric) for metric in DEFAULT_METRICS]
    results = {}
    for config in configs:
        table = table_of(config, cases)
        known = [name for name in names if str(case_column_name(name)) in table.columns and not find_metric(name).parts]
        results[config] = ConfigResult(table, *summarise_table(table, known, slices), Decision("FAIL", ("made up",)))
    info = GoldenInfo("made-up", "1", "sha256:0", count)
    scoring = ScoringResult(info, results, Decision("FAIL", ("made up",)), assay_version="0")
    return HtmlData(scoring, cases, details_of(cases, configs), explain_arguments="--run runs/night")


def show(file: Path, runs: int) -> None:
    """Open the file and print the medians of what a reader waits for."""
    from tests.browser.chromium import browser, find_chromium

    executable = find_chromium()
    if executable is None:
        print("no Chromium on the PATH: nothing was opened")
        return
    painted, ready = [], []
    with (
        tempfile.TemporaryDirectory(ignore_cleanup_errors=True) as folder,
        browser(executable, Path(folder)) as running,
    ):
        for _ in range(runs):
            page = running.open(file)
            page.until("performance.getEntriesByName('first-contentful-paint').length === 1")
            painted.append(page.evaluate("performance.getEntriesByName('first-contentful-paint')[0].startTime"))
            page.until("document.querySelector('.print-only') !== null")
            ready.append(page.evaluate("performance.now()"))
            page.close()
    seconds = f"first paint {median(painted) / 1000:.2f} s, all cases unpacked {median(ready) / 1000:.2f} s"
    print(f"{seconds} (median of {runs})")


def main() -> None:
    """Write, measure and open."""
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--cases", type=int, default=50_000)
    parser.add_argument("--configs", type=int, default=2)
    parser.add_argument("--runs", type=int, default=3)
    options = parser.parse_args()
    data = data_of(options.cases, [f"config-{number}" for number in range(options.configs)])
    with tempfile.TemporaryDirectory() as folder:
        file = Path(folder) / "report.html"
        start = time.perf_counter()
        with file.open("wb") as out:
            out.writelines(render_html_report(data, read_html_asset()))
        took = time.perf_counter() - start
        size = file.stat().st_size / 1e6
        print(f"{options.cases:,} cases, {options.configs} configurations: {size:.1f} MB, written in {took:.1f} s")
        show(file, options.runs)


if __name__ == "__main__":
    main()
