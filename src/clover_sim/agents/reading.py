"""Finding a workload: a preset by its name, a table, a transcript or a log."""

from __future__ import annotations

import os

from clover_sim.agents.workload import AgentWorkload, only_for_transcripts, workload_of
from clover_sim.errors import UsageError, suggest


def preset_names() -> list[str]:
    """Names of the workloads in the package, sorted."""
    return sorted(f[:-5] for f in os.listdir(_folder()) if f.endswith(".toml"))


def _folder() -> str:
    from clover_sim.specs.load import DATA

    return os.path.join(DATA, "agents")


def load_agent_workload(name: str, tokenizer: str | None = None, tool_s: float | None = None) -> AgentWorkload:
    """A preset by its name, a ``.toml`` table, or a JSON, JSONL, CSV or log file that is found out to be one of those
    that :mod:`clover_sim.agents.transcripts` knows.

    Args:
        name: preset or path; ``-`` is standard input. tokenizer: ``qwen`` (default) or ``o200k``, for transcripts and
            function calls. tool_s: seconds of each tool call of a transcript, which does not say; default 0.

    Raises :class:`UsageError` for an unknown name, a tokenizer where no text is split or a time of tools where the
    workload has its own or has no tools, and :class:`InputError` for a file that cannot be used.
    """
    from clover_sim.specs.load import read_table

    given = {"--tokenizer": tokenizer, "--tool-seconds": tool_s}
    if name in (known := preset_names()):
        only_for_transcripts(given, name)
        path = os.path.join(_folder(), f"{name}.toml")
        return workload_of(read_table(path), name, strict=True)
    if name.lower().endswith(".toml"):
        only_for_transcripts(given, name)
        return workload_of(read_table(name), name, strict=True)
    if name != "-" and not os.path.exists(name) and "." not in name and os.sep not in name:
        raise UsageError(f"workload {name!r} is not known{suggest(name, known)}")
    from clover_sim.agents.transcripts import read_transcript

    return read_transcript(name, tokenizer, tool_s)
