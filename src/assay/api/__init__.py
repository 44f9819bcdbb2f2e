"""The Python interface: the same use cases as the command line, on values as well as files.

A golden set is a path, a `GoldenSet`, a list of dictionaries or cases, or a data frame; outputs are a path, or a list
of paths, dictionaries or observations, or a data frame; a corpus is a path, a `Corpus`, a list of dictionaries or
chunks, or a data frame; a target is a function, an object with `ask` and `search`, a LangChain runnable, a LlamaIndex
engine, or a text as after `--target`.
"""

from __future__ import annotations

from assay.api.compare_systems import compare_all, plan
from assay.api.load_files import load_corpus, load_golden, load_observations
from assay.api.observe_and_run import observe, observe_async, run, run_async
from assay.api.review_answers import calibrate, judge, label_answer, review, settle
from assay.api.score_outputs import compare, explain, gate, score
from assay.api.write_report import report
from assay.calls.plugins import enable_plugins
from assay.metrics.own_metric import metric
from assay.runs.score_result import ScoreResult

__all__ = [
    "ScoreResult", "calibrate", "compare", "compare_all", "explain", "gate", "judge", "label_answer",
    "load_corpus", "load_golden", "load_observations", "metric", "observe", "observe_async", "plan", "report",
    "review", "run", "run_async", "score", "settle",
]  # fmt: skip

enable_plugins()  # like the command line; nothing is looked for until a name is asked for that is not built in
