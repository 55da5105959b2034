"""Errors as AWS words them, and what each error of the facade becomes."""

from __future__ import annotations

from typing import Final

BAD_REQUEST: Final = 400
NOT_FOUND: Final = 404
TOO_LARGE: Final = 413
UNAVAILABLE: Final = 503


class CannotListen(Exception):
    """The address is taken, or is none of this machine's."""


class CallerGone(Exception):
    """Whoever asked does not wait for the answer any more."""


class ApiError(Exception):
    """An answer that is an error: its name, its text, and the status of HTTP."""

    def __init__(
        self, name: str, message: str, status: int = BAD_REQUEST, reason: str | None = None
    ) -> None:
        super().__init__(f"{name}: {message}")
        self.name = name
        self.message = message
        self.status = status
        self.reason = reason


def invalid_value(value: str | None, field: str, constraint: str) -> ApiError:
    """The error of a value that the model of the request does not allow."""
    shown = "null" if value is None else f"'{value}'"
    return ApiError(
        "ValidationException",
        f"1 validation error detected: Value {shown} at '{field}' failed to satisfy constraint: "
        f"Member must {constraint}",
    )


def no_machine(arn: str) -> ApiError:
    """No machine has that ARN."""
    return ApiError("StateMachineDoesNotExist", f"State Machine Does Not Exist: '{arn}'")


def no_execution(arn: str) -> ApiError:
    """No execution has that ARN."""
    return ApiError("ExecutionDoesNotExist", f"Execution Does Not Exist: '{arn}'")


def no_activity(arn: str) -> ApiError:
    """No activity has that ARN."""
    return ApiError("ActivityDoesNotExist", f"Activity Does Not Exist: '{arn}'")


def bad_arn(why: str) -> ApiError:
    """A text that is no ARN of the kind wanted."""
    return ApiError("InvalidArn", f"Invalid Arn: '{why}'")


def bad_token() -> ApiError:
    """A paging token that nobody was given, or too long ago."""
    return ApiError("InvalidToken", "Invalid Token: 'Invalid token'")
