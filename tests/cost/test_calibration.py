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
    assert (p.low_s / p.latency_s, p.high_s / p.latency_s) == pytest.approx((0.97, 1.03))


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


def step(m: Machine, batch: int, context: int = 1024) -> tuple[float, float, float]:
    p = price(m, PassShape(Kind.DECODE, (1,) * batch, context * batch))
    return p.low_s, p.latency_s, p.high_s


@pytest.mark.parametrize("speeds", [((140, 1), (2600, 32)), ((90, 1),), ((100, 1), (12, 2)), ((150, 1), (900, 8))])
def test_what_was_measured_lies_in_the_band_of_its_price(speeds: tuple[tuple[float, int], ...], tmp_path: Path) -> None:
    m = machine("llama-3.1-8b", "h100", "sglang")
    found = calibrate(m, [Measured(tokens, batch) for tokens, batch in speeds])
    (tmp_path / "c.toml").write_text(found.to_toml())
    for engine in (found.engine(None, m.hardware), load_calibration(str(tmp_path / "c.toml")).engine(None, m.hardware)):
        fitted = replace(m, engine=engine)
        for tokens, batch in speeds:
            low, mean, high = step(fitted, batch)
            assert low <= batch / tokens <= high
            assert high / mean >= 1.03 - 1e-9 and low / mean <= 0.97 + 1e-9
        for batch in (1, 4, 64, 300):
            low, mean, high = step(fitted, batch, 30_000)
            for error in found.errors:
                assert low / mean * 0.9999 <= 1 / (1 + error) <= high / mean * 1.0001


def test_a_price_is_surer_where_it_was_measured_and_for_that_model_only() -> None:
    m = machine("llama-3.1-8b", "h100", "vllm")
    engine = calibrate(m, [Measured(120, 1)]).engine(None, m.hardware)
    steps = [step(replace(m, engine=engine), batch) for batch in (1, 2, 4, 8, 64)]
    widths = [round((high - low) / mean, 9) for low, mean, high in steps]
    assert widths == sorted(widths) and widths[0] == pytest.approx(0.06) and widths[2] == pytest.approx(widths[4])
    other = machine("qwen3-8b", "h100", "vllm")
    low, mean, high = step(replace(other, engine=engine), 1)
    assert (high - low) / mean == pytest.approx(widths[4])
    before = step(m, 1)
    assert widths[0] < (before[2] - before[0]) / before[1]


def test_it_says_where_the_difference_went_and_what_one_speed_cannot_tell() -> None:
    """The rival explanation, worked out by hand: the same speed with the bandwidth fraction alone changed."""
    m = machine("llama-3.1-8b", "h100", "sglang")
    found = calibrate(m, [Measured(90)])
    gap_ms = (1 / 90 - step(m, 1)[1]) * 1e3
    assert f"{gap_ms:.2f} ms slower" in found.notes[0] and "pass_s (0.82 ms to" in found.notes[0]
    parts = price(m, PassShape(Kind.DECODE, (1,), 1024))
    eta = 0.83 * parts.memory_s / (parts.memory_s + gap_ms / 1e3)
    base = replace(m.engine.base, eta=eta, eta_experts=eta * 0.87 / 0.83, eta_kv=eta)
    rival = step(replace(m, engine=replace(m.engine, base=base)), 32)[1]
    assert f"{rival * 1e3:.2f} ms if eta (0.83 to {eta:.3g}) is to blame" in found.notes[1]
    assert "--batch-size 32" in found.notes[1] and found.factors
    low, _, high = step(replace(m, engine=found.engine(None, m.hardware)), 32)
    assert low <= rival <= high
    two = calibrate(m, [Measured(90), Measured(2000, 32)])
    assert len(two.notes) == 1 and "eta (0.83 to" in two.notes[0]


def test_the_document_is_read_back_as_the_file_is(tmp_path: Path) -> None:
    import json

    found = calibrate(machine("llama-3.1-8b", "h100", "sglang"), [Measured(140), Measured(2600, 32)])
    (tmp_path / "c.toml").write_text(found.to_toml())
    (tmp_path / "c.json").write_text(json.dumps(found.to_dict()))
    one, other = (load_calibration(str(tmp_path / f"c.{form}")) for form in ("toml", "json"))
    assert one.constants == other.constants == found.constants and one.measured == other.measured == found.measured
    assert one.errors == pytest.approx(other.errors, abs=1e-6) and one.factors == other.factors


@pytest.mark.parametrize(
    ("text", "words"),
    [
        ("measured = 3", "expected tables [[measured]]"),
        ("[[measured]]\nspeed = 3", "unknown key 'speed'"),
        ("[[measured]]\ntokens_per_s = 3\nbatch_size = 1\ncontext_tokens = 1\nerror = -1", "error is -1; expected"),
        ("[[measured]]\ntokens_per_s = 3\nbatch_size = 0\ncontext_tokens = 1\nerror = 0", "batch_size is 0"),
        ("[[measured]]\ntokens_per_s = 3\nbatch_size = 1\ncontext_tokens = 1\nerror = nan", "error is nan; expected"),
    ],
)
def test_bad_measurements_of_a_file_are_refused(tmp_path: Path, text: str, words: str) -> None:
    path = tmp_path / "bad.toml"
    head = 'schema = "clover-sim/calibration/1"\nengine = "vllm"\nhardware = "h100"\nmodel = "x"\n'
    top, tables = (text, "") if text.startswith("measured") else ("", text)
    path.write_text(f"{head}{top}\n[constants]\npass_s = 0.001\n{tables}\n")
    with pytest.raises(InputError) as caught:
        load_calibration(str(path))
    assert words in str(caught.value) and "\n" not in str(caught.value)
