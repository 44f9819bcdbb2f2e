"""Whether a system tells a case apart from its variants of which another answer is right."""

import json
from itertools import product
from pathlib import Path
from typing import Any, Literal

import pytest
from hypothesis import assume, given
from hypothesis import strategies as st
from msgspec.structs import replace

from assay import run
from assay.cli import main
from assay.formats.golden_files import load_golden
from assay.metrics.variants import NO_DIFFERING_VARIANTS, UNKNOWN_DISTINCTION_REASON, VARIANTS_ARE_CASES
from assay.records.golden_set import Case, Evidence, GoldenSet, User
from assay.records.observations import Chunk, Observation, Stage, TargetError
from assay.records.release_gates import Gate, Rule
from assay.records.requests import ScoreRequest, ScoringOptions
from assay.records.scores import ScoringResult
from assay.report.cases.explain_case import explain_case
from assay.report.exports.json_report import render_json_report
from assay.runs.score_inputs import LoadedGate, ScoreInputs
from assay.runs.score_result import ScoreResult, compare_results
from assay.runs.score_run import score_observations

QUESTIONS = 12
ALONE = ["twin_distinction"]
Reply = Literal["own", "other", "both", "wrong", "vague", "refusal", "failure", "nothing"]
REPLIES: tuple[Reply, ...] = ("own", "other", "both", "wrong", "vague", "refusal", "failure", "nothing")


def price(number: int, *, swapped: bool) -> str:
    """Return what an item costs, and what the item costs that its variant asks about."""
    return f"{number + 50} USD" if swapped else f"{number + 10} USD"


def make_set(*kinds: str) -> GoldenSet:
    """Return questions about prices with variants of the kinds: another item, or a user who may not know."""
    cases = []
    for number in range(QUESTIONS):
        base = Case(f"q{number}", f"What does item {number} cost?", must_have=(price(number, swapped=False),))
        cases.append(base)
        for kind in kinds:
            variant = replace(base, id=f"{base.id}~{kind}", variant_of=base.id, variant=kind, cluster=base.id)
            if kind == "entity-swapped":
                facts = (price(number, swapped=True),)
                variant = replace(variant, question=f"What does item {number + 40} cost?", must_have=facts)
            else:
                variant = replace(variant, behaviour="permission_denied", must_have=(), user=User(roles=("guest",)))
            cases.append(variant)
    return GoldenSet(tuple(cases))


def observe(golden: GoldenSet, replies: dict[str, str] | None = None) -> list[Observation]:
    """Return right answers, except for the cases that have a text of their own."""
    observations = []
    for case in golden.cases:
        right = f"It costs {case.must_have[0]}." if case.must_have else "You are not allowed to see this price."
        observations.append(Observation(case.id, answer=(replies or {}).get(case.id, right), config_id="a"))
    return observations


def score(golden: GoldenSet, observations: list[Observation], **options: Any) -> ScoringResult:
    """Return the result of scoring in memory."""
    request = ScoreRequest(scoring=ScoringOptions(**options))
    return score_observations(ScoreInputs.from_golden(golden, request), observations).scoring


def read_state(result: ScoringResult, case_id: str) -> tuple[float | None, str]:
    """Return the score of a case and why it has none."""
    table = result.configs["a"].table
    column, row = table.columns["twin_distinction"], table.case_ids.index(case_id)
    reason = column.reasons[column.reason[row]]
    return (float(column.values[row]) if column.status[row] == 0 else None), reason


# ── what counts as told apart ────────────────────────────────────────────────────────────────────────────────────────


def test_a_system_that_gives_each_its_own_answer_tells_all_apart() -> None:
    golden = make_set("entity-swapped", "other-user")
    scoring = score(golden, observe(golden))
    summary = scoring.configs["a"].summary["twin_distinction"]
    assert (summary.value, summary.scored) == (1.0, QUESTIONS)
    assert scoring.twins["a"].distinction.good == QUESTIONS and scoring.twins["a"].difference.good == 2 * QUESTIONS
    assert not scoring.twins["a"].pairs


@pytest.mark.parametrize(
    "text",
    ["It costs 11 USD.", "You are not allowed to see this price.", "I could not find that.", "It is complicated."],
)
def test_a_system_that_answers_everything_with_one_sentence_tells_nothing_apart(text: str) -> None:
    golden = make_set("entity-swapped", "other-user")
    scoring = score(golden, observe(golden, {case.id: text for case in golden.cases}))
    assert scoring.configs["a"].summary["twin_distinction"].value == 0.0
    assert {pair.detail for pair in scoring.twins["a"].pairs} == {"the same answer"}


def test_equal_refusals_in_other_words_are_no_distinction() -> None:
    golden = make_set("other-user")
    scoring = score(golden, observe(golden, {"q1": "You do not have access to this."}))
    assert read_state(scoring, "q1") == (0.0, "")
    assert [pair.detail for pair in scoring.twins["a"].pairs] == ["permission_denied both times"]


def test_an_answer_to_a_user_who_must_not_know_is_no_distinction() -> None:
    golden = make_set("other-user")
    scoring = score(golden, observe(golden, {"q1~other-user": "Sure: the item is sold for 11 USD these days."}))
    assert read_state(scoring, "q1") == (0.0, "")
    assert [pair.detail for pair in scoring.twins["a"].pairs] == ["answer where permission_denied is right"]


def test_the_answer_of_the_other_twin_is_named() -> None:
    golden = make_set("entity-swapped")
    texts = {"q1~entity-swapped": "Its price is 11 USD.", "q2": "Its price is 52 USD."}
    scoring = score(golden, observe(golden, texts))
    details = {pair.case_id: pair.detail for pair in scoring.twins["a"].pairs}
    assert details == {"q1": "the answer of its case", "q2": "its case got the answer of the variant"}


def test_what_only_makes_an_answer_worse_is_a_distinction() -> None:
    """A shared fact that is missing and a citation that is wrong say nothing of the twins."""
    golden = make_set("entity-swapped")
    cases = [replace(case, must_have=(*case.must_have, "free delivery")) for case in golden.cases]
    cases = [replace(case, must_cite=("prices",)) for case in cases]
    observations = [replace(row, citations=("none",)) for row in observe(golden)]
    scoring = score(replace(golden, cases=tuple(cases)), observations)
    assert "incomplete_answer" in scoring.configs["a"].table.checks[0].failed
    assert scoring.configs["a"].summary["twin_distinction"].value == 1.0


# ── what nobody can tell ─────────────────────────────────────────────────────────────────────────────────────────────


def test_a_twin_without_output_is_unknown_and_never_a_number() -> None:
    golden = make_set("entity-swapped")
    rows = [row for row in observe(golden) if row.case_id != "q1~entity-swapped"]
    broken = [replace(row, answer=None, error=TargetError("HTTP_500")) if row.case_id == "q2" else row for row in rows]
    scoring = score(golden, broken)
    assert read_state(scoring, "q1") == read_state(scoring, "q2") == (None, UNKNOWN_DISTINCTION_REASON)
    summary = scoring.configs["a"].summary["twin_distinction"]
    assert (summary.value, summary.scored) == (1.0, QUESTIONS - 2) and summary.unknown is not None
    assert (summary.unknown.count, summary.unknown.high) == (2, 1.0)
    assert summary.unknown.low == pytest.approx((QUESTIONS - 2) / QUESTIONS)


def test_answers_that_nothing_can_check_are_unknown() -> None:
    cases = tuple(
        replace(case, must_have=(), reference=f"As in {case.id}.") for case in make_set("entity-swapped").cases
    )
    texts = {case.id: f"It depends on {'the weather' if case.variant_of else 'the day'}." for case in cases}
    scoring = score(GoldenSet(cases), observe(GoldenSet(cases), texts))
    summary = scoring.configs["a"].summary["twin_distinction"]
    assert summary.value is None and summary.unknown is not None and summary.unknown.count == QUESTIONS


def test_twins_of_which_the_set_expects_the_same_are_unknown() -> None:
    golden = make_set("entity-swapped")
    cases = tuple(replace(case, must_have=("11 USD",)) for case in golden.cases)
    scoring = score(GoldenSet(cases), observe(GoldenSet(cases)))
    assert {pair.detail for pair in scoring.twins["a"].pairs} == {"the golden set expects the same of both"}


def test_one_pair_that_is_confused_decides_whatever_is_unknown_of_the_others() -> None:
    golden = make_set("entity-swapped", "other-user")
    rows = [row for row in observe(golden, {"q1~other-user": "11 USD."}) if row.case_id != "q1~entity-swapped"]
    assert read_state(score(golden, rows), "q1") == (0.0, "")


# ── searches without an answer ───────────────────────────────────────────────────────────────────────────────────────


def search(golden: GoldenSet, chunks: dict[str, tuple[str, ...]]) -> list[Observation]:
    """Return what a search found for each case, without an answer: its own evidence if nothing else is given."""
    rows = []
    for case in golden.cases:
        own = tuple(str(unit.any_of[0]["chunk_id"]) for unit in case.evidence)
        found = tuple(Chunk(chunk_id) for chunk_id in chunks.get(case.id, own))
        rows.append(Observation(case.id, stages=(Stage("retrieved", found),), config_id="a"))
    return rows


def test_a_search_tells_twins_apart_by_their_evidence() -> None:
    golden = make_set("entity-swapped")
    cases = tuple(replace(case, evidence=(Evidence(({"chunk_id": f"c:{case.id}"},)),)) for case in golden.cases)
    golden = GoldenSet(cases)
    same = dict.fromkeys(("q1", "q1~entity-swapped"), ("c:q1", "c:q1~entity-swapped"))
    chunks = {**same, "q2~entity-swapped": ("c:q2",), "q3": ("c:x",), "q4~entity-swapped": ("c:x", "c:q4")}
    scoring = score(golden, search(golden, chunks))
    details = {pair.case_id: pair.detail for pair in scoring.twins["a"].pairs}
    assert details == {
        "q1": "the same chunks",
        "q2": "the same chunks",
        "q3": "its evidence is not among the chunks (case)",
        "q4": "its evidence is not among the chunks",
    }
    assert scoring.twins["a"].distinction.good == QUESTIONS - 4


def test_a_search_that_shows_a_user_what_they_must_not_see_is_caught() -> None:
    golden = make_set("other-user")
    cases = tuple(
        replace(case, evidence=(Evidence(({"chunk_id": f"c:{case.variant_of or case.id}"},)),)) for case in golden.cases
    )
    golden = GoldenSet(cases)
    hidden = {case.id: ("c:open",) for case in cases if case.variant_of is not None and case.id != "q1~other-user"}
    scoring = score(golden, search(golden, {**hidden, "q2": ("c:open",)}))
    details = {pair.case_id: pair.detail for pair in scoring.twins["a"].pairs}
    assert details == {"q1": "leak (variant)", "q2": "the evidence is shown to neither user"}


# ── a law ────────────────────────────────────────────────────────────────────────────────────────────────────────────


def make_reply(reply: Reply, number: int, *, swapped: bool) -> Observation:
    own, other = price(number, swapped=swapped), price(number, swapped=not swapped)
    texts = {
        "own": f"It costs {own}.",
        "other": f"The price is {other}.",
        "both": f"One is {own}, the other is {other}.",
        "wrong": f"It costs {77 if swapped else 78} EUR in all.",
        "vague": f"The list was printed in {'green' if swapped else 'blue'}.",
        "refusal": f"I could not find {'that' if swapped else 'this'} in the documents.",
    }
    name = f"q{number}~entity-swapped" if swapped else f"q{number}"
    if reply == "failure":
        return Observation(name, error=TargetError("HTTP_500"), config_id="a")
    return Observation(name, answer=texts[reply], config_id="a")


@given(st.lists(st.tuples(st.sampled_from(REPLIES), st.sampled_from(REPLIES)), min_size=1, max_size=QUESTIONS))
def test_only_pairs_of_own_answers_are_told_apart_and_the_order_of_rows_does_not_matter(
    replies: list[tuple[Reply, Reply]],
) -> None:
    whole = make_set("entity-swapped")
    names = {f"q{number}{end}" for number in range(len(replies)) for end in ("", "~entity-swapped")}
    golden = GoldenSet(tuple(case for case in whole.cases if case.id in names))
    rows = [
        make_reply(reply, number, swapped=swapped)
        for number, pair in enumerate(replies)
        for reply, swapped in zip(pair, (False, True), strict=True)
        if reply != "nothing"
    ]
    assume(any("~" not in row.case_id for row in rows))
    scoring = score(golden, rows, metrics=ALONE)
    for number, pair in enumerate(replies):
        value, reason = read_state(scoring, f"q{number}")
        assert value in (None, 0.0, 1.0) and (value is None) == (reason == UNKNOWN_DISTINCTION_REASON)
        if "nothing" in pair or "failure" in pair:
            assert value is None, pair
        elif set(pair) == {"own", "both"}:  # whether an answer that states both prices is right may be open
            assert value != 0.0, pair
        else:
            assert (value == 1.0) == (pair == ("own", "own")), (pair, value)
    if "twin_distinction" in scoring.configs["a"].summary:
        summary = scoring.configs["a"].summary["twin_distinction"]
        again = score(golden, rows[::-1], metrics=ALONE).configs["a"].summary["twin_distinction"]
        assert again == summary and (summary.value is None or 0.0 <= summary.value <= 1.0)


def test_every_pair_of_replies_has_a_state() -> None:
    """The law above draws some of the pairs; these are all of them, in sets of one."""
    whole = make_set("entity-swapped")
    golden = GoldenSet(whole.cases[:2])
    for first, second in product(REPLIES, REPLIES):
        if "nothing" in (first, second):
            continue
        sides = ((first, False), (second, True))
        rows = [make_reply(reply, 0, swapped=swapped) for reply, swapped in sides]
        value, _ = read_state(score(golden, rows, metrics=ALONE), "q0")
        mirrored = [make_reply(reply, 0, swapped=not swapped) for reply, swapped in sides]
        assert value == read_state(score(golden, mirrored, metrics=ALONE), "q0")[0], (first, second)


# ── a metric like others ─────────────────────────────────────────────────────────────────────────────────────────────


def test_it_is_the_same_number_in_summary_table_and_report() -> None:
    golden = make_set("entity-swapped", "other-user")
    rows = observe(golden, {"q3~other-user": "13 USD.", "q4~entity-swapped": "It costs 14 USD."})
    scoring = score(golden, rows)
    summary, rate = scoring.configs["a"].summary["twin_distinction"], scoring.twins["a"].distinction
    assert (summary.value, summary.scored, summary.interval) == (rate.value, rate.decided, rate.interval)
    variants = json.loads(render_json_report(scoring))["configs"]["a"]["variants"]
    assert (variants["distinction"]["good"], variants["difference"]["good"]) == (QUESTIONS - 2, 2 * QUESTIONS - 2)
    alone = score(golden, rows, metrics=ALONE)
    assert alone.configs["a"].summary == {"twin_distinction": summary}


def test_a_kind_of_variants_can_be_asked_for() -> None:
    golden = make_set("entity-swapped", "other-user")
    rows = observe(golden, {"q3~other-user": "13 USD."})
    names = ["twin_distinction(kind=other-user)", "twin_distinction(kind=entity-swapped)"]
    by_kind = score(golden, rows, metrics=[*names, "twin_distinction(kind=negated)"]).configs["a"].summary
    assert [by_kind[name].value for name in names] == [(QUESTIONS - 1) / QUESTIONS, 1.0]
    assert by_kind["twin_distinction(kind=negated)"].scored == 0


def test_without_such_variants_or_with_variants_as_cases_it_is_not_applicable() -> None:
    golden = make_set("entity-swapped")
    bases = GoldenSet(tuple(case for case in golden.cases if case.variant_of is None))
    for cases, options, reason in (
        (bases, {}, NO_DIFFERING_VARIANTS),
        (golden, {"with_variants": True}, VARIANTS_ARE_CASES),
    ):
        assert "twin_distinction" not in score(cases, observe(cases), **options).configs["a"].summary
        asked = score(cases, observe(cases), metrics=["twin_distinction"], **options).configs["a"]
        assert asked.summary["twin_distinction"].value is None
        assert asked.table.columns["twin_distinction"].reasons == ("", reason)


@pytest.mark.parametrize(("at_least", "state"), [(0.75, "pass"), (0.8, "inconclusive"), (0.95, "fail")])
def test_a_rule_is_evaluated_at_both_ends_of_what_nobody_can_tell(at_least: float, state: str) -> None:
    golden = make_set("entity-swapped")
    texts = {"q3~entity-swapped": "It costs 13 USD.", "q4~entity-swapped": "It costs 14 USD."}
    rows = [row for row in observe(golden, texts) if row.case_id != "q1~entity-swapped"]
    gate = Gate(rules=(Rule("twin_distinction", at_least=at_least),))
    inputs = ScoreInputs.from_golden(golden, ScoreRequest(), loaded_gate=LoadedGate(gate))
    decision = score_observations(inputs, rows).scoring.configs["a"].decision
    assert decision is not None
    (result,) = (rule for rule in decision.results if rule.rule.metric == "twin_distinction")
    assert result.state == state


def test_a_comparison_says_that_it_changed_and_nothing_else() -> None:
    golden = make_set("entity-swapped")
    blind = {f"q{number}~entity-swapped": f"It costs {price(number, swapped=False)}." for number in range(QUESTIONS)}
    runs = [
        score_observations(ScoreInputs.from_golden(golden, ScoreRequest()), observe(golden, texts))
        for texts in ({}, blind)
    ]
    comparison = compare_results(ScoreResult(runs[0]), ScoreResult(runs[1]))
    change = comparison.metrics["twin_distinction"]
    assert (change.family, change.verdict) == ("variants", "regressed")
    assert not comparison.cases


def test_explain_says_what_happened_to_the_variants() -> None:
    golden = make_set("entity-swapped")
    inputs = ScoreInputs.from_golden(golden, ScoreRequest())
    scored = score_observations(inputs, observe(golden, {"q1~entity-swapped": "It costs 11 USD."}))
    text = " ".join(explain_case(scored, "q1", "a").split())
    assert "0 of 1 as expected; q1~entity-swapped not as expected (the same answer)" in text
    assert "twin_distinction" in explain_case(scored, "q1", "a", verbose=True)


# ── end to end ───────────────────────────────────────────────────────────────────────────────────────────────────────

TWINS = (
    {"id": "rate", "question": "What is the day rate of senior consultants?", "must_have": ["900 EUR"]},
    {"id": "leave", "question": "How many days of leave do staff have?", "must_have": ["28 days"]},
    {"id": "remote", "question": "Where is remote work allowed?", "must_have": ["Spain"]},
)
VARIANTS: tuple[dict[str, Any], ...] = (
    {
        "variant": "other-user",
        "behaviour": "permission_denied",
        "must_have": [],
        "user": {"roles": ["guest"]},
        "evidence": [{"any_of": [{"chunk_id": "pay:1"}]}],
    },
    {"variant": "other-date", "must_have": ["25 days"], "user": {"roles": ["manager"], "as_of": "2024-06-01"}},
    {"variant": "negated", "question": "Where is remote work not allowed?", "must_have": ["Peru"]},
)


def answer_like(case: dict[str, Any], ignoring: str) -> str:
    """Answer from the corpus as a system does that ignores the user, the date or the word "not"."""
    user = case.get("user", {"roles": ["manager"]})
    question = case["question"]
    if "rate" in question:
        may_see = ignoring == "user" or "manager" in user["roles"]
        return "The day rate is 900 EUR." if may_see else "You do not have permission to see this."
    if "leave" in question:
        is_earlier = ignoring != "date" and user.get("as_of", "2026-01-01") < "2025-01-01"
        return "You have 25 days of leave." if is_earlier else "You have 28 days of leave."
    is_negated = ignoring != "negation" and " not " in question
    return "Only in Peru." if is_negated else "In Spain."


@pytest.mark.parametrize(
    ("ignoring", "confused"),
    [("nothing", ""), ("user", "rate"), ("date", "leave"), ("negation", "remote")],
)
def test_a_function_that_ignores_the_user_the_date_or_the_negation_is_caught(
    ignoring: str, confused: str, tmp_path: Path
) -> None:
    rows: list[dict[str, Any]] = []
    for base, changes in zip(TWINS, VARIANTS, strict=True):
        rows.append({"user": {"roles": ["manager"]}, **base})
        name = f"{base['id']}~{changes['variant']}"
        rows.append({**rows[-1], **changes, "id": name, "variant_of": base["id"], "cluster": base["id"]})
    by_id = {row["id"]: row for row in rows}
    path = tmp_path / "golden.jsonl"
    path.write_text("".join(json.dumps(row) + "\n" for row in rows))
    asked = {(row["question"], json.dumps(row["user"], sort_keys=True)): row["id"] for row in rows}

    def ask(question: str, user: dict[str, Any]) -> dict[str, Any]:
        plain = {name: value for name, value in user.items() if value}
        return {"answer": answer_like(by_id[asked[question, json.dumps(plain, sort_keys=True)]], ignoring)}

    scored = run(ask, load_golden(str(path)).golden)
    table = next(iter(scored.scoring.configs.values())).table
    values = dict(zip(table.case_ids, table.columns["twin_distinction"].values.tolist(), strict=True))
    assert values == {name: float(name != confused) for name in ("rate", "leave", "remote")}


def test_a_gate_on_it_fails_a_recorded_run(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    golden, outputs, gate = tmp_path / "golden.jsonl", tmp_path / "outputs.jsonl", tmp_path / "gate.yaml"
    rows: list[dict[str, Any]] = []
    for case in make_set("entity-swapped").cases:
        row = {"id": case.id, "question": case.question, "must_have": list(case.must_have)}
        rows.append(row | ({"variant_of": case.variant_of, "variant": case.variant} if case.variant else {}))
    golden.write_text("".join(json.dumps(row) + "\n" for row in rows))
    outputs.write_text(
        "".join(
            json.dumps({"case_id": row["id"], "config_id": "a", "answer": f"It costs {number // 2 + 10} USD."}) + "\n"
            for number, row in enumerate(rows)
        )
    )
    gate.write_text("rules:\n  - {metric: twin_distinction, at_least: 0.9}\n")
    report = tmp_path / "report.md"
    arguments = ["score", "--golden", str(golden), "--outputs", str(outputs), "--gate", str(gate), "--verbose"]
    assert main([*arguments, "--report", str(report)]) == 1
    assert "twin_distinction 0.000 < 0.900" in capsys.readouterr().out and "Told apart" in report.read_text()
