"""Tell an error message from an answer: what a failing system shows in the place of an answer.

A message is told by its form (a traceback, an error page, an error as JSON, the name of an exception), by the status
line of a server, or by the stock sentence of a failure, and by there being nothing else: an answer that explains a
message, or a refusal that gives its reason, is none.
"""

from __future__ import annotations

import json
import re

from assay.text.late_pattern import LatePattern
from assay.text.normalisation import fold_text
from assay.text.pattern_cache import compile_pattern
from assay.text.word_runs import split_words

_LONGEST_MESSAGE = 600  # characters of a message without a form of its own
_LONGEST_READ = 20_000  # characters of a page or trace that are read
_HINTS = (
    *("error", "exception", "traceback", "panic:", "fail", "wrong", "gateway", "unavailable", "too many", "timeout"),
    *("time-out", "timed out", "bad request", "too large", "not implemented", "overloaded", "busy", "at capacity"),
    *("we ran into", "fehler", "schief", "erreur", "erro", "lỗi", "loi", "408", "429", "50", "52"),
)
"""Of which each message holds one at its beginning; other answers are not looked at."""
_TRACE = compile_pattern(
    r"^Traceback \(most recent call last\)|^Exception in thread |^[ \t]{1,8}at [\w.$<>]{1,120} ?\([^\n]{0,200}:\d"
    r"|^panic: ",
    re.MULTILINE,
)
_EXCEPTION = LatePattern(
    r"(?:[A-Za-z_]\w{0,40}\.){0,6}[A-Z]\w{0,60}(?:Error|Exception|Timeout)(?: \[\w{1,40}\])?(?:: |$|\()"
)
"""The name of an exception at the beginning: `openai.RateLimitError: …`; "Error: …" names none."""
_PAGE = compile_pattern(r"(?:<!doctype html|<html|<\?xml|<error\b)", re.IGNORECASE)
_HEADING = LatePattern(r"<(title|h1|h2|message)[^>]*>(.{0,200}?)</\1>", re.IGNORECASE | re.DOTALL)
_ERROR_KEYS = ("error", "errors", "exception", "traceback")
_ANSWER_KEYS = frozenset(("answer", "response", "result", "output", "text", "choices"))

_REASONS = (
    r"(?:internal server error|bad gateway|service (?:temporarily )?unavailable|gateway time-?out|too many requests"
    r"|request time-?out|bad request|not implemented|request entity too large|payload too large)"
)
_STATUS = r"(?:(?:4(?!0[134])\d\d|5\d\d)\b)"
_STATUS_LINE = LatePattern(
    r"\W{0,4}(?:(?:internal|unexpected|fatal|system|api) (?=error\b))?"
    r"(?:(?:http(?:/[\d.]{1,4})?|status(?: code)?|error|code|fehler|loi|erreur|erro)\W{1,4}){0,3}"
    r"(?:" + _STATUS + r"\W{1,4}(?:(?:server )?error\W{1,4})?(?:" + _REASONS + r")?|" + _REASONS + r")(?=\W|$)"
)
_LABEL = LatePattern(
    r"\W{0,4}(?:(?:an? )?(?:fatal |internal |unexpected |llm |api |server )?"
    r"error|fehler|loi|erreur)\b ?[:–-]\s"
)
_FAILURES = LatePattern(
    r"\b(?:overloaded|time(?:d)?[- ]?out|rate limit|quota|too many (?:requests|tokens)|upstream|unavailable|api key|"
    r"connection (?:refused|reset|error|failed|aborted|closed)|max(?:imum)? retries|context length|"
    r"failed to (?:connect|generate|fetch|load|call|parse|process)|internal (?:server )?error|server error|exception|"
    r"(?:4(?!0[134])\d\d|5\d\d)|nicht erreichbar|uberlastet|zeituberschreitung|het thoi gian|qua tai)\b"
)
_STOCK = LatePattern(
    r"\b(?:(?:an?|some) (?:\w{1,20} ){0,2}error (?:has )?occurred|(?:something|anything) went wrong"
    r"|we ran into an? \w{1,20}"
    r"|(?:the |your )?(?:request|connection|server|operation) (?:has )?timed out"
    r"|(?:the |our )?(?:\w{1,20} ){0,2}(?:server|model|backend|engine) is (?:currently |temporarily )?"
    r"(?:overloaded|unavailable|busy|at capacity)"
    r"|ist (?:leider )?ein (?:\w{1,20} )?fehler aufgetreten|(?:ist etwas|etwas ist) schief ?gelaufen"
    r"|(?:da|dang) (?:xay ra|co) (?:mot )?loi(?: he thong| noi bo| ket noi)?|loi (?:he thong|may chu|ket noi)"
    r"|une erreur (?:\w{1,20} )?(?:est survenue|s'est produite)|(?:se ha producido|ha ocurrido|ocurrio) un error"
    r"|ocorreu um erro)\b"
)
_TAIL_WORDS = frozenset(
    """
    while when during in with on of for the your my our this that a an we i to at later again moment few minute minutes
    second seconds and or if it is be by please sorry apologise apologize apologies oops uh oh no hm try trying retry
    refresh reload page contact support administrator admin problem issue persists continues processing process
    generating
    generate fetching loading handling request query question answer response reply inconvenience unexpected
    internal
    server team has been notified id code error system connection soon after some time there was
    bitte versuchen versuche sie du es spater erneut noch einmal beim bei der des die das ihrer ihre deiner anfrage
    verarbeitung verarbeiten entschuldigung leider spateren zeitpunkt zu einem in kurze
    vui long thu lai sau xin trong khi qua trinh xu ly yeu cau cua ban it phut loi
    veuillez reessayer plus tard lors du traitement de votre demande por favor intentelo intente nuevo mas tarde
    novamente tente al procesar su solicitud
    """.split()
)
"""What may stand around a stock sentence of a failure: courtesies, what was being done, and to try again."""
_ASKS_OF_ERRORS = LatePattern(
    r"\b(?:errors?|fehler\w*|loi|erreurs?|http|exceptions?|traceback|messages?|meldung\w*"
    r"|time-?outs?|overload\w*|outages?|[45]\d\d)\b"
)
_ASKS_OF_CODES = LatePattern(r"\b(?:status|codes?|gateway)\b")
"""What is asked of errors, and of doors, orders and routers too: then a sentence is a message, and "504" is none."""


def is_error_text(answer: str, question: str = "") -> bool:
    """Return whether an answer is an error message that the system failed with; not where the question asks about
    errors, codes or messages.

    Denials (401, 403) and pages that were not found (404) are none: an answer may well consist of them.

    >>> is_error_text("Error: 429 Too Many Requests"), is_error_text("Error 503 means that the service is overloaded.")
    (True, False)
    >>> is_error_text("Something went wrong. Please try again later."), is_error_text("429", "What does it report?")
    (True, False)
    """
    beginning = answer[:_LONGEST_MESSAGE].lower()
    if not any(word in beginning for word in _HINTS):
        return False
    text = answer[:_LONGEST_READ].strip()
    asked = fold_text(question)
    if asked and _ASKS_OF_ERRORS.search(asked):
        return False
    if _TRACE.search(text) or _is_error_page(text) or _is_error_json(text):
        return True
    if len(answer) > _LONGEST_MESSAGE:
        return False
    folded = fold_text(text)
    if _EXCEPTION.match(text) is not None or _is_labelled_failure(folded) or _is_stock_failure(folded):
        return True
    return _is_status_line(folded) and _ASKS_OF_CODES.search(asked) is None


def _is_error_page(text: str) -> bool:
    if _PAGE.match(text) is None:
        return False
    headings = [fold_text(heading[2]) for heading in _HEADING.finditer(text)]
    return any(_STATUS_LINE.match(heading) or _FAILURES.search(heading) or "error" in heading for heading in headings)


def _is_error_json(text: str) -> bool:
    if not text.startswith("{"):
        return False
    try:
        value = json.loads(text)
    except (ValueError, RecursionError):
        return False
    return isinstance(value, dict) and any(value.get(key) for key in _ERROR_KEYS) and _ANSWER_KEYS.isdisjoint(value)


def _is_labelled_failure(folded: str) -> bool:
    """Whether a folded text labels a failure as an error."""
    labelled = _LABEL.match(folded)
    return labelled is not None and _FAILURES.search(folded, labelled.end()) is not None


def _is_status_line(folded: str) -> bool:
    """Whether a folded text begins with the status of a server and adds little."""
    if _LABEL.match(folded) is not None:
        return False
    line = _STATUS_LINE.match(folded)
    if line is None or not any(map(str.isalpha, line[0])):
        return False
    rest = folded[line.end() :]
    return not rest.strip(" .!") or rest.lstrip().startswith((":", "-", "(", ",")) or _is_tail(rest)


def _is_stock_failure(folded: str) -> bool:
    """Whether a folded text says that it failed, in a stock sentence, and nothing else."""
    return _STOCK.search(folded) is not None and _is_tail(_STOCK.sub(" ", folded))


def _is_tail(folded: str) -> bool:
    return all(word in _TAIL_WORDS or word.isdecimal() for word in split_words(folded))
