"""The Celery application of docs/handlers.md works as it stands there, in an empty folder."""

from __future__ import annotations

import re
from pathlib import Path

from tests.repository.shell import Shell, until

PAGE = (Path(__file__).resolve().parents[2] / "docs" / "handlers.md").read_text()


def test_the_application_of_the_page_serves_its_handler_and_its_task(
    shell: Shell, empty_postgres_url: str, redis_url: str
) -> None:
    for name in ("shop.py", "shop.asl.json"):
        (text,) = re.findall(
            rf"\*{re.escape(name)}\*:\n\n```\w+\n(.*?)^```", PAGE, re.MULTILINE | re.DOTALL
        )
        (shell.folder / name).write_text(text)
    (block,) = re.findall(r"^```sh\n(.*?)^```", PAGE, re.MULTILINE | re.DOTALL)
    shell.given = {
        "ORCHESTRATOR_DATABASE_URL": empty_postgres_url,
        "ORCHESTRATOR_BROKER_URL": redis_url,
    }
    *typed, last = block.splitlines()
    shell.all(typed)
    until(lambda: "RUNNING" not in shell.type(last))
    assert re.search(r"^shop:1 +SUCCEEDED", shell.type(last), re.MULTILINE)
    assert re.search(r"^shop:2 +FAILED", shell.type(last), re.MULTILINE)
    shell.end()
