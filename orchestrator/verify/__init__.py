"""Floor 5: an independent reading of a history against its definition.

Knows what the language allows, and nothing of how it is decided: `decide` is not asked, so that
what it does wrong shows.
"""

from orchestrator.verify.record import Contradiction, Record, verify

__all__ = ["Contradiction", "Record", "verify"]
