"""Whether an answer denies a fact whose words it has. Begin at `fact_denials.judge_denial`.

"You do not get 12 days" denies "12 days"; "jobs not collected in 12 days are deleted" does not.
"""
