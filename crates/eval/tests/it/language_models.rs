//! Whole runs against a server that speaks the API over real HTTP and misbehaves on purpose.

use std::collections::{BTreeMap, BTreeSet, HashMap};
use std::path::Path;
use std::sync::Arc;
use std::sync::atomic::{AtomicUsize, Ordering};

use pericope_eval::answer::{Ledger, Models};
use pericope_eval::config::{Configuration, Experiment};
use pericope_eval::record::{Item, Status, Summary};
use pericope_eval::run::{Observer, RunError, RunFolder, Setup, run};
use pericope_report::run::Report;
use pericope_segment::counters::WordCounter;
use pericope_segment::{Limits, Standalone};
use pericope_testkit::llm::{Act, Seen, Server};

const KEY: &str = "sk-never-to-be-seen-4711";
const QUESTIONS: usize = 50;

struct Silent;

impl Observer for Silent {
    fn stage(&self, _: &str, _: usize) {}
    fn advance(&self, _: usize) {}
    fn note(&self, _: &str) {}
}

/// Fifty short articles, each with a question that only it answers.
fn questions(folder: &Path) {
    let articles: Vec<serde_json::Value> = (0..QUESTIONS)
        .map(|i| {
            let name = format!("Machine{i}");
            let fact = format!("The {name} runs on {} volts and weighs {} kilograms.", 100 + i, 3 + i % 7);
            let lead = format!("{name} was built in hall {}. Its paint is as grey as a stone.", i % 9);
            let tail = "Nobody remembers who drew the plans. They were lost in a move.";
            let context = format!("{lead} {fact} {tail}");
            let start = context.find("The Machine").expect("the fact is there");
            serde_json::json!({"title": name, "id": format!("m{i}"), "paragraphs": [{"context": context, "qas": [{
                "id": format!("q{i}"), "question": format!("On how many volts does the {name} run?"),
                "answers": [{"text": fact, "answer_start": start}]}]}]})
        })
        .collect();
    let file = serde_json::json!({"version": "1.1", "data": articles});
    std::fs::write(folder.join("q.json"), file.to_string()).unwrap();
}

fn experiment(folder: &Path, server: &Server, more: &[&str]) -> Experiment {
    let text = format!(
        r#"name = "models"
        [data]
        kind = "squad"
        path = "{}"
        [retrieval]
        embedder = "none"
        modes = ["bm25"]
        k = [1, 2]
        [[chunker]]
        name = "small"
        spec = "fixed:words=12,tokenizer=words"
        [[chunker]]
        name = "large"
        spec = "fixed:words=30,tokenizer=words"
        [answer]
        generator = "llm"
        [judge]
        kind = "both"
        checks = false
        [llm.generator]
        provider = "openai"
        base_url = "{url}"
        model = "reader"
        api_key_env = "PERICOPE_TEST_KEY"
        retry_wait_seconds = 0.001
        price = {{ input = 1.0, output = 2.0 }}
        [llm.judge]
        provider = "openai"
        base_url = "{url}"
        model = "judge"
        api_key_env = "PERICOPE_TEST_KEY"
        retry_wait_seconds = 0.001"#,
        folder.join("q.json").display(),
        url = server.base_url()
    )
    .replace(",tokenizer=words", "");
    let overrides: Vec<String> = more.iter().map(|s| (*s).to_owned()).collect();
    Experiment::parse(&text, Path::new("models.toml"), &overrides, pericope_segment::registry::list()).unwrap()
}

fn go(experiment: &Experiment, out: &Path, resume: bool, offline: bool) -> Result<Summary, RunError> {
    let resources = Standalone { defaults: Limits::NONE };
    let setup = Setup {
        segmenters: pericope_segment::registry::list(),
        stores: &pericope_eval::run::Embedded,
        resources: &resources,
        counter: Arc::new(WordCounter),
        encoder: None,
        models: Models::open(experiment, out, offline, &Ledger::of_run(experiment, out, resume))
            .map_err(|e| RunError::Config(e.to_string()))?,
        rerankers: BTreeMap::new(),
        model_checksums: BTreeMap::new(),
        resume,
        trec: None,
    };
    run(experiment, &RunFolder::take(out)?, &setup, &Silent, &mut ()).map(|(summary, _)| summary)
}

fn items(out: &Path) -> Vec<Item> {
    let text = std::fs::read_to_string(out.join("items.jsonl")).unwrap();
    text.lines().map(|line| serde_json::from_str(line).unwrap()).collect()
}

fn is_judge(seen: &Seen) -> bool {
    seen.body["model"] == "judge"
}

/// A number that depends on the text alone.
fn number(text: &str) -> usize {
    text.bytes().fold(7_usize, |n, b| n.wrapping_mul(31).wrapping_add(b.into())) >> 3
}

/// The judge's score is a known function of the answer.
fn score(answer: &str) -> usize {
    number(answer.trim()) % 11
}

/// What stands between the marks of a text.
fn marked<'a>(prompt: &'a str, name: &str) -> &'a str {
    let rest = prompt.split_once(&format!("[begin {name} ")).map_or("", |(_, rest)| rest);
    let rest = rest.split_once('\n').map_or("", |(_, rest)| rest);
    rest.split_once(&format!("\n[end {name} ")).map_or(rest, |(found, _)| found)
}

fn reply(seen: &Seen) -> String {
    if is_judge(seen) {
        let answer = marked(&seen.prompt, "answer");
        return format!("{{\"reason\": \"because\", \"score\": {}}}", score(answer));
    }
    // The first words of the first excerpt.
    let excerpt = marked(&seen.prompt, "excerpt 1").split("\n\n").next().unwrap_or_default();
    excerpt.split_whitespace().take(9).collect::<Vec<_>>().join(" ")
}

/// The models' key is in the environment, where cargo puts it.
fn expect_key() {
    let key = std::env::var("PERICOPE_TEST_KEY");
    assert_eq!(key.as_deref(), Ok(KEY), "run this with cargo, which sets the key by .cargo/config.toml");
}

fn texts_under(folder: &Path) -> Vec<(std::path::PathBuf, Vec<u8>)> {
    let mut found = Vec::new();
    for entry in std::fs::read_dir(folder).unwrap().flatten() {
        let path = entry.path();
        if path.is_dir() {
            found.extend(texts_under(&path));
        } else {
            found.push((path.clone(), std::fs::read(&path).unwrap()));
        }
    }
    found
}

#[test]
fn a_run_ends_complete_and_right_whatever_the_server_does() {
    expect_key();
    let folder = tempfile::tempdir().unwrap();
    questions(folder.path());
    let repeats = Arc::new(AtomicUsize::new(0));
    let counter = Arc::clone(&repeats);
    let server = Server::start(reply, move |seen| {
        let again = |act| {
            counter.fetch_add(1, Ordering::SeqCst);
            act
        };
        let kind = number(&seen.prompt) % 10;
        match (seen.before, is_judge(seen), kind) {
            // What one machine is asked never gets an answer.
            (_, false, _) if seen.prompt.contains("does the Machine17 run") => Act::Refuse,
            (_, false, _) if seen.prompt.contains("does the Machine18 run") => Act::Empty,
            (0, _, 0) => again(Act::Status(500)),
            (0, _, 1) => again(Act::RetryAfter("0".into())),
            (0, _, 2) => again(Act::Cut),
            (0, true, 3) => again(Act::Text("{\"reason\": \"more than all\", \"score\": 11}".into())),
            (_, true, 4 | 5) => Act::Fence,
            (_, true, 6) => {
                let answer = marked(&seen.prompt, "answer");
                Act::Text(format!("{{\"score\": \"{}/10\", \"reason\": \"as text\"}}", score(answer)))
            }
            (_, _, 7) => Act::Slow(std::time::Duration::from_millis(3)),
            _ => Act::Answer,
        }
    })
    .unwrap();
    let out = folder.path().join("run");
    let summary = go(&experiment(folder.path(), &server, &[]), &out, false, false).unwrap();

    let items = items(&out);
    assert_eq!(items.len(), 200);
    let failed: Vec<&Item> = items.iter().filter(|item| item.status == Status::Failed).collect();
    assert_eq!((failed.len(), summary.failed), (8, 8), "two questions, two chunkers, two k");
    assert!(failed.iter().all(|item| item.question_id == "q17" || item.question_id == "q18"));
    assert!(failed.iter().all(|item| item.error.is_some() && !item.metrics.contains_key("judge")));
    for item in items.iter().filter(|item| item.status == Status::Ok) {
        let answer = &item.answer.as_ref().unwrap().text;
        assert_eq!(item.metrics["judge"], score(answer) as f64, "{answer}");
        assert!(item.metrics.contains_key("judge_lexical"));
        assert!(item.cost.unwrap().prompt_tokens > 0);
    }
    // Every distinct prompt was answered once, and asked once more for each misbehaviour.
    let log = server.log();
    let distinct: BTreeSet<&str> = log.iter().map(|seen| seen.prompt.as_str()).collect();
    let repaired: BTreeSet<&str> = (log.iter().filter(|seen| seen.body["messages"].as_array().unwrap().len() > 2))
        .map(|seen| seen.prompt.as_str())
        .collect();
    assert_eq!(server.calls(), distinct.len() + repeats.load(Ordering::SeqCst) - repaired.len());
    // Means are over all: a failed item scores 0 by what it has no value of. Those over the rest stand beside.
    for cell in &summary.cells {
        let scores: Vec<f64> = (items.iter())
            .filter(|i| i.chunker == cell.chunker && i.cutoff == cell.cutoff && i.status == Status::Ok)
            .map(|i| i.metrics["judge"])
            .collect();
        assert_eq!((scores.len(), cell.failed), (QUESTIONS - 2, 2));
        let sum = scores.iter().sum::<f64>();
        assert!((cell.metrics["judge"] - sum / QUESTIONS as f64).abs() < 1e-12);
        assert!((cell.metrics_without_failed["judge"] - sum / scores.len() as f64).abs() < 1e-12);
        let [low, high] = cell.intervals["judge"];
        assert!(low < cell.metrics["judge"] && cell.metrics["judge"] < high);
        assert!(cell.cost.unwrap().calls > 0);
    }
    assert!(summary.judges_agree.unwrap().n > 100);
    // The report shows costs and failures, and no file holds the key.
    let report = Report::load(&out).unwrap();
    pericope_report::run::write(&out, &report).unwrap();
    let page = std::fs::read_to_string(out.join("index.html")).unwrap();
    assert!(page.contains("Paid for models"), "what was paid in all");
    assert!(page.contains("Models: costs and judges") && page.contains("The prompt “judge” as used"));
    assert!(log.iter().all(|seen| seen.headers["authorization"].contains(KEY)), "the server did get the key");
    for (path, bytes) in texts_under(folder.path()) {
        assert!(!bytes.windows(KEY.len()).any(|window| window == KEY.as_bytes()), "the key is in {}", path.display());
    }
}

#[test]
fn an_answer_in_words_has_no_place_also_where_the_model_gives_none() {
    expect_key();
    let folder = tempfile::tempdir().unwrap();
    questions(folder.path());
    let server = Server::start(reply, |seen| {
        let silent = !is_judge(seen) && seen.prompt.contains("does the Machine7 run");
        if silent { Act::Text("NOT IN CONTEXT".into()) } else { Act::Answer }
    })
    .unwrap();
    let out = folder.path().join("run");
    let summary = go(&experiment(folder.path(), &server, &[]), &out, false, false).unwrap();
    let items = items(&out);
    let silent: Vec<&Item> = items.iter().filter(|item| item.question_id == "q7").collect();
    assert_eq!(silent.len(), 4, "two chunkers, two k");
    for item in silent {
        assert!(item.answer.as_ref().is_some_and(|answer| answer.text.is_empty()), "{item:?}");
        assert!(item.metrics["token_f1"] == 0.0 && item.metrics["judge_lexical"] == 0.0, "{item:?}");
    }
    // The others have none either: a mean would be of the silent ones alone.
    assert!(items.iter().all(|item| !item.metrics.contains_key("answer_iou")));
    assert!(summary.cells.iter().all(|cell| !cell.metrics.contains_key("answer_iou")));
}

#[test]
fn a_run_that_was_stopped_goes_on_and_repeats_no_call() {
    expect_key();
    let folder = tempfile::tempdir().unwrap();
    questions(folder.path());
    let limit = Arc::new(AtomicUsize::new(120));
    let stop_at = Arc::clone(&limit);
    let server =
        Server::start(
            reply,
            move |seen| {
                if seen.number >= stop_at.load(Ordering::SeqCst) { Act::Billing } else { Act::Answer }
            },
        )
        .unwrap();
    let out = folder.path().join("run");
    let wanted = experiment(folder.path(), &server, &[]);
    let stopped = go(&wanted, &out, false, false).unwrap_err();
    assert!(matches!(&stopped, RunError::Stopped(reason) if reason.contains("paid")), "{stopped}");
    limit.store(usize::MAX, Ordering::SeqCst);
    let summary = go(&wanted, &out, true, false).unwrap();
    assert_eq!(summary.failed, 0);
    let mut answered: HashMap<String, usize> = HashMap::new();
    for seen in server.log().iter().filter(|seen| seen.number < 120) {
        *answered.entry(seen.prompt.clone()).or_default() += 1;
    }
    let after: Vec<Seen> = server.log().into_iter().filter(|seen| seen.number >= 120).collect();
    assert!(after.len() > 20 && answered.values().all(|n| *n == 1));
    assert!(after.iter().all(|seen| !answered.contains_key(&seen.prompt)), "no call was repeated");
    // Another run of the same, offline: every answer is in the cache.
    let calls = server.calls();
    drop(server);
    let again = go(&wanted, &out, false, true).unwrap();
    assert_eq!(
        again.cells.iter().map(|c| c.metrics["judge"]).collect::<Vec<_>>(),
        summary.cells.iter().map(|c| c.metrics["judge"]).collect::<Vec<_>>()
    );
    assert!(again.cells.iter().all(|cell| cell.cost.unwrap().calls == 0 && cell.cost.unwrap().paid == 0.0));
    assert!(calls > 0);
}

/// A run in which the judge is a known function of the answer, and so are its scores from machine to machine.
fn known_judge(folder: &Path, out: &Path) -> Summary {
    expect_key();
    questions(folder);
    let server = Server::start(reply, |_| Act::Answer).unwrap();
    let sized = "chunker=[{name=\"small\",spec=\"fixed:words=7\"},{name=\"large\",spec=\"fixed:words=25\"}]";
    let more = ["judge.kind=llm", sized, "retrieval.token_budgets=[30]"];
    go(&experiment(folder, &server, &more), out, false, false).unwrap()
}

#[test]
#[ignore = "leaves its files in target/known-judge, for scripts/golden/check-run"]
fn the_run_behind_the_golden_figures() {
    let folder = tempfile::tempdir().unwrap();
    let out = Path::new(env!("CARGO_MANIFEST_DIR")).join("../../target/known-judge");
    known_judge(folder.path(), &out);
}

#[test]
fn a_known_judge_gives_the_figures_that_scipy_gives() {
    let folder = tempfile::tempdir().unwrap();
    let summary = known_judge(folder.path(), &folder.path().join("run"));
    let mut ours: BTreeMap<String, f64> = BTreeMap::new();
    let number = |n: Option<usize>| n.map_or("None".to_owned(), |n| n.to_string());
    for cell in &summary.cells {
        let at = format!("{}, k {}, tokens {}", cell.mode, number(cell.cutoff.k()), number(cell.cutoff.tokens()));
        for (metric, mean) in &cell.metrics {
            ours.insert(format!("mean {metric} of {}, {at}", cell.chunker), *mean);
        }
        for (metric, [low, high]) in &cell.intervals {
            ours.insert(format!("low {metric} of {}, {at}", cell.chunker), *low);
            ours.insert(format!("high {metric} of {}, {at}", cell.chunker), *high);
        }
    }
    for c in &summary.comparisons {
        let at = format!("{}, k {}, tokens {}", c.mode, number(c.cutoff.k()), number(c.cutoff.tokens()));
        let of = format!("{} of {} against {}, {at}", c.metric, c.a, c.b);
        for (name, value) in [
            ("n", c.n as f64),
            ("difference", c.difference),
            ("wins", c.wins as f64),
            ("losses", c.losses as f64),
            ("p", c.p),
            ("low", c.low),
            ("high", c.high),
        ] {
            ours.insert(format!("{name} {of}"), value);
        }
        ours.extend(c.p_holm.map(|p| (format!("Holm {of}"), p)));
    }
    let path = Path::new(env!("CARGO_MANIFEST_DIR")).join("tests/golden/known_judge.json");
    let golden: BTreeMap<String, (f64, f64)> = serde_json::from_str(&std::fs::read_to_string(path).unwrap()).unwrap();
    assert_eq!(ours.keys().collect::<Vec<_>>(), golden.keys().collect::<Vec<_>>());
    assert!(golden.len() > 100 && golden.keys().any(|name| name.starts_with("p judge")));
    for (name, (theirs, within)) in golden {
        assert!((ours[&name] - theirs).abs() <= within, "{name}: {} here, {theirs} by scipy", ours[&name]);
    }
}

/// Item by item, the question and whether it failed.
fn failed(out: &Path) -> Vec<(String, bool)> {
    let text = std::fs::read_to_string(out.join("items.jsonl")).unwrap();
    (text.lines().map(|line| serde_json::from_str::<Item>(line).unwrap()))
        .map(|item| (item.question_id.clone(), item.status == Status::Failed))
        .collect()
}

#[test]
fn what_failed_is_asked_again_by_a_run_that_goes_on() {
    expect_key();
    let folder = tempfile::tempdir().unwrap();
    questions(folder.path());
    let ill = Arc::new(AtomicUsize::new(1));
    let is_ill = Arc::clone(&ill);
    let server = Server::start(reply, move |seen| {
        let of_three = seen.prompt.contains("Machine3 run");
        if of_three && is_ill.load(Ordering::SeqCst) == 1 { Act::Status(500) } else { Act::Answer }
    })
    .unwrap();
    let out = folder.path().join("run");
    let more = [
        "limits.max_failed=1.0",
        "llm.generator.retries=0",
        "llm.judge.retries=0",
        "chunker=[{name=\"small\",spec=\"fixed:words=12\"}]",
    ];
    let first = go(&experiment(folder.path(), &server, &more), &out, false, false).unwrap();
    assert!(first.failed > 0 && failed(&out).iter().all(|(id, failed)| *failed == (id == "q3")), "{:?}", failed(&out));
    ill.store(0, Ordering::SeqCst);
    let before = server.calls();
    // More patience, another budget and another place in the file are no other experiment.
    let patient =
        [&more[..], &["limits.budget=100.0", "llm.judge.concurrency=2", "llm.generator.timeout_seconds=9.0"]].concat();
    let second = go(&experiment(folder.path(), &server, &patient), &out, true, false).unwrap();
    assert_eq!((second.failed, failed(&out).len()), (0, 2 * QUESTIONS));
    let asked: BTreeSet<String> = server.log()[before..].iter().map(|seen| seen.prompt.clone()).collect();
    assert!(!asked.is_empty() && asked.iter().all(|prompt| prompt.contains("Machine3 run")), "only what failed");
    // Another model is another experiment.
    let other = [&more[..], &["llm.generator.model=another"]].concat();
    let refused = go(&experiment(folder.path(), &server, &other), &out, true, false).unwrap_err();
    assert!(refused.to_string().contains("another configuration"), "{refused}");
}

#[test]
fn secrets_of_a_configuration_stay_out_of_the_files() {
    expect_key();
    let folder = tempfile::tempdir().unwrap();
    questions(folder.path());
    let server = Server::start(reply, |_| Act::Answer).unwrap();
    let out = folder.path().join("run");
    let url = format!("llm.judge.base_url=\"{}?code={KEY}\"", server.base_url());
    let more = [
        format!("llm.generator.headers={{X-Secret=\"{KEY}\", X-Named=\"${{PERICOPE_TEST_KEY}}\"}}"),
        url,
        format!("nightly.webhook=\"https://hooks.example/{KEY}\""),
    ];
    let more: Vec<&str> = more.iter().map(String::as_str).collect();
    let wanted = experiment(folder.path(), &server, &more);
    drop(go(&wanted, &out, false, false));
    let record = std::fs::read_to_string(out.join("run.json")).unwrap();
    assert!(record.contains("(sha256 ") && record.contains("${PERICOPE_TEST_KEY}"), "{record}");
    for (path, bytes) in texts_under(&out) {
        assert!(!bytes.windows(KEY.len()).any(|window| window == KEY.as_bytes()), "the key is in {}", path.display());
    }
    // Nor is it in what is said of a wrong setting.
    let wrong = [format!("llm.judge.api_key={KEY}")];
    let text = "name = \"n\"\n[data]\nkind = \"squad\"\npath = \"p\"\n[[chunker]]\nname = \"a\"\nspec = \"sentence\"\n";
    let error = Experiment::parse(text, Path::new("x.toml"), &wrong, pericope_segment::registry::list())
        .unwrap_err()
        .to_string();
    assert!(error.contains("llm.judge.api_key") && !error.contains(KEY), "{error}");
}

#[test]
fn a_budget_stops_a_run_cleanly_and_a_bad_judge_before_it_begins() {
    expect_key();
    let folder = tempfile::tempdir().unwrap();
    questions(folder.path());
    let server = Server::start(reply, |_| Act::Answer).unwrap();
    let out = folder.path().join("run");
    let poor = experiment(folder.path(), &server, &["limits.budget=0.02"]);
    let error = go(&poor, &out, false, false).unwrap_err();
    assert!(matches!(&error, RunError::Stopped(reason) if reason.contains("budget")), "{error}");
    assert!(server.calls() > 2 && server.calls() < 150, "{}", server.calls());
    // The judge gives gold answers any score: that is found out before anything else is asked.
    let before = server.calls();
    let checked = experiment(folder.path(), &server, &["judge.checks=true", "judge.kind=llm"]);
    let error = go(&checked, &folder.path().join("other"), false, false).unwrap_err();
    assert!(matches!(&error, RunError::Judge(text) if text.contains("because") && text.contains("volts")), "{error}");
    assert_eq!(server.calls() - before, 10);
}
