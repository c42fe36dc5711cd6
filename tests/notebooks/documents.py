"""Documents of usual and of odd questions, and where they show what may be unknown."""

from __future__ import annotations

import json
from pathlib import Path

from clover_sim.agents.run import Prices
from clover_sim.cli.list import TOPICS
from clover_sim.cost import MemoryPicture
from clover_sim.diffusion_checks import Checked
from clover_sim.explain import Prediction
from clover_sim.logs import Identity, Section
from clover_sim.records import Drafter
from clover_sim.specs import ModelSpec
from clover_sim.specs.checkpoint import Checkpoint
from clover_sim.speculation import Answer
from logs.lines import engine, v0, v1

DOCUMENTS = [
    ("agent", "agent web-task --tasks 5"), ("agent", "agent joint-decisions --tasks 5 --token-price 0.2/0.75"),
    ("agent", "agent --own-failure 1 --tasks 5"), ("agent", "agent --own-failure 0 --tasks 1 --retries 0"),
    ("agent", "agent -s block-diffusion:threshold=0 -s ngram --tasks 5"),
    ("agent", "agent -s speculative:clustering=[0.9,0.4] --tasks 2"),
    ("agent", "agent -s speculative:acceptance=[0.9,0.7],num_speculative_tokens=2 --tasks 2"),
    ("agent", "agent --params-b 8 --gpu-bandwidth-tb-s 1 --tasks 5"),
    ("agent", "agent --cost fixed:pass_ms=15 --tasks 2"),
    ("serve", "serve --requests 50 --pool 20 --ladder 1,64"),
    ("serve", "serve --users 4 --ladder none --requests 20 --pool 10 --target-first-token-ms 500"),
    ("serve", "serve --cost fixed:pass_ms=15 --requests 20 --pool 10 --ladder 1,4"),
    ("serve", "serve --requests 1 --pool 10 --output-tokens 1:1 --ladder none"),
    ("serve", "serve --requests 3 --pool 10 --ladder 1 -s ar -s speculative:clustering=[0.9,0.4]"),
    ("serve-published", "serve --published"),
    ("price", "price --width 1,8"), ("price", "price --params-b 8 --gpu-bandwidth-tb-s 1"),
    ("price", "price --weight-gb 5 --gpu m4-pro --context 0"), ("price", "price --model {config}"),
    ("price", "price --ledger {ledger}"), ("price", "price --ledger {ledger} --params-b 8 --gpu-bandwidth-tb-s 1"),
    ("speculation", "speculate --workload code --model llama-3.1-8b --gpu h100"),
    ("speculation", "speculate --method ngram --workload chat --model llama-3.1-8b --gpu h100 --batch-size 64"),
    ("speculation", "speculate --method ngram --hit-rate 0 --alpha 0.5"),
    ("speculation", "speculate --params-b 8 --gpu-bandwidth-tb-s 1 --alpha 0.5"),
    ("speculation", "speculate --from-log {log} --model qwen3-8b --gpu h100"),
    *(("explain", f"explain {{{log}}}{asked}") for log in ("log", "old", "bench", "plain", "undrafted", "several")
      for asked in ("", " --model llama-3.1-8b --gpu h100")),
    ("explain", "explain {unfinished} --model qwen3-8b --gpu h100"), ("explain", "explain {log} {old} {several}"),
    *(("validation", f"validate{table}") for table in (
        "", " --measurements kernels", " --measurements speculative", " --measurements prompts",
        " --measurements {nothing}", " --measurements {nothing} --leave-out model")),
    ("claims", "validate --claims"), ("claims", "validate --claims clover-h200"),
    ("diffusion-checks", "validate --diffusion"),
    ("calibration", "calibrate --measured-tokens-per-s 140 --model llama-3.1-8b --gpu h100"),
    ("confidence", "calibrate --tpf-at 0.9=3.25"),
    ("trace", "trace -s ar"), ("trace", "trace --trace {steps}"),
    ("trace", "trace -s speculative:acceptance=[0.9,0.7],num_speculative_tokens=2 --input {config}"),
    ("comparison", "compare --trace {steps}"), ("comparison", "compare --cost fixed:pass_ms=3 --tokens 64"),
    ("comparison", "compare --input {config} --schedule auto"),
    ("sweep", "sweep --vary threshold=0.8,0.9 --tokens 64 --where tokens_per_s>=1e12"),
    ("sweep", "sweep --vary params_b=8,9 --tokens 64"), ("sweep", "sweep --vary kv_write=none,fused --input {config}"),
    *(("list", f"list {topic}") for topic in TOPICS),
]  # fmt: skip
"""Documents of usual and of odd questions: nothing answered, nothing drafted, no machine, one request of one token."""

BENCH = (
    "============ Serving Benchmark Result ============\n"
    "Successful requests:                     100\nBenchmark duration (s):                  12.50\n"
    "Total generated tokens:                  20000\nOutput token throughput (tok/s):         1600.00\n"
    "Mean TPOT (ms):                          10.00\n"
    "---------------Speculative Decoding---------------\n"
    "Acceptance rate (%):                     60.00\nAcceptance length:                       2.80\n"
    "Drafts:                                  7000\nDraft tokens:                            21000\n"
    "Accepted tokens:                         12600\n==================================================\n"
)


def odd_files(folder: Path) -> dict[str, str]:
    """Files that leave something open: logs of all kinds, a trace without errors, a table without rows."""
    texts = {
        "log": "".join(v1(200, [160, 100, 60])) + engine(50.0, 3), "old": v0(3, 30, 60, 50), "bench": BENCH,
        "plain": engine(50.0, 3) + engine(51.0, 3), "undrafted": v1(0, [0, 0, 0]) + engine(50.0, 3),
        "unfinished": v1(200, [160, 100, 60], layout="first"), "several": v0(4, 30, 80, 45) + v1(200, [160, 100, 60]),
        "steps": '{"step_map": [1, 1, 2, 3], "block_size": 4}\n', "nothing": "[]\n",
        "config": json.dumps({
            "model_type": "qwen3", "architectures": ["Qwen3ForCausalLM"], "hidden_size": 64, "num_hidden_layers": 2,
            "num_attention_heads": 4, "num_key_value_heads": 2, "intermediate_size": 128, "vocab_size": 1000,
        }),
    }  # fmt: skip
    for name, text in texts.items():
        (folder / f"{name}.json").write_text(text, encoding="utf-8")
    return {name: str(folder / f"{name}.json") for name in texts}


NULLABLE = [
    ("explain", "sections[]", Section, {"passes": "target_passes"}),
    ("explain", "sections[].prediction", Prediction, {}),
    ("explain", "sections[].identities[]", Identity, {}),
    ("diffusion-checks", "rows[]", Checked, {}),
    ("agent", "settings.prices", Prices, {}), ("agent", "rows[].drafter", Drafter, {"clustering": ""}),
    ("serve", "rows[].drafter", Drafter, {"clustering": ""}), ("ledger", "run.drafter", Drafter, {"clustering": ""}),
    ("price", "memory", MemoryPicture, {}), ("price", "model", ModelSpec, {}),
    ("price", "model", Checkpoint, {"precision": ""}),
    ("speculation", "", Answer, {"break_even_rate": "break_even_acceptance_rate"}),
]  # fmt: skip
"""Places of documents that show a class, and what its fields are called there where the name is another; '' for one
that is left out where it is unknown."""
