"""The Python functions that stand for the commands of `assay audit`."""

from __future__ import annotations

from collections.abc import Callable, Iterator, Sequence
from contextlib import contextmanager
from dataclasses import replace
from datetime import UTC, datetime
from pathlib import Path
from typing import Any

from msgspec import structs

from assay.audit.answer_now import describe_answer_now, make_question_case
from assay.audit.collect_present_answer import collect_present_answer
from assay.audit.corpus_files import CorpusPaths, load_corpora
from assay.audit.document_exposure import DocumentSearch, Exposure
from assay.audit.incident import Incident, IncidentSources
from assay.audit.privacy import DEFAULT_RULES, PSEUDONYM_PREFIX, AuditKeys, PersonalData, make_redaction_rules
from assay.audit.results import ErasureResult, ExportResult, IngestResult, ShowResult, VerifyResult
from assay.audit.versioned_corpora import VersionedCorpora
from assay.calls.interfaces import Target
from assay.formats.corpus import load_corpus
from assay.formats.golden_files import load_golden
from assay.formats.strict_yaml import read_yaml_file
from assay.judging.load_verdicts import load_requested_verdicts
from assay.records.audit_records import AuditRecord, Finding
from assay.records.counts import format_count
from assay.records.errors import InputError, MissingExtraError, Problem, SettingsError, shorten_repr
from assay.records.golden_set import Corpus
from assay.records.requests import VerdictOptions
from assay.text.escaping import escape_surrogates

PathLike = str | Path
KEY_ENV = "ASSAY_AUDIT_KEY"


def ingest(
    store: PathLike,
    *sources: PathLike,
    format: str | None = None,
    dead_letters: PathLike | None = None,
    key_env: str = KEY_ENV,
    redact: str | None = None,
    checkpoint: bool = False,
    batch: int = 5000,
    strict: bool = False,
    fields: str | None = None,
    keep_waiting: Callable[[], bool] | None = None,
    on_commit: Callable[[str, int], None] | None = None,
    now: Callable[[], datetime] | None = None,
) -> IngestResult:
    """Append production answers of files (`-` is standard input) to a store, and say what became of each line.

    `store` is the path of a SQLite file, which is made where there is none, or the address of a PostgreSQL database.
    `format` is `audit`, `assay`, `rag-trace`, `otlp-json` or `otlp-protobuf`; without it, each file's first line tells.
    `redact` is a YAML file of redaction rules besides the shipped ones, or `none`. With `checkpoint`, a file is
    read on from where the last call left it; with `keep_waiting`, its end is waited at while that function is true.
    `strict` refuses lines with unknown keys, which are otherwise left out and named in the result. `fields` says
    what members of lines of one's own are: `question=prompt,contexts=docs`. `batch` records are one
    transaction, and `on_commit` is told the source and the line up to which everything is on disk. `now` is the clock.
    Raises InputError for what cannot be read, for users without a key, and for a key that is not the store's;
    IncompleteError if the store cannot be written.
    """
    with explain_missing_extra():
        from assay.audit.ingest_traffic import IngestRequest, ingest_traffic, load_audit_keys
        from assay.audit.load_own_fields import parse_fields
    if batch < 1:
        raise InputError(f"a batch of {format_count(batch, 'record')} (expected at least 1)")
    if not sources:
        raise InputError("nothing to ingest (expected at least one file, or - for standard input)")
    request = IngestRequest(
        str(store),
        [str(source) for source in sources],
        format,
        None if dead_letters is None else str(dead_letters),
        load_audit_keys(key_env),
        load_redaction_rules(redact),
        checkpoint,
        batch,
        keep_waiting,
        on_commit,
        strict,
        {} if fields is None else parse_fields(fields),
    )
    return ingest_traffic(request, now or _utc_now)


def verify(
    store: PathLike,
    *,
    roots: PathLike | None = None,
    sign_off: str | None = None,
    checkpoint: PathLike | None = None,
    full: bool = False,
    key_env: str = KEY_ENV,
    now: datetime | None = None,
) -> VerifyResult:
    """Check every record of a store, and compare its days with the roots that were signed off.

    `roots` is the file of those roots; with `sign_off`, the name of a person, the roots of days that are not in it are
    added. Keep that file where those who can write to the store cannot. `checkpoint` is a file that keeps how far the
    store was found intact: then only newer records are read, unless `full`. With the key in the variable `key_env`,
    roots and checkpoints are signed, and their signatures checked. Raises InputError for a store or file that cannot be
    read, for a checkpoint that was not signed with the key, and for signing off a store with faults.
    """
    with explain_missing_extra():
        from assay.audit.audit_store import open_audit_store
        from assay.audit.ingest_traffic import load_audit_keys
        from assay.audit.verified_point_file import VerifiedPoint, load_verified_point, write_verified_point
        from assay.audit.verify_store import load_signed_roots, sign_off_days, verify_store
    if sign_off is not None and roots is None:
        raise InputError("no file for the roots (expected one with --roots)")
    keys = load_audit_keys(key_env)
    signed = load_signed_roots(str(roots)) if roots is not None and (sign_off is None or Path(roots).exists()) else []
    point_file = None if checkpoint is None else Path(checkpoint)
    before = None if point_file is None or full else load_verified_point(point_file, keys)
    at = (now or _utc_now()).isoformat(timespec="seconds")
    with open_audit_store(str(store)) as opened:
        result = verify_store(opened, signed, keys, before)
    if before is not None and result.skipped:
        unsigned = "" if before.signature is not None else "; the checkpoint has no signature, and is taken on trust"
        result.notices.append(
            f"records 1 to {result.skipped} were verified at {before.at} and not read again (all were read at "
            f"{before.full_at}; --full reads them){unsigned}"
        )
    if point_file is not None and result.is_intact and result.roots:
        full_at = before.full_at if before is not None and result.skipped else at
        last = result.roots[-1].last
        point = VerifiedPoint(last, result.answers, result.erased, tuple(result.roots), at, full_at)
        write_verified_point(point_file, point, keys)
    if sign_off is not None:
        if not sign_off.strip():
            raise InputError("signed off by nobody (expected the name of a person)")
        days = sign_off_days(str(roots), result, sign_off, at, keys)
        if days:
            result.unsigned_days = []
            result.signed_roots = len({root.day for root in [*(line.root for line in signed), *days]})
            result.signed_until = max(result.signed_until, days[-1].last)
    return result


def erase(
    store: PathLike,
    *,
    user: str | None = None,
    older_than: int | None = None,
    dry_run: bool = False,
    key_env: str = KEY_ENV,
    now: datetime | None = None,
) -> ErasureResult:
    """Erase everything about a user, or all answers that were asked more than `older_than` days ago.

    `user` is the user's id as the producer writes it (which needs the key) or the pseudonym (`user:…`). The chain stays
    verifiable. With `dry_run`, only counts. Raises InputError for an unknown user, and unless exactly one of `user` and
    `older_than` is given.
    """
    with explain_missing_extra():
        from assay.audit.audit_store import open_audit_store
        from assay.audit.erase_records import erase_expired, erase_user
    if (user is None) == (older_than is None):
        raise InputError("what to erase is unclear (expected either a user or a number of days)")
    moment = now or _utc_now()
    with open_audit_store(str(store)) as opened:
        if user is not None:
            return erase_user(opened, find_pseudonym(user, key_env, opened), moment, dry_run=dry_run)
        assert older_than is not None
        return erase_expired(opened, older_than, moment, dry_run=dry_run)


def show(
    store: PathLike,
    record_id: str | None = None,
    *,
    question: str | None = None,
    user: str | None = None,
    at: str | None = None,
    citation: str | None = None,
    verdict: str | None = None,
    limit: int = 20,
    corpus: CorpusPaths = None,
    corpus_then: PathLike | None = None,
    golden: PathLike | None = None,
    verdicts: PathLike | None = None,
    judge: str | None = None,
    show_restricted: bool = False,
    finding: tuple[str, str, str] | None = None,
    file: PathLike | None = None,
    target: Target | None = None,
    key_env: str = KEY_ENV,
    now: datetime | None = None,
) -> ShowResult:
    """Rebuild one answer: what was asked, retrieved, shown, cited and answered, with every claim and citation checked.

    The answer is named by its id, or found by the words of its question, the user, the day or minute (`at`), a
    citation, or a verdict (`NAME=VALUE`, such as `feedback=down`); several matches are listed. `corpus` is that of now,
    or several, of which those that are named `VERSION=FILE` are of that index version; `corpus_then` is that of when it
    was answered (without it, that of the version that the answer states, else that of now). `golden` is searched for
    near cases. `verdicts` is a verdict store, whose labels of this answer by `judge` are shown. Text that the user of
    the answer may not see is withheld unless `show_restricted`. `finding` is (cause, owner, decision), which is
    appended to the chain. `file` is an HTML or Markdown file to write. `target` is asked the question again, for its
    user, and closed. Raises InputError if nothing is found, and for files that cannot be read.
    """
    with explain_missing_extra():
        from assay.audit.audit_store import open_audit_store
        from assay.audit.incident_file import write_incident
        from assay.audit.load_incident import add_finding, load_incident, require_answer
        from assay.audit.search_store import AnswerQuery, list_near_citations, parse_moment, search_answers
    moment = now or _utc_now()
    corpora = load_corpora(corpus)
    then = None if corpus_then is None else load_corpus(corpus_then)[0]
    cases = None if golden is None else load_golden(golden).golden
    judging, notices = load_requested_verdicts(VerdictOptions(None if verdicts is None else str(verdicts), judge))
    sources = IncidentSources(then, corpora.current, cases, moment.date().isoformat(), judging)
    truncated = False
    with open_audit_store(str(store)) as opened:
        if record_id is not None:
            sequence = require_answer(opened, record_id)
        else:
            since, until = (None, None) if at is None else parse_moment(at)
            pseudonym = None if user is None else find_pseudonym(user, key_env, opened)
            # One more than is listed, which tells whether there are more.
            asked_for = limit + 1 if limit > 0 else limit
            query = AnswerQuery(question, pseudonym, since, until, citation, verdict, asked_for)
            search = search_answers(opened, query)
            truncated = search.truncated
            if not search.answers:
                older = "; only the newest were searched" if truncated else ""
                near = [] if citation is None else list_near_citations(opened, citation)
                hint = f" (names that are cited: {', '.join(near)})" if near else ""
                raise InputError(f"{opened.name}: no answer matches{older}{hint}")
            if len(search.answers) > 1 and (finding is not None or file is not None):
                matches = format_count(len(search.answers), "answer matches", "answers match")
                raise InputError(f"{matches} (for a finding or a file, name one by its id)")
            if len(search.answers) > 1:
                return ShowResult(search.answers[:limit], None, truncated, len(search.answers) > limit)
            sequence = search.answers[0][0]
        if finding is not None:
            add_finding(opened, sequence, *finding, moment)
        if then is None:
            sources = structs.replace(sources, corpus_then=_find_corpus_then(opened, sequence, corpora))
        incident = load_incident(opened, sequence, sources, show_restricted=show_restricted)
        incident = structs.replace(incident, notes=(*incident.notes, *notices))
        if target is not None:
            incident = _ask_again(opened, sequence, incident, target, sources, moment, show_restricted=show_restricted)
    if file is not None:
        write_incident(incident, str(file))
    return ShowResult([(sequence, incident.record)], incident, truncated)


def _ask_again(
    store: Any,
    sequence: int,
    incident: Incident,
    target: Target,
    sources: IncidentSources,
    moment: datetime,
    *,
    show_restricted: bool,
) -> Incident:
    """Return an incident with what a target does now with the question of the answer."""
    record = store.load_answer(sequence)
    assert record is not None
    present_answer = describe_answer_now(
        incident.record.answer,
        make_question_case(record, sources.day),
        collect_present_answer(record, target, sources.day),
        sources,
        moment.isoformat(timespec="seconds"),
        show_restricted=show_restricted,
    )
    return structs.replace(incident, answer_now=present_answer)


def _find_corpus_then(store: Any, sequence: int, corpora: VersionedCorpora) -> Corpus | None:
    """Return the corpus of the version that an answer states, else that of now."""
    record = store.load_answer(sequence)
    assert record is not None
    corpus_then = corpora.find_corpus(record)
    return corpora.current if corpus_then is None else corpus_then


def read_answers(
    store: PathLike, *, since: str | None = None, until: str | None = None, limit: int = 1000
) -> list[tuple[int, AuditRecord]]:
    """Return the newest answers of a period (`since` ≤ time < `until`, ISO 8601), newest first, with their numbers.

    Raises InputError for a file that is no store, and for a time that cannot be read.
    """
    with explain_missing_extra():
        from assay.audit.audit_store import open_audit_store
        from assay.audit.search_store import AnswerQuery, list_answers
    with open_audit_store(str(store)) as opened:
        return list_answers(opened, AnswerQuery(since=since, until=until, limit=limit))


def read_incidents(
    store: PathLike, sequences: Sequence[int], *, corpus: CorpusPaths, now: datetime | None = None
) -> list[Incident]:
    """Return answers by their numbers as `show` rebuilds them: what their users may not see is withheld.

    `corpus` is as for `show`.
    Raises InputError for a store or corpus that cannot be read, and for a number that is no answer.
    """
    with explain_missing_extra():
        from assay.audit.audit_store import open_audit_store
        from assay.audit.load_incident import load_incident
    corpora, day = load_corpora(corpus), (now or _utc_now()).date().isoformat()
    incidents = []
    with open_audit_store(str(store)) as opened:
        for sequence in sequences:
            corpus_then = _find_corpus_then(opened, sequence, corpora)
            sources = IncidentSources(corpus_then, corpora.current, day=day)
            incidents.append(load_incident(opened, sequence, sources))
    return incidents


def exposure(
    store: PathLike, name: str, *, first: str | None = None, last: str | None = None, corpus: CorpusPaths = None
) -> Exposure:
    """Return the answers that a document or a chunk reached: retrieved, shown, cited or quoted, with their users.

    `name` is the id of a chunk or the name of a document, as the metadata of chunks or `corpus` (as for `show`) have
    it. `first` and `last` are days (2026-03-02), inclusive, in UTC. The corpus says which users may see it. Every
    answer of the period is read. Raises InputError for a store or corpus that cannot be read, and for an empty name.
    """
    with explain_missing_extra():
        from assay.audit.audit_store import open_audit_store
        from assay.audit.load_exposure import load_exposure
        from assay.audit.search_store import parse_day_bounds
    if not name.strip():
        raise InputError("no name (expected the id of a chunk or the name of a document)")
    since, until = parse_day_bounds(first, last)
    search = DocumentSearch(name, load_corpora(corpus))
    with open_audit_store(str(store)) as opened:
        return load_exposure(opened, search, since, until)


def list_findings(store: PathLike) -> list[Finding]:
    """Return what people found out about the answers of a store, in the order in which they wrote it down.

    Raises InputError for a file that is no store.
    """
    with explain_missing_extra():
        from assay.audit.audit_store import open_audit_store
        from assay.audit.load_incident import load_all_findings
    with open_audit_store(str(store)) as opened:
        return load_all_findings(opened)


def export(
    store: PathLike,
    file: PathLike,
    *,
    first: str | None = None,
    last: str | None = None,
    user: str | None = None,
    slices: Sequence[str] = (),
    corpus: CorpusPaths = None,
    show_restricted: bool = False,
    salvage: bool = False,
    key_env: str = KEY_ENV,
) -> ExportResult:
    """Write the answers of a store to a file: Parquet if its name ends in .parquet, else JSON lines.

    `first` and `last` are days (2026-03-02), inclusive, in UTC; `user` is the user's id as the producer writes it, for
    which the key is needed, or the pseudonym (`user:…`); `slices` are conditions `key=value`, which must all hold. Text
    that the user of an answer may not see, by the access rules of `corpus` (as for `show`) or of the record itself, is
    masked unless `show_restricted`. With `salvage`, a damaged store is read as far as possible, and what is lost is
    said by number.
    Raises InputError for what cannot be read, IncompleteError for a damaged store and a file that cannot be written.
    """
    with explain_missing_extra():
        from assay.audit.audit_store import open_audit_store
        from assay.audit.record_slices import parse_slice
        from assay.audit.search_store import parse_day_bounds
        from assay.audit.write_records import ExportRequest, IntactRecords, write_records
    since, until = parse_day_bounds(first, last)
    conditions = [parse_slice(text) for text in slices]
    request = ExportRequest(since, until, None, conditions, load_corpora(corpus), show_restricted, salvage)
    if salvage:
        from assay.audit.load_damaged_store import open_salvaged

        if user is not None:
            request = replace(request, pseudonym=find_pseudonym(user, key_env, None))
        with open_salvaged(str(store)) as left:
            return write_records(left, request, str(file))
    with open_audit_store(str(store)) as opened:
        if user is not None:
            request = replace(request, pseudonym=find_pseudonym(user, key_env, opened))
        return write_records(IntactRecords(opened), request, str(file))


def find_pseudonym(user: str, key_env: str, store: Any) -> str:
    """Return the pseudonym of a user, who may be named by it. Raises InputError without the store's key.

    Without a store, as where it is damaged, any key will do: with a wrong one nobody is found.
    """
    from assay.audit.ingest_traffic import load_audit_keys

    if user.startswith(PSEUDONYM_PREFIX):
        return escape_surrogates(user).replace("\0", "�")  # which no database is asked for
    keys: AuditKeys | None = load_audit_keys(key_env)
    if keys is None:
        raise InputError(f"a user can only be found with the key (expected it in {key_env}), or by pseudonym (user:…)")
    if store is not None:
        store.check_key(keys.fingerprint)
    return keys.make_pseudonym(user)


def load_redaction_rules(source: str | None) -> Sequence[PersonalData]:
    """Return the shipped rules for None, none for `none`, else those of a YAML file and then the shipped ones.

    The file has `rules: [{name, pattern}]`, and `shipped: false` if its rules are to be the only ones.
    Raises InputError listing all problems of the file.
    """
    if source is None:
        return DEFAULT_RULES
    if source == "none":
        return ()
    data = read_yaml_file(source).data
    rows = data.get("rules") if isinstance(data, dict) and set(data) <= {"rules", "shipped"} else None
    if not isinstance(rows, list):
        message = "no list of rules (expected `rules:` with a list, and `shipped: false` to have these alone)"
        raise SettingsError([Problem(source, None, "", message, "E_TYPE")])
    problems = []
    with_shipped = data.get("shipped", True)
    if not isinstance(with_shipped, bool):
        message = f"not true or false (got {shorten_repr(with_shipped)}; expected whether the shipped rules apply too)"
        problems.append(Problem(source, None, "shipped", message, "E_TYPE"))
    for number, row in enumerate(rows):
        if not (isinstance(row, dict) and set(row) == {"name", "pattern"} and all(map(_is_text, row.values()))):
            message = f"not a rule (got {shorten_repr(row)}; expected name and pattern)"
            problems.append(Problem(source, None, f"rules[{number}]", message, "E_TYPE"))
    if problems:
        raise SettingsError(problems)
    own = make_redaction_rules([(row["name"], row["pattern"]) for row in rows], source)
    return (*own, *DEFAULT_RULES) if with_shipped else own


def _is_text(value: object) -> bool:
    return isinstance(value, str)


def _utc_now() -> datetime:
    return datetime.now(UTC)


@contextmanager
def explain_missing_extra() -> Iterator[None]:
    """Raise MissingExtraError where a package of the audit store cannot be imported."""
    try:
        yield
    except ModuleNotFoundError as error:
        if (error.name or "").partition(".")[0] in ("sqlalchemy", "alembic"):
            raise MissingExtraError("the audit store", "audit") from None
        raise
