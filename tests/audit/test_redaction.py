"""Telephone numbers are redacted however they are written; codes, dates and amounts are left as they are."""

from __future__ import annotations

import random
from collections import Counter

import pytest

from assay.audit.privacy import NATIONAL_ID_RULES, RecordRedactor
from assay.records.audit_records import AuditRecord
from assay.records.observations import Chunk, Stage

TELEPHONE_NUMBERS = """
    555-014-2233 | 555.014.2233 | 555 014-2233 | (555) 014-2233 | 1-800-555-0199 | 1 (555) 014-2233
    +1 (555) 014-2233 | +1-555-014-2233 | +84 90 123 45 67 | (+84) 90 123 45 67 | +84(0)90 123 4567 | +84901234567
    0084 90 123 45 67 | 0912345678 | 0912.345.678 | 0912 345 678 | (028) 3822 1234 | 028-3822-1234
    +44 (0)20 7946 0958 | 020 7946 0958 | +49 30 901820 | 0531/123456 | 01 23 45 67 89 | +84–90–123–4567
"""
OTHER_NUMBERS = """
    INC-2024-001 | INC-555-014-2233 | PO-0012345678 | SLA-03-2026-0001 | 2026-03-02 | 2026-03-02T08:30:00Z | 2026/03/02
    01/02/2026 | 05.12.2026 | 08-05-2026 | from 01/02/2026 to 05/03/2026 | 1.200.000 | 1.234.567.890 | 100 200 3000
    192.168.100.200 | 978-0-306-40615-7 | 550e8400-e29b-41d4-a716-446655440000 | 2024-2025 | in (2019) 123-456
    01 22 33 | 100-200-3000 | 150-300-4500 | part no. 555-014-2233 | Article number: 0912-345-678 | SKU #415.555.0132
    rows 212-400-1200 | Mã hàng 0912 345 678
"""


def list_examples(text: str) -> list[str]:
    return [example.strip() for example in text.replace("\n", "|").split("|") if example.strip()]


def redact(text: str) -> tuple[str, Counter[str]]:
    counts: Counter[str] = Counter()
    return RecordRedactor().redact_text(text, counts), counts


@pytest.mark.parametrize("number", list_examples(TELEPHONE_NUMBERS))
def test_a_telephone_number_is_redacted(number: str) -> None:
    for before, after in (("Call ", " now"), ("gọi ", "."), ("tel:", ", please"), ("", "")):
        assert redact(f"{before}{number}{after}") == (f"{before}[phone]{after}", Counter(phone=1))


@pytest.mark.parametrize("text", list_examples(OTHER_NUMBERS))
def test_a_number_that_is_no_telephone_number_is_kept(text: str) -> None:
    assert redact(f"See {text}, please.") == (f"See {text}, please.", Counter())


def test_a_social_security_number_is_named_as_one() -> None:
    assert redact("SSN 219-09-9999, not 900-12-3456.") == ("SSN [ssn], not 900-12-3456.", Counter(ssn=1))


def test_a_telephone_number_after_a_date_is_redacted() -> None:
    assert redact("On 01/02/2026 0912 345 678 rang.")[0] == "On 01/02/2026 [phone] rang."


def test_a_chunk_that_each_stage_repeats_is_redacted_in_each() -> None:
    redactor = RecordRedactor()
    for texts in (("Call 555-014-2233.", "Twelve days."), ("Twelve days.", "Call 555-014-2233.")):
        chunks = tuple(Chunk(text[:4], text=text, metadata={"source": text}) for text in texts)
        stages = tuple(Stage(name, chunks) for name in ("retrieved", "reranked", "context"))
        redacted = redactor.redact_record(AuditRecord(id="req-1", at="2026-03-02T08:00:00Z", stages=stages))
        assert redacted.redacted == {"phone": 6}  # two in each of three stages
        expected = [(text.replace("555-014-2233", "[phone]"),) * 2 for text in texts]
        for stage in redacted.stages or ():
            assert expected == [(chunk.text, (chunk.metadata or {})["source"]) for chunk in stage.chunks]


NATIONAL_IDS = """
    pension-de 15 070649 C 103 | pension-de 15070649C103 | tax-de 86 095 742 719
    health-vn GD4797921234567 | health-vn DN 4 79 7921 2345 67 | nhs-uk 943 476 5919 | insurance-uk JG103759A
    insurance-uk JG 10 37 59 A | nir-fr 2 55 08 14 168 025 38 | nir-fr 255081416802538 | dni-es 12345678Z
    dni-es 12.345.678-Z | dni-es X1234567L | cpf-br 111.444.777-35 | aadhaar-in 2341 2341 2346
    pan-in ABCPE1234F | health-de A123456780
"""


@pytest.mark.parametrize("example", list_examples(NATIONAL_IDS))
def test_a_number_of_identity_or_insurance_is_redacted_by_its_check_digits(example: str) -> None:
    name, number = example.split(" ", 1)
    assert redact(f"I am {number}, born in Mai.") == (f"I am [{name}], born in Mai.", Counter({name: 1}))


@pytest.mark.parametrize(
    "number",
    list_examples(
        """15 070649 C 104 | 2 55 08 14 168 025 39 | 12345678A | X1234567M | 111.444.777-36 | 111.111.111-11
        A123456781 | 2341 2341 2345 | 943 476 5918 | BG123456C | 86095742719 | 9434765919 | 234123412346 | 079084001234
        11144477735 | 52998224725
        """
    ),
)
def test_a_number_with_another_check_digit_or_without_any_sign_is_none_of_a_person(number: str) -> None:
    counts = redact(f"Take {number} with you.")[1]
    assert not set(counts) & {rule.name for rule in NATIONAL_ID_RULES}


@pytest.mark.parametrize(
    ("text", "name"),
    [
        ("my insurance number A123456789", "health-de"),
        ("Meine Versichertennummer lautet B 234 567 890", "health-de"),
        ("Steuer-ID: 86095742710", "tax-de"),
        ("CCCD 079084001234", "citizen-vn"),
        ("Số căn cước công dân của tôi là 001 099 012 345", "citizen-vn"),
        ("NHS number is 9434765918", "nhs-uk"),
        ("Aadhaar no. 234123412345", "aadhaar-in"),
    ],
)
def test_words_before_a_number_name_it_although_it_fails_the_check(text: str, name: str) -> None:
    clean, counts = redact(text)
    assert clean.endswith(f"[{name}]") and counts == Counter({name: 1})


@pytest.mark.parametrize(
    "text",
    [
        "order no. 12345678Z",
        "part number A123456780",
        "invoice 111.444.777-35",
        "ref: GD4797921234567",
        "SKU ABCPE1234F",
    ],
)
def test_a_number_that_counts_orders_or_parts_is_kept_although_it_passes_the_check(text: str) -> None:
    assert redact(text)[0] == text


@pytest.mark.parametrize("lead", ["Meu CPF é ", "CPF: ", "CPF nº ", "cadastro de pessoa física ", "my CPF number is "])
def test_a_cpf_in_one_piece_needs_its_name_and_its_check_digits(lead: str) -> None:
    """One in a hundred numbers of eleven digits passes the check."""
    assert redact(f"{lead}52998224725") == (f"{lead}[cpf-br]", Counter({"cpf-br": 1}))
    assert "cpf-br" not in redact(f"{lead}52998224726")[1]


def test_eleven_random_digits_are_no_cpf() -> None:
    generator = random.Random(11)
    texts = [f"batch {generator.randrange(10**10, 10**11)} of today" for _ in range(2000)]
    assert not any("cpf-br" in redact(text)[1] for text in texts)


def test_few_random_numbers_are_taken_for_one_of_a_person() -> None:
    generator = random.Random(4)
    names = {rule.name for rule in NATIONAL_ID_RULES}
    taken: Counter[str] = Counter()
    for _ in range(4000):
        digits = "".join(generator.choice("0123456789") for _ in range(generator.choice((9, 10, 11, 12, 13, 15))))
        taken.update({name: count for name, count in redact(f"see {digits} there")[1].items() if name in names})
    assert taken.total() <= 40, "one in a hundred"
