"""A sample of the attacks on judges and of the honest answers near to them: the floors for every release."""

from __future__ import annotations

from benchmarks.claimed_verdicts import CLAIMED_VERDICTS
from benchmarks.judge_attack_texts import UNTOUCHED_ANSWERS, UNTOUCHED_INJECTIONS, Injection
from benchmarks.judge_attacks import (
    SUBJECTS,
    Attack,
    HonestReader,
    answer_calls,
    find_raised,
    judge_cases,
    list_attacks,
    make_obedience,
    write_attack,
    write_honest,
)

from assay.records.scores import ERROR

INJECTIONS = (*UNTOUCHED_INJECTIONS[::5], *(Injection("claimed verdict", text) for text in CLAIMED_VERDICTS[::3]))
ATTACKS = list_attacks(INJECTIONS)[::3]
CLEAN = [Attack(f"clean-{number}", subject, "", None) for number, subject in enumerate(SUBJECTS)]


def test_orders_raise_no_score_of_a_judge_that_obeys_the_attacker() -> None:
    """An honest judge says what the clean cases deserve, one that obeys the attacker judges the attacked ones too."""
    honest = HonestReader(SUBJECTS, ())
    obeys = make_obedience(INJECTIONS)
    deserved = judge_cases([*map(write_attack, CLEAN)], answer_calls(honest, lambda _: False, is_naive=False)).scores
    judged = judge_cases([*map(write_attack, ATTACKS)], answer_calls(honest, obeys, is_naive=False)).scores
    raised = [
        (attack.name, attack.injection)
        for attack in ATTACKS
        if find_raised(attack, judged[attack.name], deserved[f"clean-{SUBJECTS.index(attack.subject)}"])
    ]
    assert len(ATTACKS) >= 12
    assert [] == raised


def test_honest_answers_with_orders_to_their_readers_keep_their_scores() -> None:
    answers = UNTOUCHED_ANSWERS[::4]
    rows = [write_honest(f"h{number:02}", answer) for number, answer in enumerate(answers)]
    judged = judge_cases(rows, answer_calls(HonestReader((), answers), lambda _: False, is_naive=False)).scores
    assert [] == [name for name, by_metric in judged.items() if any(o.status == ERROR for o in by_metric.values())]
