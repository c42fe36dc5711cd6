"""What a format is: one public module of this package with ``MARKS`` and a class ``Reader``. There is no list."""

from __future__ import annotations

from typing import Any, ClassVar, NamedTuple, Protocol

from clover_sim.logs._configuration import Collected
from clover_sim.logs._section import Section

Outcome = bool | str | None
"""``True``: the line's figures count. A text: it is of this format but cannot be used, and why. ``None``: not mine."""

CUT_OFF = "cut off, or its fields contradict each other"
STREAMED = "a part of a streamed response, which its last part sums up"


class Line(NamedTuple):
    """One line, cleaned of colours (``text``) and also of prefixes (``message``).

    ``ended``: a line break ends it. ``where``: ``file:line``. ``origin``: who wrote it, as its prefix names containers,
    pods, hosts, processes and ranks; empty where it names none.
    """

    text: str
    message: str
    ended: bool = True
    where: str = ""
    origin: str = ""


class LogReader(Protocol):
    """Collects the lines of one format. Bounded memory whatever the file's size."""

    WRITER: ClassVar[str]
    """The program that writes it, for people; empty where others of its readers say it."""

    @property
    def active(self) -> bool:
        """Whether the next lines belong to a report that has begun, so that they need no mark."""
        ...

    def start(self) -> None:
        """A new file begins."""
        ...

    def line(self, line: Line) -> Outcome:
        """A line with one of the marks."""
        ...

    def document(self, document: dict[str, Any], lines: int) -> Outcome:
        """A JSON object that took ``lines`` lines."""
        ...

    def sections(self) -> list[Section]:
        """What was read; called once, at the end."""
        ...


class Base:
    """The parts of :class:`LogReader` that most formats do not need."""

    WRITER: ClassVar[str] = ""
    active = False

    def start(self) -> None:
        """A new file changes nothing."""

    def line(self, line: Line) -> Outcome:
        """No line is of this format."""
        return None

    def document(self, document: dict[str, Any], lines: int) -> Outcome:
        """No document is of this format."""
        return None


class Startup(Base):
    """How a server was started. Such a reader sees every line with one of its marks, whatever else reads it."""

    ENGINE: ClassVar[str]
    LACKS: ClassVar[str] = ""
    """When this engine prints the metric lines that a log of its start alone does not have."""

    def __init__(self) -> None:
        self.found = Collected(self.ENGINE)
        self.where = ""
        """Where the document stands that is handed over next."""

    def sections(self) -> list[Section]:
        """None: nothing was measured."""
        return []


class Reports(Base):
    """Reports of rows printed among other lines: each a table, with the lines read and used for it."""

    def __init__(self) -> None:
        self._reports: list[dict[str, float | str]] = []
        self._lines: list[list[int]] = []
        self._foreign = 0
        self.active = False

    def start(self) -> None:
        """A report does not go on in the next file."""
        self.active = False

    def _begin(self) -> None:
        self._reports.append({})
        self._lines.append([0, 0])
        self.active, self._foreign = True, 0

    def _count(self) -> bool:
        self._lines[-1][0] += 1
        self._lines[-1][1] += 1
        return True


def readers() -> list[tuple[tuple[str, ...], LogReader]]:
    """A fresh reader of every format, with the marks its lines carry (at least one of them, as written)."""
    import importlib
    import pkgutil

    from clover_sim import logs

    found = []
    for info in sorted(pkgutil.iter_modules(logs.__path__), key=lambda info: info.name):
        if not info.name.startswith("_"):
            module: Any = importlib.import_module(f"{logs.__name__}.{info.name}")
            found.append((tuple(module.MARKS), module.Reader()))
    return found
