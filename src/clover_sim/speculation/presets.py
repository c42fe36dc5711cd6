"""Acceptance by kind of text, where nothing was measured: starting points with a range, not predictions."""

from __future__ import annotations

from clover_sim.acceptance import DEFAULT_RHO, Acceptance, from_alpha
from clover_sim.errors import UsageError, suggest
from clover_sim.speculation.methods import BLOCK, METHODS, method_name

WORKLOADS = {"code": 0.80, "math": 0.78, "chat": 0.70, "prose": 0.58, "rag": 0.65, "random": 0.40}
"""Conditional acceptance of the first draft with an EAGLE-3 head. Judged from published acceptance lengths (arXiv
2503.01840, SpecForge SpecBundle, vLLM recipes); prompts of random tokens give the last, which is no workload."""

NEAREST = {
    "tool-call": "code", "tiny-tool-call": "code", "tiny-code": "code", "agent": "code", "json": "code", "sql": "code",
    "thinking": "math", "reasoning": "math", "gsm8k": "math", "humaneval": "code", "mt-bench": "chat",
    "summary": "rag", "qa": "rag", "reference": "prose", "story": "prose", "translation": "prose",
}  # fmt: skip
"""Other names of kinds of text, those of profiles among them, and the preset whose texts are most like theirs."""

MTP_ABOVE = 0.08
"""How much more a target's own multi-token layer gets (arXiv 2412.19437; vLLM recipes)."""

BLOCK_RHO, BLOCK_ALPHA = 0.99, {"math": 0.93, "code": 0.89, "chat": 0.79}
"""DFlash, block 16: these give the published lengths 7.9, 6.5 and 4.2 (arXiv 2602.06036 Table 1)."""

NGRAM = {"rag": (0.6, 0.75), "code": (0.6, 0.75), "chat": (0.2, 0.35)}
"""Hit rate and acceptance given a hit of prompt lookup. ASSUMPTION: no hit rates are published."""

SPREAD = 0.1
"""Published rates of one drafter on texts of one kind lie about so far apart on either side."""


def preset(workload: str, method: str, k: int, shift: float = 0.0) -> tuple[Acceptance, float]:
    """Acceptance and hit rate of a method on a kind of text; ``shift`` moves the rate (see :data:`SPREAD`).

    >>> made, hits = preset("code", "eagle3", 3)
    >>> round(made.length, 2), hits
    (2.89, 1.0)
    """
    if workload not in WORKLOADS:
        raise UsageError(_unknown(workload))
    name, rho, hit_rate = method_name(method), DEFAULT_RHO, 1.0
    alpha = WORKLOADS[workload]
    if METHODS[name].how == BLOCK:
        alpha, rho = BLOCK_ALPHA.get(workload, alpha + 0.09), BLOCK_RHO
    elif name == "mtp":
        alpha += MTP_ABOVE
    elif name in ("ngram", "suffix"):
        hit_rate, alpha = NGRAM.get(workload, (0.35, 0.5))
    made = from_alpha(min(max(alpha + shift, 0.0), 1.0), k, rho)
    given = f"preset {workload} for {name}: {made.given}; judged from published runs, {SPREAD:g} either way"
    return Acceptance(made.survival, given, rho), hit_rate


def _unknown(workload: str) -> str:
    """That there is no preset, which is nearest, and which there are."""
    near = NEAREST.get(workload.lower().replace("_", "-"))
    if near is None:
        return f"workload {workload!r} has no preset{suggest(workload, WORKLOADS)}"
    return (
        f"workload {workload!r} has no preset, for no acceptance of drafts on such texts is published; the nearest is "
        f"{near}; known: {', '.join(sorted(WORKLOADS))}"
    )
