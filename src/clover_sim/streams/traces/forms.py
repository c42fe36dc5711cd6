"""Which form a trace has, record by record, and what full recordings (every pass with its positions) hold."""

from __future__ import annotations

from collections.abc import Iterable, Mapping
from itertools import pairwise
from typing import Any

from clover_sim.errors import shown
from clover_sim.streams.traces.build import RawBlock, RawPass, RawSequence, build
from clover_sim.streams.traces.compact import all_steps, block_steps, step_log, step_map
from clover_sim.streams.traces.fields import (
    Place,
    amount,
    items,
    mapping,
    optional_whole,
    positions,
    probability,
    whole,
)  # fmt: skip
from clover_sim.streams.traces.recording import Recording

_EXPECTED = (
    "expected 'blocks' or 'steps' (passes with positions), 'passes' (a matrix), 'step_map', 'block_steps_list', "
    "'raw_forward_calls' (an engine's step log), or a list of steps with 'all_tokens'"
)
_THRESHOLD_RULES = ("threshold", "confidence", "low_confidence", "lowconfidence", "block-diffusion", "block_diffusion")


def recordings(records: Iterable[tuple[int, Any]], path: str) -> list[Recording]:
    """Read every record; block and log records of one request are put together."""
    found: list[RawSequence | None] = []
    parts: dict[str, tuple[int, list[tuple[Place, Mapping[str, Any]]]]] = {}
    log: list[tuple[Place, Mapping[str, Any]]] = []
    for line, value in records:
        place = Place(f"{path}:{line}")
        if isinstance(value, list) and value and _is_step(value[0]):
            found.append(all_steps(value, place, str(len(found))))
            continue
        for entry in value if isinstance(value, list) else [value]:
            record = mapping(entry, place)
            if "raw_forward_calls" in record:
                log.append((place, record))
            elif "block" in record and not isinstance(record.get("blocks"), list):
                request = str(record.get("request", 0))
                if request not in parts:
                    parts[request] = (len(found), [])
                    found.append(None)
                parts[request][1].append((place, record))
            else:
                found.append(_whole_record(record, place, str(len(found))))
    for request, (index, records_of) in parts.items():
        found[index] = _from_blocks(request, records_of)
    if log:
        found.extend(step_log(log))
    return [build(raw) for raw in found if raw is not None]


def _is_step(value: Any) -> bool:
    return isinstance(value, dict) and ("all_tokens" in value or "decoded_tokens" in value)


def _whole_record(record: Mapping[str, Any], place: Place, number: str) -> RawSequence:
    """One record that holds a whole sequence."""
    name = str(record.get("id", record.get("request", record.get("request_id", number))))
    if isinstance(record.get("blocks"), list):
        raw = RawSequence(name, place, "passes", [_block(b, place, i) for i, b in enumerate(record["blocks"])])
    elif isinstance(record.get("passes"), list):
        rows = record["passes"]
        matrix = bool(rows) and isinstance(rows[0], list)
        block = _matrix(record, place) if matrix else _block(record, place, 0)
        raw = RawSequence(name, place, "matrix" if matrix else "passes", [block])
    elif isinstance(record.get("steps"), list):
        raw = RawSequence(name, place, "passes", [_block(record, place, 0)])
    elif any(isinstance(record.get(k), list) for k in ("step_map", "first_unmask_times")):
        raw = step_map(record, place, name)
    elif isinstance(record.get("block_steps_list"), list):
        raw = block_steps(record, place, name)
    else:
        keys = ", ".join(list(record)[:8]) or "no key"
        place.refuse(f"the record ({keys}) is in no known form; {_EXPECTED}")
    _describe(raw, record)
    return raw


def _from_blocks(request: str, records: list[tuple[Place, Mapping[str, Any]]]) -> RawSequence:
    """A sequence from one record a block."""
    numbered = [(whole(record["block"], "'block'", place), place, record) for place, record in records]
    numbered.sort(key=lambda entry: entry[0])
    for (before, *_), (number, place, _) in pairwise(numbered):
        if number != before + 1:
            what = "is there twice" if number == before else f"follows block {before}"
            place.refuse(f"block {number} of request {request} {what}; expected each block once, in order")
    only_maps = all("steps" not in record and "passes" not in record for _, _, record in numbered)
    first = numbered[0][2]
    if only_maps and all(isinstance(record.get("step_map"), list) for _, _, record in numbered):
        size = optional_whole(first, ("size", "block_size"), numbered[0][1], 1) or len(first["step_map"])
        maps = [(place.at(f"block {number}"), record["step_map"]) for number, place, record in numbered]
        raw = step_map({"block_size": size}, numbered[0][1], request, maps)
    else:
        blocks = [_block(record, place, number) for number, place, record in numbered]
        raw = RawSequence(request, numbered[0][1], "passes", blocks)
    _describe(raw, first)
    for _, place, record in numbered:
        if record.get("threshold") != first.get("threshold"):
            place.refuse(f"'threshold' is {shown(record.get('threshold'))}, before {shown(first.get('threshold'))}")
    return raw


def _describe(raw: RawSequence, record: Mapping[str, Any]) -> None:
    """What a record says of its sequence beside the passes."""
    place = raw.place
    raw.block_size = optional_whole(record, ("block_size", "size"), place, 1) or raw.block_size
    if record.get("threshold") is not None:
        raw.threshold = probability(record["threshold"], "'threshold'", place)
    comparison = record.get("comparison")
    if comparison not in (None, "ge", "gt", ">=", ">"):
        place.refuse(f"'comparison' is {shown(comparison)}: expected 'ge' or 'gt'")
    raw.comparison = {">=": "ge", ">": "gt"}.get(comparison, comparison) if comparison else None
    for key in ("strategy", "algorithm", "rule"):
        if isinstance(given := record.get(key), str):
            raw.follows_threshold = given.partition(":")[0].lower() in _THRESHOLD_RULES
    for key, kept in (("tokens", "texts"), ("token_class", "class_names"), ("wrong", "wrong")):
        if isinstance(record.get(key), list):
            setattr(raw, kept, record[key])
    raw.domain = str(record.get("domain", ""))


def _block(value: Any, place: Place, number: int) -> RawBlock:
    """A block whose passes list positions."""
    here = place.at(f"block {number}")
    record = mapping(value, here)
    rows = items(record, "steps" if "steps" in record else "passes", here)
    block = RawBlock(here, [], optional_whole(record, ("start",), here), optional_whole(record, ("size",), here, 1))
    for index, row in enumerate(rows, 1):
        step = mapping(row, here.at(f"pass {index}"))
        if step.get("kind") in ("kv_commit", "kv_write", "encode"):
            block.kv_writes += 1
        else:
            block.passes.append(_pass(step, here.at(f"pass {index}")))
    return block


def _pass(step: Mapping[str, Any], place: Place) -> RawPass:
    edited = positions(step.get("edited"), "'edited'", place)
    reopened = positions(step.get("reopened", step.get("remasked")), "'reopened'", place)
    if "committed" not in step:
        place.refuse("'committed' is missing: expected the list of positions this pass settled")
    committed = positions(step["committed"], "'committed'", place)
    committed += tuple(p for p in edited if p not in committed)
    reopened += tuple(p for p in edited if p not in reopened)
    forced = step.get("forced", step.get("fallback"))
    if isinstance(forced, bool):
        forced = list(committed) if forced else []
    told = None if forced is None else positions(forced, "'forced'", place)
    raw = RawPass(place, committed, _scores(step, place), reopened, told)
    if (span := positions(step.get("span"), "'span'", place)) and len(span) == 2:
        raw.span = (span[0], span[1])
    if raw.confidence is not None:
        masked = list(raw.confidence)
        raw.guess = _beside(step, ("top1", "guess"), masked, place, whole)
        raw.entropy = _beside(step, ("entropy",), masked, place, amount)
        raw.kl = _beside(step, ("kl", "kl_divergence"), masked, place, amount)
    return raw


def _scores(step: Mapping[str, Any], place: Place) -> dict[int, float] | None:
    """Confidence of every masked position, from ``{position: value}`` or from two lists."""
    given = step.get("confidence")
    if given is None:
        return None
    if isinstance(given, dict):
        try:
            return {int(p): probability(c, f"confidence of position {p}", place) for p, c in given.items()}
        except ValueError:
            place.refuse("a key of 'confidence' is not a position")
    if not isinstance(given, list):
        place.refuse(f"'confidence' is {shown(given)}: expected a list beside 'masked', or an object by position")
    masked = positions(items(step, "masked", place), "'masked'", place)
    if len(masked) != len(given):
        place.refuse(f"'masked' lists {len(masked)} positions, 'confidence' {len(given)} values")
    if all(type(c) is float and 0 <= c <= 1 for c in given):
        found = dict(zip(masked, given, strict=True))
    else:
        pairs = zip(masked, given, strict=True)
        found = {p: probability(c, f"confidence of position {p}", place) for p, c in pairs}
    if len(found) < len(masked):
        place.refuse("'masked' names a position twice")
    return found


def _beside(step: Mapping[str, Any], keys: tuple[str, ...], masked: list[int], place: Place, read: Any) -> Any:
    """Further values of the masked positions, if the pass has them."""
    for key in keys:
        given = step.get(key)
        if isinstance(given, dict):
            given = [given.get(str(p)) for p in masked]
        if isinstance(given, list) and len(given) == len(masked) and None not in given:
            return {p: read(v, f"{key!r} of position {p}", place) for p, v in zip(masked, given, strict=True)}
    return None


def _matrix(record: Mapping[str, Any], place: Place) -> RawBlock:
    """A block as one list a pass, where null marks what is already committed."""
    rows = record["passes"]
    size = optional_whole(record, ("block_size", "size"), place, 1) or len(rows[0])
    start = optional_whole(record, ("start",), place) or 0
    scores: list[tuple[Place, dict[int, float]]] = []
    for index, row in enumerate(rows, 1):
        here = place.at(f"pass {index}")
        if not isinstance(row, list) or len(row) > size or len(row) != len(rows[0]):
            found = f"{len(row)} entries" if isinstance(row, list) else shown(row)
            here.refuse(f"the pass has {found}, expected one for each of {min(size, len(rows[0]))} positions")
        given = {start + p: c for p, c in enumerate(row) if c is not None}
        scores.append((here, {p: probability(c, f"confidence of position {p}", here) for p, c in given.items()}))
    passes = []
    for i, (here, now) in enumerate(scores):
        later = scores[i + 1][1] if i + 1 < len(scores) else {}
        back = sorted(set(later) - set(now))
        if back:
            scores[i + 1][0].refuse(f"position {back[0]} has a confidence, but pass {i + 1} shows it committed")
        passes.append(RawPass(here, tuple(p for p in now if p not in later), now))
    return RawBlock(place, passes, start, None)
