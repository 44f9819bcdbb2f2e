"""Writes a golden set and recorded outputs of any size for the trace benchmark; the bytes are the same every time.

A line has 14 retrieved, 8 reranked and 5 context chunks, and half the answers are Vietnamese of 300 to 800 characters.
"""

from __future__ import annotations

import json
import random
from pathlib import Path

_VIETNAMESE = (
    "Nhân viên toàn thời gian được nghỉ phép năm mười hai ngày, tính theo số tháng làm việc trong năm.",
    "Phép còn lại được chuyển sang năm sau tối đa năm ngày nếu quản lý trực tiếp đồng ý bằng văn bản.",
    "Khi làm việc từ xa, nhân viên phải có mặt ít nhất bốn giờ trong khung giờ chung của nhóm.",
    "Hóa đơn được lập vào ngày đầu tháng; thuế giá trị gia tăng được ghi thành một dòng riêng.",
    "Sự cố mức một phải được phản hồi trong vòng ba mươi phút kể từ khi khách hàng báo.",
    "Mật khẩu phải dài ít nhất mười bốn ký tự và không được dùng lại trên hệ thống khác.",
)
_ENGLISH = (
    "Full-time employees receive twelve days of annual leave, prorated by the months worked in the year.",
    "Up to five unused days carry over to the next year when the manager agrees in writing.",
    "The public API accepts 600 requests a minute for each key unless the contract says otherwise.",
    "Webhooks are retried at most eight times with exponential back-off before they are dropped.",
    "A lost laptop must be reported to Security within one hour of noticing.",
    "Discounts above ten per cent need the approval of a manager or of Finance.",
)
_REFUSALS = (
    "Tôi không tìm thấy thông tin về chính sách mua xe trong tài liệu hiện có.",
    "I don't have enough information in the documents to answer this question.",
)
TAGS = ("hr", "billing", "api", "security", "sales", "support", "numeric", "policy")


def _chunk_id(rng: random.Random) -> str:
    return f"document_{rng.randrange(400):03d}:v2026-01:{rng.randrange(60):03d}"


def _golden_row(number: int, rng: random.Random) -> dict[str, object]:
    abstain = rng.random() < 0.1
    evidence = [] if abstain else sorted({_chunk_id(rng) for _ in range(rng.choice((1, 1, 1, 2, 3)))})
    return {
        "id": f"case_{number:06d}",
        "question": f"What does the handbook say about rule {number}?",
        "expected_answer": "Twelve days." if not abstain else "",
        "expected_chunk_ids": evidence,
        "relevance": dict.fromkeys(evidence, 3),
        "must_cite": evidence[:1],
        "difficulty": rng.choice(("easy", "medium", "hard")),
        "tags": sorted(rng.sample(TAGS, 2)),
        "user_context": {"tenant_id": "company_a", "roles": ["employee"], "locale": rng.choice(("vi", "en"))},
        "expected_behavior": "abstain" if abstain else "answer",
    }


def _answer(rng: random.Random) -> str:
    if rng.random() < 0.08:
        return rng.choice(_REFUSALS)
    sentences = _VIETNAMESE if rng.random() < 0.5 else _ENGLISH
    length = rng.randrange(300, 800)
    text = ""
    while len(text) < length:
        text += rng.choice(sentences) + " "
    return text.strip()


def _trace(case: dict[str, object], rng: random.Random) -> dict[str, object]:
    evidence = list(case["expected_chunk_ids"])  # type: ignore[call-overload]
    ids = list(dict.fromkeys([*(e for e in evidence if rng.random() < 0.9), *(_chunk_id(rng) for _ in range(14))]))[:14]
    rng.shuffle(ids)
    top = ids[:8]
    rng.shuffle(top)
    latency = {name: round(rng.uniform(1, 900), 1) for name in ("embed", "retrieve", "rerank", "generate")}
    return {
        "query_id": case["id"],
        "config_id": "hybrid",
        "question": case["question"],
        "retrieved_chunks": [
            {"chunk_id": c, "score": round(20 - place + rng.random() / 2, 4), "rank": place + 1, "stage": "hybrid"}
            for place, c in enumerate(ids)
        ],
        "reranked_chunks": [
            {"chunk_id": c, "score": round(1 - place / 20, 4), "rank": place + 1} for place, c in enumerate(top)
        ],
        "context_chunks": [{"chunk_id": c, "text_hash": "sha256:" + "0123456789abcdef" * 4} for c in top[:5]],
        "answer": _answer(rng),
        "citations": top[: rng.randrange(0, 3)],
        "expected_behavior_observed": "answer",
        "latency_ms": latency | {"end_to_end": round(sum(latency.values()) + 5, 1)},
        "tokens": {"prompt": rng.randrange(500, 3000), "completion": rng.randrange(50, 400)},
        "cost_usd": round(rng.uniform(0.0005, 0.01), 6),
        "versions": {
            "eval_set": "golden-v1", "corpus": "2026-01", "chunking": "markdown-512", "embedding": "e5-base",
            "index": "hnsw-3", "reranker": "cross-encoder-2", "prompt": "answer-7", "generator": "model-9",
        },
    }  # fmt: skip


def write(folder: Path, rows: int, cases: int = 25_000, seed: int = 0) -> tuple[Path, Path]:
    """Write `golden.jsonl` and `outputs.jsonl` with `rows` lines (repeats once every case has one); return the paths.

    Files that are already there are kept: their names carry their sizes.
    """
    cases = min(cases, rows)
    golden, outputs = folder / f"golden-{cases}.jsonl", folder / f"outputs-{rows}-{cases}.jsonl"
    folder.mkdir(parents=True, exist_ok=True)
    if golden.exists() and outputs.exists():
        return golden, outputs
    rng = random.Random(seed)
    table = [_golden_row(number, rng) for number in range(cases)]
    golden.write_text("".join(json.dumps(row, ensure_ascii=False) + "\n" for row in table), encoding="utf-8")
    part = outputs.with_suffix(".part")
    with part.open("w", encoding="utf-8") as file:
        for number in range(rows):
            line = _trace(table[number % cases], rng)
            line["config_id"] = f"config-{number // cases}"
            file.write(json.dumps(line, ensure_ascii=False) + "\n")
    part.rename(outputs)
    return golden, outputs
