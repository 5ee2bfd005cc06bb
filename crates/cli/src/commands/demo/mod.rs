//! `pericope demo`: the first minute, without a model, a network or documents.

mod args;
mod cut;
mod handbook;
mod measure;
mod show;

use std::path::Path;
use std::time::Instant;

use serde::Serialize;

use crate::commands::compare::quoted;
use crate::commands::print_json;
use crate::resources::shown;
use crate::status::{Failure, Outcome, Status};
use crate::terminal::{Line, Style, width};

pub use args::{DEMO_EXAMPLES, DemoArgs};
use cut::PageCut;
use measure::{Measured, Row};

/// What programs are told.
#[derive(Serialize)]
struct Demo<'a> {
    documents: usize,
    questions: usize,
    mode: &'static str,
    /// What counts tokens.
    counter: &'static str,
    token_budget: usize,
    chunkers: &'a [Row],
    sentence: &'a str,
    page: &'a PageCut<'a>,
    /// Commands to type next.
    next: &'a [Next],
    seconds: f64,
}

/// A command to type next.
#[derive(Serialize)]
struct Next {
    command: String,
    /// What it is for.
    to: &'static str,
}

/// Runs the command.
pub fn run(args: &DemoArgs) -> Outcome {
    let clock = Instant::now();
    let pages = handbook::pages()?;
    let documents = handbook::documents(&pages)?;
    let questions = handbook::questions(&documents)?;
    if let Some(out) = &args.out {
        handbook::write(out, &pages, &questions)?;
    }
    let folder = tempfile::tempdir().map_err(|e| Failure::runtime(format!("a folder for the indexes: {e}")))?;
    let measured = measure::measure(&questions, folder.path())?;
    let page = cut::cut(&documents)?;
    let next = next(args.out.as_deref());
    if args.json {
        return print_json(&Demo {
            documents: measured.documents,
            questions: measured.questions,
            mode: "bm25",
            counter: measure::COUNTER,
            token_budget: measured.token_budget,
            chunkers: &measured.rows,
            sentence: &measured.sentence,
            page: &page,
            next: &next,
            seconds: clock.elapsed().as_secs_f64(),
        });
    }
    show(&measured, &page, &next, args.out.as_deref(), clock)?;
    Ok(Status::Done)
}

fn show(
    measured: &Measured,
    page: &PageCut<'_>,
    next: &[Next],
    out: Option<&Path>,
    clock: Instant,
) -> std::io::Result<()> {
    let width = width();
    show::table(measured, width)?;
    show::page(page, width)?;
    say!("");
    let all_in = format!("All of it in {:.1} s. Type next:", clock.elapsed().as_secs_f64());
    show::wrapped(Style::Bold, &all_in, width)?;
    for Next { command, to } in next {
        say!("  {command}");
        Line::styled(Style::Soft, format_args!("      {to}")).say()?;
    }
    if out.is_none() {
        say!("");
        let about = "docs/ stands for a folder of yours; `pericope demo --out handbook` gives you these pages to try.";
        show::wrapped(Style::Soft, about, width)?;
    }
    Ok(())
}

/// The commands to type next: on the pages, where they were written, else on a folder of the user's.
fn next(out: Option<&Path>) -> Vec<Next> {
    let next = |command: String, to| Next { command, to };
    let (pages, query) = match out {
        Some(out) => (quoted(&shown(&out.join(handbook::FOLDER))), "how long does a starter keep in the fridge"),
        None => ("docs/".to_owned(), "how do I rotate the keys"),
    };
    vec![
        next(format!("pericope index {pages} --into demo.idx --embedder none"), "to index a folder by words"),
        next(format!("pericope search '{query}' --in demo.idx"), "to search it"),
        next(format!("pericope compare {pages}"), "to find out which chunker suits it, with questions of its own"),
        next("pericope models pull minilm".to_owned(), "91 MB: from then on search and segmenters go by meaning too"),
    ]
}
