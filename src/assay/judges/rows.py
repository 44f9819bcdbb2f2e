"""How a verdict is written down, in the book and in JSON Lines, so that one that was changed is never taken for one."""

from __future__ import annotations

import hashlib
from collections.abc import Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass, field
from pathlib import Path

import msgspec
from msgspec import Struct, structs

from assay.digest import canonical_json
from assay.errors import InputError, Problem
from assay.ports import SampleKey
from assay.verdict import JudgeIdentity, Standing, Verdict

Verdicts = dict[str, dict[str, list[Verdict]]]
"""Judge digest, request digest, samples in the order of their numbers."""

_DECODER = msgspec.json.Decoder(Verdict)


@dataclass(slots=True)
class Contents:
    """Everything that a book or an export holds; `warnings` say what was left out because it was changed."""

    judges: list[JudgeIdentity] = field(default_factory=list)
    verdicts: Verdicts = field(default_factory=dict)
    standings: dict[str, Standing] = field(default_factory=dict)
    warnings: list[str] = field(default_factory=list)


class _Line(Struct, forbid_unknown_fields=True, omit_defaults=True):
    """One line of an export: one of the three, and the SHA-256 of a verdict's or a standing's canonical JSON."""

    judge: JudgeIdentity | None = None
    standing: Standing | None = None
    verdict: Verdict | None = None
    sha256: str | None = None


def key_of(verdict: Verdict) -> SampleKey:
    """Return which verdict this is."""
    return verdict.request, verdict.judge, verdict.sample


def packed(verdict: Verdict) -> tuple[bytes, bytes]:
    """Return the canonical JSON and its SHA-256; a text that UTF-8 cannot hold is spelled with backslashes."""
    try:
        record = canonical_json(verdict)
    except UnicodeEncodeError:
        plain = structs.asdict(verdict)
        clean = {name: _clean(text) for name, text in plain.items() if isinstance(text, str)}
        items = tuple(
            structs.replace(item, **{n: _clean(t) for n, t in structs.asdict(item).items() if isinstance(t, str)})
            for item in verdict.items
        )
        record = canonical_json(structs.replace(verdict, **clean, items=items))
    return record, hashlib.sha256(record).digest()


def unpacked(key: SampleKey, record: object, sha256: object) -> Verdict | None:
    """Return the verdict of a row; None where key, record and hash do not belong together."""
    if not isinstance(record, bytes) or hashlib.sha256(record).digest() != sha256:
        return None
    try:
        verdict = _DECODER.decode(record)
    except (msgspec.DecodeError, UnicodeDecodeError, RecursionError):
        return None
    return verdict if key_of(verdict) == key else None


def still_invalid(before: Standing | None, now: Standing) -> Standing:
    """Return how a judge stands now; what showed it to be invalid, or to have drifted, before stays."""
    if before is None:
        return now
    kept = now if now.invalid or not before.invalid else before
    anchors = {"anchors": now.anchors, "anchors_right": now.anchors_right, "at": now.at}
    return structs.replace(
        kept,
        **anchors,
        rounds=max(before.rounds, now.rounds),
        drift=now.drift or before.drift,
        second=now.second or before.second,
    )


def sorted_verdicts(verdicts: Iterable[Verdict]) -> Verdicts:
    """Return verdicts by judge and request, everything in order."""
    found: Verdicts = {}
    for verdict in sorted(verdicts, key=lambda each: (each.judge, each.request, each.sample)):
        found.setdefault(verdict.judge, {}).setdefault(verdict.request, []).append(verdict)
    return found


def to_lines(contents: Contents) -> Iterator[bytes]:
    """Yield the lines of an export: judges, what is known of them, verdicts; the same bytes for the same contents."""
    for judge in sorted(contents.judges, key=lambda each: each.digest):
        yield canonical_json(_Line(judge=judge)) + b"\n"
    for _, standing in sorted(contents.standings.items()):
        yield canonical_json(_Line(standing=standing, sha256=_sha256(standing))) + b"\n"
    for by_request in contents.verdicts.values():
        for samples in by_request.values():
            for verdict in samples:
                yield canonical_json(_Line(verdict=verdict, sha256=_sha256(verdict))) + b"\n"


def read_lines(path: Path) -> Contents:
    """Read an export. Raises InputError with every line that is not one, was changed, or contradicts another."""
    contents, problems = Contents(), list[Problem]()
    seen: dict[SampleKey, tuple[int, Verdict]] = {}
    decoder = msgspec.json.Decoder(_Line)
    with path.open("rb") as lines:
        for number, raw in enumerate(lines, 1):
            if not raw.strip():
                continue
            try:
                line = decoder.decode(raw)
            except (msgspec.DecodeError, UnicodeDecodeError, RecursionError) as error:
                problems.append(Problem(str(path), number, "", f"not a line of verdicts: {error}", "E_VERDICT"))
                continue
            message = _take(line, contents, seen, number)
            if message:
                problems.append(Problem(str(path), number, "", message, "E_VERDICT"))
    if problems:
        raise InputError(problems)
    contents.verdicts = sorted_verdicts(verdict for _, verdict in seen.values())
    return contents


def known_only(contents: Contents) -> Contents:
    """Leave out, with a warning, the verdicts of judges that are not named: nobody could say whose they are."""
    named = {judge.digest for judge in contents.judges}
    strangers = {judge: requests for judge, requests in contents.verdicts.items() if judge not in named}
    for judge, requests in strangers.items():
        count = sum(map(len, requests.values()))
        contents.warnings.append(f"{count} verdicts of a judge that is not named were left out ({judge})")
        del contents.verdicts[judge]
    return contents


def _take(line: _Line, contents: Contents, seen: dict[SampleKey, tuple[int, Verdict]], number: int) -> str:
    """Take one line; returns what is wrong with it."""
    given = [each for each in (line.judge, line.standing, line.verdict) if each is not None]
    if len(given) != 1:
        return "one of judge, standing and verdict is expected"
    (record,) = given
    if isinstance(record, JudgeIdentity):
        contents.judges += [record] if record not in contents.judges else []
        return ""
    if line.sha256 != _sha256(record):
        return "it was changed: its contents do not belong to its sha256"
    if isinstance(record, Standing):
        contents.standings[record.judge] = still_invalid(contents.standings.get(record.judge), record)
        return ""
    before = seen.setdefault(key_of(record), (number, record))
    return "" if before[1] == record else f"another verdict for what line {before[0]} holds (expected one)"


def _sha256(record: Verdict | Standing) -> str:
    return hashlib.sha256(canonical_json(record)).hexdigest()


def _clean(text: str) -> str:
    return text.encode("utf-8", "backslashreplace").decode()


def counted(verdicts: Mapping[str, Mapping[str, Sequence[Verdict]]]) -> int:
    """Return how many verdicts there are."""
    return sum(len(samples) for requests in verdicts.values() for samples in requests.values())
