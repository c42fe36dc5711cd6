"""Files that are no model configuration, and models that are none we can count: each with its own words."""

from __future__ import annotations

from typing import Any

from clover_sim.errors import InputError

OR_SIZE = "or give its size with --params-b and --active-b"

_NOT_DECODERS = (
    "t5", "mt5", "umt5", "t5gemma", "bart", "mbart", "pegasus", "marian", "whisper", "bert", "roberta", "deberta",
    "deberta-v2", "xlm-roberta", "modernbert", "distilbert", "electra", "albert", "clip", "siglip", "siglip2", "vit",
    "wav2vec2", "nllb", "m2m_100", "fsmt", "blenderbot", "switch_transformers",
)  # fmt: skip
"""Encoders and encoder-decoders: nothing is decoded token by token with one stack of layers."""

_REASONS: dict[str, tuple[str, str]] = {
    "kimi_k3": ("its modelling code is not public, so no count can be checked", "kimi_linear"),
    "qwen4_exp": ("n-gram tables and hyper-connections are not counted", "qwen3_5_moe"),
    "qwen4_exp_text": ("n-gram tables and hyper-connections are not counted", "qwen3_5_moe"),
    "longcat_flash": ("its zero-computation experts make what a token multiplies by vary", "deepseek_v3"),
    "arctic": ("a dense network beside its experts is not counted", "mixtral"),
    "zamba": ("layers share one block of weights", "bamba"),
    "zamba2": ("layers share one block of weights with adapters", "bamba"),
    "recurrent_gemma": ("its recurrence is not counted", "gemma2"),
    "rwkv": ("its recurrence is not counted", "mamba"),
    "xlstm": ("its recurrence is not counted", "mamba"),
    "jetmoe": ("its attention heads are experts too", "mixtral"),
    "blt": ("it decodes bytes with three models", "llama"),
    "mllama": ("its cross-attention layers are not counted", "llama"),
    "lfm3": ("its gated and normed filters are not counted", "lfm2"),
    "hy_v4": ("its hyper-connections are not counted", "hy_v3"),
    "phi4_multimodal": ("adapters for other modalities are merged into its layers", "phi3"),
    "step3": ("its factorised attention is not counted", "step3p5"),
}


def check_kind(table: dict[str, Any], where: str) -> None:
    """Raise for a JSON file that is something else than a model's configuration."""
    kind = _other_kind(table)
    if kind:
        raise InputError(f"{where}: {kind}")
    if "model_type" in table or "architectures" in table or "text_config" in table or "llm_config" in table:
        return
    inner = [key for key, value in table.items() if isinstance(value, dict) and "model_type" in value]
    if len(inner) > 1:
        names = ", ".join(inner[:4]) + (", ..." if len(inner) > 4 else "")
        raise InputError(f"{where}: holds {len(inner)} configurations ({names}); expected one a file")
    shape = [key for key in ("hidden_size", "num_hidden_layers", "n_layers", "d_model") if key in table]
    if shape:
        raise InputError(f'{where}: model_type is missing; expected one, such as "llama", beside {shape[0]}')
    keys = ", ".join(repr(key[:30]) for key in list(table)[:3]) or "none"
    raise InputError(
        f"{where}: not the configuration of a model (keys: {keys}); expected a config.json with model_type, {OR_SIZE}"
    )


def _other_kind(table: dict[str, Any]) -> str:
    """What another kind of file is, in words, or an empty text."""
    adapter = {"base_model_name_or_path", "lora_parameters", "fine_tune_type"} & table.keys()
    if "peft_type" in table or (adapter and "hidden_size" not in table):
        base = table.get("base_model_name_or_path")
        named = f" {base[:60]!r}" if isinstance(base, str) else ""
        return f"an adapter_config.json (PEFT or LoRA), not a model; expected the config.json of its base model{named}"
    if "weight_map" in table:
        return "a model.safetensors.index.json, which lists tensors; expected the config.json beside it"
    if "model_type" in table or "architectures" in table:
        return ""
    if "tokenizer_class" in table or "added_tokens_decoder" in table or "chat_template" in table:
        return "a tokenizer_config.json; expected the config.json beside it"
    sampling = {"_from_model_config", "temperature", "top_p", "top_k", "do_sample"} & table.keys()
    if sampling and "hidden_size" not in table:
        return "a generation_config.json, which holds sampling settings; expected the config.json beside it"
    if "quantization" in table and "producer" in table:
        return "an hf_quant_config.json, which says how weights are stored; expected the config.json beside it"
    if "image_processor_type" in table or "feature_extractor_type" in table:
        return "a preprocessor_config.json; expected the config.json beside it"
    if {"dim", "n_layers", "n_heads"} <= table.keys():
        return "a params.json in its publisher's own layout; expected the config.json of the model"
    if "added_tokens" in table and "model" in table:
        return "a tokenizer.json; expected the config.json beside it"
    if "_class_name" in table or "_diffusers_version" in table:
        return "an image model of diffusers; expected the config.json of a language model"
    return ""


def unknown_type(model_type: str, where: str, path: str, table: dict[str, Any] | None = None) -> InputError:
    """The error for a ``model_type`` that is not known: the reason, the nearest that works, and whose keys it has."""
    shown = repr(model_type[:60])
    if model_type in _NOT_DECODERS:
        return InputError(
            f"{where}: {path} {shown} is not supported: an encoder, or an encoder with a decoder; "
            "expected a decoder-only model"
        )
    if model_type in _REASONS:
        reason, nearest = _REASONS[model_type]
        return InputError(f"{where}: {path} {shown} is not supported: {reason}; nearest: {nearest}, {OR_SIZE}")
    import difflib

    from clover_sim.specs.hf.families import known

    names = known()
    near = difflib.get_close_matches(model_type, names, n=3, cutoff=0.5)
    resembles = _resembles(model_type, where, table or {})
    if resembles:
        spelt = f" (nearest by name: {', '.join(near)})" if near else ""
        return InputError(f"{where}: {path} {shown} is not supported{spelt}; {resembles}, {OR_SIZE}")
    return InputError(
        f"{where}: {path} {shown} is not supported; nearest: {', '.join(near) or 'llama, qwen3, qwen3_moe'}, {OR_SIZE}"
    )


def _resembles(model_type: str, where: str, table: dict[str, Any]) -> str:
    """Whose keys an unknown model has, what it would count, and how to say it; empty where they are nobody's."""
    from clover_sim.specs.hf.alike import by_keys, unread

    family = by_keys(table, model_type)
    counted = unread(table, family, where) if family else None
    if counted is None:
        return ""
    params, left = counted
    ignored = f", without {', '.join(left[:3])}" + (", ..." if len(left) > 3 else "") if left else ""
    return (
        f"its keys are those of {family}, which make {params / 1e9:.3g} B parameters{ignored}: to count it so, set "
        f'model_type to "{family}" in a copy'
    )


def refused(model_type: str) -> bool:
    """Whether a ``model_type`` is refused by name, even where what it nests is known."""
    return model_type in _REASONS or model_type in _NOT_DECODERS
