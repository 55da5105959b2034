"""Floor 1: the language.

Knows what a definition says and what its paths, templates, rules and functions mean. Knows no
clock, no randomness, no database and no execution: everything here is a pure function of its
arguments, and what must vary (a draw, the context object) is passed in.
"""
