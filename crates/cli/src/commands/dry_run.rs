//! `--dry-run`: what a command may ask and pay, said instead of done. Nothing is opened that needs a key.

use std::path::Path;

use pericope_eval::config::Experiment;
use pericope_eval::format;
use pericope_eval::record::RunRecord;
use pericope_eval::run::{Estimate, ModelEstimate, RunError, UNLIMITED_CHUNK, estimate, estimate_embedder, load};
use serde::Serialize;

use crate::commands::print_json;
use crate::resources::{reranker_spec, shown};
use crate::session::check_parts;
use crate::status::{Failure, Outcome, Status};

/// What a dry run says.
#[derive(Serialize)]
struct DryRun {
    #[serde(flatten)]
    estimate: Estimate,
    /// Requests to all models, at most.
    calls: usize,
    /// The price of all at most, where the configuration names prices.
    #[serde(skip_serializing_if = "Option::is_none")]
    price: Option<f64>,
    /// Seconds that a run of the same name took before.
    #[serde(skip_serializing_if = "Option::is_none")]
    seconds_before: Option<f64>,
    /// Seconds that the models' own limits make of it at least.
    #[serde(skip_serializing_if = "Option::is_none")]
    seconds_at_least: Option<f64>,
}

impl DryRun {
    /// What an estimate comes to of something that never ran before.
    fn of(estimate: Estimate) -> Self {
        let least = estimate.models.iter().filter_map(|model| model.seconds_at_least).reduce(f64::max);
        Self {
            calls: estimate.calls(),
            price: estimate.price(),
            seconds_before: None,
            seconds_at_least: least,
            estimate,
        }
    }
}

/// Says what runs of these experiments may come to; `before` is the folder where an earlier one may lie.
pub fn experiments(runs: &[&Experiment], before: Option<&Path>, json: bool) -> Outcome {
    let mut sum = Estimate::default();
    for experiment in runs {
        check_parts(experiment)?;
        experiment.rerankers().into_iter().try_for_each(|spec| reranker_spec(spec).map(drop))?;
        let set = load(experiment, &()).map_err(|error| match error {
            RunError::Config(_) | RunError::Data(_) => Failure::usage(error),
            other => Failure::runtime(other),
        })?;
        add(&mut sum, estimate(experiment, &set));
    }
    let took = before.and_then(|folder| {
        let text = std::fs::read_to_string(folder.join("run.json")).ok()?;
        let record: RunRecord = serde_json::from_str(&text).ok()?;
        record.seconds.filter(|_| !record.finished.is_empty())
    });
    let found = DryRun { seconds_before: took, ..DryRun::of(sum) };
    if json {
        return print_json(&found);
    }
    say!(
        "Dry run: {}, {}, {}. Nothing was asked, nothing was paid.\n",
        format::plural(runs.len(), "run"),
        format::plural(found.estimate.questions, "question"),
        format::plural(found.estimate.documents, "document")
    );
    table(&found.estimate.models, &found.estimate.unlimited)?;
    money(&found)?;
    match (took, found.seconds_at_least) {
        (Some(seconds), _) => {
            say!("Seconds: the run in {} took {}", before.map(shown).unwrap_or_default(), format::seconds(seconds))
        }
        (None, Some(seconds)) => say!("Seconds: at least {}, by tokens_per_minute", format::seconds(seconds)),
        (None, None) => say!("Seconds: not known before a first run"),
    }
    Ok(Status::Done)
}

/// Says what embedding these texts comes to, and what models come to that are `asked` beside; `texts` and `tokens` are at most what
/// is sent.
pub fn embedding(
    embedder: Option<&str>,
    texts: usize,
    tokens: usize,
    mut asked: Estimate,
    more: &str,
    json: bool,
) -> Outcome {
    let models = embedder.and_then(|name| estimate_embedder(name, texts, tokens)).into_iter().collect();
    add(&mut asked, Estimate { models, ..Estimate::default() });
    let found = DryRun::of(asked);
    if json {
        let mut told = serde_json::json!({ "texts": texts, "models": &found.estimate.models, "calls": found.calls });
        let known =
            [("price", found.price), ("seconds_at_least", found.seconds_at_least), ("budget", found.estimate.budget)];
        for (key, value) in known.into_iter().filter_map(|(key, value)| Some((key, value?))) {
            told[key] = value.into();
        }
        return print_json(&told);
    }
    say!("Dry run: {}. Nothing was asked, nothing was paid.\n", format::plural(texts, "text"));
    table(&found.estimate.models, &[])?;
    if found.calls > 0 && !more.is_empty() {
        say!("{more}");
    }
    ending(&found)?;
    Ok(Status::Done)
}

/// Says what drafting questions about documents, and what is done with them, comes to.
pub fn drafting(estimate: Estimate, json: bool) -> Outcome {
    let (questions, documents) = (estimate.questions, estimate.documents);
    let writes = estimate.models.iter().any(|model| model.role == "questions");
    let found = DryRun::of(estimate);
    if json {
        return print_json(&found);
    }
    say!(
        "Dry run: at most {} about {}. Nothing was asked, nothing was paid.\n",
        format::plural(questions, "question"),
        format::plural(documents, "document")
    );
    table(&found.estimate.models, &[])?;
    if writes {
        say!(
            "At most twice as many passages as questions are asked about, each at most twice. Where no question is dropped, it \
             is a quarter of that."
        );
    }
    ending(&found)?;
    Ok(Status::Done)
}

/// Says what segmenting so many documents by so many segmenters comes to.
pub fn segmenting(estimate: Estimate, json: bool) -> Outcome {
    let found = DryRun::of(estimate);
    if json {
        return print_json(&found);
    }
    say!(
        "Dry run: {}, {}. Nothing was asked, nothing was paid.\n",
        format::plural(found.estimate.chunkers, "segmenter"),
        format::plural(found.estimate.documents, "document")
    );
    table(&found.estimate.models, &[])?;
    ending(&found)?;
    Ok(Status::Done)
}

/// Adds one estimate to others.
pub fn add(sum: &mut Estimate, one: Estimate) {
    sum.questions = sum.questions.max(one.questions);
    sum.documents = sum.documents.max(one.documents);
    sum.chunkers = sum.chunkers.max(one.chunkers);
    sum.budget = sum.budget.or(one.budget);
    for name in one.unlimited {
        if !sum.unlimited.contains(&name) {
            sum.unlimited.push(name);
        }
    }
    for model in one.models {
        match sum.models.iter_mut().find(|known| known.role == model.role && known.model == model.model) {
            Some(known) => {
                known.calls = known.calls.saturating_add(model.calls);
                known.prompt_tokens = known.prompt_tokens.saturating_add(model.prompt_tokens);
                known.completion_tokens = known.completion_tokens.saturating_add(model.completion_tokens);
                known.price = known.price.zip(model.price).map(|(a, b)| a + b).or(known.price).or(model.price);
                let seconds = known.seconds_at_least.zip(model.seconds_at_least).map(|(a, b)| a + b);
                known.seconds_at_least = seconds.or(known.seconds_at_least).or(model.seconds_at_least);
            }
            None => sum.models.push(model),
        }
    }
}

/// `unlimited`: chunkers and retrievers whose chunks have no limit.
fn table(models: &[ModelEstimate], unlimited: &[String]) -> std::io::Result<()> {
    if models.is_empty() {
        say!("No model that costs anything is asked.");
        return Ok(());
    }
    let width = models.iter().map(|model| model.model.chars().count()).max().unwrap_or(0).max(5);
    say!(
        "{:10} {:width$} {:>9} {:>15} {:>15} {:>10}",
        "for",
        "model",
        "calls",
        "prompt tokens",
        "answer tokens",
        "price"
    );
    for model in models {
        say!(
            "{:10} {:width$} {:>9} {:>15} {:>15} {:>10}",
            model.role,
            model.model,
            format::count(model.calls),
            format::count(model.prompt_tokens),
            if model.completion_tokens > 0 { format::count(model.completion_tokens) } else { "-".to_owned() },
            model.price.map_or_else(|| "-".to_owned(), |price| format!("{price:.2}"))
        );
    }
    say!("\nAll are estimates, and at most; what a cache holds already is not asked again.");
    if models.iter().any(|model| ["segmenter", "context"].contains(&model.role)) {
        say!(
            "For segmenter and context they are what is likely: groups are cut in their middle, and chunks half as long as they may be."
        );
    }
    if !unlimited.is_empty() {
        say!(
            "Chunks without a limit are counted with {} tokens: those of {} may be longer, and cost more.",
            UNLIMITED_CHUNK,
            format::listed(unlimited)
        );
    }
    Ok(())
}

/// Money and seconds, of something that never ran before; nothing where nobody is asked.
fn ending(found: &DryRun) -> std::io::Result<()> {
    money(found)?;
    match found.seconds_at_least {
        Some(seconds) => say!("Seconds: at least {}, by tokens_per_minute", format::seconds(seconds)),
        None if found.calls > 0 => say!("Seconds: not known, since tokens_per_minute is not set"),
        None => {}
    }
    Ok(())
}

fn money(found: &DryRun) -> std::io::Result<()> {
    let budget = found.estimate.budget.map(|budget| format!("; limits.budget is {budget}")).unwrap_or_default();
    match found.price {
        Some(price) => {
            let unknown: Vec<&str> = (found.estimate.models.iter())
                .filter(|model| model.price.is_none())
                .map(|model| model.model.as_str())
                .collect();
            let without = match unknown.is_empty() {
                true => String::new(),
                false => format!(", without {}, whose price is not known", format::listed(&unknown)),
            };
            say!("Money: at most about {price:.2}{without}{budget}");
        }
        None if found.calls > 0 => say!("Money: not known, since [llm.*.price] is not set{budget}"),
        None => {}
    }
    Ok(())
}
