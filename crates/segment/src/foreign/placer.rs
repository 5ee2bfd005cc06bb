use pericope_api::Span;

use super::finder::{Finder, Occurrence};
use super::given::{Given, Offsets};
use super::original::on_characters;

/// Characters of a text in a message.
const SHOWN: usize = 60;

/// Turns chunks as others give them into byte ranges of one document, checking each. Texts without a range are looked for in the
/// order in which they come.
#[derive(Debug)]
pub struct Placer<'a> {
    source: &'a str,
    /// The document as others may know it, likeliest first.
    versions: Vec<Version<'a>>,
    /// The chunk before.
    before: Option<Span>,
}

/// A text of the document; all have the same length in bytes.
#[derive(Debug)]
struct Version<'a> {
    text: &'a str,
    finder: Finder<'a>,
    /// Where each character begins, and the end: made when it is first needed.
    characters: Option<Vec<usize>>,
}

impl<'a> Placer<'a> {
    /// Returns a placer for one document's source.
    #[must_use]
    pub fn new(source: &'a str) -> Self {
        Self { source, versions: vec![Version::new(source)], before: None }
    }

    /// Returns the placer for chunks of the text before words were taken out of it: texts are looked for there first, and
    /// ranges count its characters. A text of another length in bytes is not used.
    #[must_use]
    pub fn with_original(mut self, original: Option<&'a str>) -> Self {
        if let Some(original) = original.filter(|original| original.len() == self.source.len()) {
            self.versions.insert(0, Version::new(original));
        }
        self
    }

    /// Returns where a chunk stands; `None` for one of nothing but white space.
    ///
    /// # Errors
    /// A sentence on what is wrong with it.
    pub fn place(&mut self, given: &Given, offsets: Offsets) -> Result<Option<Span>, String> {
        let span = match (given.start, given.end, &given.text) {
            (Some(start), Some(end), text) => self.range(start, end, text.as_deref(), offsets)?,
            (None, None, Some(text)) if text.trim().is_empty() => return Ok(None),
            (None, None, Some(text)) => self.text(text)?,
            (None, None, None) => return Err("it has neither start and end nor text".into()),
            _ => return Err("it has one of start and end, and needs both".into()),
        };
        let here = on_characters(self.source, span);
        // Nothing is nothing, inside of a mark too.
        if span.is_empty() || here.of(self.source).trim().is_empty() {
            return Ok(None);
        }
        self.before = Some(span);
        Ok(Some(here))
    }

    /// A range of the first version that it fits; where it fits none, what is wrong with it in the first.
    fn range(&mut self, start: u64, end: u64, text: Option<&str>, offsets: Offsets) -> Result<Span, String> {
        let mut problem = None;
        for version in &mut self.versions {
            match version.range(start, end, text, offsets) {
                Ok(span) => return Ok(span),
                Err(first) => problem = problem.or(Some(first)),
            }
        }
        Err(problem.unwrap_or_default())
    }

    fn text(&self, text: &str) -> Result<Span, String> {
        let (after, beyond) = self.before.map_or((0, 0), |before| (before.start + 1, before.end));
        let mut is_several = false;
        for version in &self.versions {
            match version.finder.find(text, after, beyond) {
                Occurrence::Exact(span) | Occurrence::Blanks(span) => return Ok(span),
                Occurrence::Several => is_several = true,
                Occurrence::Nowhere => {}
            }
        }
        if is_several {
            return Err(format!(
                "{} stands at several places of the document with other white space; give its start and end",
                shown(text)
            ));
        }
        let stands = |version: &Version<'_>| version.finder.find(text, 0, 0) != Occurrence::Nowhere;
        let why = match self.before.is_some() && self.versions.iter().any(stands) {
            true => {
                "stands in the document, but not after the chunk before it: texts come in the document's order, or with start and end"
            }
            false => "does not stand in the document",
        };
        Err(format!("{} {why}", shown(text)))
    }
}

impl<'a> Version<'a> {
    fn new(text: &'a str) -> Self {
        Self { text, finder: Finder::new(text), characters: None }
    }

    /// A range, under which the text stands where one is given.
    fn range(&mut self, start: u64, end: u64, text: Option<&str>, offsets: Offsets) -> Result<Span, String> {
        let span = self.place(start, end, offsets)?;
        match text {
            Some(text) if text != span.of(self.text) => Err(self.other_text(text, span, offsets)),
            _ => Ok(span),
        }
    }

    fn place(&mut self, start: u64, end: u64, offsets: Offsets) -> Result<Span, String> {
        if start > end {
            return Err(format!("its start {start} lies behind its end {end}"));
        }
        let length = match offsets {
            Offsets::Bytes => self.text.len(),
            Offsets::Chars => self.characters().len().saturating_sub(1),
        };
        let unit = if offsets == Offsets::Bytes { "bytes" } else { "characters" };
        let number = |at: u64| usize::try_from(at).ok().filter(|at| *at <= length);
        let (Some(first), Some(last)) = (number(start), number(end)) else {
            return Err(format!("{start}..{end} reaches beyond the document, which has {length} {unit}"));
        };
        if offsets == Offsets::Chars {
            let (text, characters) = (self.text, self.characters());
            let at = |place: usize| characters.get(place).copied().unwrap_or(text.len());
            return Ok(Span::new(at(first), at(last)));
        }
        match self.text.get(first..last) {
            Some(_) => Ok(Span::new(first, last)),
            None => Err(format!(
                "{start}..{end} cuts a character of several bytes; does whoever made it count characters (offsets chars)?"
            )),
        }
    }

    fn other_text(&self, text: &str, span: Span, offsets: Offsets) -> String {
        let hint = match offsets {
            Offsets::Bytes => "; does whoever made it count characters (offsets chars)?",
            Offsets::Chars => "",
        };
        format!("its range holds {}, its text is {}{hint}", shown(span.of(self.text)), shown(text))
    }

    fn characters(&mut self) -> &[usize] {
        let text = self.text;
        self.characters.get_or_insert_with(|| text.char_indices().map(|(at, _)| at).chain([text.len()]).collect())
    }
}

/// The beginning of a text, in quotes and on one line.
fn shown(text: &str) -> String {
    let short: String = text.chars().take(SHOWN).collect();
    let more = if short.len() < text.len() { "..." } else { "" };
    format!("\"{}{more}\"", pericope_util::visible_line(&short))
}

#[cfg(test)]
mod tests {
    #![allow(clippy::unwrap_used)]
    use proptest::prelude::*;

    use super::{Given, Offsets, Placer};

    fn range(start: u64, end: u64) -> Given {
        Given { start: Some(start), end: Some(end), text: None }
    }

    fn text(text: &str) -> Given {
        Given { text: Some(text.into()), ..Given::default() }
    }

    #[test]
    fn ranges_in_bytes_and_characters_are_checked() {
        let source = "Äpfel und Birnen.";
        let place = |given: &Given, offsets| Placer::new(source).place(given, offsets);
        let spans = |given: &Given, offsets| place(given, offsets).map(|span| span.map(|span| span.of(source)));
        assert_eq!(spans(&range(0, 6), Offsets::Bytes), Ok(Some("Äpfel")));
        assert_eq!(spans(&range(0, 5), Offsets::Chars), Ok(Some("Äpfel")));
        assert_eq!(spans(&range(10, 17), Offsets::Chars), Ok(Some("Birnen.")));
        // White space alone is no chunk, nor is nothing.
        assert_eq!(spans(&range(5, 6), Offsets::Chars), Ok(None));
        assert_eq!(spans(&range(3, 3), Offsets::Bytes), Ok(None));
        for (given, offsets, says) in [
            (range(1, 6), Offsets::Bytes, "offsets chars"),
            (range(0, 19), Offsets::Bytes, "18 bytes"),
            (range(0, 18), Offsets::Chars, "17 characters"),
            (range(0, u64::MAX), Offsets::Chars, "beyond the document"),
            (range(5, 2), Offsets::Bytes, "behind its end"),
            (Given { end: None, ..range(1, 2) }, Offsets::Bytes, "needs both"),
            (Given::default(), Offsets::Bytes, "neither"),
            (Given { text: Some("Äpfe".into()), ..range(0, 6) }, Offsets::Bytes, "its text is"),
        ] {
            let said = place(&given, offsets).unwrap_err();
            assert!(said.contains(says) && !said.contains('\n'), "{given:?}: {said}");
        }
        let both = Given { text: Some("Äpfel".into()), ..range(0, 5) };
        assert_eq!(spans(&both, Offsets::Chars), Ok(Some("Äpfel")));
    }

    #[test]
    fn texts_come_in_the_order_of_the_document() {
        let source = "a b. a b. c d. a b.";
        let mut placer = Placer::new(source);
        let mut starts = Vec::new();
        for chunk in ["a b.", "a b.", " ", "b. c d.", "a\n b."] {
            starts.extend(placer.place(&text(chunk), Offsets::Bytes).unwrap().map(|span| span.start));
        }
        assert_eq!(starts, [0, 5, 7, 15]);
        let said = placer.place(&text("c d."), Offsets::Bytes).unwrap_err();
        assert!(said.contains("document's order"), "{said}");
        let said = placer.place(&text("e\u{1b}[2J"), Offsets::Bytes).unwrap_err();
        assert!(said.contains("does not stand") && !said.contains('\u{1b}'), "{said}");
        let said = Placer::new(source).place(&text("a  b."), Offsets::Bytes).unwrap_err();
        assert!(said.contains("several places"), "{said}");
    }

    #[test]
    fn chunks_of_the_text_before_words_were_taken_out() {
        let (original, source) = ("# The Pumps\n\nSie saugen. Sie drücken.", "# §       \n\nSie saugen. Sie drücken.");
        let given = |text: &str| Given { text: Some(text.into()), ..Given::default() };
        let placed = |given: &Given, offsets| {
            let span = Placer::new(source).with_original(Some(original)).place(given, offsets);
            span.map(|span| span.map(|span| span.of(original)))
        };
        for (chunk, found) in [
            (given("# The Pumps\n\nSie saugen."), "# The Pumps\n\nSie saugen."),
            (given("The Pumps Sie saugen."), "The Pumps\n\nSie saugen."),
            // As the questions' file has it.
            (given("# §       \n\nSie saugen."), "# The Pumps\n\nSie saugen."),
            // Characters are those of the original; with a text, of the one that it fits.
            (range(13, 24), "Sie saugen."),
            (Given { text: Some("Sie saugen.".into()), ..range(13, 24) }, "Sie saugen."),
            (Given { text: Some("Sie drücken.".into()), ..range(24, 36) }, "Sie drücken."),
        ] {
            assert_eq!(placed(&chunk, Offsets::Chars), Ok(Some(found)), "{chunk:?}");
        }
        // A range that ends within the mark holds all of it.
        let (original, source) = ("# Pump\n", "# §  \n");
        let mut placer = Placer::new(source).with_original(Some(original));
        assert_eq!(placer.place(&range(0, 3), Offsets::Bytes).unwrap().unwrap().of(source), "# §");
        assert_eq!(placer.place(&range(3, 6), Offsets::Bytes).unwrap().unwrap().of(source), "§  ");
        // A text of another length is none of the same document.
        assert!(Placer::new("one").with_original(Some("four")).place(&given("four"), Offsets::Bytes).is_err());
    }

    proptest! {
        /// Whatever is given: a character range of the document that is not blank, nothing, or a sentence.
        #[test]
        fn no_chunk_makes_it_fail_hard(
            source in "[aé 漢\\n]{0,20}",
            given in proptest::collection::vec((any::<Option<u8>>(), any::<Option<u8>>(), proptest::option::of("[aé 漢\\n]{0,6}"), any::<bool>()), 0..8),
        ) {
            let mut placer = Placer::new(&source);
            for (start, end, text, chars) in given {
                let given = Given { start: start.map(u64::from), end: end.map(u64::from), text };
                let offsets = if chars { Offsets::Chars } else { Offsets::Bytes };
                match placer.place(&given, offsets) {
                    Ok(Some(span)) => {
                        let found = source.get(span.start..span.end);
                        prop_assert!(found.is_some_and(|found| !found.trim().is_empty()));
                    }
                    Ok(None) => {}
                    Err(said) => prop_assert!(!said.contains('\n')),
                }
            }
        }
    }
}
