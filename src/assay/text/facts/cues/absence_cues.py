"""Words that say that something is absent, or that it concerns others alone."""

from __future__ import annotations

from assay.text.facts.cues.cue_pattern import Cues

LACKING = Cues(
    "without | free (?:of|from) | exempt(?:ed)? from | devoid of | zero",
    "miễn | không kèm | không bị",
    "ohne | frei von | befreit von | sans | exempt[ée]?e?s? d[e'] | exonérée?s? d[e']",
)
"""Stands before what is absent."""
NONE_ALONE = Cues("none(?: at all)? | zero | nil", "không(?: có)?", "keine[rsn]? | keins | aucune?s?")
"""Says as a whole answer that what is asked for is absent."""
NONE_OF_IT = Cues("no | none | nothing | nil | zero", "không", "kein\\w* | aucune? | sans | ohne")
"""Says somewhere in an answer that something is absent."""
OTHERS_ALONE = Cues(
    "only | solely | exclusively | just | (?:limited|restricted|confined) to | reserved for"
    " | (?:starts?|begins?) (?:with|from|at)",
    "chỉ | riêng",
    "nur | ausschließlich | lediglich | seulement | uniquement | que pour",
)
"""Says that something concerns the ones named, and nobody else."""
