"""How the server was started: arguments of every engine read without running them, and who wins where they differ."""

from __future__ import annotations

import json

import pytest

from clover_sim.errors import InputError
from clover_sim.explain import setup_of
from clover_sim.logs import Configuration, read_logs
from clover_sim.logs._literal import keywords_at, value_at
from logs.lines import BENCH_SPEC, decode, engine, read, v0, v1

ARGS = "(APIServer pid=3) INFO 03-04 05:00:00 [utils.py:233] non-default args: {}\n"
ENGINE = "(EngineCore pid=9) INFO 03-04 05:00:09 [core.py:93] Initializing a V1 LLM engine (v0.12.0) with config: {}\n"


def stated(tmp_path, text) -> dict[str, list[object]]:
    (found,) = read(tmp_path, text).configurations
    assert isinstance(found, Configuration)
    return {name: [s.value for s in several] for name, several in found.statements.items()}


def test_vllm_arguments_and_engine(tmp_path):
    given = {
        "port": 8000, "model": "acme/Own-7B", "tensor_parallel_size": 4, "max_model_len": 4096,
        "speculative_config": {"num_speculative_tokens": 3, "method": "eagle3", "model": "acme/own-eagle3"},
    }  # fmt: skip
    config = (
        "model='acme/Own-7B', speculative_config=SpeculativeConfig(method='eagle3', model='acme/own-eagle3', "
        "num_spec_tokens=3), tokenizer='acme/Own-7B', dtype=torch.bfloat16, tensor_parallel_size=4, quantization=fp8, "
        "decoding_config=DecodingConfig(backend='auto'), pooler_config=None, compilation_config={'level': <Mode.A: 3>}"
    )
    found = stated(tmp_path, ARGS.format(given) + ENGINE.format(config) + v1(400, [320, 240, 160]))
    assert found == {
        "model": ["acme/Own-7B"], "tensor_parallel_size": [4], "precision": ["fp8"], "method": ["eagle3"],
        "drafter": ["acme/own-eagle3"], "num_speculative_tokens": [3],
    }  # fmt: skip


@pytest.mark.parametrize(
    ("line", "expected"),
    [
        ("INFO api_server.py:9] args: Namespace(host=None, model='a/b', speculative_model='a/c', "
         "num_speculative_tokens=5, tensor_parallel_size=1)",
         {"model": ["a/b"], "tensor_parallel_size": [1], "drafter": ["a/c"], "num_speculative_tokens": [5]}),
        ("INFO x.py:9] Initializing an LLM engine (v0.6.3) with config: model='a/b', speculative_config="
         "SpeculativeConfig(draft_model='[ngram]', num_spec_tokens=5), tokenizer='a/b'",
         {"model": ["a/b"], "method": ["ngram"], "num_speculative_tokens": [5]}),
        ("$ vllm serve a/b -tp 2 --speculative-config '{\"method\": \"mtp\", \"num_speculative_tokens\": 2}'",
         {"model": ["a/b"], "tensor_parallel_size": [2], "method": ["mtp"], "num_speculative_tokens": [2]}),
        ("python3 -m vllm.entrypoints.openai.api_server --model a/b --num-speculative-tokens=4",
         {"model": ["a/b"], "num_speculative_tokens": [4]}),
        ("INFO a.py:1] non-default args: {'model': 'a/b', 'speculative_config': {'method': 'mtp', 'num_specul",
         {"model": ["a/b"], "method": ["mtp"]}),
    ],
)  # fmt: skip
def test_other_spellings_of_vllm(tmp_path, line, expected):
    assert stated(tmp_path, line + "\n" + v1(400, [320, 240])) == expected


def test_sglang_arguments(tmp_path):
    line = (
        "[2026-02-03 04:05:00] server_args=ServerArgs(model_path='a/b', tp_size=2, cuda_graph_bs=[1, 2], "
        "speculative_algorithm='EAGLE', speculative_draft_model_path='a/c', speculative_num_steps=5, "
        "speculative_eagle_topk=4, speculative_num_draft_tokens=16, json='{}')\n"
    )
    found = stated(tmp_path, line + decode(1, 9, 9.0, 2.0, 0.13) + decode(2, 89, 80.0, 2.0, 0.13))
    assert found == {
        "model": ["a/b"], "tensor_parallel_size": [2], "method": ["EAGLE"], "drafter": ["a/c"],
        "speculative_num_draft_tokens": [16], "speculative_num_steps": [5], "speculative_eagle_topk": [4],
    }  # fmt: skip
    plain = line.replace("'EAGLE'", "None").replace("=5", "=None").replace("=4", "=None").replace("=16", "=None")
    assert "method" not in stated(tmp_path, plain + decode(1, 9, 9.0, None) + decode(2, 89, 80.0, None))


LLAMA = """\
ggml_cuda_init: found 1 CUDA devices:
  Device 0: NVIDIA GeForce RTX 3090, compute capability 8.6, VMM: yes
0.00.100.000 I srv    load_model: loading model '/m/Qwen3.5-27B-Q4_K_M.gguf'
0.00.200.000 I llama_model_loader: loaded meta data with 9 key-value pairs and 7 tensors from /m/Qwen3.5-27B-Q4_K_M.gguf (version GGUF V3)
0.00.300.000 I print_info: file size   = 15.40 GiB (4.91 BPW)
0.00.400.000 I srv    load_model: loading draft model '/m/Qwen3-0.6B-Q8_0.gguf'
0.00.500.000 I llama_model_loader: loaded meta data with 9 key-value pairs and 7 tensors from /m/Qwen3-0.6B-Q8_0.gguf (version GGUF V3)
0.00.600.000 I print_info: file size   = 0.60 GiB (8.50 BPW)
0.00.700.000 I spec common_specu: adding speculative implementation 'draft-simple'
0.00.800.000 I spec common_specu: - n_max=8, n_min=0, p_min=0.00
draft acceptance = 0.60000 (  180 accepted /   300 generated), mean acceptance length =  2.80
"""  # noqa: E501


def test_llamacpp_loads_the_target_first(tmp_path):
    assert stated(tmp_path, LLAMA) == {
        "model": ["/m/Qwen3.5-27B-Q4_K_M.gguf"], "precision": ["4.91"], "gpu": ["NVIDIA GeForce RTX 3090"],
        "method": ["draft-simple"], "drafter": ["/m/Qwen3-0.6B-Q8_0.gguf"], "num_speculative_tokens": [8],
    }  # fmt: skip
    last = LLAMA.splitlines()[-1]
    command = f"$ ./build/bin/llama-server -m x/Phi-4.gguf -md y.gguf --draft-max 16 -ngl 99\n{last}\n"
    assert stated(tmp_path, command) == {
        "model": ["x/Phi-4.gguf"], "drafter": ["y.gguf"], "num_speculative_tokens": [16],
    }  # fmt: skip


def test_trtllm_bench_names_its_engine(tmp_path):
    text = (
        "===\n= PYTORCH BACKEND\n===\nModel:\t\t\tmeta-llama/Llama-3.1-8B-Instruct\nModel Path:\t\tNone\n"
        "===\n= WORLD + RUNTIME INFORMATION\n===\nTP Size:                2\n"
        "===\n= PERFORMANCE OVERVIEW\n===\nTotal Output Throughput (tokens/sec):  512.0\n"
    )
    assert stated(tmp_path, text) == {"model": ["meta-llama/Llama-3.1-8B-Instruct"], "tensor_parallel_size": [2]}
    report = {"engine": {"model": "a/b", "quantization": "FP8"}, "world_info": {"tp_size": 8},
              "performance": {"system_output_throughput_tok_s": 512.0}}  # fmt: skip
    assert stated(tmp_path, json.dumps(report) + "\n") == {
        "model": ["a/b"], "tensor_parallel_size": [8], "precision": ["FP8"],
    }  # fmt: skip


def test_start_up_alone_measures_nothing(tmp_path):
    path = tmp_path / "a.log"
    path.write_text(ARGS.format({"model": "a/b"}))
    with pytest.raises(InputError, match="only says how the server was started"):
        read_logs([str(path)])


def test_words_of_engines_become_ours(tmp_path):
    drafts = {"method": "qwen3_next_mtp", "num_speculative_tokens": 2}
    given = {"model": "Qwen/Qwen3-8B-FP8", "speculative_config": drafts}
    found = setup_of(read(tmp_path, ARGS.format(given) + engine(960.0, 8) + v1(4000, [3200, 2400])))
    assert {name: fact.value for name, fact in found.facts()} == {
        "engine": "vllm", "model": "qwen3-8b", "precision": "fp8", "method": "mtp", "num_speculative_tokens": 2,
        "running_requests": 8.0,
    }  # fmt: skip
    assert found.model is not None and found.model.where.endswith("log0.txt:1") and not found.unknown
    assert found.running_requests is not None and found.running_requests.where.endswith("log0.txt:2 to 3")


def test_a_chain_of_sglang_counts_the_root_and_a_tree_does_not_follow(tmp_path):
    line = "server_args=ServerArgs(model_path='a/b', speculative_algorithm='EAGLE3', {})\n"
    lines = decode(1, 9, 9.0, 2.0, 0.5) + decode(2, 89, 80.0, 2.0, 0.5)
    chain = "speculative_num_steps=3, speculative_eagle_topk=1, speculative_num_draft_tokens=4"
    found = setup_of(read(tmp_path, line.format(chain) + lines))
    assert found.method is not None and found.num_speculative_tokens is not None
    assert (found.method.value, found.num_speculative_tokens.value) == ("eagle3", 3)
    tree = "speculative_num_steps=5, speculative_eagle_topk=8, speculative_num_draft_tokens=32"
    found = setup_of(read(tmp_path, line.format(tree) + lines))
    assert found.method is not None and found.num_speculative_tokens is not None and found.tree_tokens is not None
    assert (found.method.value, found.num_speculative_tokens.value, found.tree_tokens.value) == ("eagle-tree", 5, 32)


def test_unknown_and_contradictory_names_are_said(tmp_path):
    unknown = setup_of(read(tmp_path, ARGS.format({"model": "acme/own-7b"}) + v1(400, [320, 240])))
    assert unknown.model is None and "acme/own-7b" in unknown.unknown[0] and "give --model" in unknown.unknown[0]
    two = ARGS.format({"model": "Qwen/Qwen3-8B"}) + ARGS.format({"model": "Qwen/Qwen3-4B"})
    both = setup_of(read(tmp_path, two + v1(400, [320, 240])))
    assert both.model is None and "several of model" in both.unknown[0]


def test_a_client_without_an_engine_takes_the_only_server_there_is(tmp_path):
    found = setup_of(read(tmp_path, ARGS.format({"model": "Qwen/Qwen3-8B"}) + BENCH_SPEC))
    assert found.engine is not None and found.engine.value == "vllm" and found.model is not None


def test_v0_drafters_give_their_method_away(tmp_path):
    line = "INFO x.py:1] args: Namespace(model='a/b', speculative_model='{}', num_speculative_tokens=3)\n"
    for drafter, method in (("a/EAGLE-b", "eagle1"), ("Qwen/Qwen3-0.6B", "draft-model"), ("a/unknown", None)):
        found = setup_of(read(tmp_path, line.format(drafter) + v0(3, 500, 900, 720)))
        assert (found.method.value if found.method else None) == method


@pytest.mark.parametrize(
    "text",
    [
        "{" * 5000, "[" * 5000, "{'a': " * 3000, "{'a': '" + "\\" * 9999, "{'a': __import__('os').system('false')}",
        "{'a': 1 'b': 2}", "{: :}", "{'" + "x" * 40000, "{" + "1, " * 30000, "",
    ],
)  # fmt: skip
def test_nothing_is_run_and_nothing_grows(text):
    """Whatever stands there ends the value; there is no evaluation to abuse."""
    found = value_at(text)
    assert found is None or len(str(found)) < 200_000


def test_values_keep_what_was_there():
    assert value_at("{'a': [1, 2.5, None, True], 'b': N(c='d'), 'e': <X.Y: 3>, 'f'") == {
        "a": [1, 2.5, None, True], "b": {"c": "d"}, "e": "<X.Y: 3>",
    }  # fmt: skip
    assert keywords_at("a=1, b='it\\'s', c=torch.bf16) and more") == {"a": 1, "b": "it's", "c": "torch.bf16"}
