"""Published speeds of block diffusion against the price of their passes, tokens per pass taken as published."""

from __future__ import annotations

from dataclasses import dataclass
from math import sqrt
from typing import Any, NamedTuple

from clover_sim.cost import Machine, cost_model, does_not_fit, memory_check, price_groups
from clover_sim.records import Kind, PassShape
from clover_sim.specs import default_engine, load_engine, load_hardware, load_model

CONTEXT_TOKENS = 500
"""Cached tokens of a published run that does not state its prompt: a question and half of its answer."""

D3LLM_RECOMPUTED = 450
"""ASSUMPTION, one value fitted to six rows: tokens that d3LLM's full attention computes again in every pass. A question
of GSM8K and a canvas of 256 are about 370 of them."""


class Published(NamedTuple):
    """One published one-stream speed: tokens a second at so many tokens a forward pass."""

    model: str
    gpu: str
    cards: int
    precision: str
    block_size: int
    tokens_per_pass: float
    tokens_per_s: float
    source: str
    recompute: int = 0
    context: int = CONTEXT_TOKENS
    engine: str = "sglang"


_D3LLM = "hao-ai-lab/d3LLM, SGLang table, GSM8K-CoT, one request"
_FLASH = "LLaDA2.0 report (tokens per pass); LMSYS note on SGLang (8 H20)"
PUBLISHED = (
    Published("llada2.0-flash", "h20", 8, "bf16", 32, 3.18, 383.0, _FLASH),
    Published("llada2.0-flash", "h20", 8, "bf16", 32, 4.65, 535.0, f"{_FLASH}; confidence-aware training"),
    *(
        Published(model, gpu, 1, "bf16", 32, tpf, speed, _D3LLM, D3LLM_RECOMPUTED, 0)
        for model, tpf, speeds in (
            ("llada-8b", 9.91, (1240.99, 545.31, 251.61)), ("dream-7b", 4.89, (586.77, 280.48, 125.57)),
        )
        for gpu, speed in zip(("b200", "h100", "a100-80gb"), speeds, strict=True)
    ),
    Published("diffusiongemma-26b-a4b", "h100", 1, "fp8", 256, 15.06, 1756.55,
              "vLLM recipe, 4096 in, 512 out, 16 fixed passes and a commit", context=4352, engine="vllm"),
)  # fmt: skip

H20_BATCH = {1: 592.0, 8: 1923.0, 32: 2853.0, 64: 3241.0, 128: 3412.0}
"""LLaDA2.1-mini on one H20, GSM8K, tokens a second by concurrency (sgl-project/sglang#33322)."""

CLOVER = {"h200": 515.0, "gb300": 680.0}
"""Tokens a second of Clover-35B-A3B-Preview in its release notes; precision, batch and cards are not stated."""


@dataclass(frozen=True, slots=True)
class SpeedCheck:
    """A published speed in tokens a second beside the model's; ``error`` is relative."""

    name: str
    published: float
    model: float
    source: str

    @property
    def error(self) -> float:
        """Relative error of the speed."""
        return self.model / self.published - 1

    def to_dict(self) -> dict[str, Any]:
        """As plain JSON values."""
        return {"name": self.name, "published": self.published, "model": self.model, "error": self.error,
                "source": self.source}  # fmt: skip


def pass_s(
    model: str, gpu: str, *, block_size: int, precision: str = "bf16", engine: str | None = None, cards: int = 1,
    context: int = CONTEXT_TOKENS, batch: int = 1, recompute: int = 0, kind: Kind = Kind.DENOISE,
) -> float:  # fmt: skip
    """Seconds of one pass over a block of every request of a batch."""
    machine = _machine(model, gpu, precision, engine, cards)
    shape = PassShape(kind, (block_size,) * batch, context * batch, recompute * batch)
    return price_groups(cost_model("roofline", machine), [(shape, 1)]).latency_s


def _machine(model: str, gpu: str, precision: str, engine: str | None, cards: int) -> Machine:
    hardware = load_hardware(gpu)
    loaded = load_engine(engine or default_engine(hardware))
    return Machine(load_model(model), hardware, loaded, precision=precision, tensor_parallel_size=cards)


def check_speeds() -> list[SpeedCheck]:
    """Every published one-stream speed whose model, card and tokens per pass are stated."""
    rows = []
    for p in PUBLISHED:
        seconds = pass_s(
            p.model, p.gpu, block_size=p.block_size, precision=p.precision, engine=p.engine, cards=p.cards,
            context=p.context, recompute=p.recompute,
        )  # fmt: skip
        name = f"{p.model} on {p.cards} x {p.gpu}, {p.tokens_per_pass:g} tokens a pass"
        rows.append(SpeedCheck(name, p.tokens_per_s, p.tokens_per_pass / seconds, p.source))
    return rows


def check_batches() -> list[SpeedCheck]:
    """LLaDA2.1-mini on an H20 by concurrency: tokens per pass fitted at 1, the other four predicted."""
    def seconds(batch: int) -> float:
        return pass_s("llada2.0-mini", "h20", block_size=32, engine="sglang", batch=batch)

    fitted = H20_BATCH[1] * seconds(1)
    source = f"sgl-project/sglang#33322; {fitted:.2f} tokens a pass fitted at concurrency 1"
    return [SpeedCheck(f"concurrency {b}", v, fitted * b / seconds(b), source) for b, v in H20_BATCH.items()]


def against_plain_decoding(gpu: str, tokens_per_pass: float, precision: str, engine: str | None = None) -> float:
    """Speed of DiffusionGemma over that of the model of the same size that writes token by token, one request.

    Reported: .21 on an M1 Ultra (lablup/mlxcel#218); slower than plain decoding on a V100 (llama.cpp#24423).
    """
    how = {"precision": precision, "engine": engine}
    wide = pass_s("diffusiongemma-26b-a4b", gpu, block_size=256, **how)  # type: ignore[arg-type]
    one = pass_s("gemma-4-26b-a4b", gpu, block_size=1, kind=Kind.DECODE, **how)  # type: ignore[arg-type]
    return tokens_per_pass / wide * one


class CloverClaim(NamedTuple):
    """What the release notes' two speeds imply: one value of tokens per pass (cache-writing passes included) for both
    machines, the errors that leaves, and the settings it needs."""

    tokens_per_pass: float
    errors: dict[str, float]
    precision: str
    engine: str
    expert_union: float
    int4_on_16_gb: str


def clover_claim(precision: str = "bf16", engine: str = "sglang") -> CloverClaim:
    """The value with the smallest largest error over both machines."""
    seconds = {
        gpu: pass_s("clover-35b-a3b", gpu, block_size=32, precision=precision, engine=engine) for gpu in CLOVER
    }
    implied = [speed * seconds[gpu] for gpu, speed in CLOVER.items()]
    value = sqrt(min(implied) * max(implied))
    cost = cost_model("roofline", _machine("clover-35b-a3b", "h200", precision, engine, 1))
    [kind] = price_groups(cost, [(PassShape(Kind.DENOISE, (32,), CONTEXT_TOKENS, 0), 1)]).by_kind
    small = _machine("clover-35b-a3b", "rtx-5070-ti", "int4", None, 1)
    picture = memory_check(small, 1, CONTEXT_TOKENS)
    return CloverClaim(
        value, {gpu: value / seconds[gpu] / speed - 1 for gpu, speed in CLOVER.items()}, precision, engine,
        kind.expert_union, "" if picture.fits else does_not_fit(small, picture),
    )  # fmt: skip
