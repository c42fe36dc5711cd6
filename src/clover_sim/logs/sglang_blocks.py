"""Step logs of SGLang's block diffusion: JSON lines of forwards, of batches, of requests, and of linear speculation.

``step_log_file`` counts forwards and unmasking steps of a round; ``batch_latency_log_file`` times one forward;
``request_latency`` gives each request's steps a block; ``stats_file`` gives passes and tokens of a request. A block's
K/V are written by one more pass than it has unmasking steps.
"""

from __future__ import annotations

from typing import Any

from clover_sim.logs._reader import Base, Outcome
from clover_sim.logs._section import Identity, Section, ratio
from clover_sim.logs._text import real

MARKS = ()

_STEPS = "raw forward calls count unmasking steps, the pass that writes a block's K/V, and prompt passes"
_NO_TOKENS = "these records do not say how many tokens a block has, so tokens per pass cannot be told"
_BLOCKS = "passes of a request = its unmasking steps + one pass a block that writes its K/V"


class Reader(Base):
    """Sums over each kind of record."""

    WRITER = "SGLang"

    def __init__(self) -> None:
        self._steps, self._batches, self._requests, self._linear = _Steps(), _Batches(), _Requests(), _Linear()

    def document(self, document: dict[str, Any], lines: int) -> Outcome:
        """One record of any of the four kinds."""
        if "block_steps" in document and "raw_forward_calls" in document and "phase" not in document:
            return self._steps.add(document, lines)
        if "phase" in document and ("forward_result_ms" in document or "duration_ms" in document):
            return self._batches.add(document, lines)
        if "block_steps_list" in document and "output_len" in document:
            return self._requests.add(document, lines)
        if "forward_passes" in document and "tokens" in document:
            return self._linear.add(document, lines)
        return None

    def sections(self) -> list[Section]:
        """One a kind that was met."""
        kinds = (self._steps, self._batches, self._requests, self._linear)
        return [kind.section() for kind in kinds if kind.lines]


class _Steps:
    def __init__(self) -> None:
        self.lines = self.rounds = 0
        self.forwards = self.unmask = self.finished_steps = self.finished = self.milliseconds = self.timed = 0.0
        self.rows = 0.0

    def add(self, document: dict[str, Any], lines: int) -> Outcome:
        calls = real(document["raw_forward_calls"])
        if calls is None:
            return "a step record without forward calls"
        self.lines += lines
        self.rounds += 1
        self.forwards += calls
        self.unmask += real(document.get("unmask_steps")) or 0.0
        steps = document["block_steps"]
        final = document.get("final_block_steps")
        saved = document.get("kv_saved")
        listed = steps if isinstance(steps, list) else []
        if isinstance(final, list):
            done = final
        elif isinstance(saved, list):
            done = [step for step, kept in zip(listed, saved, strict=False) if kept]
        else:
            done = listed
        counts = [value for step in done if (value := real(step))]
        self.finished += len(counts)
        self.finished_steps += sum(counts)
        self.rows += len(listed)
        if (milliseconds := real(document.get("forward_duration_ms"))) is not None:
            self.milliseconds += milliseconds
            self.timed += calls
        return True

    def section(self) -> Section:
        identities = []
        if self.finished:
            mean = self.finished_steps / self.finished
            identities.append(Identity("unmasking steps a block", mean, None, "", "over finished blocks"))
        if self.forwards:
            share = 1 - self.unmask / self.forwards
            how = "forwards that unmask nothing: K/V writes and prompts"
            identities.append(Identity("share of other forwards", share, None, "", how))
        return Section(
            engine="sglang", format="SGLang block-diffusion step log", lines_read=self.lines, lines_used=self.lines,
            speculative=False, passes=self.forwards, cycle_time_s=ratio(self.milliseconds / 1e3, self.timed),
            running_requests=ratio(self.rows, self.rounds), method="block diffusion",
            conventions=(_STEPS, _NO_TOKENS), identities=tuple(identities),
        )  # fmt: skip


class _Batches:
    def __init__(self) -> None:
        self.lines = 0
        self.forwards = self.milliseconds = self.rows = self.masked = 0.0

    def add(self, document: dict[str, Any], lines: int) -> Outcome:
        milliseconds = real(document.get("forward_result_ms", document.get("duration_ms")))
        if milliseconds is None:
            return "a batch record without a duration"
        self.lines += lines
        if "prefill" in str(document["phase"]):
            return True
        calls = real(document.get("raw_forward_calls")) or 1.0
        self.forwards += calls
        self.milliseconds += milliseconds
        rows = real(document.get("num_reqs", document.get("batch_size"))) or 0.0
        self.rows += rows
        masked = real(document.get("num_masked_reqs"))
        self.masked += rows if masked is None else masked
        return True

    def section(self) -> Section:
        identities = []
        if self.rows:
            how = "rows without a mask still ride along until the slowest block is done"
            identities.append(Identity("idle rows", 1 - self.masked / self.rows, None, "", how))
        return Section(
            engine="sglang", format="SGLang block-diffusion batch log", lines_read=self.lines, lines_used=self.lines,
            speculative=False, passes=self.forwards, cycle_time_s=ratio(self.milliseconds / 1e3, self.forwards),
            running_requests=ratio(self.rows, self.forwards), method="block diffusion",
            conventions=("one record is one forward of the whole batch; prompt passes are left out", _NO_TOKENS),
            identities=tuple(identities),
        )  # fmt: skip


class _Requests:
    def __init__(self) -> None:
        self.lines = 0
        self.tokens = self.steps = self.blocks = self.seconds = 0.0

    def add(self, document: dict[str, Any], lines: int) -> Outcome:
        steps, tokens = document["block_steps_list"], real(document["output_len"])
        counts = [real(step) for step in steps] if isinstance(steps, list) else []
        if not counts or any(count is None for count in counts) or tokens is None:
            return "a request record without steps"
        self.lines += lines
        self.tokens += tokens
        self.blocks += len(counts)
        self.steps += sum(count or 0.0 for count in counts)
        self.seconds += (real(document.get("latency_ms")) or 0.0) / 1e3
        return True

    def section(self) -> Section:
        passes = self.steps + self.blocks
        identities = (
            Identity("unmasking steps a block", self.steps / self.blocks, None, "", "over all blocks"),
            Identity("tokens a block", self.tokens / self.blocks, None, "", "output tokens / blocks"),
        )
        return Section(
            engine="sglang", format="SGLang block-diffusion requests", lines_read=self.lines, lines_used=self.lines,
            speculative=False, passes=passes, output_tokens=self.tokens, tokens_per_pass=self.tokens / passes,
            user_tokens_per_s=ratio(self.tokens, self.seconds), method="block diffusion", conventions=(_BLOCKS,),
            identities=identities,
        )  # fmt: skip


class _Linear:
    def __init__(self) -> None:
        self.lines = 0
        self.passes = self.tokens = 0.0

    def add(self, document: dict[str, Any], lines: int) -> Outcome:
        passes, tokens = real(document["forward_passes"]), real(document["tokens"])
        if not passes or tokens is None:
            return "a record without passes"
        self.lines += lines
        self.passes += passes
        self.tokens += tokens
        return True

    def section(self) -> Section:
        return Section(
            engine="sglang", format="SGLang block-diffusion stats", lines_read=self.lines, lines_used=self.lines,
            speculative=False, passes=self.passes, output_tokens=self.tokens, tokens_per_pass=self.tokens / self.passes,
            method="block diffusion",
            conventions=("passes count drafting and verifying forwards alike, so tokens per pass counts both",),
        )  # fmt: skip
