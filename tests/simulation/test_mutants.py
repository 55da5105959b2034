"""A few guards are taken out at every test run; `python -m tests.mutants` takes out all."""

from __future__ import annotations

import pytest

from tests.mutants.mutant import Mutant
from tests.mutants.table import MUTANTS
from tests.mutants.trial import ROOT, Verdict, tried


@pytest.mark.parametrize("one", [one for one in MUTANTS if one.quick], ids=lambda one: one.guard)
def test_a_guard_that_is_taken_out_is_missed(one: Mutant) -> None:
    verdict, _ = tried(one)
    assert verdict is Verdict.CAUGHT


@pytest.mark.parametrize("one", MUTANTS, ids=lambda one: one.guard)
def test_the_guards_stand_where_the_table_of_mutants_says(one: Mutant) -> None:
    for file, (old, _) in zip(one.files, one.change, strict=True):
        assert (ROOT / file).read_text().count(old) == 1
