"""Flags of the stream that would be set aside without a word, for every command that decodes."""

from __future__ import annotations

from argparse import Namespace

from clover_sim.errors import UsageError


def check_streams(args: Namespace) -> None:
    """Refuse ``--tokenizer`` without ``--input``, and beside it a ``--profile`` that only names another text.

    A profile with options stays (``code:lift=0.3``: the file is decoded with that lift), and so does one with a model
    of confidence of its own (``context``).
    """
    if not args.input:
        if "tokenizer" in getattr(args, "_given", ()):
            raise UsageError("--tokenizer says how --input is split: give --input FILE, or leave it out")
        return
    if args.profile is None:
        return
    from clover_sim.options import split_spec
    from clover_sim.streams.profiles import PROFILES

    name, options = split_spec(args.profile)
    usual = PROFILES["tool-call"].read  # what files are read by where nobody says how
    if name in PROFILES and (name == "reference" or (not options and PROFILES[name].read is usual)):
        raise UsageError(
            f"--profile {args.profile}: with --input the text is that of the file; leave it out, or say how sure the "
            "model is of it, as in --profile context or --profile tool-call:lift=0.3"
        )
