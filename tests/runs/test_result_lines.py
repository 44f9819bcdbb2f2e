"""What Python prints of a comparison, a decision and a failed target: a few lines that name what matters."""

from __future__ import annotations

import re
import sys
from typing import Any

import pytest

import assay
from assay.records.errors import AssayError, InputError
from assay.records.release_gates import Decision, Gate, Rule

GOLDEN = [{"question": f"What is {n} + 1?", "must_have": [str(n + 1)]} for n in range(40)]


def answer(question: str) -> dict[str, Any]:
    return {"answer": f"It is {int(question.split()[2]) + 1}."}


def answer_wrong(question: str) -> dict[str, Any]:
    return {"answer": "It is 1000."}


def test_a_comparison_and_a_decision_print_as_a_few_lines() -> None:
    before, after = assay.run(answer, GOLDEN, config="before"), assay.run(answer_wrong, GOLDEN, name="after")
    gate = Gate(rules=(Rule("failed", at_most=0.1),))
    comparison = after.compare(before, gate=gate)
    lines = str(comparison).splitlines()
    assert "after compared with before, the baseline: FAIL" == lines[0]
    assert "regressed significantly:" in lines
    assert any(line.startswith(" - correct_answer 1.000 → 0.000") for line in lines)
    (cases,) = [line for line in lines if line.startswith("cases: 40 fail now (")]
    assert " and 35 more), 0 no longer" in cases
    assert len(lines) < 25
    assert str(comparison) == str(assay.compare(baseline=before, candidate=after, gate=gate))
    assert "no metric changed significantly" in str(before.compare(before))
    decision = str(assay.gate(after, gate))
    assert decision.startswith("FAIL\n - failed 1.000 > 0.100")
    many = str(Decision("FAIL", tuple(f"reason {n}\x1b[2J " + "x" * 500 for n in range(9))))
    assert " - and 4 more in .reasons" in many
    assert "\x1b" not in many
    assert max(map(len, many.splitlines())) < 200


def test_the_configuration_has_one_name_in_every_function() -> None:
    rows = assay.observe(answer, GOLDEN[:1], config="one")
    assert ("one",) == assay.score(GOLDEN[:1], rows).configs == assay.run(answer, GOLDEN[:1], name="one").configs
    with pytest.raises(InputError, match="name one configuration"):
        assay.run(answer, GOLDEN[:1], name="one", config="two")


def test_the_only_error_of_a_target_says_what_is_expected_instead() -> None:
    printed = str(assay.run(lambda question: None, GOLDEN[:2]))
    assert "with answer and the chunks in retrieved or context)" in printed
    assert len(printed.splitlines()) <= 8


def test_the_exception_of_a_target_comes_first() -> None:
    def crash(question: str) -> str:
        raise KeyError("db")

    lines = str(assay.run(crash, GOLDEN[:2])).splitlines()
    assert lines[1].startswith(" - target error ×2: KeyError: 'db'")
    assert "answered none of 2 cases" in lines[2]
    assert len(lines) <= 8


@pytest.mark.parametrize("library", ["pandas", "polars"])
def test_a_missing_library_is_named_with_its_remedy(monkeypatch: pytest.MonkeyPatch, library: str) -> None:
    monkeypatch.setitem(sys.modules, library, None)
    measured = assay.run(answer, GOLDEN[:1])
    with pytest.raises(ImportError, match=f"{library} is not installed .pip install {library}") as raised:
        getattr(measured, f"to_{library}")()
    assert isinstance(raised.value, AssayError)


def test_cases_without_output_are_counted_beside_the_failed_ones() -> None:
    golden = [{"id": f"q{number}", "question": f"Is it {number}?", "must_have": ["12"]} for number in (1, 2, 3)]
    scored = assay.score(golden, [{"case_id": "q1", "answer": "It is 12."}])
    assert "without an answer: 2 of 3 (q2, q3)" in str(scored)
    assert (0.0, 2) == (scored.metric("failed").value, scored.metric("failed").errors)


def test_a_target_that_was_not_asked_any_more_is_said_beside_its_cases_without_output() -> None:
    golden = [{"id": f"q{number}", "question": f"Which tram is {number}?", "must_have": ["12"]} for number in range(15)]

    def refuse(question: str) -> str:
        raise ConnectionError("no route")

    measured = assay.run(refuse, golden, concurrency=1, name="depot")
    for text in (str(measured), measured._repr_html_()):
        assert "target depot: stopped asking: every one of the last calls failed" in text
    assert len(str(measured).splitlines()) <= 8


def test_replies_that_were_probably_misread_are_said_before_the_numbers() -> None:
    def answer_elsewhere(question: str) -> dict[str, Any]:
        return {"antwort": "Es ist 2.", "retrieved": ["a"]}

    def misspell_ranking(question: str) -> dict[str, Any]:
        return answer(question) | {"retreived": ["a"]}

    for function, said in ((answer_elsewhere, "antwort"), (misspell_ranking, "retreived (did you mean retrieved?)")):
        measured = assay.run(function, GOLDEN[:2], name="t")
        lines = str(measured).splitlines()
        assert lines[2].startswith(f"target t: keys that were not read: {said}")
        assert len(lines) <= 8
        assert said in measured._repr_html_()


def test_an_exception_without_a_message_says_that_it_has_none() -> None:
    def hang(question: str) -> str:
        raise ConnectionResetError

    line = str(assay.run(hang, GOLDEN[:2])).splitlines()[1]
    assert line.startswith(" - target error ×2: ConnectionResetError without a message, at ")


def test_a_notebook_shows_the_first_metrics_open_and_the_others_folded() -> None:
    rows = [{"id": "a", "question": "Who sews sails?", "must_have": ["Ove"]}]
    html = assay.score(rows, [{"case_id": "a", "answer": "Ove does."}])._repr_html_()
    opened, folded = html.split("<details>")
    assert "<td>correct_answer</td>" in opened and "1.000" in opened
    assert "correct_answer" not in folded and " more metrics</summary>" in folded
    assert "<td>over_refusal</td>" in folded and "over_refusal" not in opened


def test_a_notebook_cuts_nothing_off_and_shows_every_headline_metric() -> None:
    golden = [
        {
            "id": f"a-rather-long-name-of-case-{number}",
            "question": f"Which tram is number {number}?",
            "must_have": ["12"],
            "expected_chunk_ids": ["k1"],
            "behaviour": "answer",
        }
        for number in range(12)
    ]
    outputs = [
        {
            "case_id": row["id"],
            "answer": "Line 12, perhaps, or another line." if number % 2 else "It is 7.",
            "citations": ["k1"],
            "stages": [
                {
                    "name": name,
                    "chunks": [{"chunk_id": "k1", "text": "The tram is 7."}, {"chunk_id": "k2", "text": "Bus."}],
                }
                for name in ("retrieved", "context")
            ],
        }
        for number, row in enumerate(golden)
    ]
    scored = assay.score(golden, outputs)
    shown, _, folded = scored._repr_html_().partition("<details>")
    metrics = re.findall(r"<td>([\w@()=, ]+)</td><td>", shown)
    assert 4 < len(metrics) <= 8
    assert {"correct_answer", "behaviour", "recall@10", "rr@10"} <= set(metrics)
    assert "<td>hit@1</td>" in folded
    assert scored.unknown
    assert "…" not in shown
    assert "unknown: nothing tells whether the answer is right</p>" in shown
    line = next(line for line in str(scored).splitlines() if line.startswith("failed:"))
    assert line.endswith("unknown")
    assert len(line) <= 110


def test_a_notebook_names_every_configuration_of_the_failed_cases() -> None:
    golden = [{"id": "q", "question": "Which tram?", "must_have": ["12"]}]
    outputs = [{"case_id": "q", "answer": "It is 7.", "config_id": f"depot-{number}"} for number in range(5)]
    shown, _, _ = assay.score(golden, outputs)._repr_html_().partition("<details>")
    assert all(f"depot-{number}: 1 of 1 (q)" in shown for number in range(5))


def test_keys_of_outputs_that_were_not_read_are_named_with_what_the_result_prints() -> None:
    golden = [{"id": "a", "question": "How much leave?", "reference": "12 days"}]
    scored = assay.score(golden, [{"case_id": "a", "answer": "12 days", "latency_ms": 900, "trace": "t"}])
    unread = "outputs: keys that were not read: latency_ms (read under the name usage.end_to_end_ms), trace"
    assert unread in repr(scored).splitlines()
    assert unread in scored._repr_html_()
    asked = assay.run(lambda question: {"answer": "12 days", "cost_usd": 0.2}, golden)
    assert "keys that were not read: cost_usd (read under the name usage.cost_usd)" in repr(asked)
    misread = assay.score(golden, [{"case_id": "a", "answer": "12 days", "citation": "x"}])
    assert 1 == repr(misread).count("citation (did you mean citations?)")
    read = assay.score(golden, [{"case_id": "a", "answer": "12 days", "usage": {"end_to_end_ms": 900}}])
    assert "not read" not in repr(read)
