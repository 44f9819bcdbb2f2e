"""What an answer says of a value that it states: per what, which limit, which event. Begin at `value_rules`.

"12 days a month" and "at most 12 days" have the number of "12 days", and say something else.
"""
