"""What must have happened in some of the runs: runs that never come there prove nothing of it."""

from __future__ import annotations

from enum import StrEnum


class Sometimes(StrEnum):
    """What is counted."""

    # -- commits and crashes
    COMMIT_UNKNOWN_STOOD = "a commit was unknown and stood"
    COMMIT_UNKNOWN_LOST = "a commit was unknown and did not stand"
    DATABASE_AWAY = "the database was away"
    KILLED_BEFORE_COMMIT = "a process died before a commit"
    KILLED_AFTER_COMMIT = "a process died after a commit"
    KILLED_BEFORE_BELLS = "a process died between a commit and its bells"
    OTHERS_WENT_FIRST = "others went first while a process waited for its database"
    CLAIMED_IN_BETWEEN = "a claim in between made a decision stale"
    MOVED_ON = "a decision was stale and made again"
    GROUP_HELD_STALE = "a group held a stale decision"
    FROZEN = "a process was frozen"
    CLOCK_FORWARD = "the clock jumped forward"
    CLOCK_BACK = "the clock jumped back"
    # -- bells
    BELL_LOST = "a bell was lost"
    BELL_DOUBLED = "a bell was doubled"
    BELL_OVERTAKEN = "a bell was overtaken by a later one"
    BELL_REPEATED = "a sweep rang again"
    QUEUE_ASSIGNED = "a task waited for its first worker"
    # -- claims
    LAPSED = "a lease lapsed"
    BURIED = "a process was found dead by its lock, before its leases were over"
    LONELY = "a task that was lost twice ran alone"
    LOST_AT_RENEWAL = "a renewal told a worker that its claim was lost"
    LOST_AT_HEARTBEAT = "a heartbeat told a handler that its claim was lost"
    GIVEN_BACK = "a draining worker gave a task back"
    FENCED = "a completion was fenced"
    FROZEN_FENCED = "the late result of a frozen worker was refused"
    INLINE = "an inline continuation was claimed"
    FOUND_AGAIN = "an inline claim was found again after a commit of unknown outcome"
    DELIVERED_AGAIN = "a task was delivered again"
    DELIVERIES_SPENT = "deliveries were spent"
    ONCE_LOST = "an at-most-once task was lost"
    LOSS_CAUGHT = "a catch caught a lost worker"
    SUICIDE = "a handler killed its process"
    HUNG = "a handler hung"
    # -- moments
    TIMER_WON = "a timer won"
    TIMER_LOST = "a timer lost"
    SAME_MOMENT = "two schedulers found the same moment"
    EARLY_REFUSED = "an early moment was refused"
    DEADLINE = "a deadline ended an execution"
    CUT = "a decision was cut and continued"
    # -- what comes twice, or from nowhere
    REPEATED_REFUSED = "a doubled result was refused"
    FORGED_REFUSED = "a forged result was refused"
    STARTED_AGAIN = "a start was repeated and answered with what there was"
    OTHER_INPUT = "a name was taken by another input"
    STOP_HIT_TASK = "a stop hit a running task"
    STOP_LATE = "a stop came too late"
    # -- the language
    MAP_BY_INDEX = "a Map admitted by index"
    CROWDED = "a fork was large enough to be decided under its lock"
    TOLERATED = "a Map tolerated a failure"
    BRANCH_ABORTED = "a failed branch took its siblings along"
    RETRIED = "a Task was retried"
    CAUGHT = "an error was caught"
    NOT_JSON = "a handler returned what is no JSON"
    FOLLOWED_MODEL = "an execution ended as the model says"
    FAILED_AS_MODEL = "an execution failed as the model says"
