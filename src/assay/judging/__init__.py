"""LLM judges: rubrics, prompts, providers, the verdict store, votes, controls, budgets."""
