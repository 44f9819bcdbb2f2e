"""Words between a span of time and the event that it is counted from."""

from __future__ import annotations

from assay.text.facts.cues.cue_pattern import Cues, list_words

COUNTED = Cues(
    "counted | counting | calculated | measured | starting | beginning | running | which (?:starts?|begins?|runs?)",
    "tính | được tính",
    "gerechnet | beginnend | calculés? | comptés?",
)
"""Stands before the word that says whether a span is counted to or from an event."""
COUNTS_TO = Cues("before | prior to | ahead of", "trước(?: khi)?", "vor | avant")
"""Follows a span that is over at an event."""
COUNTS_FROM = Cues(
    "after | following | from | since | as of",
    "kể từ(?: khi)? | tính từ(?: khi)? | sau(?: khi)? | từ(?: khi)?",
    "nach | ab | seit | von | après | à compter d(?:e|u|es|['’]) | à partir d(?:e|u|es|['’]) | à dater d(?:e|u|es|['’])"
    " | suivant | dès",
)
"""Follows a span that begins with an event; "of" does only behind "within"."""
NO_EVENT = list_words(
    """
    date dates day days moment time point when that which your you he she it they we our their its his her
    ngày khi lúc thời điểm được bạn anh chị quý khách mình
    datum tag tages tags zeitpunkt ihr ihre ihrer ihrem ihren dem der des den die das du sie wir uns eine einer einem
    votre vos vous date jour moment nous leur la le les de du des un une où laquelle lequel il elle
    """
)
"""Words of an anchor that name no event."""
