"""A run in a copy of this process: as much alone as a process of its own, without the start of one."""

from __future__ import annotations

import os
import selectors
import signal
import sys
from collections.abc import Callable
from typing import NamedTuple

import pytest

from clover_sim.cli import main

MOST_SECONDS = 60

needs_fork = pytest.mark.skipif(not hasattr(os, "fork"), reason="limits of POSIX")


class Ended(NamedTuple):
    """How a run ended and what it said."""

    returncode: int
    stdout: str
    stderr: str


def alone(*words: object, before: Callable[[], object] | None = None) -> Ended:
    """Run ``clover-sim WORDS`` in a copy of this process, which calls ``before`` first (limits that stay with it)."""
    pipes = os.pipe(), os.pipe()
    pid = os.fork()
    if pid == 0:
        code = 70
        try:
            signal.alarm(MOST_SECONDS)
            os.dup2(os.open(os.devnull, os.O_RDONLY), 0)
            for descriptor, (_, write) in enumerate(pipes, 1):
                os.dup2(write, descriptor)
            os.closerange(3, 256)
            sys.stdin, sys.stdout, sys.stderr = (open(fd, mode, encoding="utf-8") for fd, mode in enumerate("rww"))  # noqa: SIM115
            for name in ("NO_COLOR", "FORCE_COLOR", "COLUMNS"):
                os.environ.pop(name, None)
            if before is not None:
                before()
            code = main([*map(str, words)])
            sys.stdout.flush()
        finally:
            os._exit(code)
    said: dict[int, bytes] = {}
    with selectors.DefaultSelector() as selector:
        for read, write in pipes:
            os.close(write)
            selector.register(read, selectors.EVENT_READ)
            said[read] = b""
        while selector.get_map():
            for key, _ in selector.select():
                if data := os.read(key.fd, 1 << 16):
                    said[key.fd] += data
                else:
                    selector.unregister(key.fd)
                    os.close(key.fd)
    status = os.waitstatus_to_exitcode(os.waitpid(pid, 0)[1])
    return Ended(status, *(text.decode() for text in said.values()))


def memory_now() -> int:
    """Bytes of address space that this process has, which a copy of it has too."""
    try:
        with open("/proc/self/statm") as numbers:
            return int(numbers.read().split()[0]) * os.sysconf("SC_PAGE_SIZE")
    except OSError:
        return 0
