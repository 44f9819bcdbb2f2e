"""Options that several commands have are defined once; Typer sees one parameter for each of them."""

from __future__ import annotations

import ast
from collections import defaultdict
from pathlib import Path
from typing import Annotated

import pytest
import typer
from msgspec import Struct
from typer.core import TyperCommand, TyperGroup
from typer.main import get_command
from typer.testing import CliRunner

from assay.cli.app import build_app
from assay.cli.options import RecordedOptions, expand_options, parse_metric_list, parse_name_list
from assay.records.errors import ExitCode, InputError
from assay.records.requests import InputOptions

CLI = Path(__file__).resolve().parents[2] / "src" / "assay" / "cli"
SHARING = ("explain", "calibrate", "judge", "labels export")


class SizeOptions(Struct, frozen=True):
    width: Annotated[int, typer.Option(min=1, help="Width.")] = 3
    height: Annotated[int | None, typer.Option(help="Height.")] = None


def run_sized(*arguments: str) -> tuple[str, int]:
    app = typer.Typer()

    @app.command()
    @expand_options
    def draw(
        *,
        name: Annotated[str, typer.Option(help="Name.")],
        size: SizeOptions,
        bold: Annotated[bool, typer.Option()] = False,
    ) -> ExitCode:
        """Draw a box."""
        typer.echo(f"{name} {size} {bold}")
        return ExitCode.PASS

    result = CliRunner().invoke(app, list(arguments))
    return result.output, result.exit_code


def test_a_group_of_options_becomes_one_option_for_each_field_in_its_place() -> None:
    output, _ = run_sized("--help")
    positions = [output.index(text) for text in ("Draw a box.", "--name", "--width", "--height", "--bold")]
    assert sorted(positions) == positions


def test_a_command_receives_its_group_with_values_and_defaults() -> None:
    assert ("a SizeOptions(width=5, height=None) True\n", 0) == run_sized("--name", "a", "--width", "5", "--bold")
    assert ("a SizeOptions(width=3, height=2) False\n", 0) == run_sized("--name", "a", "--height", "2")


@pytest.mark.parametrize(
    "arguments", [("--name", "a", "--width", "0"), ("--width", "2"), ("--name", "a", "--size", "1")]
)
def test_limits_required_options_and_unknown_names_are_checked_as_without_groups(arguments: tuple[str, ...]) -> None:
    assert 2 == run_sized(*arguments)[1]


def test_recorded_options_become_the_inputs_of_a_request() -> None:
    recorded = RecordedOptions("g.jsonl", ["a.jsonl"], None, "trec-run", "c.jsonl")
    expected = InputOptions("run", "g.jsonl", ["a.jsonl"], None, "trec-run", "c.jsonl", limit=3)
    assert expected == recorded.build_inputs("run", limit=3)
    assert InputOptions() == RecordedOptions().build_inputs(None)


@pytest.mark.parametrize(("text", "names"), [(None, []), ("", []), (" a, b ,", ["a", "b"])])
def test_lists_of_names(text: str | None, names: list[str]) -> None:
    assert names == parse_name_list(text)


def test_a_list_without_a_name_is_refused() -> None:
    with pytest.raises(InputError, match="the list contains no name"):
        parse_name_list(" , ")


def test_commas_inside_a_metric_name_do_not_end_it() -> None:
    names = parse_metric_list("recall@5, faithfulness(by=judge,against=cited),")
    assert names == ["recall@5", "faithfulness(by=judge,against=cited)"]
    assert parse_metric_list(None) == []
    with pytest.raises(InputError, match="the list contains no name"):
        parse_metric_list(" , ")


@pytest.mark.parametrize("command", SHARING)
def test_answers_are_named_by_the_same_options_in_every_command(command: str) -> None:
    words = command.split()
    result = CliRunner().invoke(build_app(words), [*words, "--help"], env={"COLUMNS": "200"})
    text = " ".join(result.output.split())
    assert "--golden <str> Golden set: a file, a BEIR folder, or - for standard input. --" in text
    assert (
        "--outputs <str> Recorded outputs: files, glob patterns, or - for standard input; takes several values." in text
    )
    assert all(name in text for name in ("--run <str>", "--golden-format", "--outputs-format", "--corpus"))


def test_no_option_is_worded_twice() -> None:
    places: dict[str, list[str]] = defaultdict(list)
    for path in sorted(CLI.glob("*.py")):
        for node in ast.walk(ast.parse(path.read_text(encoding="utf-8"))):
            if isinstance(node, ast.Call) and ast.unparse(node.func) == "typer.Option":
                for keyword in node.keywords:
                    if keyword.arg == "help" and isinstance(keyword.value, ast.Constant):
                        places[str(keyword.value.value)].append(f"{path.name}:{node.lineno}")
    repeated = {text: where for text, where in places.items() if len(where) > 1}
    assert not repeated, "define the option in cli/options.py"


@pytest.mark.parametrize("command", ["calibrate", "labels export", "golden pool", "score", "judge", "monitor"])
def test_an_option_that_takes_a_list_of_metrics_has_the_same_name_everywhere(command: str) -> None:
    parser: object = get_command(build_app())
    for word in command.split():
        assert isinstance(parser, TyperGroup)
        parser = parser.commands[word]
    assert isinstance(parser, TyperCommand | TyperGroup)
    (option,) = [option for option in parser.params if "--metrics" in option.opts]
    assert option.opts in (["--metrics"], ["--metrics", "--metric"])  # what three of them were called before
