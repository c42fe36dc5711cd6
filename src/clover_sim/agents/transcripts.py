"""Real transcripts and request logs as workloads.

Read are: chat messages as OpenAI (``tool_calls``) or Anthropic (``tool_use`` parts) write them, one message a line or
in one array or under ``messages``; BFCL answers (``ground_truth``) and questions; and request sizes, see
:mod:`clover_sim.agents.sizes`. Token counts are estimates of the package's own tokenizer.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import Any

from clover_sim.agents.workload import MOST_TURNS, AgentWorkload, Turn, only_for_transcripts, workload_of
from clover_sim.errors import InputError

_MOST_BYTES = 8_000_000
ROLES = ("system", "developer", "user", "assistant", "tool", "function")
_OVERHEAD = 4
"""ASSUMPTION: tokens that a chat template puts around a message."""


def read_transcript(path: str, tokenizer: str | None = None, tool_s: float | None = None) -> AgentWorkload:
    """The workload in a file; raises :class:`InputError` with file and line for what cannot be used, and
    :class:`UsageError` for a tokenizer or a time of tools that this kind of file has no use for."""
    from clover_sim.streams.files import load_text

    loaded = load_text(path, max_tokens=_MOST_BYTES // 64)
    text, name = loaded.text.rstrip(), loaded.name
    if loaded.bytes > _MOST_BYTES:
        raise InputError(f"{name}: over {_MOST_BYTES / 1e6:.0f} MB: take fewer lines, for example with head")
    if not text:
        raise InputError(f"{name}: holds no text; expected messages, turns or request sizes")
    given = {"--tokenizer": tokenizer, "--tool-seconds": tool_s}
    vocabulary = tokenizer or "qwen"
    if text.lstrip()[0] not in "[{":
        only_for_transcripts(given, name)
        return _from_sizes(name, text)
    records = _records(text, name)
    first = records[0][1]
    if isinstance(first, Mapping):
        if "turns" in first or "decisions" in first:
            only_for_transcripts(given, name)
            return workload_of(first, name)
        if "ground_truth" in first or "question" in first:
            only_for_transcripts({"--tool-seconds": tool_s}, name)
            return _bfcl(records, name, vocabulary)
        if isinstance(first.get("messages"), list):
            inner = [(line, m) for line, r in records for m in _listed(r, line, name)]
            return _messages(inner, name, vocabulary, tool_s or 0.0)
        if "role" in first:
            return _messages(records, name, vocabulary, tool_s or 0.0)
        if _is_sizes(first):
            only_for_transcripts(given, name)
            return _from_sizes(name, text)
    raise InputError(
        f"{name}:{records[0][0]}: not a transcript: expected messages with a role, turns, ground_truth, or request "
        "sizes such as prompt_tokens and completion_tokens"
    )


def _records(text: str, name: str) -> list[tuple[int, Any]]:
    """(line, record) of each record of a JSON document or of JSON lines."""
    import json

    try:
        whole = json.loads(text)
    except (ValueError, RecursionError):
        whole = None
    if isinstance(whole, list) and whole:
        return [(1, record) for record in whole]
    if isinstance(whole, dict):
        return [(1, whole)]
    records = []
    for number, line in enumerate(text.split("\n"), 1):
        if not line.strip():
            continue
        try:
            records.append((number, json.loads(line)))
        except (ValueError, RecursionError) as error:
            raise InputError(f"{name}:{number}: not valid JSON ({str(error).splitlines()[0]:.80})") from None
    return records


def _listed(record: Any, line: int, name: str) -> list[Any]:
    messages = record.get("messages") if isinstance(record, Mapping) else None
    if not isinstance(messages, list):
        raise InputError(f"{name}:{line}: expected a list under messages")
    return messages


def _is_sizes(record: Mapping[str, Any]) -> bool:
    from clover_sim.agents.sizes import is_size_record

    return is_size_record(record)


def _from_sizes(name: str, text: str) -> AgentWorkload:
    """Requests of a log as steps that share nothing."""
    from clover_sim.agents.sizes import read_sizes

    sizes = read_sizes(name, MOST_TURNS, text)
    turns = tuple(Turn(max(1, r.prompt_tokens), max(1, r.prompt_tokens), 0, r.output_tokens) for r in sizes)
    note = "Request sizes say nothing of shared prompts: each request is a step of its own with nothing cached."
    return AgentWorkload(name, f"{len(turns)} requests of a log", name, 0, turns, (note,))


class _Counter:
    def __init__(self, tokenizer: str) -> None:
        self.vocabulary = tokenizer

    def __call__(self, text: str) -> int:
        from clover_sim.streams.tokenizer import tokenize

        return sum(1 for _ in tokenize(text, self.vocabulary)) if text else 0


def _messages(records: Sequence[tuple[int, Any]], name: str, tokenizer: str, tool_s: float) -> AgentWorkload:
    """Each message of the assistant is a step; what stands before it since the last one is added to the prompt."""
    count = _Counter(tokenizer)
    turns: list[Turn] = []
    context = added = system = 0
    last_called = False
    for line, message in records:
        if not isinstance(message, Mapping) or "role" not in message:
            raise InputError(f"{name}:{line}: role is missing: expected one of {', '.join(ROLES)}")
        role = message["role"]
        if role not in ROLES:
            from clover_sim.errors import suggest

            raise InputError(f"{name}:{line}: role {role!r:.40} is not known{suggest(str(role), ROLES)}")
        thinking, text, calls = _parts(message, f"{name}:{line}")
        if role != "assistant":
            tokens = count(thinking + text + calls) + _OVERHEAD
            added += tokens
            system += tokens if role in ("system", "developer") and not turns else 0
            continue
        thought, wrote = count(thinking), count(text + calls)
        if thought + wrote == 0:
            continue
        if turns and last_called and tool_s:
            turns[-1] = Turn(*_without_tool(turns[-1]), tool_s)
        turns.append(Turn(context + added + _OVERHEAD, added + _OVERHEAD, thought, wrote))
        if len(turns) > MOST_TURNS:
            raise InputError(f"{name}:{line}: over {MOST_TURNS} steps: expected one task")
        context += added + _OVERHEAD + thought + wrote
        added, last_called = 0, bool(calls)
    if not turns:
        raise InputError(f"{name}: no message of an assistant in it: nothing was decoded")
    given = f", {tool_s:g} s were given for each" if tool_s else ", so tools take no time here (--tool-seconds)"
    notes = [f"Tokens are counted by the package's tokenizer, an estimate; the messages carry no tool times{given}."]
    return AgentWorkload(name, f"{len(turns)} steps of a transcript", name, system, tuple(turns), tuple(notes))


def _without_tool(turn: Turn) -> tuple[int, int, int, int]:
    return turn.context_tokens, turn.new_tokens, turn.thinking_tokens, turn.output_tokens


def _parts(message: Mapping[str, Any], at: str) -> tuple[str, str, str]:
    """Thinking, text and tool calls of a message, each as text."""
    import json

    thinking = str(message.get("reasoning_content") or message.get("reasoning") or "")
    text, calls = "", ""
    content = message.get("content")
    if isinstance(content, str):
        text = content
    elif isinstance(content, list):
        for part in content:
            if isinstance(part, str):
                text += part
            elif not isinstance(part, Mapping):
                raise InputError(f"{at}: content holds {part!r:.30}: expected text or parts with a type")
            elif part.get("type") == "thinking":
                thinking += str(part.get("thinking", ""))
            elif part.get("type") == "tool_use":
                calls += json.dumps({"name": part.get("name"), "arguments": part.get("input")}, ensure_ascii=False)
            elif part.get("type") == "tool_result":
                inner = part.get("content", "")
                text += inner if isinstance(inner, str) else json.dumps(inner, ensure_ascii=False)
            else:
                text += str(part.get("text", ""))
    elif content is not None:
        raise InputError(f"{at}: content is {content!r:.30}: expected text, a list of parts, or null")
    given = message.get("tool_calls") or []
    if not isinstance(given, list):
        raise InputError(f"{at}: tool_calls is {given!r:.30}: expected a list of calls, or null")
    for call in given:
        function = call.get("function") if isinstance(call, Mapping) else None
        if not isinstance(function, Mapping):
            raise InputError(f"{at}: tool_calls holds {call!r:.40}: expected a function with name and arguments")
        passed = function.get("arguments", "")
        passed = passed if isinstance(passed, str) else json.dumps(passed, ensure_ascii=False)
        calls += json.dumps({"name": function.get("name")}, ensure_ascii=False) + passed
    return thinking, text, calls


def _bfcl(records: Sequence[tuple[int, Any]], name: str, tokenizer: str) -> AgentWorkload:
    """Function calls of the Berkeley leaderboard: each answer a step of its own, after its question if it is there."""
    import json

    count = _Counter(tokenizer)
    prompts: dict[str, int] = {}
    turns: list[Turn] = []
    missing = 0
    for line, record in records:
        if not isinstance(record, Mapping):
            raise InputError(f"{name}:{line}: expected a record with id and ground_truth or question")
        key = str(record.get("id", line))
        if "question" in record:
            asked = json.dumps([record["question"], record.get("function", [])], ensure_ascii=False)
            prompts[key] = count(asked)
    usual = sum(prompts.values()) // len(prompts) if prompts else 500
    for line, record in records:
        if "ground_truth" not in record:
            continue
        truth = record["ground_truth"]
        if not isinstance(truth, list):
            raise InputError(f"{name}:{line}: ground_truth is {truth!r:.30}: expected a list of calls")
        prompt = prompts.get(str(record.get("id", line)))
        missing += prompt is None
        wrote = count(json.dumps([_call(c) for c in truth], ensure_ascii=False))
        turns.append(Turn(prompt or usual, prompt or usual, 0, wrote))
    if not turns:
        raise InputError(f"{name}: holds questions but no ground_truth: nothing was decoded")
    notes = ["Each record is a step of its own with nothing cached."]
    if missing:
        notes.append(f"{missing} of {len(turns)} records have no question beside them: {usual} prompt tokens assumed.")
    return AgentWorkload(name, f"{len(turns)} function calls (BFCL)", name, 0, tuple(turns), tuple(notes))


def _call(call: Any) -> Any:
    """A call with the first of the accepted values of each argument."""
    if not isinstance(call, Mapping):
        return call
    return {
        function: {k: v[0] if isinstance(v, list) and v else v for k, v in arguments.items()}
        if isinstance(arguments, Mapping) else arguments
        for function, arguments in call.items()
    }  # fmt: skip
