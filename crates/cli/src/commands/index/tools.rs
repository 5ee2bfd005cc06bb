//! What documents are cut, placed and embedded with.

use std::sync::Arc;

use pericope::{Engine, reads_with};
use pericope_api::SentenceEncoder;
use pericope_index::EmbeddingCache;
use pericope_llm::LlmContextWriter;
use pericope_segment::Chunker;
use pericope_store::{IndexSpec, StoreMeta, VectorCache};

use super::args::IndexArgs;
use super::plan::Plan;
use crate::resources::{EMBEDDER, checked_spec, chunker, embedder, failure, is_static};
use crate::status::Failure;

/// Bytes of texts and vectors that are remembered, of sentences that were read to cut and may be chunks: some 30,000.
const READ_ONCE: usize = 64 << 20;

/// What every pass works with.
pub(super) struct Tools {
    pub chunker: Arc<Chunker>,
    /// Writes the contexts of chunks, where anybody does.
    pub contexts: Option<Arc<LlmContextWriter>>,
    /// The file of vectors that is asked before the embedder.
    pub cache: Option<Arc<dyn VectorCache>>,
    pub spec: IndexSpec,
}

impl Tools {
    /// Opens them; `before` is what the index was made with.
    pub(super) fn open(
        args: &IndexArgs,
        plan: &Plan,
        engine: Engine<'_>,
        before: Option<&StoreMeta>,
        quiet: bool,
    ) -> Result<Self, Failure> {
        let encoder =
            embedder(&plan.embedder, args.policy.offline).map_err(|failure| without_embedder(plan, failure))?;
        let mut engine = engine.with_limits_of(before, encoder.as_deref(), plan.room());
        let shares = is_read_once(args, plan)?;
        let encoder = encoder.map(|encoder| match shares {
            true => engine.share_encoder(&plan.embedder, encoder, READ_ONCE),
            false => encoder,
        });
        let contexts = plan.context_llm.as_ref().map(|file| engine.context_writer(file)).transpose();
        let contexts = contexts.map_err(|error| failure(error).about("--context-llm"))?.map(Arc::new);
        let chunker = chunker(&args.policy, &engine)?;
        let mut cache: Option<Arc<dyn VectorCache>> = None;
        if let (Some(encoder), Some(path)) = (&encoder, &args.embedding_cache) {
            cache = Some(Arc::new(EmbeddingCache::for_encoder(path, encoder.as_ref()).map_err(Failure::usage)?));
        }
        if let Some(encoder) = encoder.as_deref().filter(|_| plan.late_chunking) {
            check_late(encoder, quiet)?;
        }
        let spec = engine.index_spec(&chunker, encoder).map_err(failure)?.with_heading_prefix(plan.prefix_headings);
        let spec = spec.with_late_chunking(plan.late_chunking);
        let spec = spec.with_context(contexts.as_ref().map(|writer| writer.fingerprint())).with_language(args.language);
        Ok(Self { chunker: Arc::new(chunker), contexts, cache, spec })
    }
}

/// Whether sentences that are read to cut may be the chunks that are embedded, so that their vectors are remembered.
fn is_read_once(args: &IndexArgs, plan: &Plan) -> Result<bool, Failure> {
    // What is embedded with more around it was not read before.
    let alone = !plan.late_chunking && !plan.prefix_headings && plan.context_llm.is_none();
    // Static vectors are made as quickly as they are found again.
    Ok(alone && !is_static(&plan.embedder) && reads_with(&checked_spec(&args.policy)?, &plan.embedder))
}

/// Checks that an encoder can embed chunks within their documents, and says how.
fn check_late(encoder: &dyn SentenceEncoder, quiet: bool) -> Result<(), Failure> {
    encoder.encode_spans(&[]).map_err(|error| Failure::usage(error).about("late chunking"))?;
    if !quiet {
        let window = encoder.max_tokens();
        tell!(
            "late chunking: {} reads {window} tokens at a time, longer documents in windows that overlap",
            encoder.name()
        );
    }
    Ok(())
}

/// The failure to load the embedder; where its model is not installed, with what does without one.
fn without_embedder(plan: &Plan, failure: Failure) -> Failure {
    let failure = failure.about(&plan.embedder_from);
    if plan.embedder == EMBEDDER && pericope_encode::models::locate(EMBEDDER).is_err() {
        return Failure::usage(format!("{failure}, or index and search by words alone with the embedder `none`"));
    }
    failure
}
