"""The JSON that ``vllm bench serve --save-result`` and SGLang's ``bench_serving --output-file`` write."""

from __future__ import annotations

from typing import Any

from clover_sim.logs._bench import report_section
from clover_sim.logs._reader import Base, Outcome
from clover_sim.logs._section import Section
from clover_sim.logs._text import real

MARKS = ()

_FRAME = ("output_throughput", "mean_tpot_ms", "mean_itl_ms", "completed", "mean_ttft_ms")


class Reader(Base):
    """One section a document, at most :data:`MOST` of them."""

    MOST = 1000

    def __init__(self) -> None:
        self._sections: list[Section] = []

    def document(self, document: dict[str, Any], lines: int) -> Outcome:
        """A result of either benchmark."""
        if sum(key in document for key in _FRAME) < 3:
            return None
        if len(self._sections) >= self.MOST:
            return f"more than {self.MOST} benchmark results"
        section = _section(document, lines)
        if section is None:
            return "a benchmark result without a throughput"
        self._sections.append(section)
        return True

    def sections(self) -> list[Section]:
        """One a result."""
        return self._sections


def _section(document: dict[str, Any], lines: int) -> Section | None:
    def figure(*names: str) -> float | None:
        return next((value for name in names if (value := real(document.get(name))) is not None), None)

    sglang = "accept_length" in document or "total_output_tokens_retokenized" in document
    rate = figure("spec_decode_acceptance_rate")
    listed = document.get("spec_decode_per_position_acceptance_rates")
    values = [real(value) for value in listed] if isinstance(listed, list) else []
    survival = [] if any(value is None for value in values) else [value for value in values if value is not None]
    if survival and max(survival) > 1:  # percent
        survival = [value / 100 for value in survival]
    return report_section(
        "sglang" if sglang or document.get("backend") == "sglang" else "vllm",
        "SGLang bench_serving JSON" if sglang else "vllm bench serve JSON",
        (lines, lines),
        drafts=figure("spec_decode_num_drafts"),
        drafted=figure("spec_decode_draft_tokens", "spec_decode_num_draft_tokens"),
        accepted=figure("spec_decode_accepted_tokens", "spec_decode_num_accepted_tokens"),
        rate=None if rate is None else rate / 100,
        printed=figure("spec_decode_acceptance_length", "accept_length"),
        survival=survival,
        speed=figure("output_throughput"),
        output=figure("total_output_tokens", "total_output"),
        requests=figure("completed"),
        concurrency=figure("concurrency") if sglang else None,
        most=figure("max_concurrency"),
        tpot_ms=figure("mean_tpot_ms"),
        itl_ms=figure("mean_itl_ms"),
        duration_s=figure("duration"),
    )
