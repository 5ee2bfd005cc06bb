//! What was retrieved, as text: the gold answer, and chunks that are folded where they hold none of it.

use maud::{Markup, html};
use pericope_eval::format;
use pericope_eval::record::{Gold, Retrieved};

use super::excerpt::{excerpt, gold_in};

/// Characters of ids and headings: enough for any that is sound.
const NAME: usize = 100;

/// The gold answer and its document, in at most `budget` bytes of text.
pub(crate) fn gold_answer(gold: &Gold, budget: usize) -> Markup {
    html! {
        div class="gold" {
            p class="where" { b { "Gold answer" } " in " code { (format::clipped(&gold.document, NAME)) } }
            p class="text" dir="auto" { (excerpt(&gold.text, &[], budget)) }
        }
    }
}

/// A retrieved chunk and how it is shown.
#[derive(Debug, Clone, Copy)]
pub(crate) struct Passage<'a> {
    pub chunk: &'a Retrieved,
    pub gold: &'a Gold,
    /// True where the document may have been edited after the gold's ranges were taken: then the chunk's own share says
    /// whether it holds gold, and not the ranges.
    pub edited: bool,
    /// True where headings and scores are shown.
    pub in_full: bool,
}

impl Passage<'_> {
    /// Returns the chunk with at most `budget` bytes of its text, folded where it holds no gold.
    fn render(&self, budget: usize) -> Markup {
        let chunk = self.chunk;
        let same = chunk.document == self.gold.document;
        let marks = if same { gold_in(&chunk.text, chunk.start, chunk.end, &self.gold.spans) } else { Vec::new() };
        let holds = chunk.gold_share > 0.0 || (!self.edited && !marks.is_empty());
        html! {
            details class=(if holds { "chunk holds" } else { "chunk" }) open=[holds.then_some("open")] {
                summary {
                    b { (chunk.rank) ". " }
                    span class="path" dir="auto" { (format::clipped(&self.name(), NAME)) }
                    span class="facts" { (self.facts(holds, same)) }
                }
                p class="where" {
                    code { (format::clipped(&chunk.document, NAME)) }
                    ", bytes " (format::count(chunk.start)) " to " (format::count(chunk.end))
                }
                p class="text" dir="auto" { (excerpt(&chunk.text, if holds { &marks } else { &[] }, budget)) }
            }
        }
    }

    /// The headings above the chunk; without any, its first words say best what it is about.
    fn name(&self) -> String {
        let headings = self.chunk.heading_path.iter().map(|h| h.trim()).filter(|h| self.in_full && !h.is_empty());
        let path = headings.collect::<Vec<_>>().join(" › ");
        if !path.is_empty() {
            return path;
        }
        let opening = self.chunk.text.split_whitespace().take(12).collect::<Vec<_>>().join(" ");
        format!("“{}”", format::clipped(&opening, 60))
    }

    fn facts(&self, holds: bool, same: bool) -> String {
        let mut facts = vec![format::plural(self.chunk.tokens, "token")];
        if self.in_full {
            facts.push(format!("score {}", format::decimal(self.chunk.score, 3)));
        }
        facts.push(match (holds && self.chunk.gold_share.is_finite(), same) {
            (true, _) => format!("{} of the gold", format::percent(self.chunk.gold_share)),
            (false, false) => "another document".to_owned(),
            (false, true) => "no gold".to_owned(),
        });
        facts.join(" · ")
    }
}

/// Retrieved chunks as a list, and how many more there were.
pub(crate) fn passages<'a>(passages: impl Iterator<Item = Passage<'a>>, more: usize, budget: usize) -> Markup {
    let mut passages = passages.peekable();
    html! {
        @if passages.peek().is_none() { p class="note" { "Nothing was retrieved." } }
        ol class="chunks" { @for passage in passages { li { (passage.render(budget)) } } }
        @if more > 0 { p class="note" { (format::count(more)) " more below these." } }
    }
}
