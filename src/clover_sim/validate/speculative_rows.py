"""Reading rows of speculative decoding: the cycle, its acceptance length and the measured speed-up.

The rules that read a row stand in docs/reference/speculation.md; each is about a kind of row, none names one.
"""

from __future__ import annotations

import re
from collections.abc import Mapping
from math import fsum
from typing import Any, NamedTuple

from clover_sim.errors import InputError, UsageError
from clover_sim.specs import ModelSpec, bare_model, load_engine
from clover_sim.speculation import METHODS, Shape, method_name, shape_of
from clover_sim.validate import names
from clover_sim.validate.rows import Row, _items, _row

DEFAULT_DEVICE = "h200"
"""Where a row names no device: the difference to its plain speed is taken as a slower host."""

TREE_LEVELS, TREE_TOPK = 7, 10
"""Of EAGLE trees of which only the size is stated: depth and top_k of SafeAILab/EAGLE (cb7e084)."""


class SpeculativeRow(NamedTuple):
    """One measured speed-up.

    Args:
        row: model, hardware, engine, batch, and the plain speed (``measured``). shape: the cycle. length: tokens a
            cycle, bonus included. speedup: as measured. plain: whether a plain speed was published with it.
        device: whether the source names the device. prompt, output: tokens of a request where its prefill counts
            towards the measured time; else 0.
    """

    row: Row
    shape: Shape
    length: float
    speedup: float
    plain: bool
    device: bool
    prompt: int = 0
    output: int = 0


def read_speculative(path: str | None) -> tuple[list[SpeculativeRow], dict[str, int]]:
    """The usable speculative rows of a table, and how many others were left out for each reason."""
    rows: list[SpeculativeRow] = []
    skipped: dict[str, int] = {}
    for number, item in enumerate(_items(path)[1]):
        if not isinstance(item, dict) or not item.get("method"):
            continue
        try:
            found = _speculative(item, number)
        except (UsageError, InputError):
            found = "a cycle of that shape cannot be"
        if isinstance(found, str):
            skipped[found] = skipped.get(found, 0) + 1
        else:
            rows.append(found)
    return rows, dict(sorted(skipped.items()))


def _speculative(item: Mapping[str, Any], number: int) -> SpeculativeRow | str:
    plain, speed, speedup = (_number(item.get(key)) for key in ("baseline_tok_s", "tok_s", "speedup"))
    if speedup is None:
        if plain is None or speed is None:
            return "no speed-up stated"
        speedup = speed / plain
    notes = item.get("notes") if isinstance(item.get("notes"), str) else ""
    assert isinstance(notes, str)
    try:
        method = method_name(str(item["method"]))
    except UsageError:
        return "method not modelled"
    if re.search(r"ratio is vs|vs EAGLE", notes):
        return "speed-up over another drafter"
    width = _whole(item.get("width"))
    k = _whole(item.get("k"))
    if width is None and k is not None:
        width = k if "verified tokens" in notes else k + 1
    length = _length(item, k, notes)
    if isinstance(length, str):
        return length
    device = isinstance(item.get("gpu"), str) and bool(item["gpu"].strip())
    if not device and plain is None:
        return "neither device nor plain speed stated"
    known = {**item, "baseline_tok_s": plain or 1.0, **({} if device else {"gpu": DEFAULT_DEVICE})}
    row = _row(known, number)
    if row == "model not known" and (bare := _sized(str(item.get("target_model")))) is not None:
        row = _row({**known, "target_model": _STAND_IN}, number)
        row = row if isinstance(row, str) else row._replace(model=bare)
    if isinstance(row, str):
        return row
    if _research(item, notes):
        row = row._replace(engine=load_engine("hf"))
    shape = _shape(item, method, width)
    if isinstance(shape, str):
        return shape
    if not 1 <= length <= shape.width:
        return "acceptance length beyond the draft length"
    prompt, output = _lengths(item, row)
    if output:
        row = row._replace(context=prompt + output // 2)
    return SpeculativeRow(row, shape, length, speedup, plain is not None, device, prompt, output)


_PREFILL_STEPS = ("sglang",)
"""Servers whose prefills are steps of their own, which all requests wait for, and whose speeds are tokens over the
time of the whole run. Others slip prompts into decode steps, or state the speed of decoding alone."""


def _lengths(item: Mapping[str, Any], row: Row) -> tuple[int, int]:
    """Tokens of a prompt and an answer where prefills count and the text is a well-known one; else zeros."""
    workload = item.get("workload")
    known = names.lengths_of(workload) if isinstance(workload, str) and row.engine.name in _PREFILL_STEPS else None
    return known or (0, 0)


def _research(item: Mapping[str, Any], notes: str) -> bool:
    """Whether a row ran on a paper's own harness: it names Transformers, or a paper and no engine."""
    if item.get("engine"):
        return False
    text = f"{item.get('source')} {notes}".lower()
    return "transformers" in text or "spec-bench" in text or ("arxiv" in text and not re.search(_SERVERS, text))


_SERVERS = r"sglang|vllm|tensorrt|trtllm|llama\.cpp|mlx"

_STAND_IN = "llama-3.2-1b"
"""Named while the other fields of a row are read whose own model is known only by the size in its name."""


def _sized(text: str) -> ModelSpec | None:
    """A model known only by the size that its name states, without layers or cache.

    >>> _sized("Some-0.8B").params, _sized("Unnamed")
    (800000000, None)
    """
    size = re.search(r"(?:^|[-_ ])(\d+(?:\.\d+)?)B(?:-A(\d+(?:\.\d+)?)B)?(?:$|[-_ (])", text, re.IGNORECASE)
    if size is None:
        return None
    return bare_model(float(size[1]) * 1e9, float(size[2]) * 1e9 if size[2] else None)


def _length(item: Mapping[str, Any], k: int | None, notes: str) -> float | str:
    """Tokens a cycle, bonus included, or why they are not known."""
    length, rate, positions = _number(item.get("acceptance_length")), item.get("acceptance_rate"), None
    if length is not None:
        return length
    positions = item.get("per_position")
    if isinstance(positions, list) and positions and all(_number(p) is not None for p in positions):
        return 1 + fsum(float(p) for p in positions)
    if isinstance(rate, bool) or not isinstance(rate, (int, float)) or not 0 <= rate <= 1:
        return "no acceptance stated"
    if k is None:
        return "acceptance rate without a draft length"
    gate = re.search(r"p-min\s+(\d?\.\d+)", notes)
    if gate and float(gate[1]) > 0:
        return "drafts of unknown length (cut where the drafter is unsure)"
    return 1 + rate * k


def _shape(item: Mapping[str, Any], method: str, width: int | None) -> Shape | str:
    how = METHODS[method].how
    notes = str(item.get("notes") or "")
    if method in ("eagle1", "eagle3") and width is not None and "tree" in notes and "verified" in notes:
        method = "eagle-tree"
    if method == "eagle-tree":
        if width is None:
            return "size of the tree not stated"
        return shape_of(method, min(TREE_LEVELS, width - 1), topk=TREE_TOPK, budget=width)
    if width is None and how != "block":
        return "draft length not stated"
    drafter = None
    if method == "draft-model":
        named = names.model_of(str(item.get("draft_model") or ""))
        if named is None:
            return "drafter not known"
        drafter = named.name
    return shape_of(method, None if width is None else width - 1, drafter=drafter)


def _number(value: object) -> float | None:
    if isinstance(value, bool) or not isinstance(value, (int, float)) or not 0 < value < float("inf"):
        return None
    return float(value)


def _whole(value: object) -> int | None:
    return value if isinstance(value, int) and not isinstance(value, bool) and 1 <= value <= 100_000 else None
