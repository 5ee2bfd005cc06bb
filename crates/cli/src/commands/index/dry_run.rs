//! `pericope index --dry-run`

use pericope::Engine;
use pericope_api::Document;
use pericope_eval::config::ModelFile;
use pericope_eval::run::{
    BYTES_PER_TOKEN, Estimate, TextSize, estimate_contexts, estimate_segment_embedders, segments_by_endpoint,
};
use pericope_read::document_id;
use pericope_segment::Resources;
use pericope_store::{CONTEXT_TOKENS, StoreMeta};

use super::args::IndexArgs;
use super::plan::Plan;
use crate::commands::dry_run;
use crate::commands::dry_run_segmenters;
use crate::input::Input;
use crate::resources::{EMBEDDER, asks_model, checked_spec, chunker, embedder};
use crate::status::{Failure, Outcome};

/// Reads and cuts the files, and says what the models come to; nothing is asked, embedded or written. Files that a model would cut are
/// not cut: chunks are counted half as long as they may be.
pub(super) fn run(
    args: &IndexArgs,
    plan: &Plan,
    found: &Input,
    engine: Engine<'_>,
    before: Option<&StoreMeta>,
) -> Outcome {
    // Nothing is asked over the network, what is not there is not needed, and MiniLM reads what is the limit anyway.
    let is_read = plan.embedder != EMBEDDER && !plan.embedder.starts_with("openai:");
    let encoder = is_read.then(|| embedder(&plan.embedder, true).ok().flatten()).flatten();
    let engine = engine.with_limits_of(before, encoder.as_deref(), plan.room());
    let own = checked_spec(&args.policy)?;
    // An endpoint that its segmenter reads with is not asked either.
    let asks = asks_model(&args.policy) || segments_by_endpoint(&own);
    let chunker = if asks { None } else { Some(chunker(&args.policy, &engine)?) };
    let likely = engine.defaults().max_tokens.map_or(1, |most| most / 2).max(1);
    let (mut chunks, mut tokens) = (0, 0);
    // Tokens, chunks and tokens of a chunk of each document.
    let mut documents: Vec<(usize, usize, usize)> = Vec::new();
    let mut read: Vec<TextSize> = Vec::new();
    let ours = |id: &str| args.shard.is_none_or(|shard| shard.holds(id));
    for path in found.files().iter().filter(|path| ours(&document_id(path))) {
        // What cannot be read or cut is named when it is indexed.
        found.read_in_time(path, |document| document, &mut |one: Result<Document, _>| {
            let Ok(document) = one else { return };
            let all = TextSize::of(&document);
            read.push(all);
            let size = all.tokens;
            let Some(chunker) = &chunker else {
                let count = size.div_ceil(likely).max(1);
                (chunks, tokens) = (chunks + count, tokens + size);
                return documents.push((size, count, likely));
            };
            let mut cut = chunker.chunks(&document).unwrap_or_default();
            cut.retain(|chunk| document.shows(chunk.span));
            let own: usize = cut.iter().map(|chunk| chunk.tokens).sum();
            (chunks, tokens) = (chunks + cut.len(), tokens + own);
            if plan.prefix_headings {
                // What joins them counts too.
                let headings = cut.iter().flat_map(|chunk| &chunk.heading_path);
                tokens += headings.map(|heading| heading.len() / BYTES_PER_TOKEN + 2).sum::<usize>();
            }
            documents.push((size, cut.len(), own / cut.len().max(1)));
        });
    }
    let mut asked = Estimate::default();
    asked.models.extend(estimate_segment_embedders([&own], &read));
    let sizes: Vec<usize> = read.iter().map(|size| size.tokens).collect();
    asked.models.extend(dry_run_segmenters::asked(&own, &sizes)?);
    asked.budget = dry_run_segmenters::budget(&own);
    if let Some(file) = &plan.context_llm {
        let file = ModelFile::load(file).map_err(|e| Failure::usage(e).about("--context-llm"))?;
        let config = file.context().map_err(|e| Failure::usage(e).about("--context-llm"))?;
        tokens += chunks * CONTEXT_TOKENS;
        asked.models.extend(estimate_contexts(config, documents));
        asked.budget = asked.budget.or(file.budget);
    }
    let more = "These are all chunks of the files. Files that an index holds as they are cost nothing.";
    dry_run::embedding(Some(plan.embedder.as_str()), chunks, tokens, asked, more, args.json)
}
