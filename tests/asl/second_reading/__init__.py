"""The language read a second time: slow, plain, and without a line of the engine.

Nothing here imports `orchestrator`. Where both readings differ, one of them is wrong.
"""
