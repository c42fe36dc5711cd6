"""SGLang's ``Decode batch`` lines, with and without ``accept len`` (scheduler metrics of every release).

A line tells of the passes since the one before it and carries no counts. A window therefore runs from one decode line
to the next and is weighted by its passes: growth of ``#token`` / accept len where one request runs, else throughput x
seconds / accept len. The first line of a run only opens a window. ``accept rate`` had two meanings: accept len over
draft tokens (root and bonus counted), and since 2026 (accept len - 1) over (draft tokens - 1); which one, and how many
draft tokens, follows from the figures themselves.
"""

from __future__ import annotations

import re

from clover_sim.logs._reader import CUT_OFF, Base, Line, Outcome
from clover_sim.logs._section import Section
from clover_sim.logs._sglang_run import Run
from clover_sim.logs._text import fields, number

MARKS = ("Decode batch", "Prefill batch", "server_args=", "ServerArgs(")

_DECODE = re.compile(r"Decode batch(?:\s*\[\d+\])?[.,]\s*(?=#running-req)")
_PREFILL = re.compile(r"Prefill batch(?:\s*\[\d+\])?[.,]\s*#new-seq")
_NEW = re.compile(r"#new-token: (\d{1,9})")
_GRAPHS = {"true": True, "false": False}
_STAMP = re.compile(r"\[?(\d{4})-(\d\d)-(\d\d)[T ](\d\d):(\d\d):(\d\d)(?:[.,](\d+))?")
_DRAFTS = re.compile(r"speculative_num_draft_tokens=(\d{1,4})")
_ALGORITHM = re.compile(r"speculative_algorithm='?(\w+)'?")
_RANKS = re.compile(r"/?[A-Z]+\d+(?: [A-Z]+\d+)*$")
_MOST_SERVERS = 64
_TOKENS = ("#token", "#full token", "full token num")


class Reader(Base):
    """Follows each server, and within it each process (by the ranks in its time stamp), from line to line."""

    WRITER = "SGLang"

    def __init__(self) -> None:
        self._runs: dict[str, list[Run]] = {}

    def start(self) -> None:
        """A new file opens new windows."""
        for runs in self._runs.values():
            runs[-1].close()

    def _server(self, origin: str) -> list[Run]:
        name = _RANKS.sub("", origin)
        if name not in self._runs and len(self._runs) >= _MOST_SERVERS:
            name = next(iter(self._runs))
        return self._runs.setdefault(name, [Run()])

    def line(self, line: Line) -> Outcome:
        """A decode line, or what tells where a run starts."""
        text = line.text
        runs = self._server(line.origin)
        if found := _DECODE.search(text):
            return self._decode(line, found.end())
        if _PREFILL.search(text):
            running = re.search(r"#running-req: (\d+)", text)
            prompts = number(found[1]) if (found := _NEW.search(text)) else None
            runs[-1].interrupt(line.origin, bool(running and running[1] == "0"), prompts or 0.0)
            return None
        if "speculative_" in text and ("ServerArgs(" in text or "server_args=" in text):
            drafts, algorithm = _DRAFTS.search(text), _ALGORITHM.search(text)
            runs[-1].close()
            if runs[-1].windows:
                runs.append(Run())
            known = algorithm[1] if algorithm and algorithm[1] != "None" else None
            runs[-1].configure(int(drafts[1]) if drafts else None, known)
        return None

    def _decode(self, line: Line, at: int) -> Outcome:
        runs, text = self._server(line.origin), line.text
        run = runs[-1]
        run.read += 1
        stated = fields(text[at:])
        running = number(stated.get("#running-req"))
        speed = number(stated.get("gen throughput (token/s)"))
        printed = stated.get("accept len", stated.get("avg_accept_len"))  # TokenSpeed's, in the same line otherwise
        length, rate = number(printed), number(stated.get("accept rate", stated.get("accept_rate")))
        if running is None or speed is None or (not line.ended and "#queue-req" not in stated):
            return CUT_OFF
        if printed is not None and (length is None or length < 1):
            return "an accept len that is not a number of at least 1"
        if length is not None and not run.fits(length, rate):
            run.close()
            runs.append(Run(read=1))
            run.read -= 1
            run = runs[-1]
        tokens = next((number(stated[name]) for name in _TOKENS if name in stated), None)
        waiting = number(stated.get("#queue-req"))
        graph = _GRAPHS.get(stated.get("cuda graph", "").lower())
        run.line(line.origin, _seconds(text), running, speed, length, rate, tokens, waiting, graph)
        return True

    def sections(self) -> list[Section]:
        """One a run with its own meaning of the rate, with drafts and without."""
        return [section for runs in self._runs.values() for run in runs if run.used for section in run.sections()]


def _seconds(text: str) -> float | None:
    """Seconds of the time stamp; only differences mean anything."""
    found = _STAMP.search(text)
    if found is None:
        return None
    from datetime import date

    year, month, day, hour, minute, second = (int(found[i]) for i in range(1, 7))
    try:
        days = date(year, month, day).toordinal()
    except ValueError:
        return None
    return days * 86400.0 + hour * 3600 + minute * 60 + second + float(f"0.{found[7] or 0}")
