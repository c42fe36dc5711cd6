"""What a model is made of: modules with their parameters, caches of layers, and their sums.

A family (``families``) turns a configuration into a :class:`Plan`; :func:`spec_of` adds the plan up. Names of modules
are the ones checkpoints use, shortened to one spelling for all families, since quantisation blocks name them.
"""

from __future__ import annotations

from typing import Any, NamedTuple

from clover_sim.specs.model import PARTS, ModelSpec

(EMBED, HEAD, ATTENTION, LINEAR, DENSE, ROUTER, SHARED, ROUTED, NORM, OTHER) = PARTS


class Module(NamedTuple):
    """One named piece of a layer.

    Args:
        name: spelling within the layer, such as ``self_attn.q_proj``. part: where it counts, one of ``PARTS``.
        matrix: weights of matrix products, which quantisation may shrink. vector: the rest (biases, norms, filters).
    """

    name: str
    part: str
    matrix: int
    vector: int = 0


class Cache(NamedTuple):
    """What a layer keeps for one sequence.

    Args:
        kv: cached elements a token. window: tokens kept, ``None`` for all of the context.
        indexed: elements a token of a sparse-attention indexer. state, conv: elements whatever the length.
        query_width: query heads times head width. kv_heads: K/V heads, 1 for latent attention.
    """

    kv: int = 0
    window: int | None = None
    indexed: int = 0
    state: int = 0
    conv: int = 0
    query_width: int = 0
    kv_heads: int = 0


class Routing(NamedTuple):
    """The routed experts of a layer: how many, how many a token takes, parameters of one."""

    experts: int
    per_token: int
    params: int


class Block(NamedTuple):
    """A mixer or a feed-forward network: its modules, and its cache or its routing."""

    modules: tuple[Module, ...]
    cache: Cache | None = None
    routing: Routing | None = None


class Layer(NamedTuple):
    """One layer as a list of blocks; equal layers are one object, which makes counting fast."""

    blocks: tuple[Block, ...]


class Plan(NamedTuple):
    """A whole language model.

    Args:
        hidden, vocab, tied: width, vocabulary, and whether the embedding is the head.
        top: modules outside the layers (embedding, head, last norm). layers: in order.
        max_context: longest context the file states. state_bits: width of an element of recurrent state.
    """

    hidden: int
    vocab: int
    tied: bool
    top: tuple[Module, ...]
    layers: tuple[Layer, ...]
    max_context: int | None = None
    state_bits: int = 32


def distinct_layers(plan: Plan) -> dict[int, tuple[Layer, int]]:
    """Each distinct layer object with how often it stands in the plan, in order of first use, keyed by ``id``."""
    found: dict[int, tuple[Layer, int]] = {}
    for layer in plan.layers:
        key = id(layer)
        found[key] = (layer, found[key][1] + 1) if key in found else (layer, 1)
    return found


def index_elements(plan: Plan) -> int:
    """Cached elements a token of sparse-attention indexers, over all layers."""
    return sum(block.cache.indexed for layer in plan.layers for block in layer.blocks if block.cache)


def spec_of(plan: Plan, name: str, sources: tuple[str, ...] = (), note: str = "") -> ModelSpec:
    """Add a plan up."""
    parts: dict[str, Any] = dict.fromkeys(PARTS, 0)
    for module in plan.top:
        parts[module.part] += module.matrix + module.vector
    windows: dict[int, int] = {}
    kv = state = conv = moe_layers = attention_layers = query_width = kv_heads = 0
    routing = Routing(0, 0, 0)
    for layer, times in distinct_layers(plan).values():
        attends = False
        for block in layer.blocks:
            for module in block.modules:
                parts[module.part] += times * (module.matrix + module.vector)
            if block.routing:
                routing = block.routing
                moe_layers += times
            cache = block.cache
            if cache is None:
                continue
            state += times * cache.state
            conv += times * cache.conv
            if cache.window is None:
                kv += times * cache.kv
            elif cache.kv:
                windows[cache.window] = windows.get(cache.window, 0) + times * cache.kv
            if cache.query_width:
                attends = True
                query_width += times * cache.query_width
                kv_heads = max(kv_heads, cache.kv_heads)
        attention_layers += times * attends
    return ModelSpec(
        name=name, params=sum(parts.values()), **parts,
        layers=len(plan.layers), moe_layers=moe_layers, hidden_size=plan.hidden, vocab_size=plan.vocab,
        experts=routing.experts, experts_per_token=routing.per_token, params_per_expert=routing.params,
        attention_layers=attention_layers, kv_heads=max(kv_heads, 1),
        query_width=round(query_width / attention_layers) if attention_layers else 0,
        kv_elements_per_token=kv, kv_windows=tuple(sorted(windows.items())),
        state_elements_per_sequence=state, conv_state_elements_per_sequence=conv, state_bits=plan.state_bits,
        tied=plan.tied, max_context_tokens=plan.max_context, sources=sources, note=note,
    )  # fmt: skip
