"""The machine-readable contract: base SI units, full precision, the same bytes for the same inputs."""

from __future__ import annotations

import json
from typing import TYPE_CHECKING, Any

from clover_sim.columns import COLUMNS, INTERVAL
from clover_sim.report import PLAIN, Look

if TYPE_CHECKING:
    from clover_sim.report._contract import Result

EXTENSIONS = (".json",)


def render(result: Result, look: Look = PLAIN) -> str:
    """The result's own document, the figures of each row in the order of the column list.

    Only ASCII is written, so that the bytes do not depend on the encoding of the terminal. NaN and infinities are
    refused: they have no place in JSON.
    """
    document = result.to_dict()
    if "rows" in document:
        document = {**document, "rows": [_ordered(row) for row in document["rows"]]}
    return json.dumps(document, indent=2, allow_nan=False) + "\n"


def _ordered(row: dict[str, Any]) -> dict[str, Any]:
    keys = [key for c in COLUMNS for key in row if key == c.key or key == c.key + INTERVAL]
    return {key: row[key] for key in [*keys, *(key for key in row if key not in keys)]}
