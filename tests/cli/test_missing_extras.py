"""Each way to need an extra that is not installed: exit code 3, what needs it, and what to install."""

from __future__ import annotations

import json
import os
import subprocess
import sys
import tomllib
from collections.abc import Callable, Iterator
from pathlib import Path
from typing import NamedTuple

import pytest

from assay.runs.check_setup import EXTRAS

pytestmark = pytest.mark.slow

ROOT = Path(__file__).resolve().parents[2]
SOURCE = ROOT / "src/assay"
MODULES = {extra: modules for extra, modules, _ in EXTRAS}

SETTINGS = {
    "targets": {
        "chain": {"type": "langchain", "call": "own_chain:chain"},
        "built": {"type": "langchain", "call": "own_runnable:chain"},
        "engine": {"type": "llamaindex", "call": "own_engine:engine"},
        "tool": {"type": "mcp", "command": ["true"], "tools": {"ask": "ask"}},
    },
    "judges": {
        "plain": {"protocol": "openai", "model": "m", "base_url_env": "JUDGE_URL"},
        "lite": {"protocol": "litellm", "model": "m"},
    },
}
RUN = ("run", "--golden", "golden.jsonl", "--run-dir", "run", "--allow-exec")
JUDGE = ("judge", "--golden", "golden.jsonl", "--outputs", "outputs.jsonl", "--corpus", "corpus.jsonl")
WAYS: tuple[tuple[str, tuple[str, ...]], ...] = (
    ("http", (*RUN, "--target", "http://127.0.0.1:9/ask")),
    ("http", ("init", "--target", "http://127.0.0.1:9/ask", "--file", "new.yaml")),
    ("http", ("doctor", "--golden", "golden.jsonl", "--target", "http://127.0.0.1:9/ask")),
    ("mcp", (*RUN, "--target", "m=mcp:http://127.0.0.1:9/mcp")),
    ("mcp", (*RUN, "--target", "tool")),
    ("langchain", (*RUN, "--target", "chain")),
    ("langchain", (*RUN, "--target", "built")),
    ("llamaindex", (*RUN, "--target", "engine")),
    ("judge", (*JUDGE, "--judge", "plain")),
    ("litellm", (*JUDGE, "--judge", "lite")),
    ("documents", ("corpus", "build", "documents", "--out", "built.jsonl")),
    ("audit", ("audit", "show", "--store", "store.sqlite")),
    ("audit", ("audit", "ingest", "--store", "store.sqlite", "outputs.jsonl")),
    ("audit", ("audit", "verify", "--store", "store.sqlite")),
    ("audit", ("audit", "erase", "--store", "store.sqlite", "--user", "u")),
    ("audit", ("audit", "export", "--store", "store.sqlite", "--out", "answers.jsonl")),
    ("audit", ("audit", "sample", "--store", "store.sqlite", "--out", "sample.jsonl")),
    ("audit", ("monitor", "store.sqlite")),
    ("postgres", ("audit", "show", "--store", "postgresql://localhost:9/a")),
    ("postgres", ("monitor", "postgresql://localhost:9/a")),
    ("parquet", ("audit", "export", "--store", "store.sqlite", "--out", "answers.parquet")),
    ("entailment", ("score", "--golden", "golden.jsonl", "--outputs", "outputs.jsonl", "--entailment-model", "model")),
)


def write_inputs(folder: Path) -> None:
    """Write what the commands read: a golden set, outputs, a corpus, settings, modules and documents."""
    case = {"id": "c1", "question": "When does the kiosk open?", "reference": "At 10:00."}
    answer = {"case_id": "c1", "answer": "At 10:00.", "stages": []}
    (folder / "golden.jsonl").write_text(json.dumps(case) + "\n", encoding="utf-8")
    (folder / "outputs.jsonl").write_text(json.dumps(answer) + "\n", encoding="utf-8")
    (folder / "corpus.jsonl").write_text(json.dumps({"id": "k", "text": "Kiosk: 10:00"}) + "\n", encoding="utf-8")
    (folder / "assay.yaml").write_text(json.dumps(SETTINGS), encoding="utf-8")
    (folder / "own_chain.py").write_text("from langchain_core.runnables import RunnableLambda\n", encoding="utf-8")
    (folder / "own_runnable.py").write_text(
        "class Chain:\n    async def ainvoke(self): ...\nchain = Chain()\n", encoding="utf-8"
    )
    (folder / "own_engine.py").write_text("import llama_index.core\n", encoding="utf-8")
    (folder / "documents").mkdir()
    (folder / "documents/kiosk.pdf").write_bytes(b"%PDF-1.4")
    (folder / "model").mkdir()
    for name in ("model.onnx", "tokenizer.json", "config.json"):
        (folder / "model" / name).write_text("{}", encoding="utf-8")


IMPORTED = (
    "numpy",
    "rich.console",
    "assay.cli.app",
    "assay.judging.judge_run",
    "assay.runs.observe_run",
    "assay.runs.score_run",
)
"""What the process has imported from which the commands are forked: no module of an extra, which each fork checks."""
FORKER = f"""
import importlib, json, os, sys
for module in {IMPORTED!r}:
    importlib.import_module(module)
from assay.cli.app import run_command

class NotInstalled:
    def __init__(self, modules):
        self.modules = modules

    def find_spec(self, name, path=None, target=None):
        if name.partition(".")[0] in self.modules:
            raise ModuleNotFoundError(f"No module named {{name!r}}", name=name)

def run_command_without(folder, modules, arguments):
    for number, name in ((1, "stdout"), (2, "stderr")):
        os.dup2(os.open(name, os.O_CREAT | os.O_WRONLY | os.O_TRUNC), number)
    imported = {{name.partition(".")[0] for name in sys.modules}} & set(modules)
    assert not imported, imported
    sys.path.insert(0, folder)
    sys.meta_path.insert(0, NotInstalled(modules))
    return run_command(arguments)

for line in sys.stdin:
    folder, modules, arguments = json.loads(line)
    pid = os.fork()
    if not pid:
        status = 70
        try:
            os.chdir(folder)
            status = int(run_command_without(folder, modules, arguments))
        finally:
            sys.stdout.flush()
            sys.stderr.flush()
            os._exit(status)
    print(os.waitstatus_to_exitcode(os.waitpid(pid, 0)[1]), flush=True)
"""


class Ended(NamedTuple):
    """What a command ended with, and what it wrote."""

    returncode: int
    stdout: str
    stderr: str


RunWithout = Callable[[Path, tuple[str, ...], tuple[str, ...]], Ended]


@pytest.fixture(scope="module")
def run_without() -> Iterator[RunWithout]:
    """What runs a command in a folder where some modules cannot be imported, in a process of its own."""
    environment = {**os.environ, "COLUMNS": "250", "JUDGE_URL": "http://127.0.0.1:9"}
    command = [sys.executable, "-c", FORKER]
    with subprocess.Popen(
        command, cwd=ROOT, env=environment, stdin=subprocess.PIPE, stdout=subprocess.PIPE, text=True
    ) as process:
        assert process.stdin is not None and process.stdout is not None

        def run(folder: Path, modules: tuple[str, ...], arguments: tuple[str, ...]) -> Ended:
            assert process.stdin is not None and process.stdout is not None
            process.stdin.write(json.dumps([str(folder), modules, arguments]) + "\n")
            process.stdin.flush()
            status = int(process.stdout.readline())
            return Ended(status, *((folder / name).read_text(encoding="utf-8") for name in ("stdout", "stderr")))

        yield run
        process.stdin.close()


@pytest.mark.parametrize(("extra", "arguments"), WAYS, ids=lambda value: value if isinstance(value, str) else value[0])
def test_a_missing_extra_ends_with_3_and_says_what_to_install(
    tmp_path: Path, run_without: RunWithout, extra: str, arguments: tuple[str, ...]
) -> None:
    write_inputs(tmp_path)
    if extra == "parquet":  # what is exported must exist
        assert (
            0 == run_without(tmp_path, (), ("audit", "ingest", "--store", "store.sqlite", "outputs.jsonl")).returncode
        )
    ended = run_without(tmp_path, MODULES[extra], arguments)
    assert f"needs the optional extra: pip install 'rag-assay[{extra}]'" in ended.stdout + ended.stderr
    assert "Traceback" not in ended.stderr
    assert 3 == ended.returncode


@pytest.mark.parametrize(
    ("extra", "module"), [(extra, module) for extra, modules in MODULES.items() for module in modules]
)
def test_each_package_of_an_extra_is_missed_alone(
    tmp_path: Path, run_without: RunWithout, extra: str, module: str
) -> None:
    write_inputs(tmp_path)
    if extra == "parquet":
        assert (
            0 == run_without(tmp_path, (), ("audit", "ingest", "--store", "store.sqlite", "outputs.jsonl")).returncode
        )
    arguments = next(arguments for name, arguments in WAYS if name == extra and arguments[:2] != ("audit", "show"))
    ended = run_without(tmp_path, (module,), arguments)
    assert (3, True) == (ended.returncode, f"rag-assay[{extra}]" in ended.stderr), ended.stderr


def test_there_is_a_way_for_every_extra() -> None:
    declared = tomllib.loads((ROOT / "pyproject.toml").read_text(encoding="utf-8"))["project"]["optional-dependencies"]
    assert set(declared) - {"all"} == {extra for extra, _ in WAYS}


def test_only_one_error_says_what_to_install() -> None:
    files = [path for path in sorted(SOURCE.rglob("*.py")) if "'rag-assay[" in path.read_text(encoding="utf-8")]
    assert ["corpora/build_corpus.py", "records/errors.py", "runs/check_setup.py"] == [
        path.relative_to(SOURCE).as_posix() for path in files
    ]
