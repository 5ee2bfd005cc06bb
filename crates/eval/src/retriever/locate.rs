use std::collections::HashMap;

use pericope_api::{Chunk, Document, Span, TokenCounter};
use pericope_segment::foreign::{Finder, Occurrence, Offsets, Originals, Placer, on_characters};

use super::GivenHit;

/// Passages that stand in no document and are shown as examples.
const EXAMPLES: usize = 3;

/// A document by its index, and a range of it.
type Place = (usize, Span);
/// A text, and the document that it is looked for in; `None`: in all.
type Wanted = (String, Option<usize>);

/// Finds the places of passages in a corpus, and keeps each place once, as a chunk.
pub(crate) struct Locator<'a> {
    documents: &'a [Document],
    counter: &'a dyn TokenCounter,
    numbers: HashMap<&'a str, usize>,
    finders: Vec<Finder<'a>>,
    /// The texts of documents as others know them, where words were taken out of ours.
    originals: HashMap<usize, (&'a str, Finder<'a>)>,
    /// Chunks by document, in the order in which they were found; after the corpus's those of `lost`.
    chunks: Vec<Vec<Chunk>>,
    places: HashMap<Place, usize>,
    /// Texts that stand in no document, one after the other.
    lost: String,
    /// By text, and by the document that it was looked for in.
    texts: HashMap<Wanted, Option<Place>>,
    hits: u64,
    unplaced: u64,
    examples: Vec<String>,
}

/// All that was found.
pub(crate) struct Located {
    /// Chunks by document; one more list for what stands in none.
    pub(crate) chunks: Vec<Vec<Chunk>>,
    /// The texts of that last list.
    pub(crate) lost: Document,
    /// Passages in all, repeated ones counted each time,
    pub(crate) hits: u64,
    /// and those among them that stand in no document.
    pub(crate) unplaced: u64,
    /// Some of these.
    pub(crate) examples: Vec<String>,
}

impl<'a> Locator<'a> {
    pub(crate) fn new(documents: &'a [Document], counter: &'a dyn TokenCounter) -> Self {
        Self {
            documents,
            counter,
            numbers: documents.iter().enumerate().map(|(at, document)| (document.id.as_str(), at)).collect(),
            finders: documents.iter().map(|document| Finder::new(&document.source)).collect(),
            originals: HashMap::new(),
            chunks: vec![Vec::new(); documents.len() + 1],
            places: HashMap::new(),
            lost: String::new(),
            texts: HashMap::new(),
            hits: 0,
            unplaced: 0,
            examples: Vec::new(),
        }
    }

    /// The locator for passages of documents as others know them, by other names and with words that were taken out of ours.
    pub(crate) fn with_originals(mut self, originals: &'a Originals) -> Self {
        for (at, document) in self.documents.iter().enumerate() {
            let Some(original) = originals.get(&document.id) else { continue };
            if let Some(path) = original.path.as_deref() {
                // The id of a document is its own.
                self.numbers.entry(path).or_insert(at);
            }
            if let Some(text) = original.text.as_deref().filter(|text| text.len() == document.source.len()) {
                self.originals.insert(at, (text, Finder::new(text)));
            }
        }
        self
    }

    /// The chunk that a passage is: the index of its document (one past the last where it stands in none) and its own
    /// there.
    ///
    /// # Errors
    /// A sentence, for a range that is none of its document, and a text that is not the one under its range.
    pub(crate) fn locate(&mut self, hit: &GivenHit, offsets: Offsets) -> Result<(usize, usize), String> {
        self.hits += 1;
        let named = hit.document.as_deref().and_then(|id| self.numbers.get(id).copied());
        let has_range = hit.given.start.is_some() || hit.given.end.is_some();
        let text = hit.given.text.as_deref().unwrap_or_default();
        let place = match named {
            Some(at) if has_range => {
                let original = self.originals.get(&at).map(|(text, _)| *text);
                let span = self
                    .documents
                    .get(at)
                    .map(|document| Placer::new(&document.source).with_original(original).place(&hit.given, offsets));
                span.transpose()?.flatten().map(|span| (at, span))
            }
            _ if has_range && hit.document.is_none() => {
                return Err("it has a range and names no document".into());
            }
            _ => self.text(text, named),
        };
        match place {
            Some((at, span)) => Ok(self.keep(at, span)),
            None => Ok(self.lose(text, hit.document.as_deref())),
        }
    }

    /// The place of a text: letter for letter where it stands so, else but for its white space.
    fn text(&mut self, text: &str, named: Option<usize>) -> Option<Place> {
        if text.trim().is_empty() {
            return None;
        }
        let key = (text.to_owned(), named);
        if let Some(known) = self.texts.get(&key) {
            return *known;
        }
        let all = match named {
            Some(at) => at..at + 1,
            None => 0..self.finders.len(),
        };
        let mut alike = None;
        let mut place = None;
        for at in all {
            match self.occurrence(text, at) {
                Occurrence::Exact(span) => {
                    place = Some((at, span));
                    break;
                }
                Occurrence::Blanks(span) => alike = alike.or(Some((at, span))),
                Occurrence::Several | Occurrence::Nowhere => {}
            }
        }
        let place = place.or(alike);
        self.texts.insert(key, place);
        place
    }

    /// Where a text stands in a document: as others know it, else as it is here.
    fn occurrence(&self, text: &str, at: usize) -> Occurrence {
        let (Some(document), Some(finder)) = (self.documents.get(at), self.finders.get(at)) else {
            return Occurrence::Nowhere;
        };
        match self.originals.get(&at).map(|(_, finder)| finder.find(text, 0, 0)) {
            Some(Occurrence::Exact(span)) => Occurrence::Exact(on_characters(&document.source, span)),
            Some(Occurrence::Blanks(span)) => Occurrence::Blanks(on_characters(&document.source, span)),
            _ => finder.find(text, 0, 0),
        }
    }

    fn keep(&mut self, at: usize, span: Span) -> (usize, usize) {
        let Some(document) = self.documents.get(at) else { return (at, 0) };
        let Some(chunks) = self.chunks.get_mut(at) else { return (at, 0) };
        let counter = self.counter;
        let ordinal = *self.places.entry((at, span)).or_insert_with(|| {
            chunks.push(chunk(document, chunks.len(), span, counter));
            chunks.len() - 1
        });
        (at, ordinal)
    }

    /// A text that stands in no document: it was given to the reader, and holds no gold.
    fn lose(&mut self, text: &str, document: Option<&str>) -> (usize, usize) {
        /// Characters of an example.
        const SHOWN: usize = 60;
        self.unplaced += 1;
        let span = match self.lost.find(text).filter(|_| !text.is_empty()) {
            Some(start) => Span::new(start, start + text.len()),
            None => {
                self.lost.push('\n');
                let start = self.lost.len();
                self.lost.push_str(text);
                Span::new(start, self.lost.len())
            }
        };
        if self.examples.len() < EXAMPLES {
            let short: String = text.chars().take(SHOWN).collect();
            let of = document.map(|id| format!(" (of `{}`)", pericope_util::visible_line(id))).unwrap_or_default();
            self.examples.push(format!("\"{}\"{of}", pericope_util::visible_line(&short)));
        }
        let at = self.documents.len();
        let tokens = self.counter.count(text) + self.counter.special_tokens();
        let Some(chunks) = self.chunks.get_mut(at) else { return (at, 0) };
        let ordinal = *self.places.entry((at, span)).or_insert_with(|| {
            chunks.push(Chunk {
                document: String::new(),
                ordinal: chunks.len(),
                span,
                heading_path: Vec::new(),
                tokens,
                hash: Chunk::content_hash(text),
                context: None,
            });
            chunks.len() - 1
        });
        (at, ordinal)
    }

    pub(crate) fn finish(self) -> Located {
        let mut lost = Document::from_sentences("", &[""; 0]);
        lost.source = self.lost.into();
        Located { chunks: self.chunks, lost, hits: self.hits, unplaced: self.unplaced, examples: self.examples }
    }
}

fn chunk(document: &Document, ordinal: usize, span: Span, counter: &dyn TokenCounter) -> Chunk {
    let text = document.text(span);
    Chunk {
        document: document.id.clone(),
        ordinal,
        span,
        heading_path: document.heading_path(document.sentence_at(span.start)).to_vec(),
        tokens: counter.count(text) + counter.special_tokens(),
        hash: Chunk::content_hash(text),
        context: None,
    }
}

#[cfg(test)]
mod tests {
    #![allow(clippy::unwrap_used)]
    use pericope_api::Document;
    use pericope_segment::counters::WordCounter;
    use pericope_segment::foreign::{Given, Offsets, Original, Originals};

    use super::{GivenHit, Locator};

    fn hit(document: Option<&str>, start: Option<u64>, end: Option<u64>, text: Option<&str>) -> GivenHit {
        let given = Given { start, end, text: text.map(str::to_owned) };
        GivenHit { document: document.map(str::to_owned), given, score: None }
    }

    #[test]
    fn passages_are_looked_for_in_the_documents_as_others_know_them() {
        let mut document = Document::from_sentences("a.md", &["x"]);
        document.source = "# §   \n\nOne two.".into();
        let documents = [document];
        let original = Original { text: Some("# Pumps\n\nOne two.".into()), path: Some("docs/a.md".into()) };
        let originals = Originals::from([("a.md".to_owned(), original)]);
        let mut locator = Locator::new(&documents, &WordCounter).with_originals(&originals);
        let text = "Pumps\n\nOne two.";
        for (given, offsets, place) in [
            (hit(None, None, None, Some(text)), Offsets::Bytes, (0, 0)),
            (hit(Some("docs/a.md"), None, None, Some(text)), Offsets::Bytes, (0, 0)),
            (hit(Some("docs/a.md"), Some(2), Some(17), None), Offsets::Chars, (0, 0)),
            (hit(Some("a.md"), Some(2), Some(17), Some(text)), Offsets::Bytes, (0, 0)),
            (hit(None, None, None, Some("One two.")), Offsets::Bytes, (0, 1)),
        ] {
            assert_eq!(locator.locate(&given, offsets), Ok(place), "{given:?}");
        }
        let located = locator.finish();
        assert_eq!((located.hits, located.unplaced), (5, 0));
        assert_eq!(located.chunks[0][0].span.of(&documents[0].source), "§   \n\nOne two.");
    }

    #[test]
    fn passages_become_chunks_of_their_documents() {
        let documents = [
            Document::from_sentences("a", &["One two.", "Three."]),
            Document::from_sentences("b", &["\u{c4}pfel. One two."]),
        ];
        let mut locator = Locator::new(&documents, &WordCounter);
        let text = |text| hit(None, None, None, Some(text));
        for (given, offsets, place) in [
            (hit(Some("a"), Some(0), Some(8), None), Offsets::Bytes, (0, 0)),
            (text("Three."), Offsets::Bytes, (0, 1)),
            // The same place is the same chunk, however it was given.
            (text("One two."), Offsets::Bytes, (0, 0)),
            (hit(Some("b"), None, None, Some("One two.")), Offsets::Bytes, (1, 0)),
            (hit(Some("b"), Some(0), Some(6), Some("\u{c4}pfel.")), Offsets::Chars, (1, 1)),
            (text("two. Three."), Offsets::Bytes, (0, 2)),
            // A document that is not there, by its text.
            (hit(Some("c"), None, None, Some("Three.")), Offsets::Bytes, (0, 1)),
            // What stands nowhere is one chunk after the other beside the corpus.
            (text("Four five."), Offsets::Bytes, (2, 0)),
            (hit(Some("c"), Some(3), Some(9), None), Offsets::Bytes, (2, 1)),
            (text("Six."), Offsets::Bytes, (2, 2)),
            (text("Four five."), Offsets::Bytes, (2, 0)),
        ] {
            assert_eq!(locator.locate(&given, offsets), Ok(place), "{given:?}");
        }
        for (given, says) in [
            (hit(Some("a"), Some(0), Some(99), None), "beyond the document"),
            (hit(Some("a"), Some(4), Some(3), None), "behind its end"),
            (hit(Some("b"), Some(1), Some(3), None), "cuts a character"),
            (hit(None, Some(1), Some(3), None), "names no document"),
            (hit(Some("a"), Some(0), Some(3), Some("Two")), "its text is"),
        ] {
            let said = locator.locate(&given, Offsets::Bytes).unwrap_err();
            assert!(said.contains(says), "{said}");
        }
        let located = locator.finish();
        assert_eq!((located.hits, located.unplaced, located.examples.len()), (16, 4, 3));
        assert_eq!(located.chunks.iter().map(Vec::len).collect::<Vec<_>>(), [3, 2, 3]);
        let lost = &located.chunks[2];
        assert_eq!(lost.iter().map(|c| located.lost.text(c.span)).collect::<Vec<_>>(), ["Four five.", "", "Six."]);
        assert_eq!((lost[0].tokens, located.chunks[0][2].document.as_str()), (3, "a"));
        assert!(located.examples[0].contains("Four five."));
    }
}
