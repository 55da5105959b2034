"""Tracks: which line runs level above which."""

from __future__ import annotations

from orchestrator.drawing.layout.tracks import Net, clashes, find_tracks, untangle


def test_a_line_that_ends_where_another_begins_runs_below_it() -> None:
    """Else both would run upright on each other between their tracks."""
    ends, begins = Net([1], [0.0], [50.0]), Net([2], [50.0], [100.0])
    order = untangle([ends, begins])
    assert order == [begins, ends]
    assert list(clashes(order)) == []
    assert list(clashes([ends, begins])) == [(2, 1)]


def test_lines_that_do_not_meet_share_a_track() -> None:
    near, far = Net([1], [0.0], [50.0]), Net([2], [200.0], [250.0])
    assert set(find_tracks(untangle([near, far])).values()) == {0}
