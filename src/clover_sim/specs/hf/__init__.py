"""Models from their own Hugging Face configuration files. See :func:`load_config`."""

from __future__ import annotations

from clover_sim.specs.hf.config import ConfigModel, config_model, load_config
from clover_sim.specs.hf.stored import Quantisation

__all__ = ["ConfigModel", "Quantisation", "config_model", "load_config"]
