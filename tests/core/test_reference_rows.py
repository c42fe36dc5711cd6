"""The 76 published rows, exactly, on the bulk path and on the generator path."""

from __future__ import annotations

from typing import Any

import pytest

from clover_sim.decoders.ar import TokenByToken
from clover_sim.decoders.block_diffusion import BlockDiffusion
from clover_sim.decoders.speculative import Speculative
from clover_sim.physics.reference import ReferenceSettings
from clover_sim.streams.reference import VOCABULARY, draw_tokens, reference_stream
from core.naive import block_diffusion, draft_and_verify, stream
from core.scripted import Stepped, run_audited
from reference_rows import ROWS, ReferenceRow

IDS = [f"n{r.tokens}-k{r.draft}-a{r.accept_p}-b{r.block}-t{r.tau}-l{r.lift}-s{r.stream_seed}" for r in ROWS]


def same(decoder: Any) -> Any:
    return decoder


@pytest.mark.parametrize("path", [same, Stepped], ids=["bulk", "generator"])
@pytest.mark.parametrize("row", ROWS, ids=IDS)
def test_row(row: ReferenceRow, path: Any) -> None:
    settings = ReferenceSettings(row.stream_seed, row.block_seed, row.spec_seed, row.lift)
    text = reference_stream(row.tokens, settings)
    assert run_audited(path(TokenByToken()), text).totals.target_passes == row.ar_passes
    block = run_audited(path(BlockDiffusion(row.block, row.tau)), text).totals
    assert (block.target_passes, block.locked_errors) == (row.block_passes, row.locked_errors)
    spec = run_audited(path(Speculative(row.draft, row.accept_p, parallel_draft=True)), text).totals
    assert spec.target_passes + spec.draft_passes == row.spec_passes
    assert {block.tokens, spec.tokens} == {row.tokens}


@pytest.mark.parametrize("row", ROWS, ids=IDS)
def test_row_by_the_naive_oracle(row: ReferenceRow) -> None:
    """The oracle is right too, so that it may judge other settings."""
    block = block_diffusion(stream(row.tokens, row.stream_seed), row.block, row.tau, row.lift, row.block_seed)
    assert (block.passes, block.errors) == (row.block_passes, row.locked_errors)
    assert draft_and_verify(row.tokens, row.draft, row.accept_p, row.spec_seed) == row.spec_passes


def test_there_are_76_different_rows() -> None:
    assert len(ROWS) == len(set(ROWS)) == 76


@pytest.mark.parametrize("tokens", [0, 1, 2, 23, 24, 25, 1000, 5001])
@pytest.mark.parametrize("seed", [0, 7, 42, 2**40])
def test_tokens_are_those_of_choice_one_by_one(tokens: int, seed: int) -> None:
    assert [VOCABULARY[t] for t in draw_tokens(seed, tokens)] == stream(tokens, seed)
