use pericope_api::Span;

use pericope_language::{is_unspaced, word_ends};

use crate::chars::skip_blank;

/// Cuts `text` into pieces of `words` words (0 counts as 1), the last one shorter. A word is what stands between white space;
/// in scripts without spaces (Chinese, Japanese, Thai, Lao, Khmer, Burmese) it is what a dictionary takes for one, with the
/// punctuation at it. Pieces have no blank ends.
///
/// ```
/// let text = "one two  three\nfour five";
/// let pieces = pericope_segment::kernels::fixed_words(text, 2);
/// let pieces: Vec<&str> = pieces.iter().map(|span| span.of(text)).collect();
/// assert_eq!(pieces, ["one two", "three\nfour", "five"]);
/// ```
#[must_use]
pub fn fixed_words(text: &str, words: usize) -> Vec<Span> {
    let mut spans = Vec::with_capacity(text.len() / words.saturating_mul(5).max(8) + 1);
    let mut start = skip_blank(text, 0);
    let mut ends = Ends::new(text, start);
    while start < text.len() {
        let end = ends.nth(start, words.max(1));
        spans.push(Span::new(start, end));
        start = skip_blank(text, end);
    }
    spans
}

/// Number of words of `text`.
pub(crate) fn count_words(text: &str) -> usize {
    let mut ends = Ends::new(text, skip_blank(text, 0));
    let mut words = 0;
    while let Some((_, found)) = ends.next_block() {
        words += found.count_ones() as usize;
    }
    words
}

/// The end of the `n`-th word (from 1) of the text that starts at `start`, the beginning of a word. Where fewer words
/// follow, the end of the last.
pub(crate) fn nth_word_end(text: &str, start: usize, n: usize) -> usize {
    Ends::new(text, start).nth(start, n)
}

/// Bytes of a run without spaces whose words are looked for at once: few words do not cost those of all the run.
const STRETCH: usize = 2048;

/// Bytes before the end of a stretch from which on a word may be another one where it is not cut short. No dictionary has words as
/// long.
const MARGIN: usize = 512;

/// Finds where words end, eight bytes at a time: a block's answer has the highest bit of byte i set where a word ends
/// just before byte i of the block.
struct Ends<'a> {
    text: &'a str,
    at: usize,
    /// True where the byte before `at` belongs to a word.
    in_word: bool,
    /// Where the words end of a stretch of a run without spaces that has been begun, the next one last.
    run: Vec<usize>,
}

impl Ends<'_> {
    /// The end of the `n`-th word (from 1) behind `start`, the beginning of a word: the first one, or the next behind the end that was
    /// found last. Where fewer words follow, the end of the last.
    fn nth(&mut self, start: usize, n: usize) -> usize {
        // What is known of a run that goes on here stays known.
        (self.at, self.in_word) = (start, false);
        let (mut left, mut last) = (n, start);
        while let Some((at, mut found)) = self.next_block() {
            let here = found.count_ones() as usize;
            if here == 0 {
                continue;
            }
            if here < left {
                left -= here;
                last = at + (63 - found.leading_zeros() as usize) / 8;
                continue;
            }
            for _ in 1..left {
                found &= found - 1;
            }
            return at + found.trailing_zeros() as usize / 8;
        }
        last
    }

    /// Finds words of the run at byte `at`, up to its end or those that a stretch tells. The marks at the end of the run belong to its
    /// last word.
    fn begin_run(&mut self, at: usize) {
        let text = self.text;
        let until = text.floor_char_boundary(at.saturating_add(STRETCH));
        word_ends(&text[..until], at, &mut self.run);
        let goes_on = self.run.last() == Some(&until) && text[until..].starts_with(is_unspaced);
        if goes_on {
            let sure = self.run.partition_point(|&end| end + MARGIN <= until);
            self.run.truncate(sure.max(1));
        }
        // Signs that are no word belong to the one before.
        let mut start = at;
        self.run.retain(|&end| {
            let is_word = text[start..end].contains(char::is_alphanumeric);
            start = end;
            is_word
        });
        let marks = if goes_on { 0 } else { text[start..].find(|c: char| !closes(c)).unwrap_or(text.len() - start) };
        match self.run.last_mut() {
            Some(last) if !goes_on => *last = start + marks,
            Some(_) => {}
            None => self.run.push(start + marks),
        }
        self.run.reverse();
    }
}

/// Marks that belong to the word behind them.
fn opens(c: char) -> bool {
    matches!(
        c,
        '(' | '['
            | '{'
            | '<'
            | '"'
            | '\''
            | '“'
            | '‘'
            | '«'
            | '「'
            | '『'
            | '（'
            | '［'
            | '｛'
            | '【'
            | '〔'
            | '〈'
            | '《'
    )
}

/// Marks that belong to the word before them.
fn closes(c: char) -> bool {
    !c.is_alphanumeric() && !c.is_whitespace() && !opens(c)
}

/// The first byte of a block.
const FIRST: u64 = 0x80;
const ONES: u64 = u64::from_ne_bytes([1; 8]);
const HIGH: u64 = ONES * 0x80;

impl<'a> Ends<'a> {
    fn new(text: &'a str, start: usize) -> Self {
        Self { text, at: start, in_word: false, run: Vec::new() }
    }

    fn next_block(&mut self) -> Option<(usize, u64)> {
        if let Some(end) = self.run.pop() {
            self.at = end;
            return Some((end, FIRST));
        }
        let at = self.at;
        if let Some(block) = self.text.as_bytes().get(at..at + 8).and_then(|b| <[u8; 8]>::try_from(b).ok()) {
            let block = u64::from_le_bytes(block);
            if block & HIGH == 0 {
                let blank = blanks(block);
                // Bit 7 of byte i: byte i is blank and the byte before is not.
                let found = blank & !((blank << 8) | (u64::from(!self.in_word) << 7));
                self.in_word = blank >> 63 == 0;
                self.at += 8;
                return Some((at, found));
            }
        }
        // One character: beyond ASCII, or near the end.
        let Some(c) = self.text.get(at..).and_then(|rest| rest.chars().next()) else {
            let found = if self.in_word { FIRST } else { 0 };
            self.in_word = false;
            return (found != 0).then_some((at, found));
        };
        if is_unspaced(c) {
            self.begin_run(at);
            // A word of letters before it ends here; marks that open something belong to the word behind them.
            let before = self.text[..at].chars().next_back();
            let ends = std::mem::take(&mut self.in_word) && !before.is_some_and(opens);
            return Some((at, if ends { FIRST } else { 0 }));
        }
        let blank = c.is_whitespace();
        let found = u64::from(blank && self.in_word) << 7;
        self.in_word = !blank;
        self.at += c.len_utf8();
        Some((at, found))
    }
}

/// The highest bit of each byte (all below 0x80) that is a space or one of `\t \n \v \f \r`. No byte's sum carries into
/// the next: 0x80 - x, x + 0x77 and x + 0x72 stay within a byte for x up to 0x7f.
fn blanks(block: u64) -> u64 {
    let spaces = HIGH - (block ^ (ONES * 0x20));
    let control = (block + ONES * (0x80 - 9)) & !(block + ONES * (0x80 - 14));
    (spaces | control) & HIGH
}

#[cfg(test)]
mod tests {
    use proptest::prelude::*;

    use super::{STRETCH, count_words, fixed_words, nth_word_end};

    fn pieces(text: &str, words: usize) -> Vec<&str> {
        fixed_words(text, words).into_iter().map(|span| span.of(text)).collect()
    }

    #[test]
    fn scripts_without_spaces_have_words() {
        let text = "索引を作る前に、文書を分けます。「行こう」とAPI。次へ";
        let expected = [
            "索引",
            "を",
            "作る",
            "前",
            "に、",
            "文書",
            "を",
            "分け",
            "ます。",
            "「行",
            "こう」",
            "と",
            "API。",
            "次",
            "へ",
        ];
        assert_eq!(pieces(text, 1), expected);
        assert_eq!(count_words(text), expected.len());
        assert_eq!(pieces(text, 5), ["索引を作る前に、", "文書を分けます。「行", "こう」とAPI。次へ"]);
        assert_eq!(pieces("ก่อนสร้างดัชนี ต้องแบ่ง", 2), ["ก่อนสร้าง", "ดัชนี ต้อง", "แบ่ง"]);
        assert_eq!(pieces("全文检索的结果。", 2), ["全文检索", "的结果。"]);
        assert_eq!(count_words("한국어 문서 abc漢字 x。。。"), 5);
    }

    #[test]
    fn a_run_without_spaces_costs_one_pass_however_few_words_are_wanted() {
        for sentence in ["検索の結果を文書に分けます", "全文检索的结果", "ก่อนสร้างดัชนี"]
        {
            let text = sentence.repeat(100_000 / sentence.len());
            assert!(text.len() > 40 * STRETCH);
            let words = fixed_words(&text, 1);
            assert_eq!(words.len(), count_words(&text));
            assert!(words.iter().all(|word| word.len() <= sentence.len()));
            for count in [40, 500] {
                let mut at = 0;
                for (i, span) in fixed_words(&text, count).into_iter().enumerate() {
                    assert_eq!(span.start, words[i * count].start);
                    assert_eq!(span.end, words[words.len().min((i + 1) * count) - 1].end);
                    assert_eq!(span.end, nth_word_end(&text, at, count));
                    at = span.end;
                }
                assert_eq!(at, text.len());
            }
        }
    }

    proptest! {
        #[test]
        fn pieces_cover_text_of_any_script(
            text in "([a-z.]{1,9}|[ \n\u{3000}]{1,2}|[一-龯ぁ-んァ-ヶー々]{1,8}|[。、「」（）！]|[ก-ฮะ-ูเ-์]{1,9}|[가-힣]{1,3}|👩‍👧){0,40}",
            words in 1usize..7,
        ) {
            let spans = fixed_words(&text, words);
            let mut at = 0;
            for span in &spans {
                prop_assert!(text[at..span.start].trim().is_empty() && span.end > span.start);
                prop_assert_eq!(span.trimmed(&text), *span);
                at = span.end;
            }
            prop_assert!(text[at..].trim().is_empty());
            prop_assert_eq!(count_words(&text) == 0, text.trim().is_empty());
        }

        #[test]
        fn equal_to_splitting_at_white_space(
            text in "([a-z.]{1,9}|[ \t\n\r\u{b}\u{c}]{1,3}|é|한|\u{a0}|\u{3000}|\u{2028}|\u{85}|\u{1c}){0,60}",
            words in 1usize..7,
        ) {
            let all: Vec<&str> = text.split_whitespace().collect();
            prop_assert_eq!(count_words(&text), all.len());
            let spans = fixed_words(&text, words);
            let found: Vec<Vec<&str>> = spans.iter().map(|s| s.of(&text).split_whitespace().collect()).collect();
            let expected: Vec<Vec<&str>> = all.chunks(words).map(<[&str]>::to_vec).collect();
            prop_assert_eq!(found, expected);
            for span in spans {
                prop_assert_eq!(span.trimmed(&text), span);
            }
        }
    }
}
