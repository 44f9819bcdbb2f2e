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
