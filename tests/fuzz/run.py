"""Fuzzing by hand: ``python tests/fuzz/run.py --minutes 5 --seed 1 --jobs 2 --out DIR``.

Random and damaged command lines, files, notations and Python calls, drawn from fixed seeds: try N of a target and seed
is the same each time, while the data files and tests it is made of stay as they are. What must hold is in oracle.py.
Each new fault is made small and written as a program of its own that shows it.
"""

from __future__ import annotations

import argparse
import hashlib
import importlib
import os
import pkgutil
import re
import sys
import tempfile
import time
from collections import Counter
from pathlib import Path

TESTS = Path(__file__).resolve().parents[1]
sys.path[:0] = [str(TESTS), str(TESTS.parent / "src")]

from fuzz.oracle import Case  # noqa: E402
from fuzz.pool import Found, chunks  # noqa: E402
from fuzz.targets import case, prepare, targets  # noqa: E402

PROGRAM = '''\
"""{kind}: {mark}

{target}, seed {seed}, try {number}
"""
import os, sys, tempfile

FILES = {files!r}
STDIN = {stdin!r}
os.chdir(tempfile.mkdtemp())
for name, content in FILES.items():
    open(name, "wb").write(content)
'''


def program(found: Found, made: Case, seed: int) -> str:
    """Python that does what a case does; ``PYTHONPATH=src python FILE``."""
    head = PROGRAM.format(
        kind=found.fault.kind, mark=found.fault.mark.replace("\\", "/").encode("ascii", "replace").decode(),
        target=found.target, seed=seed, number=found.number, files=made.files, stdin=made.stdin,
    )  # fmt: skip
    if made.source:
        return f"{head}import clover_sim as cs\nnan, inf = float('nan'), float('inf')\n\n{made.source}\n"
    return (
        f"{head}import io\nsys.stdin = io.TextIOWrapper(io.BytesIO(STDIN))\nfrom clover_sim.cli import main\n\n"
        f"print(main({list(made.argv)!r}), file=sys.stderr)\n"
    )


def smallest(found: Found, seed: int) -> Case:
    """The case of a fault, made small in a process of its own: a try may end its process."""
    import json

    from fuzz.shrinking import shrink

    made = case(found.target, seed, found.number)
    if found.fault.kind in ("died", "hang", "slow"):
        return made
    read, write = os.pipe()
    pid = os.fork()
    if pid == 0:
        os.close(read)
        try:
            best = shrink(made, lambda smaller: _same(smaller, found.fault.name))
            files = {name: content.hex() for name, content in best.files.items()}
            text = json.dumps([best.argv, files, best.stdin.hex(), best.encoding, best.source])
            with open(write, "w", encoding="utf-8") as stream:
                stream.write(text)
        finally:
            os._exit(0)
    os.close(write)
    with open(read, encoding="utf-8") as stream:
        text = stream.read()
    os.waitpid(pid, 0)
    if not text:
        return made
    argv, files, stdin, encoding, source = json.loads(text)
    contents = {name: bytes.fromhex(content) for name, content in files.items()}
    return Case(found.target, tuple(argv), contents, bytes.fromhex(stdin), encoding, source)


def _same(made: Case, name: str) -> bool:
    from fuzz.oracle import judge

    with tempfile.TemporaryDirectory() as folder:
        fault = judge(made, folder)
    return fault is not None and fault.name == name


def preload() -> None:
    """Every module before the workers are made: they start at once, and what is edited meanwhile changes nothing."""
    import clover_sim

    for info in pkgutil.walk_packages(clover_sim.__path__, "clover_sim."):
        if not info.name.endswith("__main__"):
            importlib.import_module(info.name)
    prepare()


def main() -> int:
    """Run for a while; 1 if anything was found."""
    parser = argparse.ArgumentParser(description=__doc__.partition("\n")[0])
    parser.add_argument("--minutes", type=float, default=1.0)
    parser.add_argument("--seed", type=int, default=0)
    parser.add_argument("--only", metavar="NAME", action="append", help="a target, or the beginning of some")
    parser.add_argument("--jobs", type=int, default=2)
    parser.add_argument("--out", metavar="DIR", help="where faults are written (default: a new temporary folder)")
    parser.add_argument("--chunk-s", type=float, default=4.0, help="seconds of a target's turn")
    parser.add_argument("--tries", metavar="NAME:N", action="append", default=[], help="only show this try")
    args = parser.parse_args()
    preload()
    names = [name for name in targets() if not args.only or name.startswith(tuple(args.only))]
    for one in args.tries:
        name, _, number = one.rpartition(":")
        print(case(name, args.seed, int(number)))
    if args.tries:
        return 0
    out = Path(args.out or tempfile.mkdtemp(prefix="clover-fuzz-faults-"))
    out.mkdir(parents=True, exist_ok=True)
    began, until = time.monotonic(), time.monotonic() + 60 * args.minutes
    tries: Counter[str] = Counter()

    met: Counter[str] = Counter()
    for name, faults, done in chunks(names, args.seed, args.jobs, until, args.chunk_s):
        tries[name] += done
        for found in faults:
            met[found.fault.name] += 1
            if met[found.fault.name] > 1:
                continue
            label = hashlib.sha256(found.fault.name.encode("utf-8", "replace")).hexdigest()[:8]
            small = smallest(found, args.seed)
            stem = re.sub(r"\W+", "-", f"{found.fault.kind}-{found.target}-{label}")
            for ending, text in (("py", program(found, small, args.seed)), ("txt", found.fault.story)):
                (out / f"{stem}.{ending}").write_bytes(text.encode("utf-8", "backslashreplace"))
            print(f"fault: {found.fault.name!a} in {found.target} {found.number}: {out / stem}.py", flush=True)
    took = time.monotonic() - began
    print(f"\n{'target':20} {'tries':>8}")
    for name in names:
        print(f"{name:20} {tries[name]:8}")
    for name, count in met.most_common():
        print(f"{count:6} x {name!a}")
    total = sum(tries.values())
    rate = f"{total / took:.0f} tries a second"
    print(f"{total} tries, {sum(met.values())} faults of {len(met)} kinds, {rate}; seed {args.seed}")
    print(f"faults: {out}")
    return 1 if met else 0


if __name__ == "__main__":
    sys.exit(main())
