"""Ratios that matter, measured in one run: python benchmarks/run.py [--quick] [--markdown FILE] [PART...]

Absolute times depend on the machine; ratios against something measured beside them do not, much. Nothing here is a
test: a slow day on a shared machine must not fail a build.
"""

from __future__ import annotations

import argparse
import os
import platform
from importlib import import_module
from pathlib import Path

from measure import Figure

PARTS = {
    "startup": "Start-up, whole processes beside bare Python",
    "decoding": "Counting passes",
    "growth": "Growth, memory, serving, sweeping",
}

HEAD = """# Performance

What `python benchmarks/run.py --markdown docs/performance.md` printed, as it came out; nothing here is typed by hand.
Ratios are between things measured in turns in the same run. Figures without a bar are for orientation.

{measured}
"""


def main() -> None:
    """Print the table, and write it as Markdown where that is asked for."""
    parser = argparse.ArgumentParser(description="Measure the ratios that clover-sim promises.")
    parser.add_argument("parts", nargs="*", metavar="PART", help=f"some of {', '.join(PARTS)}; default: all")
    parser.add_argument("--quick", action="store_true", help="smaller sizes, for a look")
    parser.add_argument("--markdown", metavar="FILE", help="write the tables there, too")
    args = parser.parse_args()
    unknown = [part for part in args.parts if part not in PARTS]
    if unknown:
        parser.error(f"unknown part {unknown[0]!r}; expected some of {', '.join(PARTS)}")
    python = f"{platform.python_implementation()} {platform.python_version()}"
    measured = f"Measured with {python} on {platform.system()} {platform.machine()}, {os.cpu_count()} cores."
    written = [HEAD.format(measured=measured)]
    print(measured)
    for part in args.parts or PARTS:
        print(f"\n{PARTS[part]}")
        written += [f"## {PARTS[part]}", "", "| what | measured | bar | met |", "|---|---|---|---|"]
        for figure in import_module(part).figures(args.quick):
            print(text(figure), flush=True)
            met = "" if figure.met is None else "yes" if figure.met else "**no**"
            written.append(f"| {figure.what.strip()} | {figure.figure} | {figure.bar} | {met} |")
        written.append("")
    if args.markdown:
        Path(args.markdown).write_text("\n".join(written), encoding="utf-8")


def text(figure: Figure) -> str:
    """One line of the table."""
    return f"{figure.what:<70} {figure.figure:>18}   {figure.bar}{'' if figure.met is not False else '  NOT MET'}"


if __name__ == "__main__":
    main()
