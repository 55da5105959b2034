"""What a saga does to the world, predicted: a second reading of what undoing means."""

from __future__ import annotations

from tests.sagas.nodes import Beside, End, Fork, Node, Park, Saga, Step, Told, Trace, Undo


class Model:
    """Runs sagas; it knows how often each step has failed, iterations told apart by `at`."""

    def __init__(self) -> None:
        self.failed: list[str] = []

    def predict(self, saga: Saga) -> tuple[Trace, End]:
        """Tell what happens, and how it ends."""
        trace, pending, end = self.sequence(saga, "")
        return (trace + pending[::-1] if end is End.FAILED else trace), end

    def sequence(self, saga: Saga, at: str) -> Told:
        """Tell of one state after the other, until one does not end well."""
        trace, pending, end = Trace(), Trace(), End.DONE
        for node in saga:
            if end is End.DONE:
                done, pending, end = self.state(node, at, pending)
                trace += done
        return trace, pending, end

    def state(self, node: Node, at: str, pending: Trace) -> Told:
        """Tell of a state and of what was pending before it."""
        if isinstance(node, Undo):
            return pending[::-1], [], End.DONE
        if isinstance(node, Park):
            return [], pending, End.PARKED
        done, left, end = self.attempt(node, at)
        if end is End.FAILED and node.retry:
            again, left_again, end = self.attempt(node, at)
            done, left = done + left + again, left_again
        if end is End.FAILED and node.catch == "undo":
            done, left = done + left, []
        if end is End.DONE and node.undo:
            left = [f"undo {node.name}{at}"]
        pending = [] if end is End.DONE and node.pivot else pending + left
        return done, pending, End.DONE if end is End.FAILED and node.catch else end

    def attempt(self, node: Step | Fork, at: str) -> Told:
        """Tell of one attempt; what is pending then is undone side by side, each newest first."""
        if isinstance(node, Fork):
            told = [self.sequence(saga, at + where) for saga, where in node.threads]
            done, left, ends = zip(*told, strict=True)
            return [Beside(done)], [Beside(tuple(one[::-1] for one in left))], max(ends)
        step = node.name + at
        if self.failed.count(step) < node.fails:
            self.failed.append(step)
            return [f"fail {step}"], [], End.FAILED
        return [f"do {step}"], [], End.DONE
