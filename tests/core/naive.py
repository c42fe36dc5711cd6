"""The reference rules once more, as plainly as they are worded: lists, a loop a rule, nothing shared with the package.

An oracle: slow, and short enough to be checked by eye.
"""

from __future__ import annotations

import random
from typing import NamedTuple

WORDS = [
    "tool_call", "{", "}", '"', "name", ":", "args", "city", "query", ",", "result", "status",
    "ok", "step", "id", "=", ";", "return", "retry", "json", "value", "none", "true", "false",
]  # fmt: skip
SURE = {"{": 0.99, "}": 0.99, '"': 0.985, ":": 0.975, ",": 0.965, ";": 0.98, "=": 0.97}
COMMON = {"tool_call", "args", "result", "status", "ok", "json", "return"}


def stream(tokens: int, seed: int) -> list[str]:
    """The words of the reference stream."""
    rng = random.Random(seed)
    return [rng.choice(WORDS) for _ in range(tokens)]


class Commit(NamedTuple):
    """One position: the denoise pass that settled it (0 is the first of the run), forced or not, an error or not."""

    by: int
    forced: bool
    wrong: bool


class BlockRun(NamedTuple):
    passes: int
    errors: int
    commits: list[Commit]
    committed_by_pass: list[int]


def block_diffusion(
    words: list[str], block: int, tau: float, lift: float, seed: int, strict: bool = False, error: float = 0.18
) -> BlockRun:
    """Block after block; a pass commits all that reach tau, else the most confident one; the others gain the lift."""
    rng = random.Random(seed)
    commits: list[Commit | None] = [None] * len(words)
    passes, committed_by_pass = 0, []
    for first in range(0, len(words), block):
        positions = list(range(first, min(first + block, len(words))))
        confidence = {}
        for p in positions:
            u = rng.random()
            if words[p] in SURE:
                confidence[p] = min(SURE[words[p]] + 0.005 * u, 0.999)
            elif words[p] in COMMON:
                confidence[p] = 0.86 + 0.10 * u
            else:
                confidence[p] = 0.55 + 0.25 * u
        masked = list(positions)
        while masked:
            chosen = [p for p in masked if (confidence[p] > tau if strict else confidence[p] >= tau)]
            if chosen:
                for p in chosen:
                    commits[p] = Commit(passes, False, False)
            else:
                best = masked[0]
                for p in masked:
                    if confidence[p] > confidence[best]:
                        best = p
                chosen = [best]
                commits[best] = Commit(passes, True, rng.random() < error)
            masked = [p for p in masked if p not in chosen]
            for p in masked:
                confidence[p] = min(confidence[p] + lift, 0.999)
            committed_by_pass.append(len(chosen))
            passes += 1
    done = [commit for commit in commits if commit is not None]
    return BlockRun(passes, sum(commit.wrong for commit in done), done, committed_by_pass)


def draft_and_verify(tokens: int, draft: int, accept: float, seed: int) -> int:
    """Passes of draft-and-verify, one draft pass and one verify pass a cycle."""
    rng = random.Random(seed)
    position = passes = 0
    while position < tokens:
        accepted = 0
        while accepted < min(draft, tokens - position) and rng.random() < accept:
            accepted += 1
        passes += 2
        position += accepted + 1
    return passes
