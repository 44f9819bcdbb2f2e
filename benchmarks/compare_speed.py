"""Time and memory of a comparison of many cases: `python -m benchmarks.compare_speed [--cases N]`.

Two exchangeable systems, all default metrics, all slices. Prints the seconds of the comparison itself and of the
reports, and the peak memory of the process, in which the score tables take their part.
"""

from __future__ import annotations

import argparse
import resource
import time

import numpy as np

from assay.comparison.compare_scores import decide_side
from assay.comparison.paired_comparison import compare_snapshots
from assay.report.exports.markdown import ReportMeta, render_comparison_markdown
from assay.report.screen.comparison_screen import render_comparison_screen
from benchmarks.comparison_world import METRICS, draw_sides, make_snapshot, make_world


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--cases", type=int, default=50_000)
    count = parser.parse_args().cases
    world = make_world(count, clustered=True, seed=1)
    generator = np.random.Generator(np.random.PCG64(1))
    baseline, candidate = (
        make_snapshot(world, scores, name) for name, scores in zip("ab", draw_sides(generator, world, 2), strict=True)
    )
    start = time.process_time()
    comparison = compare_snapshots(baseline, candidate)
    compared = time.process_time()
    decision = decide_side(candidate, None)
    render_comparison_screen(comparison, decision)
    render_comparison_markdown(comparison, decision, ReportMeta())
    done = time.process_time()
    peak = resource.getrusage(resource.RUSAGE_SELF).ru_maxrss / 1024
    print(f"{count} cases × {len(METRICS)} metrics, {len(comparison.slices)} slices")
    print(
        f"comparison {compared - start:.1f} CPU s, screen and Markdown {done - compared:.1f} CPU s, peak {peak:.0f} MB"
    )


if __name__ == "__main__":
    main()
