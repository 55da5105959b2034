"""Floor 4: expressions of JSONata are evaluated where they cannot harm.

Knows the language and processes. Knows no engine, no database and no execution: it answers one
question at a time. What is light is evaluated here, within tight bounds; the rest in a helper
process that may use little memory and is killed when it takes too long.
"""

from orchestrator.evaluation.evaluator import Evaluator

__all__ = ["Evaluator"]
