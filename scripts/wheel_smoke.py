"""Run in a clean environment in which only the wheel is installed: `python wheel_smoke.py [EXTRA]`.

Without an extra, the package works and says what to install where an extra is needed, and a digest of the scores of the
example is printed, which is the same on every Python; with one, what needs it can be loaded.
"""

from __future__ import annotations

import contextlib
import hashlib
import io
import sys
from importlib import import_module
from pathlib import Path

HANDBOOK = Path(__file__).resolve().parents[1] / "examples" / "handbook"
MODULES = {
    "http": ("httpx2", "assay.targets.http"),
    "judge": ("aiohttp", "assay.judging.http_client"),
    "mcp": ("mcp", "httpx2", "assay.targets.mcp_connection"),
    "langchain": ("langchain_core.runnables", "assay.targets.langchain"),
    "litellm": ("litellm", "assay.judging.litellm_client"),
    "llamaindex": ("llama_index.core", "assay.targets.llamaindex"),
    "audit": ("alembic", "sqlalchemy", "assay.audit.audit_store"),
    "postgres": ("psycopg", "sqlalchemy", "assay.audit.audit_store"),
    "parquet": ("pyarrow.parquet", "assay.audit.parquet_file"),
    "entailment": ("onnxruntime", "tokenizers", "assay.judging.entailment_model_file"),
    "documents": ("markitdown", "assay.corpora.build_corpus"),
    "all": ("httpx2", "aiohttp", "mcp", "psycopg", "sqlalchemy", "assay.targets.mcp_connection"),
}
"""What each extra brings and what needs it."""


def check_package() -> None:
    """Use the installed package: its data files, its command line, a score."""
    import assay
    from assay.cli import main
    from assay.judging.rubric_files import load_rubrics
    from assay.report.page.write_html import read_html_asset

    assert assay.__file__ is not None
    assert "site-packages" in Path(assay.__file__).parts, assay.__file__
    assert load_rubrics()
    assert "<script" in read_html_asset()
    with contextlib.redirect_stdout(io.StringIO()) as printed:
        assert main(["gate", "show", "capstone"]) == 0
    assert "recall@10" in printed.getvalue()
    golden = [{"question": "How many days?", "reference": "12 days", "must_have": ["12"]}]
    result = assay.score(golden, [{"question": "How many days?", "response": "12 days a year."}])
    assert result.metric("completeness(by=rules)").value == 1.0
    assert (Path(assay.__file__).parent / "py.typed").exists()


def compute_digest_of_scores() -> str:
    """Score the recorded example and return the digest of all that was computed, with reasons and intervals."""
    from assay.cli import main

    arguments = ["--golden", str(HANDBOOK / "golden" / "handbook.jsonl"), "--run-dir", "scored"]
    arguments += [
        "--corpus",
        str(HANDBOOK / "corpus" / "chunks.jsonl"),
        "--outputs",
        str(HANDBOOK / "outputs" / "*.jsonl"),
    ]
    with contextlib.redirect_stdout(io.StringIO()):
        assert main(["score", *arguments]) == 0
    digest = hashlib.sha256()
    for path in sorted(Path("scored", "derived").iterdir()):
        digest.update(path.name.encode() + path.read_bytes())
    return digest.hexdigest()


def check_missing_extra() -> None:
    """A target that needs an extra names it."""
    from assay.cli import main

    with contextlib.redirect_stderr(io.StringIO()) as said, contextlib.redirect_stdout(said):
        Path("golden.jsonl").write_text('{"id": "a", "question": "Why?", "expected_answer": "So."}\n', encoding="utf-8")
        code = main(["run", "--target", "http://127.0.0.1:9/", "--golden", "golden.jsonl", "--run-dir", "smoke-run"])
    assert code in (2, 3), said.getvalue()
    assert "[http]" in said.getvalue(), said.getvalue()


def main(arguments: list[str]) -> int:
    """Check the package, and the extra that is named."""
    check_package()
    if arguments:
        for name in MODULES[arguments[0]]:
            import_module(name)
    else:
        check_missing_extra()
        print(f"scores {compute_digest_of_scores()}")
    return 0


if __name__ == "__main__":
    sys.exit(main(sys.argv[1:]))
