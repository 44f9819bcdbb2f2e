"""Failed cases with long ids keep their cause and what to do about it, and stay distinct."""

from __future__ import annotations

import json
from pathlib import Path

import pytest
from hypothesis import given
from hypothesis import strategies as st

from assay.cli import main
from assay.report.wording.short_names import shorten_names

NAMES = st.lists(st.text("abc-0123", min_size=1, max_size=50), max_size=8, unique=True)


@given(NAMES, st.integers(3, 30))
def test_shortened_names_stay_distinct_and_in_order(names: list[str], most: int) -> None:
    shortened = shorten_names(names, most)
    assert names == list(shortened)
    assert len(names) == len(set(shortened.values()))
    for name, short in shortened.items():
        assert len(short) <= len(name)
        if len(name) <= most:
            assert short == name


@pytest.mark.parametrize("width", [80, 100])
@pytest.mark.parametrize("configs", [("hybrid-search-with-reranker-v12",), ("hybrid-with-reranker-v12", "dense-v12")])
def test_a_failed_case_with_a_long_id_has_its_cause_and_a_remedy(
    tmp_path: Path,
    monkeypatch: pytest.MonkeyPatch,
    capsys: pytest.CaptureFixture[str],
    width: int,
    configs: tuple[str, ...],
) -> None:
    monkeypatch.setenv("COLUMNS", str(width))
    ids = [f"tenancy-law-handbook-berlin-2024-question-{row:03}" for row in range(3)]
    golden = [
        {"id": case_id, "question": "How high is the deposit?", "must_have": ["three months' rent"]} for case_id in ids
    ]
    outputs = [
        {"case_id": case_id, "config_id": config, "answer": "The deposit is five months' rent."}
        for config in configs
        for case_id in ids
    ]
    for name, rows in (("golden", golden), ("outputs", outputs)):
        text = "".join(json.dumps(row) + "\n" for row in rows)
        (tmp_path / f"{name}.jsonl").write_text(text, encoding="utf-8")
    main(["score", "--golden", str(tmp_path / "golden.jsonl"), "--outputs", str(tmp_path / "outputs.jsonl")])
    lines = capsys.readouterr().out.splitlines()
    assert len(lines) <= 25 and max(map(len, lines)) <= width
    shown = [number for number, line in enumerate(lines) if line.startswith(" - ten")]
    assert len(configs) == len(shown)  # the same happened to all cases of a configuration
    for first in shown:
        failed_case = " ".join(map(str.strip, lines[first : first + 3]))
        assert "000 and 2 more" in failed_case.partition(": ")[0]
        assert len(configs) == 1 or "-v12)" in failed_case.partition(": ")[0]
        assert "one of: the answer states a wrong name, code or number" in failed_case
    assert "(generator, golden_label_issue; low) → let it quote" in " ".join(lines)
