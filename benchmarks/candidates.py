"""How many bad and good candidates the filters of `golden draft` throw away: `python -m benchmarks.candidates`.

`python -m benchmarks.candidates FOLDER` writes a hundred candidates about each corpus for reading. What two readers
accepted, who saw only corpus and candidates, is kept in `candidate_readings.jsonl`: of other corpora the labels alone.

The good ones are drafts about the handbook and the depot. Bad ones are made of them by rules that the filters do not
share: another quantity in the reference, no answer expected of an answered question, an earlier question reworded, the
value put into the question, evidence of another chunk, a document that says otherwise. Half of them, chosen by the
digest of their questions, was not looked at while the filters were changed. A scripted model on loopback knows the
answer to half of its questions, in its own words, and is wrong or ignorant about the others: what it knows is bad, what
it only claims to know is good.
"""

from __future__ import annotations

import hashlib
import os
import re
import sys
import tempfile
from collections import Counter, defaultdict
from collections.abc import Iterator
from pathlib import Path
from typing import Any, NamedTuple

import msgspec
from tests.support.judge_server import JudgeCall, judge_server

from assay.formats.corpus import load_corpus
from assay.formats.settings_file import load_config
from assay.golden.candidate import Candidate, DraftReport, RejectedCandidate, RejectReason
from assay.golden.drafting.draft_cases import check_candidates, filter_candidates
from assay.golden.drafting.draft_filters import filter_by_corpus
from assay.golden.drafting.template_drafts import draft_candidates
from assay.golden.lint_finding import LintedSet
from assay.golden.model_client import ModelClient, ModelOptions
from assay.records.golden_set import Case, Corpus, GoldenSet
from assay.stats.intervals import wilson_interval
from benchmarks.depot.documents import build_corpus as build_depot

HANDBOOK = "examples/handbook/corpus/chunks.jsonl"
AS_OF = "2026-03-15"
FEWEST = 60


class Planted(NamedTuple):
    """A bad candidate: its fault, the reasons that are right for it, and the set and corpus it is tried with."""

    fault: str
    reasons: tuple[RejectReason, ...]
    candidate: Candidate
    existing: GoldenSet
    corpus: Corpus


def load_corpora() -> list[Corpus]:
    """Return the corpora of both applications."""
    return [load_corpus(HANDBOOK)[0], build_depot()]


def plant_all(corpora: list[Corpus]) -> list[Planted]:
    """Return every bad candidate that can be made of the drafts on the corpora."""
    planted: list[Planted] = []
    for corpus in corpora:
        for candidate in list_good(corpus):
            planted += plant(candidate, corpus)
    return planted


def list_good(corpus: Corpus) -> list[Candidate]:
    """Return the plain drafts on a corpus that ask for one value, but those that give it away by themselves."""
    drafts = [
        draft for draft in draft_candidates(corpus, AS_OF) if draft.kind in ("table-or-numeric", "acronym-or-code")
    ]
    alone = [draft for draft in drafts if draft.case.must_have and draft.case.cluster is None]
    return [draft for draft in alone if not re.search(r"ERR-4\d\d", draft.case.question)]


def plant(good: Candidate, corpus: Corpus) -> Iterator[Planted]:
    """Yield the bad candidates made of a good one; a fault that its words do not allow is left out."""
    case, empty = good.case, GoldenSet(())
    value = case.must_have[0]
    other = re.sub(r"\d+", lambda match: str(int(match[0]) + 7), value, count=1)
    if other != value:
        reference = (case.reference or "").replace(value, other)
        wrong = msgspec.structs.replace(case, reference=reference, must_have=(other,))
        yield Planted("wrong reference", ("unsupported",), _copy(good, wrong), empty, corpus)
        rival = _plant_rival(corpus, good, other)
        if rival is not None:
            yield Planted("answerable elsewhere", ("answerable-elsewhere",), good, empty, rival)
    absent = msgspec.structs.replace(case, behaviour="abstain", evidence=(), must_have=(), reference="It is not said.")
    yield Planted("answer exists", ("not-absent",), _copy(good, absent), empty, corpus)
    gone = tuple(unit for unit in case.evidence if unit.quote)
    moved = next((chunk for chunk in corpus.chunks.values() if value not in (chunk.text or "")), None)
    if gone and moved is not None:
        unit = msgspec.structs.replace(gone[0], any_of=({"chunk_id": moved.chunk_id},), quote=None)
        lost = msgspec.structs.replace(case, evidence=(unit,))
        yield Planted("unanswerable", ("unsupported",), _copy(good, lost), empty, corpus)
    reworded = case.question.rstrip("?").upper() + " ?"
    asked = Case("asked before", reworded, reference=case.reference, evidence=case.evidence)
    yield Planted("duplicate", ("duplicate",), good, GoldenSet((asked,)), corpus)
    told = msgspec.structs.replace(case, question=f"{case.question.rstrip('?')} – {value}?")
    yield Planted("answer given", ("gives-answer-away",), _copy(good, told), empty, corpus)


def _plant_rival(corpus: Corpus, good: Candidate, other: str) -> Corpus | None:
    """Return the corpus with another document that answers the question with another value."""
    unit = good.case.evidence[0]
    source = corpus.chunks[str(unit.any_of[0]["chunk_id"])]
    quote, value = unit.quote or "", good.case.must_have[0]
    if value not in quote or source.text is None:
        return None
    text = source.text.replace(quote, quote.replace(value, other))
    rival = msgspec.structs.replace(source, chunk_id="planted:rival", document="planted", text=text, text_hash=None)
    return Corpus({**corpus.chunks, "planted:rival": rival})


def _copy(good: Candidate, case: Case) -> Candidate:
    return msgspec.structs.replace(good, case=case)


def try_planted(planted: Planted) -> RejectReason | None:
    """Return the reason for which the filters throw a candidate away, None if they keep it."""
    (result,) = filter_by_corpus([planted.candidate], LintedSet(planted.existing, planted.corpus), AS_OF)
    return result.reason if isinstance(result, RejectedCandidate) else None


def is_untouched(candidate: Candidate) -> bool:
    """Return whether a candidate was left out while the filters were changed."""
    return hashlib.sha256(candidate.case.id.encode()).digest()[0] % 2 == 1


def sample(planted: list[Planted], fault: str, count: int = 2 * FEWEST) -> list[Planted]:
    """Return at most `count` candidates of a fault, spread evenly."""
    chosen = [row for row in planted if row.fault == fault]
    return chosen[:: max(1, len(chosen) // count)][:count]


def describe(right: int, total: int) -> str:
    """Return a share with its interval."""
    bounds = wilson_interval(right, total)
    return f"{right}/{total} = {right / total:.3f} [{bounds.low:.3f}, {bounds.high:.3f}]"


# ── what a model knows ───────────────────────────────────────────────────────────────────────────────────────────────

KNOWING = (
    "It is {value}.",
    "From what I know, {value} applies here.",
    "{value}, unless something changed lately.",
    "The usual answer would be: {value}",
)
WRONG = ("It is {other}.", "I would say {other}, as everywhere.")


def list_plain(corpora: list[Corpus]) -> list[tuple[Candidate, Corpus]]:
    """Return good candidates about all corpora with the corpus that they are about."""
    return [(candidate, corpus) for corpus in corpora for candidate in list_good(corpus)]


def script_knowledge(rows: list[tuple[Candidate, Corpus]]) -> dict[str, tuple[bool, str]]:
    """Return for each question whether the model knows it, and what it says: "" if it says that it does not know."""
    script: dict[str, tuple[bool, str]] = {}
    for number, (candidate, _) in enumerate(rows):
        value = candidate.case.must_have[0]
        other = re.sub(r"\d+", lambda match: str(int(match[0]) * 3 + 1), value)
        if number % 2:
            told = KNOWING[number // 2 % len(KNOWING)].format(value=value.lower() if number % 4 == 1 else value)
            script[candidate.case.question] = True, told
        elif other != value and number % 4 == 0:
            script[candidate.case.question] = False, WRONG[number // 4 % len(WRONG)].format(other=other)
        else:
            script[candidate.case.question] = False, ""
    return script


def try_parametric(rows: list[tuple[Candidate, Corpus]], script: dict[str, tuple[bool, str]]) -> dict[str, str]:
    """Return the reason for which each question is thrown away once a model was asked over HTTP, "" if it is kept."""

    def answer(asked: JudgeCall) -> Any:
        if "knows" in asked.schema["properties"]:
            told = script[asked.data["question"]][1]
            return {"knows": "yes" if told else "no", "answer": told, "echo": ""}
        quote = asked.data["context"][0]["text"][:40]
        label = {"reasoning": "as scripted", "source": "s1", "quote": quote, "label": "supported"}
        return {"items": [{"id": "i1", **label}], "echo": ""}

    reasons: dict[str, str] = {}
    with judge_server(answer=answer, log=False) as server, tempfile.TemporaryDirectory() as folder:
        os.environ["CANDIDATES_MODEL"] = server.url
        flags = {"model": "scripted", "base_url_env": "CANDIDATES_MODEL"}
        options = ModelOptions(load_config(None), "scripted", flags, store=f"{folder}/replies.sqlite")
        client = ModelClient(options)
        for corpus in {id(corpus): corpus for _, corpus in rows}.values():
            kept = tuple(candidate for candidate, own in rows if own is corpus)
            linted = LintedSet(GoldenSet(()), corpus)
            report = check_candidates(DraftReport(kept, ()), linted, client, AS_OF)
            reasons |= {candidate.case.question: "" for candidate in report.kept}
            reasons |= {row.candidate.case.question: row.reason for row in report.rejected}
    return reasons


def print_parametric(corpora: list[Corpus]) -> None:
    """Print how many of the questions that the model knows are thrown away, and how many others."""
    rows = list_plain(corpora)
    script = script_knowledge(rows)
    reasons = try_parametric(rows, script)
    for half in (False, True):
        own = [candidate for candidate, _ in rows if is_untouched(candidate) is half]
        title = "untouched" if half else "looked at"
        bad = [reasons[candidate.case.question] for candidate in own if script[candidate.case.question][0]]
        good = [reasons[candidate.case.question] for candidate in own if not script[candidate.case.question][0]]
        print(
            f"parametric, {title}: {describe(bad.count('parametric'), len(bad))} with the right reason; {Counter(bad)}"
        )
        print(f"good ones lost to the model, {title}: {describe(len(good) - good.count(''), len(good))}")


# ── what two readings accepted ───────────────────────────────────────────────────────────────────────────────────────

READINGS = Path(__file__).with_name("candidate_readings.jsonl")
PER_READING = 100
SEED = "fourth reading"
"""Chooses the candidates of a reading; another one than that of the readings before."""


class Reading(msgspec.Struct, frozen=True):
    """Whether each of two readers accepted a candidate, and why not; an id begins with the kind."""

    corpus: str
    id: str
    first: bool
    second: bool
    reason: str = ""


def choose_to_read(corpus: Corpus) -> list[Candidate]:
    """Return a hundred of the candidates that the filters leave, in turns of the kinds, by the digests of their ids."""
    report = filter_candidates(draft_candidates(corpus, AS_OF), corpus, GoldenSet(()), AS_OF)
    by_kind: dict[str, list[Candidate]] = defaultdict(list)
    for candidate in sorted(report.kept, key=lambda kept: hashlib.sha256((SEED + kept.case.id).encode()).digest()):
        by_kind[candidate.kind].append(candidate)
    longest = max((len(members) for members in by_kind.values()), default=0)
    turns = [members[turn] for turn in range(longest) for _, members in sorted(by_kind.items()) if turn < len(members)]
    return turns[:PER_READING]


def write_for_reading(corpus: Corpus, path: Path) -> None:
    """Write candidates with the texts that they are about, and nothing else."""
    rows = []
    for candidate in choose_to_read(corpus):
        case = candidate.case
        texts = {name: corpus.chunks[name].text for name in candidate.drafted_from}
        user = msgspec.to_builtins(case.user)
        facts = {"id": case.id, "question": case.question, "behaviour": case.behaviour, "reference": case.reference}
        quotes = [unit.quote for unit in case.evidence]
        rows.append({**facts, "must_have": case.must_have, "user": user, "quotes": quotes, "documents": texts})
    path.write_bytes(b"\n".join(map(msgspec.json.encode, rows)) + b"\n")


def print_readings() -> None:
    """Print how many of the candidates that two people read each accepted, and both; other corpora are not drafted."""
    lines = [msgspec.json.decode(line, type=Reading) for line in READINGS.read_bytes().splitlines()]
    readings = list({(row.corpus, row.id): row for row in lines}.values())  # the last reading of a candidate counts
    drafted = {
        name: {candidate.case.id for candidate in choose_to_read(corpus)}
        for name, corpus in zip(("handbook", "depot"), load_corpora(), strict=True)
    }
    for name in dict.fromkeys([*drafted, *(row.corpus for row in readings)]):
        rows = [row for row in readings if row.corpus == name]
        rows = [row for row in rows if name not in drafted or row.id in drafted[name]]
        if not rows:
            print(f"{name}: nobody has read what is drafted now")
            continue
        for turn in ("first", "second"):
            print(f"{name}: {turn} reader accepts {describe(sum(getattr(row, turn) for row in rows), len(rows))}")
        print(f"{name}: both accept {describe(sum(row.first and row.second for row in rows), len(rows))}")
        accepted = Counter(row.id.rpartition("-")[0] for row in rows if row.first and row.second)
        print(f"{name}: accepted by both, of each kind: {dict(sorted(accepted.items()))}")


def main() -> None:
    """Print the share of each fault that was thrown away with the right reason, and of good candidates lost."""
    corpora = load_corpora()
    planted = plant_all(corpora)
    for fault in dict.fromkeys(row.fault for row in planted):
        for half in (False, True):
            rows = [row for row in sample(planted, fault) if is_untouched(row.candidate) is half]
            reasons: dict[str, int] = defaultdict(int)
            for row in rows:
                reasons[try_planted(row) or "kept"] += 1
            right = sum(reasons[reason] for reason in next(iter(rows)).reasons)
            title = f"{fault}, {'untouched' if half else 'looked at'}"
            print(f"{title}: {describe(right, len(rows))} with the right reason; {dict(reasons)}")
    for half in (False, True):
        lost, total = 0, 0
        for corpus in corpora:
            good = [draft for draft in list_good(corpus) if is_untouched(draft) is half]
            results = list(filter_by_corpus(good, LintedSet(GoldenSet(()), corpus), AS_OF))
            lost += sum(isinstance(result, RejectedCandidate) for result in results)
            total += len(results)
        print(f"good ones lost, {'untouched' if half else 'looked at'}: {describe(lost, total)}")
    print_parametric(corpora)
    print_readings()


if __name__ == "__main__":
    if len(sys.argv) > 1:
        for corpus_name, corpus_to_read in zip(("handbook", "depot"), load_corpora(), strict=True):
            write_for_reading(corpus_to_read, Path(sys.argv[1]) / f"{corpus_name}.jsonl")
    else:
        main()
