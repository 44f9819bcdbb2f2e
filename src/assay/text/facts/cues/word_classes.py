"""Classes of words that several rules look up, folded: what a word of a sentence may do, whatever it means."""

from __future__ import annotations

IMPERATIVES = frozenset(
    """
    take head go use call ring come see try get ask contact keep bring pay buy choose book fill send press click hold
    open visit check follow walk phone email write enter show scan
    """.split()
)
"""What may begin an answer without a subject: "Take line 12"."""
PREDICATES = frozenset(
    """
    get gets give gives take takes taken cost costs charge charges charged pay paid offer offers offered include
    includes included allow allowed permit permitted require required must keep kept last lasts come comes run runs go
    goes apply applies hold holds say says mean means true case use used want ask bring sign signed let lets made make
    makes something anything anyone thu mat ton tra can phai dung lay cho tinh ai
    """.split()
)
"""Verbs of which a negation denies whatever value comes with them."""
