"""Everyday words of which one may stand for another in an answer: "kids" are children, and "necessary" is needed.

A group holds the forms that are written, folded. Words that mean the same only in some sentences are in none, and
neither are opposites: what an answer denies is told by its negations.
"""

from __future__ import annotations

from assay.text.facts.reading.read_text import ReadText

_GROUPS = (
    "departure depart departs sailing leave leaves leaving sails goes",
    "advance beforehand notice",
    "child children kid kids",
    "needed necessary required compulsory obligatory mandatory",
    "allowed permitted ok okay permissible",
    "forbidden prohibited banned",
    "booking bookings reservation reservations book reserve reserved booked",
    "leash lead",
    "math maths mathematics",
    "writing written",
    "birth born",
    "phone telephone",
    "doctor physician gp",
    "lift elevator lifts elevators",
    "flat apartment flats apartments",
    "holiday vacation holidays vacations",
    "email e-mail emails e-mails mail",
    "buy bought purchase purchased buying purchasing",
    "start starts started starting begin begins began beginning commence commences",
    "end ends ending finish finishes finished",
    "refund refunded refunds reimbursed reimbursement reimburse",
    "repair repaired repairs fix fixed",
    "rubbish waste garbage trash",
    "film films movie movies",
    "autumn fall",
    "shop shops store stores",
    "guest guests visitor visitors",
    "admission entry entrance",
    "fast faster quick quicker quickly",
    "bike bikes bicycle bicycles",
    "photo photos picture pictures photograph photographs",
    "stairs steps staircase",
    "meet assemble gather",
    "employee employees staff",
    "customer customers client clients",
    "car cars vehicle vehicles",
    "pet pets animal animals",
    "toilet toilets restroom restrooms",
    "maximum most max",
    "minimum least min",
    "yearly annually annual",
    "monthly month",
    "luggage baggage",
    "parcel parcels package packages",
    "cancel cancelled canceled cancellation cancelling canceling",
    "deposited deposit deposits",
    "donated given donate donates",
    "picked collected pick collect collection pickup pick-up",
    "turn switch",
    "supper dinner",
    "leftover left-over leftovers",
)
_GROUP_OF_WORD = {word: frozenset(group.split()) for group in _GROUPS for word in group.split()}


def find_same_sense(text: ReadText, folded: str) -> list[int]:
    """Return the indices of the words of a text that may stand for a folded word; empty for one of no group.

    >>> from assay.text.facts.reading.read_text import read_text
    >>> find_same_sense(read_text("For kids under six."), "children"), find_same_sense(read_text("For kids."), "dogs")
    ([1], [])
    """
    group = _GROUP_OF_WORD.get(folded)
    return [] if group is None else [index for index, own in enumerate(text.words) if own.folded in group]
