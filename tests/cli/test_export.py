"""Files: checked before the work, whole or not at all."""

from __future__ import annotations

import json
import os
import stat

import pytest

from clover_sim.cli import _export, main
from clover_sim.errors import InputError, UsageError

QUICK = ["compare", "--tokens", "64", "--color", "always"]


def test_exports_take_their_format_from_the_ending(tmp_path, capsys):
    names = ["r.json", "r.csv", "r.md", "r.MARKDOWN", "r.txt"]
    flags = [word for name in names for word in ("--export", str(tmp_path / name))]
    assert main([*QUICK, *flags, "--format", "json"]) == 0
    out, err = capsys.readouterr()
    assert (tmp_path / "r.json").read_text() == out
    assert (tmp_path / "r.csv").read_bytes().startswith(b"stream,tokens,") and b"\r\n" in (
        tmp_path / "r.csv"
    ).read_bytes()
    assert (tmp_path / "r.md").read_text() == (tmp_path / "r.MARKDOWN").read_text()
    assert "\x1b" not in (tmp_path / "r.txt").read_text()
    assert err.count("wrote ") == len(names)
    assert sorted(os.listdir(tmp_path)) == sorted(names)


def test_a_dash_is_standard_output_once(tmp_path, capsys):
    assert main([*QUICK, "--export", "-", "--format", "json"]) == 0
    json.loads(capsys.readouterr().out)


@pytest.mark.parametrize(
    ("path", "code"),
    [("r.svg", 2), ("r", 2), (".", 2), ("missing/r.json", 3), ("folder.json", 3)],
)
def test_what_cannot_be_written_is_said_before_the_work(tmp_path, capsys, monkeypatch, path, code):
    monkeypatch.chdir(tmp_path)
    (tmp_path / "folder.json").mkdir()
    monkeypatch.setattr("clover_sim.comparison.compare", lambda *a, **k: pytest.fail("worked before checking"))
    assert main(["compare", "--export", path]) == code
    out, err = capsys.readouterr()
    assert out == "" and err.count("\n") == 1 and path in err


def test_a_file_named_twice_is_refused(tmp_path, monkeypatch):
    monkeypatch.chdir(tmp_path)
    with pytest.raises(UsageError, match="twice"):
        _export.plan(["r.json", "./r.json"])


def test_a_failed_write_leaves_the_old_file(tmp_path, monkeypatch):
    target = tmp_path / "r.json"
    target.write_text("old")

    def full(*_args):
        raise OSError(28, "No space left on device")

    monkeypatch.setattr(os, "fsync", full)
    with pytest.raises(InputError, match="No space left on device"):
        _export.replace(str(target), b"new")
    assert target.read_text() == "old" and os.listdir(tmp_path) == ["r.json"]


def test_an_interrupted_write_leaves_the_old_file(tmp_path, monkeypatch):
    target = tmp_path / "r.json"
    target.write_text("old")

    def interrupted(*_args):
        raise KeyboardInterrupt

    monkeypatch.setattr(os, "replace", interrupted)
    with pytest.raises(KeyboardInterrupt):
        _export.replace(str(target), b"new")
    assert target.read_text() == "old" and os.listdir(tmp_path) == ["r.json"]


def test_links_and_permissions_are_kept(tmp_path):
    target, link = tmp_path / "real.json", tmp_path / "link.json"
    target.write_text("old")
    target.chmod(0o640)
    link.symlink_to(target)
    _export.replace(str(link), b"new")
    assert link.is_symlink() and target.read_text() == "new"
    assert stat.S_IMODE(target.stat().st_mode) == 0o640


def test_a_device_is_written_to_not_replaced():
    before = os.stat(os.devnull).st_mode
    _export.replace(os.devnull, b"gone")
    assert os.stat(os.devnull).st_mode == before
