"""One run of an SGLang server: windows between decode lines, and what the accept rate means in them."""

from __future__ import annotations

from dataclasses import dataclass, field

from clover_sim.logs._section import Identity, Section, one_of, ratio

_MOST_DRAFTS = 512
_MOST_PROCESSES = 1024
_HALF_DIGIT = 0.005
_SLACK = 1e-6
_GROWTH = (0.5, 1.6)
"""Growth of ``#token`` over throughput x seconds (give or take one second) within which it is the same request's."""

OLD, NEW = "old", "new"
_MEANING = {
    OLD: "accept rate here = accept len / draft tokens (older SGLang: root and bonus counted)",
    NEW: "accept rate here = (accept len - 1) / (draft tokens - 1) (SGLang since 2026: accepted over drafted)",
}
_ROOT = "SGLang's num_draft_tokens counts the root, so one more than the drafts: vLLM's num_speculative_tokens + 1"
_LENGTH = "accept len includes the bonus token: tokens that a verify pass writes for a request"
_WINDOWS = "windows are weighted by their passes (tokens written / accept len); the first decode line only opens one"


@dataclass(slots=True)
class _Open:
    """The last line of a process."""

    at_s: float | None
    running: float
    tokens: float | None
    interrupted: bool = False
    idle: bool = False
    prompts: float = 0.0
    """Prompt tokens processed since."""


@dataclass(slots=True)
class Run:
    """Windows of one meaning of the rate."""

    read: int = 0
    used: int = 0
    windows: int = 0
    algorithm: str | None = None
    drafts: int | None = None
    """SGLang's num_draft_tokens as the server was started with."""
    passes: float = 0.0
    tokens: float = 0.0
    unweighted: list[float] = field(default_factory=lambda: [0.0, 0.0])
    """Of windows that nothing weighs: sum of accept len x running requests, sum of running requests."""
    opening: list[float] = field(default_factory=lambda: [0.0, 0.0])
    """The same of lines that only open a window."""
    timed_tokens: float = 0.0
    timed_s: float = 0.0
    timed_passes: float = 0.0
    timed_prompts: float = 0.0
    graphs: list[int] = field(default_factory=lambda: [0, 0])
    """Lines of passes that were no captured graph, and lines that say either."""
    busy_s: float = 0.0
    waiting_s: float = 0.0
    plain_windows: int = 0
    plain_lines: int = 0
    spec_lines: int = 0
    plain_s: float = 0.0
    plain_tokens: float = 0.0
    plain_busy_s: float = 0.0
    meanings: dict[str, frozenset[int]] = field(default_factory=dict)
    rated: int = 0
    tags: set[str] = field(default_factory=set)
    """Processes of the server, by the ranks in their time stamps."""
    _open: dict[str, _Open] = field(default_factory=dict)

    def configure(self, drafts: int | None, algorithm: str | None) -> None:
        """What the server says of itself when it starts."""
        self.drafts, self.algorithm = drafts, algorithm

    def close(self) -> None:
        """The next decode line of every process opens a window."""
        self._open.clear()

    def interrupt(self, tag: str, idle: bool, prompts: float = 0.0) -> None:
        """A prompt of so many tokens came in between: ``#token`` grows by it too, and after an idle spell the speed is
        of both."""
        if tag in self._open:
            self._open[tag].interrupted = True
            self._open[tag].idle |= idle
            self._open[tag].prompts += prompts

    def fits(self, length: float, rate: float | None) -> bool:
        """Whether a line agrees with what the rate has meant so far."""
        return rate is None or not self.rated or any(self._survivors(length, rate).values())

    def _survivors(self, length: float, rate: float) -> dict[str, frozenset[int]]:
        known = self.meanings or {OLD: frozenset(range(2, _MOST_DRAFTS)), NEW: frozenset(range(2, _MOST_DRAFTS))}
        if self.drafts and not self.meanings:
            known = {meaning: frozenset((self.drafts,)) for meaning in known}

        def agrees(meaning: str, n: int) -> bool:
            if length > n + _HALF_DIGIT:
                return False
            top, bottom = (length, n) if meaning == OLD else (length - 1, n - 1)
            return abs(top / bottom - rate) <= _HALF_DIGIT + _HALF_DIGIT / bottom + _SLACK

        return {meaning: frozenset(n for n in ns if agrees(meaning, n)) for meaning, ns in known.items()}

    def line(
        self,
        tag: str,
        at_s: float | None,
        running: float,
        speed: float,
        length: float | None,
        rate: float | None,
        tokens: float | None,
        waiting: float | None,
        graph: bool | None = None,
    ) -> None:
        """Count one decode line; ``graph`` says whether its last pass was a captured one."""
        self.used += 1
        if graph is not None and running > 0:
            self.graphs = [self.graphs[0] + (not graph), self.graphs[1] + 1]
        self.spec_lines += length is not None
        self.plain_lines += length is None
        if length is not None and rate is not None:
            survivors = self._survivors(length, rate)
            if any(survivors.values()):
                self.meanings, self.rated = survivors, self.rated + 1
        if len(self.tags) < _MOST_PROCESSES:
            self.tags.add(tag)
        before = self._open.get(tag)
        self._open[tag] = _Open(at_s, running, tokens)
        if running <= 0:
            return
        if before is None:
            if length is not None:
                self.opening = [self.opening[0] + length * running, self.opening[1] + running]
            return
        seconds = at_s - before.at_s if at_s is not None and before.at_s is not None and at_s >= before.at_s else None
        written = self._written(before, running, tokens, speed, seconds)
        steady = not before.idle and speed > 0
        if length is None:
            self.plain_windows += 1
            if steady and written is not None:
                self.plain_tokens += written
                self.plain_s += written / speed
                self.plain_busy_s += running * written / speed
            return
        self.windows += 1
        if written is None:
            self.unweighted = [self.unweighted[0] + length * running, self.unweighted[1] + running]
            if steady:  # its speed and requests stand on the line; every window has as many passes
                self._time(length, running, length * running, speed, waiting)
            return
        self.passes += written / length
        self.tokens += written
        if steady:
            self._time(length, running, written, speed, waiting)
            self.timed_prompts += before.prompts

    def _time(self, length: float, running: float, written: float, speed: float, waiting: float | None) -> None:
        """Count the time of a window that wrote so many tokens."""
        self.timed_tokens += written
        self.timed_passes += written / length
        self.timed_s += written / speed
        self.busy_s += running * written / speed
        self.waiting_s += (waiting or 0.0) * written / speed

    @staticmethod
    def _written(
        before: _Open, running: float, tokens: float | None, speed: float, seconds: float | None
    ) -> float | None:
        """Tokens that the window wrote; ``None`` if nothing tells."""
        growth = tokens - before.tokens if tokens is not None and before.tokens is not None else 0.0
        if running == before.running == 1 and growth > 0 and not before.interrupted:
            low, high = ((seconds or 0.0) - 1) * speed * _GROWTH[0], ((seconds or 0.0) + 1) * speed * _GROWTH[1]
            if seconds is None or before.idle or speed <= 0 or low <= growth <= high:
                return growth
        return speed * seconds if seconds is not None else None

    def sections(self) -> list[Section]:
        """Of the lines with drafts and of those without."""
        found = [self._drafting()] if self.spec_lines else []
        if self.plain_lines and (self.plain_windows or not self.spec_lines):
            found.append(self._plain())
        return found

    def meaning(self) -> tuple[str | None, int | None]:
        """Which meaning the rate has and how many draft tokens there are (root counted); ``None`` if both fit."""
        if self.drafts:
            fitting = [m for m, ns in self.meanings.items() if ns]
            return (fitting[0] if len(fitting) == 1 else None), self.drafts
        fitting = [m for m, ns in self.meanings.items() if ns]
        if len(fitting) == 2:
            exact = [m for m in fitting if len(self.meanings[m]) == 1]
            if len(exact) == 1 and self.rated > 2:
                fitting = exact
        if len(fitting) != 1:
            return None, None
        numbers = self.meanings[fitting[0]]
        return fitting[0], (min(numbers) if len(numbers) == 1 else None)

    def _drafting(self) -> Section:
        passes, tokens, known = self.passes, self.tokens, self.passes > 0
        conventions, warnings, identities = [_LENGTH, _WINDOWS], [], []
        length = ratio(tokens, passes)
        if not known and self.unweighted[1]:
            length = self.unweighted[0] / self.unweighted[1]
            conventions.append("no window has a usable length: weighted by running requests (same passes a window)")
        if not self.windows and self.opening[1]:
            length = self.opening[0] / self.opening[1]
            warnings.append(
                "a decode line opens a window that no second line closes: the acceptance length is as printed, passes "
                "and speed cannot be told"
            )
        meaning, drafts = self.meaning()
        if meaning:
            conventions.append(_MEANING[meaning])
        if self.rated and self.windows and not drafts:
            warnings.append(
                "accept rate fits both of its meanings or several draft lengths: which "
                "--speculative-num-draft-tokens was the server started with? (give it, less one, "
                "as --num-speculative-tokens)"
            )
        if drafts:
            conventions.append(_ROOT)
        conventions += self._each()
        k = drafts - 1 if drafts else None
        accepted = tokens - passes if known else None
        time = ratio(self.busy_s, self.timed_passes)
        if self.timed_s:
            how = "throughput / accept len: verify passes a second, over all requests"
            identities.append(Identity("passes", self.timed_passes / self.timed_s, None, "1/s", how))
        return Section(
            engine="sglang",
            format="SGLang decode lines",
            lines_read=self.read - self.plain_lines,
            lines_used=self.used - self.plain_lines,
            cycles=passes if known else None,
            passes=passes if known else None,
            output_tokens=tokens if known else None,
            draft_tokens=passes * k if known and k else None,
            accepted_tokens=accepted,
            num_speculative_tokens=k,
            acceptance_rate=(length - 1) / k if length and k else None,
            acceptance_length=length,
            tokens_per_pass=length,
            cycle_time_s=time,
            generation_tokens_per_s=ratio(self.timed_tokens, self.timed_s),
            running_requests=ratio(self.busy_s, self.timed_s),
            waiting_requests=ratio(self.waiting_s, self.timed_s),
            prompt_tokens_per_s=ratio(self.timed_prompts, self.timed_s) if known else None,
            eager_share=ratio(*self.graphs),
            method=self.algorithm,
            conventions=tuple(conventions),
            identities=tuple(identities),
            warnings=tuple(warnings),
        )

    def _each(self) -> list[str]:
        """What the speeds are of, where several processes share the work."""
        return [one_of(len(self.tags), "processes")] if len(self.tags) > 1 else []

    def _plain(self) -> Section:
        speed, running = ratio(self.plain_tokens, self.plain_s), ratio(self.plain_busy_s, self.plain_s)
        identities: tuple[Identity, ...] = ()
        if speed and running:
            how = "running requests / throughput, if every step writes one token for each"
            identities = (Identity("step time", running / speed, None, "s", how),)
        return Section(
            engine="sglang", format="SGLang decode lines without drafts", lines_read=self.plain_lines,
            lines_used=self.plain_lines, speculative=False, generation_tokens_per_s=speed, running_requests=running,
            eager_share=None if self.spec_lines else ratio(*self.graphs),
            conventions=(
                "no accept len: plain decoding, or block diffusion, whose passes these lines do not count",
                *self._each(),
            ),
            identities=identities,
        )  # fmt: skip
