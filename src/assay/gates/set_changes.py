"""What a decision says of changes of the golden set: an edit after it was frozen, and retired cases that had failed.

Who takes out the cases that fail passes by it. A case may be retired for a good reason, such as a document that was
withdrawn, which no rule can tell: so it is a risk, and a person accepts it with a waiver (ADR 240).
"""

from __future__ import annotations

from collections.abc import Sequence

from msgspec import Struct

from assay.gates.rules import RETIRED_CASES, describe_waivers
from assay.records.counts import format_count
from assay.records.release_gates import Waiver
from assay.records.scores import GoldenInfo
from assay.scoring.column_values import format_case_ids
from assay.scoring.version_match import VersionMatch


class SetChanges(Struct, frozen=True):
    """What is known of changes of a golden set.

    `edit` says that it is not as it was frozen, `retired_failed` are the retired cases that failed in the baseline.
    `untold` is the number of cases that were retired since the first version where no baseline tells which had failed.
    """

    edit: str = ""
    retired_failed: tuple[str, ...] = ()
    untold: int = 0


class ChangeReasons(Struct, frozen=True):
    """What to say of changes of a golden set: the risks, and the reasons of a decision that are no risk."""

    risks: tuple[str, ...]
    notes: tuple[str, ...]


def collect_set_changes(golden: GoldenInfo | None, match: VersionMatch | None, *, has_baseline: bool) -> SetChanges:
    """Return what is known of changes of a golden set, compared with a baseline of another version (`match`) or not.

    >>> collect_set_changes(GoldenInfo("fares", "2", "sha256:0", 40, retired=3), None, has_baseline=False).untold
    3
    """
    if golden is None:
        return SetChanges()
    retired_failed = match.retired_failed if match is not None else ()
    return SetChanges(golden.describe_edit(), retired_failed, 0 if has_baseline else golden.retired)


def describe_set_changes(changes: SetChanges, waivers: Sequence[Waiver], today: str | None) -> ChangeReasons:
    """Return what a decision says of changes; a waiver of `retired_cases` on `today` (YYYY-MM-DD) makes it a note.

    >>> describe_set_changes(SetChanges(untold=1), (), None).notes
    ('1 case was retired since the first version of the golden set; --baseline with a run of it tells if it failed',)
    """
    risks = [changes.edit] if changes.edit else []
    notes = []
    if changes.untold:
        verb, whether = ("was", "if it failed") if changes.untold == 1 else ("were", "which of them failed")
        notes.append(
            f"{format_count(changes.untold, 'case')} {verb} retired since the first version of the golden set; "
            f"--baseline with a run of it tells {whether}"
        )
    if changes.retired_failed:
        matching = [waiver for waiver in waivers if waiver.metric == RETIRED_CASES]
        remedy = f": keep them, accept it with a waiver of {RETIRED_CASES}, or save a baseline of this version"
        waived, note = describe_waivers(matching, today) if matching else ("", "")
        verb = "is" if len(changes.retired_failed) == 1 else "are"
        sentence = (
            f"{format_count(len(changes.retired_failed), 'case')} that failed in the baseline {verb} no longer in the "
            f"golden set, retired since ({format_case_ids(changes.retired_failed)}){f'; {note}' if note else remedy}"
        )
        (notes if waived else risks).append(sentence)
    return ChangeReasons(tuple(risks), tuple(notes))
