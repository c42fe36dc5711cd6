"""Documented defaults of the families H to Z: what a key is where a configuration leaves it out.

Source: the configuration classes of transformers 5.24 and, for models that bring their own code, the class beside their
weights. Only keys that bear on the counts. ``T`` and ``F`` are true and false.
"""

from __future__ import annotations

TABLE = """
helium: vocab_size=48000 intermediate_size=7040 num_attention_heads=20 num_key_value_heads=20 head_dim=128
  tie_word_embeddings=F attention_bias=F mlp_bias=F
hunyuan: tie_word_embeddings=F attention_bias=F
hunyuan_v1_dense: vocab_size=290943 intermediate_size=11008 num_attention_heads=32 tie_word_embeddings=F
  attention_bias=F
hunyuan_v1_moe: vocab_size=290943 intermediate_size=11008 num_attention_heads=32 tie_word_embeddings=F
  attention_bias=F num_experts=1 moe_topk=1
hy_v3: vocab_size=120832 intermediate_size=13312 num_attention_heads=64 num_key_value_heads=8 head_dim=128
  tie_word_embeddings=F attention_bias=F mlp_bias=F num_experts=192 num_experts_per_tok=8 num_shared_experts=1
  moe_intermediate_size=1536 first_k_dense_replace=1
internlm: vocab_size=103168 intermediate_size=11008 num_attention_heads=32 tie_word_embeddings=F bias=T
internlm2: vocab_size=103168 intermediate_size=11008 num_attention_heads=32 tie_word_embeddings=F bias=T
internlm3: vocab_size=128512 intermediate_size=10240 num_attention_heads=32 num_key_value_heads=2
  tie_word_embeddings=F attention_bias=F mlp_bias=F head_dim=128
jamba: vocab_size=65536 tie_word_embeddings=F intermediate_size=14336 num_attention_heads=32 num_key_value_heads=8
  num_experts_per_tok=2 num_experts=16 expert_layer_period=2 expert_layer_offset=1 attn_layer_period=8
  attn_layer_offset=4 mamba_d_state=16 mamba_d_conv=4 mamba_expand=2 mamba_conv_bias=T mamba_proj_bias=F
kimi_linear: vocab_size=163840 intermediate_size=9216 moe_intermediate_size=1024 num_attention_heads=32
  num_key_value_heads=32 n_shared_experts=1 kv_lora_rank=512 qk_rope_head_dim=64 v_head_dim=128 qk_nope_head_dim=128
  num_experts_per_tok=8 tie_word_embeddings=F attention_bias=F num_local_experts=256 linear_head_dim=128
  linear_num_heads=32 linear_conv_kernel_dim=4 first_k_dense_replace=1
laguna: vocab_size=100352 intermediate_size=8192 num_attention_heads=48 num_key_value_heads=8 tie_word_embeddings=F
  sliding_window=512 moe_intermediate_size=512 shared_expert_intermediate_size=512 num_experts_per_tok=8
  num_experts=256 head_dim=128 attention_bias=F gating=T moe_apply_router_weight_on_input=F
lfm2: vocab_size=65536 intermediate_size=12288 num_attention_heads=32 num_key_value_heads=8 tie_word_embeddings=T
  conv_bias=F conv_L_cache=3 block_multiple_of=256 block_auto_adjust_ff_dim=T
lfm2_moe: vocab_size=65536 intermediate_size=7168 moe_intermediate_size=1792 tie_word_embeddings=T
  num_attention_heads=32 num_key_value_heads=8 conv_bias=F conv_L_cache=3 num_dense_layers=2 num_experts_per_tok=4
  num_experts=32
llada: vocab_size=126464 num_attention_heads=32 mlp_ratio=4 tie_word_embeddings=F weight_tying=F
  layer_norm_with_affine=T bias_for_layer_norm=F include_bias=F include_qkv_bias=F multi_query_attention=F
  attention_layer_norm=F input_emb_norm=F attention_bias=F qk_layernorm=T num_experts_per_tok=8
llada2_moe: vocab_size=157184 num_attention_heads=16 num_key_value_heads=4 head_dim=128 tie_word_embeddings=F
  use_qkv_bias=F use_bias=F moe_intermediate_size=512 num_experts=256 num_experts_per_tok=8 num_shared_experts=1
  first_k_dense_replace=1
llada_moe: vocab_size=157184 num_attention_heads=16 tie_word_embeddings=F attention_bias=F qk_layernorm=T
  num_experts_per_tok=8 num_experts=64 weight_tying=F
llama: vocab_size=32000 intermediate_size=11008 num_attention_heads=32 tie_word_embeddings=F attention_bias=F
  mlp_bias=F
llama4_text: vocab_size=202048 intermediate_size=8192 intermediate_size_mlp=16384 num_attention_heads=40
  num_key_value_heads=8 head_dim=128 tie_word_embeddings=F num_experts_per_tok=1 num_local_experts=16
  interleave_moe_layer_step=1 use_qk_norm=T no_rope_layer_interval=4 attention_chunk_size=8192 attention_bias=F
mamba: vocab_size=50280 state_size=16 expand=2 conv_kernel=4 use_bias=F use_conv_bias=T tie_word_embeddings=T
mamba2: num_heads=128 head_dim=64 vocab_size=32768 state_size=128 expand=2 conv_kernel=4 n_groups=8 use_bias=F
  use_conv_bias=T tie_word_embeddings=F
mellum: vocab_size=98304 intermediate_size=7168 num_attention_heads=32 num_key_value_heads=4 tie_word_embeddings=F
  attention_bias=F sliding_window=1024 moe_intermediate_size=896 num_experts_per_tok=8 num_experts=64 head_dim=128
mimo: vocab_size=151680 intermediate_size=11008 num_attention_heads=32 num_key_value_heads=8 tie_word_embeddings=F
  attention_bias=T use_sliding_window=F sliding_window=4096 max_window_layers=28
mimo_v2_flash: vocab_size=152576 intermediate_size=16384 num_attention_heads=64 num_key_value_heads=4
  tie_word_embeddings=F attention_bias=F moe_intermediate_size=2048 num_experts_per_tok=8 n_routed_experts=256
  head_dim=192 v_head_dim=128 sliding_window=129
minicpm3: vocab_size=73448 intermediate_size=6400 num_attention_heads=40 num_key_value_heads=40 tie_word_embeddings=T
  attention_bias=F mlp_bias=F kv_lora_rank=256 q_lora_rank=768 qk_nope_head_dim=64 qk_rope_head_dim=32
minicpm: num_attention_heads=32 tie_word_embeddings=T attention_bias=F mlp_bias=F
minimax: vocab_size=32000 intermediate_size=14336 num_attention_heads=32 num_key_value_heads=8 tie_word_embeddings=F
  num_experts_per_tok=2 num_local_experts=8
minimax_m2: vocab_size=200064 intermediate_size=1536 num_attention_heads=48 num_key_value_heads=8 head_dim=128
  tie_word_embeddings=F num_experts_per_tok=8 num_local_experts=256
minimax_m3_vl_text: vocab_size=200064 intermediate_size=3072 num_attention_heads=64 num_key_value_heads=4 head_dim=128
  tie_word_embeddings=F num_experts_per_tok=4 num_local_experts=128 dense_intermediate_size=12288
  shared_intermediate_size=3072 index_n_heads=4 index_head_dim=128
minimax_text_01: vocab_size=200064 num_attention_heads=64 num_key_value_heads=8 head_dim=128 tie_word_embeddings=F
  num_local_experts=32 num_experts_per_tok=2
ministral: vocab_size=32000 intermediate_size=14336 num_attention_heads=32 num_key_value_heads=8 tie_word_embeddings=F
  sliding_window=4096
ministral3: vocab_size=131072 intermediate_size=14336 num_attention_heads=32 num_key_value_heads=8 head_dim=128
  tie_word_embeddings=F
mistral: vocab_size=32000 intermediate_size=14336 num_attention_heads=32 num_key_value_heads=8 tie_word_embeddings=F
  sliding_window=4096
mistral4: vocab_size=131072 intermediate_size=12288 moe_intermediate_size=2048 num_attention_heads=32
  num_key_value_heads=32 n_shared_experts=1 n_routed_experts=128 kv_lora_rank=256 q_lora_rank=1024 qk_rope_head_dim=64
  v_head_dim=128 qk_nope_head_dim=64 num_experts_per_tok=4 first_k_dense_replace=0 tie_word_embeddings=F
  attention_bias=F
mixtral: vocab_size=32000 intermediate_size=14336 num_attention_heads=32 num_key_value_heads=8 tie_word_embeddings=F
  num_experts_per_tok=2 num_local_experts=8
mpt: n_heads=16 expansion_ratio=4 vocab_size=50368 no_bias=T tie_word_embeddings=T
nemotron: vocab_size=256000 intermediate_size=24576 num_attention_heads=48 tie_word_embeddings=F attention_bias=F
  mlp_bias=F
nemotron-nas: vocab_size=128256 num_attention_heads=64 tie_word_embeddings=F attention_bias=F mlp_bias=F
nemotron_h: vocab_size=131072 tie_word_embeddings=F num_attention_heads=32 num_key_value_heads=8 head_dim=128
  attention_bias=F intermediate_size=21504 mlp_bias=F ssm_state_size=128 mamba_num_heads=128 mamba_head_dim=64
  n_groups=8 conv_kernel=4 expand=2 use_conv_bias=T mamba_proj_bias=F n_routed_experts=8 n_shared_experts=1
  moe_intermediate_size=7688 moe_shared_expert_intermediate_size=7688 num_experts_per_tok=2 use_bias=F
olmo: vocab_size=50304 intermediate_size=11008 num_attention_heads=32 tie_word_embeddings=F attention_bias=F
olmo2: vocab_size=50304 intermediate_size=11008 num_attention_heads=32 tie_word_embeddings=F attention_bias=F
olmo3: vocab_size=50304 intermediate_size=11008 num_attention_heads=32 tie_word_embeddings=F attention_bias=F
  sliding_window=4096
olmo_hybrid: vocab_size=100352 intermediate_size=11008 num_attention_heads=30 tie_word_embeddings=F attention_bias=F
  linear_conv_kernel_dim=4
olmoe: vocab_size=50304 intermediate_size=2048 num_attention_heads=16 tie_word_embeddings=F attention_bias=F
  num_experts_per_tok=8 num_experts=64
opt: vocab_size=50272 ffn_dim=3072 max_position_embeddings=2048 do_layer_norm_before=T _remove_final_layer_norm=F
  num_attention_heads=12 enable_bias=T layer_norm_elementwise_affine=T tie_word_embeddings=T
persimmon: vocab_size=262144 intermediate_size=16384 num_attention_heads=64 tie_word_embeddings=F qk_layernorm=T
orion: vocab_size=84608 intermediate_size=15360 num_attention_heads=40 tie_word_embeddings=F
pangu_embedded: tie_word_embeddings=F bias=T
pangu_pro_moe: tie_word_embeddings=F
phi: vocab_size=51200 intermediate_size=8192 num_attention_heads=32 tie_word_embeddings=F qk_layernorm=F
phi3: vocab_size=32064 intermediate_size=8192 num_attention_heads=32 tie_word_embeddings=F
phimoe: vocab_size=32064 intermediate_size=6400 num_attention_heads=32 num_key_value_heads=8 tie_word_embeddings=F
  num_experts_per_tok=2 num_local_experts=16 attention_bias=F lm_head_bias=F
qwen: vocab_size=151936 intermediate_size=22016 num_attention_heads=32 tie_word_embeddings=F
qwen2: vocab_size=151936 intermediate_size=22016 num_attention_heads=32 num_key_value_heads=32 tie_word_embeddings=F
  use_sliding_window=F sliding_window=4096 max_window_layers=28
qwen2_moe: vocab_size=151936 intermediate_size=5632 num_attention_heads=16 num_key_value_heads=16
  tie_word_embeddings=F use_sliding_window=F sliding_window=4096 max_window_layers=28 decoder_sparse_step=1
  moe_intermediate_size=1408 shared_expert_intermediate_size=5632 num_experts_per_tok=4 num_experts=60 qkv_bias=T
qwen3: vocab_size=151936 intermediate_size=22016 num_attention_heads=32 num_key_value_heads=32 head_dim=128
  tie_word_embeddings=F attention_bias=F use_sliding_window=F sliding_window=4096 max_window_layers=28
qwen3_5_moe_text: vocab_size=248320 num_attention_heads=16 num_key_value_heads=2 tie_word_embeddings=F
  attention_bias=F head_dim=256 linear_conv_kernel_dim=4 linear_key_head_dim=128 linear_value_head_dim=128
  linear_num_key_heads=16 linear_num_value_heads=32 moe_intermediate_size=512 shared_expert_intermediate_size=512
  num_experts_per_tok=8 num_experts=256
qwen3_5_text: vocab_size=248320 intermediate_size=12288 num_attention_heads=16 num_key_value_heads=4
  tie_word_embeddings=F attention_bias=F head_dim=256 linear_conv_kernel_dim=4 linear_key_head_dim=128
  linear_value_head_dim=128 linear_num_key_heads=16 linear_num_value_heads=32
qwen3_moe: vocab_size=151936 intermediate_size=6144 num_attention_heads=32 num_key_value_heads=4 tie_word_embeddings=F
  attention_bias=F use_sliding_window=F sliding_window=4096 decoder_sparse_step=1 moe_intermediate_size=768
  num_experts_per_tok=8 num_experts=128
qwen3_next: vocab_size=151936 intermediate_size=5632 num_attention_heads=16 num_key_value_heads=2
  tie_word_embeddings=F attention_bias=F head_dim=256 linear_conv_kernel_dim=4 linear_key_head_dim=128
  linear_value_head_dim=128 linear_num_key_heads=16 linear_num_value_heads=32 decoder_sparse_step=1
  moe_intermediate_size=512 shared_expert_intermediate_size=512 num_experts_per_tok=10 num_experts=512
qwen3_vl_moe_text: vocab_size=151936 intermediate_size=5632 num_attention_heads=16 num_key_value_heads=16
  tie_word_embeddings=T attention_bias=F decoder_sparse_step=1 moe_intermediate_size=1408 num_experts_per_tok=4
  num_experts=60
qwen3_vl_text: vocab_size=151936 intermediate_size=22016 num_attention_heads=32 num_key_value_heads=32 head_dim=128
  attention_bias=F
sdar: vocab_size=151936 intermediate_size=22016 num_attention_heads=32 num_key_value_heads=32 head_dim=128
  tie_word_embeddings=F attention_bias=F use_sliding_window=F sliding_window=4096 max_window_layers=28
sdar_moe: vocab_size=151936 intermediate_size=6144 num_attention_heads=32 num_key_value_heads=4 tie_word_embeddings=F
  attention_bias=F use_sliding_window=F sliding_window=4096 max_window_layers=28 decoder_sparse_step=1
  moe_intermediate_size=768 num_experts_per_tok=8 num_experts=128
seed_oss: vocab_size=155136 intermediate_size=27648 num_attention_heads=80 num_key_value_heads=8 tie_word_embeddings=F
  attention_bias=T attention_out_bias=F mlp_bias=F head_dim=128
smollm3: vocab_size=128256 intermediate_size=11008 num_attention_heads=16 num_key_value_heads=4 use_sliding_window=F
  no_rope_layer_interval=4 attention_bias=F mlp_bias=F tie_word_embeddings=T
solar_open: vocab_size=196608 num_attention_heads=64 num_key_value_heads=8 tie_word_embeddings=F attention_bias=F
  moe_intermediate_size=1280 num_experts_per_tok=8 n_shared_experts=1 n_routed_experts=128 head_dim=128
stablelm: vocab_size=50304 intermediate_size=6912 num_attention_heads=32 num_key_value_heads=32 tie_word_embeddings=F
  use_qkv_bias=F qk_layernorm=F use_parallel_residual=F
starcoder2: vocab_size=49152 intermediate_size=12288 num_attention_heads=24 num_key_value_heads=2 use_bias=T
  tie_word_embeddings=T
step3p5: vocab_size=128815 intermediate_size=11264 num_attention_heads=64 num_key_value_heads=8 head_dim=128
  tie_word_embeddings=F num_experts_per_tok=8 num_local_experts=128 moe_intermediate_size=1280 n_routed_experts=288
  share_expert_dim=1280 attention_bias=F mlp_bias=F
vaultgemma: vocab_size=256000 intermediate_size=9216 num_attention_heads=8 num_key_value_heads=4 head_dim=256
  tie_word_embeddings=T attention_bias=F sliding_window=4096
youtu: vocab_size=128256 intermediate_size=6144 num_attention_heads=16 num_key_value_heads=16 kv_lora_rank=512
  q_lora_rank=1536 qk_rope_head_dim=64 v_head_dim=128 qk_nope_head_dim=128 tie_word_embeddings=T attention_bias=F
"""
