"""Keyed pseudonyms of users, and rules that remove personal data from texts before they are stored."""

from __future__ import annotations

import hmac
import re
from collections import Counter
from collections.abc import Callable, Iterable, Sequence
from itertools import groupby
from typing import Any

from msgspec import Struct, structs

from assay.audit import national_ids as ids
from assay.audit.chain import HmacSha256
from assay.records.audit_records import AuditRecord
from assay.records.errors import InputError, Problem, shorten_repr
from assay.records.observations import Chunk, Stage, TargetError, ToolCall
from assay.text.secret_forms import REDACTED, is_secret_name, remove_secrets

MIN_KEY_BYTES = 16
SECRET = "secret"  # noqa: S105  # a name of a rule
"""The name under which keys, tokens and passwords are counted."""
REDACTED_PARTS = ("questions", "answers", "documents", "tool calls", "elsewhere")
RedactionCounts = dict[str, dict[str, int]]
"""How often each rule replaced something, by part of a record."""
PSEUDONYM_PREFIX = "user:"
_PSEUDONYM_BYTES = 16


class AuditKeys:
    """The keys that are derived from the one secret of a store, each for one purpose."""

    def __init__(self, secret: bytes) -> None:
        """Raises InputError for a secret of fewer than 16 bytes."""
        if len(secret) < MIN_KEY_BYTES:
            got = f"{len(secret)} bytes"
            raise InputError(f"the audit key is too short (got {got}; expected at least {MIN_KEY_BYTES} random bytes)")
        self._pseudonym = HmacSha256(hmac.digest(secret, b"assay audit pseudonym 1", "sha256"))
        self._id = hmac.digest(secret, b"assay audit id 1", "sha256")
        self.signing = hmac.digest(secret, b"assay audit root 1", "sha256")
        self.fingerprint = hmac.digest(secret, b"assay audit fingerprint 1", "sha256")[:8].hex()

    def make_pseudonym(self, user_uid: str) -> str:
        """Return the pseudonym of a user: the same for the same user and key, and of no use without the key.

        >>> AuditKeys(b"sixteen bytes or more").make_pseudonym("minh")
        'user:f31bffa7c5ff68ecd474d105d7af6736'
        """
        digest = self._pseudonym.digest(user_uid.encode("utf-8", "surrogatepass"))
        return PSEUDONYM_PREFIX + digest[:_PSEUDONYM_BYTES].hex()

    def make_id(self, content: bytes) -> str:
        """Return the id of a record that has none, from its content. Nobody can test guesses at it without the key."""
        return "content:" + hmac.digest(self._id, content, "sha256")[:16].hex()


class PersonalData(Struct, frozen=True):
    """One pattern of personal data; `[NAME]` replaces what matches it, if `accept` (where given) agrees.

    `hint` is a pattern that is quick to search for and is in every text that the rule can change.
    """

    name: str
    pattern: re.Pattern[str]
    hint: re.Pattern[str]
    accept: Callable[[re.Match[str]], bool] | None = None


_DIGITS = re.compile(r"\d")
_AT_SIGN = re.compile("@")
_EIGHT_DIGITS = re.compile(r"\d[\d .()/\u00a0\u202f\u2010-\u2013-]{7}")
_MIN_CARD_DIGITS, _MAX_CARD_DIGITS = 13, 19
_MIN_PHONE_DIGITS, _MAX_PHONE_DIGITS = 8, 15
_PHONE_NUMBER = re.compile(
    r"""(?<![\w.,/-])
    (?!\d{1,2}([./-])\d{1,2}\1(?:19|20)\d\d(?!\d))                             # a date such as 01/02/2026 is none
    (?!\d{3}-\d{2}-\d{4}(?![\w-]))                                              # a social security number is none
    (?:\(?\+\d{1,3}\)?SPACE?(?:\(\d{1,4}\)SPACE?)?\d{1,4}(?:SEPARATOR?\d{2,4}){1,4}  # +84 90 123 45 67, (+84) 90 …
    |  \(0\d{1,4}\)SPACE?\d{2,4}(?:SEPARATOR?\d{2,4}){1,3}                        # (028) 3822 1234
    |  0\d{1,4}(?:SEPARATOR?\d{2,4}){2,4}                                         # 0912 345 678
    |  (?:1SPACE)?\(\d{3}\)SPACE?\d{3}SPACE\d{4}                                 # (555) 014-2233
    |  (?:1SPACE)?[2-9]\d{2}([.\u2010-\u2013-])\d{3}\2\d{4}                          # 555-014-2233
    |  [2-9]\d{2}[ ]\d{3}-\d{4}                                                  # 555 014-2233
    )(?![\w-])""".replace("SPACE", r"[ .\u00a0\u202f\u2010-\u2013-]").replace(
        "SEPARATOR", r"[ ./\u00a0\u202f\u2010-\u2013-]"
    ),
    re.VERBOSE,
)
"""Numbers with a sign that they are to be called: an international prefix, a leading zero, or the groups of 3, 3 and 4
digits of North America, whose area codes begin with 2 to 9. Groups of digits alone may be anything: the number of an
order, a row of a table.
"""
_LONGEST_LEAD = 40
_OTHER_NUMBER = re.compile(
    r"""(?i)\b(?:part|item|article|art|material|order|product|model|serial|sku|ticket|case|ref|reference|invoice|contract
    |batch|lot|range|rows?|lines?|version|build|isbn|artikel|teil|teile|bestell|auftrags|rechnungs|serien|bereich
    |pièce|réf|commande|facture|pieza|pedido|factura|mã[ ](?:hàng|đơn))[ -]?
    (?:numbers?|nummer|nr|num|no|n°|nº|codes?|id|từ|from|of|von)?[.:#]{0,2}[ ]?(?:is|was|ist|from|of)?[ :#=]{0,3}$
    |\#$""".replace("\n    ", "")
)
"""What stands before a number that counts parts, orders or the like; it is searched in a few characters."""
_SOCIAL_SECURITY_NUMBER = re.compile(r"(?<![\w.,/-])(?!000|666|9)\d{3}-(?!00)\d{2}-(?!0000)\d{4}(?![\w-])")


def _is_card_number(match: re.Match[str]) -> bool:
    """Return whether the digits pass the check of ISO/IEC 7812-1, which nine of ten random numbers fail."""
    digits = [int(digit) for digit in _DIGITS.findall(match[0])]
    if not _MIN_CARD_DIGITS <= len(digits) <= _MAX_CARD_DIGITS:
        return False
    total = 0
    for position, digit in enumerate(reversed(digits)):
        doubled = digit * 2 if position % 2 else digit
        total += doubled - 9 if doubled > 9 else doubled
    return total % 10 == 0


def _is_phone_number(match: re.Match[str]) -> bool:
    """Return whether there are as many digits as a number with its area code has (E.164 allows 15), and nothing before
    it says that it counts something else. A number with an international prefix is one wherever it is."""
    if not _MIN_PHONE_DIGITS <= len(_DIGITS.findall(match[0])) <= _MAX_PHONE_DIGITS:
        return False
    before = match.string[max(0, match.start() - _LONGEST_LEAD) : match.start()]
    return "+" in match[0] or _OTHER_NUMBER.search(before) is None


def _is_iban(match: re.Match[str]) -> bool:
    """Return whether a text passes the check of ISO 13616 (its number modulo 97 is 1)."""
    plain = re.sub(r"\s", "", match[0])
    return int("".join(str(int(sign, 36)) for sign in plain[4:] + plain[:4])) % 97 == 1


def _counts_something_else(match: re.Match[str]) -> bool:
    before = match.string[max(0, match.start() - _LONGEST_LEAD) : match.start()]
    return _OTHER_NUMBER.search(before) is not None


def _accept_checked(
    check: Callable[[str], bool], lead: re.Pattern[str] | None = None, *, needs_groups: bool = False
) -> Callable[[re.Match[str]], bool]:
    """Return a test of a match: named by the words before it, or with the right check digits and not counting parts.

    With `needs_groups`, digits in one piece need the words: one in ten passes the check by chance.
    """

    def accept(match: re.Match[str]) -> bool:
        if lead is not None and ids.has_lead(match, lead):
            return True
        if needs_groups and not ids.has_gaps(match[0]):
            return False
        return check(match[0]) and not _counts_something_else(match)

    return accept


def _accept_written_cpf(match: re.Match[str]) -> bool:
    """Return whether digits are a CPF: the check digits agree, and points, a hyphen or the words before it name it.

    One in a hundred numbers of eleven digits passes the check, and such numbers count much else.
    """
    is_named = ids.has_lead(match, ids.CPF)
    is_written = ids.has_gaps(match[0]) and not _counts_something_else(match)
    return (is_named or is_written) and ids.is_cpf_br(match[0])


_LETTER_AND_DIGITS = re.compile(r"[A-Z][ -]?\d[ -]?\d|\d{3}[ -]?[A-Z](?!\w)")
_NINE_DIGITS = re.compile(r"\d(?:[ .-]?\d){8}|\d ?2[ABab] ?\d")
_INSURED_VN = (
    "DN|HX|CH|NN|TK|HC|XK|HT|TB|NO|CT|XB|TN|CS|QN|CA|CY|XN|MS|CC|CK|CB|KC|HD|TE|BT|HN|DT|DK|XD|TS|TC|TQ|TA|TY|HG|LS|PV"
    "|HS|SV|GB|GD"
)
NATIONAL_ID_RULES = (
    PersonalData(
        "pension-de",
        re.compile(r"(?<![\w-])\d{2}[ -]?\d{6}[ -]?[A-Z][ -]?\d{3}(?![\w-])"),
        _LETTER_AND_DIGITS,
        _accept_checked(ids.is_pension_de),
    ),
    PersonalData(
        "health-de",
        re.compile(r"(?<![\w-])[A-Z] ?\d{3} ?\d{3} ?\d{3}(?![\w-])"),
        _LETTER_AND_DIGITS,
        _accept_checked(ids.is_health_insurance_de, ids.INSURED),
    ),
    PersonalData(
        "health-vn",
        re.compile(rf"(?<![\w-])(?:{_INSURED_VN})[ -]?[1-5][ -]?\d{{2}}(?:[ -]?\d){{10}}(?![\w-])"),
        _LETTER_AND_DIGITS,
        lambda match: not _counts_something_else(match),
    ),
    PersonalData(
        "insurance-uk",
        re.compile(r"(?<![\w-])[A-CEGHJ-PR-TW-Z][A-CEGHJ-NPR-TW-Z] ?\d{2} ?\d{2} ?\d{2} ?[A-D](?![\w-])"),
        _LETTER_AND_DIGITS,
        _accept_checked(ids.is_national_insurance_uk),
    ),
    PersonalData(
        "dni-es",
        re.compile(r"(?<![\w.,-])(?:\d{2}\.?\d{3}\.?\d{3}|[XYZ][ -]?\d{7})[ -]?[A-HJ-NP-TV-Z](?![\w-])"),
        _LETTER_AND_DIGITS,
        _accept_checked(ids.is_dni_es),
    ),
    PersonalData(
        "pan-in",
        re.compile(r"(?<![\w-])[A-Z]{3}P[A-Z]\d{4}[A-Z](?![\w-])"),
        _LETTER_AND_DIGITS,
        lambda match: not _counts_something_else(match),
    ),
    PersonalData(
        "tax-de",
        re.compile(r"(?<![\w.,-])[1-9]\d[ ]?\d{3}[ ]?\d{3}[ ]?\d{3}(?![\w-])"),
        _NINE_DIGITS,
        _accept_checked(ids.is_tax_id_de, ids.TAX_ID, needs_groups=True),
    ),
    PersonalData(
        "citizen-vn",
        re.compile(r"(?<![\w.,-])(?:0\d{2}[ .]?\d{3}[ .]?\d{3}[ .]?\d{3}|\d{9})(?![\w-])"),
        _NINE_DIGITS,
        lambda match: ids.has_lead(match, ids.CITIZEN),
    ),
    PersonalData(
        "nhs-uk",
        re.compile(r"(?<![\w.,-])\d{3}[ -]?\d{3}[ -]?\d{4}(?![\w-])"),
        _NINE_DIGITS,
        # 943-476-5919 is written as a telephone number of North America is.
        _accept_checked(lambda text: "-" not in text and ids.is_nhs_number(text), ids.NHS, needs_groups=True),
    ),
    PersonalData(
        "nir-fr",
        re.compile(r"(?<![\w.,-])[1-478] ?\d{2} ?(?:0[1-9]|[1-9]\d) ?(?:\d{2}|2[ABab]) ?\d{3} ?\d{3} ?\d{2}(?![\w-])"),
        _NINE_DIGITS,
        _accept_checked(ids.is_nir_fr),
    ),
    PersonalData(
        "cpf-br",
        re.compile(r"(?<![\w.,-])\d{3}\.?\d{3}\.?\d{3}-?\d{2}(?![\w-])"),
        _NINE_DIGITS,
        _accept_written_cpf,
    ),
    PersonalData(
        "aadhaar-in",
        re.compile(r"(?<![\w.,-])[2-9]\d{3}[ -]?\d{4}[ -]?\d{4}(?![\w-])"),
        _NINE_DIGITS,
        _accept_checked(ids.is_aadhaar_in, ids.AADHAAR, needs_groups=True),
    ),
)
"""Numbers of identity papers, taxes and health insurance; before cards and telephones, which some of them look like."""
DEFAULT_RULES = (
    PersonalData(
        "email", re.compile(r"(?<![\w.+-])[\w.+-]{1,64}@[\w-]{1,63}(?:\.[\w-]{1,63}){1,4}(?<![.-])"), _AT_SIGN
    ),
    PersonalData(
        "iban", re.compile(r"\b[A-Z]{2}\d{2}(?: ?[A-Z0-9]{4}){2,7}(?: ?[A-Z0-9]{1,3})?\b"), _EIGHT_DIGITS, _is_iban
    ),
    PersonalData("ssn", _SOCIAL_SECURITY_NUMBER, _EIGHT_DIGITS),
    *NATIONAL_ID_RULES,
    PersonalData("card", re.compile(r"(?<![\w-])\d(?:[ -]?\d){12,18}(?![\w-])"), _EIGHT_DIGITS, _is_card_number),
    PersonalData("phone", _PHONE_NUMBER, _EIGHT_DIGITS, _is_phone_number),
)
"""The rules that apply unless others are named; names and addresses of people need rules of one's own."""
NOT_LOOKED_FOR = ("names of people", "dates of birth", "postal addresses", "numbers of other countries' papers")
"""Kinds of personal data that no shipped rule removes."""


def make_redaction_rules(rows: Iterable[tuple[str, str]], path: str) -> tuple[PersonalData, ...]:
    """Return rules of names and regular expressions. Raises InputError for each name or expression that is invalid."""
    rules: list[PersonalData] = []
    problems: list[Problem] = []
    for number, (name, pattern) in enumerate(rows):
        at = f"rules[{number}]"
        if not re.fullmatch(r"[a-z][a-z0-9_-]{0,30}", name):
            message = f"not a name (got {shorten_repr(name)}; expected lower-case letters, digits, - and _)"
            problems.append(Problem(path, None, f"{at}.name", message, "E_RULE_NAME"))
        try:
            compiled = re.compile(pattern)
        except re.error as error:
            message = f"not a regular expression (got {shorten_repr(pattern)}: {error})"
            problems.append(Problem(path, None, f"{at}.pattern", message, "E_PATTERN"))
            continue
        if compiled.match(""):
            message = f"matches the empty text (got {shorten_repr(pattern)}; expected one that matches what to remove)"
            problems.append(Problem(path, None, f"{at}.pattern", message, "E_PATTERN"))
        rules.append(PersonalData(name, compiled, compiled))
    if problems:
        raise InputError(problems)
    return tuple(rules)


class RecordRedactor:
    """Applies redaction rules and removes what looks like a key from all free texts of a record.

    Ids, citations and versions are left as they are: they are names that the corpus and the golden set know.
    """

    def __init__(self, rules: Sequence[PersonalData] = DEFAULT_RULES) -> None:
        self._rules_by_hint = [(hint, tuple(same)) for hint, same in groupby(rules, key=lambda rule: rule.hint)]
        self._clean_texts: set[str] = set()  # of the chunks of one record: each stage repeats most of those before it

    def redact_text(self, text: str, counts: Counter[str]) -> str:
        """Return the text after all rules, and add to `counts` how often each one replaced something.

        Keys go first: digits within one may look like a telephone number.
        """
        clean, secrets = remove_secrets(text)
        if secrets:
            counts[SECRET] += secrets
        else:
            clean = text
        for hint, rules in self._rules_by_hint:
            if hint.search(clean) is not None:
                for rule in rules:
                    clean = self._apply(rule, clean, counts)
        return clean

    def _redact_once(self, text: str, counts: Counter[str]) -> str:
        """Return the text after all rules; one of this record that had nothing to replace is not searched again."""
        if text in self._clean_texts:
            return text
        clean = self.redact_text(text, counts)
        if clean is text:
            self._clean_texts.add(text)
        return clean

    def _apply(self, rule: PersonalData, text: str, counts: Counter[str]) -> str:
        def replace(match: re.Match[str]) -> str:
            if rule.accept is not None and not rule.accept(match):
                return match[0]
            counts[rule.name] += 1
            return f"[{rule.name}]"

        return rule.pattern.sub(replace, text)

    def redact_record(self, record: AuditRecord) -> AuditRecord:
        """Return the record with all its free texts redacted, and how often each rule applied."""
        return self.redact_parts(record)[0]

    def redact_parts(self, record: AuditRecord) -> tuple[AuditRecord, RedactionCounts]:
        """Return the redacted record, and how often each rule applied in which part of it."""
        counts: dict[str, Counter[str]] = {part: Counter() for part in REDACTED_PARTS}
        self._clean_texts.clear()
        changes: dict[str, Any] = {}
        texts = (
            ("question", "questions", record.question),
            ("query_rewrite", "questions", record.query_rewrite),
            ("answer", "answers", record.answer),
        )
        for name, part, text in texts:
            if text:
                clean = self.redact_text(text, counts[part])
                if clean is not text:
                    changes[name] = clean
        if record.stages:
            changes["stages"] = tuple([self._redact_stage(stage, counts["documents"]) for stage in record.stages])
        if isinstance(record.tool_calls, tuple):
            changes["tool_calls"] = tuple([self._redact_call(call, counts["tool calls"]) for call in record.tool_calls])
        if record.error is not None and record.error.message:
            message = self.redact_text(record.error.message, counts["elsewhere"])
            changes["error"] = TargetError(record.error.code, message)
        feedback = self._redact_value(record.feedback, counts["elsewhere"])
        if feedback is not record.feedback:
            changes["feedback"] = feedback
        by_part = {part: dict(sorted(rules.items())) for part, rules in counts.items() if rules}
        if not changes:
            return record, by_part
        total: Counter[str] = sum(counts.values(), Counter())
        return structs.replace(record, redacted=dict(sorted(total.items())), **changes), by_part

    def _redact_stage(self, stage: Stage, counts: Counter[str]) -> Stage:
        chunks = [self._redact_chunk(chunk, counts) for chunk in stage.chunks]
        return Stage(stage.name, tuple(chunks), stage.latency_ms)

    def _redact_chunk(self, chunk: Chunk, counts: Counter[str]) -> Chunk:
        if chunk.text is None and chunk.metadata is None:
            return chunk
        text = chunk.text and self._redact_once(chunk.text, counts)
        return structs.replace(chunk, text=text, metadata=self._redact_value(chunk.metadata, counts))

    def _redact_call(self, call: ToolCall, counts: Counter[str]) -> ToolCall:
        error = call.error and self.redact_text(call.error, counts)
        result = self._redact_value(call.result, counts)
        return structs.replace(call, arguments=self._redact_value(call.arguments, counts), error=error, result=result)

    def _redact_value(self, value: Any, counts: Counter[str], *, is_secret: bool = False) -> Any:
        """Return plain values with their texts redacted, and without what stands under the name of a secret."""
        if is_secret and isinstance(value, (str, int, float)) and not isinstance(value, bool) and value != "":
            if value != REDACTED:
                counts[SECRET] += 1
            return REDACTED
        if isinstance(value, str):
            return self._redact_once(value, counts)
        if isinstance(value, dict):
            clean: dict[Any, Any] = {}
            for key, item in value.items():
                is_named = is_secret or (isinstance(key, str) and is_secret_name(key))
                clean[key] = self._redact_value(item, counts, is_secret=is_named)
            return clean
        if isinstance(value, (list, tuple)):
            return [self._redact_value(item, counts, is_secret=is_secret) for item in value]
        return value
