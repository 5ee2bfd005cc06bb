use std::ops::Range;

use crate::Span;

/// The reason for which texts could not be embedded.
#[derive(Debug, thiserror::Error)]
#[non_exhaustive]
pub enum EncodeError {
    /// The model is not on this machine, or its files do not fit together.
    #[error("{0}")]
    Model(String),
    /// The model failed while it ran.
    #[error("the encoder failed: {0}")]
    Run(#[source] Box<dyn std::error::Error + Send + Sync>),
}

/// One vector a text: a dense matrix of `len()` rows and `dimension()` columns, row by row.
#[derive(Debug, Clone, PartialEq, Default)]
pub struct Embeddings {
    dimension: usize,
    values: Vec<f32>,
}

impl Embeddings {
    /// Wraps `values`, `rows * dimension` numbers, row by row; a remainder is cut off.
    #[must_use]
    pub fn new(dimension: usize, mut values: Vec<f32>) -> Self {
        let whole = values.len().checked_div(dimension).unwrap_or(0) * dimension;
        values.truncate(whole);
        Self { dimension, values }
    }

    /// The number of rows.
    #[must_use]
    pub fn len(&self) -> usize {
        self.values.len().checked_div(self.dimension).unwrap_or(0)
    }

    /// True where there is no row.
    #[must_use]
    pub fn is_empty(&self) -> bool {
        self.values.is_empty()
    }

    /// The number of columns.
    #[must_use]
    pub fn dimension(&self) -> usize {
        self.dimension
    }

    /// Row `i`.
    ///
    /// # Panics
    /// For `i >= len()`.
    #[must_use]
    pub fn row(&self, i: usize) -> &[f32] {
        &self.values[i * self.dimension..(i + 1) * self.dimension]
    }

    /// The rows in order.
    pub fn rows(&self) -> impl ExactSizeIterator<Item = &[f32]> {
        self.values.chunks_exact(self.dimension.max(1))
    }

    /// All numbers, row by row.
    #[must_use]
    pub fn values(&self) -> &[f32] {
        &self.values
    }

    /// All numbers, row by row, without a copy.
    #[must_use]
    pub fn into_values(self) -> Vec<f32> {
        self.values
    }

    /// Returns the same vectors, as an embedder gave them, where all of their numbers are some: what is cut, found or measured by
    /// others would be arbitrary, and look like any.
    ///
    /// # Errors
    /// [`EncodeError::Model`], naming the embedder and the first vector that is not finite.
    pub fn finite(self, embedder: &str) -> Result<Self, EncodeError> {
        let Some(at) = self.values.iter().position(|x| !x.is_finite()) else { return Ok(self) };
        let (number, of) = (at / self.dimension.max(1) + 1, self.len());
        Err(EncodeError::Model(format!(
            "the embedder {embedder} gives vectors that are not finite (the first is number {number} of {of}): its weights may be damaged"
        )))
    }

    /// Appends the rows of `other`, which must have the same dimension (an empty matrix takes any).
    ///
    /// # Panics
    /// If the dimensions differ.
    pub fn append(&mut self, other: &Embeddings) {
        if self.values.is_empty() {
            self.dimension = other.dimension;
        }
        assert!(other.is_empty() || self.dimension == other.dimension, "embeddings of different dimensions");
        self.values.extend_from_slice(&other.values);
    }
}

/// Turns texts into vectors whose dot product says how close they are in meaning.
pub trait SentenceEncoder: Send + Sync {
    /// The short name, as in `--embedder`: `minilm`.
    fn name(&self) -> &str;

    /// Names all that the vectors depend on: model, checksum of its weights, pooling, limit. It changes whenever the
    /// vectors could.
    fn fingerprint(&self) -> String;

    /// The length of the vectors, in numbers.
    fn dimension(&self) -> usize;

    /// The number of tokens that are read of a text, special tokens included; the rest is cut off unread.
    fn max_tokens(&self) -> usize;

    /// The number of tokens that are read of a passage, special tokens included: [`max_tokens`](SentenceEncoder::max_tokens) less
    /// the prompt before it.
    fn passage_tokens(&self) -> usize {
        self.max_tokens()
    }

    /// Whether a token has the same vector in every text, so that those of different texts lie closer together than where it is read
    /// with its neighbours: false by default.
    fn is_static(&self) -> bool {
        false
    }

    /// Returns the number of tokens of a text as this encoder counts them, special tokens included; `None` if it is not
    /// known.
    fn count_tokens(&self, _text: &str) -> Option<usize> {
        None
    }

    /// The number of texts so far of which the vector stands for the beginning alone, where only whoever computes it knows how
    /// much is read: 0 by default, where [`max_tokens`](SentenceEncoder::max_tokens) tells.
    fn texts_cut(&self) -> u64 {
        0
    }

    /// Returns one vector of L2 norm 1 a text, in order: that of a passage, where the model tells passages from queries. Where
    /// it knows no word of a text, the vector may be zeros. The same texts give the same bits for every thread count, and a
    /// text's vector does not depend on the texts beside it (beyond the last bits of a float).
    ///
    /// # Errors
    /// [`EncodeError`] where the model fails.
    fn encode(&self, texts: &[&str]) -> Result<Embeddings, EncodeError>;

    /// Returns one vector a query, as [`encode`](SentenceEncoder::encode) does of a passage. Many models want a few words of
    /// their own before each, or before queries alone; by default there is no difference.
    ///
    /// # Errors
    /// [`EncodeError`] where the model fails.
    fn encode_queries(&self, queries: &[&str]) -> Result<Embeddings, EncodeError> {
        self.encode(queries)
    }

    /// Returns one vector a passage: what a store holds of its chunks. The same as [`encode`](SentenceEncoder::encode), so
    /// that a sentence is read once for cutting and for the store.
    ///
    /// # Errors
    /// [`EncodeError`] where the model fails.
    fn encode_passages(&self, passages: &[&str]) -> Result<Embeddings, EncodeError> {
        self.encode(passages)
    }

    /// Returns one vector a window of neighbouring texts, as [`encode`](SentenceEncoder::encode) does of the window's texts with
    /// a space between them. Windows are ranges of `texts`, whose ends do not go back; they overlap as a rule, and an encoder may read a
    /// text once for all of them.
    ///
    /// # Errors
    /// [`EncodeError`] where the model fails.
    fn encode_windows(&self, texts: &[&str], windows: &[Range<usize>]) -> Result<Embeddings, EncodeError> {
        let joined = joined_windows(texts, windows);
        let joined: Vec<&str> = joined.iter().map(String::as_str).collect();
        self.encode(&joined)
    }

    /// Returns the contextual vectors of each text's tokens: a matrix a text, in order, one row of L2 norm 1 a token. Special
    /// tokens are left out, and so is what lies beyond [`max_tokens`](SentenceEncoder::max_tokens); a text without tokens
    /// gets an empty matrix. As stable as [`encode`](SentenceEncoder::encode).
    ///
    /// # Errors
    /// [`EncodeError`] where the model fails, and by default: not every encoder has token vectors.
    fn encode_tokens(&self, _texts: &[&str]) -> Result<Vec<Embeddings>, EncodeError> {
        Err(EncodeError::Model("this encoder gives no token vectors".into()))
    }

    /// Returns one vector of L2 norm 1 a span, the spans of the first document first: the mean of the vectors of the span's
    /// tokens, which have read the document around them (late chunking; Günther et al. 2024). Spans are bytes of their
    /// document's text, in any order, and may overlap; what lies beyond the text is left out. A span that holds all of a
    /// document that fits the window has the vector that [`encode_passages`](SentenceEncoder::encode_passages) gives of the
    /// text, beyond the last bits of a float; one without a token has zeros. As stable as
    /// [`encode`](SentenceEncoder::encode).
    ///
    /// No documents ask whether the encoder can do this: the answer is no vectors, or the error.
    ///
    /// # Errors
    /// [`EncodeError`] where the model fails, and by default: not every encoder pools the vectors of tokens.
    fn encode_spans(&self, _documents: &[(&str, &[Span])]) -> Result<Embeddings, EncodeError> {
        Err(EncodeError::Model(format!(
            "{} cannot embed chunks late: it gives no vectors of tokens that have read the text around them",
            self.name()
        )))
    }
}

/// The texts of each window with a space between them; a window that reaches beyond the texts is empty.
#[must_use]
pub fn joined_windows(texts: &[&str], windows: &[Range<usize>]) -> Vec<String> {
    windows.iter().map(|window| texts.get(window.clone()).unwrap_or_default().join(" ")).collect()
}

#[cfg(test)]
mod tests {
    use super::Embeddings;

    #[test]
    fn vectors_of_numbers_that_are_none_are_refused() {
        let whole = Embeddings::new(2, vec![0.0, 1.0, f32::MAX, -1.0]);
        assert!(whole.clone().finite("e").is_ok_and(|same| same == whole));
        assert!(Embeddings::default().finite("e").is_ok());
        for none in [f32::NAN, f32::INFINITY, f32::NEG_INFINITY] {
            let said = Embeddings::new(2, vec![0.0, 1.0, none, none]).finite("e").map_err(|error| error.to_string());
            let says = "the embedder e gives vectors that are not finite (the first is number 2 of 2)";
            assert!(said.as_ref().is_err_and(|said| said.starts_with(says)), "{said:?}");
        }
    }
}
