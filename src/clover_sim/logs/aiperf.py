"""Exports of aiperf and genai-perf: records of requests (JSON lines), summaries (JSON), and the printed table or CSV.

They are a client's view: no drafts. But a streamed chunk carries the tokens of one pass, so inter-chunk over
inter-token latency is tokens per pass.
"""

from __future__ import annotations

import re
from dataclasses import replace
from typing import Any

from clover_sim.logs._reader import Base, Line, Outcome
from clover_sim.logs._section import OVER_DRAFTED, WITH_BONUS, Identity, Section, length, ratio
from clover_sim.logs._text import number, real

MARKS = ("AIPerf |", "GenAI-Perf |", "│", "Inter Token Latency (ms)", "Inter token latency (ms)",
         "Inter Chunk Latency (ms)", "Output Token Throughput", "Output token throughput",
         "Output Sequence Length (tokens)")  # fmt: skip

_CLIENT = "a client's view: no drafts are counted; speeds include waiting and prompt processing"
_CHUNKS = (
    "tokens per pass = inter-chunk / inter-token latency, if the server streams one chunk a pass; it is the acceptance "
    "length if every pass had a draft"
)
_NONE = 1.02
"""Tokens per chunk up to which there is no sign of drafts."""
_TITLE = re.compile(r"NVIDIA (?:AIPerf|GenAI-Perf) \|")
_COUNTED = {
    "total_spec_decode_steps": "cycles", "total_draft_tokens": "drafted", "total_accepted_draft_tokens": "accepted",
    "spec_decode_token_weighted_acceptance_length": "length", "spec_decode_overall_draft_acceptance_rate": "percent",
    "spec_decode_acceptance_length": "mean length", "spec_decode_draft_acceptance_rate": "mean percent",
}  # fmt: skip
"""Drafts that the server reported to the client, since 2026; the last two are means over requests."""
_NAMES = {
    "total spec decode steps": "cycles", "total draft tokens": "drafted", "total accepted draft tokens": "accepted",
    "token-weighted acceptance length": "length", "overall draft acceptance rate": "percent",
    "acceptance length": "mean length", "draft acceptance rate": "mean percent",
    "inter token latency (ms)": "itl", "inter chunk latency (ms)": "icl",
    "output token throughput (tokens/sec)": "speed", "output token throughput (per sec)": "speed",
    "output token throughput per user (tokens/sec/user)": "user",
    "output token throughput per user (per sec)": "user", "output sequence length (tokens)": "output",
    "output sequence length": "output", "request count (requests)": "requests", "request count (count)": "requests",
}  # fmt: skip


class Reader(Base):
    """Adds up records; one section a summary or table."""

    WRITER = "aiperf"

    def __init__(self) -> None:
        self._summaries: list[Section] = []
        self._records = _Records()
        self._table: dict[str, float] = {}
        self._table_lines = 0
        self._cell: tuple[str, str] = ("", "")
        self.active = False

    def start(self) -> None:
        """A table does not go on in the next file."""
        self._close_table()

    def document(self, document: dict[str, Any], lines: int) -> Outcome:
        """A record or a summary."""
        if "metrics" in document and isinstance(document.get("metadata"), dict) and "error" in document:
            return self._records.add(document, lines)
        known = [k for k in ("inter_token_latency", "output_token_throughput", "time_to_first_token", "request_latency")
                 if isinstance(document.get(k), dict) and "avg" in document[k]]  # fmt: skip
        if len(known) < 2 and not {"inter_token_latency", "output_token_throughput"} & set(known):
            return None
        figures = {
            name: value * _scale(document[key])
            for key, name in (_SUMMARY | _COUNTED).items()
            if isinstance(document.get(key), dict) and (value := real(document[key].get("avg"))) is not None
        }
        self._summaries.append(_summary("aiperf / genai-perf summary", figures, lines))
        return True

    def line(self, line: Line) -> Outcome:
        """A row of a printed table or of a CSV export."""
        text = line.text.strip()
        if _TITLE.search(text):
            if "Spec Decode" not in text:  # which goes on the table before it
                self._close_table()
            self.active = True
            self._table_lines += 1
            return True
        cells = [cell.strip() for cell in re.split(r"[│┃|]", text)]
        cells = cells[not cells[0] :]
        if len(cells) >= 2 and self.active:
            return self._row(cells)
        if self.active and text and set(text) <= set("┏┓┗┛┡┩┣┫┳┻╇━─└┘┴┬├┤┼╞╡═+-| "):
            self._table_lines += 1
            return True
        if self.active and text and len(cells) < 2:
            self._close_table()
        if "," in text and _named(text.split(",")[0].strip('"').lower()):
            if not self._table_lines:
                self._table = {}
            name, _, rest = text.partition(",")
            return self._put(name.strip('"'), rest.split(",")[0].strip('"'))
        return None

    def _row(self, cells: list[str]) -> Outcome:
        """A long name goes on in the rows below it, whose other cells are empty."""
        name, value = cells[0], cells[1]
        if not value:
            name, value = f"{self._cell[0]} {name}".strip(), self._cell[1]
        self._cell = (name, value)
        return self._put(name, value)

    def _put(self, name: str, value: str) -> Outcome:
        self._table_lines += 1
        name, figure = " ".join(name.lower().split()), number(value)
        key = _named(name)
        if key and figure is not None:
            self._table[key] = figure
        return True

    def _close_table(self) -> None:
        if self._table.keys() & {"speed", "itl", "user"}:
            self._summaries.append(_summary("aiperf / genai-perf table", self._table, self._table_lines))
        self._table, self._table_lines, self._cell, self.active = {}, 0, ("", ""), False

    def sections(self) -> list[Section]:
        """Records together, and each summary."""
        self._close_table()
        return [*self._records.sections(), *self._summaries]


_SUMMARY = {
    "inter_token_latency": "itl", "inter_chunk_latency": "icl", "output_token_throughput": "speed",
    "output_token_throughput_per_user": "user", "output_sequence_length": "output", "request_count": "requests",
}  # fmt: skip


def _named(name: str) -> str | None:
    """Which figure a row has; units stand in brackets."""
    return _NAMES.get(name) or _NAMES.get(name.partition(" (")[0])


def _scale(figure: dict[str, Any]) -> float:
    """Milliseconds, whatever the unit says."""
    return {"ns": 1e-6, "us": 1e-3, "s": 1e3, "sec": 1e3}.get(str(figure.get("unit", "")), 1.0)


def _summary(title: str, figures: dict[str, float], lines: int) -> Section:
    itl, icl, speed, user = (figures.get(name) for name in ("itl", "icl", "speed", "user"))
    per_pass = ratio(icl, itl)
    user = user or (1e3 / itl if itl else None)
    output, requests = figures.get("output"), figures.get("requests")
    section = _section(
        title, lines, lines, per_pass, icl / 1e3 if icl else None, speed, user,
        output * requests if output and requests else None, speed / user if speed and user else None,
    )  # fmt: skip
    percent = figures.get("percent", figures.get("mean percent"))
    return _with_drafts(
        section, figures.get("cycles"), figures.get("drafted"), figures.get("accepted"),
        figures.get("length", figures.get("mean length")), None if percent is None else percent / 100,
    )  # fmt: skip


def _with_drafts(
    section: Section, cycles: float | None, drafted: float | None, accepted: float | None,
    printed: float | None = None, rate: float | None = None,
) -> Section:  # fmt: skip
    """The section with what the server reported of its drafts, if it did."""
    measured = length(accepted, cycles) or printed
    if measured is None or measured < 1:
        return section
    k = ratio(drafted, cycles)
    return replace(
        section, speculative=True, cycles=cycles, draft_tokens=drafted, accepted_tokens=accepted,
        num_speculative_tokens=round(k) if k and abs(k - round(k)) < 1e-6 else None,
        acceptance_rate=ratio(accepted, drafted) or rate, acceptance_length=measured,
        tokens_per_pass=section.tokens_per_pass or measured,
        conventions=(*section.conventions, "drafts as the server reported them", WITH_BONUS, OVER_DRAFTED),
    )  # fmt: skip


def _section(
    title: str,
    read: int,
    used: int,
    per_pass: float | None,
    cycle_s: float | None,
    speed: float | None,
    user: float | None,
    output: float | None,
    running: float | None,
) -> Section:
    drafting = per_pass is not None and per_pass > _NONE
    identities = []
    if per_pass is not None:
        how = "inter-chunk / inter-token latency"
        identities.append(Identity("tokens per chunk", per_pass, None, "", how))
    return Section(
        engine=None, format=title, lines_read=read, lines_used=used, speculative=drafting,
        output_tokens=output, acceptance_length=per_pass if drafting else None, tokens_per_pass=per_pass,
        cycle_time_s=cycle_s, generation_tokens_per_s=speed, user_tokens_per_s=user, running_requests=running,
        conventions=(_CLIENT, _CHUNKS) if per_pass is not None else (_CLIENT,), identities=tuple(identities),
    )  # fmt: skip


class _Records:
    """Sums over good records."""

    def __init__(self) -> None:
        self.read = self.used = self.records = 0
        self.tokens = self.chunks = self.chunk_s = self.chunked_tokens = self.chunked_s = 0.0
        self.decode_s = self.decoded = 0.0
        self.counts: list[float] | None = [0.0, 0.0, 0.0]
        """Cycles, drafted and accepted tokens; ``None`` once a record lacks them."""
        self.first_ns: float | None = None
        self.last_ns: float | None = None

    def add(self, document: dict[str, Any], lines: int) -> Outcome:
        self.read += lines
        metrics = document["metrics"] if isinstance(document["metrics"], dict) else {}
        metadata = document["metadata"]
        if document["error"] is not None or metadata.get("was_cancelled") is True:
            return "a record of a failed or cancelled request"

        def value(key: str) -> Any:
            entry = metrics.get(key)
            return entry.get("value") if isinstance(entry, dict) else None

        def figure(key: str) -> float | None:
            found = real(value(key))
            return None if found is None else found * _scale(metrics[key])

        output, itl = figure("output_sequence_length") or figure("output_token_count"), figure("inter_token_latency")
        if output is None:
            return "a record without an output length"
        self.used += lines
        self.records += 1
        self.tokens += output
        counts = [figure(f"spec_decode_{key}") for key in ("steps", "draft_tokens", "accepted_draft_tokens")]
        known = [count for count in counts if count is not None]
        whole = self.counts is not None and len(known) == len(counts)
        self.counts = [a + b for a, b in zip(self.counts or (), known, strict=True)] if whole else None
        if itl and output > 1:
            self.decoded += output - 1
            self.decode_s += (output - 1) * itl / 1e3
        gaps = value("inter_chunk_latency")
        between = [gap for item in gaps if (gap := real(item)) is not None] if isinstance(gaps, list) else []
        if between and output > 1:
            scale = _scale(metrics["inter_chunk_latency"]) / 1e3
            self.chunks += len(between)
            self.chunk_s += sum(between) * scale
            self.chunked_tokens += output - 1
        start, end = real(metadata.get("request_start_ns")), real(metadata.get("request_end_ns"))
        if start is not None and end is not None:
            self.first_ns = start if self.first_ns is None else min(self.first_ns, start)
            self.last_ns = end if self.last_ns is None else max(self.last_ns, end)
        return True

    def sections(self) -> list[Section]:
        if not self.records:
            return []
        speed = None
        user = ratio(self.decoded, self.decode_s)
        if self.first_ns is not None and self.last_ns is not None and self.last_ns > self.first_ns:
            speed = self.tokens / ((self.last_ns - self.first_ns) / 1e9)
        elif self.records == 1:
            speed = user
        section = _section(
            "aiperf records", self.read, self.used, ratio(self.chunked_tokens, self.chunks),
            ratio(self.chunk_s, self.chunks), speed, user, self.tokens,
            1.0 if self.records == 1 else ratio(speed, user),
        )  # fmt: skip
        return [_with_drafts(section, *(self.counts or (None, None, None)))]
