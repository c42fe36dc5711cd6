"""The flags that commands share: strategies, stream, machine; and what their values build."""

from __future__ import annotations

from argparse import ArgumentParser, Namespace
from typing import Any

from clover_sim.cli._numbers import bandwidth_tb_s, counts, format_name, number, params_b, seeds, whole
from clover_sim.cli._parser import choice, typed
from clover_sim.errors import UsageError
from clover_sim.records import EOS_STOPS, KV_WRITE_RULES

PRECISION = (
    "format of the weights: bf16, fp8, int8, int4 (awq, gptq, w4a16), nvfp4, mxfp4, a GGUF mixture such as q4-k-m, or "
    "bits a weight (default: auto, the file's own, else bf16)"
)


def stream_flags(parser: ArgumentParser) -> None:
    """What is decoded: profile or files, lengths, seeds."""
    group = parser.add_argument_group("stream")
    add = group.add_argument
    add("--tokens", metavar="N[,N...]", type=typed(counts), help="lengths to decode; also A:B:STEP, B included")
    add("--profile", metavar="NAME[:KEY=VALUE]", help="synthetic stream (default reference); see list profiles")
    add("--input", metavar="FILE", nargs="+", action="extend", default=[],
        help="decode the tokens of these files instead; - is standard input")  # fmt: skip
    add("--tokenizer", metavar="NAME", default="qwen", type=choice("qwen", "o200k"),
        help="how --input is split: qwen (default) or o200k")  # fmt: skip
    add("--seeds", metavar="A:B", type=typed(seeds),
        help="seeds A to B-1 (or one seed): means with a 95%% interval")  # fmt: skip
    add("--trace", metavar="FILE", help="decode the sequences of a recorded trace, each under its own rule if no "
        "strategy is given")  # fmt: skip


def strategy_flags(parser: ArgumentParser) -> None:
    """Who decodes, and the rules of counting."""
    group = parser.add_argument_group("strategies")
    add = group.add_argument
    add("-s", "--strategy", metavar="NAME[:KEY=VALUE]", action="append",
        help="a decoder with its options; repeatable; see list strategies (default: ar, speculative drafting in one "
        "pass, block-diffusion)")  # fmt: skip
    add("--block-size", metavar="N", type=typed(whole), help="option block_size of the strategies that have it")
    add("--threshold", metavar="P", type=typed(number),
        help="option threshold of the strategies that have it")  # fmt: skip
    add("--num-speculative-tokens", metavar="K", type=typed(whole),
        help="option num_speculative_tokens of the strategies that have it")  # fmt: skip
    add("--speculative-num-draft-tokens", metavar="N", type=typed(whole),
        help="the same counted with the root, as SGLang does: K = N - 1")  # fmt: skip
    add("--kv-write", metavar="RULE", type=choice(*KV_WRITE_RULES),
        help=f"how the K/V of a finished block are written: {', '.join(KV_WRITE_RULES)} (default: none for the "
        "reference stream and traces, else the strategy's own, else separate)")  # fmt: skip
    add("--eos-stop", metavar="RULE", default="block", type=choice(*EOS_STOPS),
        help=f"where decoding stops after the end of the text: {', '.join(EOS_STOPS)} (default block)")  # fmt: skip
    add("--align", metavar="RULE", default="relative", type=choice("relative", "absolute"),
        help="blocks start at the output (relative, default) or at the prompt (absolute)")  # fmt: skip
    add("--max-new-tokens", metavar="N", type=typed(whole), help="the most tokens a run may write")


def machine_flags(parser: ArgumentParser) -> None:
    """What the passes run on."""
    group = parser.add_argument_group("machine")
    add = group.add_argument
    add("--model", metavar="NAME|FILE", help="model whose passes are priced (default clover-35b-a3b); see list models")
    add("--gpu", metavar="NAME|FILE", help="accelerator (default h200); see list gpus")
    add("--engine", metavar="NAME|FILE",
        help="inference engine (default: the usual one of the accelerator); see list engines")  # fmt: skip
    add("--precision", metavar="NAME", type=typed(format_name), help=PRECISION)
    add("--kv-cache-dtype", metavar="NAME", type=typed(format_name), help="format of the K/V cache (default bf16)")
    add("--tensor-parallel-size", metavar="N", type=typed(whole), help="cards that share every layer")
    add("--batch-size", metavar="N", type=typed(whole), default=1, help="requests decoded together (default 1)")
    add("--prompt-tokens", metavar="N", type=typed(lambda t: whole(t, 0)), default=0,
        help="cached tokens before the output (default 0)")  # fmt: skip
    add("--cost", metavar="MODEL", help="floor, roofline (default) or fixed:pass_ms=15")
    add("--params-b", metavar="X", type=typed(params_b), help="bare model: parameters in billions")
    add("--active-b", metavar="X", type=typed(params_b), help="bare model: active parameters in billions")
    add("--gpu-bandwidth-tb-s", metavar="X", type=typed(bandwidth_tb_s), help="bare accelerator: bandwidth in TB/s")
    add("--calibration", metavar="FILE", help="constants that clover-sim calibrate wrote")


def strategies(args: Namespace) -> list[str] | None:
    """The strategies named, with the options that have a flag of their own written into those that take them.

    ``None`` where neither a strategy nor an option was given: the defaults stand.
    """
    options = _shorthands(args)
    if not options:
        return args.strategy  # type: ignore[no-any-return]
    from clover_sim.options import split_spec

    specs = list(args.strategy or _default_strategies())
    for key, (flag, value) in options.items():
        takers = [i for i, spec in enumerate(specs) if _takes(spec, key)]
        if not takers:
            raise UsageError(f"{flag}: none of the strategies ({', '.join(specs)}) has the option {key}")
        for i in takers:
            given = split_spec(specs[i])[1]
            if key in given:
                raise UsageError(f"{flag} {value} contradicts -s {specs[i]}; give {key} in one place")
            specs[i] += ("," if given else ":") + f"{key}={value}"
    return specs


def _shorthands(args: Namespace) -> dict[str, tuple[str, Any]]:
    """Options given by flags of their own: name of the option -> (flag, value)."""
    options: dict[str, tuple[str, Any]] = {}
    if args.block_size is not None:
        options["block_size"] = ("--block-size", args.block_size)
    if args.threshold is not None:
        options["threshold"] = ("--threshold", args.threshold)
    if args.num_speculative_tokens is not None:
        options["num_speculative_tokens"] = ("--num-speculative-tokens", args.num_speculative_tokens)
    counted_with_root = args.speculative_num_draft_tokens
    if counted_with_root is not None:
        if "num_speculative_tokens" in options:
            raise UsageError(
                "--num-speculative-tokens and --speculative-num-draft-tokens say the same (the second counts the root, "
                "so it is one more); give one of them"
            )
        if counted_with_root < 2:
            raise UsageError("--speculative-num-draft-tokens counts the root, so at least 2 is needed")
        options["num_speculative_tokens"] = ("--speculative-num-draft-tokens", counted_with_root - 1)
    return options


def _takes(spec: str, key: str) -> bool:
    from clover_sim.registry import build_strategy

    return hasattr(build_strategy(spec)[1], key)


def _default_strategies() -> tuple[str, ...]:
    from clover_sim.prepare import DEFAULT_STRATEGIES

    return DEFAULT_STRATEGIES


def cost(args: Namespace) -> Any:
    """The cost model that the machine flags describe; ``None`` without any of them, so that the default stands."""
    named = ("model", "gpu", "engine", "precision", "kv_cache_dtype", "tensor_parallel_size", "cost",
             "params_b", "active_b", "gpu_bandwidth_tb_s", "calibration")  # fmt: skip
    if all(getattr(args, name) is None for name in named):
        return None
    from clover_sim.cli import _machine
    from clover_sim.cost import Machine, cost_model

    model, card = _machine.model(args), _machine.hardware(args)
    machine = Machine(
        model.spec, card, _machine.engine(args, card), args.precision or model.precision or "bf16",
        args.kv_cache_dtype or "bf16", args.tensor_parallel_size or 1,
    )  # fmt: skip
    return cost_model(args.cost or "roofline", machine)
