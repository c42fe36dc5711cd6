"""Hardware files: the figures of data sheets, a user's own file, and one-line refusals."""

from __future__ import annotations

from pathlib import Path

import pytest

from clover_sim.errors import InputError, UsageError
from clover_sim.specs import bare_hardware, default_engine, hardware_from_table, list_hardware, load_hardware

# Memory GB, bandwidth TB/s, dense 16-bit TFLOP/s from the vendors' data sheets.
SHEETS = {
    "h100": (80, 3.35, 989.4),
    "h200": (141, 4.8, 989.4),
    "b200": (180, 7.7, 2250),
    "gb300": (279, 8.0, 2500),
    "a100-80gb": (80, 2.039, 312),
    "rtx-4090": (24, 1.008, 165.2),
    "rtx-5070-ti": (16, 0.896, 87.9),
}


@pytest.mark.parametrize("name", SHEETS)
def test_figures_of_the_data_sheet(name: str) -> None:
    gpu = load_hardware(name)
    found = (gpu.memory_bytes / 1e9, gpu.bandwidth_bytes_per_s / 1e12, gpu.bf16_flop_per_s)
    assert found == pytest.approx((SHEETS[name][0], SHEETS[name][1], SHEETS[name][2] * 1e12))


def test_every_hardware_file_is_whole() -> None:
    names = list_hardware()
    assert len(names) >= 60
    for name in names:
        gpu = load_hardware(name)
        assert gpu.name == name
        assert gpu.sources and gpu.title and gpu.bf16_flop_per_s, name
        assert gpu.category != "custom" and gpu.architecture, name
        assert (gpu.link == "none") == (gpu.interconnect_bytes_per_s is None), name


def test_names_and_aliases_are_unambiguous() -> None:
    owners: dict[str, str] = {}
    for name in list_hardware():
        for alias in (name, *load_hardware(name).aliases):
            assert owners.setdefault(alias, name) == name, alias


@pytest.mark.parametrize(
    ("asked", "found"),
    [("H200", "h200"), ("RTX 4090", "rtx-4090"), ("rtx_4090", "rtx-4090"), ("4090", "rtx-4090"), ("a100", "a100-80gb")],
)
def test_spelling_and_aliases(asked: str, found: str) -> None:
    assert load_hardware(asked).name == found


@pytest.mark.parametrize(
    ("asked", "hint"), [("h2000", "did you mean 'h200'"), ("rtx 4099", "rtx-4090"), ("zz", "known:")]
)
def test_an_unknown_name_is_refused_with_a_suggestion(asked: str, hint: str) -> None:
    with pytest.raises(UsageError, match=hint):
        load_hardware(asked)


@pytest.mark.parametrize("asked", ["", ".", "..", "../models/qwen3-8b", "/etc/passwd", "a/b"])
def test_a_name_is_never_a_path_into_another_folder(asked: str) -> None:
    with pytest.raises(UsageError, match="unknown gpu"):
        load_hardware(asked)


def test_a_users_own_file(tmp_path: Path) -> None:
    path = tmp_path / "mine.toml"
    path.write_text(
        'name = "Apple M4 Pro 24GB"\nmemory_gib = 24\nmemory_bandwidth_gbs = 273\nbf16_tflops = 9.2\nnote = "mine"\n'
    )
    gpu = load_hardware(str(path))
    assert (gpu.name, gpu.vendor, gpu.category) == ("apple-m4-pro-24gb", "apple", "unified")
    assert gpu.memory_bytes == 24 * 2**30
    assert gpu.bandwidth_bytes_per_s == 273e9
    assert default_engine(gpu) == "mlx"


def test_a_json_file_serves_too(tmp_path: Path) -> None:
    path = tmp_path / "mine.json"
    path.write_text('{"name": "mine", "memory_gb": 24, "memory_bandwidth_tbs": 1}')
    assert load_hardware(str(path)).bandwidth_bytes_per_s == 1e12


@pytest.mark.parametrize(
    ("line", "words"),
    [
        ("memory_gb = -1", "memory_gb is -1"),
        ("memory_gb = nan", "memory_gb is nan"),
        ("memory_gb = inf", "finite"),
        ('memory_gb = "24"', "not text"),
        ("memory_gb = true", "not a boolean"),
        ("memory_gb = 24\nmemory_gib = 24", "a second time"),
        ("memory_gb = 24\nbf16_tflop = 3", "did you mean 'bf16_tflops'"),
        ("memory_gb = 24\nbf16_tflops = 0", "above 0"),
        ("memory_gb = 24\ncategory = 'phone'", "expected one of"),
        ("memory_gb = 24\nmemory_gb = 25", "not valid TOML"),
        ("", "memory_gb (or memory_gib) is missing"),
    ],
)
def test_a_bad_file_is_refused_in_one_line_that_names_it(tmp_path: Path, line: str, words: str) -> None:
    path = tmp_path / "gpu.toml"
    path.write_text(f'name = "x"\nmemory_bandwidth_gbs = 100\n{line}\n')
    with pytest.raises(InputError) as caught:
        load_hardware(str(path))
    assert words in str(caught.value)
    assert "gpu.toml" in str(caught.value)
    assert "\n" not in str(caught.value)


@pytest.mark.parametrize(
    ("name", "content", "words"),
    [
        ("a.json", b"[]", "holds a list"),
        ("a.json", b"{", "not valid JSON"),
        ("a.json", b'{"name": 1, "name": 2}', "stands twice"),
        ("a.toml", b"\xff\xfe", "UTF-8"),
        ("a.toml", b"= 1", "not valid TOML"),
    ],
)
def test_a_file_that_is_not_a_table(tmp_path: Path, name: str, content: bytes, words: str) -> None:
    path = tmp_path / name
    path.write_bytes(content)
    with pytest.raises(InputError, match=words):
        load_hardware(str(path))


def test_a_missing_file() -> None:
    with pytest.raises(InputError, match="no such file"):
        load_hardware("nowhere.toml")


def test_vendor_from_the_name() -> None:
    figures = {"memory_gb": 24, "memory_bandwidth_gbs": 300}
    assert hardware_from_table({"name": "NVIDIA L4 24GB", **figures}, "x").vendor == "nvidia"
    assert hardware_from_table({"name": "DGX Spark GB10", **figures}, "x").vendor == "nvidia"
    assert hardware_from_table({"name": "my chip", **figures}, "x").vendor == "custom"


@pytest.mark.parametrize("figure", [0, -3, float("nan"), float("inf")])
def test_bare_hardware_refuses_impossible_bandwidth(figure: float) -> None:
    with pytest.raises(InputError, match="bandwidth"):
        bare_hardware(figure)
