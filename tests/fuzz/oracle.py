"""One try, and what is wrong with how it ended."""

from __future__ import annotations

import contextlib
import io
import json
import os
import re
import signal
import sys
import traceback
import warnings
from dataclasses import dataclass, field
from itertools import pairwise
from pathlib import Path
from typing import Any, NoReturn

SECONDS = 10.0
"""Processor time that a try may take."""
MEMORY_BYTES = 2 << 30
"""Address space of the process that runs tries."""
LONGEST_LINE = 1100
"""Characters of a line on standard error: about a thousand."""
CODES = (0, 1, 2, 3, 4, 130, 143)


@dataclass(frozen=True, slots=True)
class Case:
    """What is tried: a command line, or a piece of Python if ``source`` is given, in a folder with these files."""

    target: str
    argv: tuple[str, ...] = ()
    files: dict[str, bytes] = field(default_factory=dict)
    stdin: bytes = b""
    encoding: str = "utf-8"
    source: str = ""


@dataclass(frozen=True, slots=True)
class Fault:
    """What is wrong: its kind, what tells it from others of the kind, and the whole story."""

    kind: str
    mark: str
    story: str

    @property
    def name(self) -> str:
        """The same for the same fault met twice."""
        return f"{self.kind}: {self.mark}"


class TooLong(BaseException):
    """Raised in a try whose processor time is used up."""


def judge(case: Case, folder: str, seconds: float = SECONDS) -> Fault | None:
    """Run a case in an empty folder; ``None`` if it ends as it should."""
    for name, content in case.files.items():
        Path(folder, name).write_bytes(content)
    before = os.getcwd()
    descriptors = _descriptors()
    lost: list[str] = []
    said: list[str] = []
    stack: list[str] = []

    def stop(_number: int, frame: Any) -> NoReturn:
        stack[:] = traceback.format_stack(frame)
        raise TooLong

    def hear(message: Any, category: Any, filename: str, lineno: int, *_more: Any) -> None:
        said.append(f"{category.__name__}: {message} ({filename}:{lineno})")

    outer, unraisable = signal.signal(signal.SIGPROF, stop), sys.unraisablehook
    sys.unraisablehook = lambda args: lost.append(f"{args.exc_type.__name__}: {args.exc_value} in {args.object!r}")
    os.chdir(folder)
    signal.setitimer(signal.ITIMER_PROF, seconds, 1.0)
    try:
        with warnings.catch_warnings():
            warnings.simplefilter("always")
            warnings.showwarning = hear
            fault = _call(case) if case.source else _command(case, folder)
    except TooLong:
        fault = None
    finally:
        signal.setitimer(signal.ITIMER_PROF, 0)
        signal.signal(signal.SIGPROF, outer)
        sys.unraisablehook = unraisable
        os.chdir(before)
    if stack:
        return Fault("slow", _where("".join(stack)), f"over {seconds:g} s of processor time\n" + "".join(stack))
    if fault is None and (lost or said):
        return Fault("stray", _plain((lost or said)[0]), "\n".join(lost + said))
    if fault is None and _descriptors() > descriptors:
        return Fault("descriptor", "left open", "a file is still open at the end")
    return fault or _left(case, folder)


def _command(case: Case, folder: str) -> Fault | None:
    from clover_sim.cli import main

    out, err = (io.TextIOWrapper(io.BytesIO(), case.encoding, "backslashreplace" if e else "strict") for e in (0, 1))
    kept = sys.stdin, sys.stdout, sys.stderr
    sys.stdin = io.TextIOWrapper(io.BytesIO(case.stdin), "utf-8")
    sys.stdout, sys.stderr = out, err
    try:
        code = main(list(case.argv))
    except TooLong:
        raise
    except BaseException as error:
        trace = traceback.format_exc()
        return Fault("escaped", f"{type(error).__name__} {_where(trace)}", trace)
    finally:
        sys.stdin, sys.stdout, sys.stderr = kept
    for stream in (out, err):
        with contextlib.suppress(ValueError):
            stream.flush()
    shown, told = (_text(stream, case.encoding) for stream in (out, err))
    return _errors(case, code, told, folder) or (_output(case, shown) if code in (0, 1) else None)


def _text(stream: io.TextIOWrapper, encoding: str) -> str:
    raw = stream.detach()
    assert isinstance(raw, io.BytesIO)
    return raw.getvalue().decode(encoding, "replace")


def _verbose(argv: tuple[str, ...]) -> bool:
    return any(w == "--verbose" or re.fullmatch("-[a-z]*v[a-z]*", w) for w in argv)


def _errors(case: Case, code: Any, told: str, folder: str) -> Fault | None:
    """The exit code, and standard error."""
    if type(code) is not int or code not in CODES:
        return Fault("code", repr(code), told)
    lines = told.split("\n")
    last = lines.pop()
    plain = [re.sub(r"\x1b\[[\d;]*m", "", line) for line in lines]
    if last:
        return Fault("stderr", "no end of line", told)
    for mark in ("internal error", "tried to end the program", "not enough memory"):
        if code and any(re.search(f": error: [^:]{{0,40}}{mark}", line) for line in plain):
            return Fault("internal" if mark == "internal error" else "memory" if "memory" in mark else "ended",
                         _again(case, folder) or _plain(lines[-1]), told)  # fmt: skip
    if code == 4 and "clover_sim/decoders" in told.replace(os.sep, "/"):
        return Fault("decoder", _plain(lines[-1]), told)
    if _verbose(case.argv):
        plain = [line for line in plain if line.startswith("clover-sim")]
    elif "Traceback" in told:
        return Fault("stderr", "traceback", told)
    for line in plain:
        if len(line) > LONGEST_LINE:
            return Fault("stderr", "a long line", told)
        if not line.isprintable():
            return Fault("stderr", "control characters: " + _plain(line), told)
        if code not in (0, 1) and not line.startswith(("clover-sim", "wrote ")):
            return Fault("stderr", "line of nobody: " + _plain(line), told)
    errors = [line for line in plain if re.match(r"clover-sim( \w+)?: error: ", line)]
    if code in (2, 3, 4) and len(errors) != 1:
        return Fault("stderr", f"{len(errors)} errors", told)
    if code in (0, 1) and errors:
        return Fault("stderr", f"an error with code {code}: {_plain(errors[0])}", told)
    if errors and not errors[0].partition(": error: ")[2].strip():
        return Fault("stderr", "an empty message", told)
    return None


def _again(case: Case, folder: str) -> str:
    """Where an internal error comes from: the same with its traceback."""
    from clover_sim.cli import main

    err = io.StringIO()
    kept = sys.stdin, sys.stdout, sys.stderr
    for name, content in case.files.items():
        Path(folder, name).write_bytes(content)
    sys.stdin = io.TextIOWrapper(io.BytesIO(case.stdin), "utf-8")
    sys.stdout, sys.stderr = io.StringIO(), err
    try:
        main(["-v", *case.argv])
    finally:
        sys.stdin, sys.stdout, sys.stderr = kept
    trace = err.getvalue()
    names = re.findall(r"(?m)^(\w+(?:\.\w+)*)(?:: |$)", trace)
    return f"{names[-1] if names else ''} {_where(trace)}" if "Traceback" in trace else ""


def _where(trace: str) -> str:
    """The last line of the package in a traceback, as file and function."""
    found = re.findall(r'File "[^"]*clover_sim/([^"]+)", line (\d+), in (\S+)', trace)
    own = [entry for entry in found if not entry[0].startswith(("cli/__init__", "cli/_dispatch"))] or found
    return "{0}:{2}".format(*own[-1]) if own else "elsewhere"


def _plain(text: str) -> str:
    """A message without what differs from one try to the next."""
    text = re.sub(r"0x[0-9a-f]+|'[^']*'|\"[^\"]*\"|-?\d+(?:\.\d+)?", "_", text)
    return text[:90]


def _refuse(name: str) -> NoReturn:
    raise ValueError(f"{name} is not JSON")


def strict_json(text: str) -> Any:
    """The value of a JSON document; :class:`ValueError` for NaN, infinities and keys given twice."""

    def pairs(found: list[tuple[str, Any]]) -> dict[str, Any]:
        if len({key for key, _ in found}) < len(found):
            raise ValueError("a key is there twice")
        return dict(found)

    return json.loads(text, parse_constant=_refuse, object_pairs_hook=pairs)


def _output(case: Case, shown: str) -> Fault | None:
    argv = case.argv
    asked = any(re.fullmatch(r"-[a-zA-Z]*h[a-zA-Z]*", word) for word in argv)  # -h may stand among other letters
    if asked or "--help" in argv or "-" in argv or "--export=-" in argv:
        return None
    formats = [b for a, b in pairwise(argv) if a == "--format"]
    formats += [w.partition("=")[2] for w in argv if w.startswith("--format=")]
    form = formats[-1] if formats else "table"
    if form == "json":
        try:
            strict_json(shown)
        except (ValueError, RecursionError) as error:
            return Fault("json", _plain(str(error)), shown[:5000])
    if form != "csv" and not any(w.startswith("--color") for w in argv):
        odd = sorted({char for char in shown if not char.isprintable() and char != "\n"})
        if odd:
            return Fault("stdout", f"control characters in {form}", f"{odd}\n{shown[:3000]}")
    return None


def _call(case: Case) -> Fault | None:
    """A piece of Python: what it leaves in ``result`` must be JSON, and what it raises an error of ours."""
    import clover_sim

    names: dict[str, Any] = {"cs": clover_sim, "nan": float("nan"), "inf": float("inf")}
    try:
        exec(compile(case.source, "<case>", "exec"), names)  # what fuzz.calls wrote
        found = names.get("result")
        strict_json(json.dumps(found, allow_nan=False, default=str))
    except clover_sim.CloverError as error:
        text = str(error)
        if "\n" in text or not text.strip():
            return Fault("message", _plain(text), text)
        if isinstance(error, clover_sim.DecoderFault) and "mine" not in case.source:
            return Fault("decoder", _plain(text), text)
    except TooLong:
        raise
    except BaseException as error:
        trace = traceback.format_exc()
        return Fault("raised", f"{type(error).__name__} {_where(trace)}", f"{case.source}\n{trace}")
    return None


def _left(case: Case, folder: str) -> Fault | None:
    """What a command leaves in its folder: no half a file, no input changed."""
    asked = " ".join(case.argv)
    for name in sorted(os.listdir(folder)):
        path = Path(folder, name)
        if name not in case.files:
            if name == "__pycache__":
                continue
            if name.endswith(".tmp") or (name not in asked and not case.source):
                return Fault("left", re.sub(r"\d+", "_", name), f"{name} is left in the folder")
            if re.search(rf"--export[ =]{re.escape(name)}( |$)", asked) and name.endswith(".json"):
                try:
                    strict_json(path.read_text(encoding="utf-8"))
                except ValueError as error:
                    return Fault("exported", _plain(str(error)), f"{name}: {error}")
        elif not re.search(r"(^| )(--force|-\w*f\w*|--resume)", asked) and path.read_bytes() != case.files[name]:
            return Fault("changed", "an input", f"{name} was changed")
    return None


def _descriptors() -> int:
    try:
        return len(os.listdir("/proc/self/fd"))
    except OSError:
        return 0
