"""Names of machines, files and releases that an answer has only as a part of a longer name."""

from __future__ import annotations

import pytest

from assay.text.facts.stated_facts import judge_facts


@pytest.mark.parametrize(
    ("fact", "answer", "state"),
    [
        ("mail.port.example", "Use mail.port.example.org.", "unknown"),
        ("mail.port.example", "Use old-mail.port.example.", "unknown"),
        ("mail.port.example", "Use mail-eu.port.example.", "unknown"),
        ("mail.port.example", "Use mail.port.example, not mail.port.example.org.", "stated"),
        ("mail.port.example", "It is at https://mail.port.example/inbox.", "stated"),
        ("mail.port.example", "Use `mail.port.example`.", "stated"),
        ("crew@port.example", "Write to flight-crew@port.example.", "unknown"),
        ("crew@port.example", "Write to mailto:crew@port.example.", "stated"),
        ("/srv/log/tide.db", "It is in /srv/log/tide.db.old.", "unknown"),
        ("/srv/log/tide.db", "It is in /srv/log/tide.db/2024.", "unknown"),
        ("/srv/log/tide.db", "It is in /srv/log/tide.db.", "stated"),
        ("tide.db", "It is in /srv/log/tide.db.", "stated"),
        ("2.8.1", "It is 2.8.1-rc2.", "unknown"),
        ("2.8.1", "It is 2.8.1 beta.", "unknown"),
        ("2.8.1", "It is 2.8.1, on all machines.", "stated"),
        ("Set-Anchor", "Call Set-AnchorWatch.", "unknown"),
        ("Set-Anchor", "Call Set-Anchor.", "stated"),
        ("setAnchor", "Call setAnchorWatch().", "unknown"),
        ("setAnchor", "Call setAnchor().", "stated"),
    ],
)
def test_a_part_of_a_longer_name_is_not_stated(fact: str, answer: str, state: str) -> None:
    assert judge_facts(answer, [fact], "Which one is it?")[0].state == state


@pytest.mark.parametrize(
    ("answer", "state"),
    [
        ("It carries 40 Mb.", "unknown"),
        ("It carries 40 MiB.", "unknown"),
        ("It carries 40MB.", "stated"),
        ("It carries 40 megabytes.", "stated"),
        ("It carries 40 MB (320 Mb).", "stated"),
    ],
)
def test_a_bit_is_no_byte(answer: str, state: str) -> None:
    assert judge_facts(answer, ["40 MB"], "How much does it carry?")[0].state == state


@pytest.mark.parametrize(
    ("answer", "state"),
    [
        ("Bạn học ở trường Hoa Lư.", "unknown"),
        ("Bạn học ở trường Hoà Lạc.", "missing"),
        ("Bạn học ở trường Trung học Hoà Lạc.", "missing"),
    ],
)
def test_a_vietnamese_name_may_lack_a_word_of_two_syllables(answer: str, state: str) -> None:
    assert judge_facts(answer, ["Trường Trung học Hoa Lư"], "Học ở đâu?")[0].state == state
