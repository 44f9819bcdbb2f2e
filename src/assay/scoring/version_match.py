"""Matches the cases of two versions of a golden set: which ask and expect the same, and which are not compared."""

from __future__ import annotations

from collections.abc import Mapping

from msgspec import Struct
from msgspec.structs import replace

from assay.records.counts import format_count
from assay.records.errors import InputError, Problem
from assay.records.findings import ComparisonSide
from assay.records.scores import GoldenInfo, ScoreTable
from assay.scoring.case_content import digest_case_content
from assay.scoring.case_outcomes import find_failed_cases
from assay.scoring.column_values import format_case_ids
from assay.scoring.paired_scores import ScoreSnapshot, align_table

VERSIONS = "versions of the golden set"
"""How the sentence on what versions share begins."""
CONTENT_LETTERS = 16
"""How many letters of the digest of a case's content are kept and compared."""


class VersionMatch(Struct, frozen=True):
    """The cases that two versions share, in the order of the candidate, and those that are not compared.

    `retired` are in the older version only, `added` in the newer one only; `is_turned` says that the baseline is the
    newer one. Of versions of which neither was made from the other, the baseline counts as the older.
    `retired_failed` are the retired cases that failed in the baseline, if that is the older one.
    """

    shared: tuple[str, ...]
    updated: tuple[str, ...]
    retired: tuple[str, ...]
    added: tuple[str, ...]
    older: GoldenInfo
    newer: GoldenInfo
    is_turned: bool = False
    retired_failed: tuple[str, ...] = ()

    def describe(self) -> str:
        """Return a sentence on what is compared, which cases are not, and what else differs between the versions."""
        groups = (("updated", self.updated), ("retired", self.retired), ("added", self.added))
        counts = [f"{len(ids)} {word}" for word, ids in groups if ids]
        if self.retired_failed:
            counts.append(f"of the retired {len(self.retired_failed)} failed in the baseline")
        names = [f"{word}: {format_case_ids(ids)}" for word, ids in groups if ids]
        versions = [info.version or "one without a name" for info in (self.older, self.newer)]
        order = f" (the baseline is {versions[1]})" if self.is_turned else ""
        text = (
            f"{VERSIONS}: {versions[0]} and {versions[1]}{order}, compared on "
            f"{format_count(len(self.shared), 'case')} of the same question, answer and labels"
        )
        text += f"; not compared: {', '.join(counts)}" if counts else ""
        for what, before, after in (
            ("day", self.older.as_of, self.newer.as_of),
            ("judgments", self.older.judgments, self.newer.judgments),
        ):
            if before != after:
                text += f"; {what}: {before or 'none'} and {after or 'none'}, each side is scored with its own"
        return "; ".join([text, *names])


def match_versions(baseline: ScoreSnapshot, candidate: ScoreSnapshot) -> VersionMatch | None:
    """Return what two sides share whose golden sets are versions of one; None where it is the same set.

    Raises InputError for sets of which neither was made from the other nor both from a third, for one that is not as
    it was frozen, and where no case is the same.
    """
    if baseline.side.golden_digest == candidate.side.golden_digest:
        return None
    before, after = _get_info(baseline), _get_info(candidate)
    if not _are_versions(before, after):
        raise _refuse_other_set(baseline.side, candidate.side, _describe_lost_digest(before, after))
    contents = list_contents(baseline), list_contents(candidate)
    for side, content in zip((baseline, candidate), contents, strict=True):
        if len(content) < len(side.cases):
            message = "does not say what its cases ask (expected a baseline saved again with assay baseline save)"
            raise InputError([Problem(side.side.name, None, "contents", message, "E_COMPARE_GOLDEN")])
    match = _match_cases(*contents, before, after)
    if match.is_turned:
        return match
    failed = set(find_failed_cases(baseline.table))
    return replace(match, retired_failed=tuple(name for name in match.retired if name in failed))


def _match_cases(
    baseline: Mapping[str, str], candidate: Mapping[str, str], before: GoldenInfo, after: GoldenInfo
) -> VersionMatch:
    shared = tuple(name for name, content in candidate.items() if baseline.get(name) == content)
    if not shared:
        message = (
            f"versions {before.version} and {after.version} of the golden set have no case in common that asks and "
            f"expects the same (expected one at least): score both against the same version"
        )
        raise InputError([Problem("", None, "baseline", message, "E_COMPARE_GOLDEN")])
    updated = tuple(name for name, content in candidate.items() if baseline.get(name, content) != content)
    only_before = tuple(name for name in baseline if name not in candidate)
    only_after = tuple(name for name in candidate if name not in baseline)
    if after.digest in before.ancestors:
        return VersionMatch(shared, updated, only_after, only_before, after, before, is_turned=True)
    return VersionMatch(shared, updated, only_before, only_after, before, after)


def _get_info(side: ScoreSnapshot) -> GoldenInfo:
    return side.golden or GoldenInfo("", "", side.side.golden_digest, side.side.cases)


def _are_versions(before: GoldenInfo, after: GoldenInfo) -> bool:
    """Return whether one set was made from the other, or both from a third; a newer one must be as it was frozen."""
    if after.digest in before.ancestors:
        return before.frozen_digest == before.digest
    if before.digest in after.ancestors:
        return after.frozen_digest == after.digest
    is_frozen = before.frozen_digest == before.digest and after.frozen_digest == after.digest
    return is_frozen and not set(before.ancestors).isdisjoint(after.ancestors)


def _describe_lost_digest(before: GoldenInfo, after: GoldenInfo) -> str:
    """Return that one of two sets was frozen and is not now, which hides an edit; "" if neither is so.

    That a set was frozen is known from itself, or from the other side, if that is the frozen set of the same name.
    """
    sides = (("the baseline", before, after), ("the candidate", after, before))
    for side, info, other in sides:
        is_known = info.name == other.name and info.version == other.version and bool(other.frozen_digest)
        if not info.frozen_digest and (info.was_frozen or is_known):
            return f"; the golden set of {side} was frozen and is not now"
    return ""


def _refuse_other_set(baseline: ComparisonSide, candidate: ComparisonSide, lost_digest: str) -> InputError:
    got = f"{baseline.name} has {baseline.golden_digest[:19]}…, the candidate {candidate.golden_digest[:19]}…"
    got += lost_digest
    expected = "expected the same, or a version of it that assay golden freeze --base made and nobody edited"
    message = f"another golden set ({got}; {expected}: score both against the same cases)"
    return InputError([Problem("", None, "baseline", message, "E_COMPARE_GOLDEN")])


def list_contents(side: ScoreSnapshot) -> Mapping[str, str]:
    """Return a digest of what each case of a side asks and expects, by its id."""
    if side.contents is not None:
        return side.contents
    return {case.id: digest_case_content(case)[:CONTENT_LETTERS] for case in side.cases}


def select_shared_rows(table: ScoreTable, match: VersionMatch | None) -> ScoreTable:
    """Return a table with the cases that are compared, all where both sides have the same golden set."""
    return table if match is None else align_table(table, match.shared)


def select_shared_cases(side: ScoreSnapshot, match: VersionMatch | None) -> ScoreSnapshot:
    """Return a side with the cases that are compared."""
    if match is None:
        return side
    by_id = {case.id: case for case in side.cases}
    attributions = {name: side.attributions[name] for name in match.shared if name in side.attributions}
    cases = tuple(by_id[name] for name in match.shared)
    return replace(side, table=select_shared_rows(side.table, match), cases=cases, attributions=attributions)
