"""All mutants."""

from __future__ import annotations

from typing import Final

from tests.mutants.mutant import Mutant
from tests.mutants.of_calls import OF_CALLS
from tests.mutants.of_claims import OF_CLAIMS
from tests.mutants.of_decisions import OF_DECISIONS
from tests.mutants.of_the_console import OF_THE_CONSOLE
from tests.mutants.of_the_store import OF_THE_STORE
from tests.mutants.of_undoing import OF_UNDOING

MUTANTS: Final[tuple[Mutant, ...]] = (
    OF_DECISIONS + OF_THE_STORE + OF_CLAIMS + OF_CALLS + OF_UNDOING + OF_THE_CONSOLE
)
