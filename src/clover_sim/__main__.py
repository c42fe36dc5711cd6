"""``python -m clover_sim``: the same as the command ``clover-sim``."""

import sys

from clover_sim.cli import main

if __name__ == "__main__":
    sys.exit(main())
