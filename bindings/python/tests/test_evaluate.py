"""Experiments."""

from __future__ import annotations

import json
import pathlib
from typing import Any

import pytest

import pericope

from .conftest import ROOT

CONFIG: dict[str, Any] = {
    "kind": "retrieval",
    "name": "from-python",
    "data": {"kind": "squad", "path": str(ROOT / "corpora" / "handbook-questions.json"), "questions": 12},
    "retrieval": {"embedder": "none", "modes": ["bm25"], "k": [1, 3]},
    "chunker": [{"name": "fixed", "spec": "fixed:words=100"}, {"name": "structure", "spec": "structure"}],
    "answer": {"generator": "extractive"},
    "judge": {"kind": "lexical"},
}


def test_a_dictionary() -> None:
    summary = pericope.evaluate({**CONFIG, "max_tokens": None})
    assert (summary["name"], summary["questions"], summary["failed"]) == ("from-python", 12, 0)
    assert [chunker["name"] for chunker in summary["chunkers"]] == ["fixed", "structure"]
    assert len(summary["cells"]) == 4 and 0 <= summary["cells"][0]["metrics"]["span_recall"] <= 1
    assert summary["comparisons"][0]["n"] == 12 and summary["verdict"]["sentence"]
    assert list(pathlib.Path.cwd().iterdir()) == []


def test_a_file_and_a_folder(tmp_path: pathlib.Path) -> None:
    path = tmp_path / "experiment.toml"
    path.write_text(
        f"""
kind = "retrieval"
name = "file"
[data]
kind = "squad"
path = {str(ROOT / "corpora" / "handbook-questions.json")!r}
questions = 30
[retrieval]
embedder = "none"
modes = ["bm25"]
k = [1]
[[chunker]]
name = "structure"
spec = "structure"
"""
    )
    summary = pericope.evaluate(path, out=tmp_path / "run", set=["data.questions=5"])
    assert summary["questions"] == 5
    assert json.loads((tmp_path / "run" / "summary.json").read_text()) == summary
    assert (tmp_path / "run" / "index.html").is_file()
    text = path.read_text()
    assert pericope.evaluate(text, set=["data.questions=5"])["questions"] == 5
    assert pericope.evaluate(path, out=tmp_path / "run", set=["data.questions=5"], resume=True)["questions"] == 5


def test_what_is_refused(tmp_path: pathlib.Path) -> None:
    with pytest.raises(pericope.UsageError, match="the configuration: .*unknown field `chunkers`"):
        pericope.evaluate({**CONFIG, "chunkers": []})
    with pytest.raises(pericope.UsageError, match="cannot read the configuration none.toml"):
        pericope.evaluate("none.toml")
    with pytest.raises(pericope.UsageError, match="did you mean"):
        pericope.evaluate({**CONFIG, "chunker": [{"name": "x", "spec": "structur"}]})
    with pytest.raises(pericope.UsageError):
        pericope.evaluate({**CONFIG, "data": {"kind": "squad", "path": "none.json"}})
