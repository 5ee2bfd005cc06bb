use std::sync::Arc;

use pericope_api::{Document, Span, SpanReader, SpanReaderError};

use super::regions::regions;
use super::{Generated, Generator, Missing, Request};

/// A reader of spans that the caller brings: retrieved chunks that touch are one text, and the answer is a range of one of them.
pub struct SpanGenerator {
    reader: Arc<dyn SpanReader>,
    documents: Arc<Vec<Document>>,
}

impl SpanGenerator {
    /// Reads chunks of `documents`.
    #[must_use]
    pub fn new(reader: Arc<dyn SpanReader>, documents: Arc<Vec<Document>>) -> Self {
        Self { reader, documents }
    }

    fn answer(&self, request: &Request<'_>) -> Result<Generated, Missing> {
        // Passages that stand in no document are read as they are; an answer in one has no place.
        let placed = request.contexts.len() == request.passages.len();
        let regions = if placed { regions(&self.documents, request.contexts) } else { Vec::new() };
        let texts: Vec<&str> = match placed {
            true => regions.iter().map(|region| region.span.of(&self.documents[region.document].source)).collect(),
            false => request.passages.iter().map(|passage| passage.text).collect(),
        };
        let Some(found) = self.reader.answer(request.question, &texts).map_err(missing)? else {
            return Ok(Generated::default());
        };
        let text = texts.get(found.text).and_then(|text| text.get(found.span.start..found.span.end)).unwrap_or("");
        let place = regions.get(found.text).map(|region| {
            let start = region.span.start;
            (region.document, Span::new(start + found.span.start, start + found.span.end))
        });
        let visible = place.map(|(document, span)| self.documents[document].visible(span).trim().to_owned());
        Ok(Generated { text: visible.unwrap_or_else(|| text.trim().to_owned()), place, ..Generated::default() })
    }
}

/// A model that is not there fails every question alike.
pub(crate) fn missing(error: SpanReaderError) -> Missing {
    match error {
        SpanReaderError::Model(problem) => Missing::Run(problem),
        other => Missing::Item(other.to_string()),
    }
}

impl Generator for SpanGenerator {
    /// One request after the other: the reader works on all threads itself.
    fn answer_all(&self, requests: &[Request<'_>], done: &(dyn Fn() + Sync)) -> Vec<Result<Generated, Missing>> {
        let one = |request| {
            let answer = self.answer(request);
            done();
            answer
        };
        requests.iter().map(one).collect()
    }
}

#[cfg(test)]
#[allow(clippy::unwrap_used)]
mod tests {
    use std::sync::Arc;

    use pericope_api::{Document, FoundSpan, Span, SpanReader, SpanReaderError};

    use super::SpanGenerator;
    use crate::answer::{Context, Extractive, ExtractiveOptions, Generator, Missing, Passage, Request};

    /// Finds the question's word; fails without one.
    struct Finds;

    impl SpanReader for Finds {
        fn name(&self) -> &str {
            "finds"
        }

        fn fingerprint(&self) -> String {
            String::new()
        }

        fn answer(&self, question: &str, texts: &[&str]) -> Result<Option<FoundSpan>, SpanReaderError> {
            if question.is_empty() {
                return Err(SpanReaderError::Model("no model".into()));
            }
            let found = texts.iter().enumerate().find_map(|(text, one)| Some((text, one.find(question)?)));
            Ok(found.map(|(text, at)| FoundSpan { text, span: Span::new(at, at + question.len()), score: 1.0 }))
        }

        fn recall(&self, _: &str, _: &[&str], _: usize) -> Result<Vec<FoundSpan>, SpanReaderError> {
            Ok(Vec::new())
        }
    }

    #[test]
    fn answers_have_their_place_in_the_document() {
        let documents = Arc::new(vec![
            Document::from_sentences("a", &["One two.", "Three four.", "Five six."]),
            Document::from_sentences("b", &["Seven."]),
        ]);
        let generator = SpanGenerator::new(Arc::new(Finds), Arc::clone(&documents));
        let reader = Extractive::new(Arc::clone(&documents), None, ExtractiveOptions::default());
        let context = |document: usize, range| Context { document, span: documents[document].span_of(range) };
        let contexts = [context(1, 0..1), context(0, 2..3), context(0, 1..2)];
        let passages = contexts.map(|one| Passage {
            document: "",
            heading_path: &[],
            text: documents[one.document].text(one.span),
        });
        let answered = |question: &str, contexts: &[Context]| {
            let asked = reader.ask(question, None);
            let request = Request { question, asked: &asked, contexts, passages: &passages };
            generator.answer_all(&[request], &|| ()).pop().unwrap()
        };
        // Chunks that touch are one text: the answer may go from one to the next.
        let question = documents[0].source.get(14..25).unwrap();
        let found = answered(question, &contexts).unwrap();
        assert_eq!((found.text.as_str(), found.place), (question.trim(), Some((0, Span::new(14, 25)))));
        assert_eq!(answered("One", &contexts).unwrap().text, "");
        assert_eq!(answered("", &contexts), Err(Missing::Run("no model".into())));
        // Some passages stand in no document.
        let found = answered("Seven", &contexts[..1]).unwrap();
        assert_eq!((found.text.as_str(), found.place), ("Seven", None));
    }
}
