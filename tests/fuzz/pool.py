"""Workers: processes with little memory that run tries one after the other, and are watched."""

from __future__ import annotations

import contextlib
import json
import mmap
import os
import resource
import select
import shutil
import signal
import struct
import tempfile
import time
import traceback
from collections.abc import Iterator
from dataclasses import dataclass

from fuzz.oracle import MEMORY_BYTES, SECONDS, Fault, judge
from fuzz.targets import case

HANGS_AFTER_S = 12 * SECONDS
"""Wall-clock seconds without an end of a try after which its worker is ended: it waits for something."""
_STATE = struct.Struct("=qd")


@dataclass(frozen=True, slots=True)
class Found:
    """A fault, and the try that met it."""

    target: str
    number: int
    fault: Fault


class Worker:
    """One process on the tries ``first`` to ``first + count - 1`` of a target, or fewer if time runs out."""

    def __init__(self, target: str, seed: int, first: int, count: int, seconds: float) -> None:
        self.target, self.seed, self.first, self.count = target, seed, first, count
        self._shared = mmap.mmap(-1, _STATE.size)
        self._shared[:] = _STATE.pack(first, time.monotonic())
        self._read, write = os.pipe()
        self._heard = b""
        self._base = tempfile.mkdtemp(prefix="clover-fuzz-")
        self.pid = os.fork()
        if self.pid == 0:
            os.close(self._read)
            try:
                self._run(write, time.monotonic() + seconds)
            except BaseException:
                os.write(write, json.dumps({"broken": traceback.format_exc()}).encode() + b"\n")
            finally:
                os._exit(0)
        os.close(write)

    def _run(self, write: int, until: float) -> None:
        os.setsid()
        resource.setrlimit(resource.RLIMIT_AS, (MEMORY_BYTES, MEMORY_BYTES))
        resource.setrlimit(resource.RLIMIT_CORE, (0, 0))
        null = os.open(os.devnull, os.O_RDWR)
        for descriptor in (0, 1, 2):
            os.dup2(null, descriptor)
        for name in ("COLUMNS", "NO_COLOR", "FORCE_COLOR"):
            os.environ.pop(name, None)
        done = 0
        for number in range(self.first, self.first + self.count):
            self._shared[:] = _STATE.pack(number, time.monotonic())
            fault = try_in(self._base, self.target, self.seed, number)
            done += 1
            if fault is not None:
                told = {"number": number, "kind": fault.kind, "mark": fault.mark, "story": fault.story[:20_000]}
                os.write(write, json.dumps(told).encode() + b"\n")
            if time.monotonic() > until:
                break
        os.write(write, json.dumps({"done": done}).encode() + b"\n")

    def poll(self) -> tuple[list[Found], int] | None:
        """What was found and how many tries were made, once the process has ended."""
        while select.select([self._read], [], [], 0)[0]:
            data = os.read(self._read, 1 << 16)
            if not data:
                return self._end()
            self._heard += data
        number, since = _STATE.unpack(self._shared[:])
        if time.monotonic() - since > HANGS_AFTER_S:
            self.kill()
            return self._end(Found(self.target, number, Fault("hang", self.target, f"over {HANGS_AFTER_S:g} s")))
        return None

    def kill(self) -> None:
        """End the process and whatever it started."""
        with contextlib.suppress(ProcessLookupError):
            os.killpg(self.pid, signal.SIGKILL)

    def _end(self, hung: Found | None = None) -> tuple[list[Found], int]:
        os.close(self._read)
        status = os.waitpid(self.pid, 0)[1]
        shutil.rmtree(self._base, ignore_errors=True)
        number, _ = _STATE.unpack(self._shared[:])
        self._shared.close()
        found = [] if hung is None else [hung]
        done = None
        for line in self._heard.splitlines():
            told = json.loads(line)
            if "broken" in told:
                found.append(Found(self.target, number, Fault("harness", self.target, told["broken"])))
                done = number - self.first + 1
            elif "done" in told:
                done = told["done"]
            else:
                found.append(Found(self.target, told["number"], Fault(told["kind"], told["mark"], told["story"])))
        if done is None and hung is None:
            how = f"status {os.waitstatus_to_exitcode(status)}"
            found.append(Found(self.target, number, Fault("died", f"{self.target} {how}", how)))
        return found, number - self.first + 1 if done is None else done


def try_in(base: str, target: str, seed: int, number: int) -> Fault | None:
    """One try in a fresh folder below ``base``."""
    folder = os.path.join(base, "try")
    os.mkdir(folder)
    try:
        return judge(case(target, seed, number), folder)
    finally:
        shutil.rmtree(folder)


CHUNK = 400
"""Most tries of a worker; what is left of them when it ends early is skipped, and every try keeps its number."""


def chunks(
    names: list[str], seed: int, jobs: int, until: float, chunk_s: float, least: int = 0
) -> Iterator[tuple[str, list[Found], int]]:
    """Tries of all targets in turn until the time is over: (target, faults, tries) as workers end.

    Args:
        chunk_s: wall-clock seconds of a turn. least: turns that are taken even if the time is over.
    """
    turns = 0
    running: list[Worker] = []
    try:
        while running or time.monotonic() < until or turns < least:
            if len(running) < jobs and (time.monotonic() < until or turns < least):
                first = turns // len(names) * CHUNK
                running.append(Worker(names[turns % len(names)], seed, first, CHUNK, chunk_s))
                turns += 1
                continue
            for worker in list(running):
                ended = worker.poll()
                if ended is not None:
                    running.remove(worker)
                    yield worker.target, *ended
            time.sleep(0.01)
    finally:
        for worker in running:
            worker.kill()
            worker._end()
