"""The pytest plugin: a function with the marker `assay` becomes one test for each golden case, and one for the gate.

    @pytest.mark.assay(target=ask, golden="golden.jsonl", gate="general")
    def test_rag(assay_run):
        pass

The target is asked once, also under `pytest -n`: the first process that gets to it records what the target did, and
every process scores the same recording.
"""

from __future__ import annotations

import fcntl
import hashlib
import re
from collections.abc import Iterator
from contextlib import contextmanager
from dataclasses import dataclass
from difflib import get_close_matches
from pathlib import Path
from typing import TYPE_CHECKING, Any

import pytest

if TYPE_CHECKING:
    from assay.api import ScoreResult
    from assay.records.golden_set import GoldenSet
    from assay.report.collect_cases import CaseResult

MARKER = "assay"
FIXTURE = "assay_run"
GATE_ID = "gate"
_LIMITS = ("concurrency", "deadline", "context", "attempts", "breaker", "retry_after_cap", "max_calls", "max_cost")
_OBSERVE_OPTIONS = ("search", "config", "name", "repeat", *_LIMITS, "retrieval_only")
_SCORE_OPTIONS = ("corpus", "metrics", "by", "gate", "verdicts", "judge", "calibration", "labels")
_FILE_OPTIONS = ("golden", "corpus", "gate", "verdicts", "calibration", "labels")
"""The options that may be files, which are looked for beside the file of the test first."""
_CHECKED_OPTIONS = ("metrics", "by", "config", "name", "repeat", *_LIMITS)
_UNKNOWN = "unknown"
_UNKNOWN_CHOICES = ("skip", "fail", "pass")
"""What becomes of the test of a case of which nothing tells whether the answer is right; the first by default."""
_OPTIONS = ("target", "golden", *_OBSERVE_OPTIONS, *_SCORE_OPTIONS, _UNKNOWN)
_BLOCKING_OUTCOMES = ("FAIL", "INCOMPLETE")


@dataclass(frozen=True, slots=True)
class AssayRun:
    """What a marked test sees: the `case` of this test, None in the test of the gate, and the `result` of all cases."""

    result: ScoreResult
    case: CaseResult | None
    unknown: str = _UNKNOWN_CHOICES[0]


@dataclass(frozen=True, slots=True)
class _Plan:
    """What a marker asks for, with its paths relative to the file of the test."""

    key: str
    options: dict[str, Any]
    golden: GoldenSet


@dataclass(frozen=True, slots=True)
class _NotScored:
    """Takes the place of a result where there is none: the error stands in the first test, the others name that."""

    first_test: str


_results = pytest.StashKey[dict[str, Any]]()
_run_of_item = pytest.StashKey[AssayRun]()


def pytest_addoption(parser: pytest.Parser) -> None:
    """Add the option of the baseline."""
    group = parser.getgroup("assay", "RAG evaluation")
    group.addoption(
        "--assay-baseline", metavar="RUN", help="Run folder or saved baseline for the regression rules of the gates."
    )


def pytest_configure(config: pytest.Config) -> None:
    """Declare the marker."""
    config.addinivalue_line(
        "markers", "assay(target, golden, gate=None, …): one test for each golden case, and one for the gate"
    )
    config.stash[_results] = {}


def pytest_generate_tests(metafunc: pytest.Metafunc) -> None:
    """Make one test for each case of the golden set, and one for the gate if there is one."""
    marker = metafunc.definition.get_closest_marker(MARKER)
    if marker is None:
        return
    plan = _read_marker(marker, metafunc.definition)
    case_ids = [case.id for case in plan.golden.cases]
    gates = [GATE_ID] if plan.options.get("gate") is not None else []
    parameters = [(plan, case_id) for case_id in case_ids] + [(plan, None) for _ in gates]
    if FIXTURE not in metafunc.fixturenames:
        metafunc.fixturenames.append(FIXTURE)  # it can be a parameter, but is not set up: see pytest_itemcollected
    metafunc.parametrize(FIXTURE, parameters, indirect=True, ids=[*case_ids, *gates])


def pytest_itemcollected(item: pytest.Item) -> None:
    """Set up the run for a marked function that does not take it: pytest prunes what no argument needs."""
    if not isinstance(item, pytest.Function) or item.get_closest_marker(MARKER) is None:
        return
    if FIXTURE not in item.fixturenames:
        item.fixturenames.append(FIXTURE)


def _read_marker(marker: pytest.Mark, item: Any) -> _Plan:
    """Return the plan of a marker. Raises CollectError for arguments, golden sets and gates that cannot be used.

    They are read before the target is asked, which may take long and cost money.

    It is an error of the file of the test; later it would be one of each case. pytest shows it without a traceback.
    """
    from assay.gates.gate_files import load_requested_gate
    from assay.records.errors import AssayError
    from assay.runs.answer_labels import read_answer_labels
    from assay.runs.check_arguments import check_scoring
    from assay.runs.python_values import read_gate_value, read_golden_value

    options = dict(marker.kwargs)
    unknown = sorted(set(options) - set(_OPTIONS))
    missing = [name for name in ("target", "golden") if name not in options]
    if marker.args or unknown or missing:
        got = ", ".join([*map(repr, marker.args), *unknown]) or f"no {' and no '.join(missing)}"
        near = [match for name in unknown for match in get_close_matches(name, _OPTIONS, 1)]
        expected = f"did you mean {', '.join(near)}?" if near else f"expected some of {', '.join(_OPTIONS)}"
        raise pytest.Collector.CollectError(f"{item.nodeid}: marker assay: got {got}; {expected}")
    if options.setdefault(_UNKNOWN, _UNKNOWN_CHOICES[0]) not in _UNKNOWN_CHOICES:
        expected = f"expected {', '.join(_UNKNOWN_CHOICES)}"
        raise pytest.Collector.CollectError(
            f"{item.nodeid}: marker assay: unknown: got {options[_UNKNOWN]!r}; {expected}"
        )
    for name in _FILE_OPTIONS:
        options[name] = _resolve_path(options.get(name), item.path.parent)
    try:
        golden = read_golden_value(options["golden"])
        load_requested_gate(read_gate_value(options["gate"]))
        options["labels"] = read_answer_labels(options["labels"] or ())
        check_scoring(golden, **{name: options[name] for name in _CHECKED_OPTIONS if name in options})
    except AssayError as error:
        raise pytest.Collector.CollectError(f"{item.nodeid}: marker assay: {error}") from None
    return _Plan(f"{item.path}::{item.originalname}", options, golden)


def _resolve_path(value: Any, folder: Path) -> Any:
    """Return a path relative to the file of the test where there is one, else the value; of each in a list."""
    if isinstance(value, (list, tuple)):
        return [_resolve_path(part, folder) for part in value]
    if isinstance(value, (str, Path)) and (folder / value).exists():
        return str(folder / value)
    return value


@pytest.fixture
def assay_run(request: pytest.FixtureRequest, tmp_path_factory: pytest.TempPathFactory) -> AssayRun:
    """The case of this test and the result of all cases; for functions with the marker `assay`."""
    from assay.records.errors import AssayError  # only where a test needs it, as everything of Assay here

    if not hasattr(request, "param"):
        pytest.fail("assay_run: no marker (expected @pytest.mark.assay(target=…, golden=…))", pytrace=False)
    plan, case_id = request.param
    results = request.config.stash[_results]
    if plan.key not in results:
        try:
            results[plan.key] = _score_once(plan, request.config, _find_shared_folder(tmp_path_factory))
        except AssayError as error:
            results[plan.key] = _NotScored(request.node.name)
            failure = f"assay: {_name_own_option(str(error))}"
        else:
            failure = ""
        if failure:  # not inside the handler: pytest would print the error a second time
            pytest.fail(failure, pytrace=False)
    result: ScoreResult | _NotScored = results[plan.key]
    if isinstance(result, _NotScored):
        pytest.fail(f"assay: nothing was scored, for the reason that {result.first_test} gives", pytrace=False)
    case = next((case for case in result.cases if case.id == case_id), None)
    run = AssayRun(result, case, plan.options[_UNKNOWN])
    request.node.stash[_run_of_item] = run
    return run


def _find_shared_folder(factory: pytest.TempPathFactory) -> Path:
    """Return a folder that the processes of this session have in common, and no other session."""
    base = factory.getbasetemp()
    return base.parent if base.name.startswith("popen-") else base


def _score_once(plan: _Plan, config: pytest.Config, folder: Path) -> ScoreResult:
    """Return the result of a plan; the target is asked by the first process that comes here."""
    import assay  # only where a test needs it: pytest imports this plugin in every session
    from assay.formats.convert_files import encode_output_lines
    from assay.formats.file_io import write_atomically
    from assay.runs.python_values import read_corpus_value

    corpus = read_corpus_value(plan.options.get("corpus"))  # before anything is asked
    name = hashlib.sha256(plan.key.encode()).hexdigest()[:16]
    outputs = folder / f"assay-{name}.jsonl"
    with _lock(folder / f"assay-{name}.lock"):
        if not outputs.exists():
            observe_options = {key: plan.options[key] for key in _OBSERVE_OPTIONS if key in plan.options}
            observations = assay.observe(plan.options["target"], plan.golden, **observe_options)
            write_atomically(outputs, encode_output_lines(observations))
    score_options = {key: plan.options[key] for key in _SCORE_OPTIONS if plan.options.get(key) is not None}
    score_options |= {} if corpus is None else {"corpus": corpus}
    return assay.score(plan.golden, outputs, baseline=config.getoption("--assay-baseline"), **score_options)


@contextmanager
def _lock(path: Path) -> Iterator[None]:
    """Hold a lock between processes; it is released when its process ends, however it ends."""
    with path.open("a") as file:
        fcntl.flock(file, fcntl.LOCK_EX)
        yield


@pytest.hookimpl(wrapper=True)
def pytest_pyfunc_call(pyfuncitem: pytest.Function) -> Iterator[None]:
    """Run the body with its case, then fail the test if the case or the gate failed, and skip it if nothing tells."""
    run = pyfuncitem.stash.get(_run_of_item, None)
    if run is None and pyfuncitem.get_closest_marker(MARKER) is not None:
        pytest.fail("assay: the target was not asked (the fixture assay_run was not set up)", pytrace=False)
    if run is not None and run.case is None:
        pyfuncitem.obj = _do_nothing  # the body is about a case; this is the test of the gate
    result = yield
    if run is not None:
        _check(run)
    return result


def _do_nothing(**_: Any) -> None:
    """Take the place of the body in the test of the gate."""


def _check(run: AssayRun) -> None:
    case = run.case
    if case is None:
        decision = run.result.decision
        if decision.outcome in _BLOCKING_OUTCOMES:
            reasons = [f" - {_name_own_option(line)}" for line in decision.reasons]
            pytest.fail("\n".join([f"gate: {decision.outcome}", *reasons]), pytrace=False)
    elif case.has_failed:
        failure = ", ".join(case.failed_checks) or case.error
        failure = "; ".join([str(failure), *(f"{name}: {text}" for name, text in case.metric_errors.items())])
        pytest.fail(f"{case.id} failed: {failure}\n\n{case.explain()}", pytrace=False)
    elif case.outcome == "unknown" and run.unknown != "pass":
        message = f"{case.id}: {_describe_open_answer(case)}; the marker takes unknown='pass')"
        if run.unknown == "fail":
            pytest.fail(message, pytrace=False)
        pytest.skip(message)  # neither passed nor failed: nothing was checked


def _describe_open_answer(case: CaseResult) -> str:
    """Return why nothing tells whether an answer is right, and in an open bracket what would."""
    from assay.metrics.case_checks import JUDGED_CORRECTNESS
    from assay.scoring.judged_answers import name_judged_value

    states_facts = bool(case.case.must_have)
    open_facts = (case.reasons.get("correct_answer") or "").partition("unknown: ")[2].partition("; a judge can tell")[0]
    judged = case.scores.get(JUDGED_CORRECTNESS)
    reason, remedy = "nothing tells whether the answer is right", "verdicts of a judge, or the label of a person"
    if judged is not None:
        reason = f"the judge calls the answer {name_judged_value(judged)}, and only a calibrated judge counts"
        remedy = "assay.calibrate with labels of a sample"
    if states_facts and open_facts:
        reason = f"{reason}, {open_facts}"
    return f"{reason} ({remedy if states_facts else f'must_have or number in a case that has none, else {remedy}'}"


_OWN_OPTION = re.compile(r"(?<![\w-])(?:--baseline(?![\w-])|baseline=(?=\)))")


def _name_own_option(message: str) -> str:
    """Return a message with the option that pytest has for the baseline."""
    return _OWN_OPTION.sub("--assay-baseline", message)
