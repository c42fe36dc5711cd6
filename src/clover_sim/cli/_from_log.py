"""What ``speculate --from-log`` takes: set-up, acceptance and load; and how long the log's cycles really were."""

from __future__ import annotations

from argparse import Namespace
from dataclasses import replace
from typing import Any, NamedTuple

from clover_sim.errors import CloverError, UsageError

Taken = list[tuple[str, Any, str]]


def read(args: Namespace) -> tuple[Any, Taken, Namespace]:
    """The drafts of the log; of what it states that no flag says, name, value and place; and the run that it is of.

    What it states is set as flags in ``args``. The run has what the log states where flags say something else.
    """
    import sys

    from clover_sim.explain import drafts_of

    with_root = args.speculative_num_draft_tokens
    given = args.num_speculative_tokens or (with_root - 1 if with_root is not None and with_root > 1 else None)
    drafts = drafts_of(args.from_log, given, args.batch_size, sys.stdin)
    setup = drafts.setup
    ran = _run_of(args, setup)
    taken: Taken = [("acceptance", round(drafts.acceptance.length, 3), drafts.where)]

    def take(flag: str, fact: Any, value: Any = None) -> None:
        if fact is not None and getattr(args, flag) is None:
            setattr(args, flag, fact.value if value is None else value)
            taken.append((f"--{flag.replace('_', '-')}", getattr(args, flag), fact.where))

    if args.model is None and not _bare_model(args):
        take("precision", setup.precision if setup.model else None)
        take("model", setup.model)
    if args.gpu_bandwidth_tb_s is None:
        take("gpu", setup.gpu)
    if args.calibration is None:
        take("engine", setup.engine)
        if args.engine is None:
            taken += [("not taken", words.split()[1], words) for words in setup.unknown if words.startswith("engine ")]
    take("tensor_parallel_size", setup.tensor_parallel_size)
    if args.method is None and args.drafter is None:
        take("method", setup.method)
    if args.method is None:
        taken.append(("--method", "eagle3", "assumed: the log does not say how it drafts"))
    if setup.priced_drafter is not None and setup.method is not None and args.method == setup.method.value:
        take("drafter", setup.drafter, setup.priced_drafter)
    if args.method == "eagle-tree" and args.num_speculative_tokens is None:
        tree = drafts.acceptance.tree
        take("speculative_num_steps", setup.num_speculative_tokens, tree.levels if tree else None)
        take("speculative_eagle_topk", setup.topk)
        if args.speculative_eagle_topk == 1 and args.speculative_num_steps is not None:
            args.speculative_num_draft_tokens = args.speculative_num_draft_tokens or args.speculative_num_steps + 1
        take("speculative_num_draft_tokens", setup.tree_tokens)
    elif args.num_speculative_tokens is None and args.speculative_num_draft_tokens is None:
        tree = drafts.acceptance.tree
        taken.append(("--num-speculative-tokens", tree.levels if tree else drafts.acceptance.k, drafts.where))
    if setup.running_requests is not None:
        take("batch_size", setup.running_requests, max(1, round(setup.running_requests.value)))
    for name in ("method", "drafter"):
        if getattr(ran, name) is None:
            setattr(ran, name, getattr(args, name))
    return drafts, taken, ran


def _bare_model(args: Namespace) -> bool:
    return args.params_b is not None or getattr(args, "weight_gb", None) is not None


def _run_of(args: Namespace, setup: Any) -> Namespace:
    """The machine flags of the run that the log is of: as it states them, else as given."""
    from clover_sim.explain import same_card

    ran = Namespace(**vars(args))
    if args.log_gpu is not None:
        if setup.gpu is not None and not same_card(args.log_gpu, setup.gpu.value):
            raise UsageError(f"--log-gpu {args.log_gpu}: the log states {setup.gpu.stated} ({setup.gpu.where})")
        ran.gpu, ran.gpu_bandwidth_tb_s = args.log_gpu, None
    elif setup.gpu is not None and not (args.gpu is not None and same_card(args.gpu, setup.gpu.value)):
        ran.gpu, ran.gpu_bandwidth_tb_s = setup.gpu.value, None
    if setup.model is not None and args.model != setup.model.value:
        ran.model, ran.params_b, ran.active_b, ran.weight_gb = setup.model.value, None, None, None
        ran.precision = setup.precision.value if setup.precision else None
    for name in ("engine", "tensor_parallel_size", "method"):
        fact = getattr(setup, name)
        if fact is not None and not (name == "engine" and args.calibration is not None):
            setattr(ran, name, fact.value)
    if setup.priced_drafter is not None:
        ran.drafter = setup.priced_drafter
    return ran


class Carried(NamedTuple):
    """What was measured with what the log adds, what is said of it, and why the times of the log are not in it."""

    measured: Any
    rows: Taken
    unused: str = ""


def carry_over(
    args: Namespace, ran: Namespace, drafts: Any, machine: Any, shape: Any, measured: Any, machine_of: Any
) -> Carried:  # fmt: skip
    """What the log measured of a cycle and of plain decoding, for another question.

    Args:
        machine, shape, measured: what is asked about. machine_of: from flags to a machine.
    """
    time_s, plain = drafts.cycle_time_s, drafts.plain_tokens_per_s
    if time_s is None and plain[0] is None and args.baseline is None:
        return Carried(measured, [], drafts.unheld)

    def without(why: str) -> Carried:
        rows = _timed(time_s, f"not used: {why}") or [("plain decoding", plain[0] or args.baseline, f"not used: {why}")]
        return Carried(measured, rows, why)

    named = (ran.model is not None or _bare_model(ran)), (ran.gpu is not None or ran.gpu_bandwidth_tb_s is not None)
    if not all(named):
        missing = " and ".join(flag for flag, known in zip(("--model", "--gpu"), named, strict=True) if not known)
        return without(f"give {missing} of the machine that it ran on")
    log_machine = machine_of(ran)
    same = replace(log_machine, drafter=None) == replace(machine, drafter=None)
    batch = drafts.batch_size
    here = same and args.baseline and args.batch_size == batch
    given = (args.baseline, "the plain speed given") if here else (None, "")
    of_log = measured if same else replace(measured, plain_step_s=None, width_s=None)
    try:
        held = drafts.held_against(
            log_machine, _shape_of_log(ran, drafts, shape), args.prompt_tokens, of_log, given
        )
    except CloverError as error:
        return without(str(error))
    if held is None:
        return without("the log does not say how many tokens it wrote for it")
    where = f"{log_machine.model.name} on {log_machine.hardware.name} at {batch}"
    if held.refused:
        return without(f"{held.refused}; say where it ran with --log-gpu")
    if not held.possible:
        return without(_impossible(args, drafts, held, where))
    guessed = args.log_gpu is None and drafts.setup.gpu is None and ran.gpu
    card = f"; {ran.gpu} is taken for the card it ran on, --log-gpu says another" if guessed else ""
    what = f"{held.factor:.2f} times its price for {where}, here as well{card}; {drafts.where}"
    rows = _timed(time_s, what) or [("cycle", f"{held.compared.cost_ratio:.2f}", f"plain steps, {what}")]
    if same and measured.plain_step_s is None and not measured.width_s and held.measured.plain_step_s is not None:
        measured = replace(measured, plain_step_s=held.measured.plain_step_s, batch_size=batch)
        rows.append(("plain decoding", round(plain[0], 1), f"tokens/s, {plain[1]}"))
    if same and measured.draft_cost_ratio is None and shape.draft_widths:
        measured = replace(measured, draft_cost_ratio=held.measured.draft_cost_ratio)
    return Carried(replace(measured, cycle_factor=held.factor), rows)


def _impossible(args: Namespace, drafts: Any, held: Any, where: str) -> str:
    """Why a cycle that is shorter than a plain step is not used."""
    if not held.compared.measured:
        return (
            f"shorter than a plain step of {where}, {held.priced.plain_s * 1e3:.2f} ms, so it ran elsewhere; say where "
            "with --log-gpu"
        )
    beyond = f"the log is {held.compared.speedup:.2f} times as fast, more than its tokens a cycle allow"
    if args.baseline is not None:
        raise UsageError(
            f"--baseline {args.baseline:g}: {beyond}: it is the speed of all {drafts.batch_size} requests together, on "
            "the machine of the log"
        )
    return f"beside {held.compared.against} {beyond}"


def _timed(time_s: float | None, what: str) -> Taken:
    return [] if time_s is None else [("cycle time", round(time_s * 1e3, 2), f"ms; {what}")]


def _shape_of_log(ran: Namespace, drafts: Any, shape: Any) -> Any:
    """The cycle that the log is of: its own method and draft length."""
    from clover_sim.speculation import METHODS, method_name, shape_of

    method = method_name(ran.method or "eagle3")
    if METHODS[method].how == "tree":
        tree = drafts.acceptance.tree
        if tree is None:
            return shape
        return shape_of(method, tree.levels, drafter=ran.drafter, topk=tree.topk, budget=tree.budget)
    parallel = drafts.setup.parallel_drafting
    drafter = ran.drafter if METHODS[method].drafter is None else None
    return shape_of(method, drafts.acceptance.k, drafter=drafter, parallel=bool(parallel and parallel.value))
