"""Lines in the shapes that engines write, with figures of our own."""

from __future__ import annotations

import gzip
from pathlib import Path

from clover_sim.logs import Reading, Section, read_logs


def read(tmp_path: Path, *texts: str) -> Reading:
    """All ``texts`` as files."""
    paths = []
    for index, text in enumerate(texts):
        path = tmp_path / f"log{index}.txt"
        path.write_bytes(text.encode())
        paths.append(str(path))
    return read_logs(paths)


def one(tmp_path: Path, *texts: str) -> Section:
    """The only section of ``texts``."""
    (section,) = read(tmp_path, *texts).sections
    return section


def zipped(path: Path, text: str) -> str:
    path.write_bytes(gzip.compress(text.encode()))
    return str(path)


def v1(drafts: int, accepted: list[int], *, seconds: float = 10.0, pid: int = 42, layout: str = "modern") -> str:
    """A window of V1: ``accepted[i]`` drafts were accepted up to position ``i`` at least."""
    k, total = len(accepted), sum(accepted)
    drafted = drafts * k
    rate = f"{100 * total / drafted:.1f}%" if drafted else "nan%"
    length = f"{1 + total / drafts:.2f}" if drafts else "nan"
    positions = ", ".join(f"{a / drafts:.3f}" if drafts else "nan" for a in accepted)
    counts = f"Accepted: {total} tokens, Drafted: {drafted} tokens"
    speeds = (
        f"Accepted throughput: {total / seconds:.2f} tokens/s, Drafted throughput: {drafted / seconds:.2f} tokens/s"
    )
    start = f"(APIServer pid={pid}) INFO 03-04 05:06:07 [metrics.py:101] "
    where = f"Per-position acceptance rate: {positions}"
    return {
        "modern": f"{start}SpecDecoding metrics: Mean acceptance length: {length}, {speeds}, {counts}, {where}, "
        f"Avg Draft acceptance rate: {rate}\n",
        "depth": f"{start}SpecDecoding metrics: Mean acceptance length: {length}, Current speculative depth: {k}, "
        f"{speeds}, {counts}, {where}, Avg Draft acceptance rate: {rate}\n",
        "september": f"{start}SpecDecoding metrics: Draft acceptance rate: {rate}, Mean acceptance length: {length}, "
        f"{speeds}, {counts}, {where}\n",
        "0.9": f"{start}SpecDecoding metrics: Draft acceptance rate: {rate}, Mean acceptance length: {length}, "
        f"{counts}, {where}\n",
        "0.8": f"{start}SpecDecoding metrics: Draft acceptance rate: {rate}, {counts}\n",
        "first": f"INFO 03-20 01:02:03 [metrics.py:30] Speculative metrics: Draft acceptance rate: 0.500, Number of "
        f"accepted tokens: {total}, Number of draft tokens: {drafted}, \n",
    }[layout]


def engine(speed: float, running: int, waiting: int = 0, pid: int = 42) -> str:
    return (
        f"(APIServer pid={pid}) INFO 03-04 05:06:07 [loggers.py:271] Engine 000: Avg prompt throughput: 12.0 tokens/s, "
        f"Avg generation throughput: {speed} tokens/s, Running: {running} reqs, Waiting: {waiting} reqs, GPU KV cache "
        "usage: 3.5%, Prefix cache hit rate: 0.0%, External prefix cache hit rate: 1.0%\n"
    )


def v0(k: int, accepted: int, drafted: int, emitted: int) -> str:
    efficiency = emitted / (drafted / k * (k + 1))
    return (
        f"INFO 02-03 04:05:06 metrics.py:477] Speculative metrics: Draft acceptance rate: {accepted / drafted:.3f}, "
        f"System efficiency: {efficiency:.3f}, Number of speculative tokens: {k}, Number of accepted tokens: "
        f"{accepted}, Number of draft tokens: {drafted}, Number of emitted tokens: {emitted}.\n"
    )


def decode(
    second: int,
    tokens: int,
    speed: float,
    length: float | None,
    rate: float = 0.0,
    *,
    running: int = 1,
    tag: str = " TP0",
) -> str:
    accept = "" if length is None else f"accept len: {length:.2f}, accept rate: {rate:.2f}, "
    return (
        f"[2026-02-03 04:05:{second:02d}{tag}] Decode batch. #running-req: {running}, #token: {tokens}, token usage: "
        f"0.01, {accept}cuda graph: True, gen throughput (token/s): {speed:.2f}, #queue-req: 0, \n"
    )


BENCH = """\
============ Serving Benchmark Result ============
Successful requests:                     10
Failed requests:                         0
Benchmark duration (s):                  20.00
Total input tokens:                      5000
Total generated tokens:                  {output}
Request throughput (req/s):              0.50
Output token throughput (tok/s):         {speed}
---------------Time to First Token----------------
Mean TTFT (ms):                          120.00    ·
-----Time per Output Token (excl. 1st token)------
Mean TPOT (ms):                          8.00
---------------Inter-token Latency----------------
Mean ITL (ms):                           20.00
"""

BENCH_SPEC = """\
---------------Speculative Decoding---------------
Acceptance rate (%):                     50.00
Acceptance length:                       2.50
Drafts:                                  400
Draft tokens:                            1200
Accepted tokens:                         600
Per-position acceptance (%):
  Position 0:                            75.00
  Position 1:                            50.00
  Position 2:                            25.00
==================================================
"""
