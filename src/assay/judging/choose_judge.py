"""Choosing a judge by its name in the settings or by command-line options, and creating it."""

from __future__ import annotations

import math
import os
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass
from typing import Any, NoReturn

from msgspec import structs

from assay.calls.addresses import check_url
from assay.formats.settings_file import Config, find_secrets
from assay.judging.budget import Budget, BudgetCaps, TokenPrice
from assay.judging.http_client import HttpTransport
from assay.judging.litellm_client import DEFAULT_ADDRESS, LiteLLMTransport
from assay.judging.llm_judge import PROVIDERS, KeepRendered, LLMJudge, build_judge_identity
from assay.judging.provider import HttpReply, HttpRequest
from assay.judging.reply_parsing import ReplyForm
from assay.judging.rubric_files import Rubrics, use_rubrics
from assay.records.digest import compute_digest
from assay.records.errors import Problem, SettingsError, shorten_repr
from assay.records.settings import JudgeSettings, RedactionRule
from assay.text.escaping import Redactor
from assay.text.linear_patterns import LinearPattern, PatternError, compile_linear
from assay.text.secret_forms import remove_keys

DEFAULT_JUDGE_NAME = "judge"
LITELLM = "litellm"
REQUEST_LENGTH = 3000
"""Number of characters from which a text is treated as a whole request rather than a message."""


@dataclass(frozen=True, slots=True)
class ChosenJudge:
    """A chosen judge: its settings, its rubrics, the folders of rubrics that are not built in, and the redactor of its
    secrets. `own_metrics` are the metrics that the rubrics of the folders are."""

    name: str
    settings: JudgeSettings
    rubrics: Rubrics
    redactor: Redactor
    folders: tuple[str, ...] = ()
    own_metrics: tuple[str, ...] = ()

    @property
    def price(self) -> TokenPrice | None:
        """The price of its tokens; None if the settings do not state it."""
        prompt, completion = self.settings.prompt_usd_per_1k, self.settings.completion_usd_per_1k
        return None if prompt is None or completion is None else TokenPrice(prompt, completion)


def choose_judge(
    config: Config,
    name: str | None,
    flags: Mapping[str, Any],
    rubrics: Sequence[str] = (),
    default_rubrics: Sequence[str] = (),
    *,
    is_asked: bool = True,
) -> ChosenJudge:
    """Return the named judge of the settings `judges`, that of `judge`, or one made from flags alone.

    `flags` are fields of `JudgeSettings`; those that are not None take precedence over the settings. Folders of
    `rubrics` take precedence over those of the settings, and these over the `default_rubrics` ones. A judge that is not
    asked, as in a dry run, needs no address. Raises SettingsError.
    """
    judges = dict(config.settings.judges)
    if config.settings.judge is not None:
        judges.setdefault(DEFAULT_JUDGE_NAME, config.settings.judge)
    overrides = {key: value for key, value in flags.items() if value is not None}
    if name is None and len(judges) == 1:
        (name,) = judges
    if name is None:
        _raise_settings_error(
            "judge", f"none named (expected --judge with {_join_names(judges) or 'a name, and --model'})"
        )
    named_settings = judges.get(name)
    if named_settings is None and "model" not in overrides:
        expected = f"one of {_join_names(judges)}, or --model with it" if judges else "--model with it"
        _raise_settings_error("judge", f"no such judge in the settings (got {shorten_repr(name)}; expected {expected})")
    settings = structs.replace(named_settings or JudgeSettings(), **overrides)
    if settings.model is None:
        _raise_settings_error(
            "judge.model", f"no model for judge {name} (expected --model, or judges.{name}.model in the settings)"
        )
    if is_asked and settings.base_url_env is None and settings.protocol != LITELLM:
        _raise_settings_error(
            "judge.base_url_env",
            f"no address for judge {name} (expected --base-url-env with the name of the variable that holds it)",
        )
    if settings.protocol not in PROVIDERS:
        expected = ", ".join(PROVIDERS.list_names())
        _raise_settings_error(
            "judge.protocol", f"no such protocol (got {shorten_repr(settings.protocol)}; expected one of {expected})"
        )
    folders = (
        tuple(rubrics) or tuple(str(config.folder / folder) for folder in settings.rubrics) or tuple(default_rubrics)
    )
    secrets = [settings.api_key_env] if settings.api_key_env is not None else []
    loaded, own_metrics = use_rubrics(folders)
    return ChosenJudge(name, settings, loaded, Redactor(find_secrets(named=secrets)), folders, tuple(own_metrics))


def choose_caps(chosen: ChosenJudge, calls: int | None, tokens: int | None, cost: float | None) -> BudgetCaps:
    """Return the hard caps. Raises SettingsError for a cap on cost if the price of the judge is unknown."""
    max_cost = cost if cost is not None else chosen.settings.max_cost_usd
    if max_cost is not None and not math.isfinite(max_cost):
        _raise_settings_error("max_cost", f"not an amount of dollars (got {max_cost}; expected a finite number)")
    if max_cost is not None and chosen.price is None:
        _raise_settings_error(
            "max_cost",
            f"cannot be enforced, because the price of {chosen.settings.model} is unknown (expected prompt_usd_per_1k "
            "and completion_usd_per_1k in its settings, or --max-tokens instead)",
        )
    return BudgetCaps(calls, tokens, max_cost, chosen.price)


def make_judge(
    chosen: ChosenJudge,
    concurrency: int,
    deadline_seconds: float,
    budget: Budget,
    keep: KeepRendered | None = None,
    forms: Mapping[str, ReplyForm] | None = None,
    *,
    is_asked: bool = True,
) -> LLMJudge:
    """Return the judge; each of its calls counts in `budget`, `keep` stores the bytes that it sends, and `forms` are
    requests that are no rubric.

    `deadline_seconds` is the deadline of one call. A judge that is not asked renders requests and needs neither address
    nor key. Raises SettingsError for an environment variable that is not set, a refused address, and a missing package.
    """
    settings = chosen.settings
    assert settings.model is not None
    if not math.isfinite(deadline_seconds):
        _raise_settings_error(
            "deadline", f"not a duration (got {deadline_seconds}; expected a finite number of seconds)"
        )
    url = _read_address(settings) if is_asked else ""
    key = ""
    if is_asked and settings.api_key_env is not None:
        key = _require_variable(settings.api_key_env, "judge.api_key_env")
    identity = build_judge_identity(
        settings.protocol,
        settings.model,
        settings.endpoint or chosen.name,
        family=settings.family,
        temperature=settings.temperature,
        max_tokens=settings.max_tokens,
        api_version=settings.api_version,
        redaction=compute_digest(settings.redact) if settings.redact else None,
    )
    transport: HttpTransport | LiteLLMTransport | _NoTransport
    if not is_asked:
        transport = _NoTransport()
    elif settings.protocol == LITELLM:
        transport = LiteLLMTransport(deadline_seconds)
    else:
        transport = HttpTransport(concurrency, deadline_seconds)
    price = chosen.price
    return LLMJudge(
        identity,
        chosen.rubrics,
        budget.count_calls(transport.send),
        base_url=url,
        api_key=key,
        redact=make_secret_filter(chosen.redactor),
        usd_per_1k=(price.prompt_per_1k, price.completion_per_1k) if price is not None else None,
        keep=keep,
        close=transport.aclose,
        redact_input=make_input_redactor(settings.redact),
        forms=forms,
    )


class _NoTransport:
    """Takes the place of the client of a judge that is not asked."""

    async def send(self, request: HttpRequest) -> HttpReply:
        raise RuntimeError(f"a judge that is not to be asked was asked at {request.url}")

    async def aclose(self) -> None:
        """Nothing is open."""


def list_missing_variables(settings: JudgeSettings) -> list[str]:
    """Return the environment variables that asking a judge needs and that are not set."""
    names = [name for name in (settings.base_url_env, settings.api_key_env) if name is not None]
    return [name for name in names if not os.environ.get(name, "").strip()]


def _read_address(settings: JudgeSettings) -> str:
    """Return the base address of a judge; for LiteLLM without one, the word for the provider's own."""
    if settings.base_url_env is None:
        return DEFAULT_ADDRESS
    url = _require_variable(settings.base_url_env, "judge.base_url_env")
    refused = check_url(url, typed=True)  # an address from the environment is trusted, except for cloud metadata
    if refused:
        _raise_settings_error("judge.base_url_env", f"the address in {settings.base_url_env} is refused: {refused}")
    return url


def make_input_redactor(rules: Sequence[RedactionRule]) -> Callable[[str], str]:
    """Return a function that removes keys from a text, and then applies the rules in their order.

    Only what is a key by its form goes: of two different values that a sentence calls a password, a judge could not say
    any more that they differ.

    Raises SettingsError naming every pattern that cannot be used.
    """
    patterns: list[tuple[LinearPattern, str]] = []
    problems = []
    for number, rule in enumerate(rules):
        try:
            pattern = compile_linear(rule.pattern, ignore_case=rule.ignore_case)
        except PatternError as error:
            message = f"not a pattern (got {shorten_repr(rule.pattern)}: {error})"
            problems.append(Problem("", None, f"judge.redact[{number}].pattern", message, "E_PATTERN"))
            continue
        if pattern.matches(""):
            message = f"matches the empty text (got {shorten_repr(rule.pattern)}; expected one that needs a character)"
            problems.append(Problem("", None, f"judge.redact[{number}].pattern", message, "E_PATTERN"))
        replacement = f"[{rule.name}]" if rule.replacement is None else rule.replacement
        patterns.append((pattern, replacement))
    if problems:
        raise SettingsError(problems)

    def redact(text: str) -> str:
        text = remove_keys(text)[0]
        for pattern, replacement in patterns:
            text = pattern.replace(text, replacement)
        return text

    return redact


def make_secret_filter(redactor: Redactor) -> Callable[[str], str]:
    """Return a function that removes secrets from a judge's texts.

    Known secrets are removed from every text; strings that look like keys only from messages, because a whole request
    is the user's own data and long.
    """
    return lambda text: redactor.redact_message(text) if len(text) < REQUEST_LENGTH else redactor.redact_text(text)


def _require_variable(name: str, setting: str) -> str:
    value = os.environ.get(name, "").strip()
    if not value:
        _raise_settings_error(setting, f"the environment variable {name} is missing or empty")
    return value


def _join_names(judges: Mapping[str, JudgeSettings]) -> str:
    return ", ".join(sorted(judges))


def _raise_settings_error(setting: str, message: str) -> NoReturn:
    raise SettingsError([Problem("", None, setting, message, "E_JUDGE")])
