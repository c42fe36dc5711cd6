"""Speed against locked errors: what a lower bar buys, and what it costs."""

import clover_sim as cs

bars = [0.7, 0.8, 0.9, 0.95, 0.99]
strategies = [f"block-diffusion:threshold={bar}" for bar in bars]
result = cs.compare(strategies, profile="tool-call", tokens=[1024], seeds=range(8))
print("threshold  tokens/pass  errors/1000 tokens")
for bar, row in zip(bars, result.rows, strict=True):
    print(f"{bar:<9}  {row['tokens_per_pass']:>11.2f}  {row['locked_errors'] / 1.024:>18.2f}")
