"""What is fuzzed: every command's flags, every kind of file, every notation, and the Python interface."""

from __future__ import annotations

from collections.abc import Callable
from functools import cache
from random import Random

from fuzz import calls, words
from fuzz.corpus import corpus
from fuzz.mutation import NUMBERS, TEXTS, damage, damage_word
from fuzz.oracle import Case

FILES: dict[str, tuple[tuple[str, ...], tuple[str, ...], tuple[str, ...]]] = {
    "config": (("config",), ("config.json",), (
        "price --model {}", "price --model . --format json", "compare --tokens 4 -s ar --model {}",
        "speculate --workload code --model {}", "price --model {} --batch-size 8 --context 0,5000",
    )),
    "gguf": (("gguf",), ("meta.json",), ("price --model {}", "price --model {} --format json")),
    "model": (("model",), ("model.toml", "model.json"), ("price --model {}", "price --model {} --width 1,9")),
    "hardware": (("hardware",), ("gpu.toml",), (
        "price --gpu {}", "price --gpu {} --model qwen3-30b-a3b --format json --precision fp8",
        "compare --tokens 4 --gpu {}", "agent --tasks 2 -s ar --gpu {}", "price --gpu {} --tensor-parallel-size 4",
    )),
    "engine": (("engine",), ("engine.toml",), (
        "price --engine {}", "price --engine {} --format json", "compare --tokens 4 --engine {}",
        "speculate --workload code --engine {} --scheduler overlap",
        "calibrate --measured-tokens-per-s 140 --model llama-3.1-8b --gpu h100 --engine {}",
    )),
    "calibration": (("calibration",), ("mine.toml",), (
        "price --calibration {}", "price --model llama-3.1-8b --gpu h100 --calibration {} --format json",
        "compare --tokens 4 --calibration {}", "price --engine {}",
    )),
    "workload": (("workload",), ("mine.toml",), (
        "compare --tokens 8 --profile context:workload={}", "trace --profile context:workload={}",
        "compare --tokens 8 --profile context:workload={} --format json -s block-diffusion",
    )),
    "task": (("task",), ("task.jsonl", "task.json", "task.toml"), (
        "agent {} --tasks 5 -s ar", "agent {} --tasks 5 -s ar --format json", "compare --tokens 8 --input {}",
    )),
    "sizes": (("sizes",), ("sizes.csv", "sizes.jsonl"), (
        "serve --log {} --pool 4 --ladder none -s ar", "agent {} --tasks 5 -s ar",
        "serve --log {} --pool 4 --ladder none -s ar --format json",
    )),
    "trace": (("trace",), ("t.jsonl", "t.json", "t.jsonl.gz"), (
        "compare --trace {}", "compare --trace {} --format json", "trace --trace {}", "trace --trace {} --format json",
        "compare --trace {} -s ar -s block-diffusion", "trace --trace {} --sequence 1 --block 1",
    )),
    "log": (("log",), ("server.log", "server.log.gz", "log.json"), (
        "explain {}", "explain {} --format json", "explain {} --model qwen3-8b --gpu h100", "explain {} {}",
        "speculate --from-log {} --model qwen3-8b --gpu h100", "explain {} --num-speculative-tokens 3 --baseline 60",
    )),
    "stdin": (("log", "text", "task"), (), (
        "explain -", "compare --tokens 8 -s ar --input -", "agent - --tasks 5 -s ar",
    )),
    "ledger": (("ledger",), ("ledger.jsonl",), ("price --ledger {}", "price --ledger {} --format json --batch-size 4")),
    "resume": (("resume",), ("cells.jsonl",), (
        "sweep --vary threshold=0.9,0.95 --tokens 16 --jobs 1 --resume {}",
        "sweep --vary threshold=0.9,0.95 --tokens 16 --jobs 1 --format json --resume {}",
        "sweep --vary threshold=0.9,0.95 --tokens 16 --jobs 1 --format html --all --resume {}",
    )),
    "rows": (("rows",), ("rows.json", "rows.toml"), (
        "validate --measurements {}", "validate --measurements {} --format json",
        "validate --measurements {} --rows all",
    )),
    "text": (("text", "log"), ("t.txt", "t.py", "t.md", "t.json", "t.xml", "t.yaml"), (
        "compare --tokens 24 --input {} -s ar", "trace --input {}", "compare --input {} --tokenizer o200k --tokens 9",
        "compare --tokens 24 --input {} {} --export out.html",
    )),
}  # fmt: skip
"""Target -> kinds of seed, file names, and command lines in which {} is the file."""

NOTATIONS: dict[str, tuple[str, tuple[str, ...]]] = {
    "strategy": ("strategy", ("compare --tokens 16 -s", "trace --tokens 32 -s", "sweep --tokens 8 --jobs 1 -s")),
    "profile": ("profile", ("compare --tokens 16 --profile", "trace --tokens 32 --profile")),
    "vary": ("vary", ("sweep --tokens 8 --jobs 1 --vary", "sweep -s ar --tokens 8 --jobs 1 --format json --vary")),
    "where": ("where", ("sweep --tokens 8 --jobs 1 --vary threshold=0.9,0.95 --where",)),
    "pareto": ("pareto", ("sweep --tokens 8 --jobs 1 --vary threshold=0.9,0.95 --pareto",)),
    "columns": ("columns", ("compare --tokens 8 --columns", "compare --tokens 8 --format markdown --columns")),
    "bars": ("fail_under", ("compare --tokens 8 --fail-under", "compare --tokens 8 --fail-over")),
    "schedule": ("schedule", (
        "compare --tokens 8 -s speculative --batch-size 4 --schedule", "speculate --workload code --schedule",
        "serve --requests 5 --pool 3 --ladder none --draft-schedule",
    )),
    "shares": ("shares", (
        "speculate --per-position", "speculate --clustering", "speculate --workload code --width-ms",
        "speculate --acceptance-rate 0.7 --rate-of vllm --num-speculative-tokens",
        "speculate --num-speculative-tokens 3 --acceptance-length", "speculate --alpha", "speculate --rho 0.9 --alpha",
    )),
}  # fmt: skip
"""Target -> notation, and command lines that end with it."""


def _schedule(rng: Random) -> str:
    runs = []
    for _ in range(rng.randrange(4)):
        length = rng.choice((3, 3, 3, 2, 4))
        runs.append([rng.choice((0, 1, 2, 64, -1, 10**20, 1.5, None, "1", True)) for _ in range(length)])
    text = rng.choice((str(runs).replace("'", '"'), "[[1,64,3],[65,128,1]]", "1:5,32:2,128:0", "auto", "[[1,4,3]]"))
    return damage_word(rng, text) if rng.random() < 0.5 else text


def _shares(rng: Random) -> str:
    items = [rng.choice((*NUMBERS, str(round(rng.random(), 2)), f"{rng.randrange(9)}:{rng.randrange(9)}"))
             for _ in range(rng.choice((1, 2, 2, 3, 5)))]  # fmt: skip
    return ",".join(items)


def _notation(rng: Random, kind: str) -> str:
    if kind == "schedule":
        return _schedule(rng)
    if kind == "shares":
        return _shares(rng)
    if kind in ("strategy", "profile"):
        from clover_sim.streams.profiles import PROFILES

        mine = tuple(PROFILES) if kind == "profile" else tuple(n for n in words.options() if n not in PROFILES)
        text = words.spec(rng, mine)
    else:
        text = words.figure_spec(rng, kind)
    if rng.random() < 0.05:
        text = rng.choice(TEXTS)
    return damage_word(rng, text) if rng.random() < 0.3 else text


def _of_flags(command: str) -> Callable[[Random], Case]:
    def make(rng: Random) -> Case:
        argv, files = words.line(rng, command)
        stdin = rng.choice(corpus()[rng.choice(("log", "text", "task"))]) if "-" in argv else b""
        encoding = rng.choice(("utf-8", "utf-8", "utf-8", "ascii", "latin-1"))
        return Case(f"flags-{command}", tuple(argv), files, stdin, encoding)

    return make


def _of_file(name: str) -> Callable[[Random], Case]:
    kinds, names, lines = FILES[name]

    def make(rng: Random) -> Case:
        items = corpus()[rng.choice(kinds)]
        if name == "config" and rng.random() < 0.1:
            items = corpus()["gguf"]
        content = damage(rng, rng.choice(items), items)
        template = rng.choice(lines)
        if not names:
            return Case(name, tuple(template.split()), {}, content)
        files = {rng.choice(names): content}
        if template.count("{}") > 1:
            files[f"other.{rng.choice(names).partition('.')[2]}"] = damage(rng, rng.choice(items), items)
        given = iter([*files, *files])
        argv = tuple(part.replace("{}", next(given)) if "{}" in part else part for part in template.split())
        return Case(name, argv, files)

    return make


def _of_notation(name: str) -> Callable[[Random], Case]:
    kind, lines = NOTATIONS[name]

    def make(rng: Random) -> Case:
        argv = (*rng.choice(lines).split(), words.harmless(words.small(_notation(rng, kind))))
        return Case(name, argv + (("--format", "json") if rng.random() < 0.3 and "--format" not in argv else ()))

    return make


def _of_first(rng: Random) -> Case:
    """What stands where the command should."""
    known = [*words.flags(), "help", "--help", "-h", "-V", "--version", "-q", "-v", "--color", "always", *TEXTS]
    argv = [words.harmless(rng.choice(known)) for _ in range(rng.randrange(4))]
    argv = [damage_word(rng, word) if rng.random() < 0.3 else word for word in argv]
    argv = [words.harmless(word) for word in argv]
    heavy = set(argv) & {"agent", "serve", "sweep", "compare", "validate"}
    return Case("first", tuple([*argv, "--help"] if heavy else argv))


@cache
def targets() -> dict[str, Callable[[Random], Case]]:
    """Every target by its name."""
    found: dict[str, Callable[[Random], Case]] = {"first": _of_first}
    found |= {f"flags-{command}": _of_flags(command) for command in words.flags()}
    found |= {name: _of_file(name) for name in FILES}
    found |= {name: _of_notation(name) for name in NOTATIONS}
    return found | {f"call-{name}": calls.case_of(name) for name in calls.CALLS}


def prepare() -> None:
    """Whatever is worked out once, before workers are made."""
    corpus()
    words.examples()
    words.seen_values()
    words.options()


def case(target: str, seed: int, number: int) -> Case:
    """One try: the same for the same target, seed and number, while the files it is made of stay as they are."""
    return targets()[target](Random(f"{seed}/{target}/{number}"))
