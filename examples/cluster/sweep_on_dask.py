"""A sweep on Dask workers; the address of a scheduler may be given, else two local processes are started.

    python sweep_on_dask.py [tcp://scheduler:8786]
"""

import sys

from clover_sim.sweeping import sweep

GRID = {"threshold": "0.8:0.99:0.01", "block_size": [8, 16, 32]}


def main() -> None:
    try:
        from dask.distributed import Client
    except ImportError:
        print("dask.distributed is not installed (pip install distributed); nothing was run on Dask")
        return
    options = {"address": sys.argv[1]} if len(sys.argv) > 1 else {"n_workers": 2, "threads_per_worker": 1}
    with Client(**options, dashboard_address=None) as client:
        there = sweep(vary=GRID, tokens=512, profile="tool-call", seeds=range(4), executor=client.get_executor())
    here = sweep(vary=GRID, tokens=512, profile="tool-call", seeds=range(4), jobs=1)
    print(f"{len(there.rows)} rows from Dask, the same as here: {there.to_dict() == here.to_dict()}")
    print(there.notes[-1])


if __name__ == "__main__":
    main()
