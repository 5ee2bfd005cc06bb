//! What a pass did, as text or JSON.

use pericope_api::ModelUse;
use pericope_store::Publication;
use serde::Serialize;

use super::job::{Job, Pass};
use crate::commands::print_json;
use crate::input;
use crate::status::Failure;
use crate::terminal::counted;

#[derive(Serialize)]
struct Report<'a> {
    index: String,
    segmenter: String,
    embedder: &'a str,
    /// Who wrote the contexts of the chunks.
    #[serde(skip_serializing_if = "Option::is_none")]
    context: Option<&'a str>,
    /// What the segmenter asked of a language model.
    #[serde(skip_serializing_if = "Option::is_none")]
    asked: Option<ModelUse>,
    /// What was asked of one for contexts; chunks that it failed for have none.
    #[serde(skip_serializing_if = "Option::is_none")]
    contexts: Option<ModelUse>,
    tokenizer: &'a str,
    /// Whether a rebuild has taken the place of the old index, which serves on where it has not; the numbers are those of the rebuild.
    #[serde(skip_serializing_if = "Option::is_none")]
    published: Option<bool>,
    documents: u64,
    chunks: u64,
    documents_written: u64,
    chunks_written: u64,
    /// Documents that went: their files hold them no more, or are gone (--prune).
    documents_removed: u64,
    /// Files that were not read, since they are as they were.
    files_unchanged: u64,
    /// Documents that were read now and hold no text.
    empty: u64,
    bytes: u64,
    skipped: usize,
    /// Files that were read in part.
    incomplete: usize,
    texts_embedded: u64,
    /// Texts whose vectors were known already.
    texts_reused: u64,
    /// Chunks written now whose end the embedder does not read.
    truncated: u64,
    /// Ended early: the same command goes on.
    interrupted: bool,
    /// Seconds in the embedder, while other stages went on.
    embed_seconds: f64,
    seconds: f64,
}

impl Job<'_> {
    /// Says what a pass did.
    pub(super) fn tell(&self, pass: &Pass) -> Result<(), Failure> {
        let (args, stats) = (self.args, &pass.finished.stats);
        let report = Report {
            index: self.name.clone(),
            segmenter: self.chunker.spec().to_string(),
            embedder: &self.plan.embedder,
            context: self.spec.context.as_deref(),
            asked: self.chunker.segmenter().model_use(),
            contexts: self.contexts.as_ref().map(|writer| writer.used()),
            tokenizer: &self.spec.tokenizer,
            published: match pass.finished.publication {
                Publication::InPlace => None,
                Publication::Published => Some(true),
                Publication::KeptOld { .. } | Publication::Unfinished => Some(false),
            },
            documents: stats.documents,
            chunks: stats.chunks,
            documents_written: stats.documents_written,
            chunks_written: stats.chunks_written,
            documents_removed: stats.documents_removed,
            files_unchanged: pass.report.progress.unchanged,
            empty: pass.report.progress.empty,
            bytes: stats.bytes,
            skipped: pass.bad.left_out,
            incomplete: pass.bad.in_part,
            texts_embedded: stats.texts_embedded,
            texts_reused: stats.texts_reused,
            truncated: stats.truncated,
            interrupted: pass.report.interrupted,
            embed_seconds: stats.embed_seconds,
            seconds: stats.seconds,
        };
        if args.json {
            print_json(&report)?;
        } else {
            let unpublished = if report.published == Some(false) { " (rebuild, not published)" } else { "" };
            say!(
                "{}{unpublished}: {}, {} ({} written now, {:.1} MB in {:.1} s); cut by {}, embedded by {}, tokens by {}",
                report.index,
                counted(report.documents, "document"),
                counted(report.chunks, "chunk"),
                report.chunks_written,
                report.bytes as f64 / 1e6,
                report.seconds,
                report.segmenter,
                report.embedder,
                report.tokenizer
            );
            let notes = [
                (report.files_unchanged, "file", "unchanged"),
                (report.documents_removed, "document", "removed"),
                (report.texts_reused, "vector", "known already"),
            ];
            let told = |(n, noun, what): &(u64, &str, &str)| format!("{} {what}", counted(*n, noun));
            let notes: Vec<String> = notes.iter().filter(|(n, ..)| *n > 0).map(told).collect();
            if !notes.is_empty() {
                say!("{}", notes.join(", "));
            }
        }
        if !self.quiet {
            for (what, used) in [("groups of passages", &report.asked), ("contexts of chunks", &report.contexts)] {
                if let Some(used) = used {
                    tell!("{what}: {used}");
                }
            }
            input::tell_empty(&pass.report.empty);
        }
        if stats.vectors_rejected > 0 {
            tell!(
                "{} known vectors are damaged (embedding cache or index); their texts were embedded again",
                stats.vectors_rejected
            );
        }
        if stats.truncated > 0 {
            tell!(
                "{} of {} chunks are longer than {} reads: dense search does not see their ends (--max-tokens N cuts shorter)",
                stats.truncated,
                stats.chunks_written,
                self.plan.embedder
            );
        }
        Ok(())
    }
}
