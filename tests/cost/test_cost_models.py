"""The named cost models and the pricing of whole runs; the exact cases are published arithmetic."""

from __future__ import annotations

import pytest

from clover_sim.cost import Fixed, Machine, cost_model, list_cost_models, price, price_groups
from clover_sim.errors import UsageError
from clover_sim.records import Kind, PassShape
from clover_sim.specs import DEFAULT_DRAFTER, bare_hardware, bare_model, load_engine, load_hardware, load_model


def bare_machine() -> Machine:
    return Machine(bare_model(35e9, 3e9), bare_hardware(3), load_engine("ideal"), precision="fp8")


def clover() -> Machine:
    drafter = load_model(DEFAULT_DRAFTER)
    return Machine(load_model("clover-35b-a3b"), load_hardware("h200"), load_engine("sglang"), drafter=drafter)


def test_three_gigabytes_at_three_terabytes_a_second_are_one_millisecond() -> None:
    floor = cost_model("floor", bare_machine())
    assert floor.price(PassShape(Kind.DECODE, (1,), 500)).latency_s == 0.001
    run = price_groups(floor, [(PassShape(Kind.DECODE, (1,), 499.5), 1000)])
    assert (run.passes, run.latency_s, run.low_s, run.high_s, run.bound) == (1000, 1.0, 1.0, 1.0, "memory")


def test_the_floor_of_a_pass_does_not_depend_on_its_shape() -> None:
    floor = cost_model("floor", clover())
    shapes = [PassShape(Kind.DECODE, (1,)), PassShape(Kind.DENOISE, (32,) * 4, 9_000, 10)]
    assert len({floor.price(shape).latency_s for shape in shapes}) == 1
    assert floor.price(shapes[0]).latency_s == 2_946_429_568 * 2 / 4.8e12
    assert floor.price(PassShape(Kind.DRAFT, (1,))).latency_s == 596_049_920 * 2 / 4.8e12
    assert cost_model("floor", bare_machine()).price(PassShape(Kind.DRAFT, (1,))).latency_s == 0


def test_the_floor_is_below_the_roofline() -> None:
    m = clover()
    for kind in Kind:
        shape = PassShape(kind, (1,), 100)
        assert cost_model("floor", m).price(shape).latency_s < cost_model("roofline", m).price(shape).latency_s


def test_ten_turns_of_two_hundred_tokens_at_15_ms_are_thirty_seconds() -> None:
    fixed = cost_model("fixed:pass_ms=15")
    run = price_groups(fixed, [(PassShape(Kind.DECODE, (1,), 100.0 * turn), 200) for turn in range(10)])
    assert (run.passes, run.latency_s, run.bound) == (2000, 30.0, "fixed")


def test_a_fixed_draft_has_its_own_price() -> None:
    fixed = cost_model("fixed:pass_ms=10,draft_ms=2.5")
    groups = [(PassShape(Kind.DRAFT, (1,)), 4), (PassShape(Kind.VERIFY, (5,)), 1)]
    assert price_groups(fixed, groups).latency_s == 0.02
    assert price_groups(cost_model("fixed:pass_ms=10"), groups).latency_s == 0.01
    assert fixed.name == "fixed:pass_ms=10,draft_ms=2.5"


def test_names() -> None:
    assert list_cost_models() == ["fixed", "floor", "roofline"]
    m = clover()
    for name in ("floor", "roofline"):
        model = cost_model(name, m)
        assert (model.name, model.machine) == (name, m)
    assert cost_model("roofline", m).price(PassShape(Kind.DECODE, (1,))) == price(m, PassShape(Kind.DECODE, (1,)))
    assert cost_model("fixed:pass_ms=15").machine is None


@pytest.mark.parametrize(
    ("spec", "words"),
    [
        ("roofl", "did you mean 'roofline'"),
        ("fixed", "pass_ms is missing"),
        ("fixed:pass=15", "did you mean 'pass_ms'"),
        ("fixed:pass_ms=0", "above 0"),
        ("fixed:pass_ms=-1", "above 0"),
        ("fixed:pass_ms=nan", "above 0"),
        ("fixed:pass_ms=inf", "above 0"),
        ("fixed:pass_ms=abc", "'abc'"),
        ("fixed:pass_ms=1,draft_ms=-1", "at least 0"),
        ("floor:x=1", "floor takes none"),
        ("roofline:eta=1", "roofline takes none"),
        ("floor", "needs a model and a GPU"),
    ],
)
def test_what_cannot_be_is_refused(spec: str, words: str) -> None:
    with pytest.raises(UsageError) as caught:
        cost_model(spec, None if spec == "floor" else bare_machine())
    assert words in str(caught.value)
    assert "\n" not in str(caught.value)


def test_groups_price_like_single_passes_at_their_mean_context() -> None:
    model = cost_model("roofline", clover())
    contexts = range(1_000, 1_200)
    single = price_groups(model, [(PassShape(Kind.DECODE, (1,), c), 1) for c in contexts])
    grouped = price_groups(model, [(PassShape(Kind.DECODE, (1,), sum(contexts) / 200), 200)])
    for field in ("passes", "latency_s", "low_s", "high_s", "memory_s", "overhead_s", "kv_bytes", "flop"):
        assert getattr(grouped, field) == pytest.approx(getattr(single, field), rel=1e-12)


def test_a_run_is_the_sum_of_its_kinds_and_parts() -> None:
    groups = [
        (PassShape(Kind.PREFILL, (512,)), 1), (PassShape(Kind.DENOISE, (32,), 600.0), 40),
        (PassShape(Kind.DENOISE, (32,), 700.0), 40), (PassShape(Kind.KV_WRITE, (32,), 650.0), 16),
        (PassShape(Kind.DRAFT, (1,), 10), 0),
    ]  # fmt: skip
    run = price_groups(cost_model("roofline", clover()), groups)
    assert [(k.kind, k.passes) for k in run.by_kind] == [(Kind.PREFILL, 1), (Kind.DENOISE, 80), (Kind.KV_WRITE, 16)]
    assert run.passes == 97
    for total in (sum(k.latency_s for k in run.by_kind), sum(s for _, s in run.parts)):
        assert total == pytest.approx(run.latency_s, rel=1e-12)
    assert run.memory_s + run.compute_s + run.overhead_s == pytest.approx(run.latency_s, rel=1e-12)
    assert run.by_kind[1].expert_union == pytest.approx(70.8, abs=0.05)
    assert run.low_s < run.latency_s < run.high_s
    assert run.largest_part == run.parts[0][0] == "weights"


def test_an_empty_run_costs_nothing() -> None:
    run = price_groups(Fixed(0.015), [])
    assert (run.passes, run.latency_s, run.by_kind) == (0, 0.0, ())
