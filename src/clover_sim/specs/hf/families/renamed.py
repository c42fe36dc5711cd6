"""Standard decoders under names of their own: ChatGLM, which has the most, and the first Qwen."""

from __future__ import annotations

from clover_sim.specs.hf.fields import HEADS, Fields
from clover_sim.specs.hf.layers import layer_count
from clover_sim.specs.hf.parts import Plan
from clover_sim.specs.hf.standard import Style, standard


def _chatglm(f: Fields) -> Plan:
    """ChatGLM 2 and 3, GLM-4-9B as first published (modeling_chatglm.py beside the weights)."""
    heads = f.whole("num_attention_heads", high=HEADS)
    groups = f.whole("multi_query_group_num", high=HEADS) if f.flag("multi_query_attention") else heads
    linear = f.flag("add_bias_linear")
    known = {
        "num_hidden_layers": layer_count(f),
        "vocab_size": f.whole("padded_vocab_size"),
        "intermediate_size": f.whole("ffn_hidden_size"),
        "num_key_value_heads": groups,
    }
    f.table.update(known)
    return standard(f, Style(qkv_bias=linear or f.flag("add_qkv_bias"), out_bias=linear, mlp_bias=linear))


def _qwen(f: Fields) -> Plan:
    """The first Qwen: ``intermediate_size`` is both halves of the gated network together (modeling_qwen.py)."""
    width = f.whole("intermediate_size")
    if width % 2:
        raise f.wrong(f"{f.prefix}intermediate_size is {width}; expected an even number, gate and up together")
    f.table["intermediate_size"] = width // 2
    f.table.setdefault("num_key_value_heads", f.whole("num_attention_heads", high=HEADS))
    return standard(f, Style(qkv_bias=True))


BUILDERS = {"chatglm": _chatglm, "qwen": _qwen}
