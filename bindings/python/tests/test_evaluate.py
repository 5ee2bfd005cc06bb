"""Experiments."""

from __future__ import annotations

import json
import pathlib
import types
from typing import Any

import numpy as np
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


def test_a_judge_of_your_own() -> None:
    asked: list[tuple[str, str, str, list[str]]] = []

    def judge(question: str, gold: str, answer: str, context: list[str]) -> tuple[float, str]:
        asked.append((question, gold, answer, context))
        return (10.0, "the same") if answer == gold else (1.5, "another")

    summary = pericope.evaluate(CONFIG, judge=judge)
    # Before the run it judges gold answers by themselves; then 12 questions, two chunkers, two settings.
    assert len([one for one in asked if one[3]]) == 48
    means = [cell["metrics"]["judge"] for cell in summary["cells"]]
    assert all(1.5 <= mean <= 10 for mean in means) and summary["judges"]["judge"]["kind"] == "custom"
    # One that gives every answer the same is refused, as any judge would be.
    with pytest.raises(pericope.RunError, match="answers to other questions score 9.5"):
        pericope.evaluate(CONFIG, judge=lambda *_: 9.5)
    with pytest.raises(pericope.UsageError, match="0..=10"):
        pericope.evaluate(CONFIG, judge=lambda *_: 11)
    with pytest.raises(pericope.UsageError, match="no judge"):
        pericope.evaluate(CONFIG, judge=3)  # type: ignore[arg-type]
    with pytest.raises(pericope.UsageError, match="brought none"):
        pericope.evaluate({**CONFIG, "judge": {"kind": "custom"}})
    with pytest.raises(pericope.UsageError, match="judge.kind was set"):
        pericope.evaluate(CONFIG, judge=judge, set=["judge.kind=lexical"])
    scored = pericope.evaluate(CONFIG, judge=lambda _q, gold, answer, _c: np.float32(8 if answer == gold else 2))
    assert all(2 <= cell["metrics"]["judge"] <= 8 and "cost" not in cell for cell in scored["cells"])


def test_runs_of_two_judges_are_not_mixed(tmp_path: pathlib.Path) -> None:
    class Lenient:
        def __init__(self, fingerprint: str) -> None:
            self.fingerprint = fingerprint

        def judge(self, question: str, gold: str, answer: str, context: list[str]) -> float:
            return 9.0 if answer == gold else 5.0

    def found(judge: Any, **more: Any) -> dict[str, Any]:
        return pericope.evaluate(CONFIG, judge=judge, retrievers={"none": nothing}, out=tmp_path / "run", **more)

    def nothing(question: str, k: int) -> list[dict[str, Any]]:
        return []

    found(Lenient("one"))
    record = json.loads((tmp_path / "run" / "run.json").read_text())
    assert record["checksums"]["models"]["judge"] == "one"
    assert record["checksums"]["models"]["retriever none"].endswith("test_runs_of_two_judges_are_not_mixed.<locals>.nothing")
    assert found(Lenient("one"), resume=True)["questions"] == 12
    with pytest.raises(pericope.UsageError, match="another models"):
        found(Lenient("two"), resume=True)


def test_retrievers_of_your_own() -> None:
    data = json.loads((ROOT / "corpora" / "handbook-questions.json").read_text())["data"]
    gold = {
        one["question"]: (one["answers"][0]["text"], article["title"], one["answers"][0]["answer_start"])
        for article in data
        for one in article["paragraphs"][0]["qas"]
    }

    def knows(question: str, k: int) -> list[dict[str, Any]]:
        # Numbers may be numpy's.
        return [{"text": gold[question][0], "score": np.float32(0.5)}][:k]

    class Blind:
        def retrieve(self, question: str, k: int) -> dict[str, Any]:
            return {"hits": []}

    mine = types.MappingProxyType({"knows": knows, "blind": Blind()})
    summary = pericope.evaluate(types.MappingProxyType(CONFIG), retrievers=mine)
    found = {cell["chunker"]: cell["metrics"]["span_recall"] for cell in summary["cells"] if cell.get("k") == 1}
    assert (found["knows"], found["blind"]) == (1.0, 0.0) and 0 < found["structure"] < 1

    def broken(question: str, k: int) -> list[dict[str, Any]]:
        raise KeyError("mine")

    with pytest.raises(KeyError, match="mine"):
        pericope.evaluate(CONFIG, retrievers={"broken": broken})
    with pytest.raises(pericope.RunError, match="no hits"):
        pericope.evaluate(CONFIG, retrievers={"odd": lambda question, k: {}})
    row = {"name": "x", "spec": "http://localhost:9/x"}
    with pytest.raises(pericope.UsageError, match="retriever 'x' was passed"):
        pericope.evaluate({**CONFIG, "retriever": [row]}, retrievers={"x": knows})
    with pytest.raises(pericope.UsageError, match="brought none of this name"):
        pericope.evaluate({**CONFIG, "retriever": [{"name": "x", "spec": "custom"}]})


def test_an_encoder_of_your_own() -> None:
    from .test_custom import Letters

    retrieval = {**CONFIG["retrieval"], "modes": ["dense"]}
    config = {**CONFIG, "retrieval": retrieval, "judge": {"checks": False}}
    summary = pericope.evaluate(config, embedder=Letters())
    assert {cell["mode"] for cell in summary["cells"]} == {"dense"}

    class Broken(Letters):
        def encode_passages(self, texts: list[str]) -> Any:
            raise KeyError("mine")

    with pytest.raises(KeyError, match="mine"):
        pericope.evaluate(config, embedder=Broken())
