"""The request for a judge run, and the inputs loaded for it: outputs, golden set, corpus, gate."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any

from assay.config import Config
from assay.errors import InputError, Problem, SettingsError
from assay.io.corpus import load_corpus
from assay.io.golden import load_golden
from assay.io.observations import read_observations
from assay.judges.guards import self_judging
from assay.model import Gate
from assay.runners.judging import Limits
from assay.workflow.judges import ChosenJudge
from assay.workflow.outputs import decodable, output_files
from assay.workflow.questions import Questions, judged_names, prepared
from assay.workflow.runs import refuse_other_golden, request_of
from assay.workflow.session import Request, the_gate

BOOK = "verdicts.sqlite"
DEFAULT_LIMITS = Limits()


@dataclass(frozen=True, slots=True)
class Judgement:
    """The options of `assay judge` as given on the command line; `run` stands for golden, outputs and corpus."""

    config: Config
    run: str | None = None
    golden: str | None = None
    outputs: Sequence[str] = ()
    golden_format: str | None = None
    outputs_format: str | None = None
    corpus: str | None = None
    judge: str | None = None
    flags: dict[str, Any] = field(default_factory=dict)
    rubrics: Sequence[str] = ()
    metrics: Sequence[str] = ()
    only: Sequence[str] = ()
    gate: str | None = None
    profile: str | None = None
    votes: int | None = None
    book: str | None = None
    max_calls: int | None = None
    max_tokens: int | None = None
    max_cost: float | None = None
    limits: Limits = DEFAULT_LIMITS
    allow_self_judge: bool = False
    second: str | None = None
    at: str | None = None

    @property
    def book_path(self) -> Path:
        """The path of the verdict store: the file named, else that of the run folder or of the working directory."""
        return Path(self.book) if self.book is not None else Path(self.run or ".") / BOOK

    def read_by(self, rubrics: Sequence[str]) -> list[str]:
        """Return the arguments of the command that scores with these verdicts."""
        if self.run is not None:
            return ["report", self.run, "--markdown", str(Path(self.run) / "report.md")]
        named = (
            ("--golden-format", self.golden_format),
            ("--outputs-format", self.outputs_format),
            ("--corpus", self.corpus),
            ("--verdicts", str(self.book_path)),
            *(("--rubrics", folder) for folder in rubrics),
        )
        options = [word for option, value in named if value is not None for word in (option, value)]
        return ["score", "--golden", str(self.golden), "--outputs", *self.outputs, *options]


def questions_of(judgement: Judgement, chosen: ChosenJudge) -> tuple[Questions, list[str]]:
    """Load the questions to judge, and notices. Raises InputError listing all problems of the inputs."""
    request = _scoring_request(judgement)
    names = judged_names(judgement.metrics or [metric for metric in request.metrics if "by=judge" in metric])
    loaded = load_golden(request.golden, request.golden_format)
    if judgement.run is not None:
        refuse_other_golden(Path(judgement.run), loaded.digest)
    corpus = load_corpus(request.corpus)[0] if request.corpus is not None else None
    with output_files(request.outputs, request.outputs_format) as files, decodable(files) as ready:
        read_rows = (
            observation for file in ready for observation in read_observations(file.path, file.name, file.decoded_as)
        )
        observations, unknown = prepared(read_rows, loaded.golden)
    notices = [f"{unknown} observations of cases that are not in the golden set are not judged"] if unknown else []
    return Questions(loaded.golden, corpus, chosen.rubrics, names, observations), notices


def _scoring_request(judgement: Judgement) -> Request:
    if judgement.run is not None:
        if judgement.golden is not None or judgement.outputs:
            raise InputError("--run: stands for --golden and --outputs (expected one of both ways)")
        return request_of(Path(judgement.run))
    if judgement.golden is None or not judgement.outputs:
        raise InputError("nothing to judge (expected --run DIR, or --golden FILE with --outputs FILE)")
    return Request(
        judgement.golden, judgement.outputs, judgement.golden_format, judgement.outputs_format, judgement.corpus
    )


def gate_of(judgement: Judgement) -> Gate | None:
    """Return the gate that decides which cases get more votes; None if none is named."""
    config = judgement.config
    is_named = judgement.gate is not None or judgement.profile is not None
    settings_gate = config.path if config.settings.gate is not None and not is_named else None
    return the_gate(judgement.gate or settings_gate, judgement.profile)


def guarded(judgement: Judgement, chosen: ChosenJudge, questions: Questions) -> list[str]:
    """Refuse a judge that would judge its own answers; return a notice for a judge of the same model family."""
    versions: dict[str, set[str]] = {}
    for observation in questions.observations:
        for name, value in observation.versions.items():
            versions.setdefault(name, set()).add(value)
    finding = self_judging(chosen.settings.model or "", versions, chosen.settings.family or "")
    if finding is None:
        return []
    if finding.kind == "same_model" and not judgement.allow_self_judge:
        message = f"{finding.message} (expected another judge, or --allow-self-judge)"
        raise SettingsError([Problem("", None, "judge", message, "E_SELF_JUDGE")])
    return [f"E_SELF_JUDGE {finding.message}: it may be lenient"]
