"""A scheduler that counts its statements: `python -m tests.acceptance.counted_scheduler`."""

from __future__ import annotations

import os

from orchestrator import main
from tests.acceptance.counting import FILE, count_into

if __name__ == "__main__":
    count_into(os.environ[FILE], "scheduler")
    main.run_scheduler(main.settings())
