"""Workloads: how sure a model is on a kind of text, as data files, and the streams that are opened from them.

A file of ``data/workloads`` is one name: the two figures fitted to it, what they were fitted to, and published figures
that the fit did not use.
"""

from __future__ import annotations

import os
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field, fields, replace
from functools import partial
from typing import TYPE_CHECKING, Any

from clover_sim.errors import InputError, UsageError, suggest
from clover_sim.physics.base import Physics
from clover_sim.physics.confidence import UNIVERSAL, Confidence
from clover_sim.physics.context import DIGIT, ContextPhysics
from clover_sim.physics.damage import Damage
from clover_sim.records import TokenClass
from clover_sim.streams.base import Stream

if TYPE_CHECKING:
    from clover_sim.streams.files import TokenText

DEFAULT_WORKLOAD = "tool-call"
_SECTIONS = ("name", "summary", "text", "source", "confidence", "quality", "published")


@dataclass(frozen=True, slots=True)
class Workload:
    """A model on a kind of text.

    Args:
        name, summary: as listed.
        text: the synthetic text it is shown on, one of :data:`~clover_sim.streams.synthetic.SYNTHETIC`.
        source: where its figures come from.
        confidence: the model of its confidence.
        accuracy: task accuracy in percent of token-by-token decoding, if known.
        published: rows of published figures: ``threshold`` or ``tokens_per_pass_fixed``, ``block_size``,
            ``tokens_per_pass``, ``accuracy``, and ``fitted`` (true where the fit used the row).
    """

    name: str
    summary: str
    text: str
    source: str
    confidence: Confidence
    accuracy: float | None = None
    published: tuple[Mapping[str, Any], ...] = field(default=(), repr=False)


@dataclass(frozen=True, slots=True)
class ContextSettings:
    """Options of the ``context`` profile.

    Args:
        workload: name of a data file, or the path of one that ``calibrate`` wrote.
        seed: seed of the text and of every draw.
        mu, sd, spread: replace the workload's figures; see :class:`~clover_sim.physics.context.Confidence`.
        contagion: log-odds that a wrong token takes from those after it, >= 0.
    """

    workload: str = DEFAULT_WORKLOAD
    seed: int = 0
    mu: float | None = None
    sd: float | None = None
    spread: float | None = None
    contagion: float = 0.0

    def __post_init__(self) -> None:
        for name, value in (("sd", self.sd), ("spread", self.spread), ("contagion", self.contagion)):
            if value is not None and not 0 <= value < 1000:
                raise ValueError(f"{name}={value}: expected a number of at least 0")
        if self.mu is not None and not -1000 < self.mu < 1000:
            raise ValueError(f"mu={self.mu}: expected log-odds, such as 6")

    def confidence(self) -> Confidence:
        """The workload's confidence with these options in place of its own."""
        given = {k: v for k in ("mu", "sd", "spread") if (v := getattr(self, k)) is not None}
        return replace(load_workload(self.workload).confidence, contagion=self.contagion, **given)


def open_context(name: str, tokens: int, settings: ContextSettings) -> Stream:
    """A stream of ``tokens`` tokens of a workload's kind of text (the signature of a profile)."""
    from clover_sim.streams.synthetic import synthetic_tokens

    kind = load_workload(settings.workload).text
    return context_stream(synthetic_tokens(kind, settings.seed, tokens), settings, name)


def context_stream(text: TokenText, settings: ContextSettings, name: str | None = None) -> Stream:
    """A stream over tokens that already have their text and class."""
    kinds = kinds_of(text.classes, text.tokens)
    return Stream(
        name or text.name, text.classes, partial(context_physics, settings.confidence(), kinds, settings.seed),
        texts=text.tokens, settings=tuple((f.name, getattr(settings, f.name)) for f in fields(settings)),
    )  # fmt: skip


def context_physics(confidence: Confidence, kinds: bytes, seed: int, limit: int) -> Physics:
    """Physics over ``kinds``, with padding up to ``limit``."""
    return ContextPhysics(confidence, kinds[:limit] + bytes([TokenClass.PADDING]) * (limit - len(kinds)), seed)


def kinds_of(classes: bytes, texts: Sequence[str]) -> bytes:
    """The token classes with digits told apart, where the text is known.

    >>> list(kinds_of(bytes([0, 2, 2]), ["{", "42", "xy"]))
    [0, 4, 2]
    """
    if not texts:
        return classes
    return bytes(DIGIT if t.strip().isdigit() else c for c, t in zip(classes, texts, strict=True))


def workload_names() -> list[str]:
    """Names of the workloads in the package, sorted; reads no file."""
    return sorted(f[:-5] for f in os.listdir(_folder()) if f.endswith(".toml"))


def load_workload(name: str) -> Workload:
    """The workload of that name, or of a ``.toml`` file.

    Raises :class:`UsageError` for an unknown name and :class:`InputError` for a file that cannot be used.
    """
    from clover_sim.specs.load import read_table

    if name.endswith(".toml"):
        return workload_from_table(read_table(name), name)
    known = workload_names()
    if name not in known:
        raise UsageError(f"workload {name!r} is not known{suggest(name, known)}")
    path = os.path.join(_folder(), f"{name}.toml")
    return workload_from_table(read_table(path), path)


def _folder() -> str:
    from clover_sim.specs.load import DATA

    return os.path.join(DATA, "workloads")


def workload_from_table(table: Mapping[str, Any], where: str) -> Workload:
    """Check a table and turn it into a workload; ``where`` names it in messages."""
    for key in table:
        if key not in _SECTIONS:
            raise InputError(f"{where}: unknown key {key!r}{suggest(key, _SECTIONS)}")
    found, quality = _section(table, "confidence", where), _section(table, "quality", where)
    damage = None
    if quality:
        damage = Damage(*(_number(quality, key, f"{where}: quality", 0.0) for key in ("scale", "growth")))
    at = f"{where}: confidence"
    confidence = Confidence(
        _number(found, "mu", at, -1000.0), _number(found, "sd", at, 0.0), _number(found, "spread", at, 0.0, 0.0),
        by_kind=bool(found.get("by_kind", True)), damage=damage, universal=UNIVERSAL,
    )  # fmt: skip
    published = table.get("published", [])
    if not isinstance(published, list) or not all(isinstance(row, dict) for row in published):
        raise InputError(f"{where}: published: expected tables [[published]]")
    text = str(table.get("text", DEFAULT_WORKLOAD))
    from clover_sim.streams.synthetic import SYNTHETIC

    if text not in SYNTHETIC:
        raise InputError(f"{where}: text = {text!r}: is no kind of text{suggest(text, SYNTHETIC)}")
    accuracy = _number(quality, "accuracy", f"{where}: quality", 0.0) if "accuracy" in quality else None
    return Workload(
        str(table.get("name", os.path.basename(where).removesuffix(".toml"))), str(table.get("summary", "")), text,
        str(table.get("source", "")), confidence, accuracy, tuple(published),
    )  # fmt: skip


def _section(table: Mapping[str, Any], key: str, where: str) -> Mapping[str, Any]:
    value = table.get(key, {})
    if not isinstance(value, dict):
        raise InputError(f"{where}: {key} is {value!r:.40}: expected a table [{key}]")
    return value


def _number(table: Mapping[str, Any], key: str, where: str, least: float, default: float | None = None) -> float:
    value = table.get(key, default)
    if type(value) not in (int, float) or not least <= value < 1000:
        raise InputError(f"{where}.{key} is {value!r:.40}: expected a number of at least {least:g} and below 1000")
    return float(value)
