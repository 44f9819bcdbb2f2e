"""An error message of a system is told from an answer and from a refusal."""

from __future__ import annotations

import pytest

from assay.text.refusals.behaviour import detect_behaviour
from assay.text.refusals.behaviour_candidates import mark_answers_open_to_model
from assay.text.refusals.detected_behaviour import UNKNOWN
from assay.text.refusals.error_texts import is_error_text

QUESTION = "How long may a visitor park?"
MESSAGES = (
    "Error: upstream model overloaded (503). Please try again later.",
    "Error: 429 Too Many Requests",
    "ERROR - connection reset by peer: connection reset",
    "HTTP/1.1 504 Gateway Timeout",
    "500 Internal Server Error",
    "Internal error 500, try again",
    "Unexpected error 503.",
    "Service Unavailable",
    "openai.APITimeoutError: Request timed out.",
    "java.lang.NullPointerException: null",
    'Traceback (most recent call last):\n  File "app.py", line 3, in <module>\nKeyError: 1',
    "Something broke\n    at Object.ask (/srv/app/index.js:12:7)\nError",
    "<html>\n<head><title>502 Bad Gateway</title></head><body></body></html>",
    '{"error": {"type": "overloaded_error", "message": "Overloaded"}}',
    "Oops, something went wrong. Please try again in a few minutes.",
    "An unexpected error occurred while generating the response.",
    "The model is currently overloaded. Please retry later.",
    "Bei der Verarbeitung Ihrer Anfrage ist ein interner Fehler aufgetreten.",
    "Đã xảy ra lỗi hệ thống. Vui lòng thử lại sau.",
    "Une erreur est survenue. Veuillez réessayer plus tard.",
)
ANSWERS = (
    "Visitors park for 429 minutes.",
    "500 euros.",
    "The internal error rate is 500 a day.",
    "Error 503 means that the upstream service is overloaded; try again later.",
    "Visitors may park for 2 hours. If an error occurred at the barrier, call the desk.",
    "Something went wrong with the barrier in March, so visitors park at Gate 2 until May.",
    "I could not find that; an error occurred in the index of 2023.",
    "403 Forbidden",
    "404 Not Found",
    "Error: I could not find anything about visitors.",
    '{"answer": "2 hours", "error": null}',
    "<html><body><p>2 hours</p></body></html>",
)


@pytest.mark.parametrize("text", MESSAGES)
def test_an_error_message_is_no_answer_and_no_refusal(text: str) -> None:
    detected = detect_behaviour(text, question=QUESTION)
    assert (detected.behaviour, detected.has_refusal, detected.is_error_text) == (UNKNOWN, False, True)
    assert mark_answers_open_to_model([text]).tolist() == [True]


@pytest.mark.parametrize("text", ANSWERS)
def test_what_only_names_an_error_is_read_as_before(text: str) -> None:
    assert not is_error_text(text, QUESTION)


@pytest.mark.parametrize(
    ("question", "text"),
    [
        ("Which status does the gateway return?", "502 Bad Gateway"),
        ("What message do users see when the limit is reached?", "Too Many Requests"),
        ("Welche Meldung erscheint?", "Es ist ein Fehler aufgetreten."),
    ],
)
def test_a_message_that_was_asked_for_is_an_answer(question: str, text: str) -> None:
    assert not detect_behaviour(text, question=question).is_error_text


@pytest.mark.parametrize(
    ("question", "text", "is_message"),
    [
        ("What is the code of the east door?", "Internal error: request to the model timed out (504)", True),
        ("Which area code has the branch in Cork?", "Oops, something went wrong. Please try again later.", True),
        ("What is the status of order 7?", "Server error: connection refused", True),
        ("Mã cửa (code) tầng hầm là gì?", "Lỗi: quá tải, upstream 503", True),
        ("Which code opens the east door?", "504", False),
        ("Which status does a full bin report?", "503 Service Unavailable", False),  # what a device shows
        ("Which error code does a full bin report?", "Error: upstream overloaded (503)", False),
    ],
)
def test_a_question_about_some_code_is_not_about_errors(question: str, text: str, is_message: bool) -> None:
    """A code of a door is no code of an error: a whole sentence of failure is a message, a number may be the answer."""
    assert is_message == is_error_text(text, question)
