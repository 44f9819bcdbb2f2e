"""The records that everything passes on: golden sets, observations, scores, rules, findings, settings, requests,
errors.
"""
