use std::path::Path;
use std::sync::Arc;

use pericope_api::{Embeddings, EncodeError, SentenceEncoder};

use super::layout;
use crate::models::ModelError;
use crate::prompts::{Prompts, prefixed};

/// An encoder that knows nothing of prompts, with those of its model: they stand before the texts that it is given.
pub(crate) struct Prompted {
    inner: Arc<dyn SentenceEncoder>,
    prompts: Prompts,
    name: String,
}

impl Prompted {
    /// The encoder under the name `name`; itself where there is nothing to put before its texts and it has that name.
    pub(crate) fn over(inner: Arc<dyn SentenceEncoder>, prompts: Prompts, name: &str) -> Arc<dyn SentenceEncoder> {
        match prompts.is_empty() && inner.name() == name {
            true => inner,
            false => Arc::new(Self { inner, prompts, name: name.to_owned() }),
        }
    }

    /// The prompts that a folder in the layout of sentence-transformers names.
    ///
    /// # Errors
    /// [`ModelError`], naming the file.
    pub(crate) fn of_folder(folder: &Path) -> Result<Prompts, ModelError> {
        layout::prompts(folder)
    }

    fn run(&self, prompt: &str, texts: &[&str]) -> Result<Embeddings, EncodeError> {
        let texts = prefixed(prompt, texts);
        let texts: Vec<&str> = texts.iter().map(AsRef::as_ref).collect();
        self.inner.encode(&texts)
    }
}

impl SentenceEncoder for Prompted {
    fn name(&self) -> &str {
        &self.name
    }

    fn fingerprint(&self) -> String {
        format!("{}{}", self.inner.fingerprint(), self.prompts.mark())
    }

    fn dimension(&self) -> usize {
        self.inner.dimension()
    }

    fn max_tokens(&self) -> usize {
        self.inner.max_tokens()
    }

    fn passage_tokens(&self) -> usize {
        let [empty, prompt] =
            ["", self.prompts.passage.as_str()].map(|text| self.inner.count_tokens(text).unwrap_or(0));
        self.inner.passage_tokens().saturating_sub(prompt.saturating_sub(empty))
    }

    fn is_static(&self) -> bool {
        self.inner.is_static()
    }

    fn count_tokens(&self, text: &str) -> Option<usize> {
        self.inner.count_tokens(&format!("{}{text}", self.prompts.passage))
    }

    fn texts_cut(&self) -> u64 {
        self.inner.texts_cut()
    }

    fn encode(&self, texts: &[&str]) -> Result<Embeddings, EncodeError> {
        self.run(&self.prompts.passage, texts)
    }

    fn encode_queries(&self, queries: &[&str]) -> Result<Embeddings, EncodeError> {
        self.run(&self.prompts.query, queries)
    }

    fn encode_tokens(&self, texts: &[&str]) -> Result<Vec<Embeddings>, EncodeError> {
        self.inner.encode_tokens(texts)
    }
}

#[cfg(test)]
#[allow(clippy::unwrap_used)]
mod tests {
    use std::sync::Arc;

    use pericope_api::{Embeddings, EncodeError, SentenceEncoder};

    use super::{Prompted, Prompts};

    /// A vector of the number of bytes.
    struct Bytes;

    impl SentenceEncoder for Bytes {
        fn name(&self) -> &str {
            "bytes"
        }

        fn fingerprint(&self) -> String {
            "bytes".into()
        }

        fn dimension(&self) -> usize {
            1
        }

        fn max_tokens(&self) -> usize {
            9
        }

        fn encode(&self, texts: &[&str]) -> Result<Embeddings, EncodeError> {
            Ok(Embeddings::new(1, texts.iter().map(|text| text.len() as f32).collect()))
        }
    }

    #[test]
    fn prompts_stand_before_queries_and_passages() {
        let prompts = Prompts { query: "query: ".into(), passage: "p: ".into() };
        let made = Prompted::over(Arc::new(Bytes), prompts, "other");
        assert_eq!(made.encode_queries(&["ab", ""]).unwrap().values(), [9.0, 7.0]);
        assert_eq!(made.encode_passages(&["ab"]).unwrap().values(), [5.0]);
        assert_eq!(made.encode(&["ab"]).unwrap().values(), [5.0]);
        assert_eq!((made.name(), made.fingerprint().as_str()), ("other", "bytes:query=\"query: \":passage=\"p: \""));
        let same = Prompted::over(Arc::new(Bytes), Prompts::default(), "bytes");
        assert_eq!(same.fingerprint(), "bytes");
    }
}
