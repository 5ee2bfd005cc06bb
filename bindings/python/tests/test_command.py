"""The command that the wheel carries."""

from __future__ import annotations

import json
import os
import pathlib
import signal
import subprocess
import sys
import time

import pytest

import pericope

from .conftest import HANDBOOK, ROOT, command


def run(*arguments: str, **options: object) -> subprocess.CompletedProcess[str]:
    return subprocess.run(command(*arguments), capture_output=True, text=True, **options)  # type: ignore[call-overload,no-any-return]


def test_it_is_the_command() -> None:
    assert pericope.__version__ in run("--version").stdout
    assert run("segment", "--help").returncode == 0
    assert run("nonsense").returncode == 2
    module = subprocess.run([sys.executable, "-m", "pericope", "--version"], capture_output=True, text=True)
    assert module.stdout == run("--version").stdout


def test_it_gives_what_the_library_gives() -> None:
    path = sorted(HANDBOOK.glob("*.md"))[0]
    asked = run("segment", str(path), "--segmenter", "structure", "--tokenizer", "words", "--format", "json")
    lines = [json.loads(line) for line in asked.stdout.splitlines()]
    chunks = pericope.Segmenter("structure", tokenizer="words").segment(pericope.read(path))
    of_library = [(chunk.start_byte, chunk.end_byte, chunk.tokens, chunk.text) for chunk in chunks]
    assert [(line["start"], line["end"], line["tokens"], line["text"]) for line in lines] == of_library


def test_pdfs_are_read_by_its_own_workers() -> None:
    (sample,) = (ROOT / "crates" / "read" / "tests").rglob("pump.pdf")
    asked = run("segment", str(sample), "--segmenter", "paragraph", "--tokenizer", "words")
    assert asked.returncode == 0 and asked.stdout.strip()


def test_a_closed_pipe_is_no_error() -> None:
    path = sorted(HANDBOOK.glob("*.md"))[0]
    script = f"{command()[0]} segment {path} --segmenter sentence --tokenizer words | head -n 1"
    done = subprocess.run(["bash", "-c", f"set -o pipefail; {script}"], capture_output=True, text=True)
    assert done.returncode == 0 and done.stderr == ""


@pytest.mark.skipif(os.name == "nt", reason="SIGINT cannot be sent to a process on Windows")
def test_an_interrupt_ends_it(tmp_path: pathlib.Path) -> None:
    (tmp_path / "a.md").write_text("# A\n\nText.\n")
    place = tmp_path / "i"
    assert run("index", str(tmp_path / "a.md"), "--into", str(place), "--embedder", "none").returncode == 0
    server = subprocess.Popen(command("serve", "--in", str(place), "--bind", "127.0.0.1:0"), stderr=subprocess.PIPE, text=True)
    assert server.stderr is not None
    line = server.stderr.readline()
    while line and "http://" not in line:
        line = server.stderr.readline()
    assert "http://127.0.0.1" in line
    server.send_signal(signal.SIGINT)
    for _ in range(100):
        if server.poll() is not None:
            break
        time.sleep(0.1)
    ended = server.poll()
    if ended is None:
        server.kill()
    server.stderr.close()
    assert ended in (0, 130)
