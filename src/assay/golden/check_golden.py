"""`golden lint` and `golden coverage`: reads a set and its corpus, applies the rules, and writes clusters back."""

from __future__ import annotations

import json
import re
from collections import defaultdict
from collections.abc import Callable, Iterator, Mapping, Sequence
from importlib.resources import files
from typing import Final, Literal, NamedTuple

import msgspec
from msgspec import Struct

from assay.formats.corpus import load_corpus
from assay.formats.file_io import decode_line, open_source, read_lines, write_atomically
from assay.formats.golden_builder import REPEATED_QUESTION
from assay.formats.golden_files import LoadedGolden, load_golden
from assay.formats.problems import ProblemList, find_time_fault
from assay.formats.strict_json import MisfitError, convert_strictly, decode_json_object
from assay.formats.strict_yaml import read_yaml, read_yaml_file
from assay.golden.coverage_matrix import Coverage, CoverageTarget, count_kinds, measure_coverage
from assay.golden.lint_evidence import (
    check_abstention,
    check_access,
    check_common_keywords,
    check_evidence,
    check_reference,
    find_alternatives,
)
from assay.golden.lint_finding import LINT_RULES, LintedSet, LintFinding, LintReport, SuspectField
from assay.golden.lint_rules import (
    check_header,
    check_hops,
    check_keywords,
    check_language,
    check_lineage,
    check_question,
    check_tags,
    find_confusable_ids,
    group_near_duplicates,
)
from assay.golden.model_checks import NO_VERDICT, UNSUPPORTED_LABELS, plan_support, read_label
from assay.golden.model_client import ModelClient, ModelOptions
from assay.judging.call_scheduler import ReportProgress
from assay.metrics.answers.expected_text import judge_reference
from assay.metrics.cases.access_rules import describe_validity_gap, find_validity_gaps
from assay.records.counts import format_count
from assay.records.errors import InputError, Problem, shorten_repr
from assay.records.golden_set import Case, Corpus, GoldenSet, SilencedRule, find_placeholders
from assay.text.facts.fact_judgments import FactJudgment

REFERENCE_FAILS: Final = "reference-fails"
REFERENCE_OPEN: Final = "reference-open"
_MUST_HAVE, _KEYWORDS = "must_have", "rubric.correct_keywords"


class OwnReference(NamedTuple):
    """What the rules make of the facts and keywords of a case in its own reference, where they do not pass them all.

    `rule` is `reference-fails` if a right answer could only fail, `reference-open` if the rules cannot tell.
    """

    rule: Literal["reference-fails", "reference-open"]
    field: str
    message: str


def check_own_reference(case: Case) -> Iterator[SuspectField]:
    """Yield a finding for must_have and for keywords that the case's own reference does not pass by the rules.

    >>> case = Case("fee", "What does it cost?", reference="It costs £5.", must_have=("£6",))
    >>> [(found.rule, found.field) for found in check_own_reference(case)]
    [('reference-fails', 'must_have')]
    """
    for found in find_open_expectations(case):
        yield SuspectField(found.rule, found.field, found.message)


def find_open_expectations(case: Case) -> Iterator[OwnReference]:
    """Yield what of the expectations of a case its own reference does not pass by the rules."""
    if case.behaviour != "answer" or not case.reference:
        return
    facts, keywords = judge_reference(case)
    yield from _find(facts, _MUST_HAVE)
    needs_all = case.rubric is not None and case.rubric.match == "all"
    if needs_all or not any(judgment.state == "stated" for judgment in keywords):
        if not needs_all and any(judgment.state == "unknown" for judgment in keywords):
            keywords = [judgment for judgment in keywords if judgment.state == "unknown"]
        yield from _find(keywords, _KEYWORDS)


def _find(judgments: Sequence[FactJudgment], field: str) -> Iterator[OwnReference]:
    failed = [judgment for judgment in judgments if judgment.state in ("denied", "missing")]
    if failed:
        yield OwnReference(REFERENCE_FAILS, field, f"the case's own reference fails it: {_explain(failed)}")
    unsure = [judgment for judgment in judgments if judgment.state == "unknown"]
    if unsure:
        message = f"the rules cannot tell whether the case's own reference states it: {_explain(unsure)}"
        yield OwnReference(REFERENCE_OPEN, field, message)


def _explain(judgments: Sequence[FactJudgment]) -> str:
    explained = []
    for judgment in judgments:
        reason = judgment.reason.replace("the answer", "the reference")  # which is what is read as an answer here
        explained.append(f"{shorten_repr(judgment.fact)} ({judgment.state}: {reason})")
    return "; ".join(explained)


_RULES_OF_A_CASE = (check_hops, check_tags, check_question, check_keywords, check_own_reference, check_language)
_RULES_WITH_CORPUS = (
    check_evidence,
    check_access,
    check_abstention,
    check_common_keywords,
    check_reference,
    find_alternatives,
)
BY_JUDGE = "reference-underivable"
"""The one rule that asks a judge."""
_RULE_ORDER = {name: position for position, name in enumerate(LINT_RULES)}


def load_coverage_targets(path: str | None = None) -> dict[str, CoverageTarget]:
    """Return the coverage targets of a YAML file, those for about 40 cases without one.

    Raises SettingsError listing everything that is wrong with the file.
    """
    if path is None:
        text = files("assay").joinpath("golden", "coverage_targets.yaml").read_text(encoding="utf-8")
        document = read_yaml(text, "coverage_targets.yaml")
    else:
        document = read_yaml_file(path)
    problems = ProblemList(path or "coverage_targets.yaml")
    targets: dict[str, CoverageTarget] = {}
    if not isinstance(document.data, dict):
        problems.add_error(None, "", "no kinds of cases (expected NAME: {cases: 4, tags: […]})", "E_COVERAGE")
    for kind, row in document.data.items() if isinstance(document.data, dict) else ():
        try:
            targets[kind] = convert_strictly(row, CoverageTarget, kind)
        except MisfitError as error:
            for field, message, code in error.misfits:
                position = document.positions.get(field) or document.positions.get(kind)
                problems.add_error(position.line if position else None, field, message, code)
    problems.raise_errors()
    return targets


def lint_file(
    path: str,
    corpus: str | None = None,
    targets: str | None = None,
    *,
    fix: bool = False,
    as_of: str | None = None,
    model: ModelOptions | None = None,
    progress: ReportProgress | None = None,
    on_interrupt: Callable[[], None] = lambda: None,
) -> LintReport:
    """Return the findings on a golden set; with `fix`, give suggested clusters to its cases and write the file.

    `as_of` is the day on which the corpus is looked at, instead of that of the set. A `model` is asked whether the
    evidence of each case states its reference, for which it needs the corpus.
    Raises InputError for files that cannot be read, and for a file to fix that is not JSON Lines; SettingsError for a
    model that cannot be asked.
    """
    loaded, loaded_corpus = move_day(load_golden(path), as_of), _load_corpus(corpus)
    if model is not None and loaded_corpus is None:
        raise InputError("--judge: reads references next to their evidence (expected --corpus as well)")
    coverage_targets = load_coverage_targets(targets)
    judged, effort = None, None
    if model is not None:
        client = ModelClient(model, progress, on_interrupt)
        judged = _ask_support(LintedSet(loaded.golden, loaded_corpus), client)
        effort = client.effort
    report = lint_golden_set(loaded, loaded_corpus, coverage_targets, judged)
    clusters = _list_clusters(loaded.golden, report) if fix else {}
    if clusters:
        _write_clusters(path, loaded, clusters)
        report = lint_golden_set(move_day(load_golden(path), as_of), loaded_corpus, coverage_targets, judged)
    return msgspec.structs.replace(report, fixed=tuple(clusters), effort=effort)


def move_day(loaded: LoadedGolden, as_of: str | None) -> LoadedGolden:
    """Return a set as of another day, if one is given: its digest stays. Raises InputError for a day that is none."""
    fault = find_time_fault(as_of) if as_of is not None else ""
    if fault:
        raise InputError(f"--as-of: {fault}")
    return (
        loaded
        if as_of is None
        else msgspec.structs.replace(loaded, golden=msgspec.structs.replace(loaded.golden, as_of=as_of))
    )


def lint_golden_set(
    loaded: LoadedGolden,
    corpus: Corpus | None,
    targets: Mapping[str, CoverageTarget],
    judged: Mapping[str, SuspectField] | None = None,
) -> LintReport:
    """Return the findings on a golden set that are not silenced: errors first, by case, and housekeeping last.

    `judged` are the findings of a judge by case; None if none was asked.
    """
    linted = LintedSet(loaded.golden, corpus, loaded.lines)
    findings = [*_find_in_set(loaded, linted, targets), *_find_in_cases(linted)]
    cases = {case.id: case for case in loaded.golden.cases}
    findings += [_make_finding(suspect, linted, cases[name]) for name, suspect in (judged or {}).items()]
    findings = list(_drop_inherited(findings, cases))
    position = {case.id: number for number, case in enumerate(loaded.golden.cases)}
    findings.sort(
        key=lambda finding: (_rank_finding(finding), position.get(finding.case, -1), _RULE_ORDER[finding.rule])
    )
    kept = [finding for finding in findings if not _is_silenced(finding, loaded.golden.silenced)]
    silenced = [rule for rule in loaded.golden.silenced if judged is not None or rule.rule != BY_JUDGE]
    return LintReport((*kept, *_find_unused_silences(findings, silenced)), len(findings) - len(kept))


def _rank_finding(finding: LintFinding) -> int:
    """Return the place of a finding: errors, warnings, what the set lacks, and last who keeps it and which it is."""
    if finding.level == "error":
        return 0
    ranks = {"coverage-gap": 2, "no-owner": 3, "no-version": 3, "no-changelog": 3}
    return ranks.get(finding.rule, 1)


_SHARE = re.compile(r"\d{1,3}%")


def _drop_inherited(findings: Sequence[LintFinding], cases: Mapping[str, Case]) -> Iterator[LintFinding]:
    """Yield the findings without those of variants that their case has too: these are said once, of the case.

    Of variants whose case is in another file the first says it. A share of words may differ between a question and its
    variant, and is not compared.
    """
    found_in_cases = {(finding.case, *_name_finding(finding)) for finding in findings}
    for finding in findings:
        case = cases.get(finding.case)
        if case is None or case.variant_of is None:
            yield finding
        elif (inherited := (case.variant_of, *_name_finding(finding))) not in found_in_cases:
            yield finding
            if case.variant_of not in cases:
                found_in_cases.add(inherited)


def _name_finding(finding: LintFinding) -> tuple[object, ...]:
    return finding.rule, finding.field, finding.chunks, _SHARE.sub("%", finding.message)


def _ask_support(linted: LintedSet, client: ModelClient) -> dict[str, SuspectField]:
    """Return the findings of a judge by case: references that it does not find in their evidence.

    A variant with reference and evidence of its case is not asked about.
    """
    by_id = {case.id: case for case in linted.golden.cases}
    own = [case for case in linted.golden.cases if not _has_answer_of(case, by_id.get(case.variant_of or ""))]
    requests = {case.id: plan_support(case, linted, client.rubrics) for case in own}
    verdicts = client.ask_all(request for request in requests.values() if request is not None)
    suspects = {}
    for case in own:
        request = requests[case.id]
        label = read_label(request, verdicts) if request is not None else NO_VERDICT
        if label in UNSUPPORTED_LABELS and request is not None:
            message = f"{label}: {verdicts[request.digest].items[0].reasoning}"
            chunks = tuple(entry["id"] for entry in request.inputs["context"])
            suspects[case.id] = SuspectField(BY_JUDGE, "reference", message, chunks)
    return suspects


def _has_answer_of(case: Case, other: Case | None) -> bool:
    return other is not None and (case.reference, case.evidence) == (other.reference, other.evidence)


def find_stale_cases(golden: GoldenSet, corpus: Corpus) -> dict[str, tuple[str, ...]]:
    """Return what no longer fits the corpus, by case: its evidence, what its user may see, an answer that is there now.

    What is silenced is left out.
    """
    linted = LintedSet(golden, corpus)
    stale: dict[str, tuple[str, ...]] = {}
    for case in golden.cases:
        findings = []
        for check in (check_evidence, check_access, check_abstention):
            findings += [_make_finding(suspect, linted, case) for suspect in check(case, linted)]
        stale_fields = [f"{row.field}: {row.message}" for row in findings if not _is_silenced(row, golden.silenced)]
        if stale_fields:
            stale[case.id] = tuple(stale_fields)
    return stale


def list_reference_warnings(path: str, loaded: LoadedGolden) -> Iterator[Problem]:
    """Yield a warning for each case that its own reference fails, and one for those of which nothing tells."""
    unsure: list[str] = []
    for case in loaded.golden.cases:
        for found in find_open_expectations(case):
            if found.rule == REFERENCE_FAILS:
                message = f"{found.message} (case {case.id}; {LINT_RULES[REFERENCE_FAILS].remedy})"
                yield Problem(path, loaded.lines.get(case.id), found.field, message, "E_REFERENCE_FAILS")
            else:
                unsure.append(case.id)
    if unsure:
        counted = format_count(len(set(unsure)), "case")
        message = (
            f"{counted}: the rules cannot tell whether the reference states the facts or keywords of its own case; "
            "assay golden lint says why"
        )
        yield Problem(path, None, "", message, "E_REFERENCE_OPEN")


def _find_in_cases(linted: LintedSet) -> Iterator[LintFinding]:
    for case in linted.golden.cases:
        for check in _RULES_OF_A_CASE:
            for suspect in check(case):
                yield _make_finding(suspect, linted, case)
        if linted.corpus is not None:
            for check_with_corpus in _RULES_WITH_CORPUS:
                for suspect in check_with_corpus(case, linted):
                    yield _make_finding(suspect, linted, case)


def _list_own_warnings(loaded: LoadedGolden) -> Iterator[Problem]:
    """Yield the warnings of the reader without those on variants that the line of their case has too."""
    line_of_base = {
        loaded.lines.get(case.id): loaded.lines.get(case.variant_of)
        for case in loaded.golden.cases
        if case.variant_of is not None
    }
    warned_lines = {(problem.line, problem.code, problem.message) for problem in loaded.warnings}
    for problem in loaded.warnings:
        base_line = line_of_base.get(problem.line)
        if base_line is None or (base_line, problem.code, problem.message) not in warned_lines:
            yield problem


def _find_in_set(
    loaded: LoadedGolden, linted: LintedSet, targets: Mapping[str, CoverageTarget]
) -> Iterator[LintFinding]:
    golden = loaded.golden
    for problem in _list_own_warnings(loaded):
        if problem.code in ("E_ID_CONFUSABLE", REPEATED_QUESTION):
            continue  # the rules confusable-id and near-duplicate see more
        name = "answer-in-question" if problem.code == "E_LEAK" else "reader"
        rule, message = LINT_RULES[name], f"{problem.code} {problem.message}"
        yield LintFinding(name, rule.level, message, rule.remedy, "", problem.field, problem.line)
    for cell in count_kinds(linted.counted_cases, targets) if linted.counted_cases else ():
        if cell.missing:
            marks = targets[cell.kind].describe_marks()
            message = f"{cell.kind}: {len(cell.cases)} of {cell.target} marked so ({marks})"
            yield _make_finding(SuspectField("coverage-gap", "cases", message), linted)
    if golden.frozen_digest and golden.frozen_digest != loaded.digest:
        message = f"its digest is {loaded.digest}, and was {golden.frozen_digest} when it was frozen"
        yield _make_finding(SuspectField("frozen-edited", "frozen_digest", message), linted)
    for suspect in (*_find_validity_gaps(linted), *check_header(golden), *check_lineage(golden)):
        yield _make_finding(suspect, linted)
    placeholders = set(find_placeholders(golden))
    for case in golden.cases:
        if case.id in placeholders:
            yield _make_finding(SuspectField("placeholder", "question", shorten_repr(case.question)), linted, case)
    for case, suspect in find_confusable_ids(golden):
        yield _make_finding(suspect, linted, case)
    for suggestion in group_near_duplicates(golden):
        suspect = SuspectField("near-duplicate", "cluster", f"{suggestion.kind}: {', '.join(suggestion.case_ids)}")
        first = next(case for case in golden.cases if case.id == suggestion.case_ids[0])
        yield msgspec.structs.replace(_make_finding(suspect, linted, first), cases=suggestion.case_ids)


def _find_validity_gaps(linted: LintedSet) -> Iterator[SuspectField]:
    gaps = find_validity_gaps(linted.corpus.chunks.values()) if linted.corpus is not None else []
    if gaps:
        yield SuspectField("validity-gap", "corpus", describe_validity_gap(gaps))


def _make_finding(suspect: SuspectField, linted: LintedSet, case: Case | None = None) -> LintFinding:
    rule = LINT_RULES[suspect.rule]
    return LintFinding(
        suspect.rule,
        rule.level,
        suspect.message,
        rule.remedy,
        case.id if case is not None else "",
        suspect.field,
        linted.lines.get(case.id) if case is not None else None,
        suspect.chunks,
    )


def _is_silenced(finding: LintFinding, silenced: Sequence[SilencedRule]) -> bool:
    return any(
        silence.rule == finding.rule and (not silence.cases or finding.case in silence.cases) for silence in silenced
    )


def _find_unused_silences(findings: Sequence[LintFinding], silenced: Sequence[SilencedRule]) -> Iterator[LintFinding]:
    rule = LINT_RULES["unused-silence"]
    for silence in silenced:
        if silence.rule not in LINT_RULES:
            message = f"no such rule ({silence.rule!r}; expected one of {', '.join(LINT_RULES)})"
        elif not any(_is_silenced(finding, [silence]) for finding in findings):
            message = f"{silence.rule} finds nothing that this would silence"
        else:
            continue
        yield LintFinding("unused-silence", rule.level, message, rule.remedy, field="silenced")


def measure_file(
    path: str, corpus: str | None = None, targets: str | None = None, questions: str | None = None
) -> Coverage:
    """Return the coverage of a golden set; `questions` is a file of production questions, one on each line.

    A line is a question, or a JSON object with `question` and, optionally, `count`.
    Raises InputError for files that cannot be read.
    """
    linted = LintedSet(load_golden(path).golden, _load_corpus(corpus))
    traffic = load_traffic(questions) if questions is not None else None
    return measure_coverage(linted, load_coverage_targets(targets), traffic)


class _AskedQuestion(Struct, forbid_unknown_fields=True):
    question: str
    count: int = 1


def load_traffic(path: str) -> dict[str, int]:
    """Return how often each question of a file was asked. Raises InputError listing all bad lines."""
    counts: dict[str, int] = defaultdict(int)
    problems = ProblemList(path)
    with open_source(path) as source:
        for line in read_lines(source):
            text = decode_line(line, source.name).strip()
            if text.startswith("{"):
                try:
                    row = convert_strictly(decode_json_object(text, path, line.number), _AskedQuestion)
                except MisfitError as error:
                    for field, message, code in error.misfits:
                        problems.add_error(line.number, field, message, code)
                    continue
                counts[row.question] += row.count
            elif text:
                counts[text] += 1
    problems.raise_errors()
    if not counts:
        raise InputError([Problem(path, None, "", "no question (expected one on each line)", "E_EMPTY")])
    return dict(counts)


def _load_corpus(path: str | None) -> Corpus | None:
    return None if path is None else load_corpus(path)[0]


def _list_clusters(golden: GoldenSet, report: LintReport) -> dict[str, str]:
    """Return the cluster for each case of a suggested group: one that its cases have already, else its first id."""
    by_id = {case.id: case for case in golden.cases}
    clusters: dict[str, str] = {}
    for finding in report.findings:
        if finding.rule != "near-duplicate":
            continue
        names = [by_id[case_id].cluster for case_id in finding.cases]
        name = next((name for name in names if name), finding.cases[0])
        clusters |= {case_id: name for case_id in finding.cases if by_id[case_id].cluster is None}
    variants = [case for case in golden.cases if case.variant_of in clusters]
    return clusters | {case.id: clusters[case.variant_of or ""] for case in variants}


def _write_clusters(path: str, loaded: LoadedGolden, clusters: Mapping[str, str]) -> None:
    """Write the clusters into the lines of their cases; every other line keeps its bytes."""
    cluster_by_line = {loaded.lines.get(case_id): name for case_id, name in clusters.items()}
    if None in cluster_by_line or loaded.format not in ("assay", "rag-golden", "stable-key", "code-benchmark"):
        message = f"clusters can be written into JSON Lines (got {loaded.format}); assay convert writes them"
        raise InputError([Problem(path, None, "cluster", message, "E_FORMAT")])
    with open_source(path) as source:
        lines = [(line.number, line.data) for line in read_lines(source)]
    written = []
    for number, data in lines:
        cluster = cluster_by_line.get(number)
        if cluster is not None:
            row = {**json.loads(data), "cluster": cluster}
            separators = (", ", ": ") if b'": ' in data else (",", ":")
            data = json.dumps(row, ensure_ascii=False, separators=separators).encode()
        written.append(data.rstrip(b"\r\n") + b"\n")
    write_atomically(path, written)
