"""The actions on activities and on tasks that end from outside, named as boto3 names them."""

from __future__ import annotations

import asyncio
from typing import Final

from orchestrator.api import arn, shapes
from orchestrator.api.desk import Answer, Desk
from orchestrator.api.errors import invalid_value, no_activity
from orchestrator.api.given import Given
from orchestrator.api.presence import Presence
from orchestrator.service import ActivityDoesNotExist
from orchestrator.service.activities import ACTIVITY
from orchestrator.store import ActivityRow

MOST_TOKEN: Final = 2_048
POLL_SECONDS: Final = 60.0
"""How long GetActivityTask waits for a task."""


class Tasks:
    """Hands out the tasks of activities, and takes the answers that tokens allow."""

    def __init__(self, desk: Desk) -> None:
        self._desk = desk

    def create_activity(self, given: Given) -> Answer:
        """Make an activity, unless it is there already."""
        name = arn.checked_name(given)
        if name is None:
            raise invalid_value(None, "name", "not be null")
        row = self._desk.service.activities.create_activity(name)
        return {
            "activityArn": self._desk.scope.activity_arn(name),
            "creationDate": shapes.seconds(row.created_at),
        }

    def describe_activity(self, given: Given) -> Answer:
        """Show an activity."""
        text, name = arn.activity_of(given)
        shown = shapes.activity(self._activity(text, name), self._desk.scope)
        shown["encryptionConfiguration"] = {"type": "AWS_OWNED_KEY"}
        return shown

    def list_activities(self, given: Given) -> Answer:
        """Show activities, by name."""
        size, after = given.page_size(), self._desk.pages.position("activities", given.page_token())
        rows = self._desk.service.activities.list_activities(after or "", size + 1)
        shown: Answer = {
            "activities": [shapes.activity(row, self._desk.scope) for row in rows[:size]]
        }
        return self._desk.pages.paged(shown, "activities", [row.name for row in rows], size)

    def delete_activity(self, given: Given) -> Answer:
        """Let an activity go; one that is not there is gone already."""
        _, name = arn.activity_of(given)
        self._desk.service.activities.delete_activity(name)
        return {}

    async def get_activity_task(self, given: Given, presence: Presence) -> Answer:
        """Claim a task of an activity; wait for one for a minute."""
        text, name = arn.activity_of(given)
        worker = arn.plain_text(given, "workerName")
        await presence.run(self._activity, text, name)
        until = asyncio.get_running_loop().time() + POLL_SECONDS
        with presence.waiting.place(f"{ACTIVITY}{name}") as place:
            looks = presence.waiting.is_first(place)
            while presence.is_here():
                place.looks()
                if looks:
                    task = await presence.run(
                        self._desk.service.activities.get_activity_task, name, worker
                    )
                    if task is not None and not presence.is_here():
                        await presence.run(self._desk.service.activities.give_back, task)
                    elif task is not None:
                        presence.waiting.wake(place.topic)
                        return {"taskToken": task.token, "input": task.input.text}
                if not await presence.woken(place, until):
                    break
                looks = True
        return {}

    # -- answers to tasks ------------------------------------------------------------------------

    def send_task_success(self, given: Given) -> Answer:
        """End the task of a token with its output."""
        token = given.text("taskToken", MOST_TOKEN)
        output = given.text("output", self._desk.limits.document_bytes, least=0)
        self._desk.service.callbacks.send_task_success(token, output)
        return {}

    def send_task_failure(self, given: Given) -> Answer:
        """End the task of a token with a failure."""
        token = given.text("taskToken", MOST_TOKEN)
        error = given.optional("error", self._desk.limits.error_characters, least=0)
        cause = given.optional("cause", self._desk.limits.cause_characters, least=0)
        self._desk.service.callbacks.send_task_failure(token, error, cause)
        return {}

    def send_task_heartbeat(self, given: Given) -> Answer:
        """Say that whoever works on the task of a token is alive."""
        self._desk.service.callbacks.send_task_heartbeat(given.text("taskToken", MOST_TOKEN))
        return {}

    def _activity(self, text: str, name: str) -> ActivityRow:
        try:
            return self._desk.service.activities.describe_activity(name)
        except ActivityDoesNotExist:
            raise no_activity(text) from None
