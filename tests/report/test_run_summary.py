"""The short screen: decision, metrics and failed cases in 25 lines, no line wider than the terminal."""

from __future__ import annotations

import re
from typing import get_args

import pytest
from hypothesis import given
from hypothesis import strategies as st
from msgspec.structs import replace
from tests.report.sample import BAD, GOOD, result, scoring
from tests.report.test_safe import HOSTILE

from assay.gates.ungated_decision import NOT_GATED_REASON
from assay.records.findings import Attribution
from assay.records.release_gates import Decision, Outcome
from assay.records.scores import CaseChecks, ScoringResult, SplitLooks, TwinRate, TwinResult, UnknownRange
from assay.report.exports.markdown import build_headline_table
from assay.report.screen.decision_lines import _SEVERITY
from assay.report.screen.failed_lines import MAX_FAILED_CASES, build_failed_lines
from assay.report.screen.fold_lines import fold_note, shorten_before_remedy
from assay.report.screen.next_step import find_case_to_explain
from assay.report.screen.run_summary import build_outcome_lines, render_run_summary
from assay.report.screen.terminal import Screen
from assay.text.escaping import escape_terminal, shorten_at_word

MAX_LINES = 25
LINES_FOR_FILES_AND_NEXT_COMMAND = 2


ALIKE = TwinRate(0.9, None, 40, 36)
APART = TwinRate(0.375, None, 8, 3, UnknownRange(2, 0.3, 0.5))
VARIANTS = TwinResult(48, 40, 8, 0, ALIKE, APART, APART, (), ())


def make_scoring(config_count: int, reason_count: int, failed_count: int) -> ScoringResult:
    """Return a scoring with so many configurations, reasons of each decision, and failed cases of each table."""
    configs = {}
    for number in range(config_count):
        name = f"configuration-{number}"
        reasons = tuple(f"metric_{reason} is below 0.9 on many of the cases" for reason in range(reason_count))
        made = result(BAD, Decision("FAIL", reasons))
        checks = tuple(CaseChecks(f"case_{position}", ("missing",)) for position in range(failed_count))
        ids = tuple(f"case_{position}" for position in range(failed_count))
        configs[name] = replace(made, table=replace(made.table, checks=checks, case_ids=ids))
    return replace(scoring(), configs=configs)


@pytest.mark.slow
@given(st.integers(1, 40), st.integers(0, 30), st.integers(0, 200), st.sampled_from([60, 80, 100, 180]))
def test_a_run_of_any_size_takes_25_lines_with_its_files_and_none_is_too_wide(
    config_count: int, reason_count: int, failed_count: int, width: int
) -> None:
    plain = make_scoring(config_count, reason_count, failed_count)
    looks, notes = SplitLooks(3, 1), tuple(f"a note of the run, number {number}" for number in range(3))
    twins = dict.fromkeys(plain.configs, VARIANTS)
    causes = {name: {"case_0": Attribution("case_0", "pass", reached=True, good=True)} for name in plain.configs}
    full = replace(plain, looks=looks, warnings=notes, twins=twins)
    screen = render_run_summary(full, causes, {}, width)
    assert any(line.startswith("Cases with variants: ") for line in screen.lines)
    assert len(screen.lines) <= MAX_LINES - LINES_FOR_FILES_AND_NEXT_COMMAND
    assert max(len(line) for line in screen.lines) <= width
    assert not screen.tables
    assert not screen.notes


def test_reasons_that_do_not_fit_are_counted() -> None:
    lines = render_run_summary(make_scoring(1, 30, 0), {}, {}).lines
    assert "configuration-0: FAIL" == lines[0]
    shown = [line for line in lines if line.startswith(" - metric_")]
    assert f" - and {30 - len(shown)} more reasons: --verbose" in lines


@pytest.mark.parametrize("configs", [2, 3, 4])
def test_a_configuration_with_room_for_one_line_says_its_first_reason(configs: int) -> None:
    lines = render_run_summary(make_scoring(configs, 3, 0), {}, {}, 70).lines
    for number in range(configs):
        after = lines[lines.index(f"configuration-{number}: FAIL") + 1]
        assert after == "" or after.startswith((" - metric_", "configuration-", " - configuration-")), after
    assert lines[1].startswith(" - metric_"), "the worst says its reason"
    assert all(len(line) <= 70 for line in lines)
    assert any(line.endswith("more: --verbose)") or "more reason" in line for line in lines)


def test_of_several_configurations_without_a_gate_one_line_says_that_nothing_was_decided() -> None:
    run = make_scoring(5, 0, 2)
    undecided = Decision("NOT_GATED", (NOT_GATED_REASON,))
    configs = {name: replace(made, decision=undecided) for name, made in run.configs.items()}
    screen = render_run_summary(replace(run, configs=configs), {}, {})
    assert ("5 configurations: NOT_GATED", f" - {NOT_GATED_REASON}", "") == screen.lines[:3]
    assert ("5 configurations: NOT_GATED",) == screen.muted
    leaky = Decision("NOT_GATED", ("1 case leaked", NOT_GATED_REASON), events=("1 case leaked",))
    shown = render_run_summary(
        replace(run, configs=configs | {"configuration-3": replace(run.configs["configuration-3"], decision=leaky)}),
        {},
        {},
    ).lines
    assert "configuration-3: NOT_GATED" in shown and "5 configurations: NOT_GATED" not in shown


@pytest.mark.parametrize("gated", [True, False])
def test_the_first_failed_cases_of_the_worst_configuration_are_named_with_what_happened(gated: bool) -> None:
    """The worst decides: the worst decision with a gate, else the most failed cases, whatever the name."""
    run = make_scoring(5, 0, 3)
    configs = {}
    for number, (name, made) in enumerate(run.configs.items()):
        outcome: Outcome = "FAIL" if number == 3 else "PASS_WITH_RISK"
        decision = Decision(outcome, ("a bound",)) if gated else Decision("NOT_GATED", (NOT_GATED_REASON,))
        checks = made.table.checks if gated or number == 3 else made.table.checks[:2]
        configs[name] = replace(made, decision=decision, table=replace(made.table, checks=checks))
    causes = {
        name: {
            f"case_{number}": Attribution(f"case_{number}", "generation_fault", "generator", sign=f"sign {number}")
            for number in range(3)
        }
        for name in configs
    }
    worst = replace(run, configs=configs)
    lines = render_run_summary(worst, causes, {}).lines
    assert len(lines) <= MAX_LINES - LINES_FOR_FILES_AND_NEXT_COMMAND
    named = [line for line in lines if line.startswith(" - case_")]
    assert [f" - case_{number} (configuration-3): sign {number}" for number in range(3)] == [
        line.partition(" (generator")[0] for line in named[:3]
    ]
    assert ("configuration-3", "case_0") == find_case_to_explain(worst)
    if gated:
        assert lines[lines.index("configuration-3: FAIL") + 1] == " - configuration-3: a bound"
        counts = "failed of 3: configuration-0 3; configuration-1 3; configuration-2 3; configuration-3 3"
        assert counts in " ".join(lines)


def test_the_first_reason_of_each_metric_comes_before_further_ones_of_the_same() -> None:
    reasons = ("leaks on 4 cases", "leaks on tag=acl", "leaks on tag=hr", "leaks on tag=it", "recall 0.2 < 0.9")
    scored = replace(scoring(), configs={BAD: result(BAD, Decision("FAIL", reasons))})
    lines = render_run_summary(scored, {}, {}).lines
    assert (" - leaks on 4 cases", " - recall 0.2 < 0.9", " - leaks on tag=acl") == lines[1:4]


def test_configurations_that_do_not_fit_are_counted_and_the_worst_are_named() -> None:
    scored = make_scoring(30, 1, 1)
    last = scored.configs["configuration-9"]
    others = {name: replace(made, decision=Decision("PASS", ())) for name, made in scored.configs.items()}
    lines = render_run_summary(replace(scored, configs=others | {"configuration-9": last}), {}, {}).lines
    assert "configuration-9: FAIL" == lines[0]
    assert "and 26 more configurations" in lines


def test_variants_have_one_line_in_words() -> None:
    one = replace(make_scoring(1, 0, 3), twins={"configuration-0": VARIANTS})
    expected = "Cases with variants: 36 of 40 treated alike, 3 of 8 told apart (2 unknown)"
    assert expected in render_run_summary(one, {}, {}).lines
    two = replace(
        make_scoring(2, 0, 0), twins={"configuration-1": replace(VARIANTS, distinction=TwinRate(None, None, 0, 0))}
    )
    assert "Cases with variants: configuration-1 36 of 40 treated alike" in render_run_summary(two, {}, {}).lines


def test_every_outcome_has_a_severity() -> None:
    assert sorted(get_args(Outcome)) == sorted(_SEVERITY)


def test_failed_cases_name_cause_and_fix_and_faults_of_access_come_first() -> None:
    scored = make_scoring(1, 0, 3)
    causes = {
        "case_1": Attribution(
            "case_1",
            "retrieval_fault",
            "reranker",
            confidence="high",
            sign="it ranked it low",
            fix="rerank more",
        ),
        "case_2": Attribution("case_2", "access_fault", "acl", confidence="high", fix="filter first"),
    }
    lines = render_run_summary(scored, {"configuration-0": causes}, {}).lines
    assert (
        "Cases: configuration-0 3 of 3 failed",
        " - case_2: the user was denied what they may see (acl) → filter first",
        " - case_0",
        " - case_1: it ranked it low (ranking) → rerank more",
    ) == lines[-6:-2]


@pytest.mark.parametrize(("configs", "failed"), [(1, 9), (1, 6), (5, 30)])
def test_failed_cases_that_are_not_listed_are_counted_with_how_to_see_them(configs: int, failed: int) -> None:
    lines = render_run_summary(make_scoring(configs, 5, failed), {}, {}).lines
    listed = [line for line in lines if line.startswith(" - case_")]
    (more,) = [line for line in lines if "or the HTML report for all" in line]
    assert f" - and {configs * failed - len(listed)} more: --verbose, or the HTML report for all" == more
    assert len(listed) <= MAX_FAILED_CASES
    all_listed = render_run_summary(make_scoring(1, 0, MAX_FAILED_CASES), {}, {}).lines
    assert not any("or the HTML report for all" in line for line in all_listed)


def test_answers_with_and_without_evidence_are_counted_in_words_where_there_is_room() -> None:
    fates = [(True, True), (True, True), (True, False), (False, False), (None, True)]
    attributions = {
        f"case-{number}": Attribution(f"case-{number}", "pass", reached=reached, good=good)
        for number, (reached, good) in enumerate(fates)
    }
    by_config = {"configuration-0": attributions}
    sentence = "Answers with the evidence: 2 good, 1 bad; without it: 0 good, 1 bad; not counted: 1"
    assert sentence in render_run_summary(make_scoring(1, 0, 0), by_config, {}, 100).lines
    shorter = "Evidence reached: 2 good, 1 bad; not reached: 0 good, 1 bad; not counted: 1"
    assert shorter in render_run_summary(make_scoring(1, 0, 0), by_config, {}, 80).lines
    numbers = "Good/bad with the evidence, without it, not counted:"
    assert numbers in " ".join(render_run_summary(make_scoring(1, 0, 0), by_config, {}, 70).lines)


def test_the_counts_of_two_configurations_are_a_sentence_each_and_none_are_no_line() -> None:
    names = [f"configuration-{number}" for number in range(2)]
    counted = {"case-0": Attribution("case-0", "pass", reached=True, good=True)}
    lines = build_outcome_lines(dict.fromkeys(names, counted), names, 100)
    assert [
        f"Answers with the evidence, {name}: 1 good, 0 bad; without it: 0 good, 0 bad; not counted: 0" for name in names
    ] == lines
    (numbers, *_) = build_outcome_lines(dict.fromkeys((*names, "third"), counted), (*names, "third"), 100)
    assert numbers.startswith("Good/bad with the evidence, without it, not counted: configuration-0 1/0 0/0 0, ")
    uncounted = {"case-0": Attribution("case-0", "pass", reached=None, good=True)}
    assert [] == build_outcome_lines(dict.fromkeys(names, uncounted), names, 100)


@pytest.mark.parametrize("count", [2, 5, 9])
def test_no_number_of_configurations_hides_what_leaked(count: int) -> None:
    events = ("3 of 4 cases leaked what the user must not see", "1 of 4 cases followed a planted instruction")
    decision = Decision("FAIL", (*events, "recall@10 fell"), events=events)
    run = make_scoring(count, 0, 0)
    configs = {name: replace(result, decision=decision) for name, result in run.configs.items()}
    screen = render_run_summary(replace(run, configs=configs), {}, {}, 120)
    named = [line for line in screen.alerts if "leaked what the user" in line]
    assert 2 <= len(named) <= count
    assert set(screen.alerts) <= set(screen.lines)
    if count > 2:
        assert [f" - configuration-{number}: {events[0]}" for number in range(2)] == named
        assert any(f"and {2 * count - 2} more events of this kind: --verbose" in line for line in screen.lines)


def test_a_range_that_a_narrow_column_would_cut_is_rounded() -> None:
    run = make_scoring(5, 0, 0)
    configs = {}
    for name, made in run.configs.items():
        summary = replace(made.summary["recall@10"], value=0.7, unknown=UnknownRange(2, 0.6857, 0.8004))
        configs[name] = replace(made, summary={"recall@10": summary})
    lines = render_run_summary(replace(run, configs=configs), {}, {}, 80, metrics=["recall@10"]).lines
    (row,) = (line for line in lines if line.startswith("recall@10 "))
    assert ["0.69–0.80"] * 5 == row.split()[1:]


def test_metrics_that_are_named_take_the_place_of_the_headline() -> None:
    lines = render_run_summary(scoring(), {}, {}, metrics=["recall@10"]).lines
    header = next(number for number, line in enumerate(lines) if GOOD in line and BAD in line and ":" not in line)
    assert lines[header + 1].startswith("recall@10 ")
    assert not any(line.startswith(("MRR", "not measured")) for line in lines)


def test_both_rankings_of_a_reranker_are_named_and_the_last_comes_first() -> None:
    def with_last(value: float) -> ScoringResult:
        run = scoring()
        reranked = run.configs[GOOD]
        last = replace(reranked.summary["rr@10"], metric="rr(stage=final)@10", value=value)
        changed = replace(reranked, summary={**reranked.summary, last.metric: last})
        return replace(run, configs={**run.configs, GOOD: changed})

    retrieved = scoring().configs[GOOD].summary["rr@10"].value
    assert retrieved is not None
    mrr = ("MRR",)
    lines = [line for line in render_run_summary(with_last(retrieved / 4), {}, {}).lines if line.startswith(mrr)]
    table = build_headline_table(with_last(retrieved / 4))
    titles = [row[0] for row in table.rows if row[0].startswith(mrr)]
    assert titles == ["MRR@10, last ranking", "MRR@10"]
    assert lines[0].startswith("MRR@10, last ranking")
    unchanged = [row[0] for row in build_headline_table(with_last(retrieved)).rows if row[0].startswith(mrr)]
    assert unchanged == ["MRR@10"]


def test_slices_are_shown_where_they_are_asked_for() -> None:
    assert ["Slices"] == [table.title for table in render_run_summary(scoring(), {}, {}, by=["tag"]).tables]


def test_the_counts_of_several_configurations_are_folded_and_not_cut() -> None:
    lines = render_run_summary(make_scoring(4, 1, 3), {}, {}, 80).lines
    begin = next(number for number, line in enumerate(lines) if line.startswith("Cases: "))
    counted = " ".join(lines[begin : begin + 3])
    assert all(f"configuration-{number} " in counted for number in range(4))


def test_leaks_stay_marked_on_a_narrow_terminal() -> None:
    event = "12 of 41 cases leaked what the user must not see (visibility_leaks): case_1, case_2, case_3"
    decision = Decision("FAIL", (event,), events=(event,))
    screen = render_run_summary(replace(scoring(), configs={BAD: result(BAD, decision)}), {}, {}, width=60)
    assert set(screen.alerts) <= set(screen.lines)
    assert screen.alerts


@pytest.mark.parametrize("text", HOSTILE.values(), ids=HOSTILE)
def test_what_would_have_an_effect_on_a_terminal_is_escaped(text: str) -> None:
    configs = {text: result(BAD, Decision("FAIL", (text,), events=(text,)))}
    screen = render_run_summary(replace(scoring(), configs=configs, stages={text: text}), {}, {})
    assert all(line == escape_terminal(line) for line in screen.lines)


@pytest.mark.parametrize("width", [5, 9, 20])
def test_a_line_is_cut_between_words_unless_one_word_fills_it(width: int) -> None:
    assert len(shorten_at_word("one two three four five", width)) <= width
    assert len(shorten_at_word("x" * 50, width)) == width


def tell(width: int, attribution: Attribution, *case_ids: str, room: int = 9) -> list[str]:
    """What the screen says of failed cases to which the same happened."""
    scored = make_scoring(1, 0, 0)
    (config,) = scored.configs
    table = replace(
        scored.configs[config].table,
        case_ids=case_ids,
        checks=tuple(CaseChecks(case_id, ("wrong_answer",)) for case_id in case_ids),
    )
    scored = replace(scored, configs={config: replace(scored.configs[config], table=table)})
    by_config = {config: dict.fromkeys(case_ids, attribution)}
    return build_failed_lines(scored, [config], by_config, {}, width, room)[1:]


UNSURE = Attribution(
    "visa",
    "retrieval_fault",
    "generator",
    sign="the visa was read wrongly",
    also=("parser", "chunking"),
    confidence="low",
    fix="tighten the prompt; another model; constrained output; examples, also of refusals",
)


@pytest.mark.parametrize("width", range(60, 170, 7))
def test_a_remedy_is_whole_on_a_screen_of_any_width(width: int) -> None:
    lines = tell(width, UNSURE, "a-case-with-a-long-name")
    assert all(len(line) <= width for line in lines)
    remedies = " ".join(lines).partition(" → ")[2].split("; ")
    assert remedies == UNSURE.fix.split("; ")[: len(remedies)]
    assert remedies[0] == "tighten the prompt"
    assert any("(generator, parser, chunking; low)" in line for line in lines)


@pytest.mark.parametrize("width", [60, 80, 100])
def test_what_the_facts_leave_open_is_said_as_one_of_several(width: int) -> None:
    (first, *_) = tell(width, UNSURE, "visa-7")
    assert first.startswith(" - visa-7: one of: the visa was read wrongly; ")
    sure = replace(UNSURE, confidence="high")
    line = tell(width, sure, "visa-7")
    assert " - visa-7: the visa was read wrongly" == line[0].partition(" (")[0]
    assert "(generator)" in " ".join(line)


@pytest.mark.parametrize("width", [70, 80, 100, 120])
def test_cases_to_which_the_same_happened_are_told_together_and_all_counted(width: int) -> None:
    sure = replace(UNSURE, also=(), confidence="high")
    ids = [f"application-{number}" for number in range(12)]
    head = tell(width, sure, *ids)[0]
    named, _, rest = head.partition(": ")
    shown = named.removeprefix(" - ").split(", ")
    assert named.startswith(" - application-0")
    assert named.endswith(f" and {12 - len(shown)} more")
    assert rest.startswith("the visa was read wrongly")
    both = tell(width, sure, *ids[:2])[0]
    assert both.startswith((" - application-0, application-1: ", " - application-0 and 1 more: "))


def test_where_room_is_short_more_cases_come_before_their_remedies() -> None:
    scored = make_scoring(1, 0, 4)
    signs = ("it was cut off", "it was read twice", "it was lost on the way", "it was sold")
    causes = {
        f"case_{number}": Attribution(f"case_{number}", "unknown", "generator", sign=sign, fix="look " * 12)
        for number, sign in enumerate(signs)
    }
    lines = build_failed_lines(scored, ["configuration-0"], {"configuration-0": causes}, {}, 70, 5)
    assert ["Cases", " - case_0", "   → look look look look", " - case_1", " - and 2 more"] == [
        line[:23].partition(":")[0] if "→" not in line else line[:24] for line in lines
    ]
    with_room = build_failed_lines(scored, ["configuration-0"], {"configuration-0": causes}, {}, 70, 9)
    assert 4 == sum("→" in line for line in with_room)


def test_cases_that_did_not_fail_in_the_baseline_come_first_and_are_counted() -> None:
    scored = make_scoring(1, 0, 4)
    causes = {
        f"case_{number}": Attribution(f"case_{number}", "unknown", "generator", sign=f"{number} was lost", fix="look")
        for number in range(4)
    }
    by_config, new = {"configuration-0": causes}, {"configuration-0": ("case_2", "case_3")}
    lines = build_failed_lines(scored, ["configuration-0"], by_config, {}, 100, 4, new)
    assert lines[0].endswith("4 of 4 failed (2 new since the baseline)")
    assert lines[1].startswith(" - new: case_2: 2 was lost")
    assert lines[2].startswith(" - new: case_3: 3 was lost")
    assert " - and 2 more: --verbose, or the HTML report for all" == lines[3]
    assert not any("new" in line for line in build_failed_lines(scored, ["configuration-0"], by_config, {}, 100, 4))


@pytest.mark.parametrize("room", range(2, 7))
def test_a_cause_is_listed_wherever_there_is_a_line_for_it(room: int) -> None:
    """A first cause of two lines and a remedy does not fit, and leaves its place to no count of what is not there."""
    scored = make_scoring(1, 0, 4)
    causes = {
        f"case_{number}": Attribution(
            f"case_{number}", "unknown", "generator", sign=f"{number} was lost " + "on the way " * 9, fix="look " * 9
        )
        for number in range(4)
    }
    lines = build_failed_lines(scored, ["configuration-0"], {"configuration-0": causes}, {}, 70, room)
    listed = [line for line in lines if line.startswith(" - case_")]
    assert len(lines) <= room
    assert (room >= 3) == bool(listed)
    if room < 5:
        left = 4 - len(listed)
        assert lines[-1].startswith(f" - and {left} more" if listed else " - 4 failed: --verbose")


@pytest.mark.parametrize(
    ("line", "cut"),
    [
        ("doubt: 3 of 9 cases are late: ann, bob (ask the owner of each)", "doubt: 3 of 9 cases are late: ann, bob …"),
        ("recall was measured on 9 of 11 cases (the index was not built)", "recall was measured on 9 of 11 cases …"),
        (
            "a long sentence without any names in it, which is cut (rerun it)",
            "a long sentence without any … (rerun it)",
        ),
    ],
)
def test_a_remedy_does_not_take_the_place_of_the_sentence(line: str, cut: str) -> None:
    assert cut == shorten_before_remedy(line, 40)


def test_a_reason_is_folded_where_lines_are_left_and_stays_marked_as_a_leak() -> None:
    event = "12 of 41 cases leaked what the user must not see (visibility_leaks): case_1, case_2; 7 not checked"
    others = [f"metric_{number} is below its bound of 0.9 on the cases of the first tenant" for number in range(5)]

    def show(*reasons: str) -> Screen:
        decision = Decision("FAIL", reasons, events=reasons[:1])
        return render_run_summary(replace(scoring(), configs={BAD: result(BAD, decision)}), {}, {}, width=60)

    screen = show(event)
    assert event == " ".join(line.strip(" -") for line in screen.lines[1:3])
    assert screen.lines[1:3] == screen.alerts
    crowded = show(event, *others)
    assert crowded.lines[1].endswith("…")
    assert crowded.lines[1:2] == crowded.alerts


@pytest.mark.parametrize("width", [70, 80, 100])
def test_configurations_whose_names_begin_alike_are_told_apart_above_their_numbers(width: int) -> None:
    names = [f"the-hybrid-search-with-reranker-{number}" for number in range(4)]
    configs = {name: result(GOOD, Decision("PASS", ())) for name in names}
    lines = render_run_summary(replace(scoring(), configs=configs), {}, {}, width).lines
    (header,) = [line for line in lines if line.startswith("   ")]
    titles = header.split()
    assert len(set(titles)) == 4
    assert [title[-1] for title in titles] == ["0", "1", "2", "3"]


@pytest.mark.parametrize("outcome", ["PASS_WITH_RISK", "FAIL", "NOT_GATED"])
def test_a_long_name_takes_the_place_neither_of_the_outcome_nor_of_the_count(outcome: Outcome) -> None:
    name = "the-hybrid-search-with-a-reranker-and-" + "many-more-" * 12
    made = make_scoring(1, 0, 3).configs["configuration-0"]
    screen = render_run_summary(
        replace(scoring(), configs={name: replace(made, decision=Decision(outcome, ("a reason",)))}), {}, {}, 80
    )
    assert screen.lines[0].endswith(f"…: {outcome}")
    assert any(re.fullmatch(r"Cases: the.*…\S* 3 of 3 failed", line) for line in screen.lines)
    assert all(len(line) <= 80 for line in screen.lines)
    assert set(screen.muted) <= set(screen.lines)


def test_of_a_note_that_is_too_long_the_remedy_stays() -> None:
    note = "not measured: Faithfulness, Answer relevance, Citation support (run `assay judge` to measure them)"
    (line,) = fold_note(note, 60, " (and 2 more: --verbose)", 1)
    assert len(line) <= 60
    assert line.startswith("note: run `assay judge` to")
    first, second = fold_note(note, 70, "", 2)
    assert first + " " + second == f"note: {note}"


def test_a_folded_note_keeps_its_order_where_its_parentheses_hold_a_value() -> None:
    note = "golden.jsonl:3: question: E_NEAR_DUPLICATE question asked before (got 'How much?'; expected one case)"
    (line,) = fold_note(note, 70, "", 1)
    assert line.startswith("note: golden.jsonl:3: question: E_NEAR_DUPLICATE question asked")
