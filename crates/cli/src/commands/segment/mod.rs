//! `pericope segment`

mod args;

pub use args::{SEGMENT_EXAMPLES, SegmentArgs};

use std::cell::RefCell;
use std::collections::HashSet;
use std::io::{self, Write};
use std::sync::Arc;

use pericope::segmenters;
use pericope_api::{Chunk, Document, Heading, SegmentTree, joints};
use pericope_eval::run::TextSize;
use pericope_index::pipeline::DEFAULT_MEMORY;
use pericope_report::chunks::ChunksPage;
use pericope_segment::Chunker;
use pericope_segment::registry::{Needs, is_outside, needs};
use pericope_segment::spec::Spec;
use pericope_util::time_limit;
use serde::Serialize;

use self::args::OutputFormat;
use crate::commands::dry_run_segmenters;
use crate::input::{self, AllLeftOut, Input, Unread};
use crate::limited::Hand;
use crate::resources::{asks_model, checked_spec, chunker, engine, is_static, patient};
use crate::status::{Failure, Outcome, Status};
use crate::terminal::{Line as Shown, Output, Style, name};

/// One line of `--format json`.
#[derive(Serialize)]
struct Line<'a> {
    document: &'a str,
    ordinal: usize,
    start: usize,
    end: usize,
    tokens: usize,
    heading_path: &'a [Heading],
    text: &'a str,
    /// Bytes at the beginning of `text` that chunks before it have too.
    overlap: usize,
    /// The source before the first chunk, and between this one and the next: all of it, with `text` from `overlap` on.
    before: &'a str,
    after: &'a str,
}

/// One line of `--format tree`.
#[derive(Serialize)]
struct TreeLine<'a> {
    document: &'a str,
    tree: &'a SegmentTree,
}

/// Runs the command.
pub fn run(args: SegmentArgs, quiet: bool) -> Outcome {
    let from_stdin = args.files.iter().any(|f| f.as_os_str() == "-");
    let paths: Vec<_> = args.files.iter().filter(|f| f.as_os_str() != "-").cloned().collect();
    let mut limits = args.time.limits(DEFAULT_MEMORY as u64);
    limits.time = patient(limits.time, asks_model(&args.policy));
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
    let mut out = Output::standard();
    let page = ChunksPage::new(&chunker.spec().to_string());
    if args.format == OutputFormat::Html {
        out.raw(page.begin())?;
    }
    let failure = RefCell::new(None);
    let mut ids: HashSet<String> = HashSet::new();
    let mut print = |cut: Cut| match cut {
        // Chunks are told by their document's id and their number.
        (document, Ok(_)) if !ids.insert(document.id.clone()) => {
            Some(format!("{}: another document of this id was cut before: left out", document.id))
        }
        (document, Ok(parts)) => {
            // Flushed document by document: the first chunks show at once, and a closed pipe is noticed.
            if let Err(e) = write(&mut out, args.format, &page, &document, &parts).and_then(|()| out.flush()) {
                failure.borrow_mut().get_or_insert(e);
            }
            None
        }
        (_, Err(problem)) => Some(problem),
    };
    let mut problems = Vec::new();
    let format = args.format;
    let (by, limit) =
        (Arc::clone(&chunker), time_limit(limits.time, piped.iter().map(|d| d.source.len() as u64).sum()));
    let all = move |say: &mut dyn FnMut(Cut)| piped.into_iter().for_each(|document| say(cut(&by, format, document)));
    let stopped = Hand::default().run(limit, all, &mut |cut| problems.extend(print(cut)));
    problems.extend(stopped.err().map(|stopped| format!("standard input: {}", stopped.why(limit))));
    bad.left_out += input::report(&problems);
    let left_out = RefCell::new(AllLeftOut::default());
    let by = Arc::clone(&chunker);
    found.read_ahead(
        threads(&checked_spec(&args.policy)?),
        move |document| cut(&by, format, document),
        &mut |read| {
            match read {
                Ok(cut) => left_out.borrow_mut().bad.extend(print(cut)),
                Err(one) => left_out.borrow_mut().add(one),
            }
            failure.borrow().is_none()
        },
        &mut || {
            let mut left_out = left_out.take();
            bad += left_out.report();
            empty.append(&mut left_out.empty);
            failure.borrow().is_none()
        },
    );
    if let Some(error) = failure.into_inner() {
        return Err(error.into());
    }
    if args.format == OutputFormat::Html {
        out.raw(page.end())?;
    }
    out.flush()?;
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
    Ok(if bad.total() > 0 { Status::Incomplete } else { Status::Done })
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

/// What a document is cut into.
enum Parts {
    Chunks(Vec<Chunk>),
    Tree(SegmentTree),
}

/// A document with its parts, or a line that says why there are none.
type Cut = (Document, Result<Parts, String>);

fn cut(chunker: &Chunker, format: OutputFormat, document: Document) -> Cut {
    let parts = match format {
        OutputFormat::Tree => chunker.trees().and_then(|trees| trees.tree(&document)).map(Parts::Tree),
        _ => chunker.chunks(&document).map(Parts::Chunks),
    };
    let parts = parts.map_err(|e| format!("{}: {e}", document.id));
    (document, parts)
}

fn write<W: Write>(
    out: &mut Output<W>,
    format: OutputFormat,
    page: &ChunksPage,
    document: &Document,
    parts: &Parts,
) -> io::Result<()> {
    let chunks = match parts {
        Parts::Chunks(chunks) => chunks,
        Parts::Tree(tree) => {
            out.json(&serde_json::to_string(&TreeLine { document: &document.id, tree })?)?;
            return out.raw("\n");
        }
    };
    match format {
        OutputFormat::Text => chunks.iter().try_for_each(|chunk| text(out, document, chunk)),
        OutputFormat::Html => out.raw(&page.document(document, chunks)),
        OutputFormat::Json | OutputFormat::Tree => {
            for (chunk, joint) in chunks.iter().zip(joints(&document.source, chunks)) {
                let line = Line {
                    document: &chunk.document,
                    ordinal: chunk.ordinal,
                    start: chunk.span.start,
                    end: chunk.span.end,
                    tokens: chunk.tokens,
                    heading_path: &chunk.heading_path,
                    text: document.text(chunk.span),
                    overlap: joint.overlap,
                    before: joint.before,
                    after: joint.after,
                };
                out.json(&serde_json::to_string(&line)?)?;
                out.raw("\n")?;
            }
            Ok(())
        }
    }
}

/// For people: a rule with the chunk's figures above the chunk.
fn text<W: Write>(out: &mut Output<W>, document: &Document, chunk: &Chunk) -> io::Result<()> {
    let mut rule = format!("── {} #{} · {} tokens", document.id, chunk.ordinal, chunk.tokens);
    if !chunk.heading_path.is_empty() {
        rule.push_str(&format!(" · {}", chunk.heading_path.join(" › ")));
    }
    out.line(Shown::styled(Style::Soft, name(&rule)))?;
    out.document(document.text(chunk.span))?;
    out.raw("\n")
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
