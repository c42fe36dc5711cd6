"""Which layer is what: patterns by list, by interval or by string, each giving one entry a layer."""

from __future__ import annotations

from typing import Any

from clover_sim.specs.hf.fields import LAYERS, WIDTH, Fields

FULL = ("full_attention", "attention", "global", "indexed_attention", "hybrid_attention")
"""Words for layers that attend over the whole context."""

WINDOWED = ("sliding_attention", "chunked_attention", "local", "sliding")
RECURRENT = ("linear_attention", "mamba", "recurrent", "conv")
_DENSE_WORDS, _SPARSE_WORDS = ("dense", "mlp"), ("sparse", "moe", "hash_moe")

EXPERTS = ("num_experts", "num_local_experts", "n_routed_experts", "moe_num_experts")
PER_TOKEN = (
    "num_experts_per_tok", "num_experts_per_token", "experts_per_token", "moe_topk", "moe_k", "moe_top_k",
    "top_k_experts",
)  # fmt: skip


def layer_count(f: Fields) -> int:
    """Number of layers; it must stand in the file."""
    return f.whole("num_hidden_layers", "n_layers", "n_layer", "num_layers", high=LAYERS, required=True)


def words(f: Fields, count: int | None, known: tuple[str, ...], *keys: str) -> list[str] | None:
    """The layer words under the first of ``keys`` that holds a list, each one of ``known``."""
    for key in keys:
        found = f.items(key, count)
        if found is None:
            continue
        for index, word in enumerate(found):
            if not isinstance(word, str) or word not in known:
                raise f.wrong(f"{f.prefix}{key}[{index}] is {word!r:.40}; expected one of {', '.join(known)}")
        return list(found)
    return None


def windows(f: Fields, count: int, rule: str) -> list[int | None]:
    """The window of each layer in tokens, ``None`` for the whole context.

    Args:
        rule: ``""`` no windows; ``all`` every layer where ``sliding_window`` is stated; ``qwen`` from
            ``max_window_layers`` on where ``use_sliding_window``; ``use`` every layer then; ``types`` only by
            ``layer_types``; ``nope`` layers without rotary positions; a number ``n``: every n-th layer is full, the
            others have windows (``layer_types`` or ``sliding_window_pattern`` over it).
    """
    if not rule:
        return [None] * count
    if rule in ("qwen", "use") and not f.flag("use_sliding_window"):
        return [None] * count
    if rule == "nope" and not (f.has("layer_types") or f.flag("use_sliding_window")):
        return [None] * count
    window = f.maybe("sliding_window")
    if window is None:
        return [None] * count
    types = words(f, count, FULL + WINDOWED, "layer_types")
    if types is not None and rule not in ("all", "use"):
        return [window if word in WINDOWED else None for word in types]
    if rule in ("all", "use"):
        return [window] * count
    if rule == "qwen":
        first = f.whole("max_window_layers", low=0, high=LAYERS)
        return [window if index >= first else None for index in range(count)]
    if rule == "types":
        f.note(f"{f.prefix}layer_types missing: {f.family} default, every layer attends to all")
        return [None] * count
    if rule == "nope":  # SmolLM 3: layers without rotary positions have the window
        step = f.whole("no_rope_layer_interval", high=LAYERS)
        rope = switches(f, "no_rope_layers", count) if f.has("no_rope_layers") else []
        return [window if not (rope[index] if rope else (index + 1) % step) else None for index in range(count)]
    every = f.table.get("sliding_window_pattern")
    if isinstance(every, str):  # EXAONE 4: "LLLG"
        if not every or set(every) - {"L", "G"}:
            raise f.fail("sliding_window_pattern", "a whole number, or letters L (local) and G (global)", kind=False)
        return [None if every[index % len(every)] == "G" else window for index in range(count)]
    if every is None:
        step = int(rule)
        if types is None:
            f.note(f"{f.prefix}layer_types missing: {f.family} default, every {step}. layer attends to all")
    else:
        step = f.whole("sliding_window_pattern", low=0, high=LAYERS)
    if not step:
        return [None] * count
    return [window if (index + 1) % step else None for index in range(count)]


def sparse(f: Fields, count: int, rule: str) -> list[bool]:
    """Whether each layer is a mixture.

    Args:
        rule: ``all``; ``step`` (``decoder_sparse_step`` and ``mlp_only_layers``); ``first``
            (``mlp_layer_types``, ``moe_layer_freq`` as a list, or ``first_k_dense_replace``).
    """
    if rule == "all":
        return [True] * count
    if rule == "kinds" and not f.has("mlp_layer_types"):
        return [True] * count
    if rule == "step":
        step = f.whole("decoder_sparse_step", low=1, high=LAYERS)
        only = indexes(f, "mlp_only_layers")
        return [index not in only and (index + 1) % step == 0 for index in range(count)]
    types = words(f, count, _DENSE_WORDS + _SPARSE_WORDS, "mlp_layer_types")
    if types is not None:
        return [word in _SPARSE_WORDS for word in types]
    if isinstance(f.table.get("moe_layer_freq"), list):
        return [flag == 1 for flag in switches(f, "moe_layer_freq", count)]
    dense = f.whole("first_k_dense_replace", low=0, high=LAYERS)
    return [index >= dense for index in range(count)]


def switches(f: Fields, key: str, count: int) -> list[int]:
    """A list of 0 and 1, one a layer."""
    found = f.items(key, count) or []
    for index, value in enumerate(found):
        if isinstance(value, bool) or value not in (0, 1):
            raise f.wrong(f"{f.prefix}{key}[{index}] is {value!r:.40}; expected 0 or 1")
    return list(found)


def indexes(f: Fields, key: str, first: int = 0) -> set[int]:
    """A list of layer numbers as a set, counted from 0; empty if missing. first: number of the first layer."""
    found: list[Any] = f.items(key) or []
    for index, value in enumerate(found):
        if isinstance(value, bool) or not isinstance(value, int) or not first <= value <= WIDTH:
            raise f.wrong(f"{f.prefix}{key}[{index}] is {value!r:.40}; expected the number of a layer")
    return {value - first for value in found}


def interval(f: Fields, count: int, key: str, default: int) -> list[bool]:
    """Whether each layer attends in full: the last of every ``key`` layers does."""
    if not f.has(key):
        f.note(f"{f.prefix}layer_types and {key} missing: {f.family} default {default}")
        step = default
    else:
        step = f.whole(key, high=LAYERS)
    return [(index + 1) % step == 0 for index in range(count)]
