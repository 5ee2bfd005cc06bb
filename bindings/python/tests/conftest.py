"""What the tests share."""

from __future__ import annotations

import os
import pathlib
import subprocess
from typing import Iterator

import pytest

import pericope

ROOT = pathlib.Path(__file__).resolve().parents[3]
HANDBOOK = ROOT / "corpora" / "handbook"


def installed(name: str) -> bool:
    """Whether a model is on this machine."""
    try:
        pericope.Embedder(name)
    except pericope.UsageError:
        return False
    return True


@pytest.fixture(scope="session")
def minilm() -> pericope.Embedder:
    """The default embedder; tests that need it are skipped where it is not installed."""
    if not installed("minilm"):
        pytest.skip("the model minilm is not installed")
    return pericope.Embedder("minilm")


@pytest.fixture(scope="session")
def handbook() -> list[pericope.Document]:
    """Some pages of the handbook."""
    return [pericope.read(path) for path in sorted(HANDBOOK.glob("*.md"))]


@pytest.fixture
def qdrant() -> Iterator[str]:
    """The address of a server with Qdrant's interface: the one in memory that the library's own tests use."""
    program = os.environ.get("PERICOPE_TEST_QDRANT", "")
    if not pathlib.Path(program).is_file():
        pytest.skip("PERICOPE_TEST_QDRANT names no server")
    with subprocess.Popen([program, "--port", "0"], stdin=subprocess.PIPE, stdout=subprocess.PIPE, text=True) as server:
        assert server.stdout and server.stdin
        yield server.stdout.readline().strip()
        server.stdin.close()


@pytest.fixture(autouse=True)
def elsewhere(tmp_path: pathlib.Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """Tests write into a folder of their own."""
    monkeypatch.chdir(tmp_path)


def command(*arguments: str) -> list[str]:
    """The command as the wheel installs it."""
    import sysconfig

    ending = ".exe" if os.name == "nt" else ""
    return [str(pathlib.Path(sysconfig.get_path("scripts")) / f"pericope{ending}"), *arguments]
