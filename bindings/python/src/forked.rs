//! What the library asks on threads that it starts itself, in a process that was forked.

use std::ops::Range;
use std::sync::Arc;

use pericope::api::{Embeddings, EncodeError, SentenceEncoder, Span};

use crate::process::Threads;

/// The encoder, whose work is done by the threads of this process, whoever asks.
pub fn encoder(encoder: Arc<dyn SentenceEncoder>, threads: &Threads) -> Arc<dyn SentenceEncoder> {
    match threads.are_forked() {
        true => Arc::new(Forked { encoder, threads: threads.clone() }),
        false => encoder,
    }
}

struct Forked {
    encoder: Arc<dyn SentenceEncoder>,
    threads: Threads,
}

impl SentenceEncoder for Forked {
    fn name(&self) -> &str {
        self.encoder.name()
    }

    fn fingerprint(&self) -> String {
        self.encoder.fingerprint()
    }

    fn dimension(&self) -> usize {
        self.encoder.dimension()
    }

    fn max_tokens(&self) -> usize {
        self.encoder.max_tokens()
    }

    fn passage_tokens(&self) -> usize {
        self.encoder.passage_tokens()
    }

    fn is_static(&self) -> bool {
        self.encoder.is_static()
    }

    fn count_tokens(&self, text: &str) -> Option<usize> {
        self.encoder.count_tokens(text)
    }

    fn encode(&self, texts: &[&str]) -> Result<Embeddings, EncodeError> {
        self.threads.run(|| self.encoder.encode(texts))
    }

    fn encode_queries(&self, queries: &[&str]) -> Result<Embeddings, EncodeError> {
        self.threads.run(|| self.encoder.encode_queries(queries))
    }

    fn encode_passages(&self, passages: &[&str]) -> Result<Embeddings, EncodeError> {
        self.threads.run(|| self.encoder.encode_passages(passages))
    }

    fn encode_windows(&self, texts: &[&str], windows: &[Range<usize>]) -> Result<Embeddings, EncodeError> {
        self.threads.run(|| self.encoder.encode_windows(texts, windows))
    }

    fn encode_tokens(&self, texts: &[&str]) -> Result<Vec<Embeddings>, EncodeError> {
        self.threads.run(|| self.encoder.encode_tokens(texts))
    }

    fn encode_spans(&self, documents: &[(&str, &[Span])]) -> Result<Embeddings, EncodeError> {
        self.threads.run(|| self.encoder.encode_spans(documents))
    }
}
