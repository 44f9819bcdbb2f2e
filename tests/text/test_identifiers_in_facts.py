"""Flags, paths, endpoints, files and codes: no other one of the form stands for the one that a fact names."""

from __future__ import annotations

import pytest

from assay.text.facts.references.reference_judgments import judge_reference_facts
from assay.text.facts.stated_facts import judge_facts

FLAG = "Which flag skips the tests?"
ENDPOINT = "Which endpoint lists orders?"
CONFIG = "Where is the config?"


@pytest.mark.parametrize(
    ("question", "fact", "answer"),
    [
        (FLAG, "--skip-tests", "Use `--no-tests`."),
        (FLAG, "--skip-tests", "Run build --fast."),
        (FLAG, "--skip", "Use `--skip-tests`."),
        (FLAG, "-s", "Use -q."),
        (FLAG, "--only=unit", "`--only=docs`"),
        (ENDPOINT, "GET /v2/orders", "POST /v2/orders"),
        (ENDPOINT, "GET /v2/orders", "`GET /v2/invoices`"),
        (ENDPOINT, "GET /v2/orders", "GET https://shop.example/v1/orders"),
        (CONFIG, "/etc/relay/relay.conf", "/etc/relay/main.conf"),
        (CONFIG, "/etc/relay/relay.conf", "In `/var/lib/relay`."),
        ("Which file holds the settings?", "settings.toml", "settings.yaml"),
    ],
)
def test_another_identifier_of_the_form_is_wrong(question: str, fact: str, answer: str) -> None:
    (found,) = judge_facts(answer, [fact], question)
    assert (found.state, found.mistake) == ("missing", "other value")
    assert judge_reference_facts(answer, fact, question)[0].state == "missing"


@pytest.mark.parametrize(
    ("question", "fact", "answer"),
    [
        (FLAG, "--skip-tests", "Run `build --skip-tests -v`."),
        (FLAG, "--skip-tests", "Use -q or --skip-tests."),
        (FLAG, "--skip", "Use the skip option."),
        (FLAG, "--only=unit", "Use --only unit."),
        (FLAG, "--only", "Use `--only=unit`."),
        ("Does --fast skip the tests?", "--skip-tests", "No, --fast does not; use --skip-tests."),
        (ENDPOINT, "GET /v2/orders", "Send a GET to /v2/orders."),
        (ENDPOINT, "GET /v2/orders", "GET https://shop.example/v2/orders"),
        ("Which endpoint deletes a key?", "DELETE /v3/keys/{id}", "`DELETE /v3/keys/:id`"),
        (CONFIG, "/etc/relay/relay.conf", "It is in `/etc/relay/relay.conf`."),
        (CONFIG, "/etc/relay/relay.conf", "The file relay.conf is in /etc/relay."),
        (CONFIG, "/etc/relay/", "In /etc/relay."),
        ("Which file holds the settings?", "settings.toml", "In the file ./settings.toml."),
        ("What does it cost?", "€5/month", "€5 /month"),
        ("Who signs?", "HR and/or Legal", "HR and/or Legal."),
    ],
)
def test_the_same_identifier_in_another_form_is_stated(question: str, fact: str, answer: str) -> None:
    assert judge_facts(answer, [fact], question)[0].state == "stated"


@pytest.mark.parametrize(
    ("question", "fact", "answer", "passage"),
    [
        ("Which flag shows a preview?", "--dry-run", "Use `-n`.", ""),
        ("Which file holds the values?", "/srv/values.yaml", "`/srv/values.yml`", ""),
        ("How do I turn colours off?", "--no-color", "Pass `--color=never`.", ""),
        (
            "Which flag shows a preview?",
            "--dry-run",
            "Use `--preview`.",
            "`--dry-run` (or `--preview`) changes nothing.",
        ),
        ("Which flag shows a preview?", "--dry-run", "Don't use --force, there is another one.", ""),
        (ENDPOINT, "/v2/orders", "GET /v2/orders/{id}/items", ""),
    ],
)
def test_what_may_be_another_name_of_it_is_open(question: str, fact: str, answer: str, passage: str) -> None:
    passages = (passage,) if passage else ()
    assert judge_facts(answer, [fact], question, "", passages)[0].state == "unknown"


@pytest.mark.parametrize(
    ("question", "reference", "answer", "state"),
    [
        ("Which code means that the tank is empty?", "E-217", "E-219", "missing"),
        ("Which code means that the tank is empty?", "The pump shows E-217.", "It shows E-219.", "missing"),
        ("Which code means that the tank is empty?", "E-217", "Not E-219, that is a full one.", "unknown"),
        ("Which code is shown?", "E-217 if it is empty, E-218 if it is full.", "E-219", "unknown"),
        ("Which code is shown?", "E-217", "See ISO-9001.", "unknown"),
        ("Which cipher is used?", "AES-256.", "AES-128", "missing"),
        ("In which region are backups kept?", "us-east-2 for all tenants.", "In us-west-1.", "missing"),
        ("In which region are backups kept?", "us-east-2 for all tenants.", "Near the customer.", "unknown"),
        ("What is the availability target?", "99.95% per month.", "99.9%", "missing"),
        ("What is the availability target?", "99.95% of the month if no work was announced.", "99.9%", "unknown"),
        ("Bis wann muss ich kündigen?", "Innerhalb von 30 Tagen.", "Innerhalb von 14 Tagen.", "missing"),
    ],
)
def test_another_code_than_the_only_one_of_a_reference_is_wrong(
    question: str, reference: str, answer: str, state: str
) -> None:
    assert judge_reference_facts(answer, reference, question)[0].state == state
