//! `pericope segment`

mod args;
mod print;

pub use args::{SEGMENT_EXAMPLES, SegmentArgs};

use std::cell::RefCell;
use std::env;
use std::io::Write;
use std::slice;
use std::sync::Arc;
use std::time::Duration;

use pericope::segmenters;
use pericope_api::Document;
use pericope_eval::run::TextSize;
use pericope_index::pipeline::DEFAULT_MEMORY;
use pericope_segment::Chunker;
use pericope_segment::registry::{Needs, is_outside, needs};
use pericope_segment::spec::Spec;
use pericope_util::time_limit;

use self::args::OutputFormat;
use self::print::{Cut, Parts, Printer};
use crate::commands::dry_run_segmenters;
use crate::input::{self, AllLeftOut, Input, Unread};
use crate::limited::Hand;
use crate::project::find_here;
use crate::resources::{asks_model, checked_spec, chunker, engine, is_static, patient};
use crate::status::{Failure, Outcome, Status};
use crate::terminal::Output;
use crate::unanswered::Unanswered;

/// Runs the command.
pub fn run(mut args: SegmentArgs, quiet: bool) -> Outcome {
    as_the_project_says(&mut args)?;
    let from_stdin = args.files.iter().any(|f| f.as_os_str() == "-");
    let paths: Vec<_> = args.files.iter().filter(|f| f.as_os_str() != "-").cloned().collect();
    let mut limits = args.time.limits(DEFAULT_MEMORY as u64);
    limits.time = patient(limits.time, &args.policy, asks_model(&args.policy));
    let (piped, left_out) =
        if from_stdin { input::standard_input(&args.stdin_format, limits)? } else { Default::default() };
    let found = Input::find(&paths, args.follow_links, limits)?;
    if args.dry_run {
        return price(&args, &piped, &found, left_out);
    }
    let corpus = |visit: &mut dyn FnMut(&Document)| {
        piped.iter().for_each(&mut *visit);
        for path in found.files() {
            found.read_in_time(path, |document| document, &mut |read| drop(read.map(|document| visit(&document))));
        }
    };
    let resources = engine(&args.policy, "none").with_corpus(&corpus);
    let chunker = Arc::new(chunker(&args.policy, &resources)?);
    if args.format == OutputFormat::Tree {
        chunker.trees().map_err(|e| Failure::usage(format!("--format tree: {e}")))?;
    }

    let mut bad = Unread { left_out: found.report(), in_part: 0 };
    bad += left_out.report();
    let mut empty = left_out.empty;
    let mut printer = Printer::begin(Output::standard(), args.format, &chunker.spec().to_string())?;
    let cutter =
        Arc::new(Cutter { chunker: Arc::clone(&chunker), format: args.format, unanswered: Unanswered::default() });
    bad.left_out += cut_piped(piped, limits.time, &cutter, &mut printer);
    let threads = threads(&checked_spec(&args.policy)?);
    let (bad_files, empty_files) = cut_files(&found, threads, &cutter, &mut printer);
    bad += bad_files;
    empty.extend(empty_files);
    printer.end()?;
    if !quiet {
        if let Some(used) = chunker.segmenter().model_use() {
            tell!("groups of passages: {used}");
        }
        input::tell_empty(&empty);
        found.tell_rules();
    }
    if bad.left_out > 0 && !quiet {
        tell!("{} of the inputs could not be cut", bad.left_out);
    }
    if bad.in_part > 0 && !quiet {
        tell!("{} of the inputs could not be read in full", bad.in_part);
    }
    if let Some(failure) = cutter.unanswered.failure(args.policy.offline) {
        return Err(failure);
    }
    Ok(if bad.total() > 0 { Status::Incomplete } else { Status::Done })
}

/// In a project, where no flag names a segmenter, takes that of its settings. The working directory is the project's folder then,
/// since they may name files, and documents are called as `pericope index` calls them.
fn as_the_project_says(args: &mut SegmentArgs) -> Result<(), Failure> {
    let Some(project) = find_here().filter(|_| args.policy.segmenter.is_none()) else { return Ok(()) };
    let Some(segmenter) = project.trusted_settings("name a segmenter with --segmenter")?.segmenter else {
        return Ok(());
    };
    args.policy.segmenter = Some(segmenter);
    let here = env::current_dir().map_err(Failure::usage)?;
    for file in args.files.iter_mut().filter(|file| file.as_os_str() != "-") {
        // What lies outside keeps its place, and the failure is not shown.
        let inside = project.inside(slice::from_ref(&*file), "").ok().and_then(|mut paths| paths.pop());
        *file = inside.unwrap_or_else(|| here.join(&*file));
    }
    project.enter()
}

/// What cuts documents, on several threads.
struct Cutter {
    chunker: Arc<Chunker>,
    format: OutputFormat,
    unanswered: Unanswered,
}

/// Cuts and prints what came in through standard input; returns how much was left out.
fn cut_piped<W: Write>(piped: Vec<Document>, time: Duration, cutter: &Arc<Cutter>, printer: &mut Printer<W>) -> usize {
    let limit = time_limit(time, piped.iter().map(|d| d.source.len() as u64).sum());
    let by = Arc::clone(cutter);
    let all = move |say: &mut dyn FnMut(Cut)| piped.into_iter().for_each(|document| say(by.cut(document)));
    let mut problems = Vec::new();
    let stopped = Hand::default().run(limit, all, &mut |cut| problems.extend(printer.print(cut)));
    problems.extend(stopped.err().map(|stopped| format!("standard input: {}", stopped.why(limit))));
    input::report(&problems)
}

/// Cuts and prints files; returns what of the inputs could not be read, and the names of pages without text.
fn cut_files<W: Write>(
    found: &Input,
    threads: usize,
    cutter: &Arc<Cutter>,
    printer: &mut Printer<W>,
) -> (Unread, Vec<String>) {
    let by = Arc::clone(cutter);
    let (mut bad, mut empty) = (Unread::default(), Vec::new());
    let (printer, left_out) = (RefCell::new(printer), RefCell::new(AllLeftOut::default()));
    found.read_ahead(
        threads,
        move |document| by.cut(document),
        &mut |read| {
            match read {
                Ok(cut) => left_out.borrow_mut().bad.extend(printer.borrow_mut().print(cut)),
                Err(one) => left_out.borrow_mut().add(one),
            }
            printer.borrow().goes_on()
        },
        &mut || {
            let mut left_out = left_out.take();
            bad += left_out.report();
            empty.append(&mut left_out.empty);
            printer.borrow().goes_on()
        },
    );
    (bad, empty)
}

impl Cutter {
    fn cut(&self, document: Document) -> Cut {
        let chunker = &self.chunker;
        let parts = match self.format {
            OutputFormat::Tree => chunker.trees().and_then(|trees| trees.tree(&document)).map(Parts::Tree),
            _ => chunker.chunks(&document).map(Parts::Chunks),
        };
        self.unanswered.note(&parts);
        let parts = parts.map_err(|e| format!("{}: {e}", document.id));
        (document, parts)
    }
}

/// Threads that cut. Models use all cores by themselves, and a program, a service or a language model has one document at a time.
fn threads(spec: &Spec) -> usize {
    let is_quick = match needs(segmenters(), spec) {
        Needs::None => !is_outside(spec),
        Needs::Encoder => spec.get("embedder").is_some_and(is_static),
        _ => false,
    };
    if is_quick { std::thread::available_parallelism().map_or(1, usize::from) } else { 1 }
}

/// Reads the documents and says what the models of the segmenter come to; nothing is asked or cut.
fn price(args: &SegmentArgs, piped: &[Document], found: &Input, mut left_out: AllLeftOut) -> Outcome {
    let spec = checked_spec(&args.policy)?;
    let mut documents: Vec<TextSize> = piped.iter().map(TextSize::of).collect();
    for path in found.files() {
        found.read_in_time(path, |document| TextSize::of(&document), &mut |read| match read {
            Ok(size) => documents.push(size),
            Err(one) => left_out.add(one),
        });
    }
    let bad = found.report() + left_out.report().total();
    dry_run_segmenters::run(&[spec], &documents, args.format == OutputFormat::Json)?;
    Ok(if bad > 0 { Status::Incomplete } else { Status::Done })
}

#[cfg(test)]
#[allow(clippy::unwrap_used)]
mod tests {
    use super::*;

    #[test]
    fn what_waits_for_another_has_one_document_at_a_time() {
        let of = |spec: &str| threads(&Spec::parse(spec).unwrap());
        for spec in ["command:cat", "weswin", "topic", "fusion", "window:embedder=e5", "same-size:reference=fusion"] {
            assert_eq!(of(spec), 1, "{spec}");
        }
        let all = std::thread::available_parallelism().unwrap().get();
        for spec in ["structure", "bayesseg", "fusion:embedder=static", "same-size:reference=structure"] {
            assert_eq!(of(spec), all, "{spec}");
        }
    }
}
