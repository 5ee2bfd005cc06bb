//! From text to index words: words and, for scripts written without spaces, pairs of characters; lower case, ASCII
//! folding, English stems.

mod stems;

use std::sync::{Mutex, PoisonError};

use pericope_api::Span;
use pericope_store::{Analyzer, Word};
use tantivy::tokenizer::{TextAnalyzer, Token, TokenStream, Tokenizer};

use stems::Stems;

/// The name under which the analyzer is registered, with its version: an index names it in its metadata and its schema.
pub const TEXT_ANALYZER: &str = "pericope-en-1";

/// Longer words (base64, hashes, minified code) are not indexed: nobody types them.
const MAX_WORD_BYTES: usize = 255;

/// Returns the analyzer of all text fields.
#[must_use]
pub fn text_analyzer() -> TextAnalyzer {
    TextAnalyzer::from(WordTokenizer::default())
}

/// The words of texts as [`text_analyzer`] makes them, for what all stores share: queries, snippets, stores that count
/// words themselves. May be shared between threads.
#[derive(Default)]
pub struct EnglishAnalyzer {
    /// Analyzers that nobody uses now, with the stems that they remember.
    idle: Mutex<Vec<TextAnalyzer>>,
}

impl Analyzer for EnglishAnalyzer {
    fn name(&self) -> &str {
        TEXT_ANALYZER
    }

    fn analyze(&self, text: &str, each: &mut dyn FnMut(Word<'_>)) {
        let idle = self.idle.lock().unwrap_or_else(PoisonError::into_inner).pop();
        let mut analyzer = idle.unwrap_or_else(text_analyzer);
        let mut stream = analyzer.token_stream(text);
        while stream.advance() {
            let token = stream.token();
            let span = Span::new(token.offset_from, token.offset_to);
            each(Word { text: &token.text, span, position: token.position });
        }
        drop(stream);
        self.idle.lock().unwrap_or_else(PoisonError::into_inner).push(analyzer);
    }
}

/// Runs of letters and digits; where a script puts no spaces between its words, overlapping pairs of characters
/// (a character alone stays alone), which is what CJK search commonly rests on without a dictionary. Each is given as
/// its stem: in lower case, folded to ASCII, stemmed as English.
#[derive(Clone, Default)]
pub struct WordTokenizer {
    token: Token,
    stems: Stems,
}

/// The stream of [`WordTokenizer`].
pub struct WordStream<'a> {
    text: &'a str,
    at: usize,
    /// True while inside a run of unspaced characters of which a pair was given.
    in_run: bool,
    token: &'a mut Token,
    stems: &'a mut Stems,
}

impl Tokenizer for WordTokenizer {
    type TokenStream<'a> = WordStream<'a>;

    fn token_stream<'a>(&'a mut self, text: &'a str) -> WordStream<'a> {
        self.token.reset();
        WordStream { text, at: 0, in_run: false, token: &mut self.token, stems: &mut self.stems }
    }
}

impl WordStream<'_> {
    fn emit(&mut self, start: usize, end: usize) -> bool {
        self.token.position = self.token.position.wrapping_add(1);
        self.token.offset_from = start;
        self.token.offset_to = end;
        self.stems.write(&self.text[start..end], &mut self.token.text);
        true
    }
}

impl TokenStream for WordStream<'_> {
    fn advance(&mut self) -> bool {
        let text = self.text;
        loop {
            let start = self.at;
            let mut chars = text[start..].chars();
            let Some(first) = chars.next() else { return false };
            let after = start + first.len_utf8();
            self.at = after;
            if is_unspaced(first) {
                if let Some(second) = chars.next().filter(|&c| is_unspaced(c)) {
                    self.in_run = true;
                    return self.emit(start, after + second.len_utf8());
                }
                if !std::mem::take(&mut self.in_run) {
                    return self.emit(start, after);
                }
            } else if first.is_alphanumeric() {
                let rest = &text[after..];
                let end = rest.find(|c: char| !c.is_alphanumeric() || is_unspaced(c)).map_or(text.len(), |i| after + i);
                self.at = end;
                if end - start <= MAX_WORD_BYTES {
                    return self.emit(start, end);
                }
            }
        }
    }

    fn token(&self) -> &Token {
        self.token
    }

    fn token_mut(&mut self) -> &mut Token {
        self.token
    }
}

/// Letters of scripts that are written without spaces between words, and Hangul, whose words carry their particles.
fn is_unspaced(c: char) -> bool {
    // Everything below Thai is spaced: the common case costs one comparison.
    c >= '\u{e00}'
        && matches!(c,
            '\u{e00}'..='\u{eff}'       // Thai, Lao
            | '\u{1000}'..='\u{109f}'   // Myanmar
            | '\u{1780}'..='\u{17ff}'   // Khmer
            | '\u{3040}'..='\u{30ff}'   // Hiragana, Katakana
            | '\u{31f0}'..='\u{31ff}'   // Katakana, small
            | '\u{3400}'..='\u{4dbf}'   // Han, extension A
            | '\u{4e00}'..='\u{9fff}'   // Han
            | '\u{ac00}'..='\u{d7af}'   // Hangul syllables
            | '\u{f900}'..='\u{faff}'   // Han, compatibility
            | '\u{20000}'..='\u{323af}' // Han, further extensions
        )
        && c.is_alphanumeric()
}

#[cfg(test)]
mod tests {
    #![allow(clippy::unwrap_used, clippy::expect_used)]
    use proptest::prelude::*;
    use tantivy::tokenizer::{AsciiFoldingFilter, Language, LowerCaser, RawTokenizer, Stemmer};

    use super::*;

    fn words(text: &str) -> Vec<(String, usize, usize)> {
        let mut analyzer = text_analyzer();
        let mut stream = analyzer.token_stream(text);
        let mut found = Vec::new();
        while stream.advance() {
            let token = stream.token();
            found.push((token.text.clone(), token.offset_from, token.offset_to));
        }
        found
    }

    fn texts(text: &str) -> Vec<String> {
        words(text).into_iter().map(|w| w.0).collect()
    }

    #[test]
    fn words_are_folded_and_stemmed() {
        assert_eq!(texts("The Cafés' RUNNING-costs (v2.1)"), ["the", "cafe", "run", "cost", "v2", "1"]);
        assert_eq!(words("é run").last(), Some(&("run".to_owned(), 3, 6)));
    }

    #[test]
    fn unspaced_scripts_become_pairs() {
        assert_eq!(texts("日本語 text 字"), ["日本", "本語", "text", "字"]);
        assert_eq!(texts("abc漢字def"), ["abc", "漢字", "def"]);
    }

    #[test]
    fn endless_words_are_left_out() {
        assert_eq!(texts(&format!("a {} b", "x".repeat(1_000_000))), ["a", "b"]);
    }

    /// The same by tantivy's own filters, one word at a time.
    fn plainly(text: &str) -> Vec<String> {
        let filters = |tokenizer| TextAnalyzer::builder(tokenizer).filter(LowerCaser).filter(AsciiFoldingFilter);
        let mut analyzer = filters(RawTokenizer::default()).filter(Stemmer::new(Language::English)).build();
        let mut stem = |word: &str| {
            let mut stream = analyzer.token_stream(word);
            assert!(stream.advance());
            stream.token().text.clone()
        };
        words(text).into_iter().map(|(_, from, to)| stem(&text[from..to])).collect()
    }

    #[test]
    fn what_is_remembered_is_what_tantivy_makes() {
        let long = "internationalisationalismically".repeat(3);
        let once = format!("Running runs RAN cafés ÇA Straße ﬁne {long} İstanbul ǅ ΣΑΣ x1 ß 日本語 easily generously");
        // More words than are remembered, and each of them twice.
        let many: String = (0..40_000).map(|i| format!("walks{i} walking{} ", i / 2)).collect();
        for text in [format!("{once} {once}"), format!("{many}{many}{once}")] {
            assert_eq!(texts(&text), plainly(&text));
        }
    }

    proptest! {
        #[test]
        fn any_text_gives_tantivys_words(text in "[a-cA-C\u{e0}-\u{fc} ing]{0,80}|\\PC{0,60}") {
            prop_assert_eq!(texts(&text), plainly(&text));
        }

        #[test]
        fn offsets_name_the_source(text in "\\PC{0,60}") {
            let mut last = 0;
            for (_, from, to) in words(&text) {
                prop_assert!(text.get(from..to).is_some_and(|w| !w.is_empty()));
                prop_assert!(from >= last);
                last = from;
            }
        }
    }
}
