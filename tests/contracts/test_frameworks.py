"""The real LangChain and LlamaIndex, where they are installed: their own retrievers, chains and engines."""

from __future__ import annotations

import asyncio
import sys
import types
from typing import Any

import pytest

from assay.calls.interfaces import Target, TargetCall
from assay.records.golden_set import Case
from assay.records.observations import Observation
from assay.records.settings import LangchainTargetSettings, LlamaindexTargetSettings, ResponseMapping
from assay.targets import langchain, llamaindex

CASE = Case("c", "How many days?")


@pytest.fixture
def module(monkeypatch: pytest.MonkeyPatch) -> types.ModuleType:
    made = types.ModuleType("a_framework_module")
    monkeypatch.setitem(sys.modules, made.__name__, made)
    return made


def observed(target: Target, operation: Any = "ask") -> Observation:
    return asyncio.run(target.observe(TargetCall(CASE, operation, 20.0)))


def ids(seen: Observation) -> list[tuple[str, list[str]]]:
    return [(stage.name, [chunk.chunk_id for chunk in stage.chunks]) for stage in seen.stages or ()]


@pytest.mark.parametrize("kind", ["text", "object with context"])
def test_chain_reports_its_retriever_and_context(kind: str, module: types.ModuleType) -> None:
    reason = "langchain-core is not installed: pip install 'rag-assay[langchain]'"
    pytest.importorskip("langchain_core", reason=reason)
    from langchain_core.documents import Document
    from langchain_core.language_models.fake_chat_models import FakeListChatModel
    from langchain_core.prompts import ChatPromptTemplate
    from langchain_core.retrievers import BaseRetriever
    from langchain_core.runnables import RunnablePassthrough

    class Retriever(BaseRetriever):  # type: ignore[misc, unused-ignore]
        def _get_relevant_documents(self, query: str, *, run_manager: Any = None) -> list[Any]:
            return [
                Document(id="a", page_content="12 days"),
                Document(page_content="x", metadata={"chunk_id": "b"}),
            ]

    answer = ChatPromptTemplate.from_template("{context} {question}") | FakeListChatModel(responses=["12 days"])
    if kind == "text":
        module.chain = {"context": Retriever(), "question": RunnablePassthrough()} | answer  # type: ignore[attr-defined]
        settings = LangchainTargetSettings(call="a_framework_module:chain")
        expected = [("retrieved", ["a", "b"])]
    else:
        found = RunnablePassthrough.assign(context=lambda given: Retriever().invoke(given["question"]))
        module.chain = found | RunnablePassthrough.assign(answer=answer)  # type: ignore[attr-defined]
        settings = LangchainTargetSettings(call="a_framework_module:chain", input={"question": "{{question}}"})
        expected = [("retrieved", ["a", "b"]), ("context", ["a", "b"])]
    observation = observed(langchain.make_langchain_target("t", settings))
    assert ("12 days", expected) == (observation.answer, ids(observation))


def test_query_engine_reports_its_source_nodes(module: types.ModuleType) -> None:
    reason = "llama-index-core is not installed: pip install 'rag-assay[llamaindex]'"
    pytest.importorskip("llama_index.core", reason=reason)
    from llama_index.core.llms import MockLLM
    from llama_index.core.query_engine import RetrieverQueryEngine
    from llama_index.core.retrievers import BaseRetriever
    from llama_index.core.schema import NodeWithScore, TextNode

    class Retriever(BaseRetriever):  # type: ignore[misc, unused-ignore]
        def _retrieve(self, query: Any) -> list[Any]:
            node = TextNode(id_="n1", text="12 days", metadata={"document": "hr", "page": 3})
            return [NodeWithScore(node=node, score=0.5)]

    module.retriever = Retriever()  # type: ignore[attr-defined]
    module.engine = RetrieverQueryEngine.from_args(module.retriever, llm=MockLLM(max_tokens=5))  # type: ignore[attr-defined]
    settings = LlamaindexTargetSettings(
        call="a_framework_module:engine",
        search="a_framework_module:retriever",
        response=ResponseMapping(key="document+page"),
    )
    target = llamaindex.make_llamaindex_target("t", settings)
    asked, searched = observed(target), observed(target, "search")
    assert [("retrieved", ["hr:3"]), ("context", ["hr:3"])] == ids(asked)
    assert isinstance(asked.answer, str)
    assert [("search", ["hr:3"])] == ids(searched)
