"""``clover-sim validate``: predicted against measured speeds, and how far off the predictions are."""

from __future__ import annotations

from argparse import ArgumentParser, Namespace
from typing import Any

from clover_sim.cli import _export
from clover_sim.cli._console import Console
from clover_sim.cli._parser import choice, common_flags
from clover_sim.errors import UsageError
from clover_sim.report import _flat

SUMMARY = "Predict published decoding speeds and show the errors."
EXAMPLES = """\
examples:
  clover-sim validate
  clover-sim validate --rows distinct
  clover-sim validate --measurements my-rows.json --format json
  clover-sim validate --measurements kernels --leave-out model
  clover-sim validate --claims
  clover-sim validate --claims clover-h200
"""


def configure(parser: ArgumentParser) -> None:
    """Declare the flags of the command."""
    add = parser.add_argument_group("measurements").add_argument
    add("--measurements", metavar="FILE|NAME",
        help="rows of your own, or a built-in table: published (default), serving, kernels, prompts, "
        "speculative")  # fmt: skip
    add("--leave-out", metavar="WHAT", type=choice("source", "model", "hardware", "pair"),
        help="fit the constants again without each source, model, hardware or pair of the two, in turn")  # fmt: skip
    add("--rows", metavar="WHICH", default="worst", type=choice("worst", "distinct", "all", "none"),
        help="rows of the table: worst (default), distinct, all or none; other formats have them all")  # fmt: skip
    parser.add_argument_group("claims").add_argument("--claims", metavar="NAME", nargs="?", const=True,
        help="instead: a verdict on each published claim; with a name that claim whole: what it implies and what is "
        "simulated")  # fmt: skip
    add = parser.add_argument_group("diffusion").add_argument
    add("--diffusion", action="store_true", help="instead: the confidence model against published figures")
    add("--trace", metavar="FILE", action="append", default=[],
        help="with --diffusion: fit the first trace and predict the others")  # fmt: skip
    common_flags(parser, _flat.FORMATS)


def run(args: Namespace, console: Console) -> int:
    """Predict, print, export."""
    exports = _export.plan(args.export, _flat.FORMATS)
    if args.claims is not None:
        return _claims(args, exports, console)
    if args.diffusion:
        return _diffusion(args, exports, console)
    if args.trace:
        raise UsageError("--trace goes with --diffusion")
    from clover_sim.validate import validate

    found = validate(args.measurements)
    left_out: dict[str, Any] | None = None
    if args.leave_out:
        from clover_sim.validate.refit import leave_out

        with console.progress("fits") as progress:
            left_out = leave_out(found.results, args.leave_out, progress)

    def text(name: str, look: Any) -> str:
        from clover_sim.report._validate import render_validation, validation_rows

        document = found.to_dict() | ({} if left_out is None else {"leave_out": left_out})
        return _flat.render(
            name, look, lambda: document, lambda: validation_rows(document),
            lambda look: render_validation(document, args.rows, left_out, look),
        )  # fmt: skip

    console.write(text(args.format, console.look()))
    _export.write_all(exports, text, console)
    return 0


def _diffusion(args: Namespace, exports: list[Any], console: Console) -> int:
    """The confidence model against what was published and recorded."""
    if args.measurements or args.leave_out or "rows" in getattr(args, "_given", ()):
        raise UsageError("--diffusion has figures of its own: leave out --measurements, --leave-out and --rows")
    from clover_sim.diffusion_checks import check_diffusion

    rows = [checked.to_dict() for checked in check_diffusion(args.trace)]
    from clover_sim.diffusion_speed import check_batches, check_speeds, clover_claim

    speeds, claim = [*check_speeds(), *check_batches()], clover_claim()

    def text(name: str, look: Any) -> str:
        fields = ("name", "published", "model", "error", "source")
        document = {
            "schema": "clover-sim/diffusion-checks/1", "rows": rows,
            "speeds": [{k: getattr(s, k) for k in fields} for s in speeds], "clover": claim._asdict(),
        }  # fmt: skip
        return _flat.render(name, look, lambda: document, lambda: rows, table)

    def table(look: Any) -> str:
        from clover_sim.report._listing import render_listing
        from clover_sim.report._text import wrap

        shown = ("workload", "setting", "quantity", "published", "model", "error", "bar")
        told = [{"": "fitted" if r["fitted"] else "predicted", **{k: r[k] for k in shown}} for r in rows]
        tables = [
            render_listing(told, look),
            render_listing([{
                "tokens per s": s.name, "published": s.published, "model": s.model, "error": s.error,
            } for s in speeds], look),
        ]  # fmt: skip
        width = look.width
        legend = [
            "fitted: the workload's own figures (mu, sd) were fitted to this one; predicted: they were not.",
            "error: of tokens per pass the ratio less one; of accuracy in points; of canvas passes in passes. bar: the "
            "largest error that counts as agreement, in the same unit.",
            "tokens per s: at the published tokens a pass and batch, error as a ratio less one.",
        ]
        told_lines = [line for one in legend for line in wrap(f"- {one}", width, "  ")]
        left = ", ".join(f"{gpu} {error:+.1%}" for gpu, error in claim.errors.items())
        said = (
            f"Clover's two published speeds fit {claim.tokens_per_pass:.2f} tokens a pass, K/V writes counted "
            f"({claim.precision}, {claim.engine}, {claim.expert_union:.0f} experts a layer): {left}. "
            f"{claim.int4_on_16_gb}"
        )
        lines = wrap(f"- {said}", width, "  ")
        return "\n".join([*tables, *told_lines, *lines]) + "\n"

    console.write(text(args.format, console.look()))
    _export.write_all(exports, text, console)
    return 0


def _claims(args: Namespace, exports: list[Any], console: Console) -> int:
    """The verdicts on the published claims."""
    if args.measurements or args.leave_out or args.diffusion or args.trace or "rows" in getattr(args, "_given", ()):
        raise UsageError("--claims has figures of its own: leave out --measurements, --leave-out, --rows, --diffusion")
    from clover_sim.claims import check_claims

    with console.progress("claims") as progress:
        found = check_claims(progress, None if args.claims is True else args.claims)

    def text(name: str, look: Any) -> str:
        from clover_sim.report._claims import claim_rows, render_claims

        return _flat.render(
            name, look, lambda: found, lambda: claim_rows(found), lambda look: render_claims(found, look)
        )

    console.write(text(args.format, console.look()))
    _export.write_all(exports, text, console)
    return 0
