import os
import signal
import time
from pathlib import Path

from celery import Task, shared_task


def note(key: str, notes: str) -> None:
    with Path(notes).open("a") as file:
        file.write(f"{key} {os.getpid()}\n")


@shared_task(bind=True)
def work(self: Task, seconds: float, notes: str) -> str:
    key: str = self.request.id
    note(key, notes)
    time.sleep(seconds)
    return key


@shared_task(bind=True, at_most_once=True)
def launch(self: Task, seconds: float, notes: str) -> str:
    key: str = self.request.id
    note(key, notes)
    time.sleep(seconds)
    return key


@shared_task(bind=True)
def murder(self: Task, notes: str) -> None:
    note(self.request.id, notes)
    os.kill(os.getpid(), signal.SIGKILL)
