use pericope_api::Span;
use pericope_language::word_ends;
use pericope_store::Language;
use tantivy::tokenizer::{Token, TokenStream, Tokenizer};

use super::Rules;
use super::composed::{Change, Composed, is_mark, source};
use super::hint::without_hint;
use super::stems::Stems;

/// Longer words (base64, hashes, minified code) are not indexed: nobody types them.
const MAX_WORD_BYTES: usize = 255;

/// Runs of letters and digits, each as its stem.
///
/// The default takes every text for English: in lower case, folded to ASCII, stemmed. Where a script puts no spaces between
/// its words, it gives overlapping pairs of characters (a character alone stays alone). That [of a language](Self::of) stems
/// as the language does, finds the words of such scripts by a dictionary, Korean aside, and reads texts in NFC, with the marks
/// of letters and without soft hyphens and joiners.
#[derive(Clone)]
pub struct WordTokenizer {
    token: Token,
    stems: Stems,
    /// Finds words of scripts without spaces by a dictionary; none where they are given in pairs.
    dictionary: Option<Dictionary>,
    /// Composes texts; none where they are read as they stand, and marks end a word.
    composed: Option<Composed>,
    /// None where each word is given once.
    further: Option<Further>,
}

/// A further form under which a word is found.
#[derive(Clone)]
struct Further {
    /// Stems of words that are written without their accents; none where the language has no others.
    unaccented: Option<Stems>,
    /// The form that is given next,
    text: String,
    /// and the bytes of the source that it stands for; none where there is no such form.
    span: Option<Span>,
}

/// What words of scripts without spaces need.
#[derive(Clone)]
struct Dictionary {
    /// Folds them: they have no stems, whatever the language of the text.
    plain: Stems,
    /// The words of the run that is being given, the next one last.
    words: Vec<Span>,
    /// Where the dictionary cuts the run.
    ends: Vec<usize>,
}

impl Dictionary {
    /// Finds the words of the run that begins at byte `at`, and where it ends.
    ///
    /// What the dictionary does not know, it leaves as single characters. Of several Han characters in a row the pairs are
    /// words: `除`, `湿`, `機` is `除湿`, `湿機`.
    fn begin(&mut self, text: &str, at: usize) -> usize {
        self.ends.clear();
        word_ends(text, at, &mut self.ends);
        let (mut start, mut single) = (at, None);
        for &end in &self.ends {
            let piece = Span::new(start, end);
            start = end;
            let is_single = is_han_alone(piece.of(text));
            match single.replace(piece).filter(|_| is_single) {
                // The second of a row takes the place of the first.
                Some(before) if is_han_alone(before.of(text)) => {
                    if self.words.last() == Some(&before) {
                        self.words.pop();
                    }
                    self.words.push(before.hull(&piece));
                }
                // Signs and marks alone are no word.
                _ if piece.len() <= MAX_WORD_BYTES && piece.of(text).contains(char::is_alphanumeric) => {
                    self.words.push(piece);
                }
                _ => {}
            }
        }
        self.words.reverse();
        start
    }
}

/// True for a single Han character.
fn is_han_alone(piece: &str) -> bool {
    let mut chars = piece.chars();
    let first = chars.next().is_some_and(
        |c| matches!(c, '\u{3005}' | '\u{3400}'..='\u{9fff}' | '\u{f900}'..='\u{faff}' | '\u{20000}'..='\u{323af}'),
    );
    first && chars.next().is_none()
}

impl Default for WordTokenizer {
    fn default() -> Self {
        Self::by(Rules::English, Language::English)
    }
}

impl WordTokenizer {
    /// Returns the tokenizer of texts in a language.
    #[must_use]
    pub fn of(language: Language) -> Self {
        Self::by(Rules::Composed, language)
    }

    pub(super) fn by(rules: Rules, language: Language) -> Self {
        let dictionary =
            || Dictionary { plain: Stems::of(Language::Other, rules), words: Vec::new(), ends: Vec::new() };
        let further = || Further { unaccented: Stems::unaccented(language, rules), text: String::new(), span: None };
        Self {
            token: Token::default(),
            stems: Stems::of(language, rules),
            dictionary: (rules != Rules::English).then(dictionary),
            composed: rules.composes().then(Composed::default),
            further: (rules == Rules::Stored).then(further),
        }
    }
}

/// The stream of [`WordTokenizer`].
pub struct WordStream<'a> {
    text: &'a str,
    /// Where the text differs from its source.
    changes: &'a [Change],
    at: usize,
    /// True while inside a run of unspaced characters of which a pair was given.
    in_run: bool,
    /// True where words go on over marks.
    over_marks: bool,
    token: &'a mut Token,
    stems: &'a mut Stems,
    dictionary: Option<&'a mut Dictionary>,
    further: Option<&'a mut Further>,
}

impl Tokenizer for WordTokenizer {
    type TokenStream<'a> = WordStream<'a>;

    fn token_stream<'a>(&'a mut self, text: &'a str) -> WordStream<'a> {
        self.token.reset();
        if let Some(dictionary) = &mut self.dictionary {
            dictionary.words.clear();
        }
        if let Some(further) = &mut self.further {
            further.span = None;
        }
        let over_marks = self.composed.is_some();
        let none: &'a [Change] = &[];
        let (text, changes) = self.composed.as_mut().map_or((text, none), |composed| composed.read(text));
        WordStream {
            text,
            changes,
            at: 0,
            in_run: false,
            over_marks,
            token: &mut self.token,
            stems: &mut self.stems,
            dictionary: self.dictionary.as_mut(),
            further: self.further.as_mut(),
        }
    }
}

/// Reads texts in the languages that stand before them ([`hinted`](super::hint::hinted)).
#[derive(Clone)]
pub(crate) struct HintedTokenizer {
    rules: Rules,
    /// Those of the languages that were met.
    by_language: Vec<(Language, WordTokenizer)>,
}

impl HintedTokenizer {
    pub(crate) fn by(rules: Rules) -> Self {
        Self { rules, by_language: Vec::new() }
    }
}

impl Tokenizer for HintedTokenizer {
    type TokenStream<'a> = WordStream<'a>;

    fn token_stream<'a>(&'a mut self, text: &'a str) -> WordStream<'a> {
        let (language, text) = without_hint(text);
        let at = self.by_language.iter().position(|(known, _)| *known == language).unwrap_or_else(|| {
            self.by_language.push((language, WordTokenizer::by(self.rules, language)));
            self.by_language.len() - 1
        });
        self.by_language[at].1.token_stream(text)
    }
}

impl WordStream<'_> {
    fn emit(&mut self, start: usize, end: usize) -> bool {
        let word = Span::new(start, end);
        self.place(word);
        self.stems.write(word.of(self.text), &mut self.token.text);
        self.then_unaccented(word);
        true
    }

    fn place(&mut self, word: Span) {
        let Span { start, end } = source(self.changes, word);
        self.token.position = self.token.position.wrapping_add(1);
        self.token.offset_from = start;
        self.token.offset_to = end;
    }

    /// Gives a word's form without accents behind it, where that is another.
    fn then_unaccented(&mut self, word: Span) {
        let written = word.of(self.text);
        let Some(further) = self.further.as_mut().filter(|_| !written.is_ascii()) else { return };
        let Some(unaccented) = &mut further.unaccented else { return };
        unaccented.write(written, &mut further.text);
        further.span = (further.text != self.token.text).then(|| source(self.changes, word));
    }

    /// Gives the first syllable of a run behind its first pair: with a particle behind it, it is a word.
    fn then_syllable(&mut self, syllable: Span) {
        if let Some(further) = &mut self.further {
            self.stems.write(syllable.of(self.text), &mut further.text);
            further.span = Some(source(self.changes, syllable));
        }
    }

    /// Gives the further form of the word that was given, at its position.
    fn of_word(&mut self) -> bool {
        let Some(further) = &mut self.further else { return false };
        let Some(span) = further.span.take() else { return false };
        std::mem::swap(&mut self.token.text, &mut further.text);
        self.token.offset_from = span.start;
        self.token.offset_to = span.end;
        true
    }

    /// Gives the next word of the run, where one is being given.
    fn of_run(&mut self) -> bool {
        let text = self.text;
        let Some(word) = self.dictionary.as_mut().and_then(|dictionary| dictionary.words.pop()) else { return false };
        self.place(word);
        if let Some(dictionary) = &mut self.dictionary {
            dictionary.plain.write(without_long_mark(word.of(text)), &mut self.token.text);
        }
        true
    }
}

impl TokenStream for WordStream<'_> {
    fn advance(&mut self) -> bool {
        let text = self.text;
        if self.of_word() || self.of_run() {
            return true;
        }
        loop {
            let start = self.at;
            let mut chars = text[start..].chars();
            let Some(first) = chars.next() else { return false };
            let after = start + first.len_utf8();
            if let Some(dictionary) = self.dictionary.as_mut().filter(|_| pericope_language::is_unspaced(first)) {
                self.at = dictionary.begin(text, start);
                if self.of_run() {
                    return true;
                }
                continue;
            }
            self.at = after;
            if is_paired(first) {
                if let Some(second) = chars.next().filter(|&c| self.is_paired(c)) {
                    let goes_on = std::mem::replace(&mut self.in_run, true);
                    self.emit(start, after + second.len_utf8());
                    if !goes_on {
                        self.then_syllable(Span::new(start, after));
                    }
                    return true;
                }
                if !std::mem::take(&mut self.in_run) {
                    return self.emit(start, after);
                }
            } else if first.is_alphanumeric() {
                let rest = &text[after..];
                let end = rest.find(|c: char| !self.goes_on(c)).map_or(text.len(), |i| after + i);
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

impl WordStream<'_> {
    /// True for what makes a pair with a character before it.
    fn is_paired(&self, c: char) -> bool {
        is_paired(c) && !(self.dictionary.is_some() && pericope_language::is_unspaced(c))
    }

    /// True for what belongs to the word of an alphabet before it.
    fn goes_on(&self, c: char) -> bool {
        (c.is_alphanumeric() || (self.over_marks && is_mark(c))) && !self.is_apart(c)
    }

    /// True for letters at which a word of an alphabet ends.
    fn is_apart(&self, c: char) -> bool {
        is_paired(c) || (self.dictionary.is_some() && pericope_language::is_unspaced(c))
    }
}

/// Japanese writes the long vowel at the end of longer words in katakana, or leaves it out.
fn without_long_mark(word: &str) -> &str {
    const LONG: char = '\u{30fc}';
    let is_katakana = |c: char| ('\u{30a1}'..='\u{30fc}').contains(&c);
    match word.strip_suffix(LONG) {
        Some(short) if short.chars().nth(2).is_some() && short.chars().all(is_katakana) => short,
        _ => word,
    }
}

/// Letters of scripts that are written without spaces between words, and Hangul, whose words carry their particles.
fn is_paired(c: char) -> bool {
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
