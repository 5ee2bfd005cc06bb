//! Runs whose answers are compared pair by pair, budgets, sizes, short runs and TREC files, from end to end.

use std::collections::BTreeMap;
use std::path::{Path, PathBuf};
use std::sync::Arc;

use pericope_api::TokenCounter;
use pericope_eval::answer::{Ledger, Models};
use pericope_eval::cell::Cutoff;
use pericope_eval::config::{BudgetRule, Configuration, Experiment};
use pericope_eval::metrics::trec::{evaluate, read_qrels, read_run};
use pericope_eval::record::{Item, PairwiseItem, Preference, RunRecord, Status, Summary};
use pericope_eval::run::{Embedded, RunError, RunFolder, Setup, estimate, load, run};
use pericope_segment::counters::WordCounter;
use pericope_segment::{Limits, Standalone};
use pericope_testkit::llm::{Act, Seen, Server};
use serde::Deserialize;

pub const QUESTIONS: usize = 40;

/// Short articles in pairs of questions, each of which only its article answers.
pub fn questions(folder: &Path) {
    let fact = |i: usize, part: usize| {
        format!(
            "Gate {i}{part} opens at {} degrees when the {part} lamp above hall number {i} has been lit twice.",
            10 + i
        )
    };
    let articles: Vec<serde_json::Value> = (0..QUESTIONS / 2)
        .map(|i| {
            let filler = |n: usize| format!("Dust lies on shelf {n} of room {i}, as it did in the winter before last.");
            let parts = [filler(1), fact(i, 1), filler(2), filler(3), fact(i, 2), filler(4)];
            let context = parts.join(" ");
            let qas: Vec<serde_json::Value> = [1, 2]
                .map(|part| {
                    let text = fact(i, part);
                    let question = format!("At how many degrees does gate {i}{part} open?");
                    let answer = serde_json::json!({"answer_start": context.find(&text), "text": text});
                    serde_json::json!({"id": format!("q{i}-{part}"), "question": question, "answers": [answer]})
                })
                .into();
            let paragraph = serde_json::json!({"context": context, "qas": qas});
            serde_json::json!({"title": format!("hall {i}"), "id": format!("hall {i}"), "paragraphs": [paragraph]})
        })
        .collect();
    let file = serde_json::json!({"version": "1.1", "data": articles});
    std::fs::write(folder.join("q.json"), file.to_string()).unwrap();
}

const PLAIN: &str = r#"name = "judges"
    [data]
    kind = "squad"
    path = "PATH"
    [retrieval]
    embedder = "none"
    modes = ["bm25"]
    k = [1, 3]
    [[chunker]]
    name = "small"
    spec = "fixed:words=7"
    [[chunker]]
    name = "large"
    spec = "fixed:words=23"
    [answer]
    generator = "none"
    [judge]
    kind = "none"
    "#;

pub fn parsed(folder: &Path, more: &[&str]) -> Experiment {
    let text = PLAIN.replace("PATH", &folder.join("q.json").display().to_string());
    let overrides: Vec<String> = more.iter().map(|s| (*s).to_owned()).collect();
    Experiment::parse(&text, Path::new("judges.toml"), &overrides, pericope_segment::registry::list()).unwrap()
}

fn go(experiment: &Experiment, out: &Path, resume: bool, trec: Option<PathBuf>) -> Result<Summary, RunError> {
    let models = Models::open(experiment, out, false, &Ledger::of_run(experiment, out, resume));
    go_with(experiment, out, models.map_err(|e| RunError::Config(e.to_string()))?, resume, trec)
}

/// Runs an experiment without an encoder, with these models.
pub fn go_with(
    experiment: &Experiment,
    out: &Path,
    models: Models,
    resume: bool,
    trec: Option<PathBuf>,
) -> Result<Summary, RunError> {
    let resources = Standalone { defaults: Limits::NONE };
    let setup = Setup {
        segmenters: pericope_segment::registry::list(),
        stores: &Embedded,
        resources: &resources,
        counter: Arc::new(WordCounter),
        encoder: None,
        models,
        rerankers: BTreeMap::new(),
        model_checksums: BTreeMap::new(),
        resume,
        trec,
    };
    run(experiment, &RunFolder::take(out)?, &setup, &(), &mut ()).map(|(summary, _)| summary)
}

pub fn lines<T: for<'de> Deserialize<'de>>(path: &Path) -> Vec<T> {
    let text = std::fs::read_to_string(path).unwrap();
    text.lines().map(|line| serde_json::from_str(line).unwrap()).collect()
}

#[test]
fn budgets_are_filled_to_the_token_whatever_the_chunks() {
    let folder = tempfile::tempdir().unwrap();
    questions(folder.path());
    let budget = |more: &[&str]| {
        let out = tempfile::tempdir().unwrap();
        let more = [&["retrieval.k=[]", "retrieval.token_budgets=[10, 40]"], more].concat();
        let summary = go(&parsed(folder.path(), &more), out.path(), false, None).unwrap();
        (summary, lines::<Item>(&out.path().join("items.jsonl")))
    };
    let (filled, items) = budget(&[]);
    assert_eq!(filled.budget_rule, Some(BudgetRule::Fill));
    // Every chunker gives the reader the same number of words, to the word.
    for cell in &filled.cells {
        assert_eq!(Some(cell.context_tokens), cell.cutoff.tokens().map(|tokens| tokens as f64), "{}", cell.chunker);
    }
    for item in &items {
        let given: usize = item.retrieved.iter().map(|chunk| WordCounter.count(&chunk.text)).sum();
        assert_eq!(Some(given), item.cutoff.tokens());
        let (last, others) = item.retrieved.split_last().unwrap();
        assert!(others.iter().all(|chunk| chunk.whole_tokens.is_none()));
        assert_eq!(last.end - last.start, last.text.len());
        assert!(last.whole_tokens.is_none_or(|whole| whole > last.tokens));
    }
    assert!(
        items.iter().any(|item| item.retrieved.iter().any(|chunk| chunk.whole_tokens.is_some_and(|whole| whole >= 23)))
    );
    let (whole, _) = budget(&["retrieval.budget_rule=whole"]);
    assert_eq!(whole.budget_rule, Some(BudgetRule::Whole));
    let tokens = |summary: &Summary, name: &str, budget| {
        let cell = summary.cells.iter().find(|c| c.chunker == name && c.cutoff == Cutoff::Tokens(budget)).unwrap();
        (cell.context_tokens, cell.metrics["span_recall"])
    };
    // No chunk of 23 words fits into 10; one of 7 with its full stops does, and leaves some of them unused.
    assert_eq!(tokens(&whole, "large", 10), (0.0, 0.0));
    let (given, _) = tokens(&whole, "small", 10);
    assert!((7.0..10.0).contains(&given), "{given}");
    assert_eq!(tokens(&filled, "large", 10).0, 10.0);
}

#[test]
fn same_size_chunks_are_as_large_as_those_of_their_reference() {
    let folder = tempfile::tempdir().unwrap();
    questions(folder.path());
    let sized = "chunker=[{name=\"same\",spec=\"same-size:reference=blocks\"},{name=\"blocks\",spec=\"fixed:words=45\"},\
        {name=\"published\",spec=\"same-size:reference=blocks,match=bound\"}]";
    let out = folder.path().join("run");
    let summary = go(&parsed(folder.path(), &[sized]), &out, false, None).unwrap();
    let row = |name: &str| summary.chunkers.iter().find(|row| row.name == name).unwrap();
    let (same, blocks, published) = (row("same"), row("blocks"), row("published"));
    let matched = same.same_size.as_ref().unwrap();
    assert_eq!((matched.reference.as_str(), matched.words), ("blocks", same.mean_words));
    assert_eq!(matched.reference_words, blocks.mean_words);
    assert!(matched.is_equal(), "{matched:?}");
    assert!(same.shown_spec().contains("words a chunk on average"), "{}", same.shown_spec());
    // As published: the mean is the bound, so the chunks stay below it.
    let bound = published.same_size.as_ref().unwrap();
    assert!(
        bound.miss < 0.0 && published.resolved.as_ref().unwrap().contains(&format!("words={:.0}", blocks.mean_words))
    );
}

#[test]
fn a_short_run_asks_the_first_questions_of_the_same_sample() {
    let folder = tempfile::tempdir().unwrap();
    questions(folder.path());
    let ids = |more: &[&str]| -> Vec<String> {
        load(&parsed(folder.path(), more), &()).unwrap().questions.into_iter().map(|question| question.id).collect()
    };
    let all = ids(&["data.questions=12"]);
    let short = ids(&["data.questions=12", "data.limit=5"]);
    assert_eq!((all.len(), short.as_slice()), (12, &all[..5]));
    let set = load(&parsed(folder.path(), &["data.limit=5"]), &()).unwrap();
    assert_eq!((set.questions.len(), set.documents.len()), (5, QUESTIONS / 2), "the corpus stays");
    let out = folder.path().join("run");
    let summary = go(&parsed(folder.path(), &["data.limit=5"]), &out, false, None).unwrap();
    assert_eq!(summary.questions, 5);
    let record: RunRecord = serde_json::from_slice(&std::fs::read(out.join("run.json")).unwrap()).unwrap();
    assert_eq!(record.config["data"]["limit"], 5);
}

/// The run of [`questions`] whose files were scored by pytrec_eval.
fn exported(folder: &Path) -> (Vec<Item>, PathBuf) {
    questions(folder);
    let (out, trec) = (folder.join("run"), folder.join("trec"));
    go(&parsed(folder, &[]), &out, false, Some(trec.clone())).unwrap();
    (lines(&out.join("items.jsonl")), trec)
}

#[test]
#[ignore = "leaves its files in target/trec, for scripts/golden/golden_retrieval.py export"]
fn the_trec_files_behind_the_golden_figures() {
    let folder = tempfile::tempdir().unwrap();
    let (_, trec) = exported(folder.path());
    let to = Path::new(env!("CARGO_MANIFEST_DIR")).join("../../target/trec");
    std::fs::create_dir_all(&to).unwrap();
    std::fs::copy(trec.join("small.bm25.run"), to.join("export.run")).unwrap();
    std::fs::copy(trec.join("small.qrels"), to.join("export.qrels")).unwrap();
}

#[test]
fn trec_files_give_other_tools_the_figures_of_the_run() {
    let folder = tempfile::tempdir().unwrap();
    let (items, trec) = exported(folder.path());
    for chunker in ["small", "large"] {
        let open = |name: String| std::io::BufReader::new(std::fs::File::open(trec.join(name)).unwrap());
        let ranking = read_run(open(format!("{chunker}.bm25.run"))).unwrap();
        let qrels = read_qrels(open(format!("{chunker}.qrels"))).unwrap();
        assert!(qrels.iter().all(|line| line.grade > 0));
        for k in [1, 3] {
            let scores = evaluate(&ranking, &qrels, k);
            let here = items.iter().filter(|item| item.chunker == chunker && item.cutoff == Cutoff::K(k));
            for item in here {
                let theirs = scores[&item.question_id];
                for (metric, value) in [("ndcg", theirs.ndcg), ("hit", theirs.success)] {
                    assert!((item.metrics[metric] - value).abs() < 1e-12, "{metric} of {}", item.question_id);
                }
                if k == 3 {
                    assert!((item.metrics["mrr"] - theirs.reciprocal_rank).abs() < 1e-12);
                }
            }
        }
    }
}

#[test]
fn pytrec_eval_gives_the_figures_of_the_run() {
    let golden = Path::new(env!("CARGO_MANIFEST_DIR")).join("tests/golden");
    let read = |name: &str| std::fs::read_to_string(golden.join(name)).unwrap();
    let folder = tempfile::tempdir().unwrap();
    let (items, trec) = exported(folder.path());
    for (ours, theirs) in [("small.bm25.run", "export.run"), ("small.qrels", "export.qrels")] {
        assert_eq!(std::fs::read_to_string(trec.join(ours)).unwrap(), read(theirs), "what pytrec_eval read");
    }
    let scores: BTreeMap<String, BTreeMap<String, f64>> = serde_json::from_str(&read("export.json")).unwrap();
    assert_eq!(scores.len(), QUESTIONS);
    for item in items.iter().filter(|item| item.chunker == "small") {
        let (theirs, k) = (&scores[&item.question_id], item.cutoff.size());
        let mut pairs = vec![("ndcg", format!("ndcg_cut_{k}")), ("hit", format!("success_{k}"))];
        pairs.extend((k == 3).then(|| ("mrr", "recip_rank".to_owned())));
        for (metric, name) in pairs {
            assert!((item.metrics[metric] - theirs[&name]).abs() < 1e-9, "{name} of {}", item.question_id);
        }
    }
}

fn marked<'a>(prompt: &'a str, name: &str) -> &'a str {
    let rest = prompt.split_once(&format!("[begin {name} ")).map_or("", |(_, rest)| rest);
    let rest = rest.split_once('\n').map_or("", |(_, rest)| rest);
    rest.split_once(&format!("\n[end {name} ")).map_or(rest, |(found, _)| found)
}

/// Answers with the first words that it is given; as a judge it prefers the longer answer, but between answers to the
/// second question of each article always the one that it reads first.
fn reply(seen: &Seen) -> String {
    if seen.prompt.contains("First answer:") {
        let (first, second) = (marked(&seen.prompt, "first"), marked(&seen.prompt, "second"));
        let question = marked(&seen.prompt, "question");
        let biased = question.split_whitespace().any(|word| word.ends_with('2') && word.len() > 1);
        let better = if biased || first.len() > second.len() { "first" } else { "second" };
        return format!("{{\"reason\": \"as told\", \"better\": \"{better}\"}}");
    }
    if seen.body["model"] == "judge" {
        return "{\"reason\": \"because\", \"score\": 6}".to_owned();
    }
    marked(&seen.prompt, "excerpt 1").split_whitespace().take(12).collect::<Vec<_>>().join(" ")
}

#[test]
fn answers_are_compared_in_both_orders_and_what_changes_is_a_tie() {
    let folder = tempfile::tempdir().unwrap();
    questions(folder.path());
    let server = Server::start(reply, |_| Act::Answer).unwrap();
    let url = server.base_url();
    let model =
        |table: &str, name: &str| format!("llm.{table}={{provider=\"openai\",base_url=\"{url}\",model=\"{name}\"}}");
    let (generator, judge) = (model("generator", "reader"), model("judge", "judge"));
    let more = [
        "retrieval.k=[1]",
        "answer.generator=llm",
        "judge={kind=\"llm\",checks=false,pairwise=true}",
        generator.as_str(),
        judge.as_str(),
    ];
    let experiment = parsed(folder.path(), &more);
    let out = folder.path().join("run");
    let summary = go(&experiment, &out, false, None).unwrap();
    let calls = server.calls();
    // What was said beforehand is at least what was asked.
    let set = load(&experiment, &()).unwrap();
    assert!(estimate(&experiment, &set).calls() >= calls, "{calls}");

    let [row] = summary.pairwise.as_slice() else { panic!("{:?}", summary.pairwise) };
    assert_eq!((row.chunker.as_str(), row.baseline.as_str()), ("large", "small"));
    let items: Vec<PairwiseItem> = lines(&out.join("pairwise.jsonl"));
    assert_eq!((items.len(), row.n, row.failed), (QUESTIONS, QUESTIONS, 0));
    for item in &items {
        assert_eq!(item.status, Status::Ok);
        let (Some(first), Some(second)) = (item.first, item.second) else { continue };
        if item.depends_on_order() {
            assert_eq!((first, second, item.verdict), (Preference::Win, Preference::Loss, Preference::Tie));
        } else {
            assert_eq!((first, item.verdict), (second, first));
            assert!(item.reason == "as told" && item.cost.is_some());
        }
    }
    // The answers from chunks of 7 words are shorter than those of 12: the judge prefers the longer, in half of the questions.
    assert!(row.wins > 10 && row.order_changes > 10 && row.towards_first == row.order_changes, "{row:?}");
    assert!(row.low <= row.win_rate && row.win_rate <= row.high && row.win_rate > 0.6, "{row:?}");
    let who = &summary.judges["pairwise"];
    assert!(who.to_string().starts_with("judge (openai), prompt "), "{who}");
    assert_eq!(summary.judges["judge"].votes, Some(1));

    // Taken up again, nothing is asked twice.
    let again = go(&experiment, &out, true, None).unwrap();
    assert_eq!((again.pairwise, server.calls()), (summary.pairwise, calls));
    let report = pericope_report::run::Report::load(&out).unwrap();
    pericope_report::run::write(&out, &report).unwrap();
    for file in ["index.html", "summary.md"] {
        let text = std::fs::read_to_string(out.join(file)).unwrap();
        assert!(text.contains("pair by pair") && text.contains("judge (openai), prompt "), "{file}");
    }
}

#[test]
fn pairs_whose_comparison_cannot_be_had_are_counted() {
    let folder = tempfile::tempdir().unwrap();
    questions(folder.path());
    let server = Server::start(reply, |seen| {
        if seen.prompt.contains("First answer:") && seen.prompt.contains("gate 31 ") {
            Act::Refuse
        } else {
            Act::Answer
        }
    })
    .unwrap();
    let url = server.base_url();
    let judge = format!("llm.judge={{provider=\"openai\",base_url=\"{url}\",model=\"judge\"}}");
    let generator = format!("llm.generator={{provider=\"openai\",base_url=\"{url}\",model=\"reader\"}}");
    let asked = ["retrieval.k=[1]", "answer.generator=llm", "judge={kind=\"llm\",checks=false,pairwise=true}"];
    let more = [&asked[..], &[judge.as_str(), generator.as_str()]].concat();
    let summary = go(&parsed(folder.path(), &more), &folder.path().join("run"), false, None).unwrap();
    let row = &summary.pairwise[0];
    assert_eq!((row.n, row.failed), (QUESTIONS - 1, 1));
    assert_eq!(summary.failed, 0, "the answers themselves are there");
}
