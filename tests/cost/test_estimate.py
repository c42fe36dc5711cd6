"""``price``: what ``clover-sim price`` answers, as a library call."""

from __future__ import annotations

import json

import pytest

from clover_sim.cost import Machine, offloaded
from clover_sim.cost import price as price_pass
from clover_sim.cost.dollars import run_usd, usd_per_million
from clover_sim.cost.estimate import document, price
from clover_sim.errors import InputError, UsageError
from clover_sim.records import Kind, PassShape
from clover_sim.specs import bare_weights, load_engine, load_hardware, load_model

KEYS = {
    "model": "params embed_params lm_head_params attention_params linear_attention_params router_params "
    "shared_expert_params routed_expert_params norm_params read_every_pass_params active_params experts "
    "experts_per_token params_per_expert moe_layers kv_bytes_per_token state_bytes_per_sequence",
    "passes": "width batch_size context_tokens expert_union expert_union_independent routing_beta weight_bytes "
    "kv_bytes state_bytes flop memory_s compute_s overhead_s latency_s low_s high_s bound",
    "memory": "weight_bytes kv_bytes state_bytes total_bytes capacity_bytes fits longest_context_tokens "
    "largest_batch_size",
}


def machine(model: str = "qwen3.6-35b-a3b", gpu: str = "h200", engine: str = "sglang", **options: object) -> Machine:
    return Machine(load_model(model), load_hardware(gpu), load_engine(engine), **options)  # type: ignore[arg-type]


def test_the_document_has_every_promised_key() -> None:
    found = json.loads(json.dumps(document(price(machine(), (1, 32), (1, 8), (0, 1024))), allow_nan=False))
    assert found["schema"] == "clover-sim/price/1"
    assert set(KEYS["model"].split()) <= set(found["model"])
    assert set(found["model"]["active_params"]) == {"with_head", "no_embedding", "with_both"}
    assert set(KEYS["memory"].split()) <= set(found["memory"])
    assert len(found["passes"]) == 8 and all(set(KEYS["passes"].split()) <= set(row) for row in found["passes"])
    assert found["hardware"]["name"] == "h200" and found["engine"]["name"] == "sglang"


def test_each_combination_is_one_row_priced_as_the_library_does() -> None:
    m = machine()
    result = price(m, (1, 32), (2,), (100, 5000))
    assert [(p.width, p.context_tokens, p.kind) for p in result.passes] == [
        (1, 100, Kind.DECODE), (1, 5000, Kind.DECODE), (32, 100, Kind.DENOISE), (32, 5000, Kind.DENOISE),
    ]  # fmt: skip
    assert result.passes[3].price == price_pass(m, PassShape(Kind.DENOISE, (32, 32), 10_000))
    assert result.passes[1].tokens_per_s == pytest.approx(2 / result.passes[1].price.latency_s)


def test_shares_and_parts_add_up() -> None:
    for row in document(price(machine(), (1, 8), (1, 64), (8192,)))["passes"]:
        assert row["memory_s"] + row["compute_s"] + row["overhead_s"] == pytest.approx(row["latency_s"])
        assert sum(row["parts_s"].values()) == pytest.approx(row["latency_s"])
        assert row["low_s"] < row["latency_s"] < row["high_s"]
        assert row["bandwidth_floor_s"] < row["latency_s"]


def test_the_routing_exponent_can_be_set_and_both_unions_stand_side_by_side() -> None:
    usual, free = (price(machine(routing_beta=beta), (32,)).passes[0].price for beta in (None, 1.0))
    assert (round(usual.expert_union, 1), round(usual.expert_union_independent, 1)) == (70.8, 163.3)
    assert free.expert_union == free.expert_union_independent == usual.expert_union_independent
    assert free.routing_beta == 1.0
    with pytest.raises(InputError, match="routing_beta"):
        machine(routing_beta=float("nan"))


def test_energy_and_rent_are_board_power_and_price_times_time() -> None:
    result = price(machine("llama-3.1-70b", tensor_parallel_size=4), (1,), (8,))
    entry = result.passes[0]
    assert result.energy_j(entry) == pytest.approx(700 * 4 * entry.price.latency_s)
    assert result.usd_per_million_tokens(entry) == pytest.approx(4.29 * 4 / 3600 * 1e6 * entry.price.latency_s / 8)


def test_a_prompt_is_one_pass_and_its_share_falls_with_the_answer() -> None:
    short, long = (price(machine(), (1,), (1,), (4096,), output_tokens=n) for n in (64, 4096))
    assert short.prefill[0].price == price_pass(machine(), PassShape(Kind.PREFILL, (4096,)))
    assert 0 < long.prefill_share(long.prefill[0]) < short.prefill_share(short.prefill[0]) < 1


def test_requests_that_make_no_sense_are_refused() -> None:
    for options in ({"kind": "guess"}, {"widths": range(1, 20_000)}, {"batch_sizes": (10**7,)}):
        with pytest.raises(UsageError):
            price(machine(), **options)  # type: ignore[arg-type]


# A pass with some experts in the host's memory: the link is what it waits for.
def test_offload_moves_what_does_not_fit_over_the_link() -> None:
    tight = machine("qwen3-30b-a3b", "rtx-5070-ti", "llama.cpp", precision="int4")
    moved = offloaded(tight, "experts", 1, 4096)
    step = PassShape(Kind.DECODE, (1,), 4096)
    slow, fast = price_pass(moved, step), price_pass(tight, step)
    share = moved.offload_bytes / (moved.model.routed_expert_params * 4.15 / 8)
    bytes_moved = 8 * 48 * 4_718_592 * 4.15 / 8 * share
    assert slow.offload_s == pytest.approx(bytes_moved / (64e9 * 0.8))
    assert slow.latency_s == pytest.approx(fast.latency_s + slow.offload_s)
    layers = price_pass(offloaded(machine("llama-3.1-70b", "h100"), "layers"), step)
    assert layers.offload_s > 0.5 and layers.largest_part == "offload"
    assert offloaded(machine("qwen3-8b"), "layers") == machine("qwen3-8b")
    with pytest.raises(UsageError, match="--offload layers"):
        offloaded(machine("llama-3.1-70b", "h100"), "experts")
    with pytest.raises(UsageError, match="no link"):
        offloaded(machine("qwen3.5-397b-a17b", "m3-ultra", "mlx"), "experts")


# The bill of a three-page run on a rented H100 (allenai/olmocr issue 249): pages and tokens are different units.
def test_dollars_name_their_units() -> None:
    per_hour = 0.001097 * 3600
    assert run_usd(per_hour, 32.82) == pytest.approx(0.036, abs=1e-4)
    assert usd_per_million(per_hour, 32.82, 2190) == pytest.approx(16.44, abs=0.04)
    assert usd_per_million(per_hour, 32.82, 3) == pytest.approx(12_000, abs=10)
    assert pytest.approx(66.7, abs=0.1) == 2190 / 32.82
    with pytest.raises(InputError, match="units"):
        usd_per_million(per_hour, 32.82, 0)


# Rapid-MLX issue 567: a 5.1 GB model promised at 101 tokens/s was measured at 43.4 on an M4 Pro, 101 on an M3 Ultra.
def test_a_model_known_only_by_its_bytes_on_two_apple_machines() -> None:
    speeds = []
    for gpu in ("m4-pro", "m3-ultra"):
        result = price(Machine(bare_weights(5.1e9), load_hardware(gpu), load_engine("mlx"), "8"), contexts=(128,))
        speeds.append(result.passes[0].tokens_per_s)
        if gpu == "m4-pro":
            assert 1 / result.passes[0].floor_s(result.machine) == pytest.approx(53.5, abs=1)
    assert 35 <= speeds[0] <= 54 and 80 <= speeds[1] <= 161
    assert 2.0 <= speeds[1] / speeds[0] <= 3.05


# tt-inference-server issue 340: Qwen3-30B-A3B in bf16 on one A100 with vLLM, 103.9 tokens/s and 1.0 ms for 8k tokens.
def test_one_user_of_a_mixture_on_an_a100_is_bound_by_overhead() -> None:
    short, long = price(machine("qwen3-30b-a3b", "a100", "vllm"), contexts=(192, 8256)).passes
    assert 80 <= short.tokens_per_s <= 290
    assert 0.3e-3 <= long.price.latency_s - short.price.latency_s <= 1.6e-3
    assert short.price.overhead_s > 0.3 * short.price.latency_s
    assert 1 / short.floor_s(machine("qwen3-30b-a3b", "a100")) > 300
