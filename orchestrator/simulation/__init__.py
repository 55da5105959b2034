"""Above dispatch: the whole of it under a fake clock, a fake broker and seeded faults.

Everything from the engine down is the code that runs elsewhere. Processes are made of steps, one
thread takes them in an order that the seed decides, and whatever a process sends to its database
may be cut, come late, or be its last act. The same seed gives the same run, to the letter. Knows
the floors below; no product code knows this.
"""

from orchestrator.simulation.report import Report, Summary
from orchestrator.simulation.run import Simulation

__all__ = ["Report", "Simulation", "Summary"]
