"""The JSON report of ``trtllm-bench --report_json``."""

from __future__ import annotations

from typing import Any

from clover_sim.logs._reader import Base, Outcome
from clover_sim.logs._section import Section
from clover_sim.logs._text import real
from clover_sim.logs._trtllm import trtllm_section

MARKS = ()


class Reader(Base):
    """One section a report."""

    WRITER = "TensorRT-LLM"

    def __init__(self) -> None:
        self._sections: list[Section] = []

    def document(self, document: dict[str, Any], lines: int) -> Outcome:
        """A report has ``performance`` with TensorRT-LLM's own names, or ``decoding_stats``."""
        performance = _table(document, "performance")
        if "decoding_stats" not in document and not {"system_output_throughput_tok_s", "total_latency_ms"} & set(
            performance
        ):
            return None
        section = _section(document, performance, lines)
        if section is None or len(self._sections) >= 1000:
            return "a report without a throughput, or one too many"
        self._sections.append(section)
        return True

    def sections(self) -> list[Section]:
        """One a report."""
        return self._sections


def _table(document: dict[str, Any], key: str) -> dict[str, Any]:
    found = document.get(key)
    return found if isinstance(found, dict) else {}


def _section(document: dict[str, Any], performance: dict[str, Any], lines: int) -> Section | None:
    decoding, streaming = _table(document, "decoding_stats"), _table(document, "streaming_metrics")
    requests = _table(document, "request_info")

    def average(key: str) -> float | None:
        return real(_table(decoding, key).get("average"))

    def first(table: dict[str, Any], *keys: str) -> float | None:
        return next((value for key in keys if (value := real(table.get(key))) is not None), None)

    mode = decoding.get("mode")
    return trtllm_section(
        "trtllm-bench JSON",
        (lines, lines),
        mode=(str(mode) if mode else "unknown") if decoding else None,
        speed=first(performance, "system_output_throughput_tok_s", "output_throughput_tok_s"),
        user_speed=first(streaming, "token_output_speed_tok_s")
        or first(performance, "output_throughput_per_user_tok_s"),
        tpot_ms=first(streaming, "avg_tpot_ms"),
        requests=first(requests, "num_requests"),
        concurrent=first(requests, "avg_num_concurrent_requests"),
        output=first(requests, "avg_output_length"),
        drafted=average("num_draft_tokens_percentiles"),
        accepted=average("num_accepted_draft_tokens_percentiles"),
        rate=average("draft_acceptance_rate_percentiles"),
        length=average("acceptance_length_percentiles"),
    )
