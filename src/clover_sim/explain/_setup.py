"""How the run of a log was set up: its start-up lines in the words of this package, each with its place."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import dataclass, replace
from typing import Any, NamedTuple

from clover_sim.errors import UsageError
from clover_sim.explain import _known
from clover_sim.logs import Configuration, Reading, Section, Statement
from clover_sim.specs import list_engines
from clover_sim.speculation import HEADS, METHODS
from clover_sim.speculation.methods import SERIAL, TREE

TREE_METHOD = "eagle-tree"


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
        running_requests: mean number of requests decoded together. eager: 1 if it captures no graphs.
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
    eager: Fact | None = None
    unknown: tuple[str, ...] = ()

    @property
    def priced_drafter(self) -> str | None:
        """The model or head to price drafts with, where it is not the method's own."""
        if self.method is None or self.drafter is None:
            return None
        value = str(self.drafter.value)
        named = value in HEADS or _known.model(value) is not None
        return value if self.method.value == "draft-model" or (self.method.value == TREE_METHOD and named) else None

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
        where = place_of(section) if section.engine else _first(stated[engine])
        if engine in list_engines():
            settings["engine"] = Fact(engine, engine, where)
        else:
            found.unknown.append(f"engine {engine} ({where}) is not among the built-in ones; give --engine")
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
    if (children or 1) > 1:
        _as_tree(settings)
    settings["eager"] = found.one("eager", int)
    settings.update(_lengths(found, settings["method"], children))
    return Setup(**settings, unknown=tuple(found.unknown))


def with_tree(setup: Setup, levels: int, topk: int, k: int | None) -> Setup:
    """With a tree of ``k`` nodes as it was given.

    Raises:
        UsageError: nobody says how many tokens it has, it has too few, or the log states another.
    """
    if k is None:
        raise UsageError("--speculative-num-steps: the log does not count the tokens of the tree; give "
                         "--speculative-num-draft-tokens too")  # fmt: skip
    if topk < 2 or levels > k:
        raise UsageError(
            f"--speculative-num-steps {levels}, --speculative-eagle-topk {topk}: a tree has at least 2 children a node "
            f"and as many tokens as levels; the log's has {k} beside the root"
        )
    if setup.topk is not None and setup.tree_tokens is not None and setup.num_speculative_tokens is not None:
        stated = setup.num_speculative_tokens.value, setup.topk.value
        if stated != (levels, topk):
            raise UsageError(
                f"--speculative-num-steps {levels}, --speculative-eagle-topk {topk}: the log states {stated[0]} and "
                f"{stated[1]} ({setup.topk.where})"
            )
    settings: dict[str, Fact | None] = {"method": setup.method, "drafter": setup.drafter}
    _as_tree(settings)
    return replace(
        setup, num_speculative_tokens=Fact(levels, str(levels), "as given"), topk=Fact(topk, str(topk), "as given"),
        tree_tokens=Fact(k + 1, str(k + 1), "as given"), method=settings["method"], drafter=settings["drafter"],
    )  # fmt: skip


def _as_tree(settings: dict[str, Fact | None]) -> None:
    """A method that drafts one token a pass, told to keep several children a node, drafts a tree with its own head."""
    method, drafter = settings["method"], settings.get("drafter")
    if method is None or METHODS[method.value].how != SERIAL:
        return
    head = METHODS[method.value].drafter or (drafter.value if drafter is not None else None)
    if head is not None:
        settings["method"] = method._replace(value=TREE_METHOD)
        settings["drafter"] = (drafter or method)._replace(value=head)


def _lengths(found: _Found, method: Fact | None, children: int | None) -> dict[str, Fact | None]:
    """The draft length in one notation, and the size of a tree."""
    own, with_root = found.one("num_speculative_tokens", int), found.one("speculative_num_draft_tokens", int)
    steps = found.one("speculative_num_steps", int)
    known = METHODS[method.value].how if method is not None else TREE
    if known == TREE and (children or 1) > 1 and with_root is not None:
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
