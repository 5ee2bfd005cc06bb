#!/usr/bin/env python3
"""Golden values for the retrieval and answer metrics of pericope-eval.

Each sub-command writes one fixture of crates/eval/tests/golden from independent implementations:

  trec    random run and qrels files, and what pytrec_eval makes of them
  export  what pytrec_eval makes of the run and qrels files that `pericope eval run --trec` wrote (export.run, export.qrels,
          which the test of the same name leaves in target/trec)
  answers text pairs scored by rouge-score and by SQuAD's rules
  chroma  the three corpora of Chroma's chunking benchmark: gold spans, the chunks of published chunkings, the five
          chunks that exact cosine search finds for every question, and the span scores of each question, worked out
          here on sets of character positions (so not by interval arithmetic, which is what the library does)
            --data FOLDER with corpora/ and questions_df.csv, --spans FOLDER with NAME.json, --model all-MiniLM-L6-v2

The output folder is crates/eval/tests/golden of the checkout unless --out says otherwise.
"""

import argparse
import csv
import json
import random
import re
import string
from collections import Counter
from pathlib import Path

ROOT = Path(__file__).resolve().parents[2]
OUT = ROOT / "crates" / "eval" / "tests" / "golden"


# ---------------------------------------------------------------------------------------------------------------- trec

MEASURES = ["recip_rank", "success_1", "success_3", "success_5", "recall_3", "recall_5", "P_5",
            "ndcg", "ndcg_cut_1", "ndcg_cut_3", "ndcg_cut_5"]


def trec(args):
    import pytrec_eval

    rng = random.Random(20)
    run, qrels = {}, {}
    for query in range(40):
        name = f"q{query}"
        documents = [f"doc{n}" for n in range(30)]
        judged = rng.sample(documents, rng.randint(0, 9))
        if query % 10 == 3:
            judged = judged[:1]
        if judged:
            # Grades up to a few hundred, as when the grade is the number of gold characters in a chunk.
            qrels[name] = {d: rng.choice([0, 1, 1, 2, 3, rng.randint(5, 400)]) for d in judged}
        found = rng.sample(documents, rng.randint(1, 12))
        # Few distinct scores, so that ties occur: trec_eval breaks them by descending document id.
        run[name] = {d: rng.randint(0, 20) / 4 for d in found}
        if query == 39:
            del run[name]
    evaluator = pytrec_eval.RelevanceEvaluator(
        qrels, {"recip_rank", "success.1,3,5", "recall.3,5", "P.5", "ndcg", "ndcg_cut.1,3,5"})
    golden = evaluator.evaluate(run)
    lines = []
    for name, documents in run.items():
        ordered = sorted(documents.items(), key=lambda item: (-item[1], item[0]))
        lines += [f"{name} Q0 {d} {rank} {score} golden" for rank, (d, score) in enumerate(ordered, 1)]
    (args.out / "trec.run").write_text("\n".join(lines) + "\n")
    lines = [f"{name} 0 {d} {grade}" for name, judged in qrels.items() for d, grade in judged.items()]
    (args.out / "trec.qrels").write_text("\n".join(lines) + "\n")
    values = {name: [scores[m] for m in MEASURES] for name, scores in golden.items()}
    write(args.out / "trec.json", {"measures": MEASURES, "queries": values})


def export(args):
    import pytrec_eval

    qrels, run = {}, {}
    for line in (args.out / "export.qrels").read_text().splitlines():
        query, _, document, grade = line.split()
        qrels.setdefault(query, {})[document] = int(grade)
    for line in (args.out / "export.run").read_text().splitlines():
        query, _, document, _, score, _ = line.split()
        run.setdefault(query, {})[document] = float(score)
    evaluator = pytrec_eval.RelevanceEvaluator(qrels, {"recip_rank", "success.1,3", "ndcg_cut.1,3"})
    names = ["recip_rank", "success_1", "success_3", "ndcg_cut_1", "ndcg_cut_3"]
    found = evaluator.evaluate(run)
    assert len(found) == len(run) == len(qrels)
    write(args.out / "export.json", {query: {name: scores[name] for name in names} for query, scores in found.items()})


# ------------------------------------------------------------------------------------------------------------- answers

TEXTS = [
    "", " ", "the", "A", "an apple a day", "An Apple, a day!", "the cat sat on the mat", "The cat sat on a mat.",
    "cat", "cats and dogs", "It's the U.S. economy", "Its US economy", "don't stop", "dont stop",
    "\u201cthe quoted\u201d text", "the-hyphen an_underscore a1 1a", "na\u00efve caf\u00e9 \u00c9COLE", "naive cafe ecole",
    "\u4e2d\u6587 \u7b54\u6848", "\u4e2d\u6587", "\u0130stanbul \u212aelvin stra\u00dfe", "tab\tand\nnew line\u00a0nbsp\u2003em",
    "1 2 3 4 5", "5 4 3 2 1", "one two three four five six", "six five four three two one",
    "The reader cuts a document into passages, each of which stands on its own.",
    "A document is cut into passages by the reader; each one stands on its own feet.",
    "!!! ??? ...", "$5.00 and 10%", "theatre of the absurd", "a a a a b b", "b b a a c",
    "the the the", "x" * 70 + " y", "\u00bd \u00b2 \u2160", "caf\u00e9s are open", "\U0001F600 smile \U0001F600",
]


def squad_tokens(text):
    """Tokens as in SQuAD v1.1: lower case, no ASCII punctuation, no English article, cut at white space."""
    text = "".join(c for c in text.lower() if c not in set(string.punctuation))
    return re.sub(r"\b(a|an|the)\b", " ", text).split()


def squad_f1(answer, gold):
    answer, gold = squad_tokens(answer), squad_tokens(gold)
    if not answer or not gold:
        return float(answer == gold)
    common = sum((Counter(answer) & Counter(gold)).values())
    if common == 0:
        return 0.0
    precision, recall = common / len(answer), common / len(gold)
    return 2 * precision * recall / (precision + recall)


def answers(args):
    from rouge_score import rouge_scorer

    scorer = rouge_scorer.RougeScorer(["rougeL"], use_stemmer=False)
    rng = random.Random(4)
    words = "the a of cut text chunk score index query rank fast slow gold span and in to".split()
    texts = list(TEXTS)
    for _ in range(40):
        texts.append(" ".join(rng.choice(words) for _ in range(rng.randint(1, 200))))
    pairs = [(a, g) for a in range(len(TEXTS)) for g in range(len(TEXTS)) if rng.random() < 0.25 or a == g]
    pairs += [(rng.randrange(len(texts)), rng.randrange(len(TEXTS), len(texts))) for _ in range(120)]
    rows = []
    for a, g in pairs:
        answer, gold = texts[a], texts[g]
        rouge = scorer.score(gold, answer)["rougeL"].fmeasure
        exact = float(" ".join(squad_tokens(answer)) == " ".join(squad_tokens(gold)))
        rows.append([a, g, exact, squad_f1(answer, gold), rouge])
    normal = [" ".join(squad_tokens(t)) for t in texts]
    write(args.out / "answers.json",
          {"columns": ["answer", "gold", "exact_match", "token_f1", "rouge_l"], "texts": texts, "normal": normal,
           "pairs": rows})


# -------------------------------------------------------------------------------------------------------------- chroma

def read_questions(path):
    with open(path, newline="", encoding="utf-8") as file:
        for row in csv.DictReader(file):
            spans = [(int(r["start_index"]), int(r["end_index"])) for r in json.loads(row["references"])]
            yield row["question"], row["corpus_id"], spans


def positions(spans):
    return {p for start, end in spans for p in range(start, end)}


def span_scores(corpus, gold, found, chunks):
    """Recall, precision, IoU and precision-omega of one question, on sets of positions."""
    wanted = positions(gold)
    gold_length = sum(end - start for start, end in gold)
    hit = wanted & positions((s, e) for c, s, e in found if c == corpus)
    missed = sum(len(positions([g]) - hit) for g in gold)
    paid = sum(e - s for _, s, e in found)
    touching = positions((s, e) for c, s, e in chunks
                         if c == corpus and any(max(s, a) < min(e, b) for a, b in gold))
    best = touching & wanted
    unreached = sum(len(positions([g]) - touching) for g in gold)
    return [len(hit) / gold_length, len(hit) / paid if paid else 0.0, len(hit) / (paid + missed),
            len(best) / (len(touching) + unreached)]


def chroma(args):
    import numpy
    from sentence_transformers import SentenceTransformer

    model = SentenceTransformer(args.model, device="cpu")
    corpora = {p.stem: p.read_text(encoding="utf-8") for p in sorted((args.data / "corpora").glob("*.md"))}
    questions = list(read_questions(args.data / "questions_df.csv"))
    asked = model.encode([q for q, _, _ in questions], normalize_embeddings=True)
    names = sorted(corpora)
    result = {"k": 5, "corpora": names, "metrics": ["recall", "precision", "iou", "precision_omega"],
              "questions": [[names.index(c), [n for span in spans for n in span]] for _, c, spans in questions],
              "chunkers": []}
    for path in sorted(args.spans.glob("*.json")):
        published = json.loads(path.read_text())
        chunks = [(c["corpus_id"], c["start"], c["end"]) for c in published["chunks"]]
        # The chunker of the benchmark emits bare full stops, which are located as the empty text at 0.
        texts = [corpora[c][s:e] or "." for c, s, e in chunks]
        vectors = model.encode(texts, normalize_embeddings=True)
        order = numpy.argsort(-(asked @ vectors.T), axis=1, kind="stable")[:, :5]
        scores = numpy.array([span_scores(c, spans, [chunks[i] for i in row], chunks)
                              for (_, c, spans), row in zip(questions, order)])
        mean = dict(zip(result["metrics"], scores.mean(axis=0).tolist()))
        for metric, value in mean.items():
            difference = value - published["exact_search"][metric]
            print(f"{path.stem:18} {metric:16} {value:.6f} {difference:+.7f}")
            assert abs(difference) < 5e-4, "differs from the published value"
        result["chunkers"].append({
            "name": path.stem,
            "chunks": [[names.index(c), s, e] for c, s, e in chunks],
            "retrieved": [[int(i) for i in row] for row in order],
            "mean": [mean[m] for m in result["metrics"]],
            "published": [published["exact_search"][m] for m in result["metrics"]],
            "published_std": [published["exact_search_std"][m] for m in result["metrics"]],
            "std": scores.std(axis=0).tolist(),
        })
    write(args.out / "chroma.json", result)


def write(path, value):
    path.write_text(json.dumps(value, separators=(",", ":")) + "\n", encoding="utf-8")
    print(path)


def main():
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--out", type=Path, default=OUT)
    commands = parser.add_subparsers(required=True)
    commands.add_parser("trec").set_defaults(run=trec)
    commands.add_parser("export").set_defaults(run=export)
    commands.add_parser("answers").set_defaults(run=answers)
    command = commands.add_parser("chroma")
    command.add_argument("--data", type=Path, required=True)
    command.add_argument("--spans", type=Path, required=True)
    command.add_argument("--model", required=True)
    command.set_defaults(run=chroma)
    args = parser.parse_args()
    args.out.mkdir(parents=True, exist_ok=True)
    args.run(args)


if __name__ == "__main__":
    main()
