//! What the unit tests and the integration tests share: an encoder without a model, documents, directories.
#![allow(dead_code, clippy::unwrap_used, clippy::expect_used)]

use std::path::Path;
use std::sync::Arc;
use std::sync::atomic::{AtomicUsize, Ordering};

use pericope_api::{Chunk, Document, Embeddings, EncodeError, SentenceEncoder};

/// A hashed bag of words: the cosine of two texts is that of their word counts (but for collisions).
pub struct BagOfWords {
    pub fingerprint: &'static str,
    /// Number of texts that were embedded.
    pub texts: AtomicUsize,
    /// A text that holds this word cannot be embedded.
    pub poison: Option<&'static str>,
}

pub const DIMENSION: usize = 256;

impl BagOfWords {
    pub fn new() -> Arc<Self> {
        Arc::new(Self { fingerprint: "v1", texts: AtomicUsize::new(0), poison: None })
    }

    pub fn vector(text: &str) -> Vec<f32> {
        let mut vector = vec![0f32; DIMENSION];
        for word in text.split(|c: char| !c.is_alphanumeric()).filter(|w| !w.is_empty()) {
            vector[(Chunk::content_hash(&word.to_lowercase()) % DIMENSION as u128) as usize] += 1.0;
        }
        let norm = vector.iter().map(|v| v * v).sum::<f32>().sqrt();
        match norm > 0.0 {
            true => vector.iter_mut().for_each(|v| *v /= norm),
            false => vector[0] = 1.0,
        }
        vector
    }
}

impl SentenceEncoder for BagOfWords {
    fn name(&self) -> &str {
        "bag-of-words"
    }

    fn fingerprint(&self) -> String {
        self.fingerprint.to_owned()
    }

    fn dimension(&self) -> usize {
        DIMENSION
    }

    fn max_tokens(&self) -> usize {
        512
    }

    fn encode(&self, texts: &[&str]) -> Result<Embeddings, EncodeError> {
        self.texts.fetch_add(texts.len(), Ordering::Relaxed);
        if self.poison.is_some_and(|poison| texts.iter().any(|text| text.contains(poison))) {
            return Err(EncodeError::Run("a word that cannot be embedded".into()));
        }
        Ok(Embeddings::new(DIMENSION, texts.iter().flat_map(|text| Self::vector(text)).collect()))
    }
}

/// One chunk a sentence.
pub fn sentence_chunks(document: &Document) -> Vec<Chunk> {
    let sentences = document.sentences.iter().enumerate();
    sentences
        .map(|(ordinal, sentence)| Chunk {
            document: document.id.clone(),
            ordinal,
            span: sentence.span,
            heading_path: document.heading_path(ordinal).to_vec(),
            tokens: document.text(sentence.span).split_whitespace().count(),
            hash: Chunk::content_hash(document.text(sentence.span)),
        })
        .collect()
}

/// A document of sentences made of the words `w0`..`w499`, some of them frequent.
pub fn made_up(id: &str, seed: u64, sentences: usize) -> Document {
    let mut state = seed.wrapping_mul(0x9e37_79b9_7f4a_7c15) | 1;
    let mut next = |below: u64| {
        state ^= state << 13;
        state ^= state >> 7;
        state ^= state << 17;
        state % below
    };
    let made: Vec<String> = (0..sentences)
        .map(|_| {
            let words = 4 + next(12);
            let words: Vec<String> = (0..words).map(|_| format!("w{}", next(500) * next(500) / 500)).collect();
            words.join(" ") + "."
        })
        .collect();
    Document::from_sentences(id, &made)
}

/// Copies a folder, as a crash would leave it.
pub fn copy_folder(from: &Path, to: &Path) {
    std::fs::create_dir_all(to).unwrap();
    for entry in std::fs::read_dir(from).unwrap().flatten() {
        let target = to.join(entry.file_name());
        match entry.file_type().unwrap().is_dir() {
            true => copy_folder(&entry.path(), &target),
            false => drop(std::fs::copy(entry.path(), target).unwrap()),
        }
    }
}
