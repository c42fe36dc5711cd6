"""The kinds of synthetic text, each written by a grammar: the one list of them."""

from __future__ import annotations

from typing import NamedTuple


class Grammar(NamedTuple):
    """A kind of text: what it is, the module below ``clover_sim.streams`` whose ``record`` writes it, its language."""

    summary: str
    module: str
    language: str


GRAMMARS = {
    "tool-call": Grammar("JSON tool calls from a grammar, one a line", "grammar_tools", "jsonl"),
    "code": Grammar("Python functions from a grammar", "grammar_code", "python"),
    "chat": Grammar("English prose from a grammar", "grammar_chat", "prose"),
    "math": Grammar("worked arithmetic from a grammar", "grammar_math", "prose"),
}
"""Each is a profile, and a text that workloads can be shown on."""
