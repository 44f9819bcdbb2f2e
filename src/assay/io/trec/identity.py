"""Computes the digest of qrels as a golden set without making a record for each judgment."""

from __future__ import annotations

import hashlib

import msgspec
import numpy as np

from assay.io.trec.qrels import MAX_GRADE, Qrels

_UNIT = b'{"any_of":[{"chunk_id":%s}]%s}'
_GRADE_MEMBERS = [b',"grade":0,"required":false', *(b',"grade":%d' % grade for grade in range(1, MAX_GRADE + 1))]
_GRADE_MEMBERS[3] = b""  # 3 is the default of the record, and defaults are omitted


def qrels_digest(qrels: Qrels) -> str:
    """Return the same digest as `io.golden.golden_digest` for the same judgments read as a golden set.

    That is the SHA-256 of the canonical JSON of its cases, ordered by id, with the units of each in file order.
    """
    pairs = qrels.index.pairs
    rows = np.flatnonzero(qrels.grade >= 0)
    rows = rows[np.lexsort((pairs.start[rows], pairs.query[rows]))]
    first = np.searchsorted(pairs.query[rows], np.arange(len(qrels) + 1)).tolist()
    start, length, grade = pairs.start[rows], pairs.length[rows], qrels.grade[rows]
    data, encode = pairs.text.data, msgspec.json.encode
    needs_no_escape = b'"' not in data and b"\\" not in data
    digest = hashlib.sha256(b'{"cases":[')
    separator = b""
    for query in sorted(range(len(qrels)), key=qrels.query_ids.__getitem__):
        rows_of_query = slice(first[query], first[query + 1])
        tokens = zip(
            start[rows_of_query].tolist(), length[rows_of_query].tolist(), grade[rows_of_query].tolist(), strict=True
        )
        units = [
            _UNIT
            % (
                b'"%s"' % data[at : at + size] if needs_no_escape else encode(data[at : at + size].decode()),
                _GRADE_MEMBERS[level],
            )
            for at, size, level in tokens
        ]
        evidence = b'"evidence":[%s],' % b",".join(units) if units else b""
        digest.update(b'%s{%s"id":%s,"question":""}' % (separator, evidence, encode(qrels.query_ids[query])))
        separator = b","
    digest.update(b'],"judgments":"partial"}')
    return "sha256:" + digest.hexdigest()
