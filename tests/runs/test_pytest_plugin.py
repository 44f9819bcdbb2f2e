"""The pytest plugin, run in sessions of their own: one test for each case, one for the gate, the target asked once."""

from __future__ import annotations

import re
import time
from collections.abc import Callable
from pathlib import Path

import msgspec
import pytest
from tests.faults.forking import CommandForker

import assay
import assay.metrics.catalog  # first, because pytester forgets what a test imports, and numpy loads once
from assay.cli import main

pytest_plugins = ["pytester"]
pytestmark = pytest.mark.slow

PLUGIN = ("-p", "assay.pytest_plugin", "-p", "no:cacheprovider")
ALONE = {"PYTEST_DISABLE_PLUGIN_AUTOLOAD": "1"}  # importing the other plugins takes longer than the sessions
SYSTEM = """
from pathlib import Path

def ask(question):
    with open(Path(__file__).parent / "calls.txt", "a") as file:
        file.write(question + "\\n")
    if "gym" in question:
        raise KeyError("OPENAI_API_KEY")
    return {"answer": "12 days a year." if "leave" in question else "I do not know."}
"""
GOLDEN = """\
{"id": "leave", "question": "How much leave?", "reference": "12 days", "must_have": ["12 days"]}
{"id": "lead", "question": "Who approves?", "reference": "The team lead", "must_have": ["team lead"]}
{"id": "gym", "question": "Is there a gym?", "reference": "No", "must_have": ["No"]}
"""
TESTS = """
import pytest
from plugin_rag import ask

@pytest.mark.assay(target=ask, golden="golden.jsonl", gate="gate.yaml")
def test_rag(assay_run):
    assert assay_run.case.id != "never"
    assert 3 == len(assay_run.result.cases)
"""
SAID = "Sure, as long as they stay outdoors."
GATE = "rules: [{metric: error_rate, at_most: 0.1}]\n"


@pytest.fixture
def session(pytester: pytest.Pytester, monkeypatch: pytest.MonkeyPatch) -> pytest.Pytester:
    """A folder with a system, a golden set of three cases, a gate and a marked test."""
    monkeypatch.setenv("PYTHONPATH", f"{Path.cwd()}:{Path(__file__).parents[2] / 'src'}")
    pytester.makepyfile(plugin_rag=SYSTEM, test_rag=TESTS)
    (pytester.path / "golden.jsonl").write_text(GOLDEN, encoding="utf-8")
    (pytester.path / "gate.yaml").write_text(GATE, encoding="utf-8")
    return pytester


Run = Callable[..., pytest.RunResult]


@pytest.fixture
def run(session: pytest.Pytester, forker: CommandForker) -> Run:
    """A function that runs pytest with options in the folder, in a process of its own."""

    def run_session(*options: str) -> pytest.RunResult:
        began, printed = time.monotonic(), session.path / "stdout.txt"
        code, errors = forker.start([*PLUGIN, *options], ALONE, printed, session.path, "pytest").wait(120)
        lines = printed.read_text(encoding="utf-8").splitlines()
        return pytest.RunResult(code, lines, errors.splitlines(), time.monotonic() - began)

    return run_session


def list_calls(session: pytest.Pytester) -> list[str]:
    return sorted((session.path / "calls.txt").read_text().splitlines())


def test_each_case_is_a_test_and_the_gate_is_one(session: pytest.Pytester, run: Run) -> None:
    outcome = run("-v")
    outcome.assert_outcomes(passed=1, failed=3)
    for name, state in (("leave", "PASSED"), ("lead", "FAILED"), ("gym", "FAILED"), ("gate", "FAILED")):
        outcome.stdout.re_match_lines([rf"test_rag.py::test_rag\[{name}\] {state}.*"])
    assert ["How much leave?", "Is there a gym?", "Who approves?"] == list_calls(session)


def test_a_failed_case_is_explained_and_a_failed_gate_gives_its_reasons(session: pytest.Pytester, run: Run) -> None:
    said = run().stdout.str()
    assert re.search(r"^lead failed: ", said, re.MULTILINE)
    assert "Who approves?" in said
    assert "KeyError: 'OPENAI_API_KEY'" in said
    assert "verbose=True adds rankings" in said
    assert "--verbose" not in said
    assert re.search(r"^gate: (FAIL|INCOMPLETE)\n - ", said, re.MULTILINE)


@pytest.mark.parametrize(
    ("choice", "outcomes"),
    [("", {"skipped": 1}), (", unknown='pass'", {"passed": 1}), (", unknown='fail'", {"failed": 1})],
)
def test_a_case_of_which_nothing_tells_is_not_green(
    session: pytest.Pytester, run: Run, choice: str, outcomes: dict[str, int]
) -> None:
    case = '{"id": "fee", "question": "What is the leave fee?", "reference": "There is none."}\n'
    (session.path / "open.jsonl").write_text(case, encoding="utf-8")
    marked = f"@pytest.mark.assay(target=ask, golden='open.jsonl'{choice})\n"
    session.makepyfile(
        test_rag=f"import pytest\nfrom plugin_rag import ask\n\n{marked}def test_it(assay_run):\n    pass\n"
    )
    outcome = run("-rs")
    outcome.assert_outcomes(**outcomes)
    if not choice:
        outcome.stdout.fnmatch_lines(
            ["*fee: nothing tells whether the answer is right (must_have or number in a case that has none*"]
        )


def test_what_people_decided_about_answers_decides_about_their_tests(session: pytest.Pytester, run: Run) -> None:
    golden = '{"id": "pet", "question": "May I bring a pet?", "reference": "Pets are welcome in the garden."}\n'
    (session.path / "golden.jsonl").write_text(golden, encoding="utf-8")
    before = assay.score(str(session.path / "golden.jsonl"), [{"case_id": "pet", "answer": SAID}])
    (session.path / "labels").mkdir()
    right = assay.label_answer(before, "pet", "right", rater="Ann")
    wrong = assay.label_answer(before, "pet", "wrong", rater="Ann")
    for label in (right, wrong):
        (session.path / "labels" / f"{label.label}.jsonl").write_bytes(msgspec.json.encode(label) + b"\n")
    for labels, expected in (
        ("'labels/right.jsonl'", "1 passed"),
        ("['labels/wrong.jsonl']", "1 failed"),
        ("()", "1 skipped"),
    ):
        marked = f"@pytest.mark.assay(target=lambda question: {SAID!r}, golden='golden.jsonl', labels={labels})\n"
        session.makepyfile(test_rag=f"import pytest\n\n{marked}def test_rag(assay_run):\n    pass\n")
        assert expected in run().stdout.str()


def test_the_skip_of_an_open_case_says_which_fact_is_open(session: pytest.Pytester, run: Run) -> None:
    case = '{"id": "way", "question": "How is it opened?", "must_have": ["with a blue key"]}\n'
    (session.path / "open.jsonl").write_text(case, encoding="utf-8")
    session.makepyfile(
        test_rag="""
        import pytest

        @pytest.mark.assay(target=lambda question: "With the key of the colour of the sky.", golden="open.jsonl")
        def test_it(assay_run):
            pass
        """
    )
    outcome = run("-rs")
    outcome.assert_outcomes(skipped=1)
    outcome.stdout.fnmatch_lines(["*way: nothing tells whether the answer is right*left open: with a blue key (*"])
    outcome.stdout.no_fnmatch_line("*in a case that has none*")


def test_an_error_of_a_metric_fails_the_test_of_its_case(session: pytest.Pytester, run: Run) -> None:
    session.makepyfile(
        own_rag="""
        import assay

        @assay.metric
        def tone(case, observation):
            if case.id == "lead":
                raise LookupError("no tone for " + case.id)
            return 1.0
        """,
        test_rag="""
        import pytest
        from own_rag import tone

        @pytest.mark.assay(target=lambda question: "12 days, asks the team lead", golden="golden.jsonl", metrics=[tone])
        def test_rag():
            pass
        """,
    )
    (session.path / "golden.jsonl").write_text("".join(GOLDEN.splitlines(keepends=True)[:2]), encoding="utf-8")
    result = run()
    result.assert_outcomes(passed=1, failed=1)
    result.stdout.fnmatch_lines(["*lead failed: metric_error; tone: the metric raised LookupError: no tone for lead*"])


def test_the_body_can_assert_more(session: pytest.Pytester, run: Run) -> None:
    session.makepyfile(test_rag=TESTS.replace('"never"', '"leave"'))
    run("-k", "leave").assert_outcomes(failed=1)


def test_a_marked_function_without_the_fixture_fails_as_one_with_it(session: pytest.Pytester, run: Run) -> None:
    marked = TESTS.partition("def ")[0]
    session.makepyfile(test_rag=f"{marked}def test_bare():\n    pass\n")
    run().assert_outcomes(passed=1, failed=3)
    assert 3 == len(list_calls(session))


def test_the_target_is_asked_once_by_several_processes(session: pytest.Pytester, run: Run) -> None:
    pytest.importorskip("xdist")
    run("-n", "2", "-p", "xdist.plugin").assert_outcomes(passed=1, failed=3)
    assert 3 == len(list_calls(session))


def test_a_later_session_asks_again(session: pytest.Pytester, run: Run) -> None:
    run("-k", "leave")
    run("-k", "leave")
    assert 6 == len(list_calls(session))


def test_a_baseline_is_given_to_the_rules_of_the_gate(
    session: pytest.Pytester, run: Run, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.syspath_prepend(str(session.path))
    (session.path / "gate.yaml").write_text("rules: [{metric: error_rate, max_regression: 0.9}]\n", encoding="utf-8")
    main(["run", "--golden", "golden.jsonl", "--target", "ask=plugin_rag:ask", "--run-dir", "before"])
    compared = run("-k", "gate", "--assay-baseline", "before").stdout.str()
    assert "1 passed" in compared
    without = run("-k", "gate").stdout.str()
    assert "needs a baseline; none was given (--assay-baseline)" in without
    assert " --baseline" not in without
    alone = run("-k", "gate", "--assay-baseline", "none").stdout.str()
    assert "none" in alone
    assert "Traceback" not in alone
    assert "another exception occurred" not in alone


@pytest.mark.parametrize(
    ("marker", "message"),
    [
        ("golden='golden.jsonl'", "got no target; expected some of target, golden"),
        ("target=ask, golden='golden.jsonl', gates='x'", "got gates; did you mean gate?"),
        ("target=ask, golden='golden.jsonl', unknown='green'", "unknown: got 'green'; expected skip, fail, pass"),
        ("target=ask, golden='none.jsonl'", "golden: E_VALUE no such file"),
        ("target=ask, golden=[{'id': 'a'}]", "golden:1: question"),
        ("target=ask, golden='golden.jsonl', gate='gates/none.yaml'", "gates/none.yaml"),
        ("target=ask, golden='golden.jsonl', gate='generel'", "generel"),
        ("target=ask, golden='golden.jsonl', gate={'rules': [{'metric': 'recal@5', 'at_least': 1}]}", "recal@5"),
        ("target=ask, golden='golden.jsonl', metrics=['recall@5', 'recal@5']", "'recal@5': no such metric"),
        ("target=ask, golden='golden.jsonl', by='mood'", "by: no case has this key (got 'mood'"),
        ("target=ask, golden='golden.jsonl', repeat=0", "repeat: E_VALUE no count (got 0"),
        ("target=ask, golden='golden.jsonl', config=3", "config: E_VALUE no name (got 3"),
        ("target=ask, golden='golden.jsonl', labels=['none.jsonl']", "none.jsonl"),
        ("target=ask, golden='golden.jsonl', labels='golden.jsonl'", "no file of labels (got rows of id, question"),
        ("target=ask, golden='golden.jsonl', labels=3", "labels: E_VALUE no labels (got 3"),
    ],
)
def test_a_marker_that_cannot_be_used_says_so(session: pytest.Pytester, run: Run, marker: str, message: str) -> None:
    test = f"@pytest.mark.assay({marker})\ndef test_rag(assay_run):\n    pass\n"
    text = f"import pytest\nfrom plugin_rag import ask\n\n{test}"
    (session.path / "test_rag.py").write_text(text, encoding="utf-8")
    outcome = run()
    printed = outcome.stdout.str().partition("short test summary info")[0]
    assert 1 == printed.count("marker assay: ")
    assert message in printed
    assert "pytest_plugin.py" not in printed, "a traceback of the plugin tells nobody anything"
    assert not (session.path / "calls.txt").exists(), "nothing is asked before the marker can be used"


def test_what_cannot_be_scored_is_said_once(session: pytest.Pytester, run: Run) -> None:
    marked = "@pytest.mark.assay(target=ask, golden='golden.jsonl', corpus='shelf.jsonl')\n"
    test = f"{marked}def test_rag(assay_run):\n    pass\n"
    text = f"import pytest\nfrom plugin_rag import ask\n\n{test}"
    (session.path / "test_rag.py").write_text(text, encoding="utf-8")
    failures = [line for line in run("--tb=short", "-r", "N").stdout.lines if line.startswith("assay: ")]
    assert ["assay: nothing was scored, for the reason that test_rag[leave] gives"] * 2 == failures[1:]
    assert "shelf.jsonl" in failures[0]
    assert not (session.path / "calls.txt").exists()


def test_the_fixture_without_a_marker_says_what_is_missing(session: pytest.Pytester, run: Run) -> None:
    (session.path / "test_rag.py").write_text("def test_rag(assay_run):\n    pass\n", encoding="utf-8")
    assert "assay_run: no marker" in run().stdout.str()
