//! `pericope index`

use std::collections::HashSet;
use std::path::Path;

use pericope_api::Document;
use pericope_index::{IndexError, IndexMeta, IndexSpec, IndexWriter, pipeline};
use pericope_segment::Resources;
use serde::Serialize;

use crate::args::IndexArgs;
use crate::commands::print_json;
use crate::input::{self, Input};
use crate::progress;
use crate::resources::{CommandResources, chunker, embedder};
use crate::status::{Failure, Outcome, Status};

#[derive(Serialize)]
struct Report<'a> {
    index: &'a str,
    segmenter: String,
    embedder: &'a str,
    tokenizer: &'a str,
    documents: u64,
    chunks: u64,
    documents_written: u64,
    chunks_written: u64,
    bytes: u64,
    skipped: usize,
    /// Chunks written now whose end the embedder does not read.
    truncated: u64,
    seconds: f64,
}

/// Runs the command.
pub fn run(args: IndexArgs, quiet: bool) -> Outcome {
    if args.into.starts_with("qdrant://") {
        return Err(Failure::usage("Qdrant servers cannot be written yet: name a folder for an embedded index"));
    }
    let dir = Path::new(&args.into);
    if dir.is_file() {
        return Err(Failure::usage(format!("--into {} is a file: name a folder", args.into)));
    }
    let found = Input::find(&args.paths, args.max_file_mb * 1_000_000)?;
    let corpus = |visit: &mut dyn FnMut(&Document)| {
        for path in found.files() {
            found.read(path, &mut |document| visit(&document), &mut |_| {});
        }
    };
    // What `same-size` was sized by when the index was made holds for all that is added to it.
    let before = if args.rebuild { None } else { IndexMeta::read(dir).ok().and_then(|meta| meta.reference) };
    let resources = CommandResources::for_policy(&args.policy).with_corpus(&corpus).with_reference(before);
    let encoder = embedder(&args.embedder)?;
    let chunker = chunker(&args.policy, &resources)?;
    let counter = resources.counter().map_err(Failure::usage)?;
    let mut spec = IndexSpec::new(chunker.spec().to_string(), counter.name());
    spec.reference = resources.reference();
    if let Some(encoder) = encoder {
        spec = spec.with_encoder(encoder);
    }
    let mut writer =
        if args.rebuild { IndexWriter::rebuild(dir, &spec) } else { IndexWriter::create_or_open(dir, &spec) }
            .map_err(by_kind)?;

    let mut bad = input::report(found.problems());
    let bar = progress::bar(found.files().len() as u64, "indexing", quiet);
    // What this run met, read or not: all else is what --prune removes.
    let met = std::cell::RefCell::new(HashSet::new());
    // Files are read one after the other, as the writer asks for them.
    let documents = found.files().iter().flat_map(|path| {
        let mut read = Vec::new();
        let mut problems = Vec::new();
        met.borrow_mut().insert(pericope_read::document_id(path));
        found.read(path, &mut |d| read.push(Ok(d)), &mut |p| problems.push(p));
        if args.prune {
            met.borrow_mut().extend(read.iter().filter_map(|r| r.as_ref().ok()).map(|d: &Document| d.id.clone()));
        }
        bar.inc(1);
        read.extend(problems.into_iter().map(|p| Err((String::new(), p))));
        read
    });
    let report = pipeline::index_documents(&mut writer, documents, |document| chunker.chunks(document), |_| {})
        .map_err(by_kind)?;
    bar.finish_and_clear();
    let failures: Vec<String> = report
        .failures
        .iter()
        .map(|f| if f.document.is_empty() { f.reason.clone() } else { format!("{}: {}", f.document, f.reason) })
        .collect();
    bad += input::report(&failures);
    if args.prune && bad > 0 {
        anstream::eprintln!(
            "nothing is pruned: {bad} of the inputs could not be read, and may be what seems to be gone"
        );
    } else if args.prune {
        writer.commit().map_err(by_kind)?;
        let met = met.borrow();
        for gone in writer.document_ids().map_err(by_kind)?.iter().filter(|id| !met.contains(*id)) {
            writer.remove(gone).map_err(by_kind)?;
        }
    }
    let stats = writer.finish().map_err(by_kind)?;
    let report = Report {
        index: &args.into,
        segmenter: chunker.spec().to_string(),
        embedder: &args.embedder,
        tokenizer: counter.name(),
        documents: stats.documents,
        chunks: stats.chunks,
        documents_written: stats.documents_written,
        chunks_written: stats.chunks_written,
        bytes: stats.bytes,
        skipped: bad,
        truncated: stats.truncated,
        seconds: stats.seconds,
    };
    if args.json {
        print_json(&report)?;
    } else {
        say!(
            "{}: {} documents, {} chunks ({} written now, {:.1} MB in {:.1} s); cut by {}, embedded by {}, tokens by {}",
            report.index,
            report.documents,
            report.chunks,
            report.chunks_written,
            report.bytes as f64 / 1e6,
            report.seconds,
            report.segmenter,
            report.embedder,
            report.tokenizer
        );
    }
    if stats.truncated > 0 {
        anstream::eprintln!(
            "{} of {} chunks are longer than {} reads: dense search does not see their ends (--max-tokens N cuts shorter)",
            stats.truncated,
            stats.chunks_written,
            args.embedder
        );
    }
    if bad > 0 {
        anstream::eprintln!("{bad} of the inputs were left out (named above)");
        return Ok(Status::Incomplete);
    }
    Ok(Status::Done)
}

/// What the user can mend before anything runs, and what went wrong while running.
fn by_kind(error: IndexError) -> Failure {
    match error {
        IndexError::NotEmpty { .. } | IndexError::Mismatch { .. } | IndexError::Format { .. } => Failure::usage(error),
        other => Failure::runtime(other),
    }
}
