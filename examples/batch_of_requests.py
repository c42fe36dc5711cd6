"""Many requests, one step at a time: what waiting for the slowest block costs."""

import clover_sim as cs

for policy in ("first-done-first-out", "lockstep"):
    batch = cs.Batch(policy)
    decoder = cs.build_strategy("block-diffusion:block_size=8")[1]
    for seed in range(8):
        batch.admit(decoder, cs.open_stream("tool-call", 256, seed=seed))
    steps = 0
    while batch.step() is not None:
        steps += 1
    totals = batch.ledger.audit()
    print(f"{policy:<22} {steps} steps for {totals.tokens} tokens, {totals.target_passes} request passes")
