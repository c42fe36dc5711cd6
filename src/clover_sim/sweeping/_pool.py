"""Where the pieces of work run: here, on processes of this machine, or on any executor."""

from __future__ import annotations

import os
from collections.abc import Callable, Iterator, Sequence
from contextlib import suppress
from typing import TYPE_CHECKING, Any

from clover_sim.errors import UsageError
from clover_sim.sweeping._plan import Chunk
from clover_sim.sweeping._work import run_chunk

if TYPE_CHECKING:
    from concurrent.futures import Executor

MOST_JOBS = 1024
WORTH_A_PROCESS = 8
"""Pieces of work for each process, below which starting it is not worth while."""


def choose_jobs(jobs: int | None, pieces: int) -> int:
    """How many processes: those asked for, else as many as the machine has processors and the work pays for."""
    if jobs is None:
        processors = len(os.sched_getaffinity(0)) if hasattr(os, "sched_getaffinity") else os.cpu_count() or 1
        return max(1, min(processors, pieces // WORTH_A_PROCESS))
    if type(jobs) is not int or not 1 <= jobs <= MOST_JOBS:
        raise UsageError(f"jobs {jobs!r}: expected a whole number from 1 to {MOST_JOBS}")
    return jobs


def execute(
    work: Sequence[Chunk], jobs: int | None, executor: Executor | None, finished: Callable[[list[str]], None]
) -> None:
    """Run every piece and call ``finished`` with its lines, in whatever order they come.

    An ``executor`` of the caller's is left open; what it has not started is cancelled when anything fails.
    """
    if executor is not None:
        for lines in _submitted(executor, work):
            finished(lines)
        return
    count = choose_jobs(jobs, len(work))
    if count == 1 or len(work) == 1:
        for chunk in work:
            finished(run_chunk(chunk))
        return
    from concurrent.futures import ProcessPoolExecutor

    pool = ProcessPoolExecutor(min(count, len(work)), initializer=_end_with_parent)
    try:
        for lines in _submitted(pool, work):
            finished(lines)
    finally:
        pool.shutdown(wait=True, cancel_futures=True)


def _submitted(executor: Executor, work: Sequence[Chunk]) -> Iterator[list[str]]:
    from concurrent.futures import as_completed

    futures = [executor.submit(run_chunk, chunk) for chunk in work]
    try:
        for future in as_completed(futures):
            yield future.result()
    finally:
        for future in futures:
            if not future.done():
                with suppress(NotImplementedError):  # some executors cannot take work back
                    future.cancel()


def _end_with_parent() -> None:
    """In a worker: leave Ctrl-C to the parent, and end when it is gone (killed, it cannot say so)."""
    import multiprocessing
    import signal
    import threading

    signal.signal(signal.SIGINT, signal.SIG_IGN)
    parent: Any = multiprocessing.parent_process()

    def watch() -> None:
        parent.join()
        # SIGTERM may be ignored, or wait for a main thread that writes into a pipe nobody reads.
        os.kill(os.getpid(), getattr(signal, "SIGKILL", signal.SIGTERM))

    if parent is not None:
        threading.Thread(target=watch, daemon=True).start()
