"""From files to sections: what was read, what was skipped, and what the start-up lines say."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from typing import IO, Any

from clover_sim.errors import InputError
from clover_sim.logs._configuration import Configuration
from clover_sim.logs._section import Section
from clover_sim.logs._stream import Progress, Source
from clover_sim.logs._work import JSON_UNKNOWN, UNKNOWN, Skipped, Work

__all__ = ["Reading", "Skipped", "read_logs"]


@dataclass(frozen=True, slots=True)
class Reading:
    """What the files said. ``lines_read = lines_used +`` the lines of ``skipped``."""

    files: tuple[str, ...]
    lines_read: int
    lines_used: int
    sections: tuple[Section, ...]
    skipped: tuple[Skipped, ...]
    warnings: tuple[str, ...] = ()
    configurations: tuple[Configuration, ...] = ()
    """What the start-up lines say, one for each engine that has any."""


def read_logs(paths: Sequence[str], stdin: IO[Any] | None = None, progress: Progress = None) -> Reading:
    """Read ``paths`` (``-`` is ``stdin``), one after the other, as one record.

    Args:
        paths: text, JSON, JSON lines, a metrics page; gzip, bzip2 and xz are unpacked on the way.
        stdin: what ``-`` stands for.
        progress: called with megabytes done and to do.

    Raises:
        InputError: a file is not text, or nothing in it is of a known format.
        OSError: a file cannot be opened.
    """
    work = Work()
    warnings: list[str] = []
    for path in paths:
        source = Source(path, stdin)
        before = work.read, work.used
        work.file(source, progress)
        if source.cut_off:
            warnings.append(source.cut_off)
        if work.read == before[0]:
            _nothing(f"{source.name!r} is empty", len(paths), warnings)
        elif work.used == before[1]:
            _nothing(_why_nothing(work, source.name, work.read - before[0]), len(paths), warnings)
    sections = work.offered.sections()
    configurations = [found for reader in work.offered.startups for found in reader.found.configurations()]
    if not sections:
        names = ", ".join(map(repr, paths))
        if configurations:
            started = [reader for reader in work.offered.startups if reader.found.configurations()]
            lacks = "; ".join(reader.LACKS for reader in started if reader.LACKS)
            raise InputError(
                f"{names}: only says how the server was started; expected its metric lines too"
                + (f" ({lacks})" if lacks else "")
            )
        raise InputError("; ".join(warnings) or _why_nothing(work, names, work.read))
    return Reading(
        tuple(paths), work.read, work.used, tuple(sections), tuple(work.skipped), tuple(warnings),
        tuple(configurations),
    )  # fmt: skip


def _nothing(why: str, files: int, warnings: list[str]) -> None:
    if files == 1:
        raise InputError(why)
    warnings.append(why)


def _why_nothing(work: Work, name: str, lines: int) -> str:
    reasons = [skip for skip in work.skipped if skip.reason not in (UNKNOWN, JSON_UNKNOWN)]
    why = f"; {reasons[0].reason} ({reasons[0].first})" if reasons else ""
    *writers, last = sorted({*work.offered.writers} - {""}, key=str.lower)
    return (
        f"{name!r}: none of {lines} lines can be used{why}; expected metric lines or reports of "
        f"{', '.join(writers)} or {last}"
    )
