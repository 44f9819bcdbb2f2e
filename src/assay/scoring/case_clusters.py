"""Which cases are one cluster: those that the golden set says, and those that ask the same question twice.

Word for word the same question of the same user is one question, under however many ids: a system that answers it
rightly once does so every time, and a hundred copies tell no more than one (ADR 0228).
"""

from __future__ import annotations

from collections.abc import Iterator, Sequence

import numpy as np

from assay.records.counts import format_count
from assay.records.golden_set import Case, Turn, User
from assay.scoring.column_values import ColumnValues, format_case_ids
from assay.stats.arrays import find_distinct
from assay.stats.samples import ClusterCodes
from assay.text.normalisation import fold_question

_Asked = tuple[str, User | None, tuple[Turn, ...]]


def name_clusters(cases: Sequence[Case]) -> list[str]:
    """Return the name of the cluster of each case: that of the golden set, else the id of its first case.

    Cases without a question are not the same.

    >>> name_clusters([Case("a", "Who pays?"), Case("b", "who  pays"), Case("c", "When?", cluster="t"), Case("d", "")])
    ['a', 'a', 't', 'd']
    """
    names = [case.cluster or case.id for case in cases]
    leaders: dict[str, str] = {}
    for copies in _group_same_questions(cases):
        first = _find_leader(leaders, names[copies[0]])
        for row in copies[1:]:
            leaders[_find_leader(leaders, names[row])] = first
    return [_find_leader(leaders, name) for name in names] if leaders else names


def number_clusters(cases: Sequence[Case]) -> ClusterCodes | None:
    """Return a number per case that cases of one cluster (`name_clusters`) share; None where every case stands alone.

    A case without a cluster is its own, and a cluster may bear the id of one of its cases.

    >>> number_clusters([Case("a", "?"), Case("b", "?", cluster="a"), Case("c", "?")]).tolist()
    [0, 0, 1]
    """
    numbers: dict[str, int] = {}
    ids = [numbers.setdefault(name, len(numbers)) for name in name_clusters(cases)]
    return np.array(ids, dtype=np.intp) if len(numbers) < len(ids) else None


def select_shared_clusters(column_values: ColumnValues, clusters: ClusterCodes | None) -> ClusterCodes | None:
    """Return the clusters of the scored rows, None where no two rows share one."""
    if clusters is None:
        return None
    own = clusters[column_values.rows]
    return own if len(find_distinct(own)) < len(own) else None


def describe_same_questions(cases: Sequence[Case]) -> list[str]:
    """Return the note that some cases count as one, because they ask the same; none where the set says so itself.

    >>> describe_same_questions([Case("a", "Who pays?"), Case("b", "who pays"), Case("c", "Who?")])[0][:61]
    '2 cases ask 1 question word for word, as the same user (a, b)'
    """
    groups = [
        [cases[row] for row in rows]
        for rows in _group_same_questions(cases)
        if len({cases[row].cluster or cases[row].id for row in rows}) > 1
    ]
    if not groups:
        return []
    copies = [case.id for group in groups for case in group]
    asked = format_count(len(groups), "question")
    return [
        f"{format_count(len(copies), 'case')} ask {asked} word for word, as the same user ({format_case_ids(copies)}): "
        "in intervals, bounds, tests and gates the copies of a question count as one (give them one cluster, or "
        "leave one of them)"
    ]


def _group_same_questions(cases: Sequence[Case]) -> Iterator[list[int]]:
    """Yield the rows of each question that several cases ask, in golden order."""
    rows_by_question: dict[_Asked, list[int]] = {}
    for row, case in enumerate(cases):
        folded = fold_question(case.question)
        if folded:
            rows_by_question.setdefault((folded, case.user, case.history), []).append(row)
    yield from (rows for rows in rows_by_question.values() if len(rows) > 1)


def _find_leader(leaders: dict[str, str], name: str) -> str:
    """Return the name under which a cluster was joined with others, with shorter ways for the next."""
    leader = name
    while leaders.get(leader, leader) != leader:
        leader = leaders[leader]
    while leaders.get(name, name) != leader:
        leaders[name], name = leader, leaders[name]
    return leader
