"""Small golden sets in every format, in words of our own, for the tests of reading them."""

from __future__ import annotations

import json
from pathlib import Path
from typing import Any

HR_LEAVE_001: dict[str, Any] = {
    "id": "hr_leave_001",
    "question": "Làm toàn thời gian thì mỗi năm được nghỉ phép mấy ngày?",
    "expected_answer": "Người làm toàn thời gian có 12 ngày phép năm.",
    "expected_chunk_ids": ["hr_leave_policy:003"],
    "relevance": {"hr_leave_policy:003": 3},
    "must_cite": ["hr_leave_policy"],
    "difficulty": "easy",
    "tags": ["hr", "policy", "single-hop"],
    "user_context": {"tenant_id": "company_a", "roles": ["employee"], "locale": "vi-VN"},
    "expected_behavior": "answer",
    "notes": "The figure is what counts.",
}
API_002: dict[str, Any] = {
    "id": "api_002",
    "question": "gap loi ERR-429 thi phai lam gi",
    "expected_answer": "Back off and try again after the time in Retry-After.",
    "expected_chunk_ids": ["product_api_docs:004"],
    "relevance": {},
    "must_cite": ["product_api_docs:004"],
    "difficulty": "easy",
    "tags": ["api", "no-diacritic", "error-code"],
    "user_context": {"tenant_id": "company_a", "roles": ["developer"], "locale": "vi-VN"},
    "expected_behavior": "answer",
    "notes": "",
}
SALES_004: dict[str, Any] = {
    "id": "sales_004",
    "question": "May I promise a customer a special SLA in an email?",
    "expected_answer": "No: Legal and Support leadership put it into the contract.",
    "expected_chunk_ids": ["sales_handbook:007", "support_sla_policy:007"],
    "relevance": {"sales_handbook:007": 3, "support_sla_policy:007": 2, "sales_handbook:001": 1},
    "must_cite": ["sales_handbook"],
    "difficulty": "hard",
    "tags": ["sales", "sla", "multi-hop"],
    "user_context": {"tenant_id": "company_a", "roles": ["sales"], "locale": "en"},
    "expected_behavior": "answer",
}
NO_ANSWER_001: dict[str, Any] = {
    "id": "no_answer_001",
    "question": "Công ty có chính sách mua ô tô cho nhân viên không?",
    "expected_answer": "",
    "expected_chunk_ids": [],
    "relevance": {},
    "must_cite": [],
    "difficulty": "easy",
    "tags": ["no-answer", "hr", "abstain"],
    "user_context": {"tenant_id": "company_a", "roles": ["employee"], "locale": "vi-VN"},
    "expected_behavior": "abstain",
    "notes": "Nothing in the handbook speaks of it.",
}
ACL_003: dict[str, Any] = {
    "id": "acl_003",
    "question": "Công ty A cho nhân viên nghỉ phép mấy ngày?",
    "expected_answer": None,
    "expected_chunk_ids": ["hr_leave_policy:003"],
    "relevance": {"hr_leave_policy:003": 3},
    "must_cite": [],
    "difficulty": "hard",
    "tags": ["acl", "tenant", "security"],
    "user_context": {"tenant_id": "company_b", "roles": ["employee"], "locale": "vi-VN"},
    "expected_behavior": "permission_denied",
    "also_accept": ["answer"],
}
FIVE_ROWS = [HR_LEAVE_001, API_002, SALES_004, NO_ANSWER_001, ACL_003]

QA_CSV = """\
question_id,question,expected_answer,expected_citations,must_refuse,notes
qa-0001,"How long do refunds take, once approved?",Ten working days,bill-11; bill-12,false,common: asked every week
qa-0002,"What does ""P1"" mean
for support?",The most urgent level,sla-3,false,
qa-0003,Which horse wins on Sunday?,,,true,off-domain: betting
qa-0004,What is the pay of my manager?,,,TRUE,sensitive: personal data
"""


def row(**changes: Any) -> dict[str, Any]:
    """Return a sound `rag-golden` row with some members replaced; a value of `...` takes the member away."""
    return {name: value for name, value in {**HR_LEAVE_001, **changes}.items() if value is not ...}


def jsonl(*rows: Any) -> bytes:
    """Return rows as JSON Lines."""
    return b"".join(json.dumps(row_members, ensure_ascii=False).encode() + b"\n" for row_members in rows)


def saved(folder: Path, content: bytes | str, name: str = "golden.jsonl") -> Path:
    """Write a file below `folder` and return its path."""
    path = folder / name
    path.parent.mkdir(parents=True, exist_ok=True)
    path.write_bytes(content.encode() if isinstance(content, str) else content)
    return path
