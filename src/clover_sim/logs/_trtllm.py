"""What a ``trtllm-bench`` report amounts to, whether it came as text or as JSON."""

from __future__ import annotations

from clover_sim.logs._section import WITH_BONUS, Identity, Section, ratio

_COUNTING = (
    "TensorRT-LLM's bench counts max_draft_len drafts for every pass, so drafted tokens are an upper bound and the "
    "rate a lower one"
)
_PER_REQUEST = "[DT], [ADT], [DAR] and [AL] are per request: totals are their mean x requests, never a mean of rates"
_OVERALL = "speeds are over the whole benchmark: waiting and prompt processing included"


def trtllm_section(
    title: str,
    lines: tuple[int, int],
    *,
    mode: str | None = None,
    speed: float | None = None,
    user_speed: float | None = None,
    tpot_ms: float | None = None,
    requests: float | None = None,
    concurrent: float | None = None,
    output: float | None = None,
    drafted: float | None = None,
    accepted: float | None = None,
    rate: float | None = None,
    length: float | None = None,
) -> Section | None:
    """The section of one report; ``drafted``, ``accepted``, ``output`` are means of a request."""
    speculative = mode is not None or any(value is not None for value in (drafted, accepted, rate, length))
    if speed is None and not speculative:
        return None
    n = requests or 1.0
    passes = output - accepted if output is not None and accepted is not None and output > accepted else None
    k = ratio(drafted, passes)
    if k is None and rate and length and length > 1:
        k = (length - 1) / rate
    whole = round(k) if k and abs(k - round(k)) < 0.06 * max(k, 1) / 3 else None
    if passes is None and whole and drafted:
        passes = drafted / whole
    counted = requests is not None
    measured = 1 + accepted / passes if accepted is not None and passes else length
    conventions, identities = [_OVERALL], []
    if speculative:
        conventions += [WITH_BONUS, _COUNTING, _PER_REQUEST]
        if measured is not None and length is not None:
            how = "mean over requests of their own acceptance lengths, against the one of all passes"
            identities.append(Identity("acceptance length", length, measured, "", how))
    token_s = tpot_ms / 1e3 if tpot_ms else ratio(1.0, user_speed)
    cycle = token_s * measured if token_s and measured and speculative else None
    if cycle is not None:
        conventions.append("cycle time = time per output token x acceptance length")
    return Section(
        engine="trtllm",
        format=title,
        lines_read=lines[0],
        lines_used=lines[1],
        speculative=speculative,
        cycles=passes * n if passes is not None and counted else None,
        passes=passes * n if passes is not None and counted else None,
        output_tokens=output * n if output is not None and counted else None,
        draft_tokens=drafted * n if drafted is not None and counted else None,
        accepted_tokens=accepted * n if accepted is not None and counted else None,
        num_speculative_tokens=whole,
        acceptance_rate=ratio(accepted, drafted) if accepted is not None and drafted else rate,
        acceptance_length=measured if speculative else None,
        tokens_per_pass=measured if speculative else None,
        cycle_time_s=cycle,
        generation_tokens_per_s=speed,
        user_tokens_per_s=1e3 / tpot_ms if tpot_ms else user_speed,
        running_requests=concurrent,
        method=mode,
        conventions=tuple(conventions),
        identities=tuple(identities),
    )
