"""Draft heads that have no file of their own: built from the shapes of the target they belong to."""

from __future__ import annotations

from typing import Any, NamedTuple

from clover_sim.errors import UsageError, suggest
from clover_sim.specs import ModelSpec, load_model


class Head(NamedTuple):
    """What a published head is made of.

    Args:
        layers: decoder layers of the target's widths. vocabulary: rows of its own output head, 0 for the target's.
        inputs: vectors of the target's width that its input projection joins. mixture: a mixture if the target is one.
    """

    layers: int
    vocabulary: int
    inputs: int
    mixture: bool
    source: str


HEADS = {
    "eagle1-head": Head(1, 0, 2, False, "SafeAILab/EAGLE: one layer, the target's output head"),
    "eagle3-head": Head(1, 32_000, 4, False, "arXiv 2503.01840: one layer, three features and the embedding, 32k rows"),
    "p-eagle-head": Head(4, 32_000, 4, False, "vLLM blog 2026-03-13: four layers, all drafts in one pass"),
    "mtp-head": Head(1, 0, 2, True, "arXiv 2412.19437: one layer of the target, its output head"),
    "dflash-head": Head(5, 0, 5, False, "arXiv 2602.06036: five layers, the target's output head, five features"),
    "dspark-head": Head(5, 0, 5, False, "arXiv 2607.05147: a block drafter with small heads on top"),
}
"""Heads by name. None is counted with an input embedding: they use the target's."""

_DENSE_FFN = 9
"""Feed-forward weights over hidden width squared where the target has no dense layer: three matrices of 3 x hidden."""


def drafter_model(name: str | None, target: ModelSpec) -> ModelSpec | None:
    """The drafter called ``name`` beside ``target``: a head of :data:`HEADS`, else a model by name or file.

    >>> round(drafter_model("eagle3-head", load_model("llama-3.1-8b")).params / 1e6)
    416
    """
    if name is None:
        return None
    if name in HEADS:
        return _build(name, HEADS[name], target)
    try:
        return load_model(name)
    except UsageError:
        if name.endswith("-head"):
            raise UsageError(f"unknown draft head {name!r}{suggest(name, HEADS)}") from None
        raise


def _build(name: str, head: Head, target: ModelSpec) -> ModelSpec:
    """The head's specification; that of a target known only by its size is a share of its active weights."""
    title = f"{name}-of-{target.name}"
    if not target.layers or not target.hidden_size:
        size = max(1, round(target.active_params * (head.layers / 32 + 0.05)))
        return ModelSpec(name=title, params=size, other_params=size, layers=head.layers,
                         note="ASSUMPTION: 1/32 of the target a layer, 1/20 for its output head")  # fmt: skip
    layers, hidden = head.layers, target.hidden_size
    attention_layers = target.attention_layers or target.layers
    cached = target.kv_elements_per_token + sum(each for _, each in target.kv_windows)
    mixture = head.mixture and target.is_moe
    dense_layers = target.layers - target.moe_layers
    per_dense = round(target.dense_ffn_params / dense_layers) if dense_layers and target.dense_ffn_params else 0
    parts: dict[str, Any] = {
        "lm_head_params": head.vocabulary * hidden or target.head_params,
        "attention_params": round(target.attention_params / attention_layers) * layers,
        "other_params": head.inputs * hidden * hidden,
        "dense_ffn_params": 0 if mixture else (per_dense or _DENSE_FFN * hidden * hidden) * layers,
    }
    shape: dict[str, Any] = {}
    if mixture:
        parts["router_params"] = round(target.router_params / target.moe_layers) * layers
        parts["shared_expert_params"] = round(target.shared_expert_params / target.moe_layers) * layers
        parts["routed_expert_params"] = target.experts * target.params_per_expert * layers
        shape = {
            "moe_layers": layers, "experts": target.experts, "experts_per_token": target.experts_per_token,
            "params_per_expert": target.params_per_expert,
        }  # fmt: skip
    return ModelSpec(
        name=title, params=sum(parts.values()), layers=layers, hidden_size=hidden,
        vocab_size=head.vocabulary or target.vocab_size, attention_layers=layers, query_width=target.query_width,
        kv_heads=target.kv_heads, kv_elements_per_token=round(cached / attention_layers) * layers,
        sources=(head.source,), **parts, **shape,
    )  # fmt: skip
