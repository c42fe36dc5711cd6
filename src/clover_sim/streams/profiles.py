"""Profiles by name, and the streams they open. What only one profile needs is imported when it is named."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import fields, replace
from functools import partial
from typing import TYPE_CHECKING, Any, NamedTuple

from clover_sim.errors import UsageError, suggest
from clover_sim.options import build, split_spec
from clover_sim.physics.base import Physics
from clover_sim.records import TokenClass
from clover_sim.streams.base import Stream
from clover_sim.streams.grammars import GRAMMARS

if TYPE_CHECKING:
    from clover_sim.physics.classed import ClassedSettings
    from clover_sim.physics.reference import ReferenceSettings
    from clover_sim.streams.files import TokenText


class Profile(NamedTuple):
    """A named kind of stream: its options, and how a stream of n tokens is opened from them."""

    summary: str
    settings: Callable[[], type]
    open: Callable[[str, int, Any], Stream]
    read: Callable[[TokenText, Any], Stream] | None = None
    """A stream over the tokens of a file, where the profile can be put on any text."""


def _reference_settings() -> type:
    from clover_sim.physics.reference import ReferenceSettings

    return ReferenceSettings


def _classed_settings() -> type:
    from clover_sim.physics.classed import ClassedSettings

    return ClassedSettings


def _open_reference(name: str, tokens: int, settings: ReferenceSettings) -> Stream:
    from clover_sim.streams.reference import reference_stream

    return reference_stream(tokens, settings)


def _open_synthetic(name: str, tokens: int, settings: ClassedSettings) -> Stream:
    from clover_sim.streams.synthetic import synthetic_tokens

    return text_stream(synthetic_tokens(name, settings.seed, tokens), settings, name)


def _context_settings() -> type:
    from clover_sim.streams.workloads import ContextSettings

    return ContextSettings


def _open_context(name: str, tokens: int, settings: Any) -> Stream:
    from clover_sim.streams.workloads import open_context

    return open_context(name, tokens, settings)


def _read_context(text: TokenText, settings: Any) -> Stream:
    from clover_sim.streams.workloads import context_stream

    return context_stream(text, settings)


def text_stream(text: TokenText, settings: ClassedSettings, name: str | None = None) -> Stream:
    """A stream over tokens that already have their text and class."""
    return Stream(
        name or text.name,
        text.classes,
        partial(_classed_physics, settings, text.classes),
        texts=text.tokens,
        settings=tuple((f.name, getattr(settings, f.name)) for f in fields(settings)),
    )


PROFILES = {
    "reference": Profile("the published 24-word stream, followed to the letter", _reference_settings, _open_reference),
    **{name: Profile(text.summary, _classed_settings, _open_synthetic, text_stream) for name, text in GRAMMARS.items()},
    "context": Profile(
        "a fitted model's confidence, which waits for its context; see list workloads",
        _context_settings,
        _open_context,
        _read_context,
    ),
}


def _classed_physics(settings: ClassedSettings, classes: bytes, limit: int) -> Physics:
    from clover_sim.physics.classed import ClassedPhysics

    padding = bytes([TokenClass.PADDING]) * (limit - len(classes))
    return ClassedPhysics(settings, classes + padding)


def profile_settings(spec: str) -> tuple[str, Any]:
    """``(name, settings)`` from ``name:key=value,...``; raises :class:`UsageError` with the nearest known name."""
    name, options = split_spec(spec)
    if name not in PROFILES:
        raise UsageError(f"profile {name!r} is not known{suggest(name, PROFILES)}")
    return name, build(PROFILES[name].settings(), options, name)


def with_seed(settings: Any, seed: int) -> Any:
    """The same settings with every seed set to ``seed``."""
    return replace(settings, **{f.name: seed for f in fields(settings) if f.name.endswith("seed")})


def open_stream(spec: str, tokens: int, seed: int | None = None) -> Stream:
    """Open a profile's stream of ``tokens`` tokens; ``seed`` replaces every seed of the profile.

    >>> len(open_stream("reference", 64))
    64
    """
    name, settings = profile_settings(spec)
    return PROFILES[name].open(name, tokens, settings if seed is None else with_seed(settings, seed))


def profile_names() -> Sequence[tuple[str, str]]:
    """Every profile with its summary and options.

    >>> {"reference", "tool-call", "context"} <= {name for name, _ in profile_names()}
    True
    """
    rows = []
    for name, profile in PROFILES.items():
        options = ", ".join(f"{f.name}={f.default}" for f in fields(profile.settings()))
        rows.append((name, f"{profile.summary} ({options})"))
    return rows
