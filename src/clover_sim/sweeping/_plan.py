"""The cells of a sweep: every combination of the varied settings, and the pieces of work they make."""

from __future__ import annotations

import hashlib
import os
from collections.abc import Iterator, Mapping, Sequence
from itertools import product
from typing import Any, NamedTuple

from clover_sim.arguments import fitted, unknown
from clover_sim.errors import UsageError
from clover_sim.options import split_spec
from clover_sim.prepare import Rules
from clover_sim.sweeping._axes import Axis, option_names, stream_names

CHUNK_TOKENS = 60_000
"""Tokens that one piece of work decodes, about a twentieth of a second: what a killed sweep may lose."""
CHUNK_CELLS = 64
RUN_TOKENS = 150
"""What starting a run costs, in tokens."""
MEANING = 2
"""Raised when a figure of a row comes to mean something else, so that no kept cell of before is taken."""

_RUN = {
    "batch_size": "int", "prompt_tokens": "int", "max_new_tokens": "int | None", "kv_write": "str | None",
    "eos_stop": "str", "align": "str",
}  # fmt: skip
"""Arguments of the run, which a sweep hands on, and what each is."""


def is_fixed(cost: Any) -> bool:
    """Whether a cost model in words is a given time a pass, on which no machine has a say."""
    return isinstance(cost, str) and cost.partition(":")[0] == "fixed"


class MachineAsk(NamedTuple):
    """A machine in words: what the flags of the command line say, so that any process can build it."""

    model: str | None = None
    gpu: str | None = None
    engine: str | None = None
    precision: str | None = None
    kv_cache_dtype: str | None = None
    tensor_parallel_size: int | None = None
    cost: str | None = None
    params_b: float | None = None
    active_b: float | None = None
    gpu_bandwidth_tb_s: float | None = None
    routing_beta: float | None = None
    calibration: str | None = None

    def build(self) -> Any:
        """The cost model; raises :class:`UsageError` for contradictions and unknown names."""
        from clover_sim import specs
        from clover_sim.cost import Machine, cost_model

        if is_fixed(self.cost):
            return cost_model(str(self.cost))
        for named, *bare in (("model", "params_b", "active_b"), ("gpu", "gpu_bandwidth_tb_s")):
            for other in bare:
                if getattr(self, named) is not None and getattr(self, other) is not None:
                    raise UsageError(f"{named} and {other} contradict each other: name the {named} or give its figures")
        if self.active_b is not None and self.params_b is None:
            raise UsageError("active_b needs params_b, the size of the whole model")
        stored = self.precision or "bf16"
        if self.params_b is not None:
            model = specs.bare_model(self.params_b * 1e9, None if self.active_b is None else self.active_b * 1e9)
        else:
            model, stored = specs.load.model_and_precision(self.model, self.precision)
        bandwidth = self.gpu_bandwidth_tb_s
        if bandwidth is None:
            hardware = specs.load_hardware(self.gpu or specs.DEFAULT_HARDWARE)
        else:
            hardware = specs.bare_hardware(bandwidth)
        if self.calibration is None:
            engine = specs.load_engine(self.engine or specs.default_engine(hardware))
        else:
            from clover_sim.cost.calibration import load_calibration

            engine = load_calibration(self.calibration).engine(self.engine, hardware)
        keys = ("kv_cache_dtype", "tensor_parallel_size", "routing_beta")
        given = {key: getattr(self, key) for key in keys if getattr(self, key) is not None}
        return cost_model(self.cost or "roofline", Machine(model, hardware, engine, stored, **given))


class Cell(NamedTuple):
    """One point of the grid.

    ``spec`` is the strategy with all its options, ``run`` the keywords of :func:`clover_sim.comparison.compare`,
    ``machine`` what it is priced on, ``varied`` what the axes set, in their order.
    """

    spec: str
    run: tuple[tuple[str, Any], ...]
    machine: MachineAsk
    varied: tuple[tuple[str, Any], ...]


class Chunk(NamedTuple):
    """A piece of work, complete in itself: groups of cells that share a stream and a machine."""

    common: Mapping[str, Any]
    groups: tuple[tuple[tuple[tuple[str, Any], ...], MachineAsk, tuple[tuple[int, str, tuple[Any, ...]], ...]], ...]


def make_cells(
    specs: Sequence[str], axes: Sequence[Axis], base: Mapping[str, Any], machine: MachineAsk, tokens: Sequence[Any],
    inputs: Sequence[str], most: int,
) -> list[Cell]:  # fmt: skip
    """All cells in the order of the axes: what is around the strategies outermost, their options innermost.

    Raises :class:`UsageError` for more than ``most`` of them, before any is made.
    """
    outer = [axis for axis in axes if axis.kind != "strategy"]
    inner = [axis for axis in axes if axis.kind == "strategy"]
    if not any(axis.key == "tokens" for axis in outer):
        outer.append(Axis("tokens", "run", tuple(tokens)))
    sources: Sequence[str | None] = inputs or (None,)
    takers = {spec: set(option_names(spec)) for spec in specs}
    own = {spec: [axis for axis in inner if axis.key in takers[spec]] for spec in specs}
    for spec in specs:
        given = split_spec(spec)[1]
        if clash := next((axis.key for axis in own[spec] if axis.key in given), None):
            raise UsageError(f"vary {clash}: -s {spec} sets it too; give it in one place")
    count = len(sources) * _size(outer) * sum(_size(own[spec]) for spec in specs)
    if count > most:
        raise UsageError(
            f"the axes make {count:,} cells (limit {most:,}); take larger steps, or wait with --allow-long"
        )
    cells: list[Cell] = []
    for source in sources:
        for values in product(*(axis.values for axis in outer)):
            run, asked, shown = _outside(outer, values, base, machine, source, len(inputs) > 1)
            for spec in specs:
                for options in product(*(axis.values for axis in own[spec])):
                    pairs = tuple(zip((axis.key for axis in own[spec]), options, strict=True))
                    cells.append(Cell(_with(spec, pairs), run, asked, (*shown, *pairs)))
    return list(dict.fromkeys(cells))


def _size(axes: Sequence[Axis]) -> int:
    size = 1
    for axis in axes:
        size *= len(axis.values)
    return size


def _outside(
    axes: Sequence[Axis], values: Sequence[Any], base: Mapping[str, Any], machine: MachineAsk, source: str | None,
    several: bool,
) -> tuple[tuple[tuple[str, Any], ...], MachineAsk, tuple[tuple[str, Any], ...]]:  # fmt: skip
    """Keywords of the run, the machine, and what is shown, for one choice of everything but the strategy's options."""
    run = dict(base)
    asked: dict[str, Any] = {}
    stream: list[tuple[str, Any]] = []
    shown: list[tuple[str, Any]] = [("input", os.path.basename(source))] if source is not None and several else []
    for axis, value in zip(axes, values, strict=True):
        if axis.kind == "machine":
            asked[axis.key] = value
        elif axis.kind == "stream":
            stream.append((axis.key, value))
        else:
            run[axis.key] = value
        if len(axis.values) > 1 or axis.key != "tokens":
            shown.append((axis.key, value))
    if stream:
        known = stream_names(run["profile"], source is not None)
        run["profile"] = _with(run["profile"], [pair for pair in stream if pair[0] in known])
    if source is not None:
        run["inputs"] = (source,)
    return tuple(run.items()), machine._replace(**asked), tuple(shown)


def _with(spec: str, options: Sequence[tuple[str, Any]]) -> str:
    """A strategy or profile with more options.

    >>> _with("block-diffusion:threshold=0.9", [("block_size", "16")])
    'block-diffusion:threshold=0.9,block_size=16'
    """
    if not options:
        return spec
    return spec + ("," if split_spec(spec)[1] else ":") + ",".join(f"{key}={value}" for key, value in options)


def chunks(
    cells: Sequence[Cell], done: frozenset[int], common: Mapping[str, Any], seeds: int, most_tokens: int
) -> Iterator[Chunk]:
    """The work that is left, in pieces of about :data:`CHUNK_TOKENS`.

    Cells of one stream and machine stand together, since they share the stream and the run of ``ar``.
    """
    groups: list[Any] = []
    members: list[tuple[int, str, tuple[Any, ...]]] = []
    shared: tuple[Any, Any] | None = None
    size = count = 0.0

    def close() -> None:
        nonlocal members
        if members and shared is not None:
            groups.append((shared[0], shared[1], tuple(members)))
        members = []

    for index, cell in enumerate(cells):
        if index in done:
            continue
        key = (cell.run, cell.machine)
        cost = ((dict(cell.run).get("tokens") or most_tokens) + RUN_TOKENS) * seeds
        if count and (size + cost > CHUNK_TOKENS or count >= CHUNK_CELLS):
            close()
            yield Chunk(common, tuple(groups))
            groups, size, count = [], 0.0, 0.0
        if key != shared:
            close()
            shared, size = key, size + cost
        members.append((index, cell.spec, cell.varied))
        size, count = size + cost, count + 1
    close()
    if groups:
        yield Chunk(common, tuple(groups))


def fingerprint(cells: Sequence[Cell], common: Mapping[str, Any], inputs: Sequence[Mapping[str, Any]]) -> str:
    """A hash of everything that the figures depend on, the files that it names included."""
    import json

    from clover_sim import __version__

    digest = hashlib.sha256(json.dumps([__version__, MEANING, *inputs]).encode())
    digest.update(repr(sorted((key, repr(value)) for key, value in common.items())).encode())
    files: dict[str, None] = {}
    for cell in cells:
        digest.update(json.dumps(cell).encode())
        (spec, options), (_, given) = split_spec(cell.spec), split_spec(str(dict(cell.run)["profile"]))
        name, asked = spec.partition(":")[0], cell.machine
        for path in (name, name.replace(".", os.sep) + ".py", asked.model, asked.gpu, asked.engine,
                     asked.calibration, *options.values(), *given.values()):  # fmt: skip
            if path:
                files.setdefault(path)
    for path in files:
        if os.path.isfile(path):
            with open(path, "rb") as stream:
                digest.update(hashlib.sha256(stream.read()).digest())
    return digest.hexdigest()


def run_settings(run: Mapping[str, Any], others: Sequence[str] = ()) -> dict[str, Any]:
    """The settings of the runs, given ones and defaults, after a look at their names, kinds and ranges.

    ``others`` are names that the caller takes itself.
    """
    known = {"batch_size": 1, "prompt_tokens": 0, "max_new_tokens": None, "kv_write": None, "eos_stop": "block",
             "align": "relative"}  # fmt: skip
    for key in run:
        if key not in known:
            raise unknown("sweep", key, [*others, *known])
    rules = Rules(**{key: fitted("sweep", key, {**known, **run}[key], _RUN[key]) for key in known})
    rules.check()
    return {key: getattr(rules, key) for key in known}
