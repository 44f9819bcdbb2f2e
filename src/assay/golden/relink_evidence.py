"""`golden relink`: proposes where labels are after re-chunking, and applies what is sure or was reviewed."""

from __future__ import annotations

from dataclasses import dataclass
from pathlib import Path

import msgspec

from assay.formats.corpus import load_corpus
from assay.formats.file_io import open_file, write_atomically
from assay.formats.golden_files import load_golden, write_golden
from assay.golden.relinking import Proposal, RelinkedLabel, Relinker, apply_links
from assay.records.errors import InputError, Problem

MAX_PROPOSAL_BYTES = 64 * 2**20


@dataclass(frozen=True, slots=True)
class RelinkRequest:
    """What to relink: the set, the new corpus, the old one if there is one, and the files to write.

    `reviewed` is a proposal in which people set `accepted`; without `out`, no set is written.
    """

    golden: str
    corpus: str
    old_corpus: str | None = None
    proposal: str | None = None
    reviewed: str | None = None
    out: str | None = None


def relink_file(request: RelinkRequest) -> Proposal:
    """Return where the labels of a set are in another corpus; write the proposal and the relinked set if asked to.

    Raises InputError for bad files, and for a reviewed proposal that is not of this set and corpus.
    """
    golden, new = load_golden(request.golden).golden, load_corpus(request.corpus)[0]
    old = load_corpus(request.old_corpus)[0] if request.old_corpus is not None else None
    proposal = Relinker(old, new).propose(golden)
    if request.reviewed is not None:
        proposal = _take_review(proposal, _load_proposal(request.reviewed), request.reviewed)
    if request.proposal is not None:
        write_atomically(request.proposal, [msgspec.json.format(msgspec.json.encode(proposal)) + b"\n"])
    if request.out is not None:
        write_golden(apply_links(golden, proposal, new), request.out)
    return proposal


def relink(
    golden: str,
    corpus: str,
    *,
    old_corpus: str | None = None,
    reviewed: str | None = None,
    proposal: str | None = None,
    out: str | None = None,
) -> Proposal:
    """Return where the labels of a set are in another corpus; all arguments are files, the last two are written.

    Raises InputError for bad files, and for a reviewed proposal that is not of this set and corpus.
    """
    return relink_file(RelinkRequest(golden, corpus, old_corpus, proposal, reviewed, out))


def _load_proposal(path: str) -> Proposal:
    with open_file(Path(path)) as file:
        data = file.read(MAX_PROPOSAL_BYTES)
    try:
        return msgspec.json.decode(data, type=Proposal)
    except (msgspec.DecodeError, UnicodeDecodeError) as error:
        message = f"not a proposal of golden relink ({error})"
        raise InputError([Problem(path, None, "", message, "E_FORMAT")]) from None


def _take_review(proposal: Proposal, reviewed: Proposal, path: str) -> Proposal:
    """Return the proposal with what people decided, and the chunks that they chose."""
    decided = {(label.case, label.field): label for label in reviewed.labels if label.accepted is not None}
    labels: list[RelinkedLabel] = []
    for label in proposal.labels:
        decision = decided.pop((label.case, label.field), None)
        if decision is not None and decision.old != label.old:
            raise InputError([Problem(path, None, f"{label.case}: {label.field}", "of another set", "E_REVIEW")])
        labels.append(
            label if decision is None else msgspec.structs.replace(label, accepted=decision.accepted, new=decision.new)
        )
    if decided:
        case, field = next(iter(decided))
        raise InputError([Problem(path, None, f"{case}: {field}", "no such label in the set", "E_REVIEW")])
    return msgspec.structs.replace(proposal, labels=tuple(labels))
