"""The memory picture at its own limits, weights at the host included; a calibration that its own reader takes."""

from __future__ import annotations

from pathlib import Path

import pytest

from clover_sim.cost import Machine, memory_check, offloaded, price
from clover_sim.cost.calibration import Measured, calibrate, load_calibration
from clover_sim.records import Kind, PassShape
from clover_sim.specs import load_engine, load_hardware, load_model

MODELS = ["qwen3-8b", "clover-35b-a3b", "gemma-3-27b", "deepseek-v3", "falcon-h1-7b"]


def machine(model: str, gpu: str = "rtx-5070-ti", **options: object) -> Machine:
    return Machine(load_model(model), load_hardware(gpu), load_engine("sglang"), **options)  # type: ignore[arg-type]


@pytest.mark.parametrize("model", MODELS)
@pytest.mark.parametrize("gpu", ["h200", "rtx-4090", "m3-ultra"])
def test_the_longest_context_and_the_largest_batch_are_the_last_that_fit(model: str, gpu: str) -> None:
    m = machine(model, gpu, precision="int4")
    for batch, context in ((1, 1), (1, 4096), (7, 1000)):
        picture = memory_check(m, batch, context)
        longest, most = picture.longest_context_tokens, picture.largest_batch_size
        assert longest is not None and most is not None
        if longest:
            assert memory_check(m, batch, longest).fits
        if longest != m.model.max_context_tokens:
            assert not memory_check(m, batch, longest + 1).fits
        if most:
            assert memory_check(m, most, context).fits
        assert not memory_check(m, most + 1, context).fits


@pytest.mark.parametrize("what", ["experts", "layers"])
@pytest.mark.parametrize("shape", [(1, 0), (8, 4096), (3, 1000)])
def test_what_was_offloaded_to_fit_fits(what: str, shape: tuple[int, int]) -> None:
    tight = machine("clover-35b-a3b", precision="int4")
    assert not memory_check(tight, *shape).fits
    moved = offloaded(tight, what, *shape)
    picture = memory_check(moved, *shape)
    assert picture.fits and picture.offload_bytes == moved.offload_bytes
    assert picture.total_bytes == pytest.approx(picture.capacity_bytes, rel=1e-6)
    assert picture.longest_context_tokens is not None and picture.largest_batch_size is not None
    assert picture.longest_context_tokens >= shape[1] and picture.largest_batch_size >= shape[0]


@pytest.mark.parametrize("speed", [1e-6, 0.001, 1.0, 60.0, 150.0])
def test_a_calibration_is_read_back_and_gives_the_measured_speed(speed: float, tmp_path: Path) -> None:
    m = machine("qwen3-8b", "h100")
    path = tmp_path / "c.toml"
    path.write_text(calibrate(m, [Measured(speed)]).to_toml())
    again = Machine(m.model, m.hardware, load_calibration(str(path)).engine(None, m.hardware))
    assert 1 / price(again, PassShape(Kind.DECODE, (1,), 1024)).latency_s == pytest.approx(speed, rel=1e-6)
