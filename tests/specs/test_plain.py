"""The short way to read a plain file says what ``tomllib`` says, or nothing."""

from __future__ import annotations

import random
import tomllib
from pathlib import Path
from typing import Any

import pytest

from clover_sim.specs._plain import plain_table
from clover_sim.specs.load import DATA

FILES = sorted(Path(DATA).rglob("*.toml"))


def typed(value: Any) -> Any:
    """The value with its types: 1 and 1.0 and True are equal, but not the same."""
    if isinstance(value, dict):
        return {key: typed(inner) for key, inner in value.items()}
    return [typed(inner) for inner in value] if isinstance(value, list) else (type(value), value)


@pytest.mark.parametrize("path", FILES, ids=lambda path: f"{path.parent.name}/{path.stem}")
def test_every_file_of_the_package(path: Path) -> None:
    text = path.read_text(encoding="utf-8")
    found = plain_table(text)
    assert found is None or typed(found) == typed(tomllib.loads(text))


@pytest.mark.parametrize("folder", ["models", "hardware", "engines"])
def test_what_every_command_reads_is_plain(folder: str) -> None:
    files = [path for path in FILES if path.parent.name == folder]
    plain = [path for path in files if plain_table(path.read_text(encoding="utf-8")) is not None]
    assert len(plain) >= 0.9 * len(files), sorted(path.name for path in {*files} - {*plain})


@pytest.mark.parametrize(
    "text",
    [
        "a = 'x'", "a = '''x'''", "a.b = 1", '"a b" = 1', "a = {b = 1}", "a = 1979-05-27", "a = 07:32:00", "a = inf",
        "a = nan", "a = 0x10", "a = [[1], [2]]", "a = [\n  [1],\n]", '[[a]]\nb = 1', 'a = "\\n"',
        'a = ["x, y", "z"]', "a = [1, 2] # three", "a = [1,2]", 'a = "b # c"', "a = 5 # b # c", "a=1", "a  = 1",
        " a = 1", "[a.b]\nc = 1\n[a]\nd = 2", "a = [ # of them\n  1,\n]", "a = [\n  1, # one\n  2,\n]", "a = 1e3",
        "a = +1", "a = -1_0", "a = -0.0", "[a] # b\nc = 1", "a = []", "a = [\n]", "a = true # no", "a = 1\r\nb = 2\r\n",
        "a = [\n  1,\n\n  2\n]", "a = [1,\n  2]", '[ a ]\nb = 1', '["a"]\nb = 1', "a = 6.0e2 # x", "",
    ],
)  # fmt: skip
def test_valid_toml_is_read_alike_or_left(text: str) -> None:
    expected = tomllib.loads(text)
    found = plain_table(text)
    assert found is None or typed(found) == typed(expected)


def test_changed_files_are_read_alike_or_left() -> None:
    draw = random.Random(7)
    texts = [path.read_text(encoding="utf-8") for path in draw.sample(FILES, 60)]
    alike = 0
    for text in texts:
        for _ in range(20):
            at = draw.randrange(len(text))
            changed = text[:at] + draw.choice('\n #"=[],.-_1e{}\'a') + text[at + draw.randrange(2) :]
            try:
                expected = tomllib.loads(changed)
            except ValueError:
                continue  # a file of the package is valid: other tests read it with tomllib
            found = plain_table(changed)
            alike += found is not None
            assert found is None or typed(found) == typed(expected), changed
    assert alike > 100
