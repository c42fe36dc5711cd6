"""How the run of a log was set up: its start-up lines in the words of this package, each with its place."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import dataclass
from typing import Any, NamedTuple

from clover_sim.explain import _known
from clover_sim.logs import Configuration, Reading, Section, Statement


class Fact(NamedTuple):
    """A setting: our word for it, how the log has it, and where (``file:line``, or the format it was read from)."""

    value: Any
    stated: str
    where: str


@dataclass(frozen=True, slots=True)
class Setup:
    """What a log says of the run, ``None`` where it does not.

    Args:
        engine, model, gpu, precision, method: names of this package. drafter: a model of it where a model drafts, else
            as stated. tensor_parallel_size: cards.
        num_speculative_tokens: draft tokens a cycle on one path, the root not counted. tree_tokens, topk: of a tree,
            the tokens verified with the root, and its children a node. parallel_drafting: one pass gives all drafts.
        running_requests: mean number of requests decoded together.
        unknown: settings that are stated but not among the built-in ones, or stated twice, in words.
    """

    engine: Fact | None = None
    model: Fact | None = None
    gpu: Fact | None = None
    precision: Fact | None = None
    tensor_parallel_size: Fact | None = None
    method: Fact | None = None
    drafter: Fact | None = None
    num_speculative_tokens: Fact | None = None
    tree_tokens: Fact | None = None
    topk: Fact | None = None
    parallel_drafting: Fact | None = None
    running_requests: Fact | None = None
    unknown: tuple[str, ...] = ()

    def facts(self) -> list[tuple[str, Fact]]:
        """Those that are known, by name."""
        return [(name, fact) for name, fact in self.settings() if fact is not None]

    def settings(self) -> list[tuple[str, Fact | None]]:
        """All settings, by name."""
        return [(name, getattr(self, name)) for name in self.__slots__ if name != "unknown"]


def main_section(sections: Sequence[Section]) -> Section:
    """The section with drafts and the most cycles."""
    return max(enumerate(sections), key=lambda pair: (pair[1].speculative, pair[1].cycles or 0.0, -pair[0]))[1]


def setup_of(reading: Reading) -> Setup:
    """The set-up of the main section's engine; a client's report without an engine takes the only one there is."""
    section = main_section(reading.sections)
    stated = {c.engine: c for c in reading.configurations}
    engine = section.engine or (next(iter(stated)) if len(stated) == 1 else None)
    found = _Found(stated.get(engine or "", Configuration("", {})))
    settings: dict[str, Fact | None] = {}
    if engine is not None:
        settings["engine"] = Fact(engine, engine, place_of(section) if section.engine else _first(stated[engine]))
    if section.running_requests:
        running = section.running_requests
        settings["running_requests"] = Fact(running, f"{running:.1f}", place_of(section))
    drafter = found.one("drafter", str)
    topk = found.one("speculative_eagle_topk", int)
    settings["model"] = found.one("model", _known.model, "--model")
    settings["gpu"] = found.one("gpu", _known.accelerator, "--gpu")
    by_name = found.one("model", _known.precision)
    settings["precision"] = found.one("precision", _known.precision, "" if by_name else "--precision") or by_name
    settings["tensor_parallel_size"] = found.one("tensor_parallel_size", int)
    settings["parallel_drafting"] = found.one("parallel_drafting", int)
    settings["topk"] = topk
    owner, children = drafter.stated if drafter else None, topk.value if topk else None
    settings["method"] = found.one("method", lambda word: _known.method(word, owner, children), "--method")
    if section.method and (ours := _known.method(section.method, owner, children)):
        settings["method"] = settings["method"] or Fact(ours, section.method, place_of(section))
    if settings["method"] is None and drafter is not None:
        settings["method"] = _from_drafter(drafter)
    if drafter is not None:
        method = settings["method"]
        own = _known.model(drafter.stated) if method is not None and method.value == "draft-model" else None
        settings["drafter"] = drafter._replace(value=own or drafter.stated)
    settings.update(_lengths(found, settings["method"], children))
    return Setup(**settings, unknown=tuple(found.unknown))


def _lengths(found: _Found, method: Fact | None, children: int | None) -> dict[str, Fact | None]:
    """The draft length in one notation, and the size of a tree."""
    own, with_root = found.one("num_speculative_tokens", int), found.one("speculative_num_draft_tokens", int)
    steps = found.one("speculative_num_steps", int)
    if method is not None and method.value == "eagle-tree" and with_root is not None:
        return {"num_speculative_tokens": own or steps, "tree_tokens": with_root}
    if own is None and with_root is not None and with_root.value > 1:
        stated = f"speculative_num_draft_tokens={with_root.value}, which counts the root"
        return {"num_speculative_tokens": Fact(with_root.value - 1, stated, with_root.where)}
    return {"num_speculative_tokens": own or (steps if (children or 1) == 1 else None)}


def _from_drafter(drafter: Fact) -> Fact | None:
    """What a drafter's name gives away where the method is not stated, as in vLLM until 2025."""
    name = _known.last_part(drafter.stated).replace("-", "")
    for word in ("eagle3", "eagle", "dflash", "dspark", "mtp"):
        if word in name:
            return drafter._replace(value=_known.method(word))
    return drafter._replace(value="draft-model") if _known.model(drafter.stated) else None


class _Found:
    """Statements of one engine, turned into facts."""

    def __init__(self, configuration: Configuration) -> None:
        self._statements = configuration.statements
        self.unknown: list[str] = []

    def one(self, name: str, meaning: Callable[[Any], Any], flag: str = "") -> Fact | None:
        """The one thing that all statements mean; ``None``, and words about it, if there is none or several."""
        facts = [Fact(meaning(s.value), str(s.value), s.where) for s in self._statements.get(name, ())]
        known: dict[Any, Fact] = {fact.value: fact for fact in reversed(facts) if fact.value is not None}
        for fact in known.values():
            if len(known) == 1:
                return fact
        if facts and flag:
            listed = ", ".join(f"{fact.stated} ({fact.where})" for fact in facts[:3])
            what = name.replace("_", " ")
            self.unknown.append(
                f"the log states several of {what}: {listed}; say which one with {flag}"
                if known
                else f"{what} {listed} is not among the built-in ones; give {flag}"
            )
        return None


def place_of(section: Section) -> str:
    """The first and last line that a section was read from."""
    first, *rest = section.where or (section.format,)
    return f"{first} to {rest[0].rpartition(':')[2] if _same(first, rest[0]) else rest[0]}" if rest else first


def _same(first: str, last: str) -> bool:
    return first.rpartition(":")[0] == last.rpartition(":")[0]


def _first(configuration: Configuration) -> str:
    statements: list[Statement] = [s for several in configuration.statements.values() for s in several]
    return statements[0].where
