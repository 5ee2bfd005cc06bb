//! Compares two chunkers on questions with known answers, as `pericope eval run` does, from a program.
//!
//! `cargo run --release -p pericope --example evaluate`

use std::error::Error;
use std::path::Path;

use pericope::eval::answer::Models;
use pericope::eval::config::{Configuration, Experiment};
use pericope::eval::run::{Embedded, RunFolder, Setup, run};
use pericope::report::run::table;
use pericope::segment::Resources;
use pericope::{Engine, segmenters};

/// An experiment is a small TOML file; `docs/config.md` has every key.
const EXPERIMENT: &str = r#"
kind = "retrieval"
name = "example"
[data]
kind = "squad"
path = "corpora/handbook-questions.json"
questions = 40
[retrieval]
embedder = "none"
modes = ["bm25"]
k = [1, 3]
[[chunker]]
name = "fixed"
spec = "fixed:words=100"
[[chunker]]
name = "structure"
spec = "structure"
"#;

fn main() -> Result<(), Box<dyn Error>> {
    let experiment = Experiment::parse(EXPERIMENT, Path::new("example.toml"), &[], segmenters())?;

    // # What a run needs
    //
    // The engine answers for encoder, token counter and limits. No language model takes part here, so the answers are
    // passages and the judge is a fixed function.
    let engine = Engine::new().with_tokenizer("words");
    let setup = Setup {
        segmenters: segmenters(),
        resources: &engine,
        stores: &Embedded,
        encoder: engine.embedder(&experiment.retrieval.embedder)?,
        counter: engine.counter()?,
        models: Models::default(),
        rerankers: Default::default(),
        model_checksums: Default::default(),
        resume: false,
        trec: None,
    };

    // # The run
    //
    // Its folder holds everything: `run.json`, `items.jsonl`, `summary.json`. The last argument sees every item once.
    let folder = std::env::temp_dir().join(format!("pericope-evaluate-{}", std::process::id()));
    // One run at a time holds it.
    let held = RunFolder::take(&folder)?;
    let (summary, _) = run(&experiment, &held, &setup, &(), &mut ())?;
    print!("{}", table(&summary, 100));
    std::fs::remove_dir_all(&folder)?;
    Ok(())
}
