"""The scheduler's process of the benchmark: the product's, with what it sends counted."""

from __future__ import annotations

from orchestrator import main
from tests.benchmarks import counting

if __name__ == "__main__":
    counting.install()
    main.run_scheduler(main.settings())
