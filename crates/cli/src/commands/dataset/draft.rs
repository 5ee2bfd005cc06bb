//! `pericope dataset draft`

use std::collections::BTreeMap;
use std::path::Path;

use pericope_api::Document;
use pericope_eval::data::SquadFile;
use pericope_eval::data::draft::{
    DraftEstimate, DraftOptions, Drafted, Dropped, ModelConfig, QuestionKind, ask_model, draft, estimate,
};
use pericope_eval::format::plural;
use pericope_eval::run::{Estimate, ModelEstimate};
use serde::Serialize;

use super::args::{DraftArgs, QuestionArgs};
use super::documents::{read, save_named};
use crate::commands::{dry_run, print_json};
use crate::places::check_out_beside_documents;
use crate::progress;
use crate::resources::shown;
use crate::status::{Failure, Outcome, Status};
use crate::terminal::name;

/// Passages without a question that are named.
const NAMED: usize = 5;

/// What was drafted, for people and programs.
#[derive(Debug, Default, Serialize)]
pub struct Drafting {
    /// Documents in the file.
    pub documents: usize,
    /// Documents that a question is about.
    pub documents_asked: usize,
    /// Questions in the file.
    pub questions: usize,
    /// Questions of each kind.
    pub kinds: BTreeMap<QuestionKind, usize>,
    /// Questions that ask for whole sections, where they are fewer than half since there were no more headings.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub only_sections: Option<usize>,
    /// Candidates that were dropped, by the reason.
    pub dropped: BTreeMap<Dropped, usize>,
    /// What a model took; absent where none was asked.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub model: Option<Asked>,
}

/// What a model took.
#[derive(Debug, Serialize)]
pub struct Asked {
    passages: usize,
    failed: usize,
    calls: u64,
    cached: u64,
    prompt_tokens: u64,
    completion_tokens: u64,
    paid: f64,
}

#[derive(Serialize)]
struct Report<'a> {
    file: String,
    #[serde(flatten)]
    drafting: &'a Drafting,
    /// Files that could not be read.
    skipped: usize,
    /// Pages without text.
    empty: usize,
}

/// Runs the command.
pub fn run(args: DraftArgs, quiet: bool) -> Outcome {
    check_out_beside_documents("--out", &args.out, &args.paths)?;
    let read = read(&args.paths, &args.source, &[&args.out], quiet)?;
    let cache = args.out.with_extension("responses.sqlite");
    let status = if read.skipped > 0 { Status::Incomplete } else { Status::Done };
    if args.drafting.dry_run {
        let (model, budget) = price(&read.documents, &args.drafting)?.unzip();
        let models: Vec<ModelEstimate> = model.into_iter().collect();
        let (questions, documents) = (args.drafting.questions as usize, read.documents.len());
        let estimate = Estimate { questions, documents, models, budget: budget.flatten(), ..Estimate::default() };
        dry_run::drafting(estimate, args.json)?;
        return Ok(status);
    }
    let (file, drafting) = make(&read.documents, &args.drafting, &cache, quiet)?;
    save_named(&args.out, &text(&file)?)?;
    if args.json {
        let report = Report { file: shown(&args.out), drafting: &drafting, skipped: read.skipped, empty: read.empty };
        if let Some(few) = drafting.few_sections().filter(|_| !quiet) {
            tell!("{few}");
        }
        print_json(&report)?;
    } else {
        say!("{}: {}", shown(&args.out), drafting.sentence());
        if !quiet {
            drafting.tell_dropped();
            tell!(
                "Next: pericope dataset validate {0}; pericope dataset review {0} --out review.html",
                shown(&args.out)
            );
        }
    }
    Ok(status)
}

/// A question file as text.
pub fn text(file: &SquadFile) -> Result<String, Failure> {
    Ok(serde_json::to_string_pretty(file).map_err(anyhow::Error::from)? + "\n")
}

fn options(args: &QuestionArgs) -> DraftOptions {
    let kinds = if args.kinds.is_empty() { QuestionKind::WITHOUT_MODEL.to_vec() } else { args.kinds.clone() };
    DraftOptions { questions: args.questions as usize, seed: args.seed, kinds }
}

/// What the model that the flags name would come to, and what may be spent on it; none where they name none.
pub fn price(documents: &[Document], args: &QuestionArgs) -> Result<Option<(ModelEstimate, Option<f64>)>, Failure> {
    let Some(config) = &args.llm else { return Ok(None) };
    let config = ModelConfig::load(config).map_err(Failure::usage)?;
    let price = estimate(documents, &options(args), &config.generator);
    Ok(Some((priced(&price, &config), config.budget)))
}

/// Drafts questions over documents, with a model where the flags name one; `cache` keeps its answers.
pub fn make(
    documents: &[Document],
    args: &QuestionArgs,
    cache: &Path,
    quiet: bool,
) -> Result<(SquadFile, Drafting), Failure> {
    let options = options(args);
    let (drafted, model) = match &args.llm {
        None => (draft(documents, &options), None),
        Some(config) => {
            let config = ModelConfig::load(config).map_err(Failure::usage)?;
            let price = estimate(documents, &options, &config.generator);
            let (drafted, asked) = with_model(documents, &options, &config, price, (cache, args.offline), quiet)?;
            (drafted, Some(asked))
        }
    };
    if drafted.questions() == 0 && documents.is_empty() {
        return Err(Failure::usage("no question can be drafted: there is no document with text"));
    }
    if drafted.questions() == 0 && model.is_some() {
        return Err(Failure::runtime(format!(
            "the model wrote no question about {} that can be used (its answers must quote the passage word for word): try another \
             model; what it answered is kept in the cache",
            plural(documents.len(), "document")
        )));
    }
    if drafted.questions() == 0 {
        let dropped: usize = drafted.dropped.values().sum();
        return Err(Failure::usage(format!(
            "no question can be drafted from {} ({} dropped): there must be headings with a few sentences below them, \
             definitions, tables, or sentences with words of their own; --llm has a model write questions",
            plural(documents.len(), "document"),
            plural(dropped, "candidate")
        )));
    }
    let only_sections = too_few_sections(&options, &drafted).filter(|_| model.is_none());
    let drafting = Drafting {
        documents: documents.len(),
        documents_asked: drafted.asked,
        questions: drafted.questions(),
        kinds: drafted.kinds,
        only_sections,
        dropped: drafted.dropped,
        model,
    };
    Ok((drafted.file, drafting))
}

/// How many questions ask for sections, where both halves were wanted and this one has less than its share.
fn too_few_sections(options: &DraftOptions, drafted: &Drafted) -> Option<usize> {
    let asks = |kind: &QuestionKind| kind.asks_for_a_section();
    let wanted = options.kinds.iter().any(asks) && !options.kinds.iter().all(asks);
    let sections: usize = drafted.kinds.iter().filter(|(kind, _)| kind.asks_for_a_section()).map(|(_, n)| n).sum();
    // An odd number has no half.
    (wanted && 2 * sections + 1 < drafted.questions()).then_some(sections)
}

/// The price in the words of every dry run.
fn priced(price: &DraftEstimate, config: &ModelConfig) -> ModelEstimate {
    ModelEstimate::of("questions", &config.generator, price.calls, (price.prompt_tokens, price.completion_tokens))
}

fn with_model(
    documents: &[Document],
    options: &DraftOptions,
    config: &ModelConfig,
    price: DraftEstimate,
    (cache, offline): (&Path, bool),
    quiet: bool,
) -> Result<(Drafted, Asked), Failure> {
    let shared = config.open(cache, offline).map_err(Failure::runtime)?;
    if !quiet && !offline {
        let money = price.price.map(|money| format!(", at most about {money:.2}")).unwrap_or_default();
        let (calls, tokens) = (price.calls, price.prompt_tokens);
        tell!(
            "the model will be asked at most {calls} times with about {tokens} tokens{money}; what is cached is not asked again"
        );
    }
    let bar = progress::bar(price.passages as u64, "questions", quiet);
    let made = ask_model(documents, options, &config.generator, &shared, &|| bar.inc(1));
    bar.finish_and_clear();
    let made = made.map_err(|error| Failure::runtime(format!("{error}; what was answered is kept: run it again")))?;
    for problem in made.failed.iter().take(NAMED) {
        tell!("no question: {}", name(problem));
    }
    if made.failed.len() > NAMED {
        tell!("no question: {} more passages", made.failed.len() - NAMED);
    }
    let asked = Asked {
        passages: made.passages,
        failed: made.failed.len(),
        calls: made.spent.calls,
        cached: made.spent.cached,
        prompt_tokens: made.spent.prompt_tokens,
        completion_tokens: made.spent.completion_tokens,
        paid: made.spent.paid,
    };
    Ok((made.drafted, asked))
}

impl Drafting {
    /// What there is, in a sentence.
    pub fn sentence(&self) -> String {
        let kinds: Vec<String> = self.kinds.iter().map(|(kind, n)| format!("{n} {kind}")).collect();
        let text = format!(
            "{} about {} of {} ({})",
            plural(self.questions, "question"),
            self.documents_asked,
            plural(self.documents, "document"),
            kinds.join(", ")
        );
        match self.few_sections() {
            Some(few) => format!("{text}; {few}"),
            None => text,
        }
    }

    /// That sections are asked for less than half of the time, where that is so.
    fn few_sections(&self) -> Option<String> {
        let sections = self.only_sections?;
        Some(format!(
            "only {sections} of {} ask for a section, not half: there are no more headings to ask by",
            self.questions
        ))
    }

    /// Says why candidates were dropped.
    pub fn tell_dropped(&self) {
        let dropped: Vec<String> = self.dropped.iter().map(|(why, n)| format!("{n} where {}", why.why())).collect();
        if !dropped.is_empty() {
            tell!("dropped: {}", dropped.join(", "));
        }
    }
}
