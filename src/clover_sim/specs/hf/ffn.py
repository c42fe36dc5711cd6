"""Feed-forward networks: dense, and mixtures of experts with routers, shared experts and latent projections."""

from __future__ import annotations

from clover_sim.specs.hf.parts import DENSE, ROUTED, ROUTER, SHARED, Block, Module, Routing


def mlp(
    hidden: int,
    width: int,
    *,
    gated: bool = True,
    bias: bool = False,
    part: str = DENSE,
    name: str = "mlp",
    extra: int = 0,
) -> Block:
    """A dense network: gate, up and down projection, or up and down only. extra: further vectors."""
    up, down = Module(f"{name}.up_proj", part, hidden * width, width * bias), hidden * bias + extra
    modules = [Module(f"{name}.gate_proj", part, hidden * width, width * bias)] if gated else []
    return Block((*modules, up, Module(f"{name}.down_proj", part, hidden * width, down)))


def moe(
    hidden: int,
    experts: int,
    per_token: int,
    width: int,
    *,
    gated: bool = True,
    expert_bias: bool = False,
    router_bias: bool = False,
    router_extra: int = 0,
    shared_width: int = 0,
    shared_gate: bool = False,
    shared_bias: bool = False,
    latent: int = 0,
    latent_bias: bool = False,
) -> Block:
    """Routed experts with their router, and what every token passes through besides.

    Args:
        width: width of one expert. gated: three matrices an expert, else two. expert_bias, router_bias: biases.
        router_extra: further parameters of the router. shared_width: width of the shared experts together.
        shared_gate: a gate over them, one vector. latent: width that experts act on (0: ``hidden``), with a
            projection down and one up, which count as shared since every token passes through them.
    """
    inner = latent or hidden
    matrices = 3 if gated else 2
    one = matrices * inner * width + expert_bias * ((matrices - 1) * width + inner)
    modules = [
        Module("mlp.gate", ROUTER, hidden * experts, experts * router_bias + router_extra),
        Module("mlp.experts", ROUTED, experts * matrices * inner * width, experts * (one - matrices * inner * width)),
    ]
    if shared_width:
        bias = shared_bias * ((matrices - 1) * shared_width + hidden)
        modules.append(Module("mlp.shared_experts", SHARED, matrices * hidden * shared_width, bias))
        if shared_gate:
            modules.append(Module("mlp.shared_expert_gate", SHARED, hidden))
    if latent:
        modules.append(Module("mlp.fc1_latent_proj", SHARED, hidden * latent, latent * latent_bias))
        modules.append(Module("mlp.fc2_latent_proj", SHARED, hidden * latent, hidden * latent_bias))
    return Block(tuple(modules), routing=Routing(experts, per_token, one))
