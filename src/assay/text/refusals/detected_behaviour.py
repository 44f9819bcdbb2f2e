"""What an answer was found to do: its behaviour, the phrase that showed it, and whether it declines a part."""

from __future__ import annotations

from typing import Literal

from msgspec import Struct

UNKNOWN: Literal["unknown"] = "unknown"
DetectedKind = Literal["answer", "abstain", "permission_denied", "escalate", "clarify", "unknown", ""]


class DetectedBehaviour(Struct, frozen=True):
    """The behaviour that the rules detect in a text.

    `behaviour`: `unknown` if the rules cannot tell, "" if there is nothing to read. `is_decided_by_text`: if not, what
    the target itself declares takes precedence. `has_refusal`: the text abstains, denies or escalates, with or without
    other content. `has_substantive_claim`: it makes claims. `phrase`: the folded phrase that decided.
    `has_quoted_phrase`: a phrase was ignored because it is quoted. `is_rule_of_access`: a phrase that denies was
    ignored because it is said of others, explains a message or states a condition. `is_error_text`: it is an error
    message, by which a system failed (`error_texts`).
    """

    behaviour: DetectedKind
    is_decided_by_text: bool
    has_refusal: bool
    has_substantive_claim: bool
    phrase: str
    has_quoted_phrase: bool
    is_rule_of_access: bool = False
    is_error_text: bool = False

    @property
    def is_partial_refusal(self) -> bool:
        """Whether the text answers one part and declines another."""
        return self.has_refusal and self.has_substantive_claim


PLAIN_ANSWER = DetectedBehaviour(
    "answer", is_decided_by_text=True, has_refusal=False, has_substantive_claim=True, phrase="", has_quoted_phrase=False
)
NO_BEHAVIOUR = DetectedBehaviour(
    "", is_decided_by_text=False, has_refusal=False, has_substantive_claim=False, phrase="", has_quoted_phrase=False
)
ERROR_TEXT = DetectedBehaviour(UNKNOWN, True, False, False, "", False, is_error_text=True)
"""An error message: no declaration of the target tells that it abstained."""
