"""Speeds of block diffusion, one stream, predicted from the published tokens per pass.

A row states the device, a diffusion model, tokens per forward pass and tokens a second; the pass over one block is
priced with the defaults. How device, model, engine and format are read is as for plain rows; each rule here is about
a kind of row, none names one.
"""

from __future__ import annotations

import re
from collections.abc import Mapping, Sequence
from typing import Any, NamedTuple

from clover_sim.cost import Machine, price
from clover_sim.diffusion_speed import CONTEXT_TOKENS, D3LLM_RECOMPUTED, PUBLISHED, Published
from clover_sim.errors import InputError, UsageError
from clover_sim.records import Kind, PassShape
from clover_sim.specs import ModelSpec, load_hardware, load_model, weight_precision
from clover_sim.specs.diffusion import Family
from clover_sim.specs.diffusion import family_of as family_of
from clover_sim.specs.hardware import slug
from clover_sim.validate import names
from clover_sim.validate.rows import _LONGEST_TEXT, BUILT_IN, PASS_KEYS, Row, _items, _row

_SPELLINGS = {"llada": "llada-8b", "llada-instruct-8b": "llada-8b", "dream": "dream-7b"}
"""How tuned checkpoints name their base once the name of the tuning is off, as in ``d3LLM-LLaDA``."""

_WHOLE = re.compile(r"\b(?:any-order|no (?:kv )?cache|without (?:kv )?cache|no block|whole sequence|full sequence)\b")
_APPROXIMATE = re.compile(r"\b(?:prefix|dual|vicinity|kv|block)[- ]?cache|\bfast-dllm\b|\bdinfer\b")
_IN_OUT = re.compile(r"(?<!\d)(\d{1,7}) in ?/ ?(\d{1,7}) out\b")


class DiffusionRow(NamedTuple):
    """One measured speed of block diffusion.

    Args:
        row: model, hardware, engine, format, cards and the measured speed; its ``context`` is what the cache holds.
        block_size: positions a pass computes. tokens_per_pass: as published.
        recompute: positions that every pass computes again, for engines without a cache.
    """

    row: Row
    block_size: int
    tokens_per_pass: float
    recompute: int


class DiffusionResult(NamedTuple):
    """A row and its predicted tokens a second."""

    row: DiffusionRow
    predicted: float

    @property
    def error(self) -> float:
        """Predicted over measured, less one."""
        return self.predicted / self.row.row.measured - 1


def base_model(text: str) -> ModelSpec | None:
    """The model a text names: known as it stands, or the base of a tuning; a trailing mode (S, Q) is left off.

    >>> base_model("d3LLM-LLaDA").name, base_model("LLaDA2.1-mini S").name, base_model("Unnamed")
    ('llada-8b', 'llada2.0-mini', None)
    """
    text = re.sub(r" [SQ]$", "", text.strip())
    known = names.model_of(text)
    if known is None:
        words = re.sub(r"^(?:d3llm|d2f)-", "", slug(re.sub(r"\(.*?\)", " ", text)))
        known = names.model_of(_SPELLINGS.get(words, words))
    return known


def read_diffusion(path: str | None) -> tuple[list[DiffusionRow], dict[str, int]]:
    """The usable rows of block diffusion of a table, and how many others were left out for each reason.

    Rows without a field for tokens per pass are none of it. The built-in table is that of the published speeds.
    """
    if path is None or path == BUILT_IN[0]:
        return [_published(p, number) for number, p in enumerate(PUBLISHED)], {}
    rows: list[DiffusionRow] = []
    skipped: dict[str, int] = {}
    for number, item in enumerate(_items(path)[1]):
        if not isinstance(item, dict) or not any(key in item for key in PASS_KEYS):
            continue
        found = _diffusion(item, number)
        if isinstance(found, str):
            skipped[found] = skipped.get(found, 0) + 1
        else:
            rows.append(found)
    return rows, dict(sorted(skipped.items()))


def _diffusion(item: Mapping[str, Any], number: int) -> DiffusionRow | str:
    """A usable row, or why it is not one."""
    if any(isinstance(value, str) and len(value) > _LONGEST_TEXT for value in item.values()):
        return f"a text of over {_LONGEST_TEXT} characters"
    speed = _number(item.get("tok_s")) or _number(item.get("tokens_per_s"))
    if speed is None:
        return "no speed stated"
    tokens = next((found for key in PASS_KEYS if (found := _number(item.get(key))) is not None), None)
    if tokens is None:
        return "no tokens per pass stated"
    text = item.get("model")
    if not isinstance(text, str) or not text.strip():
        return "no model stated"
    model = base_model(text)
    if model is None:
        return "model not known"
    family = family_of(model)
    if family is None:
        return "no diffusion model"
    if item.get("batch") not in (None, 1):
        return "more than one stream"
    block = family.block_size if item.get("block_size") is None else item["block_size"]
    if not isinstance(block, int) or isinstance(block, bool) or not 1 <= block <= 100_000:
        return "block size is no count"
    if tokens > block:
        return "more tokens per pass than the block has"
    engine = _engine(item)
    known = {
        **{key: value for key, value in item.items() if key not in ("tokens_per_s", "baseline_name")},
        "target_model": text if names.model_of(text) else model.name, "baseline_tok_s": speed, "batch": 1,
        **({"engine": engine} if engine else {}),
    }  # fmt: skip
    row = _row(known, number)
    if isinstance(row, str):
        return row
    lengths = _lengths(item, family)
    if isinstance(lengths, str):
        return lengths
    return DiffusionRow(row._replace(context=lengths[0]), block, tokens, lengths[1])


def _engine(item: Mapping[str, Any]) -> str | None:
    """Transformers where the program of a row says so; ``None``: as for plain rows."""
    system = item.get("system")
    if item.get("engine") or not isinstance(system, str):
        return None
    return "hf" if re.search(r"\b(?:hf|transformers|hugging ?face)\b", system.lower()) else None


def _lengths(item: Mapping[str, Any], family: Family) -> tuple[int, int] | str:
    """Tokens in the cache and tokens computed again by every pass, or why they cannot be told."""
    how = " ".join(text for key in ("system", "strategy", "workload") if isinstance(text := item.get(key), str)).lower()
    stated = item.get("context_tokens")
    stated = stated if isinstance(stated, int) and not isinstance(stated, bool) and 0 < stated < 10**9 else None
    workload = item["workload"] if isinstance(item.get("workload"), str) else ""
    whole = _WHOLE.search(how) is not None
    if whole or not family.block_causal:
        if not whole and _APPROXIMATE.search(how):
            return "full attention with an approximate cache"
        if stated is not None:
            return 0, stated
        question = "gsm8k" in workload.lower() and not re.search(r"[1-9]-shot", workload.lower())
        if question and item.get("gen_len") is None and not whole:
            return 0, D3LLM_RECOMPUTED
        return "whole sequence computed in every pass, its length not stated"
    if stated is not None:
        return stated, 0
    both = _IN_OUT.search(workload.lower())
    if both:
        return int(both[1]) + int(both[2]) // 2, 0
    context = names.context_of(workload, item.get("gen_len"))
    return (CONTEXT_TOKENS if context == names.DEFAULT_CONTEXT else context), 0


def _published(p: Published, number: int) -> DiffusionRow:
    model, precision = load_model(p.model), weight_precision(p.precision)
    row = Row(
        f"diffusion-{number + 1}", model, load_hardware(p.gpu), names.engine_named(p.engine), precision, p.cards, 1,
        p.context, p.tokens_per_s, "bf16", p.source, (p,),
    )  # fmt: skip
    return DiffusionRow(row, p.block_size, p.tokens_per_pass, p.recompute)


def predict_speed(row: DiffusionRow) -> float:
    """Tokens a second of one stream: tokens per pass over the price of a pass."""
    base = row.row
    ranks = 1 if base.engine.name == "llama.cpp" else base.devices
    machine = Machine(base.model, base.hardware, base.engine, base.precision, base.kv_cache_dtype, ranks)
    shape = PassShape(Kind.DENOISE, (row.block_size,), base.context, row.recompute)
    return row.tokens_per_pass / price(machine, shape).latency_s


def validate_diffusion(path: str | None = None) -> tuple[list[DiffusionResult], dict[str, int]]:
    """Predict every usable row; see :func:`summary` for what it comes to."""
    rows, skipped = read_diffusion(path)
    results: list[DiffusionResult] = []
    for row in rows:
        try:
            results.append(DiffusionResult(row, predict_speed(row)))
        except (InputError, UsageError):
            why = "a pass of that shape cannot be"
            skipped[why] = skipped.get(why, 0) + 1
    return results, skipped


def summary(results: Sequence[DiffusionResult], skipped: Mapping[str, int]) -> dict[str, Any]:
    """Median, 90th percentile and bias as for plain rows, and what was left out; ``None`` where there is no row."""
    errors = sorted(result.error for result in results)
    sizes = sorted(map(abs, errors))
    return {
        "rows": len(results),
        "median_abs_error": _median(sizes),
        "p90_abs_error": sizes[-(-9 * len(sizes) // 10) - 1] if sizes else None,
        "bias": _median(errors),
        "skipped": dict(skipped),
    }


def entry(result: DiffusionResult) -> dict[str, Any]:
    """One row of the document."""
    row, base = result.row, result.row.row
    return {
        "id": base.id, "measured": base.measured, "predicted": result.predicted, "error": result.error,
        "model": base.model.name, "hardware": base.hardware.name, "engine": base.engine.name,
        "precision": base.precision.name, "devices": base.devices, "block_size": row.block_size,
        "tokens_per_pass": row.tokens_per_pass, "context_tokens": base.context, "recompute_tokens": row.recompute,
        "source": base.source,
    }  # fmt: skip


def _median(ordered: Sequence[float]) -> float | None:
    half = len(ordered) // 2
    return None if not ordered else ordered[half] if len(ordered) % 2 else (ordered[half - 1] + ordered[half]) / 2


def _number(value: object) -> float | None:
    if isinstance(value, bool) or not isinstance(value, (int, float)) or not 0 < value < 1e12:
        return None
    return float(value)
