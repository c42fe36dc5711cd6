"""The texts that agents and servers decode: any profile, and thousands of streams of one workload at little cost."""

from __future__ import annotations

from collections.abc import Sequence
from functools import cache
from typing import TYPE_CHECKING, Any

if TYPE_CHECKING:
    from clover_sim.streams.base import Stream

DEFAULT_TEXT = "context:workload=tool-call"
"""Confidence fitted to published tokens per pass of models that write tool calls; see ``data/workloads``."""


def open_text(spec: str, tokens: int, seed: int, with_damage: bool = False) -> Stream:
    """A stream of ``tokens`` tokens of a profile written as ``name:key=value,...``, with its seed replaced.

    ``with_damage``: the profile ``context`` also knows how tokens settled together spoil an answer, by its workload's
    own figures or those of :data:`clover_sim.quality.FITTED_ON`.

    Raises :class:`~clover_sim.errors.UsageError` for an unknown profile, option or workload.
    """
    from clover_sim.streams.profiles import open_stream

    if not is_context(spec):
        return open_stream(spec, tokens, seed)
    from functools import partial

    from clover_sim.streams.base import Stream
    from clover_sim.streams.synthetic import synthetic_tokens
    from clover_sim.streams.workloads import context_physics, kinds_of

    kind, confidence, settings = _context(spec, with_damage)
    text = synthetic_tokens(kind, seed, tokens)
    physics = partial(context_physics, confidence, kinds_of(text.classes, text.tokens), seed)
    return Stream("context", text.classes, physics, texts=text.tokens, settings=(*settings, ("seed", seed)))


def is_context(spec: str) -> bool:
    """Whether a text has the physics that knows of clashes.

    >>> is_context(DEFAULT_TEXT), is_context("code")
    (True, False)
    """
    return spec.partition(":")[0] == "context"


def clashes_of(specs: Sequence[str]) -> dict[str, Any] | None:
    """By which figures clashes spoil these texts, ``None`` if one of them does not tell.

    >>> clashes_of([DEFAULT_TEXT])
    {'fitted_on': 'llada-8b-gsm8k', 'scale': 0.0448, 'growth': 3.396, 'assumed_for': 'tool-call'}
    """
    from clover_sim.options import build, split_spec
    from clover_sim.quality import FITTED_ON, damage_of
    from clover_sim.streams.workloads import ContextSettings

    if not all(map(is_context, specs)):
        return None
    names = list(dict.fromkeys(build(ContextSettings, split_spec(spec)[1], "context").workload for spec in specs))
    found = {name: damage_of(name) for name in names}
    assumed = [name for name in names if found[name].assumed]
    one = found[assumed[0] if assumed else names[0]]
    return {
        "fitted_on": FITTED_ON if assumed else names[0], "scale": one.damage.scale, "growth": one.damage.growth,
        "assumed_for": ", ".join(assumed),
    }  # fmt: skip


@cache
def _context(spec: str, with_damage: bool) -> tuple[str, Any, tuple[tuple[str, Any], ...]]:
    """Kind of text, confidence and settings of a ``context`` profile, whose file is read once."""
    from dataclasses import fields, replace

    from clover_sim.options import build, split_spec
    from clover_sim.quality import damage_of
    from clover_sim.streams.workloads import ContextSettings, load_workload

    settings = build(ContextSettings, split_spec(spec)[1], "context")
    chosen = tuple((f.name, getattr(settings, f.name)) for f in fields(ContextSettings) if f.name != "seed")
    confidence = settings.confidence()
    if with_damage:
        confidence = replace(confidence, damage=damage_of(settings.workload).damage)
    return load_workload(settings.workload).text, confidence, chosen
