//! Headings by the size of their letters.

use pericope_api::Span;

use super::layout::Line;
use crate::encoding::DecodedHeading;

/// How much larger than those of the text the letters of a heading are.
const LARGER: f64 = 1.15;
/// Sizes that differ by less are one.
const SAME: f64 = 1.05;
/// Furthest that the lines of a heading are from each other, as a multiple of the size of its letters.
const FURTHEST: f64 = 1.7;
/// Longest heading, in characters and in words.
const LONGEST: (usize, usize) = (120, 15);
/// Most words of a heading that ends with a full stop: what a page puts first, or repeats at its side, are sentences.
const FULL_STOP: usize = 6;
/// Most of a text that can be headings: one part of so many. Where there is more, larger letters say something else.
const MOST: usize = 3;

/// A block of lines of one size.
#[derive(Debug, Clone, Copy)]
pub(super) struct Block {
    /// Where it is in the text.
    pub(super) span: Span,
    /// Size of its letters, in points.
    pub(super) size: f64,
}

/// True where a heading goes on in the next line: such lines are further from each other than those of the text.
pub(super) fn is_wrapped(before: &Line, line: &Line, body: f64) -> bool {
    let same = before.size < line.size * SAME && line.size < before.size * SAME;
    same && line.size >= body * LARGER && line.gap > 0.0 && line.gap <= line.size * FURTHEST
}

/// The headings among the blocks of a text whose text is of the size `body`: the larger, the higher their level.
pub(super) fn headings(text: &str, blocks: &[Block], body: f64) -> Vec<DecodedHeading> {
    let is_heading = |(i, block): &(usize, &Block)| {
        let words = block.span.of(text).trim();
        let letters = words.chars().filter(|c| c.is_alphabetic()).count();
        let is_short = words.chars().count() <= LONGEST.0 && words.split_whitespace().count() <= LONGEST.1;
        let is_sentence = words.ends_with('.') && words.split_whitespace().count() > FULL_STOP;
        // Initials and figures are set in large letters, too.
        *i + 1 < blocks.len()
            && block.size >= body * LARGER
            && is_short
            && letters >= 2
            && !is_sentence
            && !words.ends_with([',', ';'])
    };
    let found: Vec<&Block> = blocks.iter().enumerate().filter(is_heading).map(|(_, block)| block).collect();
    let length: usize = found.iter().map(|block| block.span.end - block.span.start).sum();
    if length * MOST > text.len() {
        return Vec::new();
    }
    let mut sizes: Vec<f64> = found.iter().map(|block| block.size).collect();
    sizes.sort_by(|a, b| b.total_cmp(a));
    sizes.dedup_by(|next, before| *before < *next * SAME);
    let level = |size: f64| sizes.iter().position(|&known| size * SAME > known).unwrap_or(0);
    let heading = |block: &Block| DecodedHeading {
        span: block.span.trimmed(text),
        level: u8::try_from(level(block.size) + 1).unwrap_or(u8::MAX),
    };
    found.into_iter().map(heading).collect()
}

#[cfg(test)]
mod tests {
    use pericope_api::Span;

    use super::{Block, headings};

    /// Texts of those sizes, one after the other.
    fn found(parts: &[(&str, f64)]) -> Vec<(String, u8)> {
        let mut text = String::new();
        let mut blocks = Vec::new();
        for (part, size) in parts {
            let start = text.len();
            text.push_str(part);
            blocks.push(Block { span: Span::new(start, text.len()), size: *size });
            text.push_str("\n\n");
        }
        headings(&text, &blocks, 10.0).into_iter().map(|one| (one.span.of(&text).to_owned(), one.level)).collect()
    }

    #[test]
    fn larger_letters_are_headings_by_their_size() {
        let text = "Pumps move water from wells to tanks, and hum while they do that, all day long and half the night.";
        let parts =
            [("Pumps", 20.0), ("Use", 14.0), (text, 10.0), ("Care", 13.8), (text, 10.0), ("Oil", 12.0), (text, 10.0)];
        let levels = [("Pumps", 1), ("Use", 2), ("Care", 2), ("Oil", 3)].map(|(text, level)| (text.to_owned(), level));
        assert_eq!(found(&parts), levels);
    }

    #[test]
    fn initials_figures_and_large_text_are_none() {
        let text = "Pumps move water from wells to tanks, and hum while they do that, all day long and half the night.";
        assert_eq!(
            found(&[("T", 30.0), (text, 10.0), ("42 %", 20.0), (text, 10.0), (text, 14.0), ("The end", 14.0)]),
            []
        );
        let quote = "To be large is not yet to be a heading.";
        assert_eq!(found(&[(text, 10.0), (quote, 14.0), (text, 10.0)]), []);
        assert_eq!(found(&[("One thing", 14.0), ("Another thing", 14.0), ("A short text", 10.0)]), []);
    }
}
