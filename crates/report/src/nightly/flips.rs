//! The questions behind the differences, with both nights' chunks side by side.

use maud::{Markup, html};
use pericope_eval::format;
use pericope_eval::record::Gold;
use pericope_nightly::PageParts;
use pericope_nightly::compare::{DiffSide, QuestionDiff, QuestionDiffs};

use crate::kit::passage::{Passage, gold_answer, passages};
use crate::kit::section as wrap;

/// Bytes of one chunk's text at most, and what all of them together may take.
const CHUNK: usize = 1_200;
const ALL_CHUNKS: usize = 500_000;
/// Fewer bytes than this say nothing.
const LEAST: usize = 160;
const GOLD: usize = 1_200;
/// Characters of a question.
const QUESTION: usize = 600;

pub(super) fn section(parts: &PageParts<'_>) -> Markup {
    let (groups, tonight) = (&parts.conclusion.flips, parts.conclusion.night.number);
    let sides = groups.iter().flat_map(|g| &g.questions).flat_map(|f| [&f.side_before, &f.side_tonight]);
    let shown: usize = sides.flatten().map(|side| side.retrieved.len()).sum();
    let budget = (ALL_CHUNKS / shown.max(1)).clamp(LEAST, CHUNK);
    let body = html! {
        @if groups.is_empty() {
            p { (nothing(parts)) }
        } @else {
            p class="prose" {
                "What both nights retrieved, side by side. The gold answer is " mark { "marked" }
                " in the chunks that hold it; chunks without any of it are folded."
            }
            @for (i, group) in groups.iter().enumerate() { (one_group(tonight, group, i == 0, budget)) }
        }
    };
    wrap("questions", "Questions that fared differently", body)
}

/// Why no question is shown: scores that were compared with none have not stayed the same.
fn nothing(parts: &PageParts<'_>) -> &'static str {
    let conclusion = parts.conclusion;
    let compared = conclusion.compared > 0 && conclusion.reference.as_ref().is_some_and(|night| night.comparable);
    if compared {
        "No question’s score moved in what the gates look at."
    } else {
        "No good night has scores of these questions to compare with."
    }
}

fn one_group(tonight: u32, group: &QuestionDiffs, first: bool, budget: usize) -> Markup {
    html! {
        h3 { (group.metric.title()) " of " (group.cell.words()) ", since night " (group.against) }
        p class="note" {
            (format::plural(group.fell, "question")) " fell by at least half the scale, " (format::count(group.rose))
            " rose as much; here are the " (format::count(group.questions.len())) " that moved most."
        }
        @for (i, flip) in group.questions.iter().enumerate() {
            (question(tonight, group, flip, first && i == 0, budget))
        }
    }
}

fn question(tonight: u32, group: &QuestionDiffs, flip: &QuestionDiff, open: bool, budget: usize) -> Markup {
    let unit = group.metric.unit();
    let (before, now) = (unit.value(flip.before), unit.value(flip.tonight));
    html! {
        details class="question" open=[open.then_some("open")] {
            summary {
                span class="asked" dir="auto" { (format::clipped(&flip.question, QUESTION)) }
                span class="chips" {
                    span class=(if flip.tonight < flip.before { "chip fell" } else { "chip rose" }) { (before) " → " (now) }
                    @if flip.document_changed { span class="chip" { "its document changed" } }
                }
            }
            @if let Some(gold) = &flip.gold {
                (gold_answer(gold, GOLD))
                div class="sides" {
                    (side(&format!("Night {}: {before}", group.against), flip.side_before.as_ref(), gold, budget))
                    (side(&format!("Night {tonight}: {now}"), flip.side_tonight.as_ref(), gold, budget))
                }
            } @else {
                p class="note" { "Neither night’s chunks are kept any more." }
            }
        }
        "\n"
    }
}

fn side(title: &str, side: Option<&DiffSide>, gold: &Gold, budget: usize) -> Markup {
    html! {
        section class="side" aria-label=(title) {
            h3 { (title) }
            @if let Some(side) = side {
                @let chunks = side.retrieved.iter().map(|chunk| Passage { chunk, gold, edited: true, in_full: false });
                (passages(chunks, side.more, budget))
            } @else {
                p class="note" { "This night’s chunks are not kept any more." }
            }
        }
    }
}
