"""How a vLLM server was started: the arguments it prints, its engine's configuration, or the command itself.

``non-default args: {...}`` and ``args: Namespace(...)`` (vllm/entrypoints), ``Initializing ... engine (v...) with
config: ...`` (vllm/v1/engine/core.py and its predecessors), and ``Namespace(...)`` of its benchmark client.
"""

from __future__ import annotations

from typing import Any

from clover_sim.logs import _vllm_arguments
from clover_sim.logs._reader import Line, Outcome, Startup

MARKS = _vllm_arguments.MARKS


class Reader(Startup):
    """Reads whichever of the lines there are."""

    ENGINE = "vllm"
    LACKS = "vLLM prints one every 10 s while it generates, unless --disable-log-stats"

    def line(self, line: Line) -> Outcome:
        """A line of start-up."""
        found = _vllm_arguments.arguments_of(line.text)
        return True if found is not None and self.found.state(line.where, **found._asdict()) else None

    def document(self, document: dict[str, Any], lines: int) -> Outcome:
        """The result of the benchmark client, which names the model; it is the result's line, so it is not claimed."""
        if document.get("backend") == "vllm" and "output_throughput" in document:
            self.found.state(self.where, model=document.get("model_id"))
        return None
