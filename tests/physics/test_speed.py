"""Published speeds, with tokens per pass taken as published: what the price of a wide pass has to explain."""

from __future__ import annotations

from statistics import median

from clover_sim.diffusion_speed import against_plain_decoding, check_batches, check_speeds, clover_claim, pass_s
from clover_sim.records import Kind


def test_one_stream_speeds() -> None:
    rows = check_speeds()
    assert len(rows) >= 9 and median(abs(row.error) for row in rows) <= 0.15
    assert rows[0].to_dict()["error"] == rows[0].error


def test_a_batch_saturates_the_card() -> None:
    rows = check_batches()
    assert abs(rows[0].error) < 1e-9 and all(abs(row.error) <= 0.20 for row in rows)


def test_a_wide_canvas_loses_to_plain_decoding_where_compute_is_short() -> None:
    assert 0.05 < against_plain_decoding("m1-ultra", 9.66, "int4") < 0.8
    assert against_plain_decoding("v100", 256 / 27.6, "int4", "llama.cpp") < 1


def test_one_value_of_tokens_per_pass_explains_both_clover_speeds() -> None:
    claim = clover_claim()
    assert all(abs(error) <= 0.08 for error in claim.errors.values())
    assert 2 < claim.tokens_per_pass < 8 and claim.precision == "bf16" and 60 < claim.expert_union < 80
    assert "16" in claim.int4_on_16_gb


def test_nine_tokens_a_pass_are_not_nine_times_the_speed() -> None:
    """d3LLM's model card: 9.11 tokens a pass, 5.0x on an H100 and 3.5x on an A100. Prompt 900, answer 256; a pass at
    the start of each of the 8 blocks computes everything again, the other 20 of 28 passes a block of 32."""
    speedups = {}
    for gpu in ("h100", "a100-80gb"):
        plain = pass_s("llada-8b", gpu, block_size=1, context=1028, engine="sglang", kind=Kind.DECODE)
        block = pass_s("llada-8b", gpu, block_size=32, context=1028, engine="sglang")
        refresh = pass_s("llada-8b", gpu, block_size=32, context=0, recompute=1124, engine="sglang")
        cost = (8 * refresh + 20 * block) / 28 / plain
        assert 1.1 < cost < 5
        speedups[gpu] = 9.11 / cost
    assert 2.5 < speedups["h100"] < 8 and 1.5 < speedups["a100-80gb"] < 6.5
    assert speedups["a100-80gb"] < speedups["h100"] < 9.11
