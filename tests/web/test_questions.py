"""What a support person asks is answered within three clicks, as the documentation says."""

from __future__ import annotations

from collections.abc import Iterator
from pathlib import Path

import pytest
from playwright.sync_api import Browser

from tests.calls.house import House, house
from tests.conftest import ROOT
from tests.web.browser import looking
from tests.web.questions import MOST_CLICKS, QUESTIONS, Question, Support, shop


@pytest.fixture(scope="module")
def store(tmp_path_factory: pytest.TempPathFactory) -> Iterator[House]:
    with pytest.MonkeyPatch.context() as patch:
        patch.delenv("ORCHESTRATOR_LEDGER_URL", raising=False)
        patch.setenv("ORCHESTRATOR_DATA", "")
        with house(tmp_path_factory.mktemp("shop")) as found:
            shop(found)
            yield found


@pytest.mark.parametrize("question", QUESTIONS, ids=lambda one: one.picture)
def test_a_question_is_answered_within_three_clicks(
    browser: Browser, store: House, question: Question
) -> None:
    with looking(browser, store.url) as seen:
        support = Support(seen.page, seen.url)
        question.answer(support)
        assert 0 < support.clicks <= MOST_CLICKS


@pytest.mark.parametrize("question", QUESTIONS, ids=lambda one: one.picture)
def test_its_answer_is_shown_in_the_documentation(question: Question) -> None:
    text = (ROOT / "docs" / "console.md").read_text()
    part = text.partition(f"### {question.text}\n")[2].partition("\n##")[0]
    assert f"(pictures/{question.picture}.png)" in part
    assert Path(ROOT / "docs" / "pictures" / f"{question.picture}.png").is_file()
