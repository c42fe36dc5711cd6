"""``clover-sim list``: what can be named."""

from __future__ import annotations

from argparse import ArgumentParser, Namespace
from collections.abc import Callable
from typing import Any

from clover_sim.cli import _export
from clover_sim.cli._console import Console
from clover_sim.cli._parser import common_flags
from clover_sim.errors import UsageError, suggest
from clover_sim.report import Look, _flat

SUMMARY = "List what can be named: strategies, models, gpus, engines, profiles, workloads, tasks, columns."
EXAMPLES = """\
examples:
  clover-sim list gpus
  clover-sim list columns --format json
"""



def configure(parser: ArgumentParser) -> None:
    """Declare the flags of the command."""
    parser.usage = "clover-sim list TOPIC [OPTIONS]"
    parser.add_argument("topic", metavar="TOPIC", nargs="?", help=", ".join(TOPICS))
    common_flags(parser, _flat.FORMATS)


def run(args: Namespace, console: Console) -> int:
    """Look the names up and print them."""
    if args.topic is None:
        raise UsageError(f"say what to list: {', '.join(TOPICS)}")
    if args.topic not in TOPICS:
        raise UsageError(f"nothing to list under {args.topic!r}{suggest(args.topic, TOPICS)}")
    exports = _export.plan(args.export, _flat.FORMATS)
    items = TOPICS[args.topic]()

    def text(name: str, look: Look) -> str:
        document = {"schema": "clover-sim/list/1", "topic": args.topic, "items": items}
        return _flat.render(name, look, lambda: document, lambda: items, table)

    def table(look: Look) -> str:
        from clover_sim.report._listing import render_listing
        from clover_sim.report._text import wrap

        legend = "\n".join(wrap(f"- {LEGENDS[args.topic]}", look.width, "  ")) if args.topic in LEGENDS else ""
        return render_listing(items, look) + (f"\n{legend}\n" if legend else "")

    console.write(text(args.format, console.look()))
    _export.write_all(exports, text, console)
    return 0


def _strategies() -> list[dict[str, Any]]:
    from clover_sim.registry import strategy_names

    return [_strategy(name, summary) for name, summary in strategy_names()]


def _strategy(name: str, summary: str) -> dict[str, Any]:
    """The options with their defaults; a plug-in is not loaded just to be listed."""
    if summary.startswith("plug-in "):
        return {"name": name, "options": "", "summary": summary}
    from clover_sim.prepare import options_of
    from clover_sim.registry import build_strategy
    from clover_sim.report._figures import options_text, said_once

    decoder = build_strategy(name)[1]
    if summary.startswith(f"{type(decoder).__name__}("):  # without docstrings (-OO) a dataclass has its signature there
        summary = ""
    options = options_text(said_once(options_of(decoder)))
    return {"name": name, "options": options.replace(",", ", "), "summary": summary}


def _profiles() -> list[dict[str, Any]]:
    from clover_sim.streams.profiles import profile_names

    return [{"name": name, "summary": summary} for name, summary in profile_names()]


def _workloads() -> list[dict[str, Any]]:
    from clover_sim.streams.workloads import load_workload, workload_names

    loaded = [load_workload(name) for name in workload_names()]
    return [{"name": w.name, "text": w.text, "mu": w.confidence.mu, "sd": w.confidence.sd, "summary": w.summary}
            for w in loaded]  # fmt: skip


def _tasks() -> list[dict[str, Any]]:
    from clover_sim.agents.reading import preset_names

    return [{"name": name} for name in preset_names()]


def _models() -> list[dict[str, Any]]:
    from clover_sim.specs import list_models, load_model

    models = [load_model(name) for name in list_models()]
    return [
        {
            "name": m.name,
            "params_b": _billions(m.params),
            "active_b": _billions(m.active_params),
            "layers": m.layers,
            "experts": m.experts,
            "note": m.note,
        }
        for m in models
    ]


def _gpus() -> list[dict[str, Any]]:
    from clover_sim.specs import list_hardware, load_hardware

    cards = [load_hardware(name) for name in list_hardware()]
    return [
        {
            "name": h.name,
            "memory_gb": _billions(h.memory_bytes),
            "bandwidth_tb_s": _figure(h.bandwidth_bytes_per_s / 1e12),
            "bf16_tflop_s": None if h.bf16_flop_per_s is None else _figure(h.bf16_flop_per_s / 1e12),
            "title": h.title,
        }
        for h in cards
    ]


def _engines() -> list[dict[str, Any]]:
    from clover_sim.specs import list_engines, load_engine

    return [
        {
            "name": e.name,
            "title": e.title,
            "schedulers": ", ".join(f"{e.name}:{name}" for name, _ in e.schedulers),
            "note": e.note,
        }
        for e in map(load_engine, list_engines())
    ]


def _columns() -> list[dict[str, Any]]:
    from clover_sim.columns import COLUMNS

    return [{"name": c.key, "unit": c.unit, "better": c.better, "meaning": c.meaning} for c in COLUMNS]


def _billions(value: float) -> float:
    return _figure(value / 1e9)


def _figure(value: float) -> float:
    """Four significant digits are enough for a list; a whole number stays one."""
    return float(f"{value:.4g}")


LEGENDS = {
    "strategies": "num_speculative_tokens=K may be written speculative_num_draft_tokens=K+1, as SGLang does, which "
    "counts the root.",
    "models": "params_b, active_b: billions of parameters, and of those that a token uses.",
    "gpus": "memory in GB, bandwidth in TB/s, bf16 arithmetic in TFLOP/s without sparsity, of one card.",
    "engines": "--engine takes a name, or ENGINE:SCHEDULER where an engine has had several; the name alone stands "
    "between them.",
    "workloads": "a model on a kind of text, as --profile context:workload=NAME takes it. mu, sd: mean and spread of "
    "how sure it gets (docs/reference/confidence-model.md).",
    "columns": "all are in json and csv; --columns of compare chooses those of the table.",
}
"""What the columns of a topic mean, where their names do not say it."""

TOPICS: dict[str, Callable[[], list[dict[str, Any]]]] = {
    "strategies": _strategies,
    "models": _models,
    "gpus": _gpus,
    "engines": _engines,
    "profiles": _profiles,
    "workloads": _workloads,
    "tasks": _tasks,
    "columns": _columns,
}
