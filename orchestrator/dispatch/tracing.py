"""Runs the Celery tasks of an application as handlers, through Celery's own tracer.

The tracer binds `self.request`, sends the signals and logs under the task's own name; it is told to
store and publish nothing. What a task would publish to be run again becomes a failure instead.
"""

from __future__ import annotations

import functools
import sys
import threading
from typing import Final, NoReturn

from celery import Celery, Task
from celery.app.trace import build_tracer
from celery.exceptions import Retry

from orchestrator import handlers
from orchestrator.execution.payload import Payload
from orchestrator.handlers import (
    ArgumentsMisfit,
    Convention,
    Failed,
    Outcome,
    TaskContext,
    TaskError,
    ends_the_worker,
    outcome_of_exception,
    outcome_of_result,
)

RETRY: Final = "Celery.Retry"
"""The error of a task that asks to be run again: the definition decides whether it is."""
REPLACED: Final = "Celery.Replace"
"""The error of a task that would put another one in its place."""


class _Running(threading.local):
    task: Task | None = None
    retries: list[BaseException | None]
    """Why it has asked to be run again, as often as it has."""

    def __init__(self) -> None:
        self.retries = []


_running = _Running()


class TracedTask:
    """A Celery task as a handler; built once per process and task."""

    def __init__(self, app: Celery, task: Task, queue: str, hostname: str) -> None:
        self._task = task
        self._convention = Convention.of(task.name, task.run)
        self._trace = build_tracer(
            task.name, task, app=app, hostname=hostname, eager=True, propagate=False
        )
        self._request = {
            "task": task.name,
            "hostname": hostname,
            "delivery_info": {"exchange": "", "routing_key": queue, "redelivered": False},
        }
        _keep_the_broker_empty(task)

    def run(self, arguments: Payload, context: TaskContext) -> Outcome:
        """Call the task with a request of its own, whose id is the key."""
        try:
            args, kwargs = self._convention.arguments(arguments.value, context)
        except ArgumentsMisfit as misfit:
            return outcome_of_exception(misfit)
        request = self._request | {
            "id": context.key,
            "root_id": context.key,
            "retries": context.attempt - 1,
        }
        before = _running.task, _running.retries
        _running.task, _running.retries = self._task, []
        try:
            with handlers.running(context):
                traced = self._trace(context.key, args, kwargs, request)
            if _running.retries:
                return Failed(RETRY, _reason(_running.retries[-1]))
        except BaseException as error:  # the call of foreign code: nothing else may be assumed
            if ends_the_worker(error):
                raise
            return outcome_of_exception(error)
        finally:
            _running.task, _running.retries = before
        if traced.info is None:
            return outcome_of_result(traced.retval)
        if isinstance(traced.info.retval, Retry):
            return Failed(RETRY, _reason(traced.info.retval.exc))
        return outcome_of_exception(traced.info.retval)


def _reason(why: BaseException | None) -> str:
    if why is None:
        return "the task asked to be run again"
    failed = outcome_of_exception(why)
    return failed.error if failed.cause is None else f"{failed.error}: {failed.cause}"


def _keep_the_broker_empty(task: Task) -> None:
    """Let `retry` and `replace` of a task fail it while the engine runs it.

    They stand on the instance for good and look at their thread, since threads share the instance;
    outside such a run they do what they always did.
    """
    if "retry" in vars(task):
        return
    retry_by_message, replace_by_message = task.retry, task.replace

    @functools.wraps(retry_by_message)
    def retry(
        args: object = None,
        kwargs: object = None,
        exc: Exception | None = None,
        throw: bool = True,
        **options: object,
    ) -> Retry:
        if _running.task is not task:
            published: Retry = retry_by_message(args, kwargs, exc, throw, **options)
            return published
        why = exc or sys.exc_info()[1]
        _running.retries.append(why)
        answer = Retry(f"up to the definition: {why!r}", exc=why)
        if throw:
            raise answer from why
        return answer

    @functools.wraps(replace_by_message)
    def replace(sig: object) -> NoReturn:
        if _running.task is not task:
            replace_by_message(sig)
        raise TaskError(REPLACED, "what follows a task is up to the definition")

    task.retry, task.replace = retry, replace
