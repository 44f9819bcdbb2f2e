"""The digest of the golden set that qrels are, without making a record for each judgment."""

from __future__ import annotations

import hashlib

import msgspec
import numpy as np

from assay.io.trec.qrels import MAX_GRADE, Qrels

_UNIT = b'{"any_of":[{"chunk_id":%s}]%s}'
_REST = [b',"grade":0,"required":false', *(b',"grade":%d' % grade for grade in range(1, MAX_GRADE + 1))]
_REST[3] = b""  # the default of the record


def qrels_digest(qrels: Qrels) -> str:
    """Return what `io.golden.golden_digest` returns for the same judgments read as a golden set.

    That is the SHA-256 of the canonical JSON of its cases, in the order of their ids, the units of each as in the file.
    """
    pairs = qrels.index.pairs
    rows = np.flatnonzero(qrels.grade >= 0)
    rows = rows[np.lexsort((pairs.start[rows], pairs.query[rows]))]
    first = np.searchsorted(pairs.query[rows], np.arange(len(qrels) + 1)).tolist()
    start, length, grade = pairs.start[rows], pairs.length[rows], qrels.grade[rows]
    data, encode = pairs.text.data, msgspec.json.encode
    plain = b'"' not in data and b"\\" not in data
    whole = hashlib.sha256(b'{"cases":[')
    separator = b""
    for query in sorted(range(len(qrels)), key=qrels.query_ids.__getitem__):
        own = slice(first[query], first[query + 1])
        places = zip(start[own].tolist(), length[own].tolist(), grade[own].tolist(), strict=True)
        units = [
            _UNIT % (b'"%s"' % data[at : at + size] if plain else encode(data[at : at + size].decode()), _REST[level])
            for at, size, level in places
        ]
        evidence = b'"evidence":[%s],' % b",".join(units) if units else b""
        whole.update(b'%s{%s"id":%s,"question":""}' % (separator, evidence, encode(qrels.query_ids[query])))
        separator = b","
    whole.update(b'],"judgments":"partial"}')
    return "sha256:" + whole.hexdigest()
