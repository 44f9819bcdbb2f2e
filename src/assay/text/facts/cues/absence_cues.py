"""Words that say that something is absent, or that it concerns others alone."""

from __future__ import annotations

from assay.text.facts.cues.cue_pattern import Cues

LACKING = Cues(
    "without | free (?:of|from) | exempt(?:ed)? from | devoid of | zero",
    "miễn | không kèm | không bị",
    "ohne | frei von | befreit von | sans | exempt[ée]?e?s? d[e'] | exonérée?s? d[e']",
)
"""Stands before what is absent."""
SPARED = Cues(
    "exempt(?:ed)? | excused | spared | waived | optional | unnecessary",
    "miễn | được miễn",
    "befreit | entbehrlich | entfällt | exempt[ée]?e?s? | dispensée?s? | exent[ao]s?",
)
"""Says of what it is not asked of somebody; "no interview for you" says it too."""
NECESSARY = Cues(
    "required | necessary | needed | mandatory | compulsory | obligatory",
    "bắt buộc | cần thiết",
    "erforderlich | nötig | notwendig | verpflichtend"
    " | obligatoires? | nécessaires? | obligatori[ao]s? | necesari[ao]s?",
)
"""Says of what it is asked of somebody; "you need it" and "you must" say it too."""
NEEDS = Cues(
    "needs? | must | ha(?:ve|s) to | should",
    "phải | cần",
    "muss | müssen | brauch(?:st|t|en|e)? | benötig(?:st|t|en) | doit | devez | faut | debe[ns]? | hay que",
)
"""Says what somebody has to do."""
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
