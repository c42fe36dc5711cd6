"""Commands and snippets of the pages, run beside the tests that ask for them: a process that starts one after another.

Run by ``test_docs.py``: texts come as a JSON list on standard input, and one line of JSON says how each ended.
"""

from __future__ import annotations

import gzip
import json
import os
import shlex
import shutil
import subprocess
import sys
import tempfile
import time
from concurrent.futures import ThreadPoolExecutor
from pathlib import Path
from typing import NamedTuple

ROOT = Path(__file__).resolve().parent.parent
PATH = os.pathsep.join([str(ROOT / "src"), str(ROOT / "examples" / "plugin" / "src")])
METRICS = (
    'vllm:spec_decode_num_drafts_total{engine="0"} 100.0\nvllm:spec_decode_num_draft_tokens_total{engine="0"} 200.0\n'
    'vllm:spec_decode_num_accepted_tokens_total{engine="0"} 120.0\nvllm:generation_tokens_total{engine="0"} 220.0\n'
)
CALL = '{"name": "search", "arguments": {"query": "block diffusion", "limit": 5, "exact": true}}'
MESSAGES = [
    {"role": "user", "content": "Find the page."},
    {"role": "assistant", "content": '{"name": "search", "arguments": {"query": "block diffusion"}}'},
]


def files(log: str) -> dict[str, bytes]:
    """What the commands of the pages read, by name; ``log`` is that of a server."""
    return {
        "tool_calls.jsonl": (CALL + "\n").encode() * 10,
        "server.log": log.encode(),
        "server.log.gz": gzip.compress(log.encode()),
        "bench.json": METRICS.encode(),
        "transcript.jsonl": "".join(json.dumps(one) + "\n" for one in MESSAGES).encode(),
    }


class Ended(NamedTuple):
    """How a command or snippet ended, and the folder it ran in."""

    returncode: int
    stdout: str
    stderr: str
    folder: str


def run(text: str, folder: str, log: str) -> Ended:
    """Run ``clover-sim ...``, or else a piece of Python, in a folder that holds what the pages name."""
    for name, data in files(log).items():
        Path(folder, name).write_bytes(data)
    words = ["-c", text]
    if text.startswith("clover-sim "):
        words = ["-m", "clover_sim", *shlex.split(text)[1:]]
    env = {**os.environ, "PYTHONPATH": f"{PATH}{os.pathsep}{folder}", "COLUMNS": "110", "PYTHONIOENCODING": "utf-8"}
    try:
        done = subprocess.run(
            [sys.executable, *words], cwd=folder, env=env, capture_output=True, encoding="utf-8", timeout=120,
            input=METRICS if "explain -" in text else "",
        )  # fmt: skip
    except subprocess.TimeoutExpired:
        return Ended(-1, "", "no end within 120 s", folder)
    return Ended(done.returncode, done.stdout, done.stderr, folder)


class Beside:
    """A process that runs ``texts``; what it has to say of each is waited for."""

    def __init__(self, texts: list[str], log: str) -> None:
        self.base = Path(tempfile.mkdtemp(prefix="clover-pages-"))
        self._ended: dict[str, Ended] = {}
        self._begun = ""
        self._said = (self.base / "said").open("w+")
        (self.base / "asked").write_text(json.dumps([log, texts]))
        self.process = subprocess.Popen([sys.executable, __file__, str(self.base)], stdout=self._said)
        self._lines = (self.base / "said").open()

    def __getitem__(self, text: str) -> Ended:
        while text not in self._ended:
            over = self.process.poll() is not None
            *whole, self._begun = (self._begun + self._lines.read()).split("\n")
            for line in whole:
                asked, *how = json.loads(line)
                self._ended[asked] = Ended(*how)
            assert text in self._ended or not over, f"{text} was not run"
            time.sleep(0.005)
        return self._ended[text]

    def end(self) -> None:
        """Stop it, if it is not done yet, and leave nothing behind."""
        self.process.kill()
        self.process.wait()
        self._lines.close()
        self._said.close()
        shutil.rmtree(self.base)


def main(base: str) -> None:
    """Run what is asked; the tests have a processor of their own."""
    log, texts = json.loads(Path(base, "asked").read_text())

    def tell(number: int, text: str) -> None:
        folder = Path(base, str(number))
        folder.mkdir()
        sys.stdout.write(json.dumps([text, *run(text, str(folder), log)]) + "\n")
        sys.stdout.flush()

    with ThreadPoolExecutor(max(1, (os.cpu_count() or 1) - 1)) as pool:
        for future in [pool.submit(tell, number, text) for number, text in enumerate(texts)]:
            future.result()


if __name__ == "__main__":
    main(sys.argv[1])
