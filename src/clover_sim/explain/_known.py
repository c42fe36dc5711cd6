"""Names as logs have them, found among the built-in models, accelerators, formats and methods. No file of the log's
choice is opened: a path counts by its last part only."""

from __future__ import annotations

import os
import re

from clover_sim.errors import UsageError
from clover_sim.specs.precision import GGUF_BITS
from clover_sim.speculation import method_name

_SNAPSHOT = re.compile(r"models--[^/]+?--([^/]+)/snapshots/")
_SHARD = re.compile(r"-\d{5}-of-\d{5}$")
_TAGS = re.compile(
    r"-(?:instruct|chat|it|base|text|thinking|hf|gguf|bf16|f16|fp16|fp8|int[48]|w[48]a(?:8|16)(?:-g\d+)?|awq|gptq|nvfp4|"
    r"mxfp4|fp4|bnb|4bit|8bit|dynamic|quantized|mtp|ud|preview|autoround|v\d(?:\.\d)?|\d{4}|"
    r"i?q\d(?:-[0-9klmsxn]{1,3}){0,3})$"
)
"""Ends of a name that do not change what a pass costs: training, file format, number format, date."""
_BITS = (
    ("nvfp4|fp4", "nvfp4"), ("mxfp4", "mxfp4"), ("fp8", "fp8"), ("w8a8|w8a16|int8", "int8"),
    ("w4a16|int4|awq|gptq|4bit", "int4"), ("f16|bf16", "bf16"),
)  # fmt: skip
_CARD_WORDS = re.compile(
    r"\(tm\)|\(r\)|\b(?:nvidia|amd|intel|apple|geforce|radeon|tesla|graphics|gpu|hbm3e?)\b|[()]|-sxm\d?"
)


def last_part(stated: str) -> str:
    """The name in a path, a repository or a folder of a download cache, as it is written on a command line.

    >>> last_part("/hub/models--Qwen--Qwen3-8B-FP8/snapshots/ab12"), last_part("m\\\\Phi-4-Q4_K_M.gguf")
    ('qwen3-8b-fp8', 'phi-4-q4-k-m')
    """
    path = stated.strip().replace("\\", "/").rstrip("/")
    found = _SNAPSHOT.search(path)
    name = found[1] if found else path.rsplit("/", 1)[-1]
    name = name.lower().removesuffix(".gguf").replace(":", "-").replace("_", "-")
    return _SHARD.sub("", re.sub(r"\s+", "-", name))


def model(stated: str) -> str | None:
    """The built-in model of that name; what only tells of training, dates and formats is passed over.

    >>> model("Qwen/Qwen3-8B-FP8"), model("/models/Meta-Llama-3.1-8B-Instruct-Q4_K_M.gguf"), model("acme/own-7b")
    ('qwen3-8b', 'llama-3.1-8b', None)
    """
    known = _names("models")
    name = last_part(stated)
    while name:
        if name in known:
            return known[name]
        shorter = _TAGS.sub("", name)
        if shorter == name:
            return None
        name = shorter
    return None


def precision(stated: str) -> str | None:
    """The format of weights that a name or an engine's word tells, as ``--precision`` takes it.

    >>> precision("Qwen3-8B-FP8"), precision("awq_marlin"), precision("x-Q4_K_M.gguf"), precision("x")
    ('fp8', 'int4', '4.85', None)
    """
    name = last_part(stated)
    if re.fullmatch(r"\d{1,2}\.\d{1,2}", name):
        return name
    for ending, bits in GGUF_BITS.items():
        if name.endswith(ending) or f"-{ending}-" in name:
            return str(bits)
    return next((ours for pattern, ours in _BITS if re.search(rf"(?:^|[-.])(?:{pattern})(?:$|[-.])", name)), None)


def accelerator(stated: str) -> str | None:
    """The built-in accelerator of that name.

    >>> accelerator("NVIDIA GeForce RTX 3090"), accelerator("Apple M4 Pro"), accelerator("Voodoo 2")
    ('rtx-3090', 'm4-pro', None)
    """
    known = _names("hardware")
    words = _CARD_WORDS.sub(" ", stated.lower()).replace("_", " ").split()
    whole = "-".join(words)
    return known.get(whole) or known.get("-".join(words[:3])) or known.get("-".join(words[:2]))


def same_card(given: str, stated: str) -> bool:
    """Whether two accelerators may be one: of one name, a variant of it, or described in a file.

    >>> same_card("h100", "h100-pcie"), same_card("b200", "h100"), same_card("my-own-card", "h100")
    (True, False, True)
    """
    known = _names("hardware").values()
    a, b = f"{given}-", f"{stated}-"
    return given not in known or stated not in known or a.startswith(b) or b.startswith(a)


def method(stated: str, drafter: str | None = None, topk: int | None = None) -> str | None:
    """The method that an engine's word means; ``None`` for one that is not priced here.

    Args:
        drafter: the model that drafts, ``None`` if it is the target itself. topk: children a node of a tree.

    >>> method("qwen3_next_mtp"), method("EAGLE", None), method("EAGLE3", "x", 8), method("draft-simple", "x")
    ('mtp', 'mtp', 'eagle-tree', 'draft-model')
    """
    parts = [part.strip() for part in re.split(r"[,+]", stated.lower())]
    name = next((part for part in parts if not part.startswith("ngram")), parts[0]).replace("_", "-")
    name = name.removeprefix("draft-") if name != "draft-model" else name
    own = last_part(drafter) if drafter else ""
    if name.endswith("mtp") or name == "nextn" or (stated == "EAGLE" and not own):
        return "mtp"
    if name.startswith("ngram"):
        return "ngram"
    if name.startswith("eagle") and (topk or 1) > 1:
        return "eagle-tree"
    if name == "eagle" and "eagle3" in own.replace("-", ""):
        return "eagle3"
    try:
        return method_name("draft-model" if name in ("simple", "draft", "draft-model") else name)
    except UsageError:
        return None


_cache: dict[str, dict[str, str]] = {}


def _names(folder: str) -> dict[str, str]:
    """Names and aliases of a kind of data file, without their owners, and the file's own name."""
    from clover_sim.specs.load import DATA, all_names

    if folder not in _cache:
        found: dict[str, str] = {}
        for alias, path in all_names(os.path.join(DATA, folder)).items():
            found.setdefault(alias.rsplit("/", 1)[-1].replace("_", "-"), os.path.basename(path).removesuffix(".toml"))
        _cache[folder] = found
    return _cache[folder]
