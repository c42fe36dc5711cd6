"""One picture of a result, as a file that stands alone: no script, no font, no address but the namespace.

A sweep becomes lines (one long axis) or its Pareto front; a comparison becomes lines over its lengths, or bars.
"""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

from clover_sim.report import PLAIN, Look

if TYPE_CHECKING:
    from clover_sim.report._contract import Result

EXTENSIONS = (".svg",)


def render(result: Result, look: Look = PLAIN) -> str:
    """The picture that says most about a result."""
    from clover_sim.report import _pictures

    if hasattr(result, "axes"):
        return _pictures.of_sweep(result)
    return _pictures.of_comparison(result)


def render_trace(trace: Any, look: Look = PLAIN) -> str:
    """A block unlocking."""
    from clover_sim.report._plot_trace import timeline

    return timeline(trace)
