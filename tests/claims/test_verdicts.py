"""Each verdict that a claim could get, from speeds that are put in; progress."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import replace
from typing import Any

import pytest

from clover_sim.agents.texts import open_text
from clover_sim.claims import check_claim, check_claims, load_claims
from clover_sim.claims.bench import Speed
from clover_sim.records import TokenClass
from clover_sim.streams.base import Stream

CLAIMS = {claim["id"]: claim for claim in load_claims()}


def at(tokens_per_s: float, errors: float = 1.0, tokens_per_pass: float = 4.0) -> Speed:
    seconds = tokens_per_pass / tokens_per_s
    return Speed(tokens_per_pass, seconds, tokens_per_s, 0.9 * tokens_per_s, 1.1 * tokens_per_s, errors)


def by_precision(**speeds: float) -> Callable[..., Speed]:
    return lambda _strategy, on, *_rest: at(speeds[str(on.precision)])


@pytest.mark.parametrize(
    ("bf16", "fp8", "verdict", "needed"),
    [
        (515.0, 600.0, "follows", ()),
        (490.0, 500.0, "follows", ()),  # within a twentieth
        (400.0, 600.0, "possible if served in fp8", ("400", "600")),
        (400.0, 450.0, "possible if a pass", ("5.2", "4.6")),
    ],
)
def test_a_whole_run(
    monkeypatch: pytest.MonkeyPatch, bf16: float, fp8: float, verdict: str, needed: tuple[str, ...]
) -> None:
    """4 tokens a pass: at 400/s a pass takes 10 ms, in which 515/s would be 5.15 tokens."""
    monkeypatch.setattr("clover_sim.claims.speeds.speed", by_precision(bf16=bf16, fp8=fp8))
    found = check_claim(CLAIMS["clover-h200"])
    assert found.verdict.startswith(verdict) and all(figure in found.verdict for figure in needed)
    assert found.implied["tokens_per_pass_bf16"] == pytest.approx(515 * 4 / bf16, rel=1e-3)
    assert found.simulated["tokens_per_s_range_fp8"] == [round(0.9 * fp8), round(1.1 * fp8)]


SIZES = (4, 8, 16, 32, 64, 128, 256)


@pytest.mark.parametrize(
    ("speeds", "errors_of_256", "verdict"),
    [
        ((100, 200, 300, 310, 305, 200, 100), 9.0, "follows"),
        ((100, 200, 320, 310, 305, 200, 100), 9.0, "follows"),  # 32 is within a twentieth of the best
        ((100, 200, 400, 310, 305, 200, 100), 9.0, "possible if 16 is no less coherent than 32"),
        ((100, 200, 300, 310, 400, 500, 600), 9.0, "possible if 256 is no less coherent than 32"),
        ((100, 310, 300, 310, 305, 200, 100), 9.0, "contradicts the sweep: blocks of 4 to 8 are as fast as 32"),
        ((100, 200, 300, 310, 305, 200, 100), 0.0, "contradicts the sweep: blocks of 256"),
    ],
)
def test_the_best_block_size(
    monkeypatch: pytest.MonkeyPatch, speeds: tuple[int, ...], errors_of_256: float, verdict: str
) -> None:
    table = dict(zip(SIZES, speeds, strict=True))

    def speed(strategy: str, *_rest: Any) -> Speed:
        size = int(strategy.partition("block_size=")[2] or 1)
        return at(float(table.get(size, 50)), errors_of_256 if size == 256 else 1.0)

    monkeypatch.setattr("clover_sim.claims.mechanisms.speed", speed)
    found = check_claim(CLAIMS["block-size-sweet-spot"])
    assert found.verdict.startswith(verdict)
    assert found.simulated["fastest_block"] == max(SIZES, key=lambda n: table[n])
    assert found.simulated["block_8"]["speedup"] == speeds[1] / 50


@pytest.mark.parametrize(("exchanged", "verdict"), [(False, "follows"), (True, "contradicts the tool-call workload")])
def test_what_comes_first(monkeypatch: pytest.MonkeyPatch, exchanged: bool, verdict: str) -> None:
    """The plain tool-call profile puts all structure into the first pass; with its names exchanged, rare tokens."""
    turned = bytes.maketrans(bytes([TokenClass.STRUCTURAL, TokenClass.RARE]),
                             bytes([TokenClass.RARE, TokenClass.STRUCTURAL]))  # fmt: skip

    def text(_name: str, tokens: int, seed: int) -> Stream:
        stream = open_text("tool-call", tokens, seed)
        return replace(stream, classes=stream.classes.translate(turned)) if exchanged else stream

    monkeypatch.setattr("clover_sim.claims.mechanisms.open_text", text)
    assert check_claim(CLAIMS["skeleton-first"]).verdict.startswith(verdict)


def test_progress_counts_claims(monkeypatch: pytest.MonkeyPatch) -> None:
    some = [CLAIMS[name] for name in ("floor-1ms", "scores")]
    monkeypatch.setattr("clover_sim.claims.load_claims", lambda: some)
    seen: list[tuple[int, int]] = []
    assert len(check_claims(lambda done, total: seen.append((done, total)))["claims"]) == 2
    assert seen == [(0, 2), (1, 2)]
