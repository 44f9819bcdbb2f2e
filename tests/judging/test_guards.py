"""Who a judge is, and whom it may not judge."""

from __future__ import annotations

import pytest
from msgspec import structs
from tests.judging.asking import RUBRICS, sending, server

from assay.judging.independence import find_model_family, find_self_judging
from assay.judging.llm_judge import LLMJudge, build_judge_identity
from assay.judging.prompt import PARSER_VERSION
from assay.records.errors import InputError


def test_an_identity_has_to_be_one_that_can_be_used() -> None:
    identity = build_judge_identity("openai", "m", "local")
    with pytest.raises(InputError, match="judge protocol"):
        LLMJudge(structs.replace(identity, protocol="soap"), RUBRICS, sending(server()), base_url="http://x")
    with pytest.raises(InputError, match="another parser"):
        LLMJudge(structs.replace(identity, parser="0"), RUBRICS, sending(server()), base_url="http://x")


def test_everything_that_can_change_a_verdict_is_in_the_identity() -> None:
    base = build_judge_identity("openai", "gpt-4o", "cloud")
    others = [
        build_judge_identity("anthropic", "gpt-4o", "cloud"),
        build_judge_identity("openai", "gpt-4o-mini", "cloud"),
        build_judge_identity("openai", "gpt-4o", "local"),
        build_judge_identity("openai", "gpt-4o", "cloud", temperature=None),
        build_judge_identity("openai", "gpt-4o", "cloud", temperature=0.7),
        build_judge_identity("openai", "gpt-4o", "cloud", max_tokens=100),
        build_judge_identity("openai", "gpt-4o", "cloud", api_version="2026-10-21"),
        structs.replace(base, parser="0"),
    ]
    assert 9 == len({identity.digest for identity in [base, *others]})
    assert (PARSER_VERSION, "gpt") == (base.parser, base.family)


@pytest.mark.parametrize(
    ("model", "family"),
    [
        ("gpt-4.1-mini", "gpt"),
        ("openai/chatgpt-4o-latest", "gpt"),
        ("o3-mini", "gpt"),
        ("ft:gpt-4o:acme::abc", "gpt"),
        ("claude-sonnet-4-5-20250929", "claude"),
        ("anthropic.claude-3-haiku-20240307-v1:0", "claude"),
        ("gemini-2.5-flash", "gemini"),
        ("gemma-3-27b-it", "gemini"),
        ("meta-llama/Llama-3.3-70B-Instruct", "llama"),
        ("vinallama-7b-chat", "llama"),
        ("Qwen2.5-72B-Instruct", "qwen"),
        ("qwq-32b", "qwen"),
        ("mistral-large-latest", "mistral"),
        ("open-mixtral-8x7b", "mistral"),
        ("deepseek-r1-distill-qwen-32b", "deepseek"),
        ("command-r-plus", "cohere"),
        ("microsoft/phi-4", "phi"),
        ("grok-4", "grok"),
        ("glm-4.6", "glm"),
        ("amazon.nova-pro-v1:0", "nova"),
        ("dolphin-2", ""),
        ("in-house-7b", ""),
        ("", ""),
    ],
)
def test_the_family_is_read_from_the_id(model: str, family: str) -> None:
    assert family == find_model_family(model)


@pytest.mark.parametrize(
    ("judge", "versions"),
    [
        ("gpt-4o", {"model": "gpt-4o"}),
        ("gpt-4o", {"llm": "openai/GPT-4o-2024-08-06"}),
        ("claude-sonnet-4-5-20250929", {"generator_model": "claude-sonnet-4-5@20250929"}),
        ("mistral-large-latest", {"chat_model": "mistral-large"}),
        ("in-house-7b", {"generator": "in-house-7b"}),
    ],
)
def test_a_model_does_not_judge_itself(judge: str, versions: dict[str, str]) -> None:
    """Provider, snapshot and case make no other model."""
    conflict = find_self_judging(judge, versions)
    assert conflict
    assert "same_model" == conflict.kind
    assert judge in conflict.message


@pytest.mark.parametrize(
    ("judge", "versions"),
    [
        ("gpt-4o", {"model": "gpt-4o-mini"}),
        ("o3", {"model": "gpt-4.1"}),
        ("qwen2.5-72b", {"model": "deepseek-r1-distill-qwen-32b"}),
    ],
)
def test_the_same_family_is_a_warning(judge: str, versions: dict[str, str]) -> None:
    conflict = find_self_judging(judge, versions)
    assert conflict
    assert "same_family" == conflict.kind


@pytest.mark.parametrize(
    "versions",
    [
        {},
        {"model": "claude-sonnet-4-5"},
        {"embedding_model": "gpt-4o"},
        {"reranker_model": "gpt-4o"},
        {"prompt": "gpt-4o"},
        {"index": "gpt-4o"},
        {"model": "in-house-7b"},
    ],
)
def test_other_families_and_other_parts_are_no_matter(versions: dict[str, str]) -> None:
    assert find_self_judging("gpt-4o", versions) is None


def test_any_of_several_versions_counts_and_the_same_model_weighs_more() -> None:
    conflict = find_self_judging("gpt-4o", {"llm": ("gpt-4o-mini", "gpt-4o")})
    assert conflict
    assert "same_model" == conflict.kind


def test_a_family_that_is_stated_counts() -> None:
    """Behind an alias the id says nothing."""
    assert find_self_judging("prod-judge", {"model": "llama-3-70b"}) is None
    conflict = find_self_judging("prod-judge", {"model": "llama-3-70b"}, family="llama")
    assert conflict
    assert "same_family" == conflict.kind
