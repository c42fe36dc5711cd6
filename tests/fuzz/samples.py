"""A few whole files of our own for formats whose tests build them piece by piece."""

from __future__ import annotations

import json

_SEQUENCE = {
    "id": "s", "block_size": 2, "threshold": 0.9, "tokens": ["{", "x", "}", "7"],
    "token_class": ["structural", "rare", "structural", "digit"], "wrong": [False, True, False, True],
    "blocks": [
        {"start": 0, "passes": [
            {"masked": [0, 1], "confidence": [0.99, 0.5], "committed": [0], "fallback": False, "top1": [3, 4]},
            {"masked": [1], "confidence": [0.7], "committed": [1], "fallback": True, "top1": [5]}]},
        {"start": 2, "passes": [
            {"masked": [2, 3], "confidence": [0.95, 0.93], "committed": [2, 3], "fallback": False, "top1": [1, 2]}]},
    ],
}  # fmt: skip
_BLOCKS = [
    {"request": 7, "block": 3, "start": 96, "size": 2, "threshold": 0.9, "steps": [
        {"forward": 1, "kind": "denoise", "confidence": {"96": 0.99, "97": 0.95}, "committed": [96, 97]},
        {"forward": 2, "kind": "denoise", "confidence": {}, "committed": [], "edited": [96]},
        {"forward": 3, "kind": "kv_commit"}]},
    {"request": 7, "block": 4, "start": 98, "size": 2, "threshold": 0.9, "steps": [
        {"kind": "denoise", "confidence": {"98": 0.99, "99": 0.5}, "committed": [98], "forced": False},
        {"kind": "denoise", "confidence": {"99": 0.6}, "committed": [99], "forced": True},
        {"kind": "kv_commit"}]},
]  # fmt: skip


def _token(p: int, c: float, kl: float) -> dict[str, float]:
    return {"position": 100 + p, "token_id": p, "confidence": c, "kl_divergence": kl}


_ALL_STEPS = [
    {"step": 0, "decoded_tokens": [_token(0, 0.9, 1.0)],
     "all_tokens": [_token(p, 0.9 - p / 10, 1.0) for p in range(3)]},
    {"step": 1, "decoded_tokens": [_token(2, 0.8, 0.1), _token(1, 0.7, 0.2)],
     "all_tokens": [_token(1, 0.7, 0.2), _token(2, 0.8, 0.1)]},
]  # fmt: skip


def _jsonl(*records: object) -> str:
    return "".join(json.dumps(record) + "\n" for record in records)


TRACES = (
    _jsonl(_SEQUENCE, {**_SEQUENCE, "id": "t", "domain": "tool"}), _jsonl(*_BLOCKS), json.dumps(_ALL_STEPS, indent=1),
    _jsonl({"block_size": 4, "threshold": 0.95, "passes": [[0.99, 0.4, 0.96, 0.3], [None, 0.8, None, 0.9],
                                                           [None, 0.97, None, None]]}),
    _jsonl({"step_map": [1, 1, 2, 3, 4, 6, 4, 4], "block_size": 4, "pieces": list("abcdefgh"), "is_special": [0] * 8}),
    _jsonl(*[{"request": 0, "block": b, "size": 4, "step_map": [1, 2, 2, 3]} for b in range(3)]),
    _jsonl({"request_id": "r1", "output_len": 70, "ttfb_ms": 10, "latency_ms": 90, "block_steps_list": [3, 4, 40]}),
    _jsonl({"raw_forward_calls": 3, "unmask_steps": 2, "block_steps": [2], "kv_saved": [True]},
           {"raw_forward_calls": 6, "unmask_steps": 5, "block_steps": [5], "kv_saved": [True]}),
    _jsonl({"first_unmask_times": [s + 10 * (p // 8) for p, s in enumerate([1, 5, 2, 4, 3, 1, 2, 5] * 4)]}),
)  # fmt: skip
_MESSAGES = (
    {"role": "system", "content": "Use the tools."},
    {"role": "user", "content": "How warm is it in Oslo?"},
    {"role": "assistant", "content": None, "tool_calls": [
        {"id": "1", "type": "function", "function": {"name": "weather", "arguments": '{"city": "Oslo"}'}}]},
    {"role": "tool", "tool_call_id": "1", "content": '{"celsius": 7}'},
    {"role": "assistant", "content": [{"type": "text", "text": "Seven degrees."},
                                      {"type": "tool_use", "id": "2", "name": "stop", "input": {"why": "done"}}]},
)  # fmt: skip
TASKS = (
    _jsonl(*_MESSAGES), json.dumps(_MESSAGES), json.dumps({"messages": _MESSAGES}),
    _jsonl({"id": "a", "question": [[{"role": "user", "content": "sum 1 and 2"}]], "function": []},
           {"id": "a", "ground_truth": [{"sum": {"x": [1], "y": [2, ""]}}]}),
    json.dumps({"system_tokens": 500, "turns": [{"output_tokens": 60, "observation_tokens": 40, "tool_s": 0.5}] * 3}),
    'name = "mine"\nsystem_tokens = 100\n\n[[turns]]\noutput_tokens = 40\nobservation_tokens = 200\ntool_s = 1.5\n'
    "thinking_tokens = 30\nrepeat = 3\n",
)  # fmt: skip
SIZES = (
    "TIMESTAMP,ContextTokens,GeneratedTokens\n2023-11-16 18:17:03.9799600,480,10\n2023-11-16 18:17:04.0319600,110,27\n",
    "Timestamp,Request tokens,Response tokens\n5,47,18\n45,100,9\n118,230,26\n",
    _jsonl({"timestamp": 0, "input_length": 675, "output_length": 52}, {"timestamp": 300, "input_length": 73,
           "output_length": 8}),
    _jsonl({"prompt_tokens": 20, "completion_tokens": 30, "arrival_s": 0.5},
           {"prompt_tokens": 2, "completion_tokens": 3, "arrival_s": 0.75}),
)  # fmt: skip
_LLAMA = {
    "general.architecture": "llama", "general.file_type": 2, "llama.block_count": 3, "llama.embedding_length": 64,
    "llama.feed_forward_length": 160, "llama.attention.head_count": 8, "llama.attention.head_count_kv": 2,
    "llama.context_length": 4096, "llama.vocab_size": 1000,
}  # fmt: skip
GGUF = (
    json.dumps(_LLAMA), json.dumps({**_LLAMA, "llama.expert_count": 4, "llama.expert_used_count": 2}),
    json.dumps({"metadata": {key: {"value": value} for key, value in _LLAMA.items()},
                "tensors": {"token_embd.weight": {"type": "Q4_K", "shape": [64, 1000]}}}),
)  # fmt: skip
LOGS = (
    "INFO api_server.py:9] args: Namespace(host=None, model='a/b', speculative_model='a/c', num_speculative_tokens=5, "
    "tensor_parallel_size=1)\nserver_args=ServerArgs(model_path='a/b', tp_size=2, speculative_algorithm='EAGLE3', "
    "speculative_num_steps=3, speculative_eagle_topk=4, speculative_num_draft_tokens=8)\n",
    "# TYPE vllm:spec_decode_num_drafts_total counter\n"
    'vllm:spec_decode_num_drafts_total{model_name="a"} 400.0\n'
    'vllm:spec_decode_num_draft_tokens_total{model_name="a"} 1200.0\n'
    'vllm:spec_decode_num_accepted_tokens_total{model_name="a"} 600.0\n'
    'vllm:spec_decode_num_accepted_tokens_per_pos_total{model_name="a",position="0"} 300.0\n'
    'vllm:spec_decode_num_accepted_tokens_per_pos_total{model_name="a",position="1"} 200.0\n',
    "prompt eval time =     200.00 ms /    20 tokens (   10.00 ms per token,   100.00 tokens per second)\n"
    "       eval time =    5000.00 ms /   201 tokens (   10.00 ms per token,    40.20 tokens per second)\n"
    "      total time =    9999.00 ms /   999 tokens\nslot print_timing: id  0 | task 0 |\n"
    "draft acceptance rate = 0.50000 (   80 accepted /   160 generated)\n",
)
