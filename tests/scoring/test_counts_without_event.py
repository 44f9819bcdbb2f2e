"""A count that is 0 on every case has no interval of its mean: nothing tells how many a case may have."""

from __future__ import annotations

from typing import Any

import pytest

import assay


@pytest.mark.parametrize(("cases", "share"), [(6, "39.3%"), (30, "9.5%")])
def test_no_event_on_any_case_bounds_how_many_cases_have_one_and_not_how_many_they_have(cases: int, share: str) -> None:
    golden: list[dict[str, Any]] = []
    rows: list[dict[str, Any]] = []
    for number in range(cases):
        golden.append({"id": f"lab-{number}", "question": f"Who runs lab {number}?", "user": {"roles": ["guest"]}})
        golden[-1] |= {"must_have": ["Ada"]}
        chunk = {"chunk_id": f"lab-{number}", "text": f"Ada runs lab {number}.", "roles": ["guest"]}
        rows.append({"case_id": f"lab-{number}", "answer": "Ada.", "stages": [{"name": "context", "chunks": [chunk]}]})
    corpus = [chunk for row in rows for chunk in row["stages"][0]["chunks"]]
    leaks = assay.score(golden, rows, config="labs", corpus=corpus).metric("visibility_leaks")
    assert (0.0, None, cases) == (leaks.value, leaks.interval, leaks.scored)
    assert f"none on {cases} cases: up to {share} of such cases may have one (one-sided 95% bound)" in leaks.notes[0]
    rows[0]["stages"][0]["chunks"].append(
        chunk | {"roles": ["chief"], "chunk_id": "secret", "text": "The vault is open."}
    )
    shown = assay.score(golden, rows, config="labs", corpus=[*corpus, rows[0]["stages"][0]["chunks"][1]])
    assert shown.metric("visibility_leaks").interval is not None
