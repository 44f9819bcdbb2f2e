"""Settings: which layer wins, where each value came from, and everything that is refused with its place."""

from __future__ import annotations

from pathlib import Path

import msgspec
import pytest

from assay.formats.settings_file import build_settings_schema, format_settings_lines, load_config
from assay.records.errors import SettingsError
from assay.records.settings import GoldenSettings, HttpTargetSettings, McpTargetSettings, PythonTargetSettings

EXAMPLE = """\
golden: golden/handbook.jsonl
corpus: corpus/chunks.jsonl
targets:
  baseline:  {type: python, call: "examples.handbook:vector_only"}
  candidate: {type: mcp, command: [python, -m, examples.handbook.serve_mcp], tools: {search: search, ask: ask}}
  api: {type: http, url: "https://example.com/ask", identity: {x-tenant: user.tenant}, auth: {env: MY_TOKEN}}
scoring: {k: [1, 3, 5, 10], production_k: 5, good: auto}
judge: {protocol: openai, base_url_env: JUDGE_URL, model: m, api_key_env: JUDGE_KEY, votes: auto, max_cost_usd: 2.0}
gate:
  profile: hr-legal-finance
  configs: [candidate]
  rules:
    - {metric: recall@10, at_least: 0.90, slice: "tag=hr", severity: block, min_coverage: 1.0, basis: point}
report: {html: report.html, markdown: report.md, json: report.json}
"""


@pytest.fixture
def file(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    monkeypatch.chdir(tmp_path)
    return tmp_path / "assay.yaml"


def test_example_is_read_whole(file: Path) -> None:
    file.write_text(EXAMPLE, encoding="utf-8")
    settings = load_config(None, environment={}).settings
    assert "golden/handbook.jsonl" == settings.golden
    assert [PythonTargetSettings, McpTargetSettings, HttpTargetSettings] == [
        type(target) for target in settings.targets.values()
    ]
    assert settings.judge is not None
    assert settings.gate is not None and not isinstance(settings.gate, str)
    assert ("JUDGE_KEY", "hr-legal-finance", 1) == (
        settings.judge.api_key_env,
        settings.gate.profile,
        len(settings.gate.rules),
    )


def test_flag_wins_over_file_over_environment_over_default(file: Path) -> None:
    environment = {
        "ASSAY_RUN_CONCURRENCY": "3",
        "ASSAY_RUN_ATTEMPTS": "2",
        "ASSAY_RUN_SEED": "9",
        "ASSAY_GOLDEN": "e.jsonl",
    }
    file.write_text("golden: f.jsonl\nrun: {concurrency: 4, seed: 7}\n", encoding="utf-8")
    config = load_config(None, {"run.seed": ("--seed", 1)}, environment)
    run = config.settings.run
    assert ("f.jsonl", 4, 2, 1, 120.0) == (
        config.settings.golden,
        run.concurrency,
        run.attempts,
        run.seed,
        run.deadline,
    )
    lines = set(format_settings_lines(config))
    assert {
        'golden = "f.jsonl"  (assay.yaml:1)',
        "run.concurrency = 4  (assay.yaml:2)",
        "run.attempts = 2  (environment ASSAY_RUN_ATTEMPTS)",
        "run.seed = 1  (--seed)",
        "run.deadline = 120.0  (default)",
        "scoring.k = [1,3,5,10]  (default)",
    } <= lines


def test_paths_of_the_file_are_relative_to_it_and_those_of_flags_are_not(tmp_path: Path, file: Path) -> None:
    (tmp_path / "sub").mkdir()
    (tmp_path / "sub/assay.yaml").write_text(
        "golden: {path: g.jsonl, split: test}\ncorpus: c.jsonl\n", encoding="utf-8"
    )
    config = load_config("sub/assay.yaml", {"corpus": ("--corpus", "mine.jsonl")}, {})
    assert GoldenSettings("g.jsonl", split="test") == config.golden_settings
    assert ("sub/g.jsonl", "mine.jsonl") == (
        config.resolve_path("golden.path", "g.jsonl"),
        config.resolve_path("corpus", "mine.jsonl"),
    )


def test_settings_that_were_retired_are_read_with_a_note_for_each(file: Path) -> None:
    file.write_text(
        "golden: g.jsonl\nscoring:\n  production_k: 3\n  stage: retrieved\n  graders: []\n", encoding="utf-8"
    )
    config = load_config(None, environment={"ASSAY_SCORING_STAGE": "context"})
    message = "is no longer a setting; it never had an effect and is not read (remove it)"
    assert (
        f"environment ASSAY_SCORING_STAGE: scoring.stage: {message}",
        f"assay.yaml:4: scoring.stage: {message}",
        f"assay.yaml:5: scoring.graders: {message}",
    ) == config.notes
    assert 3 == config.settings.scoring.production_k
    assert not [
        line for line in format_settings_lines(config) if line.startswith(("scoring.stage ", "scoring.graders "))
    ]


def test_without_a_retired_setting_there_is_no_note(file: Path) -> None:
    file.write_text("scoring: {metrics: [recall@5]}\n", encoding="utf-8")
    assert () == load_config(None, environment={}).notes


def test_a_retired_name_is_refused_in_every_other_section(file: Path) -> None:
    file.write_text("run: {stage: retrieved}\n", encoding="utf-8")
    with pytest.raises(SettingsError, match=r"run\.stage: E_UNKNOWN_FIELD"):
        load_config(None, environment={})


def test_without_a_file_there_are_only_defaults(file: Path) -> None:
    config = load_config(None, environment={})
    assert (None, {}, None) == (config.path, config.settings.targets, config.settings.golden)


def a_target(text: str) -> str:
    return f"targets:\n  a: {{{text}}}\n"


def an_api(text: str) -> str:
    return a_target(f"type: http, url: 'https://x.example', {text}")


KEY = "targets:\n  a:\n    type: http\n    url: https://x.example\n    headers: {x-api-key: abc123def}\n"
REFUSED = {
    "unknown key": (
        "golden: x\ntarget: {}\n",
        "assay.yaml:2: target: E_UNKNOWN_FIELD unknown field (got 'target'; expected 'targets'?)",
    ),
    "unknown key inside": (
        "run:\n  concurency: 3\n",
        "assay.yaml:2: run.concurency: E_UNKNOWN_FIELD unknown field (got 'concurency'; expected 'concurrency'?)",
    ),
    "unknown key of a target": (a_target("type: python, cal: 'm:f'"), "assay.yaml:2: targets.a.cal: E_UNKNOWN_FIELD"),
    "missing key of a target": (a_target("type: python"), "targets.a.call: E_MISSING missing"),
    "unknown kind": (a_target("type: grpc"), "assay.yaml:2: targets.a.type: E_ENUM unknown type (got 'grpc'; expected"),
    "no kind": (a_target("call: 'm:f'"), "targets.a.type: E_ENUM unknown type (got None"),
    "quoted number": ("run: {deadline: '60'}\n", "run.deadline: E_TYPE wrong type (got '60'; expected a number"),
    "zero": ("run: {concurrency: 0}\n", "run.concurrency: E_RANGE out of range (got 0; expected an integer from 1 to"),
    "no time at all": (
        "run:\n  deadline: 0\n",
        "assay.yaml:2: run.deadline: E_RANGE out of range (got 0; expected a number above 0)",
    ),
    "k of zero": ("scoring:\n  k: [1, 0]\n", "assay.yaml:2: scoring.k[1]: E_RANGE out of range"),
    "k as a decimal": ("scoring: {production_k: 10.0}\n", "scoring.production_k: E_TYPE wrong type"),
    "yes for true": ("golden: yes\n", "E_BOOL unclear word (got yes"),
    "key twice": ("golden: a\ngolden: b\n", "assay.yaml:2: golden: E_KEY_TWICE"),
    "alias": ("golden: &a x\ncorpus: *a\n", "E_YAML anchors and aliases"),
    "Python object": ("golden: !!python/object:os.system x\n", "E_YAML tags"),
    "not a mapping": ("- a\n", "E_TYPE not settings"),
    "targets as a list": ("targets: [a]\n", "targets: E_TYPE wrong type"),
    "unknown gate field": ("gate: {profil: x}\n", "gate.profil: E_UNKNOWN_FIELD"),
    "key in the file": (KEY, 'assay.yaml:5: targets.a.headers["x-api-key"]: E_SECRET looks like a secret'),
    "token by its form": ("golden: sk-abcdefghijklmnopqrstuvwx\n", "golden: E_SECRET"),
    "password in an address": (a_target("type: http, url: 'https://u:pw@x.example'"), "targets.a.url: E_SECRET"),
    "variable that is no name": (an_api("auth: {env: 'a b'}"), "targets.a.auth.env: E_TYPE does not fit"),
    "path that is none": (
        an_api("response: {answer: 'a b'}"),
        "targets.a.response.answer: E_PATH not a path (got 'a b'",
    ),
    "placeholder without meaning": (an_api("body: {q: '{{quest}}'}"), "E_TEMPLATE unknown placeholder (got 'quest'"),
    "identity without meaning": (an_api("identity: {x-t: tenant}"), "E_TEMPLATE not something to send (got 'tenant'"),
}


@pytest.mark.parametrize(("text", "message"), REFUSED.values(), ids=REFUSED)
def test_what_cannot_be_used_is_refused_with_its_place(text: str, message: str, file: Path) -> None:
    file.write_text(text, encoding="utf-8")
    with pytest.raises(SettingsError) as refused:
        load_config(None, environment={})
    assert message in str(refused.value)
    assert "x_ name" not in str(refused.value)


def test_everything_wrong_is_said_at_once(file: Path) -> None:
    file.write_text("golde: x\nrun: {attempts: 0}\ntargets: {a: {type: nope}}\n", encoding="utf-8")
    with pytest.raises(SettingsError) as refused:
        load_config(None, environment={})
    assert 3 == len(refused.value.problems)


def test_wrong_value_of_a_flag_or_variable_names_it(file: Path) -> None:
    with pytest.raises(SettingsError, match=r"^--repeat: run.repeat: E_RANGE out of range \(got 0"):
        load_config(None, {"run.repeat": ("--repeat", 0)}, {})
    with pytest.raises(SettingsError, match=r"^environment ASSAY_RUN_SEED: run.seed: E_TYPE wrong type"):
        load_config(None, environment={"ASSAY_RUN_SEED": "many"})


def test_file_that_is_named_must_be_there(file: Path) -> None:
    with pytest.raises(Exception, match="cannot be read"):
        load_config("none.yaml", environment={})


def test_schema_for_editors_accepts_the_example(file: Path) -> None:
    jsonschema = pytest.importorskip("jsonschema")
    import yaml

    schema = msgspec.json.decode(build_settings_schema())
    jsonschema.Draft202012Validator(schema).validate(yaml.safe_load(EXAMPLE))
    assert list(jsonschema.Draft202012Validator(schema).iter_errors({"golde": "x"}))
