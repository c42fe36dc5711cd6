"""From raw passes to a checked :class:`Recording`: masks, order, the rule that fits."""

from __future__ import annotations

from array import array
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field
from typing import Any, NoReturn

from clover_sim.errors import shown
from clover_sim.physics.replay import Visits
from clover_sim.records import TokenClass
from clover_sim.streams.traces.fields import Place
from clover_sim.streams.traces.recording import RecordedBlock, RecordedPass, Recording

_CLASSES = {
    "structural": TokenClass.STRUCTURAL, "common": TokenClass.COMMON, "rare": TokenClass.RARE,
    "digit": TokenClass.RARE, "padding": TokenClass.PADDING,
}  # fmt: skip


@dataclass(slots=True)
class RawPass:
    """One pass as a form gives it; ``confidence`` covers exactly the masked positions, or is ``None``."""

    place: Place
    committed: tuple[int, ...]
    confidence: Mapping[int, float] | None = None
    reopened: tuple[int, ...] = ()
    forced: tuple[int, ...] | None = None
    span: tuple[int, int] | None = None
    guess: Mapping[int, int] | None = None
    entropy: Mapping[int, float] | None = None
    kl: Mapping[int, float] | None = None


@dataclass(slots=True)
class RawBlock:
    """One block as a form gives it; ``size`` is what the record states (``None``: nothing)."""

    place: Place
    passes: list[RawPass]
    start: int | None = None
    size: int | None = None
    kv_writes: int = 0


@dataclass(slots=True)
class RawSequence:
    """One sequence as a form gives it, and what its record says of itself."""

    name: str
    place: Place
    form: str
    blocks: list[RawBlock]
    block_size: int | None = None
    threshold: float | None = None
    comparison: str | None = None
    follows_threshold: bool = True
    texts: Sequence[str] = ()
    class_names: Sequence[Any] = ()
    wrong: Sequence[int] = ()
    domain: str = ""
    holds: set[str] = field(default_factory=lambda: {"passes", "order"})


def build(raw: RawSequence) -> Recording:
    """Check a raw sequence and turn it into a recording that starts at position 0."""
    if not raw.blocks:
        raw.place.refuse("holds no block")
    spans = [_span(block) for block in raw.blocks]
    base = spans[0][0]
    for (_, end), (start, _), block in zip(spans, spans[1:], raw.blocks[1:], strict=False):
        if start != end:
            block.place.refuse(f"the block starts at position {start}, expected {end}: blocks follow each other")
    sizes = [stop - start for start, stop in spans]
    size = raw.block_size or max(sizes)
    for i, (block, found) in enumerate(zip(raw.blocks, sizes, strict=True)):
        # the first may share its block with the end of the prompt, the last may be cut by the limit
        if found > size or (found < size and 0 < i < len(sizes) - 1):
            block.place.refuse(f"the block has {found} positions, others {size}: block sizes are mixed")
        if block.size not in (None, size):
            block.place.refuse(f"'size' is {block.size}, others {size}: block sizes are mixed")
    blocks = []
    visits = _Collector()
    for block, (start, stop) in zip(raw.blocks, spans, strict=True):
        _check(block, start, stop)
        visits.add(block, start, stop)
        passes = tuple(_recorded(p, base) for p in block.passes)
        blocks.append(RecordedBlock(start - base, stop - base, passes, block.kv_writes))
    length = blocks[-1].stop
    comparison = _comparison(raw) if visits.complete else None
    holds = frozenset(raw.holds | visits.held())
    texts = _strings(raw.texts, length, base, "tokens", raw.place)
    return Recording(
        raw.name, raw.place.text, raw.form, size, tuple(blocks), raw.threshold, comparison,
        _class_bytes(raw, length, base, texts), texts, visits.result(_wrong(raw, length, base)), holds, raw.domain,
    )  # fmt: skip


def _recorded(raw: RawPass, base: int) -> RecordedPass:
    span = None if raw.span is None else (raw.span[0] - base, raw.span[1] - base)
    forced = None if raw.forced is None else _shift(raw.forced, base)
    return RecordedPass(_shift(raw.committed, base), _shift(raw.reopened, base), forced, span)


def _shift(found: tuple[int, ...], base: int) -> tuple[int, ...]:
    return tuple(p - base for p in found) if base else found


def _span(block: RawBlock) -> tuple[int, int]:
    """First and last position of a block: what its passes score, else what they commit."""
    seen: set[int] = set()
    for recorded in block.passes:
        seen.update(recorded.confidence or ())
        seen.update(recorded.committed)
    if not seen:
        block.place.refuse("the block commits nothing")
    start, stop = min(seen), max(seen) + 1
    if block.start is not None and start < block.start:
        block.place.refuse(f"position {start} lies before the block's start {block.start}")
    if block.start is not None and block.size is not None and stop > block.start + block.size:
        block.place.refuse(f"position {stop - 1} lies outside the block {block.start}..{block.start + block.size - 1}")
    if len(seen) < stop - start:
        missing = next(p for p in range(start, stop) if p not in seen)
        block.place.refuse(f"position {missing} is never committed in {len(block.passes)} passes")
    return start, stop


def _check(block: RawBlock, start: int, stop: int) -> None:
    """Every position is settled once; masks are what the commits before them left."""
    settled: dict[int, int] = {}
    scored: set[int] = set()
    for number, recorded in enumerate(block.passes, 1):
        if recorded.confidence is not None:
            _check_masks(recorded, settled, scored, start, stop)
        for p in recorded.reopened:
            if settled.pop(p, None) is None:
                recorded.place.refuse(f"position {p} is taken back, but it was not committed before")
        for p in recorded.committed:
            if p in settled:
                before = f"before in pass {settled[p]}"
                recorded.place.refuse(f"position {p} is committed twice ({before}); list a replaced token as 'edited'")
            settled[p] = number
    for p in range(start, stop):
        if p not in settled:
            block.place.refuse(f"position {p} is never committed in {len(block.passes)} passes")


def _check_masks(recorded: RawPass, settled: Mapping[int, int], scored: set[int], start: int, stop: int) -> None:
    confidence = recorded.confidence
    assert confidence is not None
    for p in range(start, stop):
        if (p in confidence) == (p in settled):
            if p in settled:
                recorded.place.refuse(f"position {p} is masked, but pass {settled[p]} committed it")
            if recorded.span is None or p in scored:
                recorded.place.refuse(f"position {p} is not committed yet, but has no confidence")
    scored.update(confidence)
    for p in recorded.committed:
        if p not in confidence and p not in recorded.reopened:
            if p in settled:
                recorded.place.refuse(f"position {p} is committed twice (before in pass {settled[p]})")
            recorded.place.refuse(f"position {p} is committed, but was not scored")


def _comparison(raw: RawSequence) -> str | None:
    """Which comparison reproduces every commit under the recorded threshold."""
    if raw.threshold is None or not raw.follows_threshold:
        return None
    if any(p.reopened for block in raw.blocks for p in block.passes):
        return None
    ge, gt = (_misfit(raw, raw.threshold, strict) for strict in (False, True))
    wanted = {"ge": ge, "gt": gt}.get(raw.comparison or "", ge and gt)
    if wanted is not None:
        _refuse_misfit(raw, wanted, ge is None or gt is None)
    return raw.comparison or ("ge" if ge is None else "gt")


def _refuse_misfit(raw: RawSequence, misfit: tuple[Place, int, float, bool], other_fits: bool) -> NoReturn:
    place, position, value, committed = misfit
    sign, other = (">", ">=") if raw.comparison == "gt" else (">=", ">")
    state = "is committed" if committed else "stays masked"
    place.refuse(
        f"position {position} {state} at confidence {value!r}, which threshold {raw.threshold!r} with {sign} and the "
        f"best token as fallback does not give; {other} {'would fit' if other_fits else 'does not fit either'}: "
        "correct the threshold, or leave it out to replay the recorded order (another threshold is approximate)"
    )


def _misfit(raw: RawSequence, threshold: float, strict: bool) -> tuple[Place, int, float, bool] | None:
    """The first pass and position where the threshold rule would do something else than the recording."""
    for block in raw.blocks:
        for recorded in block.passes:
            confidence = recorded.confidence or {}
            chosen = {p for p, c in confidence.items() if (c > threshold if strict else c >= threshold)}
            if not chosen and confidence:
                chosen = {max(sorted(confidence), key=confidence.__getitem__)}
            if chosen != (committed := set(recorded.committed)):
                p = min(chosen ^ committed)
                return recorded.place, p, confidence[p], p in committed
    return None


class _Collector:
    """Values by position and visit, as long as every pass has them."""

    def __init__(self) -> None:
        self.complete = True
        self.confidence: list[array[float]] = []
        self.optional: dict[str, list[array[Any]] | None] = {"guess": [], "entropy": [], "kl": []}

    def add(self, block: RawBlock, start: int, stop: int) -> None:
        if any(p.confidence is None for p in block.passes):
            self.complete = False
        if not self.complete:
            return
        rows: dict[int, array[float]] = {p: array("d") for p in range(start, stop)}
        for recorded in block.passes:
            for p, value in (recorded.confidence or {}).items():
                rows[p].append(value)
        self.confidence.extend(rows[p] for p in range(start, stop))
        for name, kept in self.optional.items():
            if kept is None:
                continue
            if any(getattr(p, name) is None or len(getattr(p, name)) != len(p.confidence or ()) for p in block.passes):
                self.optional[name] = None
                continue
            values: dict[int, array[Any]] = {p: array("q" if name == "guess" else "d") for p in range(start, stop)}
            for recorded in block.passes:
                for p, value in getattr(recorded, name).items():
                    values[p].append(value)
            kept.extend(values[p] for p in range(start, stop))

    def held(self) -> set[str]:
        if not self.complete:
            return set()
        return {"confidence"} | {name for name, kept in self.optional.items() if kept is not None}

    def result(self, wrong: bytes | None) -> Visits | None:
        if not self.complete:
            return None
        o = self.optional
        return Visits(self.confidence, o["guess"], o["entropy"], o["kl"], wrong)


def _strings(values: Sequence[Any], length: int, base: int, what: str, place: Place) -> tuple[str, ...]:
    if not values:
        return ()
    if len(values) < base + length:
        place.refuse(f"{what!r} lists {len(values)} entries, the passes cover {base + length} positions")
    return tuple(str(v) for v in values[base : base + length])


def _class_bytes(raw: RawSequence, length: int, base: int, texts: tuple[str, ...]) -> bytes:
    names = _strings(raw.class_names, length, base, "token_class", raw.place)
    if names:
        unknown = next((n for n in names if n not in _CLASSES), None)
        if unknown is not None:
            raw.place.refuse(f"'token_class' has {shown(unknown)}; expected one of {', '.join(_CLASSES)}")
        return bytes(_CLASSES[name] for name in names)
    if texts:
        from clover_sim.streams.classes import classify, detect_language

        return bytes(classify(texts, detect_language("", "".join(texts))))
    return bytes([TokenClass.COMMON]) * length


def _wrong(raw: RawSequence, length: int, base: int) -> bytes | None:
    """1 where a recorded judgement says that the committed token is wrong; ``None`` without one."""
    if not raw.wrong:
        return None
    odd = next((i for i, v in enumerate(raw.wrong) if v not in (0, 1)), None)
    if odd is not None:
        raw.place.refuse(f"'wrong' of position {odd} is {shown(raw.wrong[odd])}: expected true or false")
    if len(raw.wrong) < base + length:
        raw.place.refuse(f"'wrong' has {len(raw.wrong)} entries: expected true or false for each of {base + length}")
    return bytes(int(v) for v in raw.wrong[base : base + length])
