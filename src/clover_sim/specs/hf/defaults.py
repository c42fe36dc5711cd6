"""Looking up the documented defaults of a family."""

from __future__ import annotations

_VALUES = {"T": True, "F": False}


def defaults_of(family: str) -> dict[str, int | bool]:
    """The documented defaults of a family, by key; empty for one that has none.

    >>> defaults_of("mistral")["num_key_value_heads"], defaults_of("gemma3_text")["tie_word_embeddings"]
    (8, True)
    """
    if family[:1].lower() < "h":
        from clover_sim.specs.hf.defaults_a import TABLE
    else:
        from clover_sim.specs.hf.defaults_h import TABLE
    start = TABLE.find(f"\n{family}: ")
    if start < 0:
        return {}
    found: dict[str, int | bool] = {}
    for word in TABLE[start + len(family) + 3 :].split():
        key, sign, value = word.partition("=")
        if not sign:
            break
        found[key] = _VALUES[value] if value in _VALUES else int(value)
    return found
