//! `pericope segment`

use std::io::{BufWriter, Write};
use std::sync::Arc;

use pericope_api::{Chunk, Document, Heading};
use pericope_index::pipeline::DEFAULT_MEMORY;
use pericope_report::chunks::ChunksPage;
use pericope_segment::Chunker;
use serde::Serialize;

use crate::args::{OutputFormat, SegmentArgs};
use crate::input::{self, Input};
use crate::resources::{chunker, engine};
use crate::status::{Outcome, Status};
use crate::style;

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
}

/// Runs the command.
pub fn run(args: SegmentArgs, quiet: bool) -> Outcome {
    let from_stdin = args.files.iter().any(|f| f.as_os_str() == "-");
    let paths: Vec<_> = args.files.iter().filter(|f| f.as_os_str() != "-").cloned().collect();
    let limits = args.time.limits(DEFAULT_MEMORY as u64);
    let (piped, broken) =
        if from_stdin { input::standard_input(&args.stdin_format, limits)? } else { Default::default() };
    let found = Input::find(&paths, 0, limits)?;
    let corpus = |visit: &mut dyn FnMut(&Document)| {
        piped.iter().for_each(&mut *visit);
        for path in found.files() {
            found.read_in_time(path, |document| document, &mut |read| drop(read.map(|document| visit(&document))));
        }
    };
    let resources = engine(&args.policy).with_corpus(&corpus);
    let chunker = Arc::new(chunker(&args.policy, &resources)?);

    let mut bad = input::report(found.problems()) + input::report(&broken);
    let mut out = BufWriter::new(std::io::stdout().lock());
    let page = ChunksPage::new(&chunker.spec().to_string());
    if args.format == OutputFormat::Html {
        out.write_all(page.begin().as_bytes())?;
    }
    let mut failure = None;
    let mut print = |cut: Cut| match cut {
        (document, Ok(chunks)) => {
            // Flushed document by document: the first chunks show at once, and a closed pipe is noticed.
            if let Err(e) = write(&mut out, args.format, &page, &document, &chunks).and_then(|()| out.flush()) {
                failure.get_or_insert(e);
            }
            None
        }
        (_, Err(problem)) => Some(problem),
    };
    for document in piped {
        bad += input::report(print(cut(&chunker, document)).as_slice());
    }
    for path in found.files() {
        let mut problems = Vec::new();
        let by = Arc::clone(&chunker);
        found.read_in_time(path, move |document| cut(&by, document), &mut |read| {
            problems.extend(read.map_or_else(Some, &mut print));
        });
        bad += input::report(&problems);
        if failure.is_some() {
            break;
        }
    }
    if let Some(error) = failure {
        return Err(error.into());
    }
    if args.format == OutputFormat::Html {
        out.write_all(page.end().as_bytes())?;
    }
    out.flush()?;
    if bad > 0 && !quiet {
        anstream::eprintln!("{bad} of the inputs could not be cut");
    }
    Ok(if bad > 0 { Status::Incomplete } else { Status::Done })
}

/// A document with its chunks, or a line that says why there are none.
type Cut = (Document, Result<Vec<Chunk>, String>);

fn cut(chunker: &Chunker, document: Document) -> Cut {
    let chunks = chunker.chunks(&document).map_err(|e| format!("{}: {e}", document.id));
    (document, chunks)
}

fn write(
    out: &mut impl Write,
    format: OutputFormat,
    page: &ChunksPage,
    document: &Document,
    chunks: &[Chunk],
) -> std::io::Result<()> {
    match format {
        OutputFormat::Text => text(out, document, chunks),
        OutputFormat::Html => out.write_all(page.document(document, chunks).as_bytes()),
        OutputFormat::Json => {
            for chunk in chunks {
                let line = Line {
                    document: &chunk.document,
                    ordinal: chunk.ordinal,
                    start: chunk.span.start,
                    end: chunk.span.end,
                    tokens: chunk.tokens,
                    heading_path: &chunk.heading_path,
                    text: document.text(chunk.span),
                };
                serde_json::to_writer(&mut *out, &line)?;
                out.write_all(b"\n")?;
            }
            Ok(())
        }
    }
}

/// For people: a rule with the chunk's figures above each chunk.
fn text(out: &mut impl Write, document: &Document, chunks: &[Chunk]) -> std::io::Result<()> {
    use std::io::IsTerminal;
    let colour = std::io::stdout().is_terminal();
    let (soft, plain) = if colour { (style("2"), style("0")) } else { (String::new(), String::new()) };
    for chunk in chunks {
        let mut rule = format!("── {} #{} · {} tokens", document.id, chunk.ordinal, chunk.tokens);
        if !chunk.heading_path.is_empty() {
            rule.push_str(&format!(" · {}", chunk.heading_path.join(" › ")));
        }
        writeln!(out, "{soft}{rule}{plain}\n{}\n", document.text(chunk.span))?;
    }
    Ok(())
}
