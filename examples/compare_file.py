"""How many passes would decoding this text have cost? Usage: python compare_file.py [FILE]"""

import sys

import clover_sim as cs

path = sys.argv[1] if len(sys.argv) > 1 else __file__
result = cs.compare(["ar", "speculative", "block-diffusion"], inputs=[path])
for row in result.rows:
    print(
        f"{row['strategy']:<16} {row['tokens']:>6} tokens {row['target_passes']:>6} passes "
        f"{row['speedup_time']:>5.2f}x in time  {row['locked_errors']} locked errors"
    )
