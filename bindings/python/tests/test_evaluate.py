"""Experiments."""

from __future__ import annotations

import json
import pathlib
import types
from typing import Any, Mapping

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


def test_a_sweep(tmp_path: pathlib.Path) -> None:
    swept = {**CONFIG, "sweep": {"chunker.fixed.spec": ["fixed:words=50", "fixed:words=100"]}}
    runs = pericope.evaluate(swept, out=tmp_path / "run")["runs"]
    assert len(runs) == 2 and len({run["label"] for run in runs}) == 2
    alone = pericope.evaluate(CONFIG)

    def recall(summary: dict[str, Any]) -> list[float]:
        return [cell["metrics"]["span_recall"] for cell in summary["cells"]]

    assert recall(runs[1]["summary"]) == recall(alone) != recall(runs[0]["summary"])
    for run in runs:
        assert json.loads((pathlib.Path(run["folder"]) / "summary.json").read_text()) == run["summary"]
    assert (tmp_path / "run" / "index.html").is_file()
    # Where nothing is kept no folder is named.
    assert [run["folder"] for run in pericope.evaluate(swept)["runs"]] == [None, None]


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


def test_values_of_a_configuration(tmp_path: pathlib.Path) -> None:
    data = {**CONFIG["data"], "path": pathlib.Path(CONFIG["data"]["path"])}
    assert pericope.evaluate({**CONFIG, "data": data})["questions"] == 12
    with pytest.raises(pericope.UsageError, match="NaN or infinite"):
        pericope.evaluate({**CONFIG, "retrieval": {**CONFIG["retrieval"], "k": [float("nan")]}})
    with pytest.raises(pericope.UsageError, match="out is empty"):
        pericope.evaluate(CONFIG, out="")
    segmenters: dict[str, Any] = {"x": pericope.Segmenter("paragraph")}
    with pytest.raises(pericope.UsageError, match="pass the spec"):
        pericope.evaluate(CONFIG, segmenters=segmenters)


def test_hits_of_an_index_from_a_retriever(tmp_path: pathlib.Path) -> None:
    data = json.loads((ROOT / "corpora" / "handbook-questions.json").read_text())["data"]
    documents = [
        # Bytes and characters lie apart.
        pericope.Document("🔑🔑🔑 " + article["paragraphs"][0]["context"], id=article["id"])
        for article in data
    ]
    for article in data:
        paragraph = article["paragraphs"][0]
        paragraph["context"] = "🔑🔑🔑 " + paragraph["context"]
        for one in paragraph["qas"]:
            for answer in one["answers"]:
                answer["answer_start"] += 4
    (tmp_path / "q.json").write_text(json.dumps({"version": "1.1", "data": data}))
    pericope.index(documents, tmp_path / "i", segmenter="structure")
    index = pericope.open(tmp_path / "i")
    retrievers: dict[str, Any] = {
        "hits": lambda question, k: index.search(question, k),
        "dictionaries": lambda question, k: [hit.to_dict() for hit in index.search(question, k)],
        "places": lambda question, k: [
            {"document": hit.document, "start": hit.start, "end": hit.end, "score": hit.score} for hit in index.search(question, k)
        ],
    }
    config = {**CONFIG, "data": {**CONFIG["data"], "path": tmp_path / "q.json"}}
    summary = pericope.evaluate(config, retrievers=retrievers)
    found: dict[str, list[float]] = {name: [] for name in retrievers}
    for cell in summary["cells"]:
        if cell["chunker"] in found:
            found[cell["chunker"]].append(cell["metrics"]["span_recall"])
    assert found["hits"] == found["dictionaries"] == found["places"] and found["hits"][-1] > 0


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
    with pytest.raises(pericope.UsageError, match="none was brought"):
        pericope.evaluate({**CONFIG, "judge": {"kind": "custom"}})
    with pytest.raises(pericope.UsageError, match="judge.kind was set"):
        pericope.evaluate(CONFIG, judge=judge, set=["judge.kind=lexical"])
    # Numbers may be numpy's, and nothing was asked that costs anything.
    by_numpy = pericope.evaluate(CONFIG, judge=lambda *asked: np.float32(judge(*asked)[0]))  # type: ignore[arg-type]
    assert [cell["metrics"]["judge"] for cell in by_numpy["cells"]] == means
    assert all("cost" not in cell for cell in by_numpy["cells"])


def test_runs_of_two_judges_are_not_mixed(tmp_path: pathlib.Path) -> None:
    class Strict:
        def __init__(self, fingerprint: str) -> None:
            self.fingerprint = fingerprint

        def judge(self, question: str, gold: str, answer: str, context: list[str]) -> float:
            return 9.0 if answer == gold else 1.0

    def found(judge: Any, **more: Any) -> dict[str, Any]:
        return pericope.evaluate(CONFIG, judge=judge, retrievers={"none": nothing}, out=tmp_path / "run", **more)

    def nothing(question: str, k: int) -> list[dict[str, Any]]:
        return []

    summary = found(Strict("one"))
    assert summary["judges"]["judge"] == {"kind": "custom", "model": "one"}
    record = json.loads((tmp_path / "run" / "run.json").read_text())
    assert record["checksums"]["models"]["judge"] == "one"
    assert record["checksums"]["models"]["retriever none"].endswith("test_runs_of_two_judges_are_not_mixed.<locals>.nothing")
    assert found(Strict("one"), resume=True)["questions"] == 12
    with pytest.raises(pericope.UsageError, match=r"other models \(judge\)"):
        found(Strict("two"), resume=True)


def test_retrievers_of_your_own() -> None:
    data = json.loads((ROOT / "corpora" / "handbook-questions.json").read_text())["data"]
    gold = {
        one["question"]: (one["answers"][0]["text"], article["title"], one["answers"][0]["answer_start"])
        for article in data
        for one in article["paragraphs"][0]["qas"]
    }

    def knows(question: str, k: int) -> list[Mapping[str, Any]]:
        # Any mapping, and numbers of numpy's.
        hit: Mapping[str, Any] = types.MappingProxyType({"text": gold[question][0], "score": np.float32(0.5)})
        return [hit][:k]

    class Blind:
        def retrieve(self, question: str, k: int) -> dict[str, Any]:
            return {"hits": []}

    mine: Mapping[str, Any] = types.MappingProxyType({"knows": knows, "blind": Blind()})
    proxied = types.MappingProxyType({**CONFIG, "retrieval": types.MappingProxyType(CONFIG["retrieval"])})
    summary = pericope.evaluate(proxied, retrievers=mine)
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
    with pytest.raises(pericope.UsageError, match="none of this name was brought"):
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


def test_segmenters_of_your_own(tmp_path: pathlib.Path) -> None:
    def every_third(document: pericope.Document) -> pericope.Boundaries:
        return pericope.Boundaries(range(3, len(document), 3))

    summary = pericope.evaluate(CONFIG, segmenters={"every, third": every_third}, out=tmp_path / "run")
    rows = {row["name"]: row for row in summary["chunkers"]}
    assert list(rows) == ["fixed", "structure", "every, third"] and rows["every, third"]["chunks"] > 50
    assert rows["every, third"]["fingerprint"].endswith("every_third") and len(summary["cells"]) == 6
    with pytest.raises(pericope.UsageError, match="another model"):
        other = {"every, third": lambda document: pericope.Boundaries([])}
        pericope.evaluate(CONFIG, segmenters=other, out=tmp_path / "run", resume=True)
    # A row of the configuration may say more of it, and same-size may be sized by it.
    rows_of_its_own = [
        {"name": "short", "spec": "custom:name=mine,max_tokens=40"},
        {"name": "same", "spec": "same-size:reference=short"},
    ]
    summary = pericope.evaluate({**CONFIG, "chunker": rows_of_its_own}, segmenters={"mine": every_third})
    short, same = summary["chunkers"][0], summary["chunkers"][1]
    assert short["max_tokens"] <= 40 and abs(same["mean_words"] / short["mean_words"] - 1) < 0.2

    def broken(document: pericope.Document) -> pericope.Boundaries:
        raise KeyError("mine")

    with pytest.raises(KeyError, match="mine"):
        pericope.evaluate(CONFIG, segmenters={"broken": broken})
    with pytest.raises(pericope.UsageError, match="none named `x` was brought"):
        pericope.evaluate({**CONFIG, "chunker": [{"name": "x", "spec": "custom:name=x"}]})
    with pytest.raises(pericope.UsageError, match="segmenter 'fixed' was passed"):
        pericope.evaluate(CONFIG, segmenters={"fixed": every_third})


def by_paragraph(document: pericope.Document) -> pericope.Boundaries:
    starts = [sentence.text.startswith("New topic") for sentence in document.sentences]
    return pericope.Boundaries([at for at, begins in enumerate(starts) if begins and at > 0])


def test_segmentation(tmp_path: pathlib.Path) -> None:
    sentences = ["Rain falls.", "Snow melts.", "New topic: ships.", "Masts creak.", "New topic: bread.", "Dough rises."]
    line = {"id": "a", "sentences": sentences, "boundaries": [2, 4]}
    (tmp_path / "set.jsonl").write_text(json.dumps(line) + "\n" + json.dumps({**line, "id": "b"}) + "\n")
    config = {
        "kind": "segmentation",
        "name": "cuts",
        "set": [{"name": "made", "path": str(tmp_path / "set.jsonl")}],
        "segmenter": [{"name": "at random", "spec": "random:mean=3", "known": True}],
    }
    summary = pericope.evaluate(config, segmenters={"mine": by_paragraph}, out=tmp_path / "run")
    found = {(row["segmenter"], row["known_count"]): row for row in summary["results"]}
    assert set(found) == {("at random", False), ("at random", True), ("mine", False)}
    assert (found["mine", False]["pk"], found["mine", False]["f1"]) == (0, 1)
    assert json.loads((tmp_path / "run" / "summary.json").read_text()) == summary
    assert (tmp_path / "run" / "index.html").is_file() and summary["sets"][0]["documents"] == 2
    before = sorted(tmp_path.iterdir())
    assert pericope.evaluate(config)["results"] and sorted(tmp_path.iterdir()) == before

    def broken(document: pericope.Document) -> pericope.Boundaries:
        raise KeyError("mine")

    with pytest.raises(KeyError, match="mine"):
        pericope.evaluate(config, segmenters={"mine": broken})
    with pytest.raises(pericope.UsageError, match="judge was passed, and experiments on segmentation have no place for it"):
        pericope.evaluate(config, judge=lambda *_: 1)
    with pytest.raises(pericope.UsageError, match="embedder was passed"):
        pericope.evaluate(config, embedder="minilm")
    with pytest.raises(pericope.UsageError, match="segmenter 'at random' was passed"):
        pericope.evaluate(config, segmenters={"at random": by_paragraph})
    with pytest.raises(pericope.UsageError, match="resume=True is for experiments on retrieval"):
        pericope.evaluate(config, resume=True)
    with pytest.raises(pericope.UsageError, match="none.jsonl"):
        pericope.evaluate({**config, "set": [{"name": "made", "path": "none.jsonl"}]})


def test_classification(tmp_path: pathlib.Path) -> None:
    from .test_custom import Letters

    words = {"birds": "wings beaks feathers nests", "ships": "masts anchors sails hulls"}
    lines = tmp_path / "classes.jsonl"
    with lines.open("w") as file:
        for kind, said in words.items():
            for number in range(12):
                text = f"# Page {number}\n\n" + f"They have {said}. Number {number} says so twice.\n\n" * 3
                file.write(json.dumps({"id": f"{kind}-{number}", "label": kind, "format": "md", "text": text}) + "\n")
    config = {
        "kind": "classification",
        "name": "kinds",
        "data": {"kind": "classes", "path": str(lines)},
        "chunker": [{"name": "paragraph", "spec": "paragraph"}],
        "classifier": {"epochs": 3, "seeds": [1]},
    }
    summary = pericope.evaluate(config, embedder=Letters(), segmenters={"mine": by_paragraph}, out=tmp_path / "run")
    assert [row["name"] for row in summary["chunkers"]] == ["paragraph", "mine"]
    assert all(0 <= row["accuracy"] <= 1 for row in summary["chunkers"])
    assert json.loads((tmp_path / "run" / "summary.json").read_text()) == summary
    with pytest.raises(pericope.UsageError, match="retrievers was passed"):
        pericope.evaluate(config, retrievers={"x": lambda question, k: []})
    with pytest.raises(pericope.UsageError, match="embedder was set"):
        pericope.evaluate(config, embedder=Letters(), set=["embedder=minilm"])


def test_what_is_tuned_is_the_command_s() -> None:
    with pytest.raises(pericope.UsageError, match="the tuning of a segmenter .*`pericope tune`"):
        pericope.evaluate({"kind": "tune", "model": "shipped", "data": ["x"], "partitions": [1]})
