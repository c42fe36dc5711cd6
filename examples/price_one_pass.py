"""Why fewer passes are not as much less time: one pass of a mixture of experts, taken apart by width."""

import clover_sim as cs

machine = cs.Machine(cs.load_model("clover-35b-a3b"), cs.load_hardware("h200"), cs.load_engine("sglang"))
model = cs.cost_model("roofline", machine)
for width in (1, 4, 8, 16, 32, 64):
    kind = cs.Kind.DENOISE if width > 1 else cs.Kind.DECODE
    price = model.price(cs.PassShape(kind, (width,), context_tokens=2048))
    print(f"{width:>3} positions: {price.expert_union:>5.1f} experts a layer, {price.latency_s * 1e3:>6.2f} ms")
