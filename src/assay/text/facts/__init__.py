"""Whether an answer states a fact that its case requires, denies it, or leaves it open.

`stated_facts.judge_facts` is the way in, and `fact_judge.FactJudge` asks the rules in their order; each folder holds
those of one idea, and imports only from the folders below it.
"""
