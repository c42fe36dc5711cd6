"""What is written to the disk: whole or not at all, never over a file that is there unless it is asked for."""

from __future__ import annotations

import gzip
import os
import signal
import subprocess
import sys
import threading
import time

import pytest

from cli.harness import COMMAND, cli, environment
from clover_sim.cli import _export, main
from clover_sim.errors import InputError
from clover_sim.recorder import write_records
from clover_sim.sweeping import sweep
from clover_sim.sweeping._journal import Journal
from safety.alone import alone
from safety.invocations import computing, ending, quick, samples, writers


def test_every_command_that_writes_is_found():
    assert len(computing()) >= 10
    assert ("compare", "--ledger") in writers() and ("compare", "--record") in writers()


@pytest.mark.parametrize(("command", "flag"), writers())
def test_a_file_that_is_there_stays_unless_forced(tmp_path, capsys, command, flag):
    suffix = ending(command)
    target = tmp_path / f"out{suffix}"
    target.write_text("mine")
    run = [*quick(command, samples(tmp_path)), flag, str(target)]
    assert main(run) == 3
    out, err = capsys.readouterr()
    assert out == "" and err.count("\n") == 1 and "is there already" in err and "--force" in err and flag in err
    assert target.read_text() == "mine"
    assert main([*run, "--force"]) == 0
    assert target.read_text() != "mine"
    fresh = tmp_path / f"fresh{suffix}"
    assert main([*run[:-1], str(fresh)]) == 0
    assert fresh.read_bytes() == target.read_bytes()
    assert not [name for name in os.listdir(tmp_path) if name.endswith(".tmp")]


def test_what_is_read_is_not_written_even_if_forced(tmp_path, capsys):
    trace, config = tmp_path / "t.json", tmp_path / "config.json"
    trace.write_text("{}")
    config.write_text("{}")
    for run in (
        ["compare", "--trace", trace, "--export", trace], ["compare", "--model", config, "--export", config],
        ["compare", "--record", config, "--model", config], ["serve", "--log", trace, "--export", trace],
        ["explain", trace, "--export", trace], ["sweep", "--resume", trace, "--export", trace],
        ["validate", "--measurements", trace, "--export", trace], ["price", "--ledger", trace, "--export", trace],
    ):  # fmt: skip
        assert main([*map(str, run), "--force"]) == 2
        err = capsys.readouterr().err
        assert "is also read as " in err and err.count("\n") == 1
    assert trace.read_text() == config.read_text() == "{}"


def test_two_flags_cannot_name_one_file(tmp_path, capsys):
    target = str(tmp_path / "r.json")
    for run in (["--ledger", target, "--record", target], ["--export", target, "--ledger", target]):
        assert main(["compare", "--tokens", "32", *run]) == 2
        assert "is the file of --" in capsys.readouterr().err
    assert main(["compare", "--ledger", "-"]) == 2
    assert os.listdir(tmp_path) == []


def test_a_file_made_meanwhile_stays(tmp_path, monkeypatch):
    target = tmp_path / "r.json"
    real = os.fsync

    def late(descriptor):
        target.write_text("theirs")
        real(descriptor)

    monkeypatch.setattr(os, "fsync", late)
    with pytest.raises(InputError, match="is there already"):
        _export.replace(str(target), b"mine")
    assert target.read_text() == "theirs" and os.listdir(tmp_path) == ["r.json"]


def test_a_file_system_without_hard_links(tmp_path, monkeypatch):
    def unknown(*_args):
        raise OSError(95, "Operation not supported")

    monkeypatch.setattr(os, "link", unknown)
    target = tmp_path / "r.json"
    _export.replace(str(target), b"mine")
    assert target.read_bytes() == b"mine"
    with pytest.raises(InputError, match="is there already"):
        _export.replace(str(target), b"again")
    assert target.read_bytes() == b"mine" and os.listdir(tmp_path) == ["r.json"]


def test_records_are_whole_and_the_same_bytes(tmp_path, monkeypatch):
    one, two = str(tmp_path / "a.jsonl.gz"), str(tmp_path / "b.jsonl.gz")
    write_records(one, [{"id": "x"}])
    monkeypatch.setattr(time, "time", lambda: 1e9)
    write_records(two, [{"id": "x"}])
    data = (tmp_path / "a.jsonl.gz").read_bytes()
    assert data == (tmp_path / "b.jsonl.gz").read_bytes()
    assert gzip.decompress(data) == b'{"id":"x"}\n'

    def full(*_args):
        raise OSError(28, "No space left on device")

    monkeypatch.setattr(os, "fsync", full)
    with pytest.raises(InputError, match="No space left"):
        write_records(one, [{"id": "y"}])
    assert (tmp_path / "a.jsonl.gz").read_bytes() == data
    assert sorted(os.listdir(tmp_path)) == ["a.jsonl.gz", "b.jsonl.gz"]


# a disk that is full, a folder that is read-only


def _little_room(most_bytes):
    """No file may grow beyond so many bytes: what a full disk looks like, for any user, without a disk."""
    import resource

    def limit():
        signal.signal(signal.SIGXFSZ, signal.SIG_IGN)  # the write fails instead
        resource.setrlimit(resource.RLIMIT_FSIZE, (most_bytes, most_bytes))

    return limit


POSIX = pytest.mark.skipif(sys.platform == "win32", reason="limits, signals and permissions of POSIX")


@POSIX
@pytest.mark.parametrize(("command", "flag"), writers())
def test_a_full_disk(tmp_path, command, flag):
    target = tmp_path / f"out{ending(command)}"
    (folder := tmp_path / "input").mkdir()
    before = set(os.listdir(tmp_path))
    done = alone(*quick(command, samples(folder)), flag, target, before=_little_room(16))
    assert done.returncode == 3, done.stderr
    assert "cannot be written" in done.stderr and done.stderr.count("\n") == 1 and "Traceback" not in done.stderr
    assert set(os.listdir(tmp_path)) == before


@POSIX
def test_a_full_disk_keeps_what_a_sweep_had_finished(tmp_path):
    cells = tmp_path / "cells.jsonl"
    run = ["sweep", "--vary", "threshold=0.5:0.99:0.01", "--vary", "block_size=8,16,32,64", "--tokens", "2000",
           "--jobs", "1", "--resume", str(cells)]  # fmt: skip
    done = cli(*run, preexec_fn=_little_room(60_000))
    assert done.returncode == 3 and done.stderr.count("\n") == 1, done.stderr
    assert "cannot be written" in done.stderr
    data = cells.read_bytes()
    assert 1 < data.count(b"\n") < 201 and data.endswith(b"}\n")
    again = cli(*run, "--format", "json")
    assert again.returncode == 0 and again.stdout == cli(*run[:-2], "--format", "json").stdout


@POSIX
@pytest.mark.skipif(not hasattr(os, "geteuid") or os.geteuid() == 0, reason="no folder is read-only for root")
def test_a_read_only_folder(tmp_path):
    (folder := tmp_path / "closed").mkdir()
    folder.chmod(0o500)
    for flag in ("--export", "--ledger", "--record"):
        done = cli("compare", "--tokens", "32", flag, folder / "r.json")
        assert (done.returncode, done.stdout, done.stderr.count("\n")) == (3, "", 1)
        assert "cannot be written to" in done.stderr


def test_a_folder_that_says_it_is_read_only(tmp_path, capsys, monkeypatch):
    monkeypatch.setattr(os, "access", lambda path, mode: not os.path.isdir(path))
    for flag in ("--export", "--ledger", "--record"):
        assert main(["compare", "--tokens", "32", flag, str(tmp_path / "r.json")]) == 3
        out, err = capsys.readouterr()
        assert out == "" and "cannot be written to" in err and err.count("\n") == 1


# signals


def _slow(folder):
    (folder / "slow.py").write_text(
        "import pathlib, time\n\n\nclass Slow:\n    def decode(self, canvas):\n"
        f"        pathlib.Path({str(folder / 'started')!r}).touch()\n        time.sleep(60)\n        yield\n"
    )


def _start(folder, *args, **env):
    def ordinary():
        for name in ("SIGINT", "SIGTERM", "SIGHUP"):
            signal.signal(getattr(signal, name), signal.SIG_DFL)

    return subprocess.Popen(
        [*COMMAND, *map(str, args)], stdout=subprocess.PIPE, stderr=subprocess.PIPE, text=True,
        env=environment(PYTHONPATH=str(folder), **env), preexec_fn=ordinary,  # noqa: PLW1509 (a runner may ignore them)
    )  # fmt: skip


def _wait_for(path, seconds=30.0):
    deadline = time.monotonic() + seconds
    while not (path.exists() and (path.suffix != ".jsonl" or path.stat().st_size > 400)):
        assert time.monotonic() < deadline
        time.sleep(0.02)


@POSIX
@pytest.mark.parametrize(("name", "code"), [("SIGINT", 130), ("SIGTERM", 143), ("SIGHUP", 129)])
def test_a_signal_ends_a_run_in_one_line(tmp_path, name, code):
    _slow(tmp_path)
    (tmp_path / "out").mkdir()
    targets = [tmp_path / "out" / "r.json", tmp_path / "out" / "l.jsonl", tmp_path / "out" / "t.jsonl.gz"]
    flags = ["--export", targets[0], "--ledger", targets[1], "--record", targets[2]]
    process = _start(tmp_path, "compare", "--tokens", "32", "-s", "slow:Slow", *flags)
    _wait_for(tmp_path / "started")
    process.send_signal(getattr(signal, name))
    out, err = process.communicate(timeout=30)
    assert (process.returncode, out) == (code, ""), err
    assert err.strip().count("\n") == 0 and "Traceback" not in err and err.startswith("\nclover-sim: ")
    assert os.listdir(tmp_path / "out") == []


@POSIX
@pytest.mark.parametrize("jobs", ["1", "2"])
@pytest.mark.parametrize(("name", "code"), [("SIGINT", 130), ("SIGTERM", 143)])
def test_a_signal_loses_nothing_of_a_sweep(tmp_path, name, code, jobs):
    cells = tmp_path / "cells.jsonl"
    run = ["sweep", "--vary", "threshold=0.5:0.99:0.005", "--vary", "block_size=8,16,32,64", "--tokens", "4000",
           "--jobs", jobs, "--resume", str(cells), "--export", str(tmp_path / "r.json")]  # fmt: skip
    process = _start(tmp_path, *run)
    _wait_for(cells)
    process.send_signal(getattr(signal, name))
    _, err = process.communicate(timeout=60)
    assert process.returncode == code, err
    assert "Traceback" not in err and "the same command goes on" in err
    assert os.listdir(tmp_path) == ["cells.jsonl"]
    kept = cells.read_bytes()
    assert kept.endswith(b"}\n") and kept.count(b"\n") > 1


@POSIX
def test_a_signal_to_ignore_stays_ignored(tmp_path):
    """``nohup`` is a request to go on."""
    done = cli("compare", "--tokens", "32", preexec_fn=lambda: signal.signal(signal.SIGHUP, signal.SIG_IGN))
    assert done.returncode == 0
    before = signal.getsignal(signal.SIGTERM)
    assert main(["list", "profiles"]) == 0 and signal.getsignal(signal.SIGTERM) is before


@POSIX
def test_closed_pipes_of_every_command(tmp_path):
    for command in computing():
        done = subprocess.run(
            ["bash", "-c", '"$@" | head -n 1 > /dev/null; exit ${PIPESTATUS[0]}', "bash", *COMMAND,
             *quick(command, samples(tmp_path))],
            capture_output=True, text=True, timeout=120, env=environment(), check=False,
        )  # fmt: skip
        assert done.returncode == 0, (command, done.stderr)
        assert "Traceback" not in done.stderr and "Broken" not in done.stderr
    done = subprocess.run(["bash", "-c", 'exec "$@" >&-', "bash", *COMMAND, "list", "gpus"], capture_output=True,
                          text=True, timeout=60, env=environment(), check=False)  # fmt: skip
    assert done.returncode == 3 and done.stderr.count("\n") == 1


# one file of --resume, several sweeps

SMALL = {"vary": {"threshold": [0.8, 0.9], "block_size": [8, 16]}, "tokens": 64}


@POSIX
def test_two_processes_on_one_file_of_cells(tmp_path):
    cells = tmp_path / "cells.jsonl"
    run = ["sweep", "--vary", "threshold=0.5:0.99:0.01", "--vary", "block_size=8,16", "--tokens", "4000", "--jobs", "1",
           "--resume", str(cells), "--format", "json"]  # fmt: skip
    processes = [_start(tmp_path, *run) for _ in range(3)]
    ended = [(*process.communicate(timeout=120), process.returncode) for process in processes]
    assert sorted(code for *_, code in ended)[0] == 0
    for out, err, code in ended:
        assert code in (0, 3)
        if code:
            assert out == "" and err.count("\n") == 1 and "is being written by another sweep" in err
    lines = cells.read_bytes().splitlines()
    assert len(lines) == 101 and len(set(lines)) == 101
    assert cli(*run).stdout == next(out for out, _, code in ended if code == 0)


def test_two_sweeps_of_one_process(tmp_path):
    path = str(tmp_path / "cells.jsonl")
    with Journal(path, "f", 4) as first:
        with pytest.raises(InputError, match="another sweep"):
            Journal(path, "f", 4)
        failed = []

        def second_one():
            try:
                Journal(path, "f", 4)
            except InputError as error:
                failed.append(error)

        thread = threading.Thread(target=second_one)
        thread.start()
        thread.join()
        assert len(failed) == 1
        first.add(['{"cell":1,"row":{"varied":{}}}'])
    with Journal(path, "f", 4) as second:
        assert set(second.lines) == {1}


@pytest.mark.parametrize(
    ("line", "said"),
    [
        ("[" * 2000, "line 3 is damaged"), ('{"cell":1}', "line 3 is damaged"), ('{"cell":1,"row":[]}', "damaged"),
        ('{"cell":1,"row":{}}', "damaged"), ('{"cell":true,"row":{"varied":{}}}', "has cell True"),
        ('{"cell":4,"row":{"varied":{}}}', "has cell 4 of 4"), ('{"cell":' + "9" * 5000 + "}", "damaged"),
        ("null", "damaged"), ("", "damaged"), ("\\ud800", "damaged"),
    ],
)  # fmt: skip
def test_damaged_cells_name_their_line(tmp_path, line, said):
    path = tmp_path / "cells.jsonl"
    sweep(**SMALL, resume=str(path))
    head, first, *rest = path.read_text().splitlines()
    path.write_text("\n".join([head, first, line, *rest]) + "\n")
    before = path.read_bytes()
    with pytest.raises(InputError, match=said) as caught:
        sweep(**SMALL, resume=str(path))
    assert "\n" not in str(caught.value) and path.read_bytes() == before


def test_only_plain_files_hold_cells(tmp_path):
    for path in (str(tmp_path), os.devnull, "nul\0name"):
        with pytest.raises(InputError):
            sweep(**SMALL, resume=path)


def test_a_long_line_is_not_read_whole(tmp_path, monkeypatch):
    monkeypatch.setattr("clover_sim.sweeping._journal.LONGEST_LINE_BYTES", 2000)
    path = tmp_path / "cells.jsonl"
    Journal(str(path), "f", 4).close()
    path.write_bytes(path.read_bytes() + b"x" * 5000)
    with pytest.raises(InputError, match="line 2 has over"):
        Journal(str(path), "f", 4)
