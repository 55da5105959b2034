"""Floor 2: what happens next.

Knows the language (floor 1) and the values that describe an execution. Pure: it knows no database,
no broker, no clock, no randomness and no log; time and random bits are handed in.
"""
