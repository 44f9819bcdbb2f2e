"""Every number and every sentence on a decision is the same in all outputs of one run as in its JSON report."""

from __future__ import annotations

import csv
import html
import json
import re
from collections import Counter
from itertools import pairwise
from pathlib import Path
from typing import Any

import pytest
from tests.report.counted_runs import (
    RECIPES,
    Outputs,
    is_share,
    make_outputs,
    read_cell,
    read_counts,
    read_decision_lines,
    read_screen_table,
    read_tables,
    run_command,
    show_cell,
    unescape,
    write_inputs,
    write_lines,
)

from assay.records.findings import Comparison, ComparisonSide, MetricChange
from assay.report.page.summary import build_comparison_data
from assay.report.wording.change_values import format_gain, format_sides

pytestmark = pytest.mark.slow
Row = dict[str, Any]
CELLS = ("reached_good", "reached_bad", "not_reached_good", "not_reached_bad", "no_cell")


@pytest.fixture(scope="module", params=RECIPES)
def outputs(request: pytest.FixtureRequest, tmp_path_factory: pytest.TempPathFactory) -> Outputs:
    """The outputs of one run of each kind."""
    return make_outputs(tmp_path_factory.mktemp("counted"), RECIPES[request.param])


def list_expected_errors(outputs: Outputs, config: str) -> Counter[str]:
    """Return how many observations have each kind of error, told by the first words of its text."""
    counts: Counter[str] = Counter()
    for failure in outputs.report["configs"][config]["target_errors"]:
        counts[failure["message"].partition(":")[0]] += failure["observations"]
    return counts


def find_configs_lines(outputs: Outputs, lines: list[str]) -> dict[str, str]:
    """Return lines that each begin with a configuration, by it; of a single configuration they name none."""
    if len(outputs.configs) == 1:
        assert 1 == len(lines)
        return {outputs.configs[0]: lines[0]}
    return {config: line for config in outputs.configs for line in lines if line.startswith(f"{config}: ")}


def test_the_outcome_is_the_same_everywhere(outputs: Outputs) -> None:
    report = outputs.report
    decided = {config: (report["configs"][config]["decision"] or {}).get("outcome") for config in outputs.configs}
    screens = {
        name: {config: line for config, (line, _) in read_decision_lines(text, outputs.configs).items()}
        for name, text in (("screen", outputs.screen), ("verbose", outputs.verbose))
    }
    suites = {suite.attrib["name"]: suite for suite in outputs.junit}
    junit = {
        config: next(item.attrib["value"] for item in suites[f"{config}: gate"].iter("property"))
        for config in outputs.configs
    }
    page = {config["id"]: config["outcome"] for config in outputs.page["configs"]}
    by_config = {**screens, "junit": junit, "page": page}
    assert dict.fromkeys(by_config, decided) == by_config
    (run,) = [row for row in read_screen_table(outputs.runs, "Runs") if row["Run"] == "run"]
    outcomes = {
        "markdown": re.findall(r"\*\*Decision: (\w+)\*\*", outputs.markdown)[0],
        "markdown summary": next(
            row["Value"] for row in read_tables(outputs.markdown)["Summary"] if row["Field"] == "Decision"
        ),
        "page": outputs.page["outcome"],
        "job summary": re.findall(r"^## \S+ Assay: (\w+)", outputs.job_summary)[0],
        "annotations": (re.findall(r"title=assay%3A (\w+)::", outputs.annotations) or ["none"])[0],
        "runs": run["Decision"],
        "python": repr(outputs.result).partition(":")[0],
        "notebook": re.findall(r"<b>(\w+)</b>", outputs.result._repr_html_())[0],
    }
    if "--limit" in outputs.recipe.options:  # Python scores what it is given
        outcomes |= dict.fromkeys(("python", "notebook"), report["decision"]["outcome"])
    assert dict.fromkeys(outcomes, report["decision"]["outcome"]) == outcomes


def test_the_reasons_are_the_same_in_the_same_order(outputs: Outputs) -> None:
    reasons = outputs.report["decision"]["reasons"]
    listed = {
        "markdown": [line[2:] for line in unescape(outputs.markdown).splitlines() if line.startswith("- ")],
        "job summary": [line[2:] for line in unescape(outputs.job_summary).splitlines() if line.startswith("- ")],
        "page": outputs.page["reasons"],
        "notebook": [html.unescape(line) for line in re.findall(r"<li>(.*?)</li>", outputs.result._repr_html_())],
    }
    if len(outputs.configs) == 1:
        for name, text in (("screen", outputs.screen), ("verbose", outputs.verbose)):
            listed[name] = read_decision_lines(text, outputs.configs)[outputs.configs[0]][1]
    if "--limit" in outputs.recipe.options:  # Python scores what it is given
        del listed["notebook"]
    for name, lines in listed.items():
        plain = [line.removeprefix("🔴 **").removesuffix("**") for line in lines]
        places = [plain.index(reason) for reason in reasons if reason in plain]
        assert sorted(places) == places, name
        if name in ("page", "verbose"):
            assert len(reasons) == len(places), name
        if len(outputs.configs) == 1 and reasons:
            before = plain[: min(places)]
            assert all(line.startswith("target error ×") for line in before), name


def test_the_counts_of_cases_are_the_same_everywhere(outputs: Outputs) -> None:
    expected = {config: outputs.report["configs"][config]["counts"] for config in outputs.configs}
    states = {
        config["id"]: {
            "cases": config["cases"],
            "passed": config["states"]["passed"],
            "failed": config["states"]["failed"] + config["states"]["leaked"] + config["states"]["missing"],
            "unknown": config["states"]["unknown"],
        }
        for config in outputs.page["configs"]
    }
    rows = read_screen_table(outputs.verbose, "Cases")
    table = {row["Config"]: {name.lower(): int(row[name]) for name in row if name != "Config"} for row in rows}
    sentences = [
        unescape(line)[2:]
        for line in outputs.markdown.splitlines()
        if re.match(r"- .*?\d+ of \d+ cases? (?:failed|without an answer)", unescape(line))
    ]
    markdown = {config: read_counts(line) for config, line in find_configs_lines(outputs, sentences).items()}
    job_lines = re.findall(r"^Cases: (.*)", unescape(outputs.job_summary), re.MULTILINE)[0].split("; ")
    job = {config: read_counts(line) for config, line in zip(outputs.configs, job_lines, strict=True)}
    outcomes = csv.DictReader(outputs.csv.splitlines())
    by_csv: dict[str, Counter[str]] = {config: Counter() for config in outputs.configs}
    for row in outcomes:
        by_csv[row["config_id"]][row["outcome"]] += 1
        by_csv[row["config_id"]]["cases"] += 1
    junit = {}
    for config in outputs.configs:
        (suite,) = [suite for suite in outputs.junit if suite.attrib["name"] == f"{config}: cases"]
        skipped = [item.attrib["message"] for item in suite.iter("skipped")]
        unknown = sum(message.startswith("unknown: ") for message in skipped)
        tests = int(suite.attrib["tests"])
        failed = int(suite.attrib["failures"]) + int(suite.attrib["errors"]) + len(skipped) - unknown
        junit[config] = {"cases": tests, "failed": failed, "unknown": unknown, "passed": tests - failed - unknown}
    found: dict[str, Any] = {
        "page": states, "verbose": table, "markdown": markdown, "job summary": job, "csv": by_csv, "junit": junit,
    }  # fmt: skip
    short = re.findall(r"^Cases: (.*)", outputs.screen, re.MULTILINE)
    if short:  # nothing is said of cases none of which failed or is unknown
        found["screen"] = {
            config: read_counts(text) for config, text in zip(outputs.configs, short[0].split("; "), strict=True)
        }
    else:
        assert not any(counts["failed"] + counts["unknown"] for counts in expected.values())
    if not outputs.recipe.options or "--by" in outputs.recipe.options:
        rows_of = {config: [case for case in outputs.result.cases if case.config == config] for config in expected}
        found["python"] = {
            config: {
                "cases": len(cases),
                "failed": sum(case.has_failed for case in cases),
                "unknown": sum(case.outcome == "unknown" for case in cases),
            }
            for config, cases in rows_of.items()
        }
    for name, by_config in found.items():
        assert list(expected) == sorted(by_config), name
        for config, counts in by_config.items():
            for key, count in counts.items():
                assert expected[config][key] == count, (name, config, key)


TITLES = {
    "Answer correctness": "correct_answer",
    "Recall@10": "recall@10",
    "Context recall": "context_recall",
    "Behaviour": "behaviour",
    "MRR@10": "rr@10",
    "Citation correctness": "citation_correctness(by=rules)",
}


def collect_summaries(outputs: Outputs) -> dict[str, dict[str, Row]]:
    """Return the summaries of the JSON by configuration and metric."""
    return {config: outputs.report["configs"][config]["summary"] for config in outputs.configs}


def test_the_screens_have_the_values_and_counts_of_the_json(outputs: Outputs) -> None:
    summaries = collect_summaries(outputs)
    table = read_screen_table(outputs.verbose, "Metrics (value, 95% interval, cases scored)")
    for row in filter(lambda row: is_share(row["Metric"]), table):
        for config in outputs.configs:
            assert show_cell(summaries[config][row["Metric"]]) == read_cell(row[config]), (row["Metric"], config)
    compared = len(table)
    for line in outputs.screen.splitlines():
        title, _, cells = line.partition("  ")
        if title not in TITLES:
            continue
        # The columns of several configurations are as wide as the widest cell, and two spaces lie between them.
        by_config = zip(outputs.configs, re.split(r"\s{2,}", cells.strip()), strict=True)
        for config, cell in by_config:
            expected = show_cell(summaries[config][TITLES[title]], says_errors=False)
            assert expected == read_cell(cell, says_errors=False), line
            compared += 1
    assert compared > 10 or "nothing was measured" in str(outputs.report["decision"]["reasons"])


def test_the_tables_of_markdown_have_the_values_and_counts_of_the_json(outputs: Outputs) -> None:
    summaries, tables = collect_summaries(outputs), read_tables(outputs.markdown)
    for config in outputs.configs:
        rows = tables.get(f"Metrics of gates, judges and plugins: {config}", tables.get(f"All metrics: {config}", []))
        for row in filter(lambda row: is_share(row["Metric"]), rows):
            summary = summaries[config][row["Metric"]]
            shown = show_cell(summary)
            assert (shown.value if shown else "n/a") == row["Value"], row
            assert (summary["scored"], summary["errors"]) == (int(row["Scored"]), int(row["Errors"])), row
            unknown = summary.get("unknown", {}).get("cases", 0)
            assert summary["not_applicable"] - unknown - summary.get("unchecked", 0) == int(row["n/a"]), row
    for headlines in (tables["Headline metrics"], read_tables(outputs.job_summary)["Headline metrics"]):
        for row in filter(lambda row: row["Metric"] in TITLES, headlines):
            for config in outputs.configs:
                assert show_cell(summaries[config][TITLES[row["Metric"]]]) == read_cell(row[config]), row


def test_the_data_of_the_page_have_the_values_and_counts_of_the_json(outputs: Outputs) -> None:
    summaries = collect_summaries(outputs)
    for metric in filter(lambda metric: is_share(metric["name"]), outputs.page["metrics"]):
        for config, by in zip(outputs.configs, metric["by"], strict=True):
            summary = summaries[config][metric["name"]]
            shown = show_cell(summary)
            worst = summary["mean_worst"] if summary["errors"] else None
            assert {
                "text": shown.value if shown else None,
                "n": summary["scored"],
                "errors": summary["errors"],
                "not_applicable": summary["not_applicable"],
                "unknown": summary.get("unknown", {}).get("cases", 0),
                "unchecked": summary.get("unchecked", 0),
                "worst": f"{worst:z.3f}" if worst is not None else None,
            }.items() <= by.items(), metric


def test_python_has_the_numbers_of_the_json(outputs: Outputs) -> None:
    if "--limit" in outputs.recipe.options:
        return
    for config in outputs.configs:
        summaries = outputs.report["configs"][config]["summary"]
        for line in repr(outputs.result).splitlines()[1:-2]:
            metric, _, cells = line.partition("  ")
            if metric in summaries and is_share(metric) and len(outputs.configs) == 1:
                assert show_cell(summaries[metric]) == read_cell(cells.strip()), line
        for metric, summary in outputs.result.summary(config).items():
            expected = summaries[metric]
            assert (expected["scored"], expected["errors"], expected["not_applicable"]) == (
                summary.scored,
                summary.errors,
                summary.not_applicable,
            )
            assert ("unknown" in expected) == (summary.unknown is not None)
            assert (None if summary.unknown else expected["value"]) == summary.value
    columns = outputs.result.to_columns()
    for config in outputs.configs:
        rows = [row for row, name in enumerate(columns["config"]) if name == config]
        for metric in ("recall@10", "correct_answer", "behaviour"):
            held = columns.get(metric, [None] * len(columns["case_id"]))  # a column that holds nothing is left out
            scores = [held[row] for row in rows if held[row] is not None]
            summary = outputs.report["configs"][config]["summary"][metric]
            assert summary["scored"] == len(scores)
            if scores:
                assert pytest.approx(summary["value"]) == sum(scores) / len(scores)


def test_the_cells_of_evidence_and_answers_are_the_same_everywhere(outputs: Outputs) -> None:
    expected = {config: outputs.report["configs"][config]["outcomes"] for config in outputs.configs}
    heads = ("Reached, good", "Reached, not good", "Not reached, good", "Not reached, not good", "Not counted")
    found: dict[str, dict[str, Row]] = {
        "page": {row["config"]: {name: row[name] for name in CELLS} for row in outputs.page["outcomes"]}
    }
    for name, rows in (
        ("verbose", read_screen_table(outputs.verbose, "Evidence and answers")),
        ("markdown", read_tables(outputs.markdown)["Evidence and answers"]),
    ):
        found[name] = {row["Config"]: dict(zip(CELLS, (int(row[head]) for head in heads), strict=True)) for row in rows}
    sentences = re.findall(r"^Answers with the evidence(?:, (.*?))?: (.*)", outputs.screen, re.MULTILINE)
    if sentences:
        found["screen"] = {
            config or outputs.configs[0]: dict(zip(CELLS, map(int, re.findall(r"\d+", counts)), strict=True))
            for config, counts in sentences
        }
    elif all(sum(cells.values()) == cells["no_cell"] for cells in expected.values()):
        assert "with the evidence" not in outputs.screen, "where nothing is counted, nothing is said"
    else:
        line = re.findall(r"^Good/bad with the evidence, .*?: (.*)", outputs.screen, re.MULTILINE)[0]
        found["screen"] = {
            part.split()[0]: dict(zip(CELLS, map(int, re.findall(r"(?<!\S)\d+|(?<=/)\d+", part)), strict=True))
            for part in line.split(", ")
        }
    assert dict.fromkeys(found, expected) == found


def test_the_causes_are_counted_alike(outputs: Outputs) -> None:
    tables = read_tables(outputs.markdown)
    for config in outputs.configs:
        attributions = outputs.report["configs"][config]["attributions"].values()
        expected = Counter(item["cause"] for item in attributions if item["cause"] is not None)
        rows = [row for row in tables.get("Root causes", []) if row["Config"] == config]
        markdown: Counter[str] = Counter()
        for row in rows:
            markdown[row["Cause"]] += int(row["Cases"])
        page = {row["name"]: row["total"] for row in outputs.page["causes"][config]["rows"]}
        assert expected == markdown == Counter(page)
        (first,) = [failures for failures in outputs.page["failures"] if failures["config"] == config]
        assert outputs.report["configs"][config]["counts"]["failed"] == first["total"]
        for cause in first["causes"]:
            assert cause["total"] <= expected[cause["cause"]]


def test_the_slices_have_the_same_numbers(outputs: Outputs) -> None:
    slices = {config: outputs.report["configs"][config]["slices"] for config in outputs.configs}
    titles = {
        "Recall@10": "recall@10",
        "MRR@10": "rr@10",
        "Context recall": "context_recall",
        "Behaviour": "behaviour",
    }
    page = {(row["config"], row["slice"]): row for row in outputs.page["slices"]["rows"]}
    assert {(config, key) for config, by_key in slices.items() for key in by_key} == set(page)
    for rows in (read_tables(outputs.markdown).get("Slices", []), read_screen_table(outputs.verbose, "Slices")):
        for row in rows:
            summaries = slices[row["Config"]][row["Slice"]]
            for title, metric in titles.items():
                if title in row:
                    assert show_cell(summaries[metric]) == read_cell(row[title]), row
    for row in read_tables(outputs.markdown)["Breakdown By Tag"]:
        summaries = slices[row["Config"]][f"tag={row['Tag']}"]
        assert page[(row["Config"], f"tag={row['Tag']}")]["cases"] == int(row["Cases"])
        for title, metric in titles.items():
            if title in row:
                assert show_cell(summaries[metric]) == read_cell(row[title]), row


def test_the_errors_of_the_target_are_told_alike(outputs: Outputs) -> None:
    suites = {suite.attrib["name"]: suite for suite in outputs.junit}
    for config in outputs.configs:
        expected = sum(list_expected_errors(outputs, config).values())
        properties = suites[f"{config}: cases"].iter("property")
        prefix = f"{config}: " if len(outputs.configs) > 1 else ""
        markdown = unescape(outputs.markdown)
        sentences = {
            "junit": [item.attrib["value"] for item in properties if item.attrib["name"] == "target_error"],
            "markdown": re.findall(rf"^- {prefix}(target error ×.*)", markdown, re.MULTILINE),
            "job summary": re.findall(rf"^- {prefix}(target error ×.*)", unescape(outputs.job_summary), re.MULTILINE),
            "page": [
                line.removeprefix(prefix)
                for line in outputs.page["reasons"]
                if line.startswith(f"{prefix}target error ×")
            ],
            "verbose": [
                line
                for line in read_decision_lines(outputs.verbose, outputs.configs)[config][1]
                if line.startswith("target error ×")
            ],
            "screen": [
                line
                for line in read_decision_lines(outputs.screen, outputs.configs)[config][1]
                if line.startswith("target error ×")
            ],
        }
        counts = {name: sum(int(re.findall(r"×(\d+)", line)[0]) for line in lines) for name, lines in sentences.items()}
        assert dict.fromkeys(counts, expected) == counts
        texts = {name: lines for name, lines in sentences.items() if name != "screen"}
        assert dict.fromkeys(texts, sentences["junit"]) == texts


def test_the_rules_have_the_same_states_and_numbers(outputs: Outputs) -> None:
    for config in outputs.configs:
        decision = outputs.report["configs"][config]["decision"]
        rules = decision["rules"] if decision else []
        page = [rule for rule in outputs.page["rules"] if rule["config"] == config]
        assert [(rule["state"], rule["message"]) for rule in rules] == [(row["state"], row["message"]) for row in page]
        for text in (outputs.markdown, outputs.job_summary):
            table = read_tables(text).get("Release Gate Checklist", [])
            rows = [row for row in table if row["Config"] == config]
            assert [str(rule["scored"]) for rule in rules] == [row["Scored"] for row in rows]
            assert [rule["message"] for rule in rules] == [row["What was found"] for row in rows]


def test_no_two_adjacent_sentences_say_the_same(outputs: Outputs) -> None:
    for text in (outputs.screen, outputs.verbose, outputs.job_summary):
        lines = [line for line in text.splitlines() if line.strip() and not set(line.strip()) <= {"─", "-", "|", " "}]
        assert not [line for line, following in pairwise(lines) if line == following]


def test_a_run_of_some_cases_and_one_with_variants_is_the_same_run_when_it_is_read_again(tmp_path: Path) -> None:
    recipe = RECIPES["unknown and failed"]
    write_inputs(tmp_path, recipe)
    rows = [json.loads(line) for line in (tmp_path / "golden.jsonl").read_text("utf-8").splitlines()]
    variant = rows[1] | {"id": "other words", "variant_of": rows[1]["id"], "variant": "paraphrase"}
    variant["question"] = "Say how many free days people get."
    write_lines(tmp_path / "varied.jsonl", [*rows, variant])
    with pytest.MonkeyPatch.context() as patch:
        patch.chdir(tmp_path)
        patch.setenv("COLUMNS", "300")
        for options in (
            ["--golden", "golden.jsonl", "--limit", "5"],
            ["--golden", "varied.jsonl"],
            ["--golden", "varied.jsonl", "--with-variants"],
        ):
            run = f"run {' '.join(options)}".replace(".jsonl", "")
            printed = run_command("score", *options, "--outputs", "outputs.jsonl", "--run-dir", run, "--no-history")
            assert "plain" in printed
            assert printed == run_command("score", run, "--no-history"), options


def test_the_change_since_the_baseline_is_the_same_everywhere(outputs: Outputs) -> None:
    if not outputs.recipe.baseline:
        return
    changes = {change["name"]: change for change in outputs.page["comparison"]["metrics"]}
    before = json.loads((outputs.html_file.parent / "before/derived/report.json").read_bytes())["configs"]["before"]
    after = outputs.report["configs"]["plain"]
    compared = 0
    for title, metric in TITLES.items():
        lines = [line for line in outputs.screen.splitlines() if line.startswith(f"{title}  ")]
        match = re.search(r", ([+−])([\d.]+)(?: on (\d+) pairs?)?\)", lines[0]) if lines else None
        if match is None:
            continue
        change = changes[metric]
        shown = float(match[2]) * (1 if match[1] == "+" else -1)
        assert pytest.approx(shown, abs=0.0011) == float(change["candidate"]) - float(change["baseline"])
        if match[3] is None:  # then the difference is that of the two headline values
            values = [side["summary"][metric]["value"] for side in (before, after)]
            assert pytest.approx(shown, abs=0.0011) == values[1] - values[0]
        else:
            assert change["n"] == int(match[3])
        compared += 1
    assert compared > 2
    rows = {row["Metric"]: row for row in read_tables(outputs.markdown)["Changes since the baseline: plain"]}
    for title, metric in TITLES.items():
        if title in rows and changes[metric]["baseline"] is not None:
            assert changes[metric]["baseline"] == rows[title]["Baseline"]
            assert changes[metric]["candidate"] == rows[title]["Candidate"]
            assert str(changes[metric]["n"]) == rows[title]["Pairs"]
            # The page says in a note what is unknown, the table beside the gain.
            assert rows[title]["Gain"].partition(" (")[0] == changes[metric]["gain_text"].partition(" (")[0]


def test_every_metric_of_the_page_has_one_name_of_its_own(outputs: Outputs) -> None:
    titles = {metric["name"]: metric["title"] for metric in outputs.page["metrics"]}
    assert len(titles) == len(set(titles.values()))
    for rule in outputs.page["rules"]:
        assert rule["title"] == titles.get(rule["metric"], rule["title"])
    assert set(outputs.page["slices"]["columns"]) <= {*titles.values(), "Answer correctness", "Citation correctness"}
    last = "rr(stage=final)@10"  # scores as the retrieved ranking, unless a headline names it
    assert (last in outputs.page["key_metrics"]) == (last in outputs.page["headlines"])


def test_a_case_is_explained_as_the_reports_count_it(outputs: Outputs) -> None:
    config = outputs.configs[0]
    content = outputs.report["configs"][config]
    failed = {item["case_id"]: item["failed_checks"] for item in content["failed_cases"]}
    with pytest.MonkeyPatch.context() as patch:
        patch.chdir(outputs.html_file.parent)
        patch.setenv("COLUMNS", "200")
        for case_id, attribution in content["attributions"].items():
            printed = run_command("explain", case_id, "--run", "run", "--config", config)
            checks = f"failed {', '.join(failed[case_id])}" if case_id in failed else "no failed check"
            assert printed.startswith(f"{case_id} under {config}: {checks}\n")
            verdict = re.findall(r"^Verdict +(.*)", printed, re.MULTILINE)[0]
            assert verdict.startswith(attribution["verdict"].replace("_", " ")), case_id
            if attribution["cause"] is not None:
                assert attribution["cause"] in verdict
            assert (case_id in content["unknown_cases"]) == verdict.startswith("unknown")


def test_the_share_of_failed_cases_is_that_of_the_counts(outputs: Outputs) -> None:
    for row in read_tables(outputs.markdown)["Aggregate"]:
        counts = outputs.report["configs"][row["Config"]]["counts"]
        share = f"{counts['failed'] / counts['cases']:.3f}"
        assert f"{share} ({counts['failed']} of {counts['cases']})" == row["Failed case rate"]


def test_the_page_rounds_a_change_of_whole_numbers_as_the_tables_do() -> None:
    change = MetricChange(
        metric="latency_ms", slice=None, baseline=16.6, candidate=9.4, gain=7.2, low=None, high=None, p=None,
        p_adjusted=None, method="", n=5, improved=(), regressed=(), unchanged=(), unpaired=(), smallest_detectable=None,
    )  # fmt: skip
    before, after = (ComparisonSide(name, name, "sha256:0", 5) for name in ("before", "after"))
    comparison = Comparison(before, after, {"latency_ms": change})
    (row,) = build_comparison_data(comparison, {})["metrics"]
    assert (*format_sides(change), format_gain(change)) == (row["baseline"], row["candidate"], row["gain_text"])
    assert ("16.6", "9.4", "+7.2") == (row["baseline"], row["candidate"], row["gain_text"])
