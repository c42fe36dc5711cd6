"""The texts that agents and servers decode: any profile, and ``context`` with its workloads."""

from __future__ import annotations

from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from clover_sim.streams.base import Stream

DEFAULT_TEXT = "context:workload=tool-call"
"""Confidence fitted to published tokens per pass of models that write tool calls; see ``data/workloads``."""


def open_text(spec: str, tokens: int, seed: int) -> Stream:
    """A stream of ``tokens`` tokens of a profile written as ``name:key=value,...``, with its seed replaced.

    Raises :class:`~clover_sim.errors.UsageError` for an unknown profile, option or workload.
    """
    from clover_sim.options import build, split_spec
    from clover_sim.streams.profiles import PROFILES, open_stream

    name, options = split_spec(spec)
    if name == "context" and name not in PROFILES:
        from dataclasses import replace

        from clover_sim.streams.workloads import ContextSettings, open_context

        return open_context(name, tokens, replace(build(ContextSettings, options, name), seed=seed))
    return open_stream(spec, tokens, seed)
