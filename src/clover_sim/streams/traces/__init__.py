"""Recorded traces of block-diffusion decoding: read as streams, one a sequence."""

from clover_sim.streams.traces.read import read_trace
from clover_sim.streams.traces.recording import RecordedBlock, RecordedPass, Recording

__all__ = ["RecordedBlock", "RecordedPass", "Recording", "read_trace"]
