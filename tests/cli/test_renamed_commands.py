"""Commands under their former names: they work, say what they are called now, and are not in the help."""

from __future__ import annotations

from pathlib import Path

import pytest

from assay.cli import main
from assay.cli.app import COMMANDS, RENAMED_COMMANDS, RENAMED_OPTIONS


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


@pytest.mark.parametrize(
    ("command", "former", "present"),
    [(command, *pair) for command, options in RENAMED_OPTIONS.items() for pair in options.items()],
)
def test_a_former_option_is_read_as_the_present_one_with_a_note(
    command: str, former: str, present: str, tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    missing = str(tmp_path / "missing.sqlite")
    expected_code = main([command, "export", present, missing, "--to", str(tmp_path / "out.jsonl")])
    expected = capsys.readouterr().err
    for spelling in ([former, missing], [f"{former}={missing}"]):
        assert expected_code == main([command, "export", *spelling, "--to", str(tmp_path / "out.jsonl")])
        assert f"note: {former} is now {present}\n{expected}" == capsys.readouterr().err


def test_the_help_of_a_command_lists_present_options_only(capsys: pytest.CaptureFixture[str]) -> None:
    for command, options in RENAMED_OPTIONS.items():
        assert 0 == main([command, "--help"])
        printed = capsys.readouterr().out
        assert all(present in printed for present in options.values())
        assert not any(former in printed for former in options)
