"""Calibration: the measured speed comes out again, the file goes round, nonsense is refused."""

from __future__ import annotations

from dataclasses import replace
from pathlib import Path

import pytest

from clover_sim.cost import Machine, price
from clover_sim.cost.calibration import Measured, calibrate, load_calibration
from clover_sim.errors import InputError, UsageError
from clover_sim.records import Kind, PassShape
from clover_sim.specs import load_engine, load_hardware, load_model


def machine(model: str, gpu: str, engine: str, **options: object) -> Machine:
    return Machine(load_model(model), load_hardware(gpu), load_engine(engine), **options)  # type: ignore[arg-type]


def speed(m: Machine, batch: int = 1, context: int = 1024) -> float:
    return batch / price(m, PassShape(Kind.DECODE, (1,) * batch, context * batch)).latency_s


@pytest.mark.parametrize(
    ("m", "measured", "constant"),
    [
        (machine("llama-3.1-8b", "h100", "vllm"), 120.0, "pass_s"),
        (machine("qwen3.6-35b-a3b", "m3-ultra", "mlx", precision="8.5"), 60.0, "moe_layer_s"),
        (machine("qwen3.6-35b-a3b", "h200", "sglang"), 280.0, "layer_s"),
        (machine("llama-3.1-8b", "h100", "sglang"), 195.0, "eta"),
    ],
)
def test_one_speed_is_met_exactly(m: Machine, measured: float, constant: str) -> None:
    found = calibrate(m, [Measured(measured)])
    assert constant in dict(found.constants)
    fitted = Machine(m.model, m.hardware, found.engine(None, m.hardware), m.precision)
    assert speed(fitted) == pytest.approx(measured, rel=1e-6)
    assert found.errors == pytest.approx((0,), abs=1e-6)
    p = price(fitted, PassShape(Kind.DECODE, (1,), 1024))
    assert (p.low_s / p.latency_s, p.high_s / p.latency_s) == pytest.approx((0.90, 1.12))


def test_two_speeds_also_fix_the_bandwidth_fraction(tmp_path: Path) -> None:
    truth = load_engine("vllm")
    other = replace(truth, base=replace(truth.base, pass_s=2e-3, eta=0.7, eta_experts=0.7 * 0.87 / 0.83, eta_kv=0.7))
    m = Machine(load_model("llama-3.1-8b"), load_hardware("h100"), other)
    measured = [Measured(speed(m, batch, 2000), batch, 2000) for batch in (1, 8, 64)]
    found = calibrate(machine("llama-3.1-8b", "h100", "vllm"), measured)
    assert dict(found.constants)["pass_s"] == pytest.approx(2e-3, rel=1e-4)
    assert dict(found.constants)["eta"] == pytest.approx(0.7, rel=1e-4)
    path = tmp_path / "mine.toml"
    path.write_text(found.to_toml())
    again = load_calibration(str(path))
    assert again.constants == found.constants
    engine = again.engine("vllm", m.hardware)
    assert speed(Machine(m.model, m.hardware, engine), 32) == pytest.approx(speed(m, 32), rel=1e-4)


def test_speeds_no_machine_reaches_are_refused() -> None:
    with pytest.raises(InputError, match="more than all of the memory bandwidth"):
        calibrate(machine("llama-3.1-8b", "h100", "vllm"), [Measured(400)])
    with pytest.raises(UsageError, match="nothing to calibrate"):
        calibrate(machine("llama-3.1-8b", "h100", "vllm"), [])
    for bad in (float("nan"), 0, -3, float("inf")):
        with pytest.raises(InputError, match="tokens_per_s"):
            Measured(bad)


def test_a_calibration_holds_where_it_was_measured() -> None:
    found = calibrate(machine("llama-3.1-8b", "h100", "vllm"), [Measured(120)])
    with pytest.raises(UsageError, match="measured on h100, not on h200"):
        found.engine(None, load_hardware("h200"))
    with pytest.raises(UsageError, match="of engine vllm, not of sglang"):
        found.engine("sglang", load_hardware("h100"))


@pytest.mark.parametrize(
    ("text", "words"),
    [
        ("", "schema is None"),
        ("schema = [", "not valid TOML"),
        ('schema = "clover-sim/calibration/1"', "constants is None"),
        ('schema = "clover-sim/calibration/1"\n[constants]\npass_ms = 1', "unknown key 'pass_ms'"),
        ('schema = "clover-sim/calibration/1"\n[constants]\npass_s = nan', "constants.pass_s is nan"),
        ('schema = "clover-sim/calibration/1"\n[constants]\neta = 2', "at most 1"),
        ('schema = "clover-sim/calibration/1"\n[constants]\neta = 0.5', "engine is None"),
    ],
)
def test_a_bad_file_is_refused_in_one_line(tmp_path: Path, text: str, words: str) -> None:
    path = tmp_path / "bad.toml"
    path.write_text(text)
    with pytest.raises(InputError) as caught:
        load_calibration(str(path))
    assert words in str(caught.value) and "\n" not in str(caught.value)
