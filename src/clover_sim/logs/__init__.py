"""Logs of inference engines, read line by line into one vocabulary.

Each public module is one format: ``MARKS``, texts of which a line of the format has one, and a class ``Reader``
(see :mod:`clover_sim.logs._reader`). Adding a format is adding a file.
"""

from __future__ import annotations

from clover_sim.logs._configuration import Configuration, Statement
from clover_sim.logs._read import Reading, Skipped, read_logs
from clover_sim.logs._section import Identity, Section

__all__ = ["Configuration", "Identity", "Reading", "Section", "Skipped", "Statement", "read_logs"]
