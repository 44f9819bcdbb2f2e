"""What confused someone who evaluated a system of their own for the first time."""

from __future__ import annotations

import json
import traceback
from pathlib import Path

import pytest

import assay
from assay.formats.golden_files import load_golden
from assay.formats.settings_file import load_config
from assay.formats.strict_json import describe_unknown_field
from assay.records.errors import InputError
from assay.records.settings import HttpTargetSettings
from assay.runs.check_setup import write_settings_template


def test_an_error_of_a_run_is_not_shown_as_one_of_the_event_loop(tmp_path: Path) -> None:
    path = tmp_path / "golden.jsonl"
    path.write_text("{}\n", encoding="utf-8")
    with pytest.raises(InputError) as refused:
        assay.run(lambda question: question, path)
    assert "event loop" not in "".join(traceback.format_exception(refused.value))


def test_the_name_of_a_member_in_another_format_is_read(tmp_path: Path) -> None:
    path = tmp_path / "golden.jsonl"
    row = {"id": "a", "question": "How many?", "expected_chunk_ids": ["c"], "reference": "12 days"}
    path.write_text(json.dumps(row) + "\n", encoding="utf-8")
    assert "12 days" == load_golden(path).golden.cases[0].reference
    assert "'reference'?" in describe_unknown_field("ground_truth", ["id", "reference"])
    assert "one of id" in describe_unknown_field("reference", ["id"])


def test_settings_for_an_address_leave_the_reply_to_be_recognised(tmp_path: Path) -> None:
    path = write_settings_template("http", str(tmp_path / "assay.yaml"), "http://127.0.0.1:9/ask")
    (target,) = load_config(str(path)).settings.targets.values()
    assert isinstance(target, HttpTargetSettings)
    assert target.response == HttpTargetSettings("http://127.0.0.1:9/ask").response


def test_cases_without_a_user_are_named_where_the_corpus_restricts_access(tmp_path: Path) -> None:
    golden = [{"id": "a", "question": "What does band 7 pay?", "must_have": ["40"]}]
    corpus = tmp_path / "corpus.jsonl"
    corpus.write_text('{"chunk_id": "pay", "text": "Band 7 pays 40.", "roles": ["hr"]}\n', encoding="utf-8")
    outputs = [{"case_id": "a", "answer": "It pays 40.", "contexts": [{"id": "pay", "text": "Band 7 pays 40."}]}]
    warned = assay.score(golden, outputs, corpus=corpus)
    assert any("access is not checked on 1 of 1 case" in warning for warning in warned.scoring.warnings)
    assert next(iter(warned.scoring.warnings)).startswith("access is not checked on 1 of 1 case")
    assert "none named (access not checked)" in assay.explain(warned, "a")
    asked = assay.score([golden[0] | {"user": {}}], outputs, corpus=corpus)
    assert not any("access is not checked" in warning for warning in asked.scoring.warnings)
    assert asked.metric("visibility_leaks").value == 1
    assert "a stranger (no tenant, no roles)" in assay.explain(asked, "a")
