"""What the figures of a serving benchmark amount to, whether they came as text or as JSON."""

from __future__ import annotations

from collections.abc import Sequence

from clover_sim.logs._section import (
    NO_PLAIN_PASSES,
    OVER_DRAFTED,
    SURVIVAL,
    WITH_BONUS,
    Identity,
    Section,
    length,
    ratio,
)

_RETRIMMED = 0.02
_SGLANG = "SGLang's accept length is completion tokens / verify passes: the bonus token is included"
_CLIENT = "speeds are the client's, over the whole benchmark: waiting and prompt processing included"
_CHUNKS = "one streamed chunk carries the tokens of one pass, so ITL is about TPOT x acceptance length"


def report_section(
    engine: str | None,
    title: str,
    lines: tuple[int, int],
    *,
    drafts: float | None = None,
    drafted: float | None = None,
    accepted: float | None = None,
    rate: float | None = None,
    printed: float | None = None,
    survival: Sequence[float] = (),
    speed: float | None = None,
    output: float | None = None,
    requests: float | None = None,
    concurrency: float | None = None,
    most: float | None = None,
    tpot_ms: float | None = None,
    itl_ms: float | None = None,
    duration_s: float | None = None,
) -> Section | None:
    """The section of one benchmark, ``most`` requests at a time; ``None`` if it has neither a speed nor acceptance."""
    if speed is None and printed is None and drafts is None and rate is None:
        return None
    speculative = any(value is not None for value in (drafts, drafted, accepted, rate, printed))
    measured = length(accepted, drafts)
    if measured is None and drafts is None:
        measured = printed
    k = None
    if drafts and drafted:
        k = len(survival) or (
            round(drafted / drafts) if abs(drafted / drafts - round(drafted / drafts)) < 1e-6 else None
        )
    elif survival:
        k = len(survival)
    identities, conventions, warnings = [], [_CLIENT], []
    if speculative:
        if rate is not None or drafted:
            conventions.append(OVER_DRAFTED)
        if measured is not None:
            conventions.append(_SGLANG if engine == "sglang" else WITH_BONUS)
        if survival:
            conventions.append(SURVIVAL)
            identities.append(
                Identity("acceptance length", 1 + sum(survival), measured, "", "1 + sum of the positions")
            )
        if measured and tpot_ms and itl_ms:
            identities.append(Identity("ITL / TPOT", itl_ms / tpot_ms, measured, "", _CHUNKS))
    per_pass, passes = measured, None
    with_draft = None if drafts is None or accepted is None else drafts + accepted
    if measured is not None and engine == "vllm":
        plain = None if output is None or with_draft is None else output - with_draft - (requests or 0.0)
        if plain is None or drafts is None:
            conventions.append(NO_PLAIN_PASSES)
        elif plain > _RETRIMMED * (output or 1.0):
            passes = drafts + plain
            per_pass = ratio((output or 0.0) - (requests or 0.0), passes)
            warnings.append(
                f"{plain:,.0f} of {output:,.0f} generated tokens come from passes without a draft: "
                "tokens per pass is below the acceptance length"
            )
        else:
            passes = drafts
    cycle = None
    if tpot_ms and per_pass:
        cycle = tpot_ms / 1e3 * per_pass
        how = "mean TPOT x tokens per pass, what a request waits from one pass to its next"
        identities.append(Identity("cycle time", cycle, None, "s", how))
    running = concurrency
    if running is None and duration_s and requests and output and tpot_ms:
        running = min(output * tpot_ms / 1e3 / duration_s, requests, most or requests)
    return Section(
        engine=engine,
        format=title,
        lines_read=lines[0],
        lines_used=lines[1],
        speculative=speculative,
        cycles=drafts,
        passes=passes,
        output_tokens=output if output is not None else with_draft,
        draft_tokens=drafted,
        accepted_tokens=accepted,
        num_speculative_tokens=k,
        acceptance_rate=ratio(accepted, drafted) if drafted and accepted is not None else rate,
        acceptance_length=measured,
        tokens_per_pass=per_pass,
        per_position_survival=tuple(survival) or None,
        cycle_time_s=cycle,
        generation_tokens_per_s=speed,
        user_tokens_per_s=1e3 / tpot_ms if tpot_ms else None,
        running_requests=running,
        conventions=tuple(conventions),
        identities=tuple(identities),
        warnings=tuple(warnings),
    )
