"""Floor 7: the console. Pages for people, beside the doors for programs.

Knows how things look and which act stands beside what one looks at; asks the service, and knows
neither the engine nor any database. Works without scripts: those only keep pages fresh.
"""
