"""Why a call is refused: in the words of a reaction, of what has ended, or of what went wrong."""

from __future__ import annotations

from orchestrator.asl.document import show
from orchestrator.asl.errors import StateFailure
from orchestrator.asl.expressions import Expression
from orchestrator.asl.jsonata import Query
from orchestrator.asl.states import Fail, Succeed
from orchestrator.asl.states.reaction import Reaction, reactions_in
from orchestrator.execution import queries, surroundings
from orchestrator.execution.asking import Asked, holds
from orchestrator.execution.call import ENDED, Call
from orchestrator.execution.payload import Payload
from orchestrator.execution.thread import Thread
from orchestrator.execution.transition import Transition


def last_words(
    transition: Transition, final_state: str | None, call: Call, otherwise: str = ENDED
) -> str:
    """Return why an execution refuses a call that has ended, or will."""
    state = None if final_state is None else transition.machine.state(final_state)
    if not isinstance(state, Succeed | Fail):
        return otherwise
    reactions = reactions_in(state.on, call.name)
    if reactions is None:
        return otherwise
    thread = Thread("", Payload.of(None))
    thread.state = state.name
    before, transition.book.call = transition.book.call, call
    try:
        chosen = next(one for one in reactions if holds(transition, thread, one))
        return _words(transition, thread, chosen)
    except StateFailure as failed:
        return cause(transition, failed)
    finally:
        transition.book.call = before


def reason_of(transition: Transition, asked: Asked) -> str:
    """Return why a frame refuses that was asked."""
    try:
        return _words(transition, transition.tree.thread(asked.holder), asked.reaction)
    except StateFailure as failed:
        return cause(transition, failed)


def _words(transition: Transition, thread: Thread, reaction: Reaction) -> str:
    """Return the reason of a refusal; raises StateFailure."""
    field, said = f"{reaction.field}/Refuse", ""
    match reaction.reason:
        case str(text):
            said = text
        case Query() as query:
            said = queries.text(transition, thread, query, field)
        case Expression() as expression:
            value = expression.value(
                field,
                thread.input.value,
                surroundings.context(transition, thread),
                transition.draw(field),
                surroundings.variables(transition, thread),
            )
            said = value if isinstance(value, str) else show(value)
        case None:
            pass
    return said[: transition.limits.cause_characters]


def cause(transition: Transition, failed: StateFailure) -> str:
    """Return why a call is refused whose evaluation has failed."""
    failure = failed.failure
    return (failure.cause or failure.error or "")[: transition.limits.cause_characters]
