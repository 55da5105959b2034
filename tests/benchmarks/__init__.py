"""The benchmark: what the engine costs, beside what it replaces. `python -m tests.benchmarks`.

Never a timed test: only `test_counts.py` runs in the suite, and it counts.
"""
