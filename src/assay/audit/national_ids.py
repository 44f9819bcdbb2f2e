"""Numbers of identity papers, taxes and health insurance by country, with their check digits.

A number is taken for one if its check digits agree, or if the words before it name it. Where one in ten numbers of that
form passes the check, or there is none to make, digits in one piece need the words: an order number has none.
"""

from __future__ import annotations

import re
from collections.abc import Sequence

_LONGEST_LEAD = 40
_VERHOEFF_PERMUTATION = (1, 5, 7, 6, 2, 8, 3, 0, 9, 4)
_DNI_LETTERS = "TRWAGMYFPDXBNJZSQVHLCKE"
_PENSION_WEIGHTS = (2, 1, 2, 5, 7, 1, 2, 1, 2, 1, 2)
_PREFIXES_NEVER_USED = frozenset({"BG", "GB", "NK", "KN", "TN", "NT", "ZZ"})

INSURED = re.compile(
    r"(?i)(?:insurance|health card|member(?:ship)?|versicherten|krankenversicherung|krankenkassen|gesundheitskarten|kv)"
    r"[ -]?(?:numbers?|nummer|no|nr|id|card)?\W{0,3}(?:is|ist|lautet)?\W{0,3}$|\bkvnr\W{0,3}(?:is|ist|lautet)?\W{0,3}$"
)
TAX_ID = re.compile(
    r"(?i)\b(?:steuer[- ]?(?:id|identifikationsnummer|nummer)|idnr|tax[- ]id|tax identification number)"
    r"\W{0,3}(?:is|ist|lautet)?\W{0,3}$"
)
CITIZEN = re.compile(
    r"(?i)(?:\bcccd|\bcmnd|căn cước(?: công dân)?|chứng minh(?: nhân dân| thư)?|citizen id|identity card|\bid card)"
    r"\W{0,3}(?:số|no|nr|number|của tôi|của em|là|is)?\W{0,3}(?:là|is)?\W{0,3}$"
)
NHS = re.compile(r"(?i)\bnhs\W{0,3}(?:number|no)?\W{0,3}(?:is)?\W{0,3}$")
AADHAAR = re.compile(r"(?i)\b(?:aadhaar|aadhar|uidai|uid)\W{0,3}(?:number|no|card)?\W{0,3}(?:is)?\W{0,3}$")
CPF = re.compile(
    r"(?i)\b(?:cpf(?:/mf)?|cadastro (?:de|da) pessoas? f[ií]sicas?)\W{0,3}(?:n[º°]|n[uú]mero|number|no|nr)?\W{0,3}"
    r"(?:é|eh|is)?\W{0,3}$"
)


def has_lead(match: re.Match[str], lead: re.Pattern[str]) -> bool:
    """Return whether the words directly before a number name it."""
    return lead.search(match.string[max(0, match.start() - _LONGEST_LEAD) : match.start()]) is not None


def list_digits(text: str) -> list[int]:
    """Return the digits of a text."""
    return [int(sign) for sign in text if sign.isascii() and sign.isdigit()]


def has_gaps(text: str) -> bool:
    """Return whether the digits are written in groups."""
    return re.search(r"\d[ .-]+\d", text) is not None


def is_health_insurance_de(text: str) -> bool:
    """Return whether a letter and nine digits are a German Krankenversichertennummer (§ 290 SGB V).

    >>> is_health_insurance_de("A123456780"), is_health_insurance_de("A123456789")
    (True, False)
    """
    digits = _spell_letter(text[0]) + list_digits(text[1:])
    return _sum_of_digits(digits[:-1], (1, 2) * 5) % 10 == digits[-1]


def is_pension_de(text: str) -> bool:
    """Return whether a text is a German Rentenversicherungsnummer: area, birthday, letter, number, check digit (VKVV).

    >>> is_pension_de("15 070649 C 103"), is_pension_de("15 070649 C 104")
    (True, False)
    """
    plain = re.sub(r"[ -]", "", text)
    digits = list_digits(plain[:8]) + _spell_letter(plain[8]) + list_digits(plain[9:])
    return _sum_of_digits(digits[:-1], _PENSION_WEIGHTS) % 10 == digits[-1]


def _spell_letter(letter: str) -> list[int]:
    number = ord(letter.upper()) - ord("A") + 1
    return [number // 10, number % 10]


def _sum_of_digits(digits: Sequence[int], weights: Sequence[int]) -> int:
    return sum(sum(divmod(digit * weight, 10)) for digit, weight in zip(digits, weights, strict=False))


def is_tax_id_de(text: str) -> bool:
    """Return whether eleven digits are a German Steuer-Identifikationsnummer (ISO 7064, mod 11,10).

    >>> is_tax_id_de("86 095 742 719"), is_tax_id_de("86095742710")
    (True, False)
    """
    digits = list_digits(text)
    most = max(digits[:-1].count(digit) for digit in digits[:-1])
    product = 10
    for digit in digits[:-1]:
        product = ((digit + product) % 10 or 10) * 2 % 11
    return digits[0] != 0 and most in {2, 3} and (11 - product) % 10 == digits[-1]


def is_nhs_number(text: str) -> bool:
    """Return whether ten digits pass the check of the NHS (modulo 11).

    >>> is_nhs_number("943 476 5919"), is_nhs_number("943 476 5918")
    (True, False)
    """
    digits = list_digits(text)
    rest = 11 - sum(digit * (10 - place) for place, digit in enumerate(digits[:9])) % 11
    return rest % 11 == digits[9] and rest != 10


def is_national_insurance_uk(text: str) -> bool:
    """Return whether the two letters of a British national insurance number are ever used."""
    return text[:2].upper() not in _PREFIXES_NEVER_USED


def is_nir_fr(text: str) -> bool:
    """Return whether a text is a French NIR (numéro de sécurité sociale) with its key (97 minus the rest by 97).

    >>> is_nir_fr("2 55 08 14 168 025 38"), is_nir_fr("2 55 08 14 168 025 39")
    (True, False)
    """
    plain = re.sub(r"\s", "", text).upper()
    plain = plain.replace("2A", "19").replace("2B", "18") if not plain.isdigit() else plain
    return plain.isdigit() and 97 - int(plain[:13]) % 97 == int(plain[13:])


def is_dni_es(text: str) -> bool:
    """Return whether the letter of a Spanish DNI or NIE is that of its digits.

    >>> is_dni_es("12345678Z"), is_dni_es("X-1234567-L"), is_dni_es("12345678A")
    (True, True, False)
    """
    plain = re.sub(r"[ .-]", "", text).upper()
    number = plain[:-1].translate(str.maketrans("XYZ", "012"))
    return _DNI_LETTERS[int(number) % 23] == plain[-1]


def is_cpf_br(text: str) -> bool:
    """Return whether eleven digits are a Brazilian CPF, by its two check digits.

    >>> is_cpf_br("111.444.777-35"), is_cpf_br("111.444.777-36"), is_cpf_br("111.111.111-11")
    (True, False, False)
    """
    digits = list_digits(text)
    if len(set(digits)) == 1:
        return False
    for length in (9, 10):
        weighted = sum(digit * (length + 1 - place) for place, digit in enumerate(digits[:length]))
        if weighted * 10 % 11 % 10 != digits[length]:
            return False
    return True


def is_aadhaar_in(text: str) -> bool:
    """Return whether twelve digits are an Indian Aadhaar number, by the check of Verhoeff.

    >>> is_aadhaar_in("2341 2341 2346"), is_aadhaar_in("2341 2341 2345")
    (True, False)
    """
    digits = list_digits(text)
    check = 0
    for place, digit in enumerate(reversed(digits)):
        for _ in range(place % 8):
            digit = _VERHOEFF_PERMUTATION[digit]
        check = _multiply_in_dihedral_group(check, digit)
    return digits[0] > 1 and check == 0


def _multiply_in_dihedral_group(first: int, second: int) -> int:
    if first < 5:
        return (first + second) % 5 if second < 5 else 5 + (first + second) % 5
    return 5 + (first - second) % 5 if second < 5 else (first - second) % 5
