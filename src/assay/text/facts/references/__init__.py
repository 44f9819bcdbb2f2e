"""What a reference in sentences asks of an answer, and whether the answer states it.

Begin at `reference_facts.derive_reference_facts`: the value or the decision asked for, or else the words of the
reference. `reference_judgments` says what the answer does with them.
"""
