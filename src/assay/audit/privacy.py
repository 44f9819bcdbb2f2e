"""Keyed pseudonyms of users, and rules that remove personal data from texts before they are stored."""

from __future__ import annotations

import hmac
import re
from collections import Counter
from collections.abc import Callable, Iterable, Sequence
from itertools import groupby
from typing import Any

from msgspec import Struct, structs

from assay.audit.chain import HmacSha256
from assay.records.audit_records import AuditRecord
from assay.records.errors import InputError, Problem, shorten_repr
from assay.records.observations import Chunk, Stage, TargetError, ToolCall
from assay.text.escaping import Redactor

MIN_KEY_BYTES = 16
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
    accept: Callable[[str], bool] | None = None


_DIGITS = re.compile(r"\d")
_AT_SIGN = re.compile("@")
_EIGHT_DIGITS = re.compile(r"\d[\d .()/\u00a0\u202f\u2010-\u2013-]{7}")
_MIN_CARD_DIGITS, _MAX_CARD_DIGITS = 13, 19
_MIN_PHONE_DIGITS, _MAX_PHONE_DIGITS = 8, 15
_PHONE_NUMBER = re.compile(
    r"""(?<![\w.,/-])
    (?!\d{1,2}([./-])\d{1,2}\1(?:19|20)\d\d(?!\d))                             # a date such as 01/02/2026 is none
    (?:\(?\+\d{1,3}\)?SPACE?(?:\(\d{1,4}\)SPACE?)?\d{1,4}(?:SEPARATOR?\d{2,4}){1,4}  # +84 90 123 45 67, (+84) 90 …
    |  \(0\d{1,4}\)SPACE?\d{2,4}(?:SEPARATOR?\d{2,4}){1,3}                        # (028) 3822 1234
    |  0\d{1,4}(?:SEPARATOR?\d{2,4}){2,4}                                         # 0912 345 678
    |  (?:1SPACE)?\(\d{3}\)SPACE?\d{3}SPACE\d{4}                                 # (555) 014-2233
    |  (?:1SPACE)?\d{3}([.\u2010-\u2013-])\d{3}\2\d{4}                            # 555-014-2233
    |  \d{3}[ ]\d{3}-\d{4}                                                       # 555 014-2233
    )(?![\w-])""".replace("SPACE", r"[ .\u00a0\u202f\u2010-\u2013-]").replace(
        "SEPARATOR", r"[ ./\u00a0\u202f\u2010-\u2013-]"
    ),
    re.VERBOSE,
)
"""Numbers with a sign that they are to be called: an international prefix, a leading zero, or the groups of 3, 3 and 4
digits of North America. Groups of digits alone may be anything: the number of an order, a row of a table.
"""


def _is_card_number(text: str) -> bool:
    """Return whether the digits pass the check of ISO/IEC 7812-1, which nine of ten random numbers fail."""
    digits = [int(digit) for digit in _DIGITS.findall(text)]
    if not _MIN_CARD_DIGITS <= len(digits) <= _MAX_CARD_DIGITS:
        return False
    total = 0
    for position, digit in enumerate(reversed(digits)):
        doubled = digit * 2 if position % 2 else digit
        total += doubled - 9 if doubled > 9 else doubled
    return total % 10 == 0


def _is_phone_number(text: str) -> bool:
    """Return whether there are as many digits as a number with its area code has; E.164 allows 15."""
    return _MIN_PHONE_DIGITS <= len(_DIGITS.findall(text)) <= _MAX_PHONE_DIGITS


def _is_iban(text: str) -> bool:
    """Return whether a text passes the check of ISO 13616 (its number modulo 97 is 1)."""
    plain = re.sub(r"\s", "", text)
    return int("".join(str(int(sign, 36)) for sign in plain[4:] + plain[:4])) % 97 == 1


DEFAULT_RULES = (
    PersonalData(
        "email", re.compile(r"(?<![\w.+-])[\w.+-]{1,64}@[\w-]{1,63}(?:\.[\w-]{1,63}){1,4}(?<![.-])"), _AT_SIGN
    ),
    PersonalData(
        "iban", re.compile(r"\b[A-Z]{2}\d{2}(?: ?[A-Z0-9]{4}){2,7}(?: ?[A-Z0-9]{1,3})?\b"), _EIGHT_DIGITS, _is_iban
    ),
    PersonalData("card", re.compile(r"(?<![\w-])\d(?:[ -]?\d){12,18}(?![\w-])"), _EIGHT_DIGITS, _is_card_number),
    PersonalData("phone", _PHONE_NUMBER, _EIGHT_DIGITS, _is_phone_number),
)
"""The rules that apply unless others are named; names and addresses of people need rules of one's own."""


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


def count_redactions(record: AuditRecord) -> Iterable[tuple[str, str, int]]:
    """Yield how often each rule replaced something in a record, by part: questions, answers, documents, elsewhere."""
    chunks = [chunk for stage in record.stages or () for chunk in stage.chunks]
    parts = {
        "questions": [record.question, record.query_rewrite],
        "answers": [record.answer],
        "documents": [chunk.text for chunk in chunks],
    }
    for rule, total in record.redacted.items():
        left = total
        for part, texts in parts.items():
            count = min(left, sum(text.count(f"[{rule}]") for text in texts if text))
            left -= count
            if count:
                yield rule, part, count
        if left:
            yield rule, "elsewhere", left


class RecordRedactor:
    """Applies redaction rules and removes what looks like a key from all free texts of a record.

    Ids, citations and versions are left as they are: they are names that the corpus and the golden set know.
    """

    def __init__(self, rules: Sequence[PersonalData] = DEFAULT_RULES) -> None:
        self._rules_by_hint = [(hint, tuple(same)) for hint, same in groupby(rules, key=lambda rule: rule.hint)]
        self._secrets = Redactor(())
        self._counts: Counter[str] = Counter()
        self._clean_texts: set[str] = set()  # of the chunks of one record: each stage repeats most of those before it

    def redact_text(self, text: str, counts: Counter[str]) -> str:
        """Return the text after all rules, and add to `counts` how often each one replaced something."""
        for hint, rules in self._rules_by_hint:
            if hint.search(text) is not None:
                for rule in rules:
                    text = self._apply(rule, text, counts)
        clean = self._secrets.redact_message(text)
        if clean != text:
            counts["secret"] += 1
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
            if rule.accept is not None and not rule.accept(match[0]):
                return match[0]
            counts[rule.name] += 1
            return f"[{rule.name}]"

        return rule.pattern.sub(replace, text)

    def redact_record(self, record: AuditRecord) -> AuditRecord:
        """Return the record with all its free texts redacted, and how often each rule applied."""
        counts = self._counts
        counts.clear()
        self._clean_texts.clear()
        changes: dict[str, Any] = {}
        texts = (("question", record.question), ("query_rewrite", record.query_rewrite), ("answer", record.answer))
        for name, text in texts:
            if text:
                clean = self.redact_text(text, counts)
                if clean is not text:
                    changes[name] = clean
        if record.stages:
            changes["stages"] = tuple([self._redact_stage(stage, counts) for stage in record.stages])
        if isinstance(record.tool_calls, tuple):
            changes["tool_calls"] = tuple([self._redact_call(call, counts) for call in record.tool_calls])
        if record.error is not None and record.error.message:
            changes["error"] = TargetError(record.error.code, self.redact_text(record.error.message, counts))
        feedback = self._redact_value(record.feedback, counts)
        if feedback is not record.feedback:
            changes["feedback"] = feedback
        if not changes:
            return record
        return structs.replace(record, redacted=dict(sorted(counts.items())), **changes)

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

    def _redact_value(self, value: Any, counts: Counter[str]) -> Any:
        if isinstance(value, str):
            return self._redact_once(value, counts)
        if isinstance(value, dict):
            return {key: self._redact_value(item, counts) for key, item in value.items()}
        if isinstance(value, (list, tuple)):
            return [self._redact_value(item, counts) for item in value]
        return value
