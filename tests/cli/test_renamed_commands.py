"""Commands under their former names: they work, say what they are called now, and are not in the help."""

from __future__ import annotations

import pytest

from assay.cli import main
from assay.cli.app import COMMANDS, RENAMED_COMMANDS


@pytest.mark.parametrize(("old_name", "present_name"), RENAMED_COMMANDS.items())
def test_an_old_name_runs_the_command_and_names_the_present_one_on_standard_error(
    old_name: str, present_name: str, capsys: pytest.CaptureFixture[str]
) -> None:
    assert 0 == main([present_name, "--help"])
    expected = capsys.readouterr()
    assert 0 == main([old_name, "--help"])
    printed = capsys.readouterr()
    assert ("", expected.out) == (expected.err, printed.out)
    assert f"note: assay {old_name} is now assay {present_name}\n" == printed.err


def test_the_output_of_an_old_name_can_still_be_piped_into_a_program(capsys: pytest.CaptureFixture[str]) -> None:
    assert 0 == main(["metrics", "--format", "json"])
    expected = capsys.readouterr().out
    assert 0 == main(["graders", "--format", "json"])
    assert expected == capsys.readouterr().out


def test_the_help_lists_present_names_only(capsys: pytest.CaptureFixture[str]) -> None:
    assert 0 == main(["--help"])
    first_words = {line.split()[0] for line in capsys.readouterr().out.splitlines() if line.split()}
    assert set(COMMANDS) <= first_words
    assert set() == set(RENAMED_COMMANDS) & first_words
