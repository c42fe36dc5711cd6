"""Hand-made results for the tests of the formats; no simulator is involved."""

from __future__ import annotations

from dataclasses import dataclass, field
from typing import Any

MACHINE = {"model": "clover-35b-a3b", "gpu": "h200", "precision": "bf16", "batch_size": 1, "cost": "roofline"}
SPECULATIVE = {"num_speculative_tokens": 5, "acceptance": 0.72, "parallel_draft": True}
BLOCK = {"block_size": 32, "threshold": 0.95, "comparison": "ge"}


@dataclass(frozen=True)
class Sample:
    """Looks like a comparison to a renderer."""

    rows: tuple[dict[str, Any], ...]
    settings: dict[str, Any] = field(default_factory=lambda: dict(MACHINE))
    seeds: tuple[int, ...] = ()
    notes: tuple[str, ...] = ()
    inputs: tuple[dict[str, Any], ...] = ()

    def to_dict(self) -> dict[str, Any]:
        return {"schema": "clover-sim/comparison/1", "seeds": list(self.seeds), "rows": [dict(r) for r in self.rows]}


def row(tokens: int, strategy: str, target: int, draft: int = 0, **changes: Any) -> dict[str, Any]:
    """A row whose derived figures follow from the passes at 5 ms (ar), 7 ms (verify) or 9 ms (denoise) each."""
    ms = {"ar": 5.21, "speculative": 7.4}.get(strategy, 9.83)
    latency = (target * ms + draft * 0.6) / 1e3
    made: dict[str, Any] = {
        "stream": "reference", "tokens": tokens, "strategy": strategy,
        "options": {"ar": {}, "speculative": SPECULATIVE}.get(strategy, BLOCK),
        "drafter": {"model": "dense-0.5b", "acceptance": [0.72]} if strategy == "speculative" else None,
        "kv_write": "none", "eos_stop": "block", "seeds": 1,
        "target_passes": target, "draft_passes": draft, "kv_write_passes": 0,
        "denoise_passes": target if strategy == "block-diffusion" else 0, "prefill_passes": 0,
        "tokens_per_pass": tokens / target, "tokens_per_denoise_pass": tokens / target,
        "speedup_passes": tokens / (target + draft), "forced_commits": 3 if strategy == "block-diffusion" else 0,
        "locked_errors": 1 if strategy == "block-diffusion" and tokens > 300 else 0, "wasted_positions": 0,
        "ms_per_pass": ms, "latency_s": latency, "latency_low_s": latency * 0.9, "latency_high_s": latency * 1.2,
        "prefill_s": 0.0, "tokens_per_s": tokens / latency, "speedup_time": tokens * 5.21e-3 / latency,
        "bound": "memory" if strategy == "block-diffusion" else "overhead",
    }  # fmt: skip
    return made | changes


def default() -> Sample:
    """The published pass counts of the reference stream, priced by hand."""
    counts = {128: (36, 24), 256: (86, 48), 512: (163, 95), 1024: (331, 191)}
    rows: list[dict[str, Any]] = []
    for tokens, (verify, block) in counts.items():
        rows += [row(tokens, "ar", tokens), row(tokens, "speculative", verify, verify)]
        rows.append(row(tokens, "block-diffusion", block))
    notes = (
        "K/V writes are not counted (kv_write none); --kv-write separate adds one pass a block.",
        "Speed-up in time is smaller than in passes: a pass over 32 positions reads the weights of 70 of 256 experts, "
        "a pass over one token those of 8.",
    )
    return Sample(tuple(rows), notes=notes)
