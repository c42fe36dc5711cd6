"""How an SGLang server was started: ``server_args=ServerArgs(...)``, or the command itself."""

from __future__ import annotations

import re
from typing import Any

from clover_sim.logs._configuration import command, count, flags
from clover_sim.logs._literal import keywords_at
from clover_sim.logs._reader import Line, Outcome, Startup

MARKS = ("ServerArgs(", "sglang.launch_server", "sglang serve ")

_ARGUMENTS = re.compile(r"\bServerArgs\(")
_COMMAND = re.compile(r"(?:sglang\.launch_server|sglang serve)\s+(.{3,})$")
_FLAGS = {
    "model_path": ("--model-path", "--model"), "tp_size": ("--tp-size", "--tp", "--tensor-parallel-size"),
    "quantization": ("--quantization",),
    "speculative_algorithm": ("--speculative-algorithm", "--speculative-algo"),
    "speculative_draft_model_path": ("--speculative-draft-model-path", "--speculative-draft"),
    "speculative_num_steps": ("--speculative-num-steps",),
    "speculative_eagle_topk": ("--speculative-eagle-topk",),
    "speculative_num_draft_tokens": ("--speculative-num-draft-tokens",),
}  # fmt: skip


class Reader(Startup):
    """Reads the arguments of every start."""

    ENGINE = "sglang"

    def line(self, line: Line) -> Outcome:
        """A line of start-up."""
        given: dict[str, Any]
        if found := _ARGUMENTS.search(line.text):
            given = keywords_at(line.text, found.end())
        elif found := _COMMAND.search(line.text):
            words = command(found[1])
            given = {**flags(words, _FLAGS), "disable_cuda_graph": "--disable-cuda-graph" in words}
        else:
            return None
        target, drafter = given.get("model_path"), given.get("speculative_draft_model_path")
        counts = {name: count(given.get(name)) for name in _FLAGS if name.startswith("speculative_")}
        said = self.found.state(
            line.where, model=target, tensor_parallel_size=count(given.get("tp_size")),
            precision=given.get("quantization"), method=given.get("speculative_algorithm"),
            drafter=None if drafter == target else drafter,
            speculative_num_draft_tokens=counts["speculative_num_draft_tokens"],
            speculative_num_steps=counts["speculative_num_steps"],
            speculative_eagle_topk=counts["speculative_eagle_topk"],
            eager=given.get("disable_cuda_graph") is True,
        )  # fmt: skip
        return True if said else None
