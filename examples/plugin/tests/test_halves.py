"""All that the tests of a plug-in need: conformance in one line, and what is special about the strategy."""

import pytest
from clover_halves import Halves

from clover_sim import UsageError, build_strategy, check_decoder, open_stream, run


def test_it_is_a_decoder() -> None:
    check_decoder(Halves(block_size=16)).raise_if_failed()


def test_half_of_a_block_a_pass() -> None:
    result = run(Halves(block_size=32), open_stream("reference", 64))
    assert list(result.ledger.committed) == [16, 8, 4, 2, 1, 1] * 2


def test_a_block_needs_a_position() -> None:
    with pytest.raises(UsageError, match="block_size=0: expected at least 1 position"):
        build_strategy("clover_halves:Halves:block_size=0")
