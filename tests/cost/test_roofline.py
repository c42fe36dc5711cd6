"""The price of a pass: published steps, closed forms, and laws that any price must obey."""

from __future__ import annotations

import dataclasses
import itertools

import pytest

from clover_sim.cost import Machine, PassPrice, price
from clover_sim.errors import InputError, UsageError
from clover_sim.records import Kind, PassShape
from clover_sim.specs import DEFAULT_DRAFTER, ModelSpec, bare_hardware, load_engine, load_hardware, load_model


def machine(model: str = "qwen3.6-35b-a3b", gpu: str = "h200", engine: str = "sglang", **options: object) -> Machine:
    return Machine(load_model(model), load_hardware(gpu), load_engine(engine), **options)  # type: ignore[arg-type]


STEP, BLOCK = PassShape(Kind.DECODE, (1,)), PassShape(Kind.DENOISE, (32,))


@pytest.mark.parametrize(("gpu", "step_ms", "block_ms"), [("h200", 4.5, 10.8), ("b200", 4.0, 8.6)])
def test_a_step_and_a_block_pass_of_the_35b_model(gpu: str, step_ms: float, block_ms: float) -> None:
    m = machine(gpu=gpu)
    assert round(price(m, STEP).latency_s * 1e3, 1) == step_ms
    assert round(price(m, BLOCK).latency_s * 1e3, 1) == block_ms


def test_what_a_block_pass_is_made_of_on_an_h200() -> None:
    p = price(machine(), BLOCK)
    assert [round(s * 1e3, 1) for s in (p.weights_s, p.layers_s, p.host_s)] == [5.2, 2.2, 3.2]
    assert (round(p.expert_union, 1), round(p.expert_union_independent, 1), p.routing_beta) == (70.8, 163.3, 0.67)


# Bytes of weights a pass reads in bf16, GB: independent tokens, and one block.
@pytest.mark.parametrize(
    ("model", "width", "independent", "block"),
    [
        ("qwen3.6-35b-a3b", 1, 5.89, 5.89), ("qwen3.6-35b-a3b", 4, 11.56, 8.85), ("qwen3.6-35b-a3b", 8, 18.33, 11.61),
        ("qwen3.6-35b-a3b", 16, 29.54, 15.74), ("qwen3.6-35b-a3b", 32, 44.98, 21.70),
        ("qwen3.6-35b-a3b", 256, 68.29, 50.81), ("qwen3-30b-a3b", 32, 53.1, 30.4), ("llada2.0-mini", 32, 20.8, 9.7),
        ("qwen3-8b", 32, 15.1, 15.1), ("gpt-oss-120b", 16, 94.5, 45.3), ("deepseek-v3", 8, 325.7, 189.4),
    ],
)  # fmt: skip
def test_the_table_of_bytes_a_pass(model: str, width: int, independent: float, block: float) -> None:
    m = machine(model)
    spread = price(m, PassShape(Kind.DECODE, (1,) * width)).weight_bytes / 1e9
    together = price(m, PassShape(Kind.DENOISE, (width,))).weight_bytes / 1e9
    assert spread == pytest.approx(independent, abs=0.051)
    assert together == pytest.approx(block, abs=0.051)


def test_a_dense_model_on_an_ideal_machine_is_bytes_over_bandwidth() -> None:
    m = machine("qwen3-8b", engine="ideal")
    p = price(m, STEP)
    bytes_read = 7_568_405_504 * 2
    assert p.weights_s == pytest.approx(bytes_read / 4.8e12, rel=1e-12)
    assert p.latency_s - p.activation_s - p.kv_s == pytest.approx(p.weights_s, rel=1e-12)
    assert (p.bound, p.largest_part) == ("memory", "weights")


def test_cached_context_costs_its_bytes() -> None:
    m = machine("qwen3-8b", engine="ideal")
    near, far = (price(m, PassShape(Kind.DECODE, (1,), context)) for context in (0, 10_000))
    assert far.latency_s - near.latency_s == pytest.approx(10_000 * 73_728 * 2 / 4.8e12)


def test_a_70b_model_in_four_bits_reads_40_6_gigabytes() -> None:
    # 4.5 bits with the scales, a 16-bit head, no input embedding: NVIDIA's Llama-3.3-70B-Instruct-FP4.
    assert price(machine("llama-3.1-70b", precision="nvfp4"), STEP).weight_bytes / 1e9 == pytest.approx(40.61, abs=0.01)


def test_latency_is_affine_in_the_context() -> None:
    for kind, widths in ((Kind.DECODE, (1,)), (Kind.DENOISE, (32, 32)), (Kind.VERIFY, (9,)), (Kind.PREFILL, (512,))):
        for name in ("qwen3-8b", "qwen3.6-35b-a3b", "deepseek-v3"):
            m = machine(name, drafter=load_model(DEFAULT_DRAFTER))
            at = [price(m, PassShape(kind, widths, context)).latency_s for context in (0, 5_000, 100_000)]
            assert at[1] == pytest.approx(at[0] + (at[2] - at[0]) * 0.05, rel=1e-12)


def test_the_parts_add_up() -> None:
    m = machine(tensor_parallel_size=2, drafter=load_model(DEFAULT_DRAFTER))
    for kind in Kind:
        p = price(m, PassShape(kind, (5, 1), 3_000, 7))
        parts = (p.weights_s, p.compute_s, p.kv_s, p.state_s, p.activation_s, p.layers_s, p.host_s, p.allreduce_s)
        assert p.latency_s == pytest.approx(sum(parts), rel=1e-12)
        assert p.latency_s == pytest.approx(p.memory_s + p.compute_s + p.overhead_s, rel=1e-12)
        assert 0 < p.low_s <= p.latency_s <= p.high_s


def slower(model: ModelSpec, **changes: float) -> tuple[PassPrice, PassPrice]:
    gpu = load_hardware("h200")
    changed = dataclasses.replace(gpu, **changes)  # type: ignore[arg-type]
    shape = PassShape(Kind.VERIFY, (6, 6), 4_000)
    return tuple(price(Machine(model, g, load_engine("vllm")), shape) for g in (gpu, changed))  # type: ignore[return-value]


@pytest.mark.parametrize("name", ["qwen3-8b", "clover-35b-a3b"])
def test_more_of_anything_is_never_slower(name: str) -> None:
    model = load_model(name)
    for changes in ({"bandwidth_bytes_per_s": 2e12}, {"bf16_flop_per_s": 2e13}):
        fast, slow = slower(model, **changes)
        assert fast.latency_s < slow.latency_s


@pytest.mark.parametrize("kind", list(Kind))
def test_a_wider_pass_is_never_cheaper(kind: Kind) -> None:
    m = machine(drafter=load_model(DEFAULT_DRAFTER))
    widths = [1, 2, 3, 8, 32, 100, 1_000, 8_000]
    prices = [price(m, PassShape(kind, (width,), 1_000)) for width in widths]
    for narrow, wide in itertools.pairwise(prices):
        assert narrow.latency_s < wide.latency_s
        assert narrow.expert_union <= wide.expert_union
        assert narrow.flop < wide.flop


def test_more_sequences_context_or_recomputed_tokens_cost_more() -> None:
    m = machine()
    base = price(m, PassShape(Kind.DENOISE, (32,), 1_000)).latency_s
    for shape in (
        PassShape(Kind.DENOISE, (32, 32), 1_000),
        PassShape(Kind.DENOISE, (32,), 2_000),
        PassShape(Kind.DENOISE, (32,), 1_000, 64),
    ):
        assert price(m, shape).latency_s > base


def test_recomputing_the_whole_text_reads_every_expert() -> None:
    p = price(machine(), PassShape(Kind.DENOISE, (32,), 0, 2_000))
    assert p.expert_union == pytest.approx(256, abs=0.1)


def test_a_verify_pass_spans_the_routing_it_may_have() -> None:
    m = machine(engine="ideal")
    p = price(m, PassShape(Kind.VERIFY, (8,)))
    fixed = load_model("qwen3.6-35b-a3b").read_every_pass_params * 2
    rest = p.latency_s - p.weights_s
    for seconds, beta in ((p.low_s, 0.7), (p.high_s, 1.0)):
        union = 256 * (1 - (1 - 8 / 256) ** 8**beta)
        assert seconds - rest == pytest.approx((fixed + union * 40 * 3_145_728 * 2) / 4.8e12)


def test_compute_binds_a_wide_pass_of_a_dense_model() -> None:
    p = price(machine("qwen3-8b", engine="kernels"), PassShape(Kind.PREFILL, (8_192,)))
    assert p.bound == "compute" and p.weights_s < 0.01 * p.compute_s
    assert price(machine("qwen3-8b", engine="ideal"), PassShape(Kind.PREFILL, (8_192,))).weights_s == 0


# Kernel tables of ai-dynamo/aiconfigurator 0.12: matrix products of one pass, ms, by its tokens; not fitted one by one.
@pytest.mark.parametrize(
    ("model", "gpu", "measured"),
    [
        ("qwen3-8b", "b200", {1: 2.70, 128: 2.99, 1024: 9.24, 8192: 73.6}),
        ("qwen3-8b", "h200", {1: 3.94, 128: 4.44, 1024: 17.5, 8192: 155.2}),
        ("qwen3-32b", "h200", {1: 16.4, 128: 18.5, 1024: 82.1, 8192: 712.3}),
        ("qwen3-32b", "a100", {1: 41.8, 1024: 233.1, 8192: 1778.0}),
    ],
)
def test_plain_products_from_one_token_to_a_long_prompt(model: str, gpu: str, measured: dict[int, float]) -> None:
    m = machine(model, gpu, engine="kernels")
    floor = 4 * 3.1e-6 * m.model.layers  # four products a layer, each with a floor of its own
    for tokens, milliseconds in measured.items():
        p = price(m, PassShape(Kind.PREFILL, (tokens,)))
        assert (p.weights_s + p.compute_s + floor) * 1e3 == pytest.approx(milliseconds, rel=0.16)


# The same, routed experts of one layer stack: reading them all, then arithmetic on top.
@pytest.mark.parametrize(("tokens", "measured"), [(128, 9.15), (1024, 12.4), (8192, 36.3)])
def test_the_arithmetic_of_experts_comes_on_top_of_reading_them(tokens: int, measured: float) -> None:
    m = machine("qwen3-30b-a3b", "b200", engine="kernels")
    rates, union = m.target_rates, 128 * (1 - (1 - 8 / 128) ** tokens)
    extra = (tokens - union / 8) * rates.expert_flop * rates.expert_s_per_flop
    assert (union * rates.expert_s + extra) * 1e3 == pytest.approx(measured, rel=0.12)


def test_drafts_cost_the_drafter_and_their_own_host_time_alone() -> None:
    draft = PassShape(Kind.DRAFT, (1,), 500)
    assert price(machine(), draft).latency_s == 0
    p = price(machine(drafter=load_model(DEFAULT_DRAFTER)), draft)
    assert p.host_s == 2e-6  # one token chosen
    assert price(machine(drafter=load_model(DEFAULT_DRAFTER), engine="vllm"), draft).host_s == 0.7e-3 + 2e-6
    assert p.weight_bytes == 596_049_920 * 2
    assert p.latency_s < price(machine(), STEP).latency_s


def test_wide_passes_pay_the_host_of_a_cycle() -> None:
    m = machine()
    step, verify = price(m, STEP), price(m, PassShape(Kind.VERIFY, (1,)))
    assert verify.host_s - step.host_s == pytest.approx(2.2e-3 + 10e-6 + 4.6e-6)


def test_cards_share_bytes_but_not_overhead() -> None:
    one, four = (price(machine("llama-3.1-70b", tensor_parallel_size=n), STEP) for n in (1, 4))
    assert four.weights_s == pytest.approx(one.weights_s / 4)
    assert four.weight_bytes == pytest.approx(one.weight_bytes)
    assert (four.layers_s, four.host_s) == (one.layers_s, one.host_s)
    assert one.allreduce_s == 0
    assert four.allreduce_s == pytest.approx(2 * 80 * (7.0e-6 + 8192 * 2 * 1.5 / (450e9 * 0.35)))


def test_ranks_beyond_the_kv_heads_read_replicas() -> None:
    two, eight = (price(machine(tensor_parallel_size=n), PassShape(Kind.DECODE, (1,), 10_000)) for n in (2, 8))
    assert eight.kv_s == pytest.approx(two.kv_s, rel=1e-5)
    assert eight.kv_bytes == pytest.approx(4 * two.kv_bytes)


def test_low_precision_runs_on_its_own_units_only_where_they_are() -> None:
    wide = PassShape(Kind.PREFILL, (4_096,))
    hopper = [price(machine("qwen3-8b", "h100", "kernels", precision=p), wide) for p in ("bf16", "fp8", "nvfp4")]
    assert hopper[1].compute_s < hopper[0].compute_s == hopper[2].compute_s
    assert hopper[1].layers_s > hopper[0].layers_s == hopper[2].layers_s
    blackwell = [price(machine("qwen3-8b", "b200", "kernels", precision=p), wide) for p in ("fp8", "nvfp4")]
    assert blackwell[1].compute_s < blackwell[0].compute_s


def test_an_eight_bit_cache_halves_its_bytes() -> None:
    shape = PassShape(Kind.DECODE, (1,), 50_000)
    wide, narrow = (price(machine(kv_cache_dtype=d), shape).kv_bytes for d in ("bf16", "fp8"))
    assert narrow == wide / 2


def test_impossible_machines_and_shapes_are_refused() -> None:
    model, sglang = load_model("qwen3-8b"), load_engine("sglang")
    with pytest.raises(UsageError, match="no link"):
        Machine(model, load_hardware("m3-ultra"), load_engine("mlx"), tensor_parallel_size=2)
    with pytest.raises(UsageError, match="tensor-parallel-size is 0"):
        Machine(model, load_hardware("h200"), sglang, tensor_parallel_size=0)
    with pytest.raises(UsageError, match="did you mean 'nvfp4'"):
        Machine(model, load_hardware("h200"), sglang, precision="nvfp")
    with pytest.raises(UsageError, match="kv-cache-dtype"):
        Machine(model, load_hardware("h200"), sglang, kv_cache_dtype="tiny")
    for shape in (PassShape(Kind.DECODE, ()), PassShape(Kind.DECODE, (1,), -1)):
        with pytest.raises(InputError, match="at least one token"):
            price(machine(), shape)


def test_hardware_known_only_by_its_bandwidth_is_never_bound_by_compute() -> None:
    m = Machine(load_model("qwen3-8b"), bare_hardware(3), load_engine("ideal"))
    assert price(m, PassShape(Kind.PREFILL, (100_000,))).compute_s == 0
