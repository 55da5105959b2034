"""The list of executions: every filter stands in the address, so that a list can be handed on."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from datetime import UTC, datetime
from typing import Final
from urllib.parse import urlencode

from orchestrator.execution.frame import ExecutionStatus
from orchestrator.service import Attention, Orchestrator, Page, Wanted
from orchestrator.web.request import Answer, Ask, Shown

FILTERS: Final = ("name", "machine", "status", "state", "since", "until", "attention")
STATUSES: Final = tuple(ExecutionStatus)


@dataclass(frozen=True, slots=True)
class Links:
    """Where the list goes on."""

    newest: str
    newer: str | None
    older: str | None


class ExecutionsPage:
    """Executions, newest first."""

    def __init__(self, service: Orchestrator) -> None:
        self._service = service

    def show(self, ask: Ask) -> Answer:
        """Show a page of the executions that are looked for."""
        faults: list[str] = []
        wanted = read_wanted(ask, faults)
        given = {name: ask.given(name) for name in FILTERS}
        attention = self._attention(wanted, given) if given["attention"] else []
        page = self._service.views.executions(wanted)
        values = {
            "page": page,
            "given": given,
            "filtered": any(given.values()),
            "faults": faults,
            "machines": self._service.views.machine_names(),
            "statuses": STATUSES,
            "attention": attention,
            "links": _links(given, wanted, page),
            "now": self._service.views.now(),
        }
        return Shown("executions.html", values)

    def _attention(self, wanted: Wanted, given: Mapping[str, str]) -> list[Attention]:
        """What needs attention of the executions wanted; all that does where nothing else is."""
        every = self._service.operations.attention()
        if not any(value for name, value in given.items() if name != "attention"):
            return every
        agrees = self._service.views.agrees
        return [one for one in every if one.of_execution and agrees(one.subject, wanted)]


def read_wanted(ask: Ask, faults: list[str]) -> Wanted:
    """Read what is looked for; what cannot be read is named in `faults` and does not count."""
    status = ask.given("status")
    known = status if status in STATUSES else None
    if status and known is None:
        faults.append(f"There is no status {status!r}.")
    return Wanted(
        machine=ask.given("machine") or None,
        status=None if known is None else ExecutionStatus(known),
        state=ask.given("state") or None,
        name=ask.given("name"),
        since=_moment(ask, "since", faults),
        until=_moment(ask, "until", faults),
        before=_id(ask.given("before")),
        after=_id(ask.given("after")),
    )


def _moment(ask: Ask, name: str, faults: list[str]) -> datetime | None:
    given = ask.given(name)
    if not given:
        return None
    try:
        found = datetime.fromisoformat(given)
        return found.replace(tzinfo=UTC) if found.tzinfo is None else found.astimezone(UTC)
    except (ValueError, OverflowError):
        faults.append(f"{given[:40]!r} is no moment: write 2026-01-31 or 2026-01-31T18:00.")
        return None


def _id(text: str) -> int | None:
    return int(text) if text.isdecimal() and len(text) < 19 else None  # noqa: PLR2004  # bigint


def _links(given: Mapping[str, str], wanted: Wanted, page: Page) -> Links:
    kept = {name: value for name, value in given.items() if value}

    def link(**more: int) -> str:
        query = urlencode({**kept, **more})
        return f"/?{query}" if query else "/"

    if wanted.name:
        return Links(link(), None, None)
    rows = page.rows
    upwards = wanted.after is not None
    newest = rows[0].execution.id if rows else None
    oldest = page.looked_to or (rows[-1].execution.id if rows else None)
    has_newer = (wanted.before is not None or upwards) and (not upwards or page.more)
    has_older = page.more if not upwards else True
    return Links(
        link(),
        link(after=newest) if has_newer and newest is not None else None,
        link(before=oldest) if has_older and oldest is not None else None,
    )
