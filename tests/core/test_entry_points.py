"""Installed plug-ins are looked for without ``importlib.metadata`` first, and found wherever that would find them."""

from __future__ import annotations

import sys
import zipfile
from importlib.metadata import entry_points
from pathlib import Path

import pytest

from clover_sim.plugins import _is_named, installed

GROUP = "clover_sim.decoders"


@pytest.fixture
def path(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> list[str]:
    """A search path of one empty folder."""
    (tmp_path / "site").mkdir()
    monkeypatch.setattr(sys, "path", [str(tmp_path / "site"), str(tmp_path / "gone")])
    return sys.path


def install(folder: Path, text: str, kind: str = "dist-info") -> None:
    package = folder / f"mine-1.0.{kind}"
    package.mkdir()
    (package / "METADATA").write_text("Metadata-Version: 2.1\nName: mine\nVersion: 1.0\n")
    (package / "entry_points.txt").write_text(text)


@pytest.mark.parametrize("kind", ["dist-info", "egg-info"])
def test_a_package_that_names_the_group(path: list[str], kind: str) -> None:
    assert not _is_named(GROUP) and installed(GROUP, set()).named == {}
    install(Path(path[0]), "[console_scripts]\na = b:c\n\n[clover_sim.decoders]\nmine = mine:Decoder\n", kind)
    assert _is_named(GROUP)
    assert [p.value for p in entry_points(group=GROUP)] == ["mine:Decoder"]
    assert list(installed(GROUP, set()).named) == ["mine"]


def test_a_package_that_names_others(path: list[str]) -> None:
    install(Path(path[0]), "[console_scripts]\na = b:c\n[clover_sim.other]\nmine = mine:Decoder\n")
    assert not _is_named(GROUP) and not entry_points(group=GROUP)


def test_an_archive_is_left_to_the_standard_library(path: list[str], tmp_path: Path) -> None:
    archive = tmp_path / "packed.zip"
    with zipfile.ZipFile(archive, "w") as packed:
        packed.writestr("mine-1.0.dist-info/METADATA", "Metadata-Version: 2.1\nName: mine\nVersion: 1.0\n")
        packed.writestr("mine-1.0.dist-info/entry_points.txt", "[clover_sim.decoders]\nmine = mine:Decoder\n")
    path.append(str(archive))
    assert list(installed(GROUP, set()).named) == ["mine"]
