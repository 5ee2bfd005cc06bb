//! Which of the lines that look like headings are, and how deep they are.

use std::collections::{BTreeMap, HashMap, HashSet};

use pericope_api::Span;

use super::line::{Form, form, is_untitled};
use super::{Candidate, PlainHeading};
use crate::formats::plain::items::ends_a_sentence;

/// How far the number of a heading may be from the one before: some headings are not recognised.
const GAP: u16 = 3;

/// A way of marking headings. Those that are met later are deeper.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash)]
enum Style {
    Given,
    Marked,
    Underlined(u8),
    Word(usize),
    Number,
    Roman,
    Letter,
    Han,
    /// By its words alone: as deep as the outermost.
    Bare,
    /// The same under the number of a chapter, whose title it is.
    Called,
}

impl Form {
    fn style(&self) -> Style {
        match self {
            Self::Given(_) => Style::Given,
            Self::Marked(_) => Style::Marked,
            Self::Underlined(sign) => Style::Underlined(*sign),
            Self::Word(which) => Style::Word(*which),
            Self::Number(_) => Style::Number,
            Self::Roman(_) => Style::Roman,
            Self::Letter(_) => Style::Letter,
            Self::Han(_) => Style::Han,
            Self::Capitals | Self::Known => Style::Bare,
        }
    }

    /// Depth within the style.
    fn depth(&self) -> usize {
        match self {
            Self::Given(level) | Self::Marked(level) => usize::from(*level),
            Self::Number(parts) => parts.len(),
            _ => 1,
        }
    }

    /// True for another of the same style.
    pub(super) fn is_like(&self, other: &Self) -> bool {
        self.style() == other.style()
    }

    fn number(&self) -> Option<&[u16]> {
        match self {
            Self::Number(parts) => Some(parts),
            Self::Roman(value) | Self::Letter(value) | Self::Han(value) => Some(std::slice::from_ref(value)),
            _ => None,
        }
    }
}

/// The headings among `found`, with their levels from 1; and whether the first one is the title of the document.
pub(super) fn outline(source: &str, blocks: &[Span], found: Vec<Candidate>) -> (Vec<PlainHeading>, bool) {
    let found = with_text(source, found);
    let found = distinct(source, blocks, found);
    let (mut found, restarts) = in_order(found);
    // Capitals in the middle of a text without any other heading are a warning or an abbreviation.
    let is_single = found.len() == 1 && found[0].form == Form::Capitals && found[0].block > 0;
    if is_single {
        found.clear();
    }
    levels(source, found, restarts)
}

/// Most of a kind that follow each other at once, of which the last may be a heading.
const RUN: usize = 2;

/// Without those that another one of their kind follows at once, and without the last of several unless the text begins with it after a
/// table of contents: lists, tables, tables of contents.
fn with_text(source: &str, found: Vec<Candidate>) -> Vec<Candidate> {
    let is_followed = |this: &Candidate, next: &Candidate| {
        let same = this.form.is_like(&next.form) && next.form.depth() <= this.form.depth();
        let begins = this.block == 0 && this.form == Form::Capitals;
        // What signs mark is a heading, with text or without.
        let is_sure = matches!(this.form, Form::Marked(_) | Form::Underlined(_));
        this.is_alone && next.block == this.block + 1 && same && !begins && !is_sure
    };
    let mut run = 0;
    let mut keep = Vec::with_capacity(found.len());
    for (i, this) in found.iter().enumerate() {
        let is_followed = found.get(i + 1).is_some_and(|next| is_followed(this, next));
        let listed = &found[i - run..i];
        run += 1;
        keep.push(!is_followed && (run <= RUN || begins_text(source, listed, this)));
        if !is_followed {
            run = 0;
        }
    }
    found.into_iter().zip(keep).filter_map(|(one, keep)| keep.then_some(one)).collect()
}

/// True where the text begins with `this` after a list of what is in it: it was listed, or its number begins again.
fn begins_text(source: &str, listed: &[Candidate], this: &Candidate) -> bool {
    let is_listed = listed.iter().any(|one| one.text.of(source) == this.text.of(source));
    let last = listed.last().and_then(|last| last.form.number());
    is_listed || last.zip(this.form.number()).is_some_and(|(last, number)| !follows(last, number))
}

/// Without capitals that are there more than once, alone or over a sentence: speakers, stamps. Where at least half of those over a sentence
/// come back, the others with text below are speakers, too.
fn distinct(source: &str, blocks: &[Span], mut found: Vec<Candidate>) -> Vec<Candidate> {
    let is_capitals = |one: &Candidate| one.form == Form::Capitals;
    if !found.iter().any(is_capitals) {
        return found;
    }
    let spoken: Vec<&str> = blocks.iter().filter_map(|block| speaker(block.of(source))).collect();
    let alone = found.iter().filter(|one| is_capitals(one) && one.is_alone).map(|one| one.text.of(source));
    let mut counts: HashMap<&str, usize> = HashMap::new();
    for text in alone.chain(spoken.iter().copied()) {
        *counts.entry(text).or_default() += 1;
    }
    let comes_back = |text: &str| counts.get(text).is_some_and(|&count| count > 1);
    let back = spoken.iter().filter(|text| comes_back(text)).count();
    let are_speakers = back > 0 && 2 * back >= spoken.len();
    let stays = |one: &Candidate| {
        let goes = comes_back(one.text.of(source)) || (are_speakers && !one.is_alone);
        !is_capitals(one) || !goes
    };
    found.retain(stays);
    found
}

/// The line in capitals that a block begins with, where a sentence follows.
fn speaker(block: &str) -> Option<&str> {
    let (first, below) = block.split_once('\n')?;
    let first = first.trim_end();
    let is_capitals = matches!(form(first), Some((Form::Capitals, _)));
    (is_capitals && ends_a_sentence(below)).then_some(first)
}

/// Without numbers that do not go on from the one before, and without single ones. Answers which styles begin again.
fn in_order(found: Vec<Candidate>) -> (Vec<Candidate>, bool) {
    let mut out = HashSet::new();
    let mut restarts = false;
    for style in [Style::Number, Style::Roman, Style::Letter, Style::Han] {
        // Each chain of numbers, as indices of candidates.
        let mut chains: Vec<Vec<usize>> = Vec::new();
        for (i, one) in found.iter().enumerate().filter(|(_, one)| one.form.style() == style) {
            let Some(number) = one.form.number() else { continue };
            let goes_on = |chain: &[usize]| {
                let last = chain.last().and_then(|&last| found[last].form.number());
                last.is_some_and(|last| follows(last, number))
            };
            match chains.last_mut() {
                Some(chain) if goes_on(chain) => chain.push(i),
                Some(_) if number.iter().any(|part| *part > 1) => {
                    out.insert(i);
                }
                _ => chains.push(vec![i]),
            }
        }
        out.extend(chains.iter().filter(|chain| chain.len() < 2).flatten());
        restarts |= chains.iter().filter(|chain| chain.len() > 1).count() > 1;
    }
    let kept = found.into_iter().enumerate().filter_map(|(i, one)| (!out.contains(&i)).then_some(one));
    (kept.collect(), restarts)
}

/// True where a heading numbered `next` may come after one numbered `last`.
fn follows(last: &[u16], next: &[u16]) -> bool {
    match last.iter().zip(next).position(|(a, b)| a != b) {
        Some(at) => next[at] > last[at] && next[at] <= last[at] + GAP && next[at + 1..].iter().all(|part| *part <= GAP),
        None => next.len() > last.len() && next[last.len()..].iter().all(|part| *part <= GAP),
    }
}

/// The headings with their levels, and whether the first one is the title of the document.
fn levels(source: &str, found: Vec<Candidate>, restarts: bool) -> (Vec<PlainHeading>, bool) {
    let style = |at: usize| {
        let (one, before) = (&found[at], at.checked_sub(1).map(|before| &found[before]));
        let is_below = |before: &Candidate| before.is_alone && before.block + 1 == one.block;
        let is_called = one.form == Form::Capitals
            && before.is_some_and(|before| is_below(before) && is_untitled(before.text.of(source)));
        if is_called { Style::Called } else { one.form.style() }
    };
    let of: Vec<Style> = (0..found.len()).map(style).collect();
    let bare = of.iter().filter(|style| **style == Style::Bare).count();
    let first = found.first();
    let begins = first.is_some_and(|one| one.block == 0);
    // A title has no text of its own, or no other heading in capitals is there.
    let is_over = first.is_some_and(|one| one.is_alone)
        && found.get(1).is_some_and(|next| next.block == 1 && of[1] == Style::Bare);
    let titled = begins && (bare == 1 || is_over) && first.is_some_and(|one| one.form == Form::Capitals);
    // Styles in the order in which they are met, each with its depths.
    let mut styles: Vec<(Style, BTreeMap<usize, usize>)> = Vec::new();
    for (one, &style) in found.iter().zip(&of).filter(|(_, style)| **style != Style::Bare) {
        let at = styles.iter().position(|(known, _)| *known == style).unwrap_or_else(|| {
            styles.push((style, BTreeMap::new()));
            styles.len() - 1
        });
        styles[at].1.insert(one.form.depth(), 0);
    }
    let top = 1 + usize::from(titled);
    // What begins its numbers again under each bare heading is deeper than those.
    let first_level = top + usize::from(bare > 1 + usize::from(titled) && restarts);
    for (level, depth) in (first_level..).zip(styles.iter_mut().flat_map(|(_, depths)| depths.values_mut())) {
        *depth = level;
    }
    let level = |form: &Form, of: Style| match styles.iter().find(|(style, _)| *style == of) {
        Some((_, depths)) => depths[&form.depth()],
        None => top,
    };
    let marked = first.is_some_and(|one| {
        matches!(one.form, Form::Given(_) | Form::Marked(_) | Form::Underlined(_)) && level(&one.form, of[0]) == 1
    });
    let heading = |(i, one): (usize, &Candidate)| {
        let level = if titled && i == 0 { 1 } else { level(&one.form, of[i]) };
        let level = u8::try_from(level).unwrap_or(u8::MAX);
        PlainHeading { block: one.block, extent: one.extent, text: one.text, level }
    };
    (found.iter().enumerate().map(heading).collect(), titled || (begins && marked))
}
