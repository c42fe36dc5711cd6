"""A model from a file of its own: the configuration of a checkpoint, or a table of this package's keys in JSON."""

from __future__ import annotations

from dataclasses import dataclass

from clover_sim.specs.hf.config import config_model
from clover_sim.specs.hf.read import locate, read_json
from clover_sim.specs.load import model_from_table
from clover_sim.specs.model import ModelSpec
from clover_sim.specs.precision import Precision


@dataclass(frozen=True, slots=True)
class Checkpoint:
    """A model and how its file says that it is stored.

    Args:
        spec: the counts. precision: the file's own format of the weights, ``None`` where it states none (bf16).
        notes, warnings: defaults that were filled in; where care is due.
        vision_params, mtp_params: parameters counted nowhere else, ``None`` if unknown or there are none.
        index_elements_per_token: cached elements a token of a sparse-attention indexer, beside the K/V.
    """

    spec: ModelSpec
    precision: Precision | None = None
    notes: tuple[str, ...] = ()
    warnings: tuple[str, ...] = ()
    vision_params: int | None = None
    mtp_params: int | None = None
    index_elements_per_token: int = 0


def load_checkpoint(path: str) -> Checkpoint:
    """Read a ``config.json``, a directory that holds one, GGUF metadata as JSON, or a model file in JSON.

    Raises:
        InputError: the file cannot be used; one line with file and key.
    """
    file, extra = locate(path)
    table = read_json(file)
    if "params" in table or any(key.endswith("_params") for key in table):
        return Checkpoint(model_from_table(table, file))
    found = config_model(table, file, read_json(extra) if extra else None)
    return Checkpoint(
        found.spec, own_precision(found.quantisation), found.notes, found.warnings,
        found.vision_params, found.mtp_params, found.index_elements_per_token,
    )  # fmt: skip


def own_precision(quantisation: object) -> Precision | None:
    """The format that a configuration states, as a precision; ``None`` for plain 16-bit weights."""
    return None
