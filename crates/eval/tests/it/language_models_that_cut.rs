//! Whole runs whose chunks a language model cuts and places in context, against a server that speaks the API over real HTTP.

use std::collections::{BTreeMap, BTreeSet};
use std::path::Path;
use std::sync::{Arc, Mutex, PoisonError};

use pericope_eval::answer::{Ledger, Models};
use pericope_eval::config::{Configuration, Experiment};
use pericope_eval::record::{ChunkerRow, Summary};
use pericope_eval::run::{Observer, RunError, RunFolder, Setup, estimate, load, run};
use pericope_segment::counters::WordCounter;
use pericope_segment::registry::{SegmenterEntry, list, outside};
use pericope_segment::{Limits, Standalone};
use pericope_testkit::llm::{Act, Seen, Server};
use serde_json::json;

/// Keeps what is noted.
#[derive(Default)]
struct Notes(Mutex<Vec<String>>);

impl Observer for Notes {
    fn stage(&self, _: &str, _: usize) {}
    fn advance(&self, _: usize) {}
    fn note(&self, text: &str) {
        self.0.lock().unwrap_or_else(PoisonError::into_inner).push(text.to_owned());
    }
}

const MACHINES: usize = 12;

/// Articles on a machine each: what it is called stands at the beginning alone, and its figure at the end.
fn questions(folder: &Path) {
    let articles: Vec<serde_json::Value> = (0..MACHINES)
        .map(|i| {
            let name = format!("Kestrel{i}");
            let fact = format!("It weighs {} kilograms.", 10 + i);
            let context =
                format!("{name} came out of hall nine. Its paint is grey. Nobody drew plans. {fact} It hums.");
            let start = context.find(&fact).expect("the fact is there");
            json!({"title": name, "id": format!("m{i}"), "paragraphs": [{"context": context, "qas": [{
                "id": format!("q{i}"), "question": format!("What is the weight of {name}?"),
                "answers": [{"text": fact, "answer_start": start}]}]}]})
        })
        .collect();
    std::fs::write(folder.join("q.json"), json!({"version": "1.1", "data": articles}).to_string()).unwrap();
}

fn known() -> Vec<SegmenterEntry> {
    [list(), outside()].concat()
}

fn experiment(folder: &Path, url: &str, more: &[&str]) -> Experiment {
    let text = format!(
        r#"name = "ceiling"
        [data]
        kind = "squad"
        path = "{}"
        [retrieval]
        embedder = "none"
        modes = ["bm25"]
        k = [1]
        [[chunker]]
        name = "plain"
        spec = "sentence"
        [[chunker]]
        name = "model"
        spec = "llm:unit=sentence,tokens=15"
        [[chunker]]
        name = "placed"
        spec = "sentence"
        context = "llm"
        [answer]
        generator = "none"
        [judge]
        kind = "none"
        [llm.segmenter]
        provider = "openai"
        base_url = "{url}"
        model = "cutter"
        retry_wait_seconds = 0.001
        price = {{ input = 1.0, output = 1.0 }}
        [llm.context]
        provider = "openai"
        base_url = "{url}"
        model = "writer"
        retry_wait_seconds = 0.001
        retries = 0"#,
        folder.join("q.json").display(),
    );
    let overrides: Vec<String> = more.iter().map(|text| (*text).to_owned()).collect();
    Experiment::parse(&text, Path::new("ceiling.toml"), &overrides, &known()).unwrap()
}

fn go(experiment: &Experiment, out: &Path, resume: bool, offline: bool) -> Result<(Summary, Vec<String>), RunError> {
    let (resources, segmenters, notes) = (Standalone { defaults: Limits::NONE }, known(), Notes::default());
    let setup = Setup {
        segmenters: &segmenters,
        stores: &pericope_eval::run::Embedded,
        resources: &resources,
        counter: Arc::new(WordCounter),
        encoder: None,
        rerankers: BTreeMap::new(),
        models: Models::open(experiment, out, offline, &Ledger::of_run(experiment, out, resume))
            .map_err(|e| RunError::Config(e.to_string()))?,
        model_checksums: BTreeMap::new(),
        resume,
        trec: None,
    };
    let (summary, record) = run(experiment, &RunFolder::take(out)?, &setup, &notes, &mut ())?;
    assert_eq!(record.prompts.keys().collect::<Vec<_>>(), ["context", "segmenter"]);
    Ok((summary, notes.0.into_inner().unwrap_or_else(PoisonError::into_inner)))
}

fn row<'a>(summary: &'a Summary, name: &str) -> &'a ChunkerRow {
    summary.chunkers.iter().find(|row| row.name == name).expect("the chunker is there")
}

fn recall(summary: &Summary, name: &str) -> f64 {
    let cell = summary.cells.iter().find(|cell| cell.chunker == name).expect("the cell is there");
    let found = cell.metrics.iter().find(|(metric, _)| metric.to_string() == "span_recall");
    *found.expect("it is measured").1
}

/// Cuts before the sentence on the weight, and places what begins with it by the machine's name.
fn reply(seen: &Seen) -> String {
    if seen.body["model"] == "cutter" {
        let line = seen.prompt.lines().find_map(|line| {
            let (number, text) = line.split_once(": ")?;
            text.starts_with("It weighs").then(|| number.parse::<u64>().ok()).flatten()
        });
        return json!({"id": line.filter(|number| *number > 1).unwrap_or(0)}).to_string();
    }
    let name = seen.prompt.split_whitespace().find(|word| word.starts_with("Kestrel")).unwrap_or("nothing");
    let (_, chunk) = seen.prompt.split_once("[begin chunk ").unwrap_or_default();
    let weighs = chunk.lines().nth(1).is_some_and(|line| line.starts_with("It weighs"));
    let context = if weighs { format!("On the machine {name}, its weight.") } else { "On a machine.".to_owned() };
    json!({"context": context}).to_string()
}

#[test]
fn a_run_is_cut_and_placed_by_models_and_paid_for_once() {
    let folder = tempfile::tempdir().unwrap();
    questions(folder.path());
    let server = Server::start(reply, |_| Act::Answer).unwrap();
    let wanted = experiment(folder.path(), &server.base_url(), &[]);
    assert!(wanted.unused().is_empty(), "{:?}", wanted.unused());
    let out = folder.path().join("run");
    let (summary, notes) = go(&wanted, &out, false, false).unwrap();
    assert_eq!(summary.failed, 0);
    // Every machine: three sentences, and the two from the weight on.
    let model = row(&summary, "model");
    assert_eq!((model.chunks, row(&summary, "plain").chunks), (2 * MACHINES, 5 * MACHINES));
    assert!(model.fingerprint.starts_with("openai:model=cutter:prompt="), "{}", model.fingerprint);
    assert_eq!(model.spec, "llm:max_tokens=0,tokens=15,unit=sentence");
    let asked = model.asked.unwrap();
    assert_eq!((asked.failed, asked.repaired, asked.cached), (0, 0, 0));
    assert!(asked.asked >= 2 * MACHINES as u64 && asked.price > 0.0, "{asked}");
    let placed = row(&summary, "placed");
    assert_eq!(placed.contexts.unwrap().asked, 5 * MACHINES as u64);
    assert!(placed.context.as_deref().is_some_and(|writer| writer.starts_with("openai:model=writer:")));
    assert!(placed.shown_spec().ends_with(" + context"), "{}", placed.shown_spec());
    assert_eq!(
        (placed.mean_words, placed.max_tokens),
        (row(&summary, "plain").mean_words, row(&summary, "plain").max_tokens)
    );
    assert!(notes.iter().any(|note| note.starts_with("model: groups of passages: ")), "{notes:?}");
    let announced = |notes: &[String]| notes.iter().any(|note| note.starts_with("models will be asked up to "));
    assert!(announced(&notes), "{notes:?}");
    // The sentence with the answer names no machine, but its context does.
    assert_eq!((recall(&summary, "plain"), recall(&summary, "placed")), (0.0, 1.0));
    let record = std::fs::read_to_string(out.join("run.json")).unwrap();
    assert!(record.contains("You divide documents into sections.") && record.contains("\"paid\""), "{record}");

    // Resumed, nothing is asked; and nothing is, where the cache is moved beside another run and nobody is there to ask.
    let calls = server.calls();
    let recalls = |summary: &Summary| ["plain", "model", "placed"].map(|name| recall(summary, name));
    let (again, _) = go(&wanted, &out, true, false).unwrap();
    assert_eq!((server.calls(), recalls(&again)), (calls, recalls(&summary)));
    drop(server);
    let other = folder.path().join("other");
    std::fs::create_dir(&other).unwrap();
    std::fs::copy(out.join("responses.sqlite"), other.join("responses.sqlite")).unwrap();
    let (offline, notes) = go(&wanted, &other, false, true).unwrap();
    assert!(!announced(&notes), "{notes:?}");
    assert_eq!(recalls(&offline), recalls(&summary));
    let asked = row(&offline, "model").asked.unwrap();
    assert_eq!(asked.cached, asked.calls);
    // What was not asked for before cannot be told offline: the run says so, rather than to compare something else.
    let error = go(&wanted, &folder.path().join("empty"), false, true).unwrap_err().to_string();
    assert!(error.contains("not in the cache"), "{error}");
}

#[test]
fn a_chunk_without_a_context_is_indexed_and_counted() {
    let folder = tempfile::tempdir().unwrap();
    questions(folder.path());
    let server = Server::start(reply, |seen| {
        let is_ill = seen.body["model"] == "writer" && seen.prompt.contains("It weighs 13 kilograms.\n[end chunk");
        if is_ill { Act::Refuse } else { Act::Answer }
    })
    .unwrap();
    let wanted = experiment(folder.path(), &server.base_url(), &[]);
    let (summary, notes) = go(&wanted, &folder.path().join("run"), false, false).unwrap();
    let placed = row(&summary, "placed");
    assert_eq!((placed.contexts.unwrap().failed, placed.chunks), (1, 5 * MACHINES));
    assert!(notes.iter().any(|note| note.contains("1 without a usable reply")), "{notes:?}");
    assert!((recall(&summary, "placed") - (MACHINES - 1) as f64 / MACHINES as f64).abs() < 1e-12);
}

#[test]
fn a_spent_budget_stops_the_run_and_a_higher_one_goes_on() {
    let folder = tempfile::tempdir().unwrap();
    questions(folder.path());
    let server = Server::start(reply, |_| Act::Answer).unwrap();
    let out = folder.path().join("run");
    let error = go(&experiment(folder.path(), &server.base_url(), &["limits.budget=0.004"]), &out, false, false);
    assert!(matches!(error, Err(RunError::Stopped(reason)) if reason.contains("budget")));
    let calls = server.calls();
    let richer = experiment(folder.path(), &server.base_url(), &["limits.budget=5.0"]);
    let (summary, _) = go(&richer, &out, true, false).unwrap();
    assert_eq!(summary.failed, 0);
    let cut: Vec<String> =
        server.log().iter().filter(|seen| seen.body["model"] == "cutter").map(|seen| seen.prompt.clone()).collect();
    assert_eq!(cut.iter().collect::<BTreeSet<_>>().len(), cut.len(), "nothing was asked twice: {calls}");
}

#[test]
fn chunkers_share_what_they_have_in_common() {
    let folder = tempfile::tempdir().unwrap();
    questions(folder.path());
    let server = Server::start(reply, |_| Act::Answer).unwrap();
    let chunkers = "chunker=[{name=\"placed\",spec=\"llm:unit=sentence\",context=\"llm\"},\
                    {name=\"plain\",spec=\"llm:unit=sentence\"},{name=\"sized\",spec=\"same-size:reference=(llm:unit=sentence)\"}]";
    let wanted = experiment(folder.path(), &server.base_url(), &[chunkers]);
    let (summary, _) = go(&wanted, &folder.path().join("run"), false, false).unwrap();
    // A chunker without contexts has none, though another of its spec has.
    assert!(row(&summary, "placed").contexts.is_some() && row(&summary, "plain").contexts.is_none());
    assert_ne!(recall(&summary, "placed"), recall(&summary, "plain"));
    let asked = row(&summary, "plain").asked.unwrap();
    assert_eq!(asked.cached, asked.calls, "the same questions");
    assert_eq!(
        row(&summary, "sized").same_size.as_ref().map(|same| same.reference.as_str()),
        Some("llm:unit=sentence")
    );
}

#[test]
fn what_is_missing_is_said_before_anything_is_asked() {
    let folder = tempfile::tempdir().unwrap();
    questions(folder.path());
    let parse = |text: &str| {
        let chunker = format!("[[chunker]]\nname = \"a\"\n{text}");
        let text = format!("name = \"n\"\n[data]\nkind = \"squad\"\npath = \"p\"\n{chunker}");
        Experiment::parse(&text, Path::new("x.toml"), &[], &known()).map_err(|e| e.to_string())
    };
    for (text, says) in [
        ("spec = \"llm\"", "[llm.segmenter]"),
        ("spec = \"same-size:reference=llm\"", "chunker 'a' asks a model"),
        ("spec = \"sentence\"\ncontext = \"llm\"", "[llm.context]"),
        ("spec = \"sentence\"\ncontext = \"model\"", "expected `none` or `llm`"),
        (
            "spec = \"llm:model=m,tokens=1\"\n[llm.segmenter]\nprovider = \"openai\"\nmodel = \" \"",
            "llm.segmenter.model is empty",
        ),
        (
            "spec = \"llm\"\n[llm.segmenter]\nprovider = \"openai\"\nmodel = \"${NO_SUCH_VARIABLE}\"",
            "llm.segmenter.model",
        ),
    ] {
        let error = parse(text).unwrap_err();
        assert!(error.contains(says) && !error.contains('\n'), "{text}: {error}");
    }
    // A chunker that is only called so asks nobody.
    assert!(parse("spec = \"same-size:reference=llm\"\n[[chunker]]\nname = \"llm\"\nspec = \"sentence\"").is_ok());
    let idle = parse(
        "spec = \"sentence\"\n[llm.segmenter]\nprovider = \"openai\"\nmodel = \"m\"\n[llm.context]\nprovider = \"openai\"\nmodel = \"m\"",
    );
    assert_eq!(idle.unwrap().unused().len(), 2);
    // The price is said beforehand, and nobody is asked.
    let wanted = experiment(folder.path(), "http://127.0.0.1:1/v1", &[]);
    let found = estimate(&wanted, &load(&wanted, &()).unwrap());
    let roles: Vec<&str> = found.models.iter().map(|model| model.role).collect();
    assert_eq!(roles, ["segmenter", "context"]);
    assert!(found.models.iter().all(|model| model.calls > 0 && model.prompt_tokens > 0));
}
