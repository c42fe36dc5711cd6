"""From the words of a measurement to specifications: device, model, format of the weights, engine, context.

The rules stand in docs/accuracy.md. Each is about a kind of text; none names a row.
"""

from __future__ import annotations

import os
import re
from functools import cache

from clover_sim.specs import (
    HardwareSpec,
    ModelSpec,
    Precision,
    load_engine,
    load_hardware,
    load_model,
    weight_precision,
)
from clover_sim.specs.hardware import slug
from clover_sim.specs.load import DATA, all_names
from clover_sim.specs.precision import GGUF_BITS

_SIZE = re.compile(r"(?:^|-)(\d{1,6})-?gi?b(?=-|$)")
_GGUF = re.compile(r"(?:ud-)?i?q\d-[a-z0-9-]+")
_BITS = re.compile(r"^(\d(?:\.\d+)?)-?bit$")
_LENGTH = re.compile(r"(?<!\d)(\d{1,9}(?:\.\d{1,9})?)\s*(k?)[ -]?(?:output |input )?tokens?\b", re.IGNORECASE)

DEFAULT_CONTEXT = 1500
"""Cached tokens of a sequence where a row says nothing of lengths: chats, code and mathematics of benchmarks."""

_APPLE = ("", "-pro", "-max", "-ultra")


_hardware = cache(load_hardware)
_model = cache(load_model)
engine_named = cache(load_engine)
"""The engine of that name, read once."""


@cache
def _index(folder: str) -> dict[str, str]:
    return all_names(os.path.join(DATA, folder))


def hardware_of(text: str) -> HardwareSpec | None:
    """The accelerator a device text means, or ``None``: several, none known, or "H100 or H200".

    Maker, memory size and what stands in parentheses are tried with and without. An Apple chip with more memory than
    it is sold with is the smallest of its family that has it.

    >>> hardware_of("RTX 3060 12GB").name, hardware_of("Apple M4 128GB (MLX)").name, hardware_of("RTX 9999")
    ('rtx-3060', 'm4-max', None)
    """
    known = _index("hardware")
    plain = slug(re.sub(r"\(.*?\)", " ", text))
    full = slug(re.sub(r"[()]", " ", text))
    for words in (slug(text), full, plain):
        for candidate in _shorter(words):
            if candidate in known:
                return _with_memory(_hardware(known[candidate]), words)
    return None


def _shorter(words: str) -> list[str]:
    """A device slug, without its memory, without its maker, without the name of its generation."""
    found = [words]
    without = _SIZE.sub("", words).strip("-")
    found.append(without)
    for word in (words, without):
        short = re.sub(r"^(?:nvidia|amd|apple|intel|google|tesla|geforce|radeon)-", "", word)
        found += [short, re.sub(r"-(?:blackwell|metal|mlx|igpu)$", "", short)]
    return found


def _with_memory(hardware: HardwareSpec, words: str) -> HardwareSpec:
    size = _SIZE.search(words)
    if hardware.vendor != "apple" or size is None:
        return hardware
    chip = hardware.name.split("-")[0]
    known = _index("hardware")
    for suffix in _APPLE[_APPLE.index(hardware.name[len(chip) :]) :]:
        if chip + suffix in known:
            larger = _hardware(known[chip + suffix])
            if larger.memory_bytes >= int(size[1]) * 1e9:
                return larger
    return hardware


def model_of(text: str) -> ModelSpec | None:
    """The model a text names, or ``None``. Endings that name a format or a tuning are left off one by one.

    >>> model_of("Qwen3-32B-FP8").name, model_of("LLaDA2.0-flash-CAP (BF16)").name
    ('qwen3-32b', 'llada2.0-flash')
    """
    known = _index("models")
    words = slug(re.sub(r"\(.*?\)", " ", text))
    while words:
        if words in known:
            return _model(known[words])
        words, dash, last = words.rpartition("-")
        if not dash or not re.fullmatch(_ENDING, last):
            return None
    return None


_ENDING = (
    r"it|instruct|chat|base|hf|fp8|bf16|fp16|awq|gptq|nvfp4|mxfp4|int[48]|w\d+a\d+|\d+bit|mlx|gguf|\d{4}|cap|td|preview|"
    r"i?q\d[a-z0-9_]*|b\d+"
)


def precision_of(text: str | None, model: str, engine: str) -> Precision | None:
    """The format of a row's weights: its field, else what the checkpoint's name says, else bf16; ``None`` if unknown.

    A mixture of GGUF counts its mean bits throughout; ``4bit`` on MLX has half a bit of scales a weight.

    >>> precision_of("q4_k_m", "x", "llama.cpp").bits, precision_of("4bit", "x", "mlx").bits
    (4.85, 4.5)
    >>> precision_of(None, "Qwen3-32B-FP8", "vllm").name
    'fp8'
    """
    if not text:
        endings = slug(re.sub(r"[()]", " ", model)).split("-")
        text = next((word for word in reversed(endings) if _format(word, engine) is not None), "bf16")
    return _format(slug(text), engine)


def _format(word: str, engine: str) -> Precision | None:
    if word in GGUF_BITS:
        return Precision(word, GGUF_BITS[word], GGUF_BITS[word], scope="all")
    bits = _BITS.match(word)
    if bits:
        width = float(bits[1])
        return Precision(word, width + 0.5, width, scope="all") if width < 16 else weight_precision("bf16")
    for known in ("nvfp4", "mxfp4", "fp8", "bf16", "fp16", "int8", "int4"):
        if known in word.split("-"):
            return weight_precision(known)
    if word in ("awq", "gptq", "w4a16"):
        return weight_precision("int4")
    return None


def engine_of(row: dict[str, object], hardware: HardwareSpec) -> str:
    """The engine a row ran on: its field; else the repository (or program) its source names; else the usual one.

    A field is ``engine``, or the program that ``system`` names.
    A format that only one program writes counts as its field: the mixtures of GGUF are llama.cpp's.

    >>> engine_of({"source": "ggml-org/llama.cpp#1"}, hardware_of("RTX 3090"))
    'llama.cpp'
    """
    field = row.get("engine")
    if isinstance(field, str) and field.strip():
        return field.split()[0].lower()
    for text in (row.get("system"), f"{row.get('source') or ''} {row.get('url') or ''}"):
        for word, engine in _ENGINES:
            if isinstance(text, str) and word in text.lower():
                return engine
    precision = row.get("precision")
    if isinstance(precision, str) and _GGUF.fullmatch(slug(precision)):
        return "llama.cpp"
    return "mlx" if hardware.vendor == "apple" else "vllm"


_ENGINES = (
    ("sglang", "sglang"), ("vllm-mlx", "mlx"), ("vllm", "vllm"), ("llama.cpp", "llama.cpp"), ("mlx", "mlx"),
    ("trtllm", "trtllm"), ("tensorrt-llm", "trtllm"),
)  # fmt: skip


def context_of(workload: str | None, generated: object = None) -> int:
    """Cached tokens of a sequence at the middle of its output.

    A prompt's length stated in tokens counts in full, an output's by half; else :data:`DEFAULT_CONTEXT`.

    >>> context_of("8.4K-token agent prompt"), context_of("2048 output tokens"), context_of(None)
    (8400, 1024, 1500)
    """
    found = _LENGTH.search(workload or "")
    if found:
        tokens = float(found[1]) * (1000 if found[2] else 1)
        return round(tokens if "prompt" in (workload or "") else tokens / 2)
    if isinstance(generated, int) and not isinstance(generated, bool) and 0 < generated < 10**7:
        return generated // 2
    return DEFAULT_CONTEXT


TEXTS = {
    "gsm8k": (110, 250), "math500": (120, 800), "humaneval": (190, 350), "mbpp": (90, 350),
    "livecodebench": (600, 700), "alpaca": (60, 300), "mtbench": (150, 400),
}  # fmt: skip
"""Mean tokens of a prompt, chat template and instruction included, and of an answer without thinking. ASSUMPTION: the
prompts are counted, the answers are what instruction-tuned models of 4 to 30 B parameters write; no table has them."""


def lengths_of(workload: str | None) -> tuple[int, int] | None:
    """Tokens of a prompt and of an answer of a well-known set of questions; ``None`` for any other text.

    >>> lengths_of("MATH-500"), lengths_of("MT-bench"), lengths_of("mean of MT-bench/GSM8K")
    ((120, 800), (150, 400), None)
    """
    return TEXTS.get(re.sub(r"[^a-z0-9]", "", (workload or "").lower()))
