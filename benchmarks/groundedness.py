"""How well rule-based support ranks claims compared with human labels: WiCE and QAGS, with intervals over sources.

`ASSAY_TEST_DATA=… python -m benchmarks.groundedness [--resamples 2000]` prints, for each set, the AUROC of the score
and of each feature, the balanced accuracy with the threshold chosen on other folds of sources, the AUROC of a logistic
regression of the four features trained on other folds (what hand weights may lose), how often the annotated evidence is
found, and CPU milliseconds. Only the times differ between executions: `digest` is the digest of all results.
"""

from __future__ import annotations

import argparse
import hashlib
import json
import os
import sys
import time
from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import get_args

import numpy as np
import numpy.typing as npt

from assay.text.claims.claim_support import score_support
from assay.text.claims.passages import IndexedSources, SupportingSentence
from assay.text.claims.source_support import SourceSupport, SupportLabel
from assay.text.tokens import DocumentFrequencies

FOLDS = 5
SEED = 1
FEATURES = ("logp", "fact", "c4", "dig")
SIGNS = {"logp": 1, "fact": -1, "c4": 1, "dig": -1}

Floats = npt.NDArray[np.float64]
Bools = npt.NDArray[np.bool_]
Ints = npt.NDArray[np.int64]


@dataclass(frozen=True)
class Labelled:
    """A claim with what people said of it; `evidence`: the spans of the annotated sentences, where there are any."""

    claim: str
    supported: bool
    evidence: tuple[tuple[int, int], ...] = ()


@dataclass(frozen=True)
class Scored:
    """The claims of a set with their support; `groups` numbers the source of each. Times in milliseconds of CPU."""

    claims: list[Labelled]
    supports: list[SourceSupport]
    groups: Ints
    prepared_ms: float
    claim_ms: float

    @property
    def truths(self) -> Bools:
        return np.array([each.supported for each in self.claims])

    @property
    def digest(self) -> str:
        return hashlib.sha256(repr(self.supports).encode()).hexdigest()[:16]

    def column(self, name: str) -> Floats:
        return np.array([getattr(each, name) for each in self.supports], np.float64)


def wice(folder: Path) -> Iterator[tuple[str, list[Labelled]]]:
    """Yield each source text of WiCE's development set with its claim; only "supported" counts as supported."""
    for line in (folder / "wice" / "claim-dev.jsonl").read_text("utf-8").splitlines():
        row = json.loads(line)
        spans, text = [], ""
        for sentence in row["evidence"]:
            spans.append((len(text), len(text) + len(sentence)))
            text += sentence + "\n\n"
        gold = sorted({number for group in row["supporting_sentences"] for number in group})
        yield text, [Labelled(row["claim"], row["label"] == "supported", tuple(spans[number] for number in gold))]


def qags(folder: Path) -> Iterator[tuple[str, list[Labelled]]]:
    """Yield each article of QAGS-CNN with its summary's sentences; the majority of three people decides."""
    for line in (folder / "qags" / "cnndm.jsonl").read_text("utf-8").splitlines():
        row = json.loads(line)
        labelled = []
        for sentence in row["summary_sentences"]:
            votes = [vote["response"] == "yes" for vote in sentence["responses"]]
            labelled.append(Labelled(sentence["sentence"], 2 * sum(votes) > len(votes)))
        yield row["article"], labelled


SETS = {"WiCE": wice, "QAGS-CNN": qags}


def score(rows: Sequence[tuple[str, list[Labelled]]]) -> Scored:
    """Return the support of every claim by its source, with the rarity of words taken from all sources of the set."""
    idf = DocumentFrequencies.from_texts(text for text, _ in rows)
    claims: list[Labelled] = []
    supports: list[SourceSupport] = []
    groups: list[int] = []
    preparing = supporting = 0.0
    for number, (text, labelled) in enumerate(rows):
        begun = time.process_time()
        sources = IndexedSources([("source", text)], idf)
        prepared = time.process_time()
        supports += [score_support(each.claim, sources) for each in labelled]
        supporting += time.process_time() - prepared
        preparing += prepared - begun
        claims += labelled
        groups += [number] * len(labelled)
    return Scored(claims, supports, np.array(groups), preparing * 1e3 / len(rows), supporting * 1e3 / len(claims))


def auroc(scores: Floats, truths: Bools) -> float:
    """Return how often a supported claim scores above an unsupported one; ties count half."""
    return float(_above(scores, truths).mean())


def _above(scores: Floats, truths: Bools) -> Floats:
    difference = scores[truths][:, None] - scores[~truths][None, :]
    above: Floats = (difference > 0) + 0.5 * (difference == 0)
    return above


def auroc_interval(scores: Floats, truths: Bools, groups: Ints, resamples: int) -> tuple[float, float]:
    """Return the 95% percentile interval of the AUROC over resampled sources."""
    above = _above(scores, truths)
    draws = _draws(groups, resamples)
    positive, negative = draws[:, truths].astype(np.float64), draws[:, ~truths].astype(np.float64)
    values = ((positive @ above) * negative).sum(axis=1) / (positive.sum(axis=1) * negative.sum(axis=1))
    return _percentiles(values)


def _draws(groups: Ints, resamples: int) -> Ints:
    """Return for each resample how often each claim is drawn, with all others of its source."""
    sources = int(groups.max()) + 1
    generator = np.random.Generator(np.random.PCG64(SEED))
    return generator.multinomial(sources, np.full(sources, 1 / sources), size=resamples)[:, groups]


def _percentiles(values: Floats) -> tuple[float, float]:
    low, high = np.percentile(values, (2.5, 97.5))
    return float(low), float(high)


def predicted(scored: Scored) -> Bools:
    """Return for each claim whether it passes the threshold that is best on the other folds of sources."""
    z, truths, folds = scored.column("z"), scored.truths, _folds(scored.groups)
    passed = np.zeros(len(z), bool)
    for fold in range(FOLDS):
        train = folds != fold
        cuts = np.unique(z[train])
        accuracies = [balanced_accuracy(z[train] >= cut, truths[train]) for cut in cuts]
        passed[~train] = z[~train] >= cuts[int(np.argmax(accuracies))]
    return passed


def balanced_accuracy(passed: Bools, truths: Bools) -> float:
    return float((passed[truths].mean() + (~passed[~truths]).mean()) / 2)


def accuracy_interval(passed: Bools, truths: Bools, groups: Ints, resamples: int) -> tuple[float, float]:
    """Return the 95% percentile interval of the balanced accuracy over resampled sources."""
    draws = _draws(groups, resamples)
    right = draws * (passed == truths)
    shares = [right[:, kind].sum(axis=1) / draws[:, kind].sum(axis=1) for kind in (truths, ~truths)]
    return _percentiles((shares[0] + shares[1]) / 2)


def _folds(groups: Ints) -> Ints:
    order = np.random.Generator(np.random.PCG64(SEED)).permutation(int(groups.max()) + 1)
    return (order % FOLDS)[groups]


def trained(scored: Scored) -> Floats:
    """Return the logits of a logistic regression of the four features, each fold's trained on the others."""
    columns = np.column_stack([scored.column(name) for name in FEATURES])
    columns = np.column_stack([(columns - columns.mean(axis=0)) / columns.std(axis=0), np.ones(len(columns))])
    truths, folds = scored.truths.astype(np.float64), _folds(scored.groups)
    logits = np.zeros(len(columns))
    for fold in range(FOLDS):
        x, y = columns[folds != fold], truths[folds != fold]
        weights = np.zeros(x.shape[1])
        for _ in range(50):
            curve = 1 / (1 + np.exp(-(x @ weights)))
            bend = (x * (curve * (1 - curve))[:, None]).T @ x + 0.1 * np.eye(x.shape[1])
            weights += np.linalg.solve(bend, x.T @ (y - curve) - 0.1 * weights)
        logits[folds == fold] = columns[folds == fold] @ weights
    return logits


def evidence_hits(scored: Scored) -> tuple[float, float, int] | None:
    """Return how often the first, and any, evidence sentence is an annotated one, and over how many claims."""
    pairs = [(hit.evidence, made.evidence) for hit, made in zip(scored.claims, scored.supports, strict=True)]
    hits = [[_overlaps(sentence, gold) for sentence in evidence] for gold, evidence in pairs if gold]
    if not hits:
        return None
    return sum(any(hit[:1]) for hit in hits) / len(hits), sum(map(any, hits)) / len(hits), len(hits)


def _overlaps(evidence: SupportingSentence, gold: Sequence[tuple[int, int]]) -> bool:
    return any(start < evidence.end and evidence.start < end for start, end in gold)


def report(name: str, scored: Scored, resamples: int) -> Iterator[str]:
    """Yield the lines about one set."""
    truths, z = scored.truths, scored.column("z")
    low, high = auroc_interval(z, truths, scored.groups, resamples)
    yield f"{name}: {len(truths)} claims, {truths.mean():.0%} supported, {scored.groups.max() + 1} sources"
    yield f"  AUROC               {auroc(z, truths):.3f} [{low:.3f}, {high:.3f}]"
    yield f"  trained regression  {auroc(trained(scored), truths):.3f}"
    parts = [f"{each} {auroc(SIGNS[each] * scored.column(each), truths):.3f}" for each in FEATURES]
    yield f"  of each feature     {', '.join(parts)}"
    passed = predicted(scored)
    low, high = accuracy_interval(passed, truths, scored.groups, resamples)
    yield f"  balanced accuracy   {balanced_accuracy(passed, truths):.3f} [{low:.3f}, {high:.3f}]"
    for verdict in get_args(SupportLabel):
        chosen = np.array([each.verdict == verdict for each in scored.supports])
        share = f"{truths[chosen].mean():.0%} supported" if chosen.any() else ""
        yield f"  {verdict:<19} {int(chosen.sum())} {share}"
    hits = evidence_hits(scored)
    if hits:
        yield f"  evidence            hit@1 {hits[0]:.3f}, hit@3 {hits[1]:.3f} of {hits[2]}"
    yield f"  digest              {scored.digest}"
    yield f"  CPU                 {scored.claim_ms:.2f} ms a claim, {scored.prepared_ms:.2f} ms to prepare a source"


def main(arguments: Sequence[str] | None = None) -> int:
    """Measure both sets; return the exit code."""
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--resamples", type=int, default=2000)
    options = parser.parse_args(arguments)
    folder = Path(os.environ.get("ASSAY_TEST_DATA", ""))
    if not os.environ.get("ASSAY_TEST_DATA") or not folder.is_dir():
        print("set ASSAY_TEST_DATA to the folder with wice/ and qags/", file=sys.stderr)
        return 2
    for name, load in SETS.items():
        print("\n".join(report(name, score(list(load(folder))), options.resamples)))
    return 0


if __name__ == "__main__":
    sys.exit(main())
