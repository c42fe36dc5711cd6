"""How time and memory grow, and what serving and sweeping reach."""

from __future__ import annotations

import subprocess
import sys
import time
from collections.abc import Callable, Iterator
from concurrent.futures import ProcessPoolExecutor
from functools import partial
from pathlib import Path
from typing import Any

from measure import ENV, ROOT, Figure, best, exponent

sys.path[:0] = [str(ROOT / "src")]

from clover_sim.decoders.block_diffusion import BlockDiffusion  # noqa: E402
from clover_sim.engine import Batch, run  # noqa: E402
from clover_sim.serving.measure import Record  # noqa: E402
from clover_sim.serving.run import Traffic, serve  # noqa: E402
from clover_sim.streams.profiles import open_stream  # noqa: E402
from clover_sim.streams.reference import reference_stream  # noqa: E402
from clover_sim.sweeping import sweep  # noqa: E402
from clover_sim.validate import validate  # noqa: E402

LINEAR = 1.05


def figures(quick: bool) -> Iterator[Figure]:
    """The whole part."""
    yield from exponents(1 if quick else 4)
    yield from memory(200_000 if quick else 1_000_000)
    yield from serving(4_000 if quick else 40_000)
    yield from validating()
    yield from sweeping(400 if quick else 10_000)


def _line(what: str, sizes: list[int], seconds: list[float], bar: float | None = LINEAR) -> Figure:
    found = exponent(sizes, seconds)
    stated = "" if bar is None else f"at most {bar}"
    return Figure(f"growth of time with {what}, {sizes[0]:,} to {sizes[-1]:,}", f"{found:.2f}", stated,
                  None if bar is None else found <= bar)  # fmt: skip


def exponents(scale: int) -> Iterator[Figure]:
    """Exponents where linear growth (or none) is promised."""
    sizes = [scale * n for n in (50_000, 100_000, 200_000, 400_000)]
    yield _line("tokens", sizes, [best(lambda n=n: run(BlockDiffusion(), reference_stream(n)), 3) for n in sizes])
    stream = reference_stream(scale * 50_000)
    blocks = [8, 32, 128, 512]
    yield _line("block size", blocks, [best(lambda b=b: run(BlockDiffusion(b), stream), 3) for b in blocks])
    batches = [8, 16, 32, 64]

    def together(n: int) -> None:
        batch = Batch()
        for seed in range(n):
            batch.admit(BlockDiffusion(), open_stream("reference", scale * 500, seed))
        while batch.active:
            batch.step()

    yield _line("batch", batches, [best(lambda n=n: together(n), 3) for n in batches])
    requests = [scale * n for n in (2_000, 4_000, 8_000, 16_000)]
    found = [best(lambda n=n: serve(["ar"], Traffic(n, rate_per_s=1.0, users_ladder=())), 2) for n in requests]
    yield _line("requests served", requests, found)


_KEPT = """
import sys
from clover_sim.engine import run
from clover_sim.streams.reference import reference_stream
class Plain:
    def decode(self, canvas):
        while canvas.remaining:
            view = yield canvas.next()
            canvas.commit(view.agreed())
def status(key):
    with open("/proc/self/status") as lines:
        return next(int(line.split()[1]) for line in lines if line.startswith(key))
stream = reference_stream(int(sys.argv[1]))
before = status("VmRSS")
done = run(Plain(), stream)
print(status("VmHWM") - before, done.totals.target_passes)
"""


def memory(n: int) -> Iterator[Figure]:
    """How far a run of one token a pass lifts the peak of a process of its own, for each million passes (Linux).

    What an allocator takes depends on what it was asked for before, so that it is the median of some processes.
    """
    if not Path("/proc/self/status").exists():
        return
    found = []
    for _ in range(5):
        out = subprocess.run([sys.executable, "-c", _KEPT, str(n)], env=ENV, capture_output=True, text=True, check=True)
        kilobytes, passes = (int(x) for x in out.stdout.split())
        found.append(kilobytes / 1024 / passes * 1e6)
    megabytes = sorted(found)[2]
    yield Figure("peak memory for each million passes, median of five processes", f"{megabytes:.0f} MB",
                 "at most 32 MB", megabytes <= 32)  # fmt: skip


def serving(n: int) -> Iterator[Figure]:
    """Requests a second of the server, pools included, and events: moments between which all steps are of one shape."""
    work = partial(serve, ["ar", "block-diffusion"], Traffic(n, rate_per_s=1.0, users_ladder=()))
    took = best(work, 1)
    yield Figure(f"serve, {n:,} requests, two strategies", f"{2 * n / took:,.0f} requests/s", "100,000 in a minute",
                 2 * n / took >= 100_000 / 60)  # fmt: skip
    yield Figure("  the same in events (runs of equal steps, prompts)", f"{events(work) / took:,.0f} events/s")


def events(work: Callable[[], Any]) -> int:
    """How often the server's clock moves during ``work``."""
    moved, found = Record.busy, 0

    def counted(self: Record, *args: Any, **options: Any) -> None:
        nonlocal found
        found += 1
        moved(self, *args, **options)

    Record.busy = counted  # type: ignore[method-assign]
    try:
        work()
    finally:
        Record.busy = moved  # type: ignore[method-assign]
    return found


def validating() -> Iterator[Figure]:
    """Rows predicted a second: the kernel tables, machines shared between rows."""
    rows = len(validate("kernels").results)
    took = best(lambda: validate("kernels"), 2)
    yield Figure(f"validate, {rows} rows", f"{rows / took:,.0f} rows/s", "at least 1,000", rows / took >= 1000)


def sweeping(cells: int) -> Iterator[Figure]:
    """What a cell costs beside its own work, and two processes against one."""
    yield overhead()
    thresholds = [0.5 + 0.49 * i / cells for i in range(cells)]

    def whole(workers: int, tokens: int) -> float:
        with ProcessPoolExecutor(workers) as pool:
            list(pool.map(abs, range(workers)))  # started, so that their start is not counted
            return best(lambda: sweep(vary={"threshold": thresholds}, tokens=tokens, seeds=[42], executor=pool), 1)

    one, two = whole(1, 2_000), whole(2, 2_000)
    yield Figure(f"sweep, {cells:,} cells: one process / two", f"{one / two:.2f}x", "at least 1.8x", one / two >= 1.8)


def overhead() -> Figure:
    """Time of a sweep's cell beside the comparison it makes."""
    from clover_sim.sweeping import _work

    inner, spent = _work.compare, [0.0]

    def timed(*args: Any, **options: Any) -> Any:
        start = time.perf_counter()
        try:
            return inner(*args, **options)
        finally:
            spent[0] += time.perf_counter() - start

    found = []
    _work.compare = timed
    try:
        for _ in range(3):
            spent[0], start = 0.0, time.perf_counter()
            cells = sweep(vary={"threshold": "0.5:0.99:0.01", "block_size": [8, 16, 32, 64]}, tokens=64, jobs=1).rows
            found.append((time.perf_counter() - start - spent[0]) / len(cells))
    finally:
        _work.compare = inner
    return Figure("sweep, a cell beside its comparison", f"{min(found) * 1e6:.0f} us", "at most 200 us",
                  min(found) <= 200e-6)  # fmt: skip
