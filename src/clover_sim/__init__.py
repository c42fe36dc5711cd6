"""clover-sim: count the forward passes of a decoding strategy, price them on a GPU, and show what the speed cost.

The public names, grouped; each is loaded when first used, so that importing the package is instant. What each of them
is, with an example: docs/reference/python.md.

>>> import clover_sim as cs
>>> result = cs.compare(["ar", "block-diffusion"], tokens=64)
>>> [row["target_passes"] for row in result.rows][0]
64
"""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

__version__ = "0.1.0"

_HOMES = {
    # ask
    "compare": "clover_sim.comparison", "sweep": "clover_sim.sweeping", "price": "clover_sim.cost.estimate",
    "speculate": "clover_sim.speculation", "agent": "clover_sim.agents.run", "serve": "clover_sim.serving.run",
    "trace_block": "clover_sim.trace", "check_claims": "clover_sim.claims",
    # what the questions take and give
    "Comparison": "clover_sim.comparison", "Sweep": "clover_sim.sweeping", "Traffic": "clover_sim.serving.run",
    "Failure": "clover_sim.agents.steps", "Prices": "clover_sim.agents.run", "Acceptance": "clover_sim.acceptance",
    "shape_of": "clover_sim.speculation",
    # run, one request or many
    "run": "clover_sim.engine", "Batch": "clover_sim.engine", "Run": "clover_sim.request",
    # write a decoder
    "Canvas": "clover_sim.canvas", "View": "clover_sim.view", "Forward": "clover_sim.records",
    "Drafter": "clover_sim.records", "CAUSAL": "clover_sim.records", "BLOCK": "clover_sim.records",
    "check_decoder": "clover_sim.conformance", "build_strategy": "clover_sim.registry",
    "strategy_names": "clover_sim.registry",
    # streams
    "Stream": "clover_sim.streams.base", "open_stream": "clover_sim.streams.profiles",
    "profile_names": "clover_sim.streams.profiles",
    # models, hardware, prices
    "Machine": "clover_sim.cost", "cost_model": "clover_sim.cost", "memory_check": "clover_sim.cost",
    "PassShape": "clover_sim.records", "price_groups": "clover_sim.cost", "load_model": "clover_sim.specs",
    "load_hardware": "clover_sim.specs", "load_engine": "clover_sim.specs", "list_models": "clover_sim.specs",
    "list_hardware": "clover_sim.specs", "list_engines": "clover_sim.specs",
    # record and replay traces
    "read_trace": "clover_sim.streams.traces", "compare_recordings": "clover_sim.trace_comparison",
    "record": "clover_sim.recorder", "write_records": "clover_sim.recorder", "fit_from_tpf": "clover_sim.fitting",
    "fit_from_trace": "clover_sim.fitting",
    # read the record
    "Ledger": "clover_sim.ledger", "Totals": "clover_sim.ledger", "Kind": "clover_sim.records",
    "TokenClass": "clover_sim.records",
    # errors
    "CloverError": "clover_sim.errors", "UsageError": "clover_sim.errors", "InputError": "clover_sim.errors",
    "DecoderFault": "clover_sim.errors", "IllegalMove": "clover_sim.errors", "PluginError": "clover_sim.errors",
}  # fmt: skip

__all__ = [*_HOMES, "__version__"]  # noqa: PLE0604

if TYPE_CHECKING:
    from clover_sim.acceptance import Acceptance as Acceptance
    from clover_sim.agents.run import Prices as Prices
    from clover_sim.agents.run import agent as agent
    from clover_sim.agents.steps import Failure as Failure
    from clover_sim.canvas import Canvas as Canvas
    from clover_sim.claims import check_claims as check_claims
    from clover_sim.comparison import Comparison as Comparison
    from clover_sim.comparison import compare as compare
    from clover_sim.conformance import check_decoder as check_decoder
    from clover_sim.cost import Machine as Machine
    from clover_sim.cost import cost_model as cost_model
    from clover_sim.cost import memory_check as memory_check
    from clover_sim.cost import price_groups as price_groups
    from clover_sim.cost.estimate import price as price
    from clover_sim.engine import Batch as Batch
    from clover_sim.engine import run as run
    from clover_sim.errors import CloverError as CloverError
    from clover_sim.errors import DecoderFault as DecoderFault
    from clover_sim.errors import IllegalMove as IllegalMove
    from clover_sim.errors import InputError as InputError
    from clover_sim.errors import PluginError as PluginError
    from clover_sim.errors import UsageError as UsageError
    from clover_sim.fitting import fit_from_tpf as fit_from_tpf
    from clover_sim.fitting import fit_from_trace as fit_from_trace
    from clover_sim.ledger import Ledger as Ledger
    from clover_sim.ledger import Totals as Totals
    from clover_sim.recorder import record as record
    from clover_sim.recorder import write_records as write_records
    from clover_sim.records import BLOCK as BLOCK
    from clover_sim.records import CAUSAL as CAUSAL
    from clover_sim.records import Drafter as Drafter
    from clover_sim.records import Forward as Forward
    from clover_sim.records import Kind as Kind
    from clover_sim.records import PassShape as PassShape
    from clover_sim.records import TokenClass as TokenClass
    from clover_sim.registry import build_strategy as build_strategy
    from clover_sim.registry import strategy_names as strategy_names
    from clover_sim.request import Run as Run
    from clover_sim.serving.run import Traffic as Traffic
    from clover_sim.serving.run import serve as serve
    from clover_sim.specs import list_engines as list_engines
    from clover_sim.specs import list_hardware as list_hardware
    from clover_sim.specs import list_models as list_models
    from clover_sim.specs import load_engine as load_engine
    from clover_sim.specs import load_hardware as load_hardware
    from clover_sim.specs import load_model as load_model
    from clover_sim.speculation import shape_of as shape_of
    from clover_sim.speculation import speculate as speculate
    from clover_sim.streams.base import Stream as Stream
    from clover_sim.streams.profiles import open_stream as open_stream
    from clover_sim.streams.profiles import profile_names as profile_names
    from clover_sim.streams.traces import read_trace as read_trace
    from clover_sim.sweeping import Sweep as Sweep
    from clover_sim.sweeping import sweep as sweep
    from clover_sim.trace import trace_block as trace_block
    from clover_sim.trace_comparison import compare_recordings as compare_recordings
    from clover_sim.view import View as View


def __getattr__(name: str) -> Any:
    if name in _HOMES:
        from importlib import import_module

        value = getattr(import_module(_HOMES[name]), name)
        globals()[name] = value
        return value
    raise AttributeError(f"module 'clover_sim' has no attribute {name!r}")


def __dir__() -> list[str]:
    return sorted(__all__)
