"""Documented defaults of the families A to G: what a key is where a configuration leaves it out.

Source: the configuration classes of transformers 5.24 and, for models that bring their own code, the class beside their
weights. Only keys that bear on the counts. ``T`` and ``F`` are true and false.
"""

from __future__ import annotations

TABLE = """
afmoe: vocab_size=200192 intermediate_size=6144 moe_intermediate_size=1408 num_dense_layers=1 num_attention_heads=16
  head_dim=128 tie_word_embeddings=F num_experts=64 num_experts_per_tok=6 num_shared_experts=2
  global_attn_every_n_layers=4 sliding_window=1024 attention_bias=F
apertus: vocab_size=131072 intermediate_size=14336 num_attention_heads=32 tie_word_embeddings=F attention_bias=F
arcee: vocab_size=32000 intermediate_size=18432 num_attention_heads=32 tie_word_embeddings=F attention_bias=F
  mlp_bias=F
axk1: vocab_size=163840 intermediate_size=18432 moe_intermediate_size=2048 num_attention_heads=64
  num_key_value_heads=64 n_shared_experts=1 n_routed_experts=192 kv_lora_rank=512 q_lora_rank=1536 qk_rope_head_dim=64
  v_head_dim=128 qk_nope_head_dim=128 num_experts_per_tok=8 tie_word_embeddings=F attention_bias=F
  first_k_dense_replace=1
baichuan: vocab_size=64000 intermediate_size=11008 num_attention_heads=32 tie_word_embeddings=F
bailing_hybrid: vocab_size=157184 intermediate_size=6144 moe_intermediate_size=768 num_attention_heads=32
  num_key_value_heads=32 n_shared_experts=1 kv_lora_rank=512 qk_rope_head_dim=64 v_head_dim=128 qk_nope_head_dim=128
  num_experts_per_tok=8 first_k_dense_replace=2 tie_word_embeddings=F attention_bias=F num_local_experts=512
  head_dim=128 short_conv_kernel_size=4 layer_group_size=6
bailing_moe: vocab_size=126464 num_attention_heads=16 num_key_value_heads=4 tie_word_embeddings=F use_qkv_bias=F
  use_bias=F num_experts_per_tok=6 num_shared_experts=2 first_k_dense_replace=0
bailing_moe_v2: vocab_size=157184 num_attention_heads=16 num_key_value_heads=4 head_dim=128 tie_word_embeddings=F
  use_qkv_bias=F use_bias=F num_experts=256 num_experts_per_tok=8 num_shared_experts=1 first_k_dense_replace=1
bamba: vocab_size=128000 tie_word_embeddings=F intermediate_size=14336 num_attention_heads=32 num_key_value_heads=8
  mamba_n_heads=128 mamba_n_groups=1 mamba_d_state=256 mamba_d_conv=4 mamba_expand=2 mamba_conv_bias=T
  mamba_proj_bias=F attention_bias=F mlp_bias=F
bloom: vocab_size=250880 n_head=8 tie_word_embeddings=T
chatglm: padded_vocab_size=65024 num_attention_heads=32 tie_word_embeddings=F multi_query_attention=F
  multi_query_group_num=1 add_bias_linear=T add_qkv_bias=F
codegen: vocab_size=50400 n_positions=2048 n_head=16 tie_word_embeddings=F
cohere: vocab_size=256000 intermediate_size=22528 num_attention_heads=64 tie_word_embeddings=T attention_bias=F
  use_qk_norm=F
cohere2: vocab_size=256000 intermediate_size=22528 num_attention_heads=64 tie_word_embeddings=T attention_bias=F
  sliding_window=4096
cwm: vocab_size=128256 intermediate_size=21504 num_attention_heads=48 num_key_value_heads=8 tie_word_embeddings=F
  mlp_bias=F head_dim=128 sliding_window=8192
dbrx: n_heads=16 vocab_size=32000 tie_word_embeddings=F
deepseek: vocab_size=102400 intermediate_size=11008 num_attention_heads=32 tie_word_embeddings=F attention_bias=F
  first_k_dense_replace=0
deepseek_v2: vocab_size=102400 intermediate_size=11008 num_attention_heads=32 tie_word_embeddings=F attention_bias=F
  mlp_bias=F first_k_dense_replace=0 kv_lora_rank=512 q_lora_rank=1536 n_routed_experts=64 n_shared_experts=2
  qk_nope_head_dim=128 qk_rope_head_dim=64 v_head_dim=128 moe_intermediate_size=1407
deepseek_v3: vocab_size=129280 intermediate_size=18432 moe_intermediate_size=2048 num_attention_heads=128
  num_key_value_heads=128 n_shared_experts=1 n_routed_experts=256 kv_lora_rank=512 q_lora_rank=1536
  qk_rope_head_dim=64 v_head_dim=128 qk_nope_head_dim=128 num_experts_per_tok=8 first_k_dense_replace=3
  tie_word_embeddings=F attention_bias=F
deepseek_v32: vocab_size=129280 intermediate_size=18432 moe_intermediate_size=2048 num_attention_heads=128
  num_key_value_heads=128 n_shared_experts=1 n_routed_experts=256 kv_lora_rank=512 q_lora_rank=1536
  qk_rope_head_dim=64 v_head_dim=128 qk_nope_head_dim=128 num_experts_per_tok=8 tie_word_embeddings=F attention_bias=F
  index_head_dim=128 index_n_heads=64 mlp_bias=F head_dim=64 first_k_dense_replace=3
deepseek_v4: vocab_size=129280 moe_intermediate_size=2048 num_attention_heads=64 num_key_value_heads=1 head_dim=512
  q_lora_rank=1024 num_experts_per_tok=6 n_routed_experts=256 n_shared_experts=1 hc_mult=4 sliding_window=128
  o_groups=8 o_lora_rank=1024 index_n_heads=64 index_head_dim=128 tie_word_embeddings=F attention_bias=F mlp_bias=F
diffusion_gemma_text: vocab_size=262144 intermediate_size=9216 num_attention_heads=8 num_key_value_heads=4
  head_dim=256 tie_word_embeddings=T attention_bias=F sliding_window=512
dflash: tie_word_embeddings=F attention_bias=F mlp_bias=F
dots1: vocab_size=152064 intermediate_size=10944 moe_intermediate_size=1408 num_attention_heads=32
  num_key_value_heads=32 first_k_dense_replace=0 tie_word_embeddings=F attention_bias=F sliding_window=4096
  max_window_layers=62
dream: vocab_size=151936 intermediate_size=22016 num_attention_heads=32 num_key_value_heads=32 tie_word_embeddings=F
eagle: tie_word_embeddings=F attention_bias=F mlp_bias=F
eagle3: tie_word_embeddings=F attention_bias=F mlp_bias=F
ernie4_5: vocab_size=103424 intermediate_size=3072 num_attention_heads=16 num_key_value_heads=2 tie_word_embeddings=T
  use_bias=F head_dim=128
ernie4_5_moe: vocab_size=103424 intermediate_size=12288 num_attention_heads=20 num_key_value_heads=4
  tie_word_embeddings=T use_bias=F moe_intermediate_size=1536 moe_k=6 moe_num_experts=64 moe_num_shared_experts=2
  moe_layer_start_index=1 moe_layer_end_index=-1 moe_layer_interval=1
exaone: vocab_size=102400 intermediate_size=14336 num_attention_heads=32 num_key_value_heads=8 tie_word_embeddings=F
  attention_bias=F mlp_bias=F
exaone4: vocab_size=102400 intermediate_size=16384 num_attention_heads=32 num_key_value_heads=32 tie_word_embeddings=F
  sliding_window=4096 sliding_window_pattern=4
exaone_moe: vocab_size=102400 intermediate_size=16384 num_attention_heads=32 num_key_value_heads=32
  tie_word_embeddings=F sliding_window=4096 sliding_window_pattern=4 first_k_dense_replace=1
  moe_intermediate_size=1024 num_experts=64 num_experts_per_tok=8 num_shared_experts=1
falcon: vocab_size=65024 num_attention_heads=71 new_decoder_architecture=F multi_query=T parallel_attn=T bias=F
  tie_word_embeddings=T
falcon_h1: vocab_size=128000 tie_word_embeddings=F intermediate_size=14336 num_attention_heads=32
  num_key_value_heads=8 mamba_d_ssm=1024 mamba_n_heads=128 mamba_n_groups=1 mamba_d_state=256 mamba_d_conv=4
  mamba_expand=2 mamba_conv_bias=T mamba_proj_bias=F mamba_rms_norm=F projectors_bias=F attention_bias=F mlp_bias=F
falcon_mamba: vocab_size=50280 state_size=16 expand=2 conv_kernel=4 use_bias=F use_conv_bias=T tie_word_embeddings=T
flex_olmo: vocab_size=100352 intermediate_size=11008 num_attention_heads=32 tie_word_embeddings=F attention_bias=F
  num_experts_per_tok=5 num_experts=7
gemma: vocab_size=256000 intermediate_size=24576 num_attention_heads=16 num_key_value_heads=16 head_dim=256
  tie_word_embeddings=T attention_bias=F
gemma2: vocab_size=256000 intermediate_size=9216 num_attention_heads=8 num_key_value_heads=4 head_dim=256
  tie_word_embeddings=T attention_bias=F sliding_window=4096
gemma3_text: vocab_size=262208 intermediate_size=9216 num_attention_heads=8 num_key_value_heads=4 head_dim=256
  tie_word_embeddings=T attention_bias=F sliding_window=4096
gemma3n_text: vocab_size=262400 intermediate_size=16384 num_attention_heads=8 num_key_value_heads=2 head_dim=256
  tie_word_embeddings=T attention_bias=F sliding_window=512 vocab_size_per_layer_input=262144
  hidden_size_per_layer_input=256 altup_num_inputs=4 num_kv_shared_layers=15 laurel_rank=64
gemma4_text: vocab_size=262144 intermediate_size=9216 num_attention_heads=8 num_key_value_heads=4 head_dim=256
  tie_word_embeddings=T attention_bias=F sliding_window=512 vocab_size_per_layer_input=262144
  hidden_size_per_layer_input=256 attention_k_eq_v=F num_kv_shared_layers=0 enable_moe_block=F use_double_wide_mlp=F
glm: vocab_size=151552 intermediate_size=13696 num_attention_heads=32 num_key_value_heads=2 head_dim=128
  tie_word_embeddings=F attention_bias=T
glm4: vocab_size=151552 intermediate_size=13696 num_attention_heads=32 num_key_value_heads=2 head_dim=128
  tie_word_embeddings=F attention_bias=T
glm4_moe: vocab_size=151552 intermediate_size=10944 num_attention_heads=96 num_key_value_heads=8 tie_word_embeddings=F
  attention_bias=F moe_intermediate_size=1408 num_experts_per_tok=8 n_shared_experts=1 n_routed_experts=128
  first_k_dense_replace=1 use_qk_norm=F
glm4_moe_lite: vocab_size=154880 intermediate_size=10240 moe_intermediate_size=1536 num_attention_heads=20
  num_key_value_heads=20 n_shared_experts=1 n_routed_experts=64 kv_lora_rank=512 q_lora_rank=768 qk_rope_head_dim=64
  v_head_dim=256 qk_nope_head_dim=192 num_experts_per_tok=4 tie_word_embeddings=F attention_bias=F
  first_k_dense_replace=1
glm_moe_dsa: vocab_size=154880 intermediate_size=12288 moe_intermediate_size=2048 num_attention_heads=64
  num_key_value_heads=64 n_shared_experts=1 n_routed_experts=256 kv_lora_rank=512 q_lora_rank=2048 qk_rope_head_dim=64
  v_head_dim=256 qk_nope_head_dim=192 num_experts_per_tok=8 tie_word_embeddings=F attention_bias=F index_head_dim=128
  index_n_heads=32 mlp_bias=F head_dim=64 first_k_dense_replace=3
gpt2: vocab_size=50257 n_positions=1024 n_head=12 summary_use_proj=T summary_proj_to_labels=T
  scale_attn_by_inverse_layer_idx=F reorder_and_upcast_attn=F tie_word_embeddings=T
gpt_bigcode: vocab_size=50257 n_positions=1024 n_head=12 multi_query=T tie_word_embeddings=T
gpt_neo: vocab_size=50257 max_position_embeddings=2048 num_heads=16 window_size=256 tie_word_embeddings=T
gpt_neox: vocab_size=50432 num_attention_heads=64 intermediate_size=24576 tie_word_embeddings=F
  use_parallel_residual=T attention_bias=T
gpt_oss: num_local_experts=128 vocab_size=201088 intermediate_size=2880 head_dim=64 num_attention_heads=64
  num_key_value_heads=8 sliding_window=128 tie_word_embeddings=F num_experts_per_tok=4 attention_bias=T
gptj: vocab_size=50400 n_positions=2048 n_head=16 tie_word_embeddings=F
granite: vocab_size=32000 intermediate_size=11008 num_attention_heads=32 tie_word_embeddings=F attention_bias=F
  mlp_bias=F
granite_swa: vocab_size=100352 intermediate_size=8192 num_attention_heads=20 num_key_value_heads=4
  tie_word_embeddings=T attention_bias=F mlp_bias=F sliding_window=128
granitemoe: vocab_size=32000 intermediate_size=11008 num_attention_heads=32 tie_word_embeddings=F attention_bias=F
  num_local_experts=8 num_experts_per_tok=2
granitemoe_swa: vocab_size=32000 intermediate_size=11008 num_attention_heads=32 tie_word_embeddings=F attention_bias=F
  num_local_experts=8 num_experts_per_tok=2 shared_intermediate_size=0 sliding_window=128
granitemoehybrid: vocab_size=32000 intermediate_size=11008 num_attention_heads=32 tie_word_embeddings=F
  attention_bias=F num_local_experts=8 num_experts_per_tok=2 shared_intermediate_size=1024 mamba_n_heads=128
  mamba_n_groups=1 mamba_d_state=256 mamba_d_conv=4 mamba_expand=2 mamba_conv_bias=T mamba_proj_bias=F
granitemoeshared: vocab_size=32000 intermediate_size=11008 num_attention_heads=32 tie_word_embeddings=F
  attention_bias=F num_local_experts=8 num_experts_per_tok=2 shared_intermediate_size=0
"""
