"""Which module of which layer a quantisation block means: one spelling for the names of all families.

A block lists thousands of names at worst, most of them the same for every layer. So names are cut into the number of
a layer and the rest, and what a layer's set of rests decides is remembered.
"""

from __future__ import annotations

from collections.abc import Iterable
from typing import Any, NamedTuple

from clover_sim.specs.hf.quant_formats import Format

_WORDS = {
    "block_sparse_moe": "mlp", "feed_forward": "mlp", "ffn": "mlp", "moe": "mlp", "attn": "self_attn",
    "attention": "self_attn", "self_attention": "self_attn", "mamba": "linear_attn", "router": "gate",
    "shared_expert": "shared_experts", "shared_mlp": "shared_experts", "w1": "gate_proj", "w2": "down_proj",
    "w3": "up_proj", "embed": "embed_tokens", "embeddings": "embed_tokens", "wte": "embed_tokens", "head": "lm_head",
    "index_q_proj": "indexer", "index_k_proj": "indexer", "dense": "o_proj",
}  # fmt: skip
"""Words of other spellings, and the one used here."""

_FUSED = {
    "qkv_proj": ("q_proj", "k_proj", "v_proj"), "gate_up_proj": ("gate_proj", "up_proj"),
    "in_proj_qkvz": ("in_proj_qkv", "in_proj_z"), "in_proj_ba": ("in_proj_b", "in_proj_a"),
}  # fmt: skip

_OUTER = ("model", "language_model", "backbone", "transformer", "decoder", "base_model")
_V4 = {
    "q_a_proj": ("wq_a", "fused_wqa_wkv"), "kv_proj": ("wkv", "fused_wqa_wkv"), "q_b_proj": ("wq_b",),
    "o_a_proj": ("wo_a",), "o_b_proj": ("wo_b",),
}  # fmt: skip
"""Names DeepSeek V4's own checkpoints give its matrices."""

_MERGED = {"mlp.experts": ".0", "experts": ".0", "mlp.shared_experts": ""}
"""Modules that stand for several matrices, and what stands between their name and that of a matrix."""

_MIXERS = {"self_attn": ("mixer",), "linear_attn": ("mixer", "self_attn"), "mlp": ("mixer",)}
"""Names under which a module of that kind may stand too: Nemotron calls every one ``mixer``."""


class Name(NamedTuple):
    """A listed name: the layer it means (``None``: all), and the rest, ``""`` for the whole layer."""

    layer: int | None
    rest: str


def simple(text: str) -> list[Name]:
    """A listed name in one spelling; several where it means a fused matrix, none where it is a norm or a bias.

    >>> simple("model.language_model.layers.3.block_sparse_moe.experts.7.w1")
    [Name(layer=3, rest='mlp.experts')]
    >>> simple("*.attn.*")
    [Name(layer=None, rest='*.self_attn.*')]
    """
    words = text.split(".")
    while len(words) > 1 and words[0] in _OUTER:
        del words[0]
    layer: int | None = None
    if words[0] in ("layers", "h", "blocks") and len(words) > 1:
        number = words[1].rstrip("*")
        if number.isdigit():
            layer = int(number)
            words = (["*"] if number != words[1] else []) + words[2:]
        elif words[1] == "*":
            words = words[2:]
    if "experts" in words:
        words = words[: words.index("experts") + 1]
    last = words[-1] if words else ""
    if last.rstrip("*").endswith(("norm", "bias", "layernorm")):
        return []
    rests = [_respell(words)]
    if last in _FUSED:
        rests = [_respell([*words[:-1], part]) for part in _FUSED[last]]
    return [Name(layer, rest) for rest in rests]


def _respell(words: Iterable[str]) -> str:
    spelled = []
    for word in words:
        star = "*" if len(word) > 1 and word.endswith("*") else ""
        word = word[:-1] if star else word
        spelled.append(_WORDS.get(word, word) + star)
    return ".".join(spelled)


def spellings(name: str) -> tuple[str, ...]:
    """A module's name and the others under which it may be listed."""
    first, _, rest = name.partition(".")
    others = [f"{other}.{rest}" for other in _MIXERS.get(first, ()) if rest]
    others += [f"self_attn.{other}" for other in _V4.get(rest, ()) if first == "self_attn"]
    if name in _MERGED:
        others.append(f"{name}{_MERGED[name]}.gate_proj")
    return (name, *others)


def means(rest: str, name: str) -> bool:
    """Whether a listed rest means the module of that name: itself, what it is part of, or a part of it.

    >>> means("self_attn", "self_attn.q_proj"), means("gate", "mlp.gate"), means("gate", "mlp.gate_proj")
    (True, True, False)
    """
    if not rest or rest == "*":
        return True
    if "*" in rest:
        from fnmatch import fnmatchcase

        full = f"layers.0.{name}"
        return any(fnmatchcase(text, rest) for text in (name, name + ".weight", full, full + ".weight"))
    return f".{rest}." in f".{name}." or rest.startswith(name + ".")


class Rules:
    """Exemptions and formats by name, as a quantisation block lists them."""

    __slots__ = ("_by_layer", "_counts_layers", "_everywhere", "_patterns")

    def __init__(self) -> None:
        self._everywhere: dict[str, Format | None] = {}
        self._by_layer: dict[int, dict[str, Format | None]] = {}
        self._patterns: list[tuple[Any, Format | None]] = []
        self._counts_layers = False

    def add(self, text: str, form: Format | None) -> None:
        """A listed name with its format, ``None`` for an exemption; ``re:`` starts a regular expression."""
        if text.startswith("re:"):
            import re

            source = text[3:]
            for word in ("block_sparse_moe", "feed_forward", "ffn"):
                source = source.replace(word, "mlp")
            self._counts_layers |= bool(re.search(r"[0-9]", source))
            try:
                self._patterns.append((re.compile(source), form))
            except (re.error, RecursionError, OverflowError):
                raise ValueError(text) from None
            return
        for name in simple(text):
            target = self._everywhere if name.layer is None else self._by_layer.setdefault(name.layer, {})
            if name.rest or name.layer is not None:
                target[name.rest] = form

    def layer_key(self, layer: int) -> tuple[tuple[str, Any], ...]:
        """What a layer's own rules are, to tell layers with the same ones."""
        own = tuple(self._by_layer.get(layer, {}).items())
        return (*own, ("", layer)) if self._counts_layers else own

    def decide(self, layer: int | None, name: str) -> tuple[bool, Format | None]:
        """Whether a rule means the module, and the format it gives (``None``: exempt).

        A rule of the module's own layer goes before one for all layers, a longer name before a shorter one.
        """
        names = spellings(name)
        best: tuple[int, Format | None] | None = None
        for rules in (self._by_layer.get(layer, {}) if layer is not None else {}, self._everywhere):
            for rest, form in rules.items():
                if (best is None or len(rest) > best[0]) and any(means(rest, text) for text in names):
                    best = (len(rest), form)
            if best is not None:
                return True, best[1]
        place = f"layers.{layer}." if layer is not None else ""
        for pattern, form in self._patterns:
            if any(pattern.match(f"{outer}{place}{text}") for text in names for outer in ("model.", "")):
                return True, form
        return False, None
