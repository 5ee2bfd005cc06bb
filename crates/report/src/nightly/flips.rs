//! The questions behind the differences, with both nights' chunks side by side.

use super::Parts;
use crate::kit::excerpt;
use crate::kit::markup::Markup;
use crate::kit::section as wrap;
use pericope_eval::format;
use pericope_eval::metric::Metric;
use pericope_eval::record::{Gold, Retrieved};
use pericope_nightly::compare::{Flip, FlipGroup, FlipSide};

/// Bytes of one chunk's text at most, and what all of them together may take.
const CHUNK: usize = 1_200;
const ALL_CHUNKS: usize = 500_000;
/// Fewer bytes than this say nothing.
const LEAST: usize = 160;
const GOLD: usize = 1_200;
/// Characters of ids, headings and questions.
const NAME: usize = 100;
const QUESTION: usize = 600;

pub(super) fn section(m: &mut Markup, parts: &Parts<'_>) {
    wrap(m, "questions", "Questions that fared differently", |m| {
        let groups = &parts.conclusion.flips;
        if groups.is_empty() {
            m.leaf("p", &[], "No question’s score moved in what the gates look at.");
            return;
        }
        m.element("p", &[("class", "prose")], |m| {
            m.text("What both nights retrieved, side by side. The gold answer is ");
            m.leaf("mark", &[], "marked");
            m.text(" in the chunks that hold it; chunks without any of it are folded.");
        });
        let sides = groups.iter().flat_map(|g| &g.questions).flat_map(|f| [&f.side_before, &f.side_tonight]);
        let shown: usize = sides.flatten().map(|side| side.retrieved.len()).sum();
        let budget = (ALL_CHUNKS / shown.max(1)).clamp(LEAST, CHUNK);
        for (i, group) in groups.iter().enumerate() {
            one_group(m, parts.conclusion.night.number, group, i == 0, budget);
        }
    });
}

fn one_group(m: &mut Markup, tonight: u32, group: &FlipGroup, first: bool, budget: usize) {
    let metric = &group.metric;
    m.leaf("h3", &[], &format!("{} of {}, since night {}", metric.title(), group.cell.words(), group.against));
    let flipped = format!(
        "{} fell by at least half the scale, {} rose as much; here are the {} that moved most.",
        format::plural(group.fell, "question"),
        format::count(group.rose),
        format::count(group.questions.len())
    );
    m.leaf("p", &[("class", "note")], &flipped);
    for (i, flip) in group.questions.iter().enumerate() {
        question(m, tonight, group, &metric, flip, first && i == 0, budget);
    }
}

fn question(m: &mut Markup, tonight: u32, group: &FlipGroup, metric: &Metric, flip: &Flip, open: bool, budget: usize) {
    let mut attributes = vec![("class", "question")];
    if open {
        attributes.push(("open", "open"));
    }
    m.element("details", &attributes, |m| {
        m.element("summary", &[], |m| {
            m.leaf("span", &[("class", "asked"), ("dir", "auto")], &format::clipped(&flip.question, QUESTION));
            m.element("span", &[("class", "chips")], |m| {
                let moved = format!("{} → {}", metric.unit().value(flip.before), metric.unit().value(flip.tonight));
                let class = if flip.tonight < flip.before { "chip fell" } else { "chip rose" };
                m.leaf("span", &[("class", class)], &moved);
                if flip.document_changed {
                    m.leaf("span", &[("class", "chip")], "its document changed");
                }
            });
        });
        let Some(gold) = &flip.gold else {
            m.leaf("p", &[("class", "note")], "Neither night’s chunks are kept any more.");
            return;
        };
        m.element("div", &[("class", "gold")], |m| {
            m.element("p", &[("class", "where")], |m| {
                m.leaf("b", &[], "Gold answer");
                m.text(" in ");
                m.leaf("code", &[], &format::clipped(&gold.document, NAME));
            });
            m.element("p", &[("class", "text"), ("dir", "auto")], |m| excerpt::write(m, &gold.text, &[], GOLD));
        });
        m.element("div", &[("class", "sides")], |m| {
            let before = format!("Night {}: {}", group.against, metric.unit().value(flip.before));
            let now = format!("Night {tonight}: {}", metric.unit().value(flip.tonight));
            side(m, &before, flip.side_before.as_ref(), gold, budget);
            side(m, &now, flip.side_tonight.as_ref(), gold, budget);
        });
    });
    m.line();
}

fn side(m: &mut Markup, title: &str, side: Option<&FlipSide>, gold: &Gold, budget: usize) {
    m.element("section", &[("class", "side"), ("aria-label", title)], |m| {
        m.leaf("h3", &[], title);
        let Some(side) = side else {
            m.leaf("p", &[("class", "note")], "This night’s chunks are not kept any more.");
            return;
        };
        if side.retrieved.is_empty() {
            m.leaf("p", &[("class", "note")], "Nothing was retrieved.");
        }
        m.element("ol", &[("class", "chunks")], |m| {
            for chunk in &side.retrieved {
                m.element("li", &[], |m| retrieved(m, gold, chunk, budget));
            }
        });
        if side.more > 0 {
            m.leaf("p", &[("class", "note")], &format!("{} more below these.", format::count(side.more)));
        }
    });
}

fn retrieved(m: &mut Markup, gold: &Gold, chunk: &Retrieved, budget: usize) {
    let marks = if chunk.document == gold.document {
        excerpt::gold_in(&chunk.text, chunk.start, chunk.end, &gold.spans)
    } else {
        Vec::new()
    };
    // Between two nights the document may have been edited: the marks are then those of the night that was read last,
    // while the share is the night's own.
    let holds = chunk.gold_share > 0.0;
    let attributes: &[(&str, &str)] =
        if holds { &[("class", "chunk holds"), ("open", "open")] } else { &[("class", "chunk")] };
    m.element("details", attributes, |m| {
        m.element("summary", &[], |m| {
            let opening = chunk.text.split_whitespace().take(12).collect::<Vec<_>>().join(" ");
            m.leaf("b", &[], &format!("{}. ", chunk.rank));
            m.leaf("span", &[("class", "path"), ("dir", "auto")], &format!("“{}”", format::clipped(&opening, 60)));
            let mut facts = vec![format::plural(chunk.tokens, "token")];
            if holds {
                facts.push(format!("{} of the gold", format::percent(chunk.gold_share)));
            } else if chunk.document != gold.document {
                facts.push("another document".to_owned());
            } else {
                facts.push("no gold".to_owned());
            }
            m.leaf("span", &[("class", "facts")], &facts.join(" · "));
        });
        m.element("p", &[("class", "where")], |m| {
            m.leaf("code", &[], &format::clipped(&chunk.document, NAME));
            m.text(&format!(", bytes {} to {}", format::count(chunk.start), format::count(chunk.end)));
        });
        let marks = if holds { marks.as_slice() } else { &[] };
        m.element("p", &[("class", "text"), ("dir", "auto")], |m| excerpt::write(m, &chunk.text, marks, budget));
    });
}
