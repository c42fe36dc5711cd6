"""Why fewer passes are not as much less time: one pass of a mixture of experts, taken apart by width."""

import clover_sim as cs

found = cs.price(model="clover-35b-a3b", gpu="h200", widths=(1, 4, 8, 16, 32, 64), contexts=(2048,))
for entry in found.passes:
    price = entry.price
    print(f"{entry.width:>3} positions: {price.expert_union:>5.1f} experts a layer, {price.latency_s * 1e3:>6.2f} ms")
