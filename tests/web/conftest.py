"""One deployment for the tests of a file: an embedded engine, its doors and the console."""

from __future__ import annotations

from collections.abc import Iterator

import pytest

from tests.calls.house import House, house


@pytest.fixture(scope="module")
def home(tmp_path_factory: pytest.TempPathFactory) -> Iterator[House]:
    with pytest.MonkeyPatch.context() as patch:
        patch.delenv("ORCHESTRATOR_LEDGER_URL", raising=False)
        patch.setenv("ORCHESTRATOR_DATA", "")
        with house(tmp_path_factory.mktemp("console")) as found:
            yield found
