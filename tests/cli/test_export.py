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
    [("r.xml", 2), ("r", 2), (".", 2), ("missing/r.json", 3), ("folder.json", 3)],
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
    with _export.forced(True), pytest.raises(KeyboardInterrupt):
        _export.replace(str(target), b"new")
    assert target.read_text() == "old" and os.listdir(tmp_path) == ["r.json"]


def test_links_and_permissions_are_kept(tmp_path):
    target, link = tmp_path / "real.json", tmp_path / "link.json"
    target.write_text("old")
    target.chmod(0o640)
    link.symlink_to(target)
    with _export.forced(True):
        _export.replace(str(link), b"new")
    assert link.is_symlink() and target.read_text() == "new"
    assert stat.S_IMODE(target.stat().st_mode) == 0o640


def test_a_device_is_written_to_not_replaced():
    before = os.stat(os.devnull).st_mode
    _export.replace(os.devnull, b"gone")
    assert os.stat(os.devnull).st_mode == before


def _dangling(folder):
    (folder / "link.json").symlink_to(folder / "missing" / "r.json")
    return "link.json"


def _loop(folder):
    (folder / "loop.json").symlink_to("loop.json")
    return "loop.json"


def _pipe(folder):
    os.mkfifo(folder / "pipe.json")
    return "pipe.json"


def _inside_a_file(folder):
    (folder / "file").write_text("")
    return "file/r.json"


def _folder_through_a_link(folder):
    (folder / "folder").mkdir()
    (folder / "link.json").symlink_to("folder")
    return "link.json"


@pytest.mark.skipif(os.name == "nt", reason="links and pipes of POSIX")
@pytest.mark.parametrize(
    "make",
    [_dangling, _loop, _pipe, _inside_a_file, _folder_through_a_link, lambda _: "n" * 300 + ".json",
     lambda _: "d/" * 3000 + "r.json"],
)  # fmt: skip
def test_hopeless_targets_are_named_before_the_work(tmp_path, capsys, monkeypatch, make):
    monkeypatch.chdir(tmp_path)
    path = make(tmp_path)
    monkeypatch.setattr("clover_sim.comparison.compare", lambda *a, **k: pytest.fail("worked before checking"))
    assert main(["compare", "--export", path]) == 3
    out, err = capsys.readouterr()
    assert out == "" and err.count("\n") == 1 and f"--export '{path[:50]}" in err


def test_a_write_protected_file_is_not_replaced(tmp_path, monkeypatch):
    (tmp_path / "r.json").write_text("old")
    monkeypatch.setattr(os, "access", lambda path, mode: os.path.isdir(path))
    with pytest.raises(InputError, match="write-protected"):
        _export.plan([str(tmp_path / "r.json")])


def test_a_deleted_current_directory_is_said(tmp_path, monkeypatch):
    gone = tmp_path / "gone"
    gone.mkdir()
    monkeypatch.chdir(gone)
    gone.rmdir()
    with pytest.raises(InputError, match=r"--export 'r\.json'.*current directory"):
        _export.plan(["r.json"])


def test_one_file_under_two_names_is_refused(tmp_path, monkeypatch):
    monkeypatch.chdir(tmp_path)
    (tmp_path / "r.json").write_text("old")
    (tmp_path / "soft.json").symlink_to("r.json")
    os.link("r.json", "hard.json")
    (tmp_path / "same").symlink_to(".")
    (tmp_path / "ahead.json").symlink_to("later.json")
    for one, other in (("soft.json", "r.json"), ("r.json", "hard.json"), ("r.json", "same/r.json"),
                       ("later.json", "ahead.json"), ("new.json", "same/new.json")):  # fmt: skip
        with pytest.raises(UsageError, match="twice"):
            _export.plan([one, other])


def test_an_input_is_not_overwritten(tmp_path, monkeypatch, capsys):
    monkeypatch.chdir(tmp_path)
    (tmp_path / "calls.json").write_text('{"a": 1}\n')
    (tmp_path / "link.json").symlink_to("calls.json")
    for command in ("compare", "trace"):
        assert main([command, "--input", "calls.json", "--export", "link.json"]) == 2
        assert "is also read" in capsys.readouterr().err
    assert (tmp_path / "calls.json").read_text() == '{"a": 1}\n'


@pytest.mark.parametrize("broken", ["render", "write", "device"])
def test_all_exports_or_none(tmp_path, monkeypatch, capsys, broken):
    monkeypatch.chdir(tmp_path)
    for name in ("a.json", "b.csv"):
        (tmp_path / name).write_text("old")
    exports = ["--force", "--export", "a.json", "--export", "b.csv"]
    if broken == "render":
        monkeypatch.setattr("clover_sim.report.csv.render", lambda *_: 1 / 0)
    elif broken == "write":
        real, calls = os.fsync, []

        def second_time_full(descriptor):
            calls.append(descriptor)
            if len(calls) == 2:
                raise OSError(28, "No space left on device")
            real(descriptor)

        monkeypatch.setattr(os, "fsync", second_time_full)
    else:
        if not os.path.exists("/dev/full"):
            pytest.skip("no /dev/full")
        (tmp_path / "full.md").symlink_to("/dev/full")
        exports += ["--export", "full.md"]
    assert main([*QUICK, *exports]) == (4 if broken == "render" else 3)
    err = capsys.readouterr().err
    if broken != "render":
        assert "No space left on device" in err and ("b.csv" if broken == "write" else "full.md") in err
    assert "wrote" not in err
    assert [(tmp_path / name).read_text() for name in ("a.json", "b.csv")] == ["old", "old"]
    assert not [name for name in os.listdir(tmp_path) if name.endswith(".tmp")]


def test_a_plugin_that_changes_folder_does_not_move_the_export(tmp_path, monkeypatch):
    (tmp_path / "other").mkdir()
    monkeypatch.chdir(tmp_path)
    (export,) = _export.plan(["r.json"])
    os.chdir("other")
    export.write(lambda name, look: f"{name} {look.width}")
    assert (tmp_path / "r.json").read_text() == "json 120" and os.listdir(tmp_path / "other") == []


def test_leftovers_of_a_killed_run_are_no_obstacle(tmp_path):
    (tmp_path / f".clover-sim.{os.getpid()}.0.tmp").write_text("left")
    _export.replace(str(tmp_path / ("ü" * 125 + ".json")), b"new")
    assert sorted(len(name) for name in os.listdir(tmp_path))[-1] == 130
    assert (tmp_path / f".clover-sim.{os.getpid()}.0.tmp").read_text() == "left"
