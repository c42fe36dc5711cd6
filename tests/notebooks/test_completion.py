"""Completion scripts: made from the parsers, accepted by the shells, and they complete."""

from __future__ import annotations

import shutil
import subprocess

import pytest

from clover_sim.cli import completion, main
from clover_sim.cli._dispatch import commands


@pytest.mark.parametrize("shell", ["bash", "zsh", "fish"])
def test_every_command_and_flag_is_in_it(shell, capsys):
    assert main(["completion", shell]) == 0
    script = capsys.readouterr().out
    for name, (_, flags) in completion.flags().items():
        assert name in commands() and name in script
        for flag in flags:
            long = max(flag.names, key=len)
            assert (f"-l {long[2:]} " if shell == "fish" and long.startswith("--") else long) in script


@pytest.mark.parametrize("shell", ["bash", "zsh", "fish"])
def test_the_shell_reads_it(shell, tmp_path, capsys):
    if not shutil.which(shell):
        pytest.skip(f"no {shell} on PATH: its script was not tried")
    assert main(["completion", shell]) == 0
    file = tmp_path / "script"
    file.write_text(capsys.readouterr().out)
    done = subprocess.run([shell, "-n", str(file)], capture_output=True, text=True)
    assert done.returncode == 0, done.stderr


@pytest.mark.skipif(not shutil.which("bash"), reason="no bash on PATH")
@pytest.mark.parametrize(
    ("line", "expected"),
    [
        ("clover-sim swe", {"sweep"}),
        ("clover-sim compare --gpu h20", {"h200", "h20", "h200-nvl"}),
        ("clover-sim compare --thresh", {"--threshold"}),
        ("clover-sim compare -s block-d", {"block-diffusion"}),
        ("clover-sim completion z", {"zsh"}),
    ],
)
def test_bash_completes(line, expected, tmp_path, capsys):
    assert main(["completion", "bash"]) == 0
    script = capsys.readouterr().out
    words = line.split()
    typed = f"COMP_WORDS=({' '.join(words)}); COMP_CWORD={len(words) - 1}"
    asked = typed + "; _clover_sim; printf '%s\\n' \"${COMPREPLY[@]}\""
    done = subprocess.run(["bash", "-c", f"{script}\n{asked}"], capture_output=True, text=True, cwd=tmp_path)
    assert done.returncode == 0, done.stderr
    assert set(done.stdout.split()) <= expected and done.stdout.split()
