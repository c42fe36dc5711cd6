"""A real browser without a window, where there is one."""

from __future__ import annotations

import shutil
import subprocess
import tempfile

import pytest

PROGRAM = next((p for n in ("chromium", "chromium-browser", "google-chrome", "chrome") if (p := shutil.which(n))), None)
needed = pytest.mark.skipif(PROGRAM is None, reason="no Chromium on PATH: the page was not tried in a browser")


def browse(page: str, *flags: str, size: str = "1000,900") -> tuple[str, str]:
    """What the browser prints and what it complains of, for the file at ``page``."""
    with tempfile.TemporaryDirectory() as profile:
        done = subprocess.run(
            [str(PROGRAM), "--headless", "--no-sandbox", "--disable-gpu", "--hide-scrollbars", f"--window-size={size}",
             f"--user-data-dir={profile}", "--virtual-time-budget=3000", "--enable-logging=stderr", *flags,
             f"file://{page}"],
            capture_output=True, text=True, timeout=60,
        )  # fmt: skip
    return done.stdout, "\n".join(line for line in done.stderr.splitlines() if "CONSOLE" in line)
