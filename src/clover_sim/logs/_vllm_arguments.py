"""The arguments in a start-up line of vLLM, whichever of its layouts it has."""

from __future__ import annotations

import re
from typing import Any, NamedTuple

from clover_sim.logs._configuration import command, count, flags
from clover_sim.logs._literal import keywords_at, value_at

MARKS = ("non-default args:", "with config: ", "Namespace(", "vllm serve ", "vllm.entrypoints.", "SpeculativeConfig(")

_DEFAULTS = re.compile(r"non-default args:\s*(?=\{)")
_KEYWORDS = re.compile(
    r"engine(?: \(v[^)]{1,80}\))? with config:\s*(?=\w+=)"  # of the engine
    r"|\bargs:\s*Namespace\(|^Namespace\("  # of the server, until 2025, and of the benchmark client
)
_SPECULATIVE = re.compile(r"\bSpeculativeConfig\(")
_COMMAND = re.compile(r"(?:^|[\s$#>])(?:vllm serve|\S*python[\d.]*\s+-m\s+vllm\.entrypoints\.[\w.]+)\s+(.{3,})$")
_FLAGS = {
    "model": ("--model",), "tensor_parallel_size": ("--tensor-parallel-size", "-tp", "--tensor_parallel_size"),
    "quantization": ("--quantization", "-q"),
    "speculative_config": ("--speculative-config", "--speculative_config"),
    "speculative_model": ("--speculative-model", "--speculative_model"),
    "num_speculative_tokens": ("--num-speculative-tokens", "--num_speculative_tokens"),
}  # fmt: skip


class Arguments(NamedTuple):
    """What bears on speed; ``None`` where the line does not say it."""

    model: Any = None
    tensor_parallel_size: int | None = None
    precision: Any = None
    method: Any = None
    drafter: Any = None
    num_speculative_tokens: int | None = None
    parallel_drafting: Any = None
    eager: Any = None


def arguments_of(text: str) -> Arguments | None:
    """The arguments in a cleaned line; ``None`` if it is no start-up line.

    >>> found = arguments_of("non-default args: {'model': 'a/b', 'speculative_config': {'method': 'mtp'}}")
    >>> found.model, found.method, found.tensor_parallel_size
    ('a/b', 'mtp', None)
    """
    if found := _DEFAULTS.search(text):
        given = value_at(text, found.end())
    elif found := _KEYWORDS.search(text):
        given = keywords_at(text, found.end())
    elif found := _SPECULATIVE.search(text):
        given = {"speculative_config": keywords_at(text, found.end())}
    elif found := _COMMAND.search(text):
        words = command(found[1])
        given = {**flags(words, _FLAGS), "enforce_eager": "--enforce-eager" in words}
        if dotted := _dotted(words):
            given["speculative_config"] = dotted
        if "model" not in given and words and not words[0].startswith("-"):
            given["model"] = words[0]
    else:
        return None
    return _arguments(given) if isinstance(given, dict) else None


def _dotted(words: list[str]) -> dict[str, str]:
    """Entries of the speculative configuration given one by one: ``--speculative-config.method ngram``."""
    found = {}
    for word, following in zip(words, [*words[1:], ""], strict=True):
        head, dot, key = word.partition(".")
        if dot and head in ("--speculative-config", "--speculative_config"):
            key, equals, value = key.partition("=")
            found[key.replace("-", "_")] = value if equals else following
    return found


def _arguments(given: dict[str, Any]) -> Arguments:
    speculative: Any = given.get("speculative_config")
    if isinstance(speculative, str) and speculative.lstrip().startswith("{"):
        speculative = value_at(speculative.strip())
    if not isinstance(speculative, dict):
        speculative = {name: given.get(old) for name, old in (("model", "speculative_model"),
                       ("num_speculative_tokens", "num_speculative_tokens"))}  # fmt: skip
    k = count(speculative.get("num_speculative_tokens")) or count(speculative.get("num_spec_tokens"))
    drafter: Any = speculative.get("model") or speculative.get("draft_model")
    method = speculative.get("method")
    if isinstance(drafter, str) and drafter.strip("[]") in ("ngram", "suffix"):
        drafter, method = None, method or drafter.strip("[]")
    target = given.get("model") or given.get("model_tag")
    return Arguments(
        target, count(given.get("tensor_parallel_size")), given.get("quantization"), method,
        None if drafter == target else drafter, k, speculative.get("parallel_drafting"),
        True if given.get("enforce_eager") in (True, "True", "true") else None,
    )  # fmt: skip
