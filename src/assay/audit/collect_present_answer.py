"""Asks a target the question of a record again."""

from __future__ import annotations

import asyncio
from concurrent.futures import ThreadPoolExecutor

from assay.audit.answer_now import make_question_case
from assay.calls.interfaces import CallError, Target, TargetCall
from assay.records.audit_records import AuditRecord
from assay.records.errors import InputError
from assay.records.observations import Observation, TargetError

SECONDS = 120.0


def collect_present_answer(record: AuditRecord, target: Target, day: str | None) -> Observation:
    """Return what the target does with the question of a record, asked for its user; a failure is its error.

    Raises InputError for a record without a question and for a target that only searches.
    """
    if not record.question:
        raise InputError(f"the answer {record.id} has no question that could be asked again")
    if "ask" not in target.operations:
        raise InputError(f"target {target.name} only searches (expected one that answers)")
    with ThreadPoolExecutor(1) as pool:  # a notebook runs an event loop already
        return pool.submit(asyncio.run, _ask(record, target, day)).result()


async def _ask(record: AuditRecord, target: Target, day: str | None) -> Observation:
    call = TargetCall(make_question_case(record, day), "ask", SECONDS)
    try:
        return await target.observe(call)
    except CallError as error:
        return Observation(record.id, target.name, error=TargetError(error.code, error.message))
    finally:
        await target.aclose()
