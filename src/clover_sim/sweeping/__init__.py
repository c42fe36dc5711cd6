"""Many comparisons at once: a grid of settings, its Pareto front, and what can be told apart in it.

``sweep`` runs the same streams under every combination of the varied settings, on this process, on several, or on any
``concurrent.futures.Executor``. Whatever runs it, the result is the same to the byte.
"""

from __future__ import annotations

from clover_sim.sweeping._result import Sweep
from clover_sim.sweeping._run import SweepInterrupted, sweep

__all__ = ["Sweep", "SweepInterrupted", "sweep"]
