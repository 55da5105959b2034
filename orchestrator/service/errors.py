"""What a caller asked for that cannot be done; doors translate these into codes."""

from __future__ import annotations

from collections.abc import Sequence

from orchestrator.asl.diagnostics import Finding, Severity


class ServiceError(Exception):
    """Something a caller asked for that cannot be done; the text says what and why."""


class InvalidDefinition(ServiceError):
    """A definition with errors; nothing was stored."""

    def __init__(self, findings: Sequence[Finding]) -> None:
        self.findings = tuple(findings)
        errors = [finding for finding in findings if finding.severity is Severity.ERROR]
        first = "; ".join(str(finding) for finding in errors[:3])
        super().__init__(f"Invalid State Machine Definition: '{first}'")


class InvalidExecutionInput(ServiceError):
    """An input that is no JSON document, or one that no database could hold."""

    def __init__(self, why: str, position: int | None = None) -> None:
        super().__init__(f"Invalid State Machine Execution Input: {why}")
        self.why = why
        self.position = position


class MachineDoesNotExist(ServiceError):
    """No machine of that name has been deployed."""

    def __init__(self, name: str) -> None:
        super().__init__(f"there is no machine {name!r}: deploy its definition first")


class MachineAlreadyExists(ServiceError):
    """The name is taken by a machine that is another one."""

    def __init__(self, name: str) -> None:
        super().__init__(f"a machine {name!r} exists already and is another one")
        self.name = name


class MachineIsDeleting(ServiceError):
    """The machine is about to go."""

    def __init__(self, name: str) -> None:
        super().__init__(f"the machine {name!r} is being deleted")
        self.name = name


class ActivityDoesNotExist(ServiceError):
    """No activity of that name."""

    def __init__(self, name: str) -> None:
        super().__init__(f"there is no activity {name!r}")


class ExecutionDoesNotExist(ServiceError):
    """No execution of that address."""

    def __init__(self, address: str) -> None:
        super().__init__(f"there is no execution {address!r} (its address is MACHINE:NAME)")


class ExecutionAlreadyExists(ServiceError):
    """The name is taken by an execution with another input."""

    def __init__(self, machine: str, name: str) -> None:
        super().__init__(
            f"an execution {machine}:{name} exists already and was started with another input"
        )


class ExecutionNotStopped(ServiceError):
    """An execution could not be ended; it is as it was."""

    def __init__(self, address: str, reason: str) -> None:
        super().__init__(f"{address} could not be stopped: {reason}")


class UnknownCall(ServiceError):
    """A call that the machine does not know."""

    def __init__(self, name: str, known: Sequence[str]) -> None:
        listed = ", ".join(known) or "none"
        super().__init__(f"the machine knows no call {name!r}; it knows {listed}")


class MalformedCall(ServiceError):
    """A call that cannot be read: no JSON, no id, no frame."""


class InvalidCallInput(ServiceError):
    """The input of a call is not as the machine wants it; `pointer` says where."""

    def __init__(self, name: str, why: str, pointer: str) -> None:
        super().__init__(f"the input of {name!r}: {why}" + (f" at {pointer}" if pointer else ""))
        self.why = why
        self.pointer = pointer


class CallIdTaken(ServiceError):
    """The id belongs to another call of the same execution."""

    def __init__(self, call_id: str) -> None:
        super().__init__(f"the id {call_id!r} was used for a call with another name or input")


class CallDoesNotExist(ServiceError):
    """The execution has no call of that id."""

    def __init__(self, call_id: str) -> None:
        super().__init__(f"there is no call {call_id!r}")


class EffectNotRun(ServiceError):
    """An effect cannot be run again."""

    def __init__(self, frame: str, reason: str) -> None:
        super().__init__(f"the effect {frame} was not run again: {reason}")


class InvalidOutput(ServiceError):
    """What was sent as a task's output is no JSON document."""


class TaskDoesNotExist(ServiceError):
    """A token of an execution that is not there."""


class TaskTimedOut(ServiceError):
    """A token of an attempt that is over: answered, late, or stopped."""


class Undecided(ServiceError):
    """Something else always came first; the same may be sent again."""


class CompensationNotBlocked(ServiceError):
    """A compensation cannot be retried or skipped: it has not failed for good."""


class ReasonMissing(ServiceError):
    """What operators do needs a reason."""

    def __init__(self) -> None:
        super().__init__("a reason is required: it is noted in the trail")


class NothingToRetry(ServiceError):
    """Nothing is kept of an execution: no event of it waits to be decided."""

    def __init__(self, address: str) -> None:
        super().__init__(f"nothing of {address} waits to be tried again")
