"""How long a draft is, in either spelling: with the root, as SGLang counts, or without it, as vLLM does."""

from __future__ import annotations

from clover_sim.errors import UsageError

MOST_DRAFTS = 4096
"""Draft tokens a cycle; far more than any engine verifies."""


class WithRoot(int):
    """A count of draft tokens that nobody gave: worked out from the length, and again if that is replaced.

    A frozen decoder echoes both spellings, and ``dataclasses.replace(decoder, num_speculative_tokens=3)`` must not be
    held against the other one.
    """


def draft_length(num_speculative_tokens: int | None, speculative_num_draft_tokens: int | None, default: int) -> int:
    """Draft tokens a cycle from either spelling: vLLM's k, or SGLang's count that includes the root (k + 1).

    >>> draft_length(None, 4, 5), draft_length(3, 4, 5), draft_length(None, None, 5), draft_length(2, WithRoot(9), 5)
    (3, 3, 5, 2)
    """
    k, with_root = num_speculative_tokens, speculative_num_draft_tokens
    if k is not None and isinstance(with_root, WithRoot):
        with_root = None
    if k is not None and not 1 <= k <= MOST_DRAFTS:
        raise UsageError(f"num_speculative_tokens={k}: expected at least 1 and at most {MOST_DRAFTS} draft tokens")
    if with_root is None:
        return default if k is None else k
    if not 2 <= with_root <= MOST_DRAFTS + 1:
        raise UsageError(
            f"speculative_num_draft_tokens={with_root}: it counts the root, so 2 to {MOST_DRAFTS + 1} are expected"
        )
    if k is not None and k != with_root - 1:
        raise UsageError(
            f"num_speculative_tokens={k} contradicts speculative_num_draft_tokens={with_root}, which counts the root "
            f"and so means {with_root - 1}"
        )
    return with_root - 1
