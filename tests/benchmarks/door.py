"""The API's process of the benchmark: counted, with an endpoint that does nothing."""

from __future__ import annotations

import sys

from orchestrator import main
from orchestrator.api.door import application
from orchestrator.api.server import serve
from tests.benchmarks import counting


async def empty() -> dict[str, str]:
    """Answer at once."""
    return {}


if __name__ == "__main__":
    counting.install()
    parts = main.build(main.settings())
    app = application(parts.service, parts.store.scope, parts.store.limits)
    app.add_api_route("/empty", empty, methods=["POST"])
    serve(app, "127.0.0.1", int(sys.argv[1]))
