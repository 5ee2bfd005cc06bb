//! What the library asks on threads that it starts itself, and on the caller's, in a process that was forked.

use std::ops::Range;
use std::sync::Arc;

use pericope::api::{Embeddings, EncodeError, SentenceEncoder, Span};
use pericope::store::{
    ChunkEntry, Destination, DestinationInfo, DocumentHeader, Finished, Known, RunSummary, SourceRecord, StoreError,
};

use crate::process::Threads;

/// The encoder, whose work is done by the threads of this process, whoever asks.
pub fn encoder(encoder: Arc<dyn SentenceEncoder>, threads: &Threads) -> Arc<dyn SentenceEncoder> {
    match threads.are_forked() {
        true => Arc::new(Encoder { encoder, threads: threads.clone() }),
        false => encoder,
    }
}

/// The store, which is written by the threads of this process. The caller's stays outside of them: it alone hears signals.
pub fn store(store: Box<dyn Destination>, threads: &Threads) -> Box<dyn Destination> {
    match threads.are_forked() {
        true => Box::new(Store { store, threads: threads.clone() }),
        false => store,
    }
}

struct Encoder {
    encoder: Arc<dyn SentenceEncoder>,
    threads: Threads,
}

impl SentenceEncoder for Encoder {
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

    fn texts_cut(&self) -> u64 {
        self.encoder.texts_cut()
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

struct Store {
    store: Box<dyn Destination>,
    threads: Threads,
}

impl Destination for Store {
    fn about(&self) -> &DestinationInfo {
        self.store.about()
    }

    fn known(&mut self) -> Result<Known, StoreError> {
        self.threads.run(|| self.store.known())
    }

    fn put(&mut self, document: &DocumentHeader, chunks: Vec<ChunkEntry>, rows: Embeddings) -> Result<(), StoreError> {
        self.threads.run(|| self.store.put(document, chunks, rows))
    }

    fn remove(&mut self, document: &str) -> Result<bool, StoreError> {
        self.threads.run(|| self.store.remove(document))
    }

    fn record(&mut self, source: &str, record: Option<SourceRecord>) -> Result<(), StoreError> {
        self.threads.run(|| self.store.record(source, record))
    }

    fn commit(&mut self) -> Result<(), StoreError> {
        self.threads.run(|| self.store.commit())
    }

    fn finish(self: Box<Self>, run: &RunSummary<'_>) -> Result<Finished, StoreError> {
        let Self { store, threads } = *self;
        threads.run(|| store.finish(run))
    }
}
