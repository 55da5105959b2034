"""The tree of an execution while it is moved: its frames, and the tallies of its forks.

Knows what of it is in hand, and asks for what is not. Knows no machine and no history.
"""

from __future__ import annotations

from collections.abc import Collection, Iterable, Iterator

from orchestrator.execution.book import is_open
from orchestrator.execution.decision import Missing, View
from orchestrator.execution.frame import Fork, Frame, is_effect
from orchestrator.execution.needs import NeedsMore
from orchestrator.execution.payload import Payload
from orchestrator.execution.thread import Tally, Thread


class Tree:
    """The frames and forks of one execution, from what was seen of them to where they rest."""

    def __init__(self, view: View) -> None:
        self._view = view
        self.size = view.execution.frames
        """How many frames there are."""
        self.kept: list[Thread] = []
        """Cancelled frames that stay."""
        self.closed: list[Tally] = []
        """Forks that are over and were stored."""
        self._threads: dict[str, Thread] = {}
        self._tallies: dict[str, Tally] = {}

    # -- frames ----------------------------------------------------------------------------------

    @property
    def threads(self) -> Collection[Thread]:
        """The frames in hand."""
        return self._threads.values()

    def thread(self, frame_id: str) -> Thread:
        """Return a frame that is in hand."""
        thread = self._threads.get(frame_id)
        if thread is None:
            thread = self._threads[frame_id] = Thread.of(self._view.frames[frame_id])
        return thread

    def create(self, thread: Thread) -> None:
        """Take up a new frame."""
        thread.changed = True
        self._threads[thread.id] = thread

    def keep(self, thread: Thread) -> None:
        """Keep a cancelled frame, wherever it stands in the tree."""
        if thread.id:
            thread.gone = True
            self.kept.append(thread)

    def require_frames(self, frame_ids: Iterable[str]) -> None:
        """Ask for frames that may or may not be there, unless they are in hand."""
        wanted = [one for one in frame_ids if not self.knows(one)]
        missing = tuple(one for one in wanted if one not in self._view.looked_for)
        if missing:
            raise NeedsMore(Missing(frames=missing))

    def knows(self, frame_id: str) -> bool:
        """Tell whether a frame is at hand."""
        return frame_id in self._threads or frame_id in self._view.frames

    def standing(self, frame_id: str) -> Thread | Frame:
        """Return a frame as it stands now, only to look at it."""
        return self._threads.get(frame_id) or self._view.frames[frame_id]

    # -- forks -----------------------------------------------------------------------------------

    @property
    def tallies(self) -> Collection[Tally]:
        """The forks in hand that are not over."""
        return self._tallies.values()

    def open_fork(self, fork: Fork, children: Iterable[Thread]) -> Tally:
        """Take up a new fork; children that have to wait for others are stored, pending.

        Without a limit of concurrency nobody waits but for the next batch, which can be made
        again when it begins: then a child is a frame only from its beginning.
        """
        tally = Tally(fork, fresh=True)
        self._tallies[fork.frame] = tally
        if not fork.max_concurrency:
            tally.coming = iter(children)
            return tally
        tally.threads = list(children)
        self.size += fork.total
        for child in tally.threads:
            self.create(child)
        return tally

    def open_undoing(self, fork: Fork, children: Iterable[Thread]) -> Tally:
        """Take up a new fork of frames that undo, which count among no frames."""
        tally = Tally(fork, fresh=True)
        self._tallies[fork.frame] = tally
        tally.threads = list(children)
        for child in tally.threads:
            self.create(child)
        return tally

    def tally(self, frame_id: str) -> Tally:
        """Return the tally of the fork that a frame rests on."""
        tally = self._tallies.get(frame_id)
        if tally is None:
            tally = self._tallies[frame_id] = Tally(self._view.forks[frame_id], fresh=False)
        return tally

    def require_children(self, tally: Tally, count: int, at_least: int | None = None) -> None:
        """Ask for the next children to begin unless they, or at least so many, are in hand."""
        prefix = tally.fork.prefix
        ids = [f"{prefix}{tally.admitted + n}" for n in range(count)]
        known = self._view.frames
        if all(one in known for one in ids[:at_least]):
            return
        missing = [one for one in ids if one not in known]
        if missing:
            raise NeedsMore(Missing(frames=tuple(missing)))

    def next_child(self, tally: Tally) -> Thread:
        """Return the next child of a fork to begin."""
        if tally.coming is not None:
            child = next(tally.coming)
            self.size += 1
            self.create(child)
            tally.threads.append(child)
            return child
        if tally.fresh:
            return tally.threads[tally.admitted]
        # Whoever begins one after the other in this decision goes on doing so: ask for ever more.
        left = tally.fork.total - tally.admitted
        self.require_children(tally, min(max(1, 2 * len(tally.threads)), left), at_least=1)
        child = self.thread(f"{tally.fork.prefix}{tally.admitted}")
        tally.threads.append(child)
        return child

    def outputs(self, tally: Tally) -> list[Payload]:
        """Return what the children of a fork have ended with, by index."""
        if tally.fresh:
            return [thread.input for thread in tally.threads]
        self._require_below(tally)
        prefix = tally.fork.prefix
        return [self.standing(f"{prefix}{n}").input for n in range(tally.fork.total)]

    def open_frames(self) -> list[Frame]:
        """Return all frames that rest somewhere; asks for those that are not in hand."""
        root = self._view.frames.get("")
        fork = self._view.forks.get("")
        loaded = fork is not None and fork.prefix in self._view.below
        if root is not None and root.fork is not None and not loaded:
            raise NeedsMore(Missing(all_frames=True))
        return [frame for frame in self._view.frames.values() if is_open(frame)]

    def below(self, tally: Tally) -> dict[str, Thread | Frame]:
        """Return all frames under a fork as they stand now, effects aside.

        Asks for those that are not in hand.
        """
        found: dict[str, Thread | Frame] = {}
        if not tally.fresh:
            self._require_below(tally)
            prefix = tally.fork.prefix
            over = tuple(closed.fork.prefix for closed in self.closed)
            found = {
                one: self.standing(one)
                for one in self._view.frames
                if one.startswith(prefix) and not one.startswith(over) and not is_effect(one)
            }
        for thread in self._in_hand(tally):
            found[thread.id] = thread
        return {
            one: place
            for one, place in found.items()
            if not (isinstance(place, Thread) and place.gone)
        }

    def _require_below(self, tally: Tally) -> None:
        if tally.fork.prefix not in self._view.below:
            raise NeedsMore(Missing(below=(tally.fork.prefix,)))

    def _in_hand(self, tally: Tally) -> Iterator[Thread]:
        """Yield the frames under a fork that this decision has taken up: begun, or woken."""
        for thread in self._children_in_hand(tally):
            yield thread
            inner = None if thread.fork is None else self._tallies.get(thread.id)
            if inner is not None:
                yield from self._in_hand(inner)

    def _children_in_hand(self, tally: Tally) -> Collection[Thread]:
        if tally.fresh:
            return tally.threads
        prefix = tally.fork.prefix
        woken = [
            thread
            for thread in self._threads.values()
            if thread.id.startswith(prefix) and "/" not in thread.id[len(prefix) :]
        ]
        return {thread.id: thread for thread in (*tally.threads, *woken)}.values()

    def close_fork(self, tally: Tally, frames: int) -> None:
        """Let a fork and everything under it go; `frames` tells how many frames that are."""
        # Whoever stands inside goes, whether or not what lies between is in hand.
        beneath = tally.fork.prefix
        inside = [one for one in self._threads.values() if one.id.startswith(beneath)]
        for thread in (*self._in_hand(tally), *inside):
            thread.gone = True
        for frame_id, inner in self._tallies.items():
            if frame_id.startswith(beneath):
                inner.closed = True
        tally.closed = True
        del self._tallies[tally.fork.frame]
        self.size = max(self.size - frames, 1)
        if not tally.fresh:
            self.closed.append(tally)
