"""Floor 5: where tasks meet handlers: bells, slots, leases, the Celery side and the local one.

Knows who serves a resource here and how a claim is run to its end. Decides nothing about
executions, keeps nothing that a lost process would miss, and trusts no message: the rows are the
queue.
"""
