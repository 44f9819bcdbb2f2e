"""`assay corpus`: makes a corpus of a folder of documents."""

from __future__ import annotations

from pathlib import Path
from typing import Annotated

import typer

from assay.cli.options import PrintFormat, PrintFormatOption
from assay.records.errors import ExitCode

app = typer.Typer(help="Build a corpus from a folder of documents.", no_args_is_help=True)


@app.command("build")
def build(
    folder: Annotated[str, typer.Argument(help="Folder with documents: Markdown, text, HTML, PDF, DOCX.")],
    out: Annotated[str, typer.Option(help="Corpus file to write, one chunk on each line.")] = "corpus.jsonl",
    max_chars: Annotated[
        int, typer.Option(min=200, help="Longest chunk, in characters; a section is cut between its paragraphs.")
    ] = 2000,
    match: Annotated[
        str | None, typer.Option(help="Run folder: match the target's own chunk ids with the corpus by their texts.")
    ] = None,
    format: PrintFormatOption = PrintFormat.table,
) -> ExitCode:
    """Cut documents at their headings into chunks with stable ids; front matter sets tenant, roles and validity."""
    from assay.cli.display import print_written_files
    from assay.cli.golden_output import print_result
    from assay.corpora.build_corpus import CorpusRequest, build_corpus
    from assay.formats.run_files.overwriting import refuse_overwriting
    from assay.golden.finding_tables import build_corpus_table

    refuse_overwriting([out], [folder, match])
    built = build_corpus(CorpusRequest(folder, out, max_chars, match))
    print_result(built, [build_corpus_table(built)], format)
    print_written_files([("corpus", Path(out))], f"assay golden draft --corpus {out} --target URL")
    return ExitCode.PASS


@app.callback()
def _group() -> None:
    pass
