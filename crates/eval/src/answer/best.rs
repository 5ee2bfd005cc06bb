use std::sync::Arc;

use pericope_api::Document;

use super::{Context, Generated, Generator, Missing, Request};

/// The best passage as it is: what retrieval answers without a reader.
pub struct BestPassage {
    documents: Arc<Vec<Document>>,
}

impl BestPassage {
    /// Quotes `documents`.
    #[must_use]
    pub fn new(documents: Arc<Vec<Document>>) -> Self {
        Self { documents }
    }

    fn answer(&self, request: &Request<'_>) -> Generated {
        // Where a passage stands in no document, places and passages are not in step.
        let placed = request.contexts.len() == request.passages.len();
        if let Some(&Context { document, span }) = request.contexts.first().filter(|_| placed) {
            let own = &self.documents[document];
            let span = span.trimmed(&own.source);
            let text = own.visible(span).trim().to_owned();
            return Generated { text, place: Some((document, span)), ..Generated::default() };
        }
        let text = request.passages.first().map_or("", |passage| passage.text);
        Generated { text: text.trim().to_owned(), ..Generated::default() }
    }
}

impl Generator for BestPassage {
    fn answer_all(&self, requests: &[Request<'_>], done: &(dyn Fn() + Sync)) -> Vec<Result<Generated, Missing>> {
        let one = |request| {
            done();
            Ok(self.answer(request))
        };
        requests.iter().map(one).collect()
    }
}

#[cfg(test)]
#[allow(clippy::unwrap_used)]
mod tests {
    use std::sync::Arc;

    use pericope_api::{Document, Span};

    use super::BestPassage;
    use crate::answer::{Context, Extractive, ExtractiveOptions, Generator, Passage, Request};

    #[test]
    fn the_first_passage_is_the_answer() {
        let documents = Arc::new(vec![
            Document::from_sentences("a", &["One two.", "Three four."]),
            Document::from_sentences("b", &["Five."]),
        ]);
        let generator = BestPassage::new(Arc::clone(&documents));
        let reader = Extractive::new(Arc::clone(&documents), None, ExtractiveOptions::default());
        let asked = reader.ask("four?", None);
        let passage = |text| Passage { document: "", heading_path: &[], text };
        let answered = |contexts: &[Context], passages: &[Passage<'_>]| {
            let request = Request { question: "four?", asked: &asked, contexts, passages };
            generator.answer_all(&[request], &|| ()).pop().unwrap().unwrap()
        };
        // The blank behind the first sentence belongs to its chunk, and not to the answer.
        let contexts = [Context { document: 0, span: Span::new(0, 9) }, Context { document: 1, span: Span::new(0, 5) }];
        let found = answered(&contexts, &[passage("One two. "), passage("Five.")]);
        assert_eq!((found.text.as_str(), found.place), ("One two.", Some((0, Span::new(0, 8)))));
        // A passage that stands nowhere comes first: its text answers, and not that of the second one.
        let found = answered(&contexts[1..], &[passage(" Elsewhere. "), passage("Five.")]);
        assert_eq!((found.text.as_str(), found.place), ("Elsewhere.", None));
        assert_eq!(answered(&[], &[]).text, "");
    }
}
