"""Requests and draft sources of a llama-server, put together."""

from __future__ import annotations

from clover_sim.logs._section import OVER_DRAFTED, SURVIVAL, WITH_BONUS, Identity, Section, Survival, length, ratio

_MOST_OPEN = 1024
_EACH_PASS = (
    "passes = tokens - accepted - 1 a request: every token that is no accepted draft is one target pass, the first "
    "token comes from the prompt's"
)
_LOOSE = "the speed is that of timings which no draft line could be tied to"
_NO_CYCLES = (
    "this log does not say how many passes had a draft, so the acceptance length cannot be told; tokens per pass can"
)
_SOURCES = "drafts shorter than the longest are usual here (p-min): the rate is over tokens really drafted"


Slot = tuple[str, str]
"""Who wrote a line (its origin), and the slot and task it names; an empty text where it names none."""


class Statistics:
    """Cumulative counters of each draft source; runs are added up."""

    def __init__(self) -> None:
        self._now: dict[tuple[str, str], tuple[float, float, float, float]] = {}
        self._draft_s: dict[tuple[str, str], float] = {}
        self._survival: dict[tuple[str, str], list[float]] = {}
        self.done = [0.0, 0.0, 0.0, 0.0, 0.0]
        self.timed = False
        self.names: set[str] = set()
        self.survival = Survival()

    def add(
        self,
        origin: str,
        name: str,
        counts: tuple[float, float, float, float],
        draft_s: float | None,
        survival: list[float] | None,
    ) -> None:
        """A line: calls, drafts, drafted and accepted tokens since the start of the server that wrote it."""
        key = origin, name
        old = self._now.get(key)
        if old is not None and any(a < b for a, b in zip(counts, old, strict=True)):
            self._end(origin)
        elif old is None and len(self._now) >= _MOST_OPEN:
            self._end(next(iter(self._now))[0])
        self._now[key] = counts
        self.names.add(name)
        if draft_s is not None:
            self._draft_s[key] = draft_s
            self.timed = True
        if survival:
            self._survival[key] = survival

    def start(self) -> None:
        """The runs of all servers end."""
        for origin in {origin for origin, _ in self._now}:
            self._end(origin)

    def _end(self, origin: str) -> None:
        """A run ends: its last counters count."""
        for key in [key for key in self._now if key[0] == origin]:
            counts = self._now.pop(key)
            values = (*counts, self._draft_s.pop(key, 0.0))
            self.done = [a + b for a, b in zip(self.done, values, strict=True)]
            if survival := self._survival.pop(key, None):
                self.survival.add(counts[1], survival)


class Requests:
    """Timings and acceptance of requests, joined by slot and task."""

    def __init__(self) -> None:
        self._tokens: dict[Slot, tuple[float, float]] = {}
        self._drafts: dict[Slot, tuple[float, float]] = {}
        self.accepted = self.drafted = 0.0
        self.cycles: float | None = 0.0
        self.requests = 0
        self.survival = Survival()
        self.positions = 0
        self.plain_tokens = self.plain_seconds = 0.0
        self.plain_requests = 0
        self.joined_tokens = self.joined_s = self.joined_accepted = 0.0
        self.joined = 0
        self.tagged = False
        """Whether timings name their slot."""

    def start(self) -> None:
        """What has no partner by now has none."""
        for tokens, seconds in self._tokens.values():
            self.plain_tokens += tokens
            self.plain_seconds += seconds
            self.plain_requests += 1
        self._tokens, self._drafts = {}, {}

    def prompt(self, slot: Slot) -> None:
        """The timings of the next request of the slot begin."""
        if slot in self._tokens:
            tokens, seconds = self._tokens.pop(slot)
            self.plain_tokens += tokens
            self.plain_seconds += seconds
            self.plain_requests += 1
        if slot[1]:
            self._drafts.pop(slot, None)

    def timing(self, slot: Slot, tokens: float, seconds: float) -> None:
        """``eval time`` of a request."""
        self.tagged |= bool(slot[1])
        if slot in self._drafts and self._drafts[slot][0] < tokens:
            self._join(*self._drafts.pop(slot), tokens, seconds)
            return
        if slot in self._tokens or len(self._tokens) >= _MOST_OPEN:
            self.prompt(slot if slot in self._tokens else next(iter(self._tokens)))
        self._tokens[slot] = (tokens, seconds)

    def draft(
        self, slot: Slot, accepted: float, drafted: float, printed: float | None, survival: list[float] | None
    ) -> None:
        """Acceptance of a request; ``printed`` is its acceptance length with the bonus token."""
        self.requests += 1
        self.accepted += accepted
        self.drafted += drafted
        cycles = float(max(1, round(accepted / (printed - 1)))) if printed and printed > 1 else None
        if not drafted:
            cycles = 0.0
        self.cycles = None if cycles is None or self.cycles is None else self.cycles + cycles
        if survival and cycles:
            self.survival.add(cycles, survival)
            self.positions = max(self.positions, len(survival))
        partner = slot if slot in self._tokens else (slot[0], "")
        if partner in self._tokens and accepted < self._tokens[partner][0]:
            self._join(accepted, drafted, *self._tokens.pop(partner))
        else:
            if len(self._drafts) >= _MOST_OPEN:
                self._drafts.pop(next(iter(self._drafts)))
            self._drafts[slot] = (accepted, drafted)

    def _join(self, accepted: float, drafted: float, tokens: float, seconds: float) -> None:
        self.joined += 1
        self.joined_tokens += tokens
        self.joined_s += seconds
        self.joined_accepted += accepted

    def sections(self, statistics: Statistics, read: int, used: int) -> list[Section]:
        """Of the requests with drafts, and of those without if there are any."""
        self.start()
        statistics.start()
        found = []
        drafting = bool(self.requests or statistics.names)
        loose = drafting and not self.tagged
        plain_lines = 0 if loose else self.plain_requests if drafting else used
        if drafting:
            found.append(self._drafting(statistics, read - plain_lines, used - plain_lines, loose))
        if self.plain_requests and self.plain_seconds and not loose:
            note = "timings without a line on drafts"
            found.append(
                Section(
                    engine="llama.cpp", format="llama.cpp timings without drafts",
                    lines_read=plain_lines, lines_used=plain_lines, speculative=False,
                    output_tokens=self.plain_tokens, generation_tokens_per_s=self.plain_tokens / self.plain_seconds,
                    user_tokens_per_s=self.plain_tokens / self.plain_seconds, conventions=(note,),
                )
            )  # fmt: skip
        return found

    def _drafting(self, statistics: Statistics, read: int, used: int, loose: bool) -> Section:
        calls, drafts, drafted_all, accepted_all, draft_s = statistics.done
        same = drafted_all == self.drafted and accepted_all == self.accepted
        whole = bool(statistics.names) and (not self.requests or same or self.cycles is None)
        accepted, drafted = (accepted_all, drafted_all) if whole else (self.accepted, self.drafted)
        cycles = drafts if whole else self.cycles
        survival = self.survival.pooled() or (statistics.survival.pooled() if len(statistics.names) == 1 else None)
        conventions, identities, warnings = [OVER_DRAFTED], [], []
        if cycles is None:
            conventions.append(_NO_CYCLES)
        else:
            conventions += [WITH_BONUS, _SOURCES]
        if whole and self.requests and not same:
            conventions.append("counts are those of the statistics lines, which run since the start of the server")
        if survival:
            conventions.append(SURVIVAL)
        measured = length(accepted, cycles)
        passes = per_pass = time = speed = None
        if self.joined:
            passes = self.joined_tokens - self.joined - self.joined_accepted
            per_pass, time = ratio(self.joined_tokens - self.joined, passes), ratio(self.joined_s, passes)
            speed = self.joined_tokens / self.joined_s
            conventions.append(_EACH_PASS)
        elif loose and self.plain_seconds:
            speed = self.plain_tokens / self.plain_seconds
            conventions.append(_LOOSE)
        elif whole and calls >= drafts > 0 and len(statistics.names) == 1:
            passes, per_pass = calls, (calls + accepted) / calls
        if len(statistics.names) == 1 and calls > drafts:
            warnings.append(
                f"the drafter had something to propose in {drafts:,.0f} of {calls:,.0f} passes "
                f"({drafts / calls:.0%} hit rate): tokens per pass is below the acceptance length"
            )
        draft = draft_s / calls if statistics.timed and calls and len(statistics.names) == 1 else None
        if draft is not None:
            identities.append(
                Identity("draft time a cycle", draft, None, "s", "dur(g) / calls, measured by the server")
            )
            if time and time > draft:
                how = "draft time / (cycle time - draft time): cost of drafting in verify passes"
                identities.append(Identity("draft cost", draft / (time - draft), None, "", how))
        if survival and measured:
            how = "1 + sum of the positions"
            identities.append(Identity("acceptance length", 1 + sum(survival), measured, "", how))
        return Section(
            engine="llama.cpp",
            format="llama.cpp server log",
            lines_read=read,
            lines_used=used,
            cycles=cycles,
            passes=passes,
            output_tokens=self.joined_tokens or None,
            draft_tokens=drafted,
            accepted_tokens=accepted,
            num_speculative_tokens=len(survival) if survival else None,
            acceptance_rate=ratio(accepted, drafted),
            acceptance_length=measured,
            tokens_per_pass=per_pass,
            per_position_survival=survival,
            cycle_time_s=time,
            draft_time_s=draft,
            verify_time_s=time - draft if time and draft and time > draft else None,
            generation_tokens_per_s=speed,
            user_tokens_per_s=speed,
            running_requests=1.0 if self.joined else None,
            method=" + ".join(sorted(statistics.names)) or None,
            conventions=tuple(conventions),
            identities=tuple(identities),
            warnings=tuple(warnings),
        )
