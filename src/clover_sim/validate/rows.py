"""Reading measurements: tables of speculative decoding, of diffusion models, and this package's own."""

from __future__ import annotations

import math
import os
import re
from typing import Any, NamedTuple

from clover_sim.cost.machine import MOST_RANKS, stored_bytes
from clover_sim.errors import InputError, UsageError, shown
from clover_sim.specs import EngineSpec, HardwareSpec, ModelSpec, Precision, kv_bits, list_engines
from clover_sim.specs.check import kind_of
from clover_sim.validate import names

BUILT_IN = ("published", "serving", "kernels", "prompts", "speculative")
"""Tables that ship with the package, by name; ``published`` is the default."""

PASS_KEYS = ("tokens_per_forward", "tokens_per_pass", "tpf")
"""Fields that state tokens per forward pass: a speed beside them is that of block diffusion."""


class Row(NamedTuple):
    """One measured speed of plain decoding.

    Args:
        id: as the table has it. model, hardware, engine, precision: what it ran on. devices: cards.
        batch: sequences decoded together. context: cached tokens of each. measured: tokens a second in all.
        kv_cache_dtype: format of the cache. source: where it was published. baseline: the measurement it repeats.
        prefill: whether it is the speed of computing prompts of ``context`` tokens instead.
    """

    id: str
    model: ModelSpec
    hardware: HardwareSpec
    engine: EngineSpec
    precision: Precision
    devices: int
    batch: int
    context: int
    measured: float
    kv_cache_dtype: str
    source: str
    baseline: tuple[object, ...]
    prefill: bool = False


def read_rows(path: str | None) -> tuple[list[Row], dict[str, int]]:
    """The usable rows of a table, and how many were left out for each reason.

    Args:
        path: a JSON or TOML file, the name of a built-in table, or ``None`` for the default one.

    Raises:
        InputError: the file cannot be read, or is no list of tables.
    """
    where, items = _items(path)
    rows: list[Row] = []
    skipped: dict[str, int] = {}
    for number, item in enumerate(items):
        if not isinstance(item, dict):
            raise InputError(f"{where}: row {number} is {kind_of(item)}; expected a table such as {{\"id\": ...}}")
        found = _row(item, number)
        if isinstance(found, str):
            skipped[found] = skipped.get(found, 0) + 1
        else:
            rows.append(found)
    return rows, dict(sorted(skipped.items()))


def _items(path: str | None) -> tuple[str, list[Any]]:
    from clover_sim.specs.load import DATA, read_table

    if path is None or path in BUILT_IN:
        where = os.path.join(DATA, "measurements", f"{path or BUILT_IN[0]}.toml")
        return os.path.basename(where), _expand(read_table(where), where)
    if path.lower().endswith(".json"):
        table = _json(path)
    else:
        table = read_table(path)
    if isinstance(table, dict):
        if "columns" in table:
            return path, _expand(table, path)
        table = next((value for value in table.values() if isinstance(value, list)), None)
    if not isinstance(table, list):
        raise InputError(f"{path}: holds no list of rows; expected one, as in [{{\"id\": ...}}]")
    return path, table


def _json(path: str) -> Any:
    import json

    from clover_sim.specs._files import read_limited

    content = read_limited(path, _LIMIT_BYTES)
    if len(content) > _LIMIT_BYTES:
        raise InputError(f"{path}: holds over {_LIMIT_BYTES // 10**6} MB; expected a table of measurements")
    try:
        return json.loads(content.decode("utf-8-sig"))
    except json.JSONDecodeError as error:
        raise InputError(f"{path}:{error.lineno}: not valid JSON: {error.msg} (column {error.colno})") from None
    except RecursionError:
        raise InputError(f"{path}: nested too deeply; expected a list of rows") from None
    except ValueError:  # no UTF-8, or a number of thousands of digits
        raise InputError(f"{path}: not JSON in UTF-8; expected a list of rows") from None


_LIMIT_BYTES = 64_000_000
_MOST_SEQUENCES = 100_000
_LONGEST_TEXT = 2000


def _expand(table: dict[str, Any], where: str) -> list[dict[str, Any]]:
    """The rows of a table of this package: names of the columns once, then values; sources by number."""
    columns, sources, lists = (table.get(key, []) for key in ("columns", "sources", "rows"))
    for key, value in (("columns", columns), ("sources", sources), ("rows", lists)):
        if not isinstance(value, list):
            raise InputError(f"{where}: {key} is {kind_of(value)}; expected a list")
    if not all(isinstance(name, str) for name in columns) or len(set(columns)) < len(columns):
        raise InputError(f"{where}: columns is {shown(columns)}; expected different names")
    rows = []
    for number, values in enumerate(lists):
        if not isinstance(values, list) or len(values) != len(columns):
            raise InputError(f"{where}: row {number} is {shown(values)}; expected a list of {len(columns)} values")
        row = dict(zip(columns, values, strict=True))
        source = row.get("source")
        if isinstance(source, int) and not isinstance(source, bool):
            if not 0 <= source < len(sources):
                raise InputError(f"{where}: row {number}: source is {shown(source)}, but there are {len(sources)}")
            row["source"] = sources[source]
        rows.append(row)
    return rows


def _row(item: dict[str, Any], number: int) -> Row | str:
    """A usable row, or why it is not one."""
    if any(isinstance(value, str) and len(value) > _LONGEST_TEXT for value in item.values()):
        return f"a text of over {_LONGEST_TEXT} characters"
    text, speed = _plain(item)
    if speed is None:
        return text
    device = item.get("gpu")
    if not isinstance(device, str) or not device.strip():
        return "no device stated"
    if "offload" in device.lower():
        return "offload to the host"
    devices = item.get("n_gpus", 1)
    devices = 1 if devices is None else devices
    if "+" in re.sub(r"\(.*?\)|max\+", "", device.lower()) or not _count(devices) or devices > MOST_RANKS:
        return "several devices of different kinds"
    hardware = names.hardware_of(device)
    if hardware is None:
        return "device not known"
    model = names.model_of(text)
    if model is None:
        return "model not known"
    engine = names.engine_of(item, hardware)
    if engine not in list_engines():
        return "engine not known"
    precision = names.precision_of(_text(item.get("precision")), text, engine)
    if precision is None:
        return "format of the weights not known"
    if sum(stored_bytes(model, precision)) > hardware.memory_bytes * devices:
        return "does not fit the device in that format"
    own = re.search(r"\bbs(\d{1,9})\b", _text(item.get("baseline_name")) or "")
    batch = int(own[1]) if own else 1 if item.get("batch") is None else item["batch"]
    if not _count(batch) or batch > _MOST_SEQUENCES:
        return "batch is no count"
    if devices > 1 and engine != "llama.cpp" and hardware.interconnect_bytes_per_s is None:
        return "several devices without a link"
    context = item.get("context_tokens")
    if not isinstance(context, int) or not _count(context):
        context = names.context_of(_text(item.get("workload")), item.get("gen_len"))
    source, cache = _text(item.get("source")) or "", _text(item.get("kv_cache_dtype")) or "bf16"
    try:
        kv_bits(cache)
    except UsageError:
        return "format of the cache not known"
    name = item.get("id") or f"row {number}"
    return Row(
        name if isinstance(name, str) else shown(name), model, hardware, names.engine_named(engine), precision,
        devices, batch, context, speed, cache, source,
        (model.name, hardware.name, devices, precision.name, batch, speed, _text(item.get("workload")), source),
        item.get("kind") == "prefill",
    )  # fmt: skip


def _plain(item: dict[str, Any]) -> tuple[str, float | None]:
    """The model and the speed of plain decoding that a row states, or why it states none and ``None``."""
    if "tokens_per_s" in item and _several_a_pass(item):
        return "no speed of plain decoding", None
    if "tokens_per_s" in item:
        model, speed = item.get("model"), item["tokens_per_s"]
    elif "target_model" in item:
        model, speed = item["target_model"], item.get("baseline_tok_s")
    elif "baseline_tok_s" in item:
        name = _text(item.get("baseline_name")) or ""
        if not re.search(r"\b(?:AR|autoregressive)\b", name) or re.search(r"MTP|draft|baselines", name):
            return "no speed of plain decoding", None
        other = re.sub(r"\(.*?\)", " ", name).replace("AR", " ").strip()
        model, speed = (other if names.model_of(other) else item.get("model")), item["baseline_tok_s"]
        if other and not names.model_of(other):
            return "speed of another model", None
    else:
        return "no speed of plain decoding", None
    if speed is None:
        return "no speed of plain decoding", None
    if isinstance(speed, bool) or not isinstance(speed, (int, float)) or not 0 < speed < math.inf:
        return "speed is not a number above 0", None
    if not 1e-9 < speed < 1e12:
        return "speed is no speed of a machine", None
    if not isinstance(model, str) or not model.strip():
        return "no model stated", None
    return model, float(speed)


def _several_a_pass(item: dict[str, Any]) -> bool:
    """Whether the speed is one of passes that write, or compute, several positions."""
    stated = [item[key] for key in PASS_KEYS if item.get(key) is not None]
    return any(value != 1 for value in stated) or (bool(stated) and item.get("block_size") not in (None, 1))


def _count(value: object) -> bool:
    return isinstance(value, int) and not isinstance(value, bool) and 1 <= value <= 10**9


def _text(value: object) -> str | None:
    return value if isinstance(value, str) and value.strip() else None
