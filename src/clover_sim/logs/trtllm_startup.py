"""The engine that a ``trtllm-bench`` report names: its model and the cards that share it, as text or as JSON."""

from __future__ import annotations

import re
from typing import Any

from clover_sim.logs._configuration import count
from clover_sim.logs._reader import Line, Outcome, Startup

MARKS = ("Model:\t", "Model:  ", "TP Size:")

_MODEL = re.compile(r"Model:\s{2,}(\S{2,300})$|Model:\t+(\S{2,300})$")
_CARDS = re.compile(r"TP Size:\s+(\d{1,4})$")


class Reader(Startup):
    """Keeps what the report names."""

    ENGINE = "trtllm"

    def line(self, line: Line) -> Outcome:
        """A row of the head of a report; it is the report's line, so it is not claimed."""
        if found := _MODEL.match(line.message):
            self.found.state(line.where, model=found[1] or found[2])
        elif found := _CARDS.match(line.message):
            self.found.state(line.where, tensor_parallel_size=count(found[1]))
        return None

    def document(self, document: dict[str, Any], lines: int) -> Outcome:
        """The report as JSON."""
        engine, world = document.get("engine"), document.get("world_info")
        if isinstance(engine, dict) and isinstance(world, dict):
            quantization = engine.get("quantization")
            self.found.state(self.where, model=engine.get("model"), tensor_parallel_size=count(world.get("tp_size")),
                             precision=quantization if isinstance(quantization, str) else None)  # fmt: skip
        return None
