"""Request sizes from server logs: CSV or JSON lines with prompt and output lengths, and times where they have them.

Known columns: ``prompt_tokens``/``completion_tokens`` (usage records), ``ContextTokens``/``GeneratedTokens`` with
``TIMESTAMP`` (Azure LLM inference traces), ``Request tokens``/``Response tokens`` with ``Timestamp`` (BurstGPT),
``input_length``/``output_length`` with ``timestamp`` in ms (Mooncake). A time is in seconds (``arrival_s``) or a date,
or in ms where its name says so (``arrival_ms``, ``timestamp_ms``, ``time_ms``).
"""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Mapping
from io import StringIO
from typing import Any, NamedTuple

from clover_sim.errors import InputError

_PROMPT = ("prompt_tokens", "input_tokens", "input_length", "contexttokens", "request tokens", "prompt_len")
_OUTPUT = ("completion_tokens", "output_tokens", "output_length", "generatedtokens", "response tokens", "output_len")
_TIME = ("arrival_s", "timestamp", "time", "time_s", "timestamp_s")
_TIME_MS = ("arrival_ms", "timestamp_ms", "time_ms")
_MOST_BYTES = 64_000_000
_MOST_TOKENS = 10_000_000


class Size(NamedTuple):
    """One request: seconds after the first one (``None`` where the log has no times), prompt and output tokens."""

    time_s: float | None
    prompt_tokens: int
    output_tokens: int


def is_size_record(record: Mapping[str, Any]) -> bool:
    """Whether a record has both lengths."""
    keys = {str(key).strip().lower() for key in record}
    return any(k in keys for k in _PROMPT) and any(k in keys for k in _OUTPUT)


def read_sizes(path: str, most: int, text: str | None = None) -> list[Size]:
    """Requests of a file in its order, times made relative to the first; requests without output are left out.

    Args:
        path: the file, or its name if its ``text`` was read already. most: more requests than this are refused.

    Raises :class:`InputError` with file and line for a column that is missing, a figure that is not a whole number
    from 0 to 10^7, a time that goes back or is missing where others have one, or more than ``most`` requests.
    """
    found: list[Size] = []
    start: float | None = None
    name = path
    for line, record in _rows(path, text):
        at = f"{name}:{line}"
        row = {str(key).strip().lower(): value for key, value in record.items()}
        time = _time(row, at)
        prompt, output = _tokens(row, _PROMPT, at), _tokens(row, _OUTPUT, at)
        if output == 0:
            continue
        if time is not None:
            start = time if start is None else start
            time -= start
        if found and (time is None) != (found[-1].time_s is None):
            raise InputError(f"{at}: some requests have a time and some have none: expected one for each, or no column")
        if time is not None and (time < 0 or (found and time < (found[-1].time_s or 0.0))):
            raise InputError(f"{at}: the time goes back: expected requests in the order of their arrival")
        found.append(Size(time, prompt, output))
        if len(found) > most:
            raise InputError(f"{at}: over {most} requests: take fewer lines, for example with head")
    if not found:
        raise InputError(f"{name}: holds no request with output; expected {_PROMPT[0]} and {_OUTPUT[0]}")
    return found


def _rows(path: str, text: str | None) -> Iterator[tuple[int, Mapping[str, Any]]]:
    if text is None:
        from clover_sim.streams.files import load_text

        loaded = load_text(path, max_tokens=_MOST_BYTES // 64)
        if loaded.bytes > _MOST_BYTES:
            raise InputError(f"{path}: over {_MOST_BYTES / 1e6:.0f} MB: take fewer lines, for example with head")
        text = loaded.text
    if text.lstrip()[:1] in ("{", "["):
        import json

        if text.lstrip()[0] == "[":
            try:
                records = json.loads(text)
            except (ValueError, RecursionError):
                raise InputError(f"{path}: not valid JSON; expected a list of records") from None
            pairs: Iterable[tuple[int, Any]] = enumerate(records, 1)
        else:
            pairs = _json_lines(path, text)
        for number, record in pairs:
            if not isinstance(record, Mapping):
                raise InputError(f"{path}:{number}: {record!r:.30}: expected a record with token counts")
            yield number, record
        return
    import csv

    rest = text.lstrip()
    above = text.count("\n", 0, len(text) - len(rest))  # empty lines before the columns
    reader = csv.DictReader(StringIO(rest), skipinitialspace=True)
    try:
        columns = reader.fieldnames or ()
    except csv.Error as error:
        raise InputError(f"{path}:{above + 1}: not valid CSV ({error})") from None
    if not is_size_record(dict.fromkeys(columns)):
        raise InputError(
            f"{path}:{above + 1}: not a log of request sizes: expected columns such as prompt_tokens and "
            "completion_tokens"
        )
    try:
        for row in reader:
            yield above + reader.line_num, row
    except csv.Error as error:
        raise InputError(f"{path}:{above + reader.line_num}: not valid CSV ({error})") from None


def _json_lines(path: str, text: str) -> Iterator[tuple[int, Any]]:
    """One value at a time: a list of them would need many times the memory of the text."""
    import json

    for number, line in enumerate(StringIO(text), 1):
        if line.strip():
            try:
                yield number, json.loads(line)
            except (ValueError, RecursionError):
                raise InputError(f"{path}:{number}: not valid JSON; expected one record a line") from None


def _tokens(row: Mapping[str, Any], names: tuple[str, ...], at: str) -> int:
    key = next((name for name in names if name in row), None)
    if key is None:
        raise InputError(f"{at}: {names[0]} is missing")
    value = row[key]
    try:
        number = int(value) if isinstance(value, float) and value.is_integer() else int(str(value))
    except ValueError:
        number = -1
    if isinstance(value, bool) or not 0 <= number <= _MOST_TOKENS:
        raise InputError(f"{at}: {key} is {value!r:.40}: expected a whole number from 0 to {_MOST_TOKENS}")
    return number


def _time(row: Mapping[str, Any], at: str) -> float | None:
    key = next((name for name in (*_TIME, *_TIME_MS) if name in row), None)
    if key is None or row[key] in (None, ""):
        return None
    value = row[key]
    try:
        seconds = float(value)
        # Mooncake's traces count milliseconds and name their lengths input_length and output_length.
        if key in _TIME_MS or ("input_length" in row and not key.endswith("_s")):
            seconds /= 1000
    except (TypeError, ValueError):
        from datetime import UTC, datetime

        try:
            moment = datetime.fromisoformat(str(value).strip())
            if moment.tzinfo is None:  # else the figures depend on where they are worked out
                moment = moment.replace(tzinfo=UTC)
            seconds = moment.timestamp()
        except ValueError:
            raise InputError(f"{at}: {key} is {value!r:.40}: expected seconds or a date and time") from None
    if not abs(seconds) < 1e12:
        raise InputError(f"{at}: {key} is {value!r:.40}: expected seconds")
    return seconds
