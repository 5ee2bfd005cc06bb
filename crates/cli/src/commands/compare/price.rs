//! `pericope compare --dry-run`: what models would be asked and paid, and nothing written.

use std::path::Path;

use pericope_eval::comparison::Named;
use pericope_eval::data::{Question, QuestionSet};
use pericope_eval::run::{Estimate, estimate};

use super::args::CompareArgs;
use super::experiment::{CONFIG, QUESTIONS, parse, text};
use crate::commands::{dataset, dry_run};
use crate::status::Outcome;

/// Letters of a question that is not written yet.
const LONG: usize = 200;

/// Says what the models that write questions and that embed would come to.
pub fn say_price(args: &CompareArgs, chunkers: &[Named], embedder: &str, quiet: bool) -> Outcome {
    let experiment = |questions: &Path| {
        let text = text((&args.out, args.drafting.seed), questions, chunkers, embedder, &args.retrieval())?;
        parse(text, args.out.join(CONFIG))
    };
    if let Some(questions) = &args.questions_file {
        return dry_run::experiments(&[&experiment(questions)?], None, args.json);
    }
    let read = dataset::read(&args.paths, &args.source, &[&args.out], quiet)?;
    let (writer, budget) = dataset::price(&read.documents, &args.drafting)?.unzip();
    let questions = args.drafting.questions as usize;
    // The questions themselves are not drafted yet: they are counted as long as few are.
    let drafted = |n: usize| Question {
        id: n.to_string(),
        text: "?".repeat(LONG),
        document: 0,
        gold: Vec::new(),
        elsewhere: Vec::new(),
        answer: String::new(),
    };
    let set = QuestionSet {
        documents: read.documents,
        questions: (0..questions).map(drafted).collect(),
        ..QuestionSet::default()
    };
    let run = estimate(&experiment(&args.out.join(QUESTIONS))?, &set);
    let models = writer.into_iter().chain(run.models).collect();
    dry_run::drafting(Estimate { questions, models, budget: budget.flatten(), ..run }, args.json)
}
