"""The options that several commands have: each is defined once, with its wording.

A command takes a group of options as one parameter, such as `recorded: RecordedOptions`. Typer needs a parameter for
each option, so `expand_options` builds the signature that Typer reads from the fields of the groups.
"""

from __future__ import annotations

import inspect
import os
import shlex
from collections.abc import Callable, Collection, Iterator
from datetime import UTC, datetime
from enum import StrEnum
from functools import wraps
from pathlib import Path
from typing import TYPE_CHECKING, Annotated, Any, get_type_hints

import typer
from msgspec import Struct

from assay.formats.problems import find_time_fault
from assay.records.errors import ExitCode, InputError
from assay.records.requests import InputOptions, ScoringOptions, VerdictOptions

if TYPE_CHECKING:
    from assay.golden.model_client import ModelOptions


class MissingPolicy(StrEnum):
    """Ways to count a golden case without output."""

    error = "error"
    zero = "zero"


def counts_as_zero(missing: MissingPolicy | None) -> bool | None:
    """Return whether cases without output count with a score of zero; None where nothing was said."""
    return None if missing is None else missing is MissingPolicy.zero


class PrintFormat(StrEnum):
    """Formats of printed results."""

    table = "table"
    json = "json"
    markdown = "markdown"


# ── answers ──────────────────────────────────────────────────────────────────────────────────────────────────────

RunOption = Annotated[
    str | None,
    typer.Option(help="Run folder (RUN) or one of its configurations (RUN:CONFIG), instead of --golden and --outputs."),
]
GoldenFormatOption = Annotated[
    str | None, typer.Option(help="Format of the golden set (default: detected from its content).")
]
CorpusOption = Annotated[
    str | None, typer.Option(help="Corpus file: every chunk with its correct text, version and access rights.")
]
CorporaOption = Annotated[
    list[str] | None,
    typer.Option(
        "--corpus",
        help="Current corpus file, or VERSION=FILE for that of an index version; answers are checked with the corpus "
        "of their version. Repeat for more.",
    ),
]
LimitOption = Annotated[
    int | None, typer.Option(min=1, help="Use only the first N cases; a partial run is never gated.")
]

MissingOption = Annotated[
    MissingPolicy | None,
    typer.Option(
        help="How to count a case without output: as an error, or with a score of zero (default: as the run did, else "
        "as an error)."
    ),
]

# ── metrics, gate and baseline ───────────────────────────────────────────────────────────────────────────────────

MetricsOption = Annotated[
    str | None, typer.Option(help="Metrics to compute, comma-separated; `assay metrics` lists them.")
]
ByOption = Annotated[
    str | None,
    typer.Option(help="Slices to report, comma-separated: tag, difficulty, behaviour, language, kind or an attribute."),
]
GateOption = Annotated[str | None, typer.Option(help="Gate file: the release rules to check.")]
ProfileOption = Annotated[str | None, typer.Option(help="Built-in gate to check; `assay gate show` lists them.")]
GateConfigOption = Annotated[str, typer.Option(help="Configurations that the gate checks, comma-separated.")]
BaselineOption = Annotated[
    str | None,
    typer.Option(help="Baseline for regression rules: RUN, RUN:CONFIG or a file written by `assay baseline save`."),
]
ApproverOption = Annotated[str, typer.Option(help="Reviewer of the decision; overrides the one named in the gate.")]
StrictOption = Annotated[bool, typer.Option("--strict", help="Exit with 1 also when the decision is a pass with risk.")]
EntailmentModelOption = Annotated[
    str | None,
    typer.Option(
        help="Folder of a local entailment model (model.onnx, tokenizer.json, config.json) for metrics with "
        "by=entailment."
    ),
]
AskedRubricsOption = Annotated[
    list[str] | None, typer.Option(help="Folder with the rubrics that the judge was asked with; may be repeated.")
]
JudgeNameOption = Annotated[str | None, typer.Option(help="Judge whose verdicts are used, by digest or model.")]
ConcurrencyOption = Annotated[int, typer.Option(min=1, max=1024, help="Maximum number of concurrent calls.")]
MaxCallsOption = Annotated[int | None, typer.Option(min=1, help="Maximum number of calls, including retries.")]
MaxTokensOption = Annotated[int | None, typer.Option(min=1, help="Maximum number of tokens.")]
MaxCostOption = Annotated[float | None, typer.Option(min=0, help="Maximum cost in US dollars.")]
ProductionKOption = Annotated[
    int | None, typer.Option(min=1, help="Number of chunks that the production system passes to its model.")
]

InternalStagesOption = Annotated[
    str | None,
    typer.Option(help="Internal stages, which no user sees, comma-separated: what a later stage drops is not a leak."),
]

# ── reports ──────────────────────────────────────────────────────────────────────────────────────────────────────

_MARKDOWN_HELP, _JSON_HELP = "Write a Markdown report to this file.", "Write a JSON report to this file."
MarkdownReportOption = Annotated[str | None, typer.Option(help=_MARKDOWN_HELP)]
JsonReportOption = Annotated[str | None, typer.Option(help=_JSON_HELP)]
MarkdownFileOption = Annotated[str | None, typer.Option("--markdown", "--report", help=_MARKDOWN_HELP)]
JsonFileOption = Annotated[str | None, typer.Option("--json", "--json-report", help=_JSON_HELP)]
"""The same reports where more kinds can be written, each by an option named after it, or as other commands name it."""
_KIND_OF_SUFFIX = {
    ".md": "Markdown", ".markdown": "Markdown", ".html": "HTML", ".htm": "HTML", ".json": "JSON", ".xml": "JUnit XML",
}  # fmt: skip


def refuse_other_suffix(kind: str, path: str | None, option: str) -> None:
    """Raise InputError if the name of a report is that of another kind: what opens it could not read it.

    >>> refuse_other_suffix("Markdown", "r.html", "--report")
    Traceback (most recent call last):
    assay.records.errors.InputError: --report: writes Markdown, and r.html is the name of HTML (expected another name)
    """
    named = _KIND_OF_SUFFIX.get(Path(path).suffix.lower()) if path is not None else None
    if named is not None and named != kind:
        raise InputError(f"{option}: writes {kind}, and {path} is the name of {named} (expected another name)")


PerCaseOption = Annotated[str | None, typer.Option(help="Write the scores of every case to this file, as JSON lines.")]
PrintFormatOption = Annotated[PrintFormat, typer.Option(help="Format of the printed results.")]
VerboseOption = Annotated[
    bool, typer.Option("--verbose", help="Print every metric, every rule of the gate and all notes, not the summary.")
]
DEFAULT_AUDIT_STORE = "audit.sqlite"
AUDIT_STORE_HELP = "Audit store: a SQLite file, or postgresql://USER@HOST/DATABASE (password in PGPASSWORD)."
AuditStoreOption = Annotated[str, typer.Option("--store", help=AUDIT_STORE_HELP)]
OwnerOption = Annotated[str, typer.Option(help="Owner of this run, as named in the report.")]
NowOption = Annotated[
    str | None,
    typer.Option(help="Timestamp for the reports, such as 2026-03-01T08:00:00Z (default: SOURCE_DATE_EPOCH)."),
]

NowRecordedOption = Annotated[
    str | None, typer.Option("--now", help="Time to record, ISO 8601 (default: SOURCE_DATE_EPOCH, else now).")
]
AsOfOption = Annotated[str | None, typer.Option(help="Day on which versions are in force.")]
PageLanguageOption = Annotated[str, typer.Option(help="Language of the page: en or vi.")]
SetOwnerOption = Annotated[str, typer.Option("--owner", help="Person responsible for the set.")]
UserOption = Annotated[
    str | None, typer.Option(help="Who asked: the id that the producer writes, or the pseudonym (user:…).")
]
NoHistoryOption = Annotated[
    bool, typer.Option("--no-history", help="Keep this run out of the registry that `assay history` reads.")
]

NoLedgerOption = Annotated[
    bool,
    typer.Option(
        "--no-ledger", help="Do not count this look at a frozen test split; that it was not counted is recorded."
    ),
]

# ── settings ─────────────────────────────────────────────────────────────────────────────────────────────────────

SettingsOption = Annotated[str | None, typer.Option(help="Settings file (default: assay.yaml, if it exists).")]


class RecordedOptions(Struct, frozen=True):
    """Recorded answers: a golden set with files of outputs."""

    golden: Annotated[str | None, typer.Option(help="Golden set: a file, a BEIR folder, or - for standard input.")] = (
        None
    )
    outputs: Annotated[
        list[str] | None,
        typer.Option(help="Recorded outputs: files, glob patterns, or - for standard input; takes several values."),
    ] = None
    golden_format: GoldenFormatOption = None
    outputs_format: Annotated[
        str | None, typer.Option(help="Format of the outputs (default: detected from their content).")
    ] = None
    corpus: CorpusOption = None

    def build_inputs(self, run: str | None, **selection: Any) -> InputOptions:
        """Return the inputs of a request; `selection` are further fields of `InputOptions`."""
        formats = self.golden_format, self.outputs_format
        return InputOptions(run, self.golden or "", self.outputs or (), *formats, self.corpus, **selection)


class MeasurementOptions(Struct, frozen=True):
    """What the scores of recorded answers depend on, besides the answers: asked of `explain` too."""

    allow_torn_tail: Annotated[
        bool,
        typer.Option("--allow-torn-tail", help="Accept a truncated last line, as a crash leaves it, and report it."),
    ] = False
    verdicts: Annotated[
        str | None, typer.Option(help="Recorded verdicts of a judge: a verdict store, or its export as JSON lines.")
    ] = None
    judge: JudgeNameOption = None
    calibration: Annotated[
        str | None,
        typer.Option(help="Calibration file written by `assay calibrate`; it says which judges and rules may gate."),
    ] = None
    labels: Annotated[
        list[str] | None,
        typer.Option(
            help="Human labels of answers that the rules leave unknown (`assay labels import`); may be repeated."
        ),
    ] = None
    entailment_model: EntailmentModelOption = None
    lexicons: Annotated[
        list[str] | None,
        typer.Option(help="File or folder with lexicons of refusals for further languages; may be repeated."),
    ] = None
    rubrics: AskedRubricsOption = None
    good: Annotated[
        str | None, typer.Option(help="Criterion for a good answer: auto (the default) or METRIC>=VALUE.")
    ] = None
    production_k: ProductionKOption = None
    internal_stages: InternalStagesOption = None

    def build_verdicts(self) -> VerdictOptions:
        """Return the recorded verdicts to score with."""
        return VerdictOptions(
            self.verdicts,
            self.judge,
            self.calibration,
            self.rubrics or (),
            entailment_model=self.entailment_model,
        )

    def build_scoring(self, **options: Any) -> ScoringOptions:
        """Return what is computed, and how; `options` are further fields of `ScoringOptions`."""
        stages = parse_name_list(self.internal_stages) if self.internal_stages is not None else None
        return ScoringOptions(
            good=self.good,
            production_k=self.production_k,
            internal_stages=stages,
            lexicons=self.lexicons or (),
            labels=self.labels or (),
            **options,
        )

    def format_arguments(self, names: Collection[str] | None = None) -> str:
        """Return the arguments that ask for the same on another command line, "" where nothing was asked.

        `names` are the options to pass on, all of them by default.
        """
        arguments = []
        for name in self.__struct_fields__:
            if names is not None and name not in names:
                continue
            value, option = getattr(self, name), f"--{name.replace('_', '-')}"
            if value is True:
                arguments.append(option)
            elif isinstance(value, list):
                arguments += [part for item in value for part in (option, str(item))]
            elif value not in (None, False):
                arguments += [option, str(value)]
        return shlex.join(arguments)


class HtmlOptions(Struct, frozen=True):
    """The HTML report."""

    html: Annotated[str | None, typer.Option(help="Write a self-contained HTML report to this file.")] = None
    detail_mb: Annotated[float, typer.Option(min=0, help="Size limit for case details in the HTML report, in MB.")] = (
        25.0
    )
    show_forbidden: Annotated[
        bool,
        typer.Option(
            "--show-forbidden", help="Include text that the user of a case is not allowed to see in the HTML report."
        ),
    ] = False


class EndpointOptions(Struct, frozen=True):
    """The judge to ask: one of the settings, or one that is described here."""

    settings: SettingsOption = None
    judge: Annotated[
        str | None,
        typer.Option(help="Judge defined in the settings, or a name for the one described by the options below."),
    ] = None
    protocol: Annotated[
        str | None, typer.Option(help="API of the endpoint: openai, anthropic or that of a plugin.")
    ] = None
    model: Annotated[str | None, typer.Option(help="Model of the judge.")] = None
    base_url_env: Annotated[
        str | None, typer.Option(help="Environment variable that holds the base URL of the endpoint.")
    ] = None
    api_key_env: Annotated[str | None, typer.Option(help="Environment variable that holds the API key.")] = None

    @property
    def judge_settings(self) -> dict[str, Any]:
        """The settings of the judge that these options replace, by field; None for those not given."""
        names = ("protocol", "model", "base_url_env", "api_key_env")
        return {name: getattr(self, name) for name in names}


ModelDryRunOption = Annotated[
    bool, typer.Option("--dry-run", help="Print what a model would be asked and its cost, without asking.")
]


class AskingOptions(Struct, frozen=True):
    """How a model that helps with golden sets is asked: where its replies are kept, and the limits."""

    store: Annotated[
        str, typer.Option(help="File that keeps the model's replies; what is in it is not asked again.")
    ] = "draft.sqlite"
    max_calls: MaxCallsOption = None
    max_tokens: MaxTokensOption = None
    max_cost: MaxCostOption = None
    concurrency: ConcurrencyOption = 8
    deadline: Annotated[
        float, typer.Option(min=0.1, help="Time limit for one reply in seconds, including retries.")
    ] = 120.0
    attempts: Annotated[
        int, typer.Option(min=1, max=20, help="Maximum number of calls for one reply when errors are temporary.")
    ] = 6
    retry_errors: Annotated[
        bool,
        typer.Option("--retry-errors", help="Ask again for replies that could not be used; they are paid for twice."),
    ] = False

    def build_options(self, endpoint: EndpointOptions) -> ModelOptions | None:
        """Return which model to ask and how; None if the options name none."""
        from assay.formats.settings_file import load_config
        from assay.golden.model_client import ModelOptions
        from assay.judging.call_scheduler import JudgingLimits

        if endpoint.judge is None and endpoint.model is None:
            return None
        return ModelOptions(
            load_config(endpoint.settings),
            endpoint.judge or "model",
            endpoint.judge_settings,
            self.store,
            self.max_calls,
            self.max_tokens,
            self.max_cost,
            JudgingLimits(self.concurrency, self.deadline, self.attempts),
            self.retry_errors,
        )


class PermissionOptions(Struct, frozen=True):
    """What a settings file may do beyond naming files."""

    allow_exec: Annotated[
        bool, typer.Option("--allow-exec", help="Allow the settings file to name programs to run.")
    ] = False
    allow_host: Annotated[
        list[str] | None,
        typer.Option(
            help="Host that the settings file may name although it is not allowed by default; may be repeated."
        ),
    ] = None


def expand_options(command: Callable[..., ExitCode]) -> Callable[..., ExitCode]:
    """Return a command for Typer, with a parameter for each field of its option groups, in their places."""
    annotations = get_type_hints(command, include_extras=True)
    groups: dict[str, type[Struct]] = {}
    parameters: list[inspect.Parameter] = []
    for parameter in inspect.signature(command).parameters.values():
        annotation = annotations[parameter.name]
        if isinstance(annotation, type) and issubclass(annotation, Struct):
            groups[parameter.name] = annotation
            parameters += _list_parameters(annotation)
        else:
            parameters.append(parameter.replace(annotation=annotation, kind=inspect.Parameter.KEYWORD_ONLY))

    @wraps(command)
    def run_expanded(**values: Any) -> ExitCode:
        for name, group in groups.items():
            values[name] = group(**{field: values.pop(field) for field in group.__struct_fields__})
        return command(**values)

    run_expanded.__signature__ = inspect.Signature(parameters)  # type: ignore[attr-defined]
    run_expanded.__annotations__ = {parameter.name: parameter.annotation for parameter in parameters}
    return run_expanded


def _list_parameters(group: type[Struct]) -> Iterator[inspect.Parameter]:
    annotations = get_type_hints(group, include_extras=True)
    for parameter in inspect.signature(group).parameters.values():
        yield parameter.replace(annotation=annotations[parameter.name], kind=inspect.Parameter.KEYWORD_ONLY)


# ── values ───────────────────────────────────────────────────────────────────────────────────────────────────────


def parse_name_list(text: str | None) -> list[str]:
    """Split a comma-separated list of names; None is an empty list. Raises InputError for a text without a name."""
    text = text or ""
    return _require_names(text, [part.strip() for part in text.split(",") if part.strip()])


def parse_metric_list(text: str | None) -> list[str]:
    """Split a comma-separated list of metric names, whose own keys may be separated by commas; None is an empty list.

    Raises InputError for a text without a name.
    """
    from assay.runs.load_plugins import list_metric_names

    text = text or ""
    return _require_names(text, list_metric_names(text))


def _require_names(text: str, names: list[str]) -> list[str]:
    if text and not names:
        raise InputError(f"the list contains no name (got {text!r}; expected comma-separated names)")
    return names


def resolve_timestamp(now: str | None) -> str | None:
    """Return the timestamp for reports: `now`, else that of SOURCE_DATE_EPOCH, else None.

    Raises InputError if either is not a valid time.
    """
    if now is None:
        return read_source_date_epoch()
    fault = find_time_fault(now)
    if fault:
        raise InputError(f"--now: {fault}")
    return now


def resolve_clock(now: str | None) -> str:
    """Return the time to record: of `--now` or SOURCE_DATE_EPOCH, else the present. Raises InputError if invalid."""
    return resolve_timestamp(now) or datetime.now(UTC).isoformat(timespec="seconds")


def read_source_date_epoch() -> str | None:
    """Return the time in SOURCE_DATE_EPOCH as ISO 8601 text, None if it is not set. Raises InputError if invalid."""
    seconds = os.environ.get("SOURCE_DATE_EPOCH")
    if seconds is None:
        return None
    try:
        return datetime.fromtimestamp(int(seconds), UTC).isoformat()
    except (ValueError, OverflowError, OSError):
        message = f"SOURCE_DATE_EPOCH: not a number of seconds (got {seconds!r}; expected one such as 1767225600)"
        raise InputError(message) from None


TrendPageOption = Annotated[str | None, typer.Option("--html", help="Write a page with charts to this file.")]
OtlpFileOption = Annotated[
    str | None, typer.Option("--export-otlp", help="Write all points as OTLP metrics (JSON) to this file.")
]
PrometheusFileOption = Annotated[
    str | None, typer.Option("--export-prometheus", help="Write the newest points in the text format of Prometheus.")
]
