"""How far predictions are from measurements: see :func:`validate` and docs/accuracy.md."""

from __future__ import annotations

from clover_sim.validate.rows import BUILT_IN, Row, read_rows
from clover_sim.validate.run import Result, Validation, predict, summarise, validate

__all__ = ["BUILT_IN", "Result", "Row", "Validation", "predict", "read_rows", "summarise", "validate"]
