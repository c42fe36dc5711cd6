"""The texts that agents and servers decode: any profile, and thousands of streams of one workload at little cost."""

from __future__ import annotations

from functools import cache
from typing import TYPE_CHECKING, Any

if TYPE_CHECKING:
    from clover_sim.streams.base import Stream

DEFAULT_TEXT = "context:workload=tool-call"
"""Confidence fitted to published tokens per pass of models that write tool calls; see ``data/workloads``."""


def open_text(spec: str, tokens: int, seed: int) -> Stream:
    """A stream of ``tokens`` tokens of a profile written as ``name:key=value,...``, with its seed replaced.

    Raises :class:`~clover_sim.errors.UsageError` for an unknown profile, option or workload.
    """
    from clover_sim.streams.profiles import open_stream

    if spec.partition(":")[0] != "context":
        return open_stream(spec, tokens, seed)
    from functools import partial

    from clover_sim.streams.base import Stream
    from clover_sim.streams.synthetic import synthetic_tokens
    from clover_sim.streams.workloads import context_physics, kinds_of

    kind, confidence, settings = _context(spec)
    text = synthetic_tokens(kind, seed, tokens)
    physics = partial(context_physics, confidence, kinds_of(text.classes, text.tokens), seed)
    return Stream("context", text.classes, physics, texts=text.tokens, settings=(*settings, ("seed", seed)))


@cache
def _context(spec: str) -> tuple[str, Any, tuple[tuple[str, Any], ...]]:
    """Kind of text, confidence and settings of a ``context`` profile, whose file is read once."""
    from dataclasses import fields

    from clover_sim.options import build, split_spec
    from clover_sim.streams.workloads import ContextSettings, load_workload

    settings = build(ContextSettings, split_spec(spec)[1], "context")
    chosen = tuple((f.name, getattr(settings, f.name)) for f in fields(ContextSettings) if f.name != "seed")
    return load_workload(settings.workload).text, settings.confidence(), chosen
