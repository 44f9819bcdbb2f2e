"""A small world to calibrate in: answers of two configurations, a judge that errs in known places, and people."""

from __future__ import annotations

import json
from collections.abc import Callable, Sequence
from pathlib import Path
from typing import Any

from assay.calibration.collect_scorer_labels import LabelItem, iterate_label_items
from assay.formats.labels.label_files import encode_labels_jsonl
from assay.judging.rubric_files import load_rubrics
from assay.judging.verdict_files import StoreContents, encode_lines, sort_verdicts
from assay.records.requests import InputOptions
from assay.records.verdicts import ItemVerdict, JudgeIdentity, Label, Verdict
from assay.runs.rescore_run import open_answers

CONFIGS = ("conf-alpha-77", "conf-beta-77")
JUDGE = JudgeIdentity("openai", "local", "secret-judge-9", "other")
SECOND = JudgeIdentity("openai", "local", "second-judge-9", "other")
Say = Callable[[LabelItem], str]


def write_world(folder: Path, cases: int = 60, configs: tuple[str, ...] = CONFIGS) -> InputOptions:
    """Write a golden set and outputs: the first claim of each answer is in its context; odd cases have a second one."""
    golden = [
        {"id": f"case{n:03}", "question": f"How many days of leave in year {n}?", "reference": f"It is {n + 10} days.",
         "behaviour": "answer", "language": "en", "tags": ["even" if n % 2 == 0 else "odd"]}
        for n in range(cases)
    ]  # fmt: skip
    rows = []
    for config in configs:
        for n in range(cases):
            text = f"The leave in year {n} is {n + 10} days."
            answer = text + (" The canteen serves soup on Mondays." if n % 2 else "")
            chunk = {"chunk_id": f"{config}-chunk-{n}", "text": f"{text} It is granted in full."}
            rows.append(
                {"case_id": f"case{n:03}", "config_id": config, "answer": answer,
                 "stages": [{"name": "retrieved", "chunks": [chunk]}, {"name": "context", "chunks": [chunk]}]}
            )  # fmt: skip
    paths = []
    for name, lines in (("golden.jsonl", golden), ("outputs.jsonl", rows)):
        path = folder / name
        path.write_text("".join(json.dumps(line) + "\n" for line in lines), encoding="utf-8")
        paths.append(str(path))
    return InputOptions(golden=paths[0], outputs=[paths[1]])


def flags(where: InputOptions) -> list[str]:
    """Return the words that name a world on the command line."""
    return ["--golden", str(where.golden), "--outputs", *where.outputs]


def truly(each: LabelItem) -> str:
    """What is true of a claim or an answer of this world."""
    if each.text:
        return "not_found" if "canteen" in each.text else "supported"
    return "partly_correct" if "canteen" in str(each.observation.answer) else "correct"


def write_verdict_export(
    path: Path, where: InputOptions, say: Sequence[tuple[JudgeIdentity, Sequence[Say]]], metrics: tuple[str, ...]
) -> str:
    """Write an export in which each judge said of every item what `say` makes of it, one sample for each of them."""
    verdicts = []
    with open_answers(where) as run:
        for metric in metrics:
            items: dict[str, list[LabelItem]] = {}
            for each in iterate_label_items(run, metric, load_rubrics()):
                items.setdefault(each.request.digest, []).append(each)
            for digest, group in items.items():
                for judge, samples in say:
                    for number, one in enumerate(samples):
                        said = tuple(ItemVerdict(each.item, one(each), f"reason {each.item}") for each in group)
                        rubric = group[0].request.rubric
                        verdicts.append(Verdict(digest, judge.digest, number, f"{rubric}@1", said))
    path.write_bytes(
        b"".join(encode_lines(StoreContents(judges=[judge for judge, _ in say], verdicts=sort_verdicts(verdicts))))
    )
    return str(path)


def write_labels(
    path: Path, where: InputOptions, metric: str, say: Say = truly, rater: str = "Lan", **changes: Any
) -> str:
    """Write the labels that a person gave to every item."""
    with open_answers(where) as run:
        found = [
            Label(each.key[0], metric, rater, say(each), config_id=each.key[1], item=each.key[2] or None,
                  text=each.text, **changes)
            for each in iterate_label_items(run, metric, load_rubrics())
        ]  # fmt: skip
    path.write_bytes(b"".join(encode_labels_jsonl(found)))
    return str(path)
