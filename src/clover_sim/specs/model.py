"""What a language model weighs: parameters by part, cached elements and state. No bytes here: precision is apart.

Counts are those of the language model alone (no vision tower, no layer for multi-token prediction).
"""

from __future__ import annotations

from dataclasses import dataclass, fields
from typing import Any, Literal

from clover_sim.errors import InputError, shown
from clover_sim.specs import check
from clover_sim.specs.hardware import slug

Reading = Literal["with_head", "no_embedding", "with_both"]
"""What "active parameters" means: publishers differ. See :meth:`ModelSpec.active`."""

PARTS = (
    "embed_params", "lm_head_params", "attention_params", "linear_attention_params", "dense_ffn_params",
    "router_params", "shared_expert_params", "routed_expert_params", "norm_params", "other_params",
)  # fmt: skip
"""The parts whose sum is :attr:`ModelSpec.params`."""

_COUNTS = (
    *PARTS, "layers", "moe_layers", "blocks", "index_layers", "hidden_size", "vocab_size", "experts",
    "experts_per_token", "params_per_expert",
    "attention_layers", "query_width", "kv_heads", "kv_elements_per_token", "state_elements_per_sequence",
    "conv_state_elements_per_sequence",
)  # fmt: skip


@dataclass(frozen=True, slots=True)
class ModelSpec:
    """One language model, counted part by part.

    Args:
        name: lower-case name used on the command line.
        params: every parameter; must equal the sum of the parts (a tied table is counted once, as embedding).
        embed_params: input embedding (a pass gathers a few rows of it, unless it is tied and serves as the head).
        lm_head_params: output head; 0 when ``tied``.
        attention_params, linear_attention_params: softmax attention; recurrent layers (DeltaNet, Mamba, KDA, ...).
        dense_ffn_params, router_params, shared_expert_params: feed-forward of dense layers; of mixture layers.
        routed_expert_params: all routed experts, ``experts * params_per_expert * moe_layers``.
        norm_params, other_params: norms; anything else that every pass reads.
        layers, moe_layers: layers in all; those with routed experts. 0 layers: unknown, no cost per layer is priced.
        blocks: mixers and feed-forward networks over all layers; 0 for the usual two a layer (Nemotron-H has one).
        index_layers: layers whose attention is led by a sparse indexer.
        hidden_size, vocab_size: widths in elements; 0 if unknown.
        experts, experts_per_token, params_per_expert: per mixture layer; all 0 for a dense model.
        attention_layers: layers with softmax attention, windowed ones included.
        query_width: query heads times head width per attention layer, for the FLOPs of attention.
        kv_heads: K/V heads; more ranks than heads read replicas. 1 for latent attention (MLA).
        kv_elements_per_token: cached elements a token over the layers that keep the whole context.
        kv_windows: ``(window_tokens, elements_per_token)`` for layers that keep only a window.
        state_elements_per_sequence: recurrent state (``state_bits`` wide), read and written once a pass.
        conv_state_elements_per_sequence: convolution state, 16 bits wide.
        state_bits: width of an element of the recurrent state.
        tied: the embedding table is the output head, and is read once a pass.
        max_context_tokens: longest context the model is made for, or ``None``.
        aliases, sources, note: other names; where each figure comes from; what a reader must know.

    Raises:
        InputError: a figure is missing its type or range, or the parts do not add up.
    """

    name: str
    params: int
    embed_params: int = 0
    lm_head_params: int = 0
    attention_params: int = 0
    linear_attention_params: int = 0
    dense_ffn_params: int = 0
    router_params: int = 0
    shared_expert_params: int = 0
    routed_expert_params: int = 0
    norm_params: int = 0
    other_params: int = 0
    layers: int = 0
    moe_layers: int = 0
    blocks: int = 0
    index_layers: int = 0
    hidden_size: int = 0
    vocab_size: int = 0
    experts: int = 0
    experts_per_token: int = 0
    params_per_expert: int = 0
    attention_layers: int = 0
    query_width: int = 0
    kv_heads: int = 1
    kv_elements_per_token: int = 0
    kv_windows: tuple[tuple[int, int], ...] = ()
    state_elements_per_sequence: int = 0
    conv_state_elements_per_sequence: int = 0
    state_bits: int = 32
    tied: bool = False
    max_context_tokens: int | None = None
    aliases: tuple[str, ...] = ()
    sources: tuple[str, ...] = ()
    note: str = ""

    def __post_init__(self) -> None:
        name = check.text("model", "name", self.name)
        check.whole(name, "params", self.params, 1)
        for field in _COUNTS:
            check.whole(name, field, getattr(self, field))
        check.whole(name, "kv_heads", self.kv_heads, 1)
        check.whole(name, "state_bits", self.state_bits, 1)
        if self.max_context_tokens is not None:
            check.whole(name, "max_context_tokens", self.max_context_tokens, 1)
        if not isinstance(self.tied, bool):
            raise InputError(f"{name}: tied is {shown(self.tied)}; expected true or false")
        object.__setattr__(self, "kv_windows", _windows(name, self.kv_windows))
        object.__setattr__(self, "aliases", check.texts(name, "aliases", self.aliases))
        object.__setattr__(self, "sources", check.texts(name, "sources", self.sources))
        check.text(name, "note", self.note, empty=True)
        self._check_sums()

    def _check_sums(self) -> None:
        total = sum(getattr(self, part) for part in PARTS)
        if total != self.params:
            raise InputError(f"{self.name}: params is {self.params}; expected {total}, the sum of the parts")
        if self.tied and self.lm_head_params:
            raise InputError(f"{self.name}: lm_head_params is {self.lm_head_params}; expected 0 for a tied table")
        if not self.active():
            raise InputError(f"{self.name}: no parameter but the embedding; expected some that a pass multiplies by")
        routed = self.experts * self.params_per_expert * self.moe_layers
        if routed != self.routed_expert_params:
            raise InputError(
                f"{self.name}: routed_expert_params is {self.routed_expert_params}; "
                f"expected {routed} = experts x params_per_expert x moe_layers"
            )
        if not 0 <= self.experts_per_token <= self.experts or (self.experts > 0) != (self.experts_per_token > 0):
            raise InputError(
                f"{self.name}: experts_per_token is {self.experts_per_token}; expected 1 to {self.experts} experts"
            )
        for field in ("moe_layers", "attention_layers"):
            if self.layers and getattr(self, field) > self.layers:
                found = getattr(self, field)
                raise InputError(f"{self.name}: {field} is {found}; expected at most {self.layers} layers")

    @property
    def is_moe(self) -> bool:
        """Whether a token chooses among routed experts."""
        return self.routed_expert_params > 0

    @property
    def read_every_pass_params(self) -> int:
        """Weights every pass reads whatever the routing: all but routed experts and an untied input embedding.

        >>> from clover_sim.specs import load_model
        >>> load_model("qwen3.6-35b-a3b").read_every_pass_params
        1939796608
        """
        return self.params - self.routed_expert_params - (0 if self.tied else self.embed_params)

    @property
    def head_params(self) -> int:
        """Parameters the output head multiplies by, whether it is tied or not."""
        return self.embed_params if self.tied else self.lm_head_params

    @property
    def active_expert_params(self) -> int:
        """Routed parameters one token multiplies by."""
        return self.experts_per_token * self.params_per_expert * self.moe_layers

    @property
    def active_params(self) -> int:
        """Parameters one decoding step multiplies by: the output head counted, an input embedding not."""
        return self.active("with_head")

    def active(self, reading: Reading = "with_head") -> int:
        """Active parameters under one of the three readings in use.

        ``with_head`` counts the output head but no input embedding (OpenAI, DeepSeek, Google), ``no_embedding``
        neither (GLM, MiniMax, Qwen3-Next), ``with_both`` both (Qwen3, Mixtral, Phi, LLaDA 2).

        >>> from clover_sim.specs import load_model
        >>> [load_model("qwen3.6-35b-a3b").active(r) for r in ("with_head", "no_embedding", "with_both")]
        [2946429568, 2437870208, 3454988928]
        """
        active = self.read_every_pass_params + self.active_expert_params
        if reading == "no_embedding":
            return active - self.head_params
        if reading == "with_both":
            return active + (0 if self.tied else self.embed_params)
        return active

    @property
    def state_bytes_per_sequence(self) -> float:
        """Bytes of recurrent and convolution state one sequence keeps, whatever its length."""
        return self.state_elements_per_sequence * self.state_bits / 8 + self.conv_state_elements_per_sequence * 2

    def kv_elements(self, context_tokens: float) -> float:
        """Elements one sequence keeps cached for ``context_tokens`` of text (windowed layers keep their window)."""
        elements: float = self.kv_elements_per_token * context_tokens
        for window, per_token in self.kv_windows:
            elements += per_token * (context_tokens if context_tokens < window else window)
        return elements


def _windows(name: str, value: Any) -> tuple[tuple[int, int], ...]:
    """``((window_tokens, elements_per_token), ...)`` from a list of pairs."""
    if not isinstance(value, (list, tuple)):
        found = shown(value)
        raise InputError(f"{name}: kv_windows is {found}; expected pairs of window tokens and elements per token")
    pairs: list[tuple[int, int]] = []
    for pair in value:
        if not isinstance(pair, (list, tuple)) or len(pair) != 2:
            found = shown(pair)
            raise InputError(f"{name}: kv_windows holds {found}; expected pairs of window tokens and elements")
        window, elements = (check.whole(name, "kv_windows", item, 1) for item in pair)
        pairs.append((window, elements))
    return tuple(pairs)


def model_from_table(table: dict[str, Any], where: str) -> ModelSpec:
    """Build the specification from the keys of a model file, which are the fields of :class:`ModelSpec`.

    ``params`` may be left out: it is the sum of the parts.

    Raises:
        InputError: an unknown or missing key, or a figure out of range.
    """
    check.keys(where, table, [field.name for field in fields(ModelSpec)])
    values = dict(table)
    values["name"] = slug(check.text(where, "name", table.get("name", "custom")))
    if "params" not in values:
        values["params"] = sum(check.whole(where, part, table.get(part, 0)) for part in PARTS)
    try:
        return ModelSpec(**values)
    except InputError as error:
        raise InputError(f"{where}: {error}") from None
