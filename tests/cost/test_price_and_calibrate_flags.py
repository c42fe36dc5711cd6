"""``price`` and ``calibrate`` from the outside: flags that contradict each other, figures got another way."""

from __future__ import annotations

import json
import tomllib
from pathlib import Path

import pytest

from clover_sim import compare
from clover_sim.cli import main
from clover_sim.cost import Machine, Roofline
from clover_sim.records import Kind, PassShape
from clover_sim.specs import load_engine, load_hardware, load_model
from clover_sim.specs.bare import bare_weights

ON = ["--model", "qwen3-8b", "--gpu", "h200"]
SPEED = ["--measured-tokens-per-s", "100"]
SLIPS = [
    ([], "say how fast it is: --measured-tokens-per-s X, and the --model and --gpu it was measured on"),
    (SPEED, "--model is missing: a speed says nothing without the model it was measured on"),
    ([*SPEED, "--model", "qwen3-8b"], "--gpu is missing: a speed says nothing without the gpu it was measured on"),
    ([*SPEED, "--tpf-at", "0.9=3"],
     "--measured-tokens-per-s fits a machine, --tpf-at and --trace a model's confidence: run twice"),
    (["--tpf-at", "0.9=3", "--trace", "x"], "--tpf-at and --trace both say what to fit to; give one of them"),
    (["--tpf-at", "0.9=3", "--export", "x.csv"], "--export 'x.csv': this command writes .toml and .json only"),
    ([*SPEED, *SPEED, "--batch-size", "1", "--batch-size", "2", "--batch-size", "3", *ON],
     "--batch-size is given 3 times for 2 speeds; give it once, or once for each"),
    ([*SPEED, *SPEED, *SPEED, "--context", "1", "--context", "2", *ON],
     "--context is given 2 times for 3 speeds; give it once, or once for each"),
]  # fmt: skip


@pytest.mark.parametrize(("words", "said"), SLIPS, ids=[said[:50] for _, said in SLIPS])
def test_slips_of_calibrate(capsys: pytest.CaptureFixture[str], words: list[str], said: str) -> None:
    assert main(["calibrate", *words]) == 2
    assert capsys.readouterr() == ("", f"clover-sim calibrate: error: {said}\n")


def test_each_speed_at_its_own_batch(capsys: pytest.CaptureFixture[str], tmp_path: Path) -> None:
    """Speeds of no machine, an eighth as fast at twice the batch: that they do not fit is said."""
    words = ["calibrate", *SPEED, "--measured-tokens-per-s", "12", "--batch-size", "1", "--batch-size", "2", *ON]
    target = tmp_path / "c.toml"
    assert main([*words, "--engine", "sglang", "--export", str(target)]) == 0
    out, err = capsys.readouterr()
    written = tomllib.loads(out)
    assert target.read_text() == out and [m["batch_size"] for m in written["measured"]] == [1, 2]
    assert [m["tokens_per_s"] for m in written["measured"]] == [100, 12]
    assert main([*words, "--engine", "sglang", "--format", "json", "-q"]) == 0
    worst = max(abs(m["error"]) for m in json.loads(capsys.readouterr().out)["measured"])
    assert worst > 0.1
    assert "pass_s (0.82 ms to" in err.splitlines()[1]
    assert err.splitlines()[2:] == [
        f"clover-sim calibrate: warning: the calibrated price is off by up to {worst:.0%}: the measurements do not fit "
        "one machine; check batch sizes, contexts and formats"
    ]


@pytest.mark.parametrize("asked", [[*SPEED, *ON]])
def test_a_file_is_what_its_format_prints(capsys: pytest.CaptureFixture[str], tmp_path: Path, asked: list[str]) -> None:
    for form in ("toml", "json"):
        target = tmp_path / f"mine.{form}"
        for printed in ("toml", "json"):
            assert main(["calibrate", *asked, "--format", printed, "--export", str(target), "-f", "-q"]) == 0
            if printed == form:
                assert capsys.readouterr().out == target.read_text()
            capsys.readouterr()


def test_several_domains_go_into_no_one_file(
    capsys: pytest.CaptureFixture[str], tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.chdir(tmp_path)
    steps = [{"committed": [0], "masked": [0, 1], "confidence": [0.95, 0.5]},
             {"committed": [1], "masked": [1], "confidence": [0.7]}]  # fmt: skip
    record = {"block_size": 2, "threshold": 0.9, "steps": steps}
    Path("t.jsonl").write_text("".join(json.dumps({**record, "domain": name}) + "\n" for name in ("code", "chat")))
    assert main(["calibrate", "--trace", "t.jsonl", "--export", "c.toml"]) == 2
    out, err = capsys.readouterr()
    assert out == "" and err.startswith("clover-sim calibrate: error: the trace holds several ") and "--domain" in err
    assert all(f"{name} at threshold 0.9, block 2: 2 passes, 1 forced" in err for name in ("code", "chat"))
    assert not Path("c.toml").exists()
    steps[0]["confidence"], steps[0]["committed"] = [1.0, 0.5], [0]
    Path("t.jsonl").write_text(json.dumps({**record, "threshold": 1.0, "steps": steps}))
    assert main(["calibrate", "--trace", "t.jsonl"]) == 3
    said = "t.jsonl:1: calibrate needs a threshold between 0 and 1, this trace has 1.0"
    assert capsys.readouterr() == ("", f"clover-sim calibrate: error: {said}\n")


def test_weights_in_gb(capsys: pytest.CaptureFixture[str]) -> None:
    words = ["price", "--weight-gb", "5.1", "--gpu", "m4-pro", "--context", "0"]
    assert main([*words, "--precision", "fp8"]) == 2
    said = "--weight-gb says how many bytes there are; --precision cannot change them"
    assert capsys.readouterr() == ("", f"clover-sim price: error: {said}\n")
    assert main([*words, "--format", "json"]) == 0
    found = json.loads(capsys.readouterr().out)
    [one] = found["passes"]
    assert one["weight_bytes"] == 5.1e9
    engine, card = load_engine("mlx"), load_hardware("m4-pro")
    alone = Roofline(Machine(bare_weights(5.1e9), card, engine, "8")).price(PassShape(Kind.DECODE, (1,), 0))
    assert one["latency_s"] == pytest.approx(alone.latency_s)


@pytest.mark.parametrize("what", ["layers", "experts"])
def test_what_lies_on_the_host_crosses_the_link(capsys: pytest.CaptureFixture[str], what: str) -> None:
    """Of layers what every pass reads of them, of experts those eight of 128 that the token chose; PCIe at 0.8."""
    assert main(["price", "--model", "qwen3-30b-a3b", "--gpu", "rtx-4090", "--offload", what, "--format", "json"]) == 0
    out, err = capsys.readouterr()
    found = json.loads(out)
    memory, [one] = found["memory"], found["passes"]
    assert err == "" and memory["fits"] and memory["total_bytes"] <= 0.9 * 24e9
    read = memory["offload_bytes"] * (8 / 128 if what == "experts" else one["weight_bytes"] / memory["weight_bytes"])
    assert one["parts_s"]["offload"] == pytest.approx(read / (32e9 * 0.8))
    assert one["latency_s"] == pytest.approx(sum(one["parts_s"].values()))


@pytest.fixture
def ledger(tmp_path: Path, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]) -> str:
    monkeypatch.chdir(tmp_path)
    assert main(["compare", "--tokens", "64", "--ledger", "l.jsonl", "-q"]) == 0
    capsys.readouterr()
    return "l.jsonl"


@pytest.mark.parametrize(
    ("words", "said"),
    [
        (["--width", "2"], "--ledger says which passes there were; leave --width out"),
        (["--context", "3"], "--ledger says which passes there were; leave --context out"),
        (["--kind", "denoise"], "--ledger says which passes there were; leave --kind out"),
        (["--batch-size", "1,2"], "--ledger takes one --batch-size: how many of each run go together"),
    ],
)
def test_flags_that_a_ledger_answers(
    ledger: str, capsys: pytest.CaptureFixture[str], words: list[str], said: str
) -> None:
    assert main(["price", "--ledger", ledger, *words]) == 2
    assert capsys.readouterr() == ("", f"clover-sim price: error: {said}\n")


def test_the_table_of_a_ledger(
    ledger: str, capsys: pytest.CaptureFixture[str], monkeypatch: pytest.MonkeyPatch
) -> None:
    """On the machine it was made for the recorded passes cost what the comparison said."""
    monkeypatch.setenv("COLUMNS", "120")
    assert main(["price", "--ledger", ledger]) == 0
    lines = capsys.readouterr().out.splitlines()
    assert lines[0] == "clover-35b-a3b on h200 · bf16 · sglang engine · batch 1 · reference stream"
    rows = [line.split() for line in lines if line.startswith("64 ") or line.lstrip().startswith("64 ")]
    for shown, row in zip(rows, compare(tokens=64).rows, strict=True):
        assert shown[:5] == ["64", row["strategy"], str(row["target_passes"]), str(row["draft_passes"]),
                             str(row["locked_errors"])]  # fmt: skip
        assert shown[5] == row["bound"]
        assert float(shown[6]) == pytest.approx(row["latency_s"], rel=1e-3)
        assert float(shown[7]) == pytest.approx(row["tokens_per_s"], rel=1e-3)


def test_a_ledger_of_several_streams_and_seeds_shows_them(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    monkeypatch.chdir(tmp_path)
    monkeypatch.setenv("COLUMNS", "120")
    Path("a.txt").write_text("one two three four five six seven eight nine ten\n")
    Path("b.txt").write_text("ten nine eight seven six five four three two one\n")
    common = ["-s", "ar", "--seeds", "5:7", "--ledger", "l.jsonl", "-q"]
    assert main(["compare", "--input", "a.txt", "b.txt", *common]) == 0
    capsys.readouterr()
    assert main(["price", "--ledger", "l.jsonl"]) == 0
    lines = capsys.readouterr().out.splitlines()
    assert "stream" not in lines[0]
    assert [line.split()[0] + line.split()[3] for line in lines if ".txt" in line] == [
        "a.txt5", "a.txt6", "b.txt5", "b.txt6",
    ]  # fmt: skip


def test_a_ledger_has_its_price_in_money(ledger: str, capsys: pytest.CaptureFixture[str]) -> None:
    """Rent of all cards for the time of a million tokens, whatever share of them each of four runs together wrote."""
    machine = ["--gpu", "h100", "--tensor-parallel-size", "2", "--price-per-hour", "3.6", "--batch-size", "4"]
    assert main(["price", "--ledger", ledger, *machine, "--format", "json"]) == 0
    rows = json.loads(capsys.readouterr().out)["runs"]
    assert rows
    for row in rows:
        dollars_a_second, tokens_a_second = 2 * 3.6 / 3600, 4 * row["tokens"] / row["latency_s"]
        assert row["usd_per_million_tokens"] == pytest.approx(1e6 * dollars_a_second / tokens_a_second)
    assert main(["price", "--ledger", ledger, *machine]) == 0
    assert "USD per M: rent for a million tokens at that speed, 3.6 an hour" in " ".join(
        capsys.readouterr().out.split()
    )
    bare = ["--gpu-bandwidth-tb-s", "1", "--params-b", "1"]
    assert main(["price", "--ledger", ledger, *bare, "--format", "json"]) == 0
    assert {row["usd_per_million_tokens"] for row in json.loads(capsys.readouterr().out)["runs"]} == {None}
    assert main(["price", "--ledger", ledger, *bare]) == 0
    assert "USD" not in capsys.readouterr().out


def test_a_ledger_says_what_the_card_cannot_hold(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    """The prompt, the answer and the drafter of the run that needs most, as often as the batch has it."""
    monkeypatch.chdir(tmp_path)
    asked = ["compare", "--tokens", "64,128", "--prompt-tokens", "1000", "-s", "ar", "-s", "speculative"]
    assert main([*asked, "--ledger", "l.jsonl", "-q"]) == 0
    capsys.readouterr()
    assert main(["price", "--ledger", "l.jsonl", "--model", "gpt-oss-120b", "--gpu", "rtx-4090"]) == 0
    assert capsys.readouterr().err.startswith(
        "clover-sim price: warning: gpt-oss-120b at bf16 needs 235 GB (weights 233.7, drafter 1.2, cache and state"
    )
    qwen = ["price", "--ledger", "l.jsonl", "--model", "qwen3-8b", "--gpu", "h100", "--batch-size"]
    # 36 layers of 8 heads of 128 in 16 bit, keys and values, for each of 1128 tokens of each request.
    drafter = load_model("qwen3-0.6b")
    one = (2 * 36 * 8 * 128 + drafter.kv_elements_per_token) * 2 * 1128
    room = 0.9 * 80e9 - 2 * (load_model("qwen3-8b").params + drafter.params)
    most = int(room // one)
    assert main([*qwen, str(most)]) == 0
    assert capsys.readouterr().err == ""
    assert main([*qwen, str(most + 1)]) == 0
    assert f"--batch-size {most}" in capsys.readouterr().err


@pytest.mark.parametrize("command", ["price --context 50000", "price --ledger l.jsonl"])
def test_a_context_beyond_the_window_is_said_once(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str], command: str
) -> None:
    monkeypatch.chdir(tmp_path)
    asked = ["compare", "--tokens", "100", "--prompt-tokens", "49900", "-s", "ar"]
    assert main([*asked, "--ledger", "l.jsonl", "-q"]) == 0
    capsys.readouterr()
    said = "warning: 50,000 tokens of context, but qwen3-30b-a3b is made for 40,960"
    assert main([*command.split(), "--model", "qwen3-30b-a3b"]) == 0
    assert capsys.readouterr().err.count(said) == 1
    assert main([*command.split(), "--model", "clover-35b-a3b"]) == 0
    assert capsys.readouterr().err == ""


@pytest.mark.parametrize(
    ("values", "contexts"), [("0:10:5", [0, 5, 10]), ("10:0:-5", [10, 5, 0]), ("0,7", [0, 7]), ("0", [0])]
)
def test_contexts_may_be_0(capsys: pytest.CaptureFixture[str], values: str, contexts: list[int]) -> None:
    assert main(["price", "--context", values, "--format", "json"]) == 0
    assert [one["context_tokens"] for one in json.loads(capsys.readouterr().out)["passes"]] == contexts


def test_a_range_says_what_is_wrong_with_its_step(capsys: pytest.CaptureFixture[str]) -> None:
    assert main(["price", "--context", "0:10:0"]) == 2
    assert "'0:10:0' needs a step that is not 0" in capsys.readouterr().err
    assert main(["price", "--width", "0:10:5"]) == 2
    assert "0 is too small: at least 1 is needed" in capsys.readouterr().err


def test_a_ledger_that_is_none(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    monkeypatch.chdir(tmp_path)
    Path("l.jsonl").write_bytes(b"\xff\xfe\x00")
    assert main(["price", "--ledger", "l.jsonl"]) == 3
    assert capsys.readouterr() == (
        "", "clover-sim price: error: l.jsonl: not a ledger file, since it is not UTF-8 text\n"
    )  # fmt: skip


def test_what_was_assumed_of_a_checkpoint_is_said(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    """As ``price`` says it of the same file, and before the fit is shown."""
    monkeypatch.chdir(tmp_path)
    Path("config.json").write_text(json.dumps({
        "model_type": "llama", "architectures": ["LlamaForCausalLM"], "hidden_size": 512, "num_hidden_layers": 4,
        "num_attention_heads": 8, "intermediate_size": 1024, "vocab_size": 1000,
    }))  # fmt: skip
    machine = ["--model", "config.json", "--gpu", "h200", "--engine", "sglang"]
    assert main(["price", *machine]) == 0
    priced = capsys.readouterr().err.replace("clover-sim price:", "clover-sim calibrate:")
    assert "num_key_value_heads missing: one for each of the 8 heads" in priced
    assert main(["calibrate", "--measured-tokens-per-s", "500", *machine]) == 0
    assert capsys.readouterr().err.startswith(priced)
