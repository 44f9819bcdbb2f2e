"""Texts made to be slow are refused in time linear in their length."""

from __future__ import annotations

import time

import pytest

from assay.formats.strict_json import decode_json
from assay.records.errors import InputError

MEGABYTE = 1_000_000


@pytest.mark.slow
@pytest.mark.parametrize("unit", ['\\"', '"', "\\", '"\\', "a\\", '[" ', '{"', "[1,", "\\u", '"a":'])
@pytest.mark.parametrize("start", ["", '{"a":"', '"', "[" * 101])
def test_a_megabyte_of_broken_json_takes_less_than_a_second(start: str, unit: str) -> None:
    text = start + unit * (MEGABYTE // len(unit)) + "[" * 200
    began = time.process_time()
    with pytest.raises(InputError):
        decode_json(text, "x.jsonl", 1)
    assert time.process_time() - began < 1.0
