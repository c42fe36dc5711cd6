"""Odd arguments to the public functions: taken for what they stand for, or refused in one line that names them."""

from __future__ import annotations

import inspect
from decimal import Decimal
from fractions import Fraction
from pathlib import Path

import pytest

import clover_sim as cs
from clover_sim.errors import CloverError, UsageError


class OtherInt:
    """A number of another library."""

    def __init__(self, value):
        self.value = value

    def __index__(self):
        return self.value


ODD = {
    "other int": OtherInt(2), "digits": "3", "word": "x", "empty": "", "none": None, "path": Path("nowhere"),
    "true": True, "float": 2.0, "half": 2.5, "nan": float("nan"), "list": [1, 2], "nothing": [], "dict": {"a": 1},
    "object": object(), "negative": -1, "bytes": b"ab", "decimal": Decimal(2), "fraction": Fraction(5, 2), "set": {1},
    "list of none": [None], "list of texts": ["a"], "pair": (1, 2), "huge": 10**5000, "class": OtherInt,
}  # fmt: skip

CALLS = {
    "compare": {"strategies": "ar", "tokens": 32},
    "sweep": {"strategies": "ar", "tokens": 32, "vary": "batch_size=1,2"},
    "price": {},
    "speculate": {},
    "agent": {"workload": "web-task", "strategies": "ar", "tasks": 2},
    "serve": {"strategies": "ar", "pool": 2, "traffic": cs.Traffic(requests=3, users_ladder=(1,))},
    "trace_block": {"strategy": "block-diffusion"},
}
OF_A_RUN = ("batch_size", "prompt_tokens", "max_new_tokens", "kv_write", "eos_stop", "align")
"""What ``sweep`` takes by name without listing it."""


def arguments(name):
    known = [p for p in inspect.signature(getattr(cs, name)).parameters if p != "run"]
    return [*known, *(OF_A_RUN if name == "sweep" else ())]


def one_line(call):
    """The call works, or says why not in one short line; nothing else ever leaves it."""
    try:
        call()
    except CloverError as error:
        assert "\n" not in str(error) and 10 < len(str(error)) < 500
        return str(error)
    return ""


@pytest.fixture(autouse=True)
def elsewhere(tmp_path, monkeypatch):
    """A value may be taken for the name of a file to write."""
    monkeypatch.chdir(tmp_path)


@pytest.mark.parametrize(("name", "key"), [(name, key) for name in CALLS for key in arguments(name)])
def test_any_kind_of_value_is_taken_or_refused(name, key):
    for kind, value in ODD.items():
        if kind == "class" and key in ("progress", "keep"):
            continue  # a class can be called
        if kind == "huge" and key in ("seed", "seeds"):
            continue  # a seed may be as large as it likes
        one_line(lambda value=value: getattr(cs, name)(**{**CALLS[name], key: value}))
    one_line(lambda: getattr(cs, name)(**{**CALLS[name], key: (n for n in (1, 2))}))


@pytest.mark.parametrize("record", [cs.Traffic, cs.Prices, cs.Failure])
def test_so_are_the_fields_of_what_they_take(record):
    for key in inspect.signature(record).parameters:
        for value in ODD.values():
            one_line(lambda key=key, value=value: record(**{key: value}))


def test_one_seed_is_a_seed_as_on_the_command_line():
    assert cs.compare("ar", tokens=16, seeds=3).seeds == (3,)
    assert cs.sweep("ar", vary="batch_size=1,2", tokens=16, seeds=3).seeds == (3,)


def test_what_stands_for_the_same_is_taken(tmp_path):
    plain = cs.compare("ar", tokens=[16, 32], seeds=(0, 1), batch_size=2)
    other = cs.compare(
        ("ar",), tokens=(OtherInt(n) for n in (16, 32)), seeds=[OtherInt(0), OtherInt(1)], batch_size=OtherInt(2)
    )
    assert plain.to_dict() == other.to_dict()
    text = tmp_path / "a.txt"
    text.write_text("one two three four")
    assert cs.compare("ar", inputs=text).rows == cs.compare("ar", inputs=[str(text)]).rows
    assert cs.price(widths=8).passes == cs.price(widths=[8]).passes
    assert cs.agent("web-task", "ar", tasks=2).rows == cs.agent("web-task", ["ar"], tasks=2).rows


@pytest.mark.parametrize(
    ("call", "said"),
    [
        (lambda: cs.compare("ar", seeds="many"), "compare: seeds 'many': expected a whole number, or several"),
        (lambda: cs.compare("ar", tokens=[16, "a"]), "compare: tokens 'a'"),
        (lambda: cs.compare(7), "strategies 7: expected a name"),
        (lambda: cs.compare("ar", model=3), "compare: model 3: expected a text"),
        (lambda: cs.compare("ar", batch_size=True), "compare: batch_size True: expected a whole number"),
        (lambda: cs.sweep("ar", vary="batch_size=1,2", machine={"gpu": 3}), "machine: gpu 3: expected a text"),
        (lambda: cs.agent("web-task", texts=("a",)), r"agent: texts \('a',\): expected \(a text, a text\)"),
        (lambda: cs.agent("web-task", rules={"kv_right": "none"}), "rules: unknown rule 'kv_right'; did you mean"),
        (lambda: cs.serve("ar", "much"), "serve: traffic 'much': expected an object of the class Traffic"),
        (lambda: cs.Traffic(requests="many"), "Traffic: requests 'many': expected a whole number"),
        (lambda: cs.Prices(usd_per_hour=-1), "prices: usd_per_hour -1"),
        (lambda: cs.sweep(gpu="h100"), r"unknown argument 'gpu'; it is a part of the machine: machine={'gpu': ...}"),
        (lambda: cs.sweep(threshold=0.9), r"vary={'threshold': \[...\]}"),
        (lambda: cs.sweep(jbs=2), "sweep: unknown argument 'jbs'; did you mean 'jobs'"),
        (lambda: cs.sweep(batchsize=2), "did you mean 'batch_size'"),
        (lambda: cs.compare(machine={}), "its parts are arguments of their own: model=..., gpu=..."),
        (lambda: cs.compare(threshold=0.9), "it is an option of a strategy, as in 'NAME:threshold=...'"),
        (lambda: cs.compare(batch=2), "did you mean 'batch_size'"),
        (lambda: cs.compare(zzz=2), "known: strategies, tokens, .*, progress, keep$"),
        (lambda: cs.speculate(method="mtp"), "speculate: unknown argument 'method'; did you mean 'shape'"),
    ],
)
def test_the_line_names_the_argument_and_what_was_expected(call, said):
    with pytest.raises(UsageError, match=said):
        call()
