"""How often rule-based support detects that a claim contradicts its source, and how often it does so wrongly.

`ASSAY_TEST_DATA=… python -m benchmarks.contradictions` measures the verdict "contradicted" on three sets: claims
written by hand; sentences of WiCE and QAGS, unchanged or contradicted by changing one number or word, always without
their last words and one in the middle so that they are no copies; and the claims of these sets with human labels.
Then it prints recall and precision on symmetric FEVER, whose claims are written by people to contradict or support
their evidence, in two halves by a digest of the evidence.
"""

from __future__ import annotations

import hashlib
import json
import os
import re
import sys
from collections import Counter
from collections.abc import Iterator, Sequence
from pathlib import Path
from typing import NamedTuple

from assay.stats.intervals import wilson_interval
from assay.text.antonyms import ANTONYMS
from assay.text.claims.claim_support import score_support
from assay.text.claims.passages import IndexedSources
from assay.text.segmentation import segment_sentences
from assay.text.tokens import DocumentFrequencies
from benchmarks.groundedness import SETS


class Made(NamedTuple):
    """A claim made from a source: what was changed ("" where it says what the source says), claim and source."""

    change: str
    claim: str
    source: str


_LEAVE = (
    "Full-time staff receive 12 days of paid annual leave per year. Up to 5 unused days carry over until 31 March 2027."
)
_ACCESS = (
    "Contractors may not access production databases. Error ERR-429 means that the limit of 600 requests was exceeded."
)
_PRICE = (
    "Revenue rose by 14% in the third quarter of 2025. The Pro plan costs $49 a month and includes priority support."
)
_PHEP = "Nhân viên toàn thời gian được nghỉ 12 ngày phép mỗi năm. Nhân viên thử việc không được làm việc từ xa."
_HOAN = "Khách hàng phải gửi yêu cầu hoàn tiền trước ngày 15/3/2026. Phí xử lý là 1,5 triệu đồng mỗi hồ sơ."

BY_HAND = [
    Made("number", "Full-time staff receive 15 days of paid annual leave per year.", _LEAVE),
    Made("number", "Full-time staff receive twenty days of annual leave.", _LEAVE),
    Made("number", "Up to 10 unused days carry over.", _LEAVE),
    Made("date", "Up to 5 unused days carry over until 31 May 2027.", _LEAVE),
    Made("date", "Unused days carry over until 30 March 2027.", _LEAVE),
    Made("unit", "Full-time staff receive 12 weeks of paid annual leave per year.", _LEAVE),
    Made("opposite", "Full-time staff receive 12 days of unpaid annual leave per year.", _LEAVE),
    Made("negation", "Contractors may access production databases.", _ACCESS),
    Made("negation", "Full-time staff do not receive paid annual leave.", _LEAVE),
    Made("id", "Error ERR-503 means that the limit of requests was exceeded.", _ACCESS),
    Made("number", "ERR-429 means that the limit of 900 requests was exceeded.", _ACCESS),
    Made("opposite", "Revenue fell by 14% in the third quarter of 2025.", _PRICE),
    Made("number", "Revenue rose by 41% in the third quarter.", _PRICE),
    Made("date", "Revenue rose by 14% in the third quarter of 2024.", _PRICE),
    Made("number", "The Pro plan costs $59 a month.", _PRICE),
    Made("unit", "The Pro plan costs 49 euros a month.", _PRICE),
    Made("opposite", "The Pro plan excludes priority support.", "The Pro plan includes priority support."),
    Made("negation", "The Pro plan does not include priority support.", "The Pro plan includes priority support."),
    Made("number", "Nhân viên toàn thời gian được nghỉ 15 ngày phép mỗi năm.", _PHEP),
    Made("unit", "Nhân viên toàn thời gian được nghỉ 12 tuần phép mỗi năm.", _PHEP),
    Made("negation", "Nhân viên thử việc được làm việc từ xa.", _PHEP),
    Made("negation", "Nhân viên toàn thời gian không được nghỉ phép.", "Nhân viên toàn thời gian được nghỉ phép."),
    Made("opposite", "Khách hàng phải gửi yêu cầu hoàn tiền sau ngày 15/3/2026.", _HOAN),
    Made("date", "Khách hàng phải gửi yêu cầu hoàn tiền trước ngày 15/4/2026.", _HOAN),
    Made("number", "Phí xử lý là 2,5 triệu đồng mỗi hồ sơ.", _HOAN),
    Made("opposite", "Employees file claims after the trip.", "Employees file claims before the trip."),
    Made("opposite", "The minimum password length is 14 characters.", "The maximum password length is 14 characters."),
    Made("negation", "Passwords are never shared with vendors.", "Passwords are shared with vendors."),
    Made("negation", "The API supports batch uploads.", "The API doesn't support batch uploads."),
    Made(
        "number", "Sessions expire after 30 minutes of inactivity.", "Sessions expire after 15 minutes of inactivity."
    ),
    # what says the same, or something of which the source says nothing
    Made("", "Full-time staff receive twelve days of annual leave.", _LEAVE),
    Made("", "Each year, full-time staff get 12 days of paid leave.", _LEAVE),
    Made("", "Unused days, up to 5 of them, carry over until 31/03/2027.", _LEAVE),
    Made("", "Production databases are not accessible to contractors.", _ACCESS),
    Made("", "Contractors cannot access production databases.", _ACCESS),
    Made("", "The limit is 600 requests; exceeding it gives ERR-429.", _ACCESS),
    Made("", "In 2025, third-quarter revenue rose by 14 percent.", _PRICE),
    Made("", "The Pro plan costs 49 dollars a month, with priority support.", _PRICE),
    Made("", "Mỗi năm nhân viên toàn thời gian được nghỉ mười hai ngày phép.", _PHEP),
    Made("", "Nhân viên thử việc không được làm từ xa.", _PHEP),
    Made("", "Phí xử lý mỗi hồ sơ là 1.500.000 đồng.", _HOAN),
    Made("", "Yêu cầu hoàn tiền phải gửi trước ngày 15 tháng 3 năm 2026.", _HOAN),
    Made("", "Refunds take at most 5 days.", "Refunds take no more than 5 days."),
    Made("", "Hoàn tiền trong tối đa 5 ngày.", "Hoàn tiền không quá 5 ngày."),
    Made("", "Not only managers may approve expenses.", "Managers and team leads may approve expenses."),
    Made("", "Staff may leave after the audit.", "Staff may not leave until after the audit."),
    Made("", "Managers approve expenses above $500.", "Managers approve expenses. Directors approve trips above $900."),
    Made("", "Part-time staff receive 6 days of leave.", f"{_LEAVE} Part-time staff receive 6 days of leave."),
    Made(
        "", "Laptops are encrypted and returned within 3 days.", "Laptops are encrypted. Badges: return within 3 days."
    ),
    Made("", "The warranty lasts 24 months.", "The warranty covers parts. Batteries are replaced after 18 months."),
    Made("", "About 26,000 people attended.", "Some 26,150 people attended the fair."),
    Made(
        "", "Support answers within 4 hours on weekdays.", "Support answers on weekdays within 4 hours, else in 2 days."
    ),
]


# ── sentences of the data sets ───────────────────────────────────────────────────────────────────────────────────

_NUMBER = re.compile(r"(?<![\w.,/-])(?:[2-9]|[1-9]\d)(?![\w.,/%-])(?! ?\.)")
_VERB = re.compile(r"\b(is|are|was|were|will|can|could|should|has|had)\b(?! not)(?!n't)")
_WORD = re.compile(r"\b(?:" + "|".join(sorted(ANTONYMS)) + r")\b")
_KEPT = {*ANTONYMS, "million", "billion", "thousand", "without"}  # words that are not left out
_FEWEST, _MOST = 60, 220  # characters of a sentence that is turned


def _turned(text: str, at: int) -> Iterator[tuple[str, str]]:
    """Yield what a sentence becomes by one change; `at` chooses among several places."""
    numbers, verbs, words = ([*pattern.finditer(text)] for pattern in (_NUMBER, _VERB, _WORD))
    if numbers:
        number = numbers[at % len(numbers)]
        yield "number", f"{text[: number.start()]}{int(number[0]) + 3}{text[number.end() :]}"
    if verbs:
        verb = verbs[0]
        yield "negation", f"{text[: verb.end()]} not{text[verb.end() :]}"
    if words:
        word = words[at % len(words)]
        yield "opposite", f"{text[: word.start()]}{min(ANTONYMS[word[0]])}{text[word.end() :]}"


def make_claims(source: str) -> Iterator[Made]:
    """Yield the sentences of a source without their last two words and a long one within, as they are and turned."""
    for number, (start, end) in enumerate(segment_sentences(source)):
        text = source[start:end]
        if _FEWEST <= end - start <= _MOST:
            words = text.split()[:-2]
            within = [word for word in words[2:-2] if word.isalpha() and word.islower() and word not in _KEPT]
            if not within or not words[-1][-1].isalpha():
                continue  # perhaps half of a date or an amount
            words.remove(max(within, key=len))
            claim_text = " ".join(words)
            yield Made("", claim_text, source)
            yield from (Made(change, claim, source) for change, claim in _turned(claim_text, number))


def count_contradictions(made: Sequence[Made], idf: DocumentFrequencies) -> Iterator[str]:
    """Yield how many of each change are seen as contradictions."""
    contradicted, totals = Counter[str](), Counter[str]()
    sources: dict[str, IndexedSources] = {}
    for example in made:
        if example.source not in sources:
            sources = {example.source: IndexedSources([("source", example.source)], idf)}
        totals[example.change] += 1
        contradicted[example.change] += score_support(example.claim, sources[example.source]).verdict == "contradicted"
    for change in sorted(totals, key=lambda name: (not name, name)):
        share = contradicted[change] / totals[change]
        yield f"  {change or 'nothing changed':<19} {contradicted[change]} of {totals[change]} ({share:.1%})"


def count_fever(folder: Path) -> Iterator[str]:
    """Yield recall and precision of "contradicted" on symmetric FEVER, with Wilson intervals, by half."""
    lines = (folder / "fever-symmetric" / "dev.jsonl").read_text("utf-8").splitlines()
    rows = [json.loads(line) for line in lines]
    idf = DocumentFrequencies.from_texts(row["evidence"] for row in rows)
    for half in (0, 1):
        seen = Counter[str]()
        for row in rows:
            if int(hashlib.sha256(row["evidence"].encode()).hexdigest(), 16) % 2 != half:
                continue
            sources = IndexedSources([("evidence", row["evidence"])], idf)
            seen[row["label"]] += 1
            if score_support(row["claim"], sources).verdict == "contradicted":
                seen[f"called, {row['label']}"] += 1
        right, wrong = seen["called, REFUTES"], seen["called, SUPPORTS"]
        recall, precision = wilson_interval(right, seen["REFUTES"]), wilson_interval(right, max(1, right + wrong))
        yield (
            f"  half {half + 1}: recall {right / seen['REFUTES']:.3f} ({recall.low:.3f} to {recall.high:.3f}, "
            f"n={seen['REFUTES']}), precision {right / max(1, right + wrong):.3f} ({precision.low:.3f} to "
            f"{precision.high:.3f}, n={right + wrong})"
        )


def main() -> int:
    """Print the figures; return the exit code."""
    folder = Path(os.environ.get("ASSAY_TEST_DATA", ""))
    if not os.environ.get("ASSAY_TEST_DATA") or not folder.is_dir():
        print("set ASSAY_TEST_DATA to the folder with wice/ and qags/", file=sys.stderr)
        return 2
    print("\n".join(("written by hand:", *count_contradictions(BY_HAND, DocumentFrequencies.from_texts([])))))
    for name, load in SETS.items():
        rows = list(load(folder))
        idf = DocumentFrequencies.from_texts(text for text, _ in rows)
        examples = [claim for text, _ in rows for claim in make_claims(text[:4000])]
        print("\n".join((f"{name}, sentences of the sources:", *count_contradictions(examples, idf))))
        supported_labels = [
            claim.supported
            for text, labelled in rows
            for claim in labelled
            if score_support(claim.claim, IndexedSources([("source", text)], idf)).verdict == "contradicted"
        ]
        supported = sum(supported_labels)
        print(f"  claims with labels  {len(supported_labels)} contradicted, of which people call {supported} supported")
    print("\n".join(("symmetric FEVER:", *count_fever(folder))))
    return 0


if __name__ == "__main__":
    sys.exit(main())
