"""The examples run as they stand."""

from __future__ import annotations

import pathlib
import re
import subprocess
import sys

import pytest

from .conftest import HANDBOOK, ROOT

PACKAGE = ROOT / "bindings" / "python"
BLOCK = re.compile(r"^```python\n(.*?)^```$", re.M | re.S)


def blocks(page: pathlib.Path) -> list[str]:
    return BLOCK.findall(page.read_text(encoding="utf-8"))


def test_the_readme(tmp_path: pathlib.Path) -> None:
    (example,) = blocks(PACKAGE / "README.md")
    done = subprocess.run([sys.executable, "-c", example], cwd=tmp_path, capture_output=True, text=True)
    assert done.stderr == "" and done.returncode == 0
    lines = done.stdout.splitlines()
    assert lines[0].endswith("Keys") and lines[1].endswith("Keys > Lost keys")
    assert lines[2].startswith("keys.md (5, 7)") and float(lines[-1]) == pytest.approx(2 / 3)


def test_the_readme_of_the_project(tmp_path: pathlib.Path) -> None:
    (example,) = blocks(ROOT / "README.md")
    done = subprocess.run([sys.executable, "-c", example], cwd=tmp_path, capture_output=True, text=True)
    assert done.stderr == "" and done.returncode == 0
    assert "tokens under ('Keys',) # Keys" in done.stdout
    assert "tokens under ('Keys', 'Lost keys') ## Lost keys" in done.stdout
    assert "\nkeys.md (5, 7) " in done.stdout


def test_the_documentation(tmp_path: pathlib.Path) -> None:
    """Its blocks are one program, one after the other."""
    found = blocks(ROOT / "docs" / "python.md")
    assert len(found) > 5
    program = "\n".join(found).replace('"docs/', f'"{HANDBOOK.as_posix()}/').replace('"docs"', f'"{HANDBOOK.as_posix()}"')
    done = subprocess.run([sys.executable, "-c", program], cwd=tmp_path, capture_output=True, text=True)
    assert done.stderr == "" and done.returncode == 0


@pytest.mark.parametrize("name", ["custom_segmenter", "own_encoder", "index_folder"])
def test_the_examples(name: str) -> None:
    arguments = [str(HANDBOOK), "how do I feed a sourdough starter"] if name == "index_folder" else []
    program = [sys.executable, str(PACKAGE / "examples" / f"{name}.py"), *arguments]
    done = subprocess.run(program, capture_output=True, text=True)
    assert done.returncode == 0 and done.stdout.strip(), done.stderr
