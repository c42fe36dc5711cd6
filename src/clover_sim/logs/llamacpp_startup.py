"""How a llama.cpp program was started: the models it loads, its device, its drafting, or the command itself.

The target is loaded before the drafter, so of lines that both have only the first is the target's.
"""

from __future__ import annotations

import re

from clover_sim.logs._configuration import command, count, flags
from clover_sim.logs._reader import Line, Outcome, Startup

MARKS = ("loading model '", "loading draft model '", "loaded meta data with ", " BPW)",
         "adding speculative implementation '", " n_max=", "llama-server ", "llama-speculative", "llama-cli ",
         "  Device 0: ", "GPU name: ", "ggml_vulkan: 0 = ", ": using device ")  # fmt: skip

_TARGET = re.compile(r"loading model '([^']{1,300})'")
_DRAFTER = re.compile(r"loading draft model '([^']{1,300})'")
_LOADED = re.compile(r"loaded meta data with .{1,80} from (\S{1,300}?\.gguf)\b")
_BITS = re.compile(r"(?:file size|model size)\s*=\s*[\d.]+ [GM]iB \((\d{1,2}\.\d{1,2}) BPW\)")
_METHOD = re.compile(r"adding speculative implementation '([\w-]{1,40})'")
_MOST = re.compile(r"\bn_max=(\d{1,4})\b")
_DEVICE = re.compile(
    r"(?:^|\s)Device 0: ([^,]{3,80}),|GPU name:\s+(.{3,80})$|ggml_vulkan: 0 = ([^(|]{3,80}) [(|]|"
    r": using device \w+ \(([^()]{3,80}(?:\([^()]{1,40}\)[^()]{0,40})?)\)"
)
_COMMAND = re.compile(r"(?:^|[\s/])llama-(?:server|cli|speculative(?:-simple)?)(?:\.exe)?\s+(-.{3,})$")
_FLAGS = {
    "model": ("-m", "--model", "-hf", "--hf-repo"),
    "drafter": ("-md", "--model-draft", "--spec-draft-model", "-hfd", "--hf-repo-draft"),
    "k": ("--draft-max", "--draft", "--draft-n", "--spec-draft-n-max"), "method": ("--spec-type",),
}  # fmt: skip


class Reader(Startup):
    """Keeps the first model as the target and the next as its drafter."""

    ENGINE = "llama.cpp"

    def __init__(self) -> None:
        super().__init__()
        self._target = self._bits = ""

    def line(self, line: Line) -> Outcome:
        """A line of start-up."""
        text, state = line.text, self.found.state
        if found := _COMMAND.search(text):
            given = flags(command(found[1]), _FLAGS)
            self._target = self._target or given.get("model", "")
            said = state(line.where, model=given.get("model"), drafter=given.get("drafter"),
                         method=given.get("method"), num_speculative_tokens=count(given.get("k")))  # fmt: skip
            return True if said else None
        if found := _DRAFTER.search(text):
            return True if state(line.where, drafter=found[1]) else None
        if found := _TARGET.search(text):
            self._target = found[1]
            return state(line.where, model=found[1])
        if found := _LOADED.search(text):
            if self._target and _file(found[1]) != _file(self._target):
                return None  # the drafter's, or a file beside the target's
            self._target = found[1]
            return state(line.where, model=found[1])
        if found := _BITS.search(text):
            if self._bits:
                return None
            self._bits = found[1]
            return state(line.where, precision=found[1])
        if found := _METHOD.search(text):
            return state(line.where, method=found[1])
        if (found := _MOST.search(text)) and "n_min=" in text:
            return True if state(line.where, num_speculative_tokens=count(found[1])) else None
        if found := _DEVICE.search(text):
            return state(line.where, gpu=next(filter(None, found.groups())).strip())
        return None


def _file(path: str) -> str:
    return path.replace("\\", "/").rsplit("/", 1)[-1]
