//! Whole documents without chunks: read from end to end by MemRecall, the key blocks are what is found.

use std::time::{Duration, Instant};

use pericope_api::{Document, SpanReader};
use pericope_segment::foreign::{Given, Offsets};
use pericope_util::Bm25;

use super::{GivenHit, PassageFinder, Query, Reading, Reply};
use crate::answer::{Missing, span_missing};
use crate::text::Stems;

pub(super) struct Recalling<'a> {
    reader: &'a dyn SpanReader,
    documents: &'a [Document],
    /// The documents by their words, and how many are read; none where all are.
    words: Option<(Stems, Bm25, usize)>,
}

impl<'a> Recalling<'a> {
    /// Reads the `most` documents with most of a question's words, all of them for 0.
    pub(super) fn new(reading: Reading<'a>, most: usize) -> Result<Self, String> {
        let Reading { documents, reader } = reading;
        let reader = reader.ok_or("memrecall needs a reader, and none was brought")?;
        let words = (most > 0 && most < documents.len()).then(|| {
            let stems = Stems::of_documents(documents);
            let texts: Vec<Vec<u32>> = documents.iter().map(|document| stems.of(&document.source)).collect();
            (stems, Bm25::new(texts.iter().map(Vec::as_slice)), most)
        });
        Ok(Self { reader, documents, words })
    }

    /// The documents that are read, the likeliest first.
    fn read(&self, question: &str) -> Vec<&'a Document> {
        let Some((stems, words, most)) = &self.words else { return self.documents.iter().collect() };
        let scores = words.scores(&stems.of(question));
        let mut order: Vec<(f64, &Document)> = scores.into_iter().zip(self.documents).collect();
        // Equal scores stay in the order of the data.
        order.sort_by(|a, b| b.0.total_cmp(&a.0));
        order.into_iter().take(*most).map(|(_, document)| document).collect()
    }
}

impl PassageFinder for Recalling<'_> {
    fn find(&self, query: &Query<'_>) -> Result<(Reply, Duration), Missing> {
        let start = Instant::now();
        let documents = self.read(query.question);
        let texts: Vec<&str> = documents.iter().map(|document| document.source.as_ref()).collect();
        let found = self.reader.recall(query.question, &texts, query.k).map_err(span_missing)?;
        let hits = found.into_iter().filter_map(|found| {
            let (start, end) = (found.span.start as u64, found.span.end as u64);
            Some(GivenHit {
                document: Some(documents.get(found.text)?.id.clone()),
                given: Given { start: Some(start), end: Some(end), ..Given::default() },
                score: None,
            })
        });
        Ok((Reply { hits: hits.collect(), answer: None, offsets: Some(Offsets::Bytes) }, start.elapsed()))
    }
}

#[cfg(test)]
#[allow(clippy::unwrap_used)]
mod tests {
    use pericope_api::{Document, FoundSpan, Span, SpanReader, SpanReaderError};

    use super::Recalling;
    use crate::retriever::{PassageFinder, Query, Reading};

    /// Gives the first bytes of every text.
    struct Firsts;

    impl SpanReader for Firsts {
        fn name(&self) -> &str {
            "firsts"
        }

        fn fingerprint(&self) -> String {
            String::new()
        }

        fn answer(&self, _: &str, _: &[&str]) -> Result<Option<FoundSpan>, SpanReaderError> {
            Ok(None)
        }

        fn recall(&self, _: &str, texts: &[&str], most: usize) -> Result<Vec<FoundSpan>, SpanReaderError> {
            let one = |(text, _)| FoundSpan { text, span: Span::new(0, 3), score: 0.5 };
            Ok(texts.iter().enumerate().map(one).take(most).collect())
        }
    }

    #[test]
    fn documents_with_the_words_of_the_question_are_read() {
        let documents = [
            Document::from_sentences("bread", &["Bread needs flour and yeast."]),
            Document::from_sentences("tides", &["Tides follow the moon.", "The moon pulls the tides."]),
            Document::from_sentences("moon", &["The moon is far."]),
        ];
        let found = |most: usize, k: usize| {
            let reading = Reading { documents: &documents, reader: Some(&Firsts) };
            let recalling = Recalling::new(reading, most).unwrap();
            let query = Query { question: "Why do tides follow the moon?", k, vector: None };
            let (reply, _) = recalling.find(&query).unwrap();
            reply.hits.into_iter().map(|hit| (hit.document.unwrap(), hit.given.end)).collect::<Vec<_>>()
        };
        let hit = |id: &str| (id.to_owned(), Some(3));
        assert_eq!(found(2, 9), [hit("tides"), hit("moon")]);
        assert_eq!(found(0, 9), [hit("bread"), hit("tides"), hit("moon")]);
        assert_eq!(found(9, 1), [hit("bread")]);
        assert!(Recalling::new(Reading { documents: &documents, reader: None }, 1).is_err());
    }
}
