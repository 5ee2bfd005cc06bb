//! The questions on which the chunkers differ most, with what each of them retrieved side by side.

use crate::kit::markup::Markup;
use crate::kit::{excerpt, svg};
use crate::run::Report;
use crate::run::reduce::{Contrast, Side};
use crate::run::view::View;
use pericope_eval::format;
use pericope_eval::metric::Metric;
use pericope_eval::record::Retrieved;

use super::top;
use crate::kit::section as wrap;

/// Bytes of one chunk's text at most, and what all of them together may take.
const CHUNK: usize = 1_200;
const ALL_CHUNKS: usize = 600_000;
/// Fewer bytes than this say nothing.
const LEAST: usize = 160;
const GOLD: usize = 1_600;
const ANSWER: usize = 800;
/// Characters of ids, headings and questions: enough for any that is sound.
const NAME: usize = 100;
const QUESTION: usize = 600;

pub(super) fn section(m: &mut Markup, report: &Report, view: &View) {
    wrap(m, "questions", "Where the chunkers differ most", |m| {
        if report.items.is_some() {
            m.element("p", &[], |m| m.leaf("a", &[("href", "items.html")], "All questions and answers, item by item"));
        }
        let (Some(metric), false) = (&view.metric, report.contrasts.is_empty()) else {
            let why = if report.summary.chunkers.len() < 2 {
                "With one chunker there is nothing to set side by side."
            } else {
                "There is no question on which the chunkers score differently."
            };
            m.leaf("p", &[], why);
            return;
        };
        let intro = format!(
            "{}: the {} with the widest range of {}. The gold answer is ",
            top::place(view),
            format::plural(report.contrasts.len(), "question"),
            metric.label()
        );
        m.element("p", &[("class", "prose")], |m| {
            m.text(&intro);
            m.leaf("mark", &[], "marked");
            m.text(" in the chunks that hold it; chunks without any of it are folded. Extremes show what can happen, not what usually does.");
        });
        let shown: usize = report.contrasts.iter().flat_map(|c| &c.sides).map(|side| side.retrieved.len()).sum();
        let budget = (ALL_CHUNKS / shown.max(1)).clamp(LEAST, CHUNK);
        for (i, contrast) in report.contrasts.iter().enumerate() {
            question(m, view, metric, contrast, i, budget);
        }
    });
}

fn question(m: &mut Markup, view: &View, metric: &Metric, contrast: &Contrast, i: usize, budget: usize) {
    let mut attributes = vec![("class", "question")];
    if i == 0 {
        attributes.push(("open", "open"));
    }
    m.element("details", &attributes, |m| {
        m.element("summary", &[], |m| {
            m.leaf("span", &[("class", "asked"), ("dir", "auto")], &format::clipped(&contrast.question, QUESTION));
            m.element("span", &[("class", "chips")], |m| {
                for side in &contrast.sides {
                    let class = format!("chip {}", svg_class(view, &side.chunker));
                    m.element("span", &[("class", class.as_str())], |m| {
                        svg::badge(m, view.place(&side.chunker));
                        m.text(&format!("{} {}", side.chunker, score(side, metric)));
                    });
                }
            });
        });
        m.element("div", &[("class", "gold")], |m| {
            m.element("p", &[("class", "where")], |m| {
                m.leaf("b", &[], "Gold answer");
                m.text(" in ");
                m.leaf("code", &[], &format::clipped(&contrast.gold.document, NAME));
            });
            m.element("p", &[("class", "text"), ("dir", "auto")], |m| {
                excerpt::write(m, &contrast.gold.text, &[], GOLD)
            });
        });
        m.element("div", &[("class", "sides")], |m| {
            for side in &contrast.sides {
                one_side(m, view, metric, contrast, side, budget);
            }
        });
        if contrast.left_out > 0 {
            let what = format!("{} with scores between these left out.", format::plural(contrast.left_out, "chunker"));
            m.leaf("p", &[("class", "note")], &what);
        }
    });
    m.line();
}

fn svg_class(view: &View, chunker: &str) -> String {
    format!("s{}", view.place(chunker) % svg::COLOURS)
}

fn score(side: &Side, metric: &Metric) -> String {
    match side.metrics.get(metric) {
        Some(x) if side.error.is_none() => metric.unit().value(*x),
        _ if side.error.is_some() => "failed".to_owned(),
        _ => format::ABSENT.to_owned(),
    }
}

fn one_side(m: &mut Markup, view: &View, metric: &Metric, contrast: &Contrast, side: &Side, budget: usize) {
    let class = format!("side {}", svg_class(view, &side.chunker));
    m.element("section", &[("class", class.as_str()), ("aria-label", &side.chunker)], |m| {
        m.element("h3", &[], |m| {
            svg::badge(m, view.place(&side.chunker));
            m.text(&side.chunker);
        });
        m.leaf("p", &[("class", "scores")], &scores(view, metric, side));
        if let Some(error) = &side.error {
            m.leaf("p", &[("class", "error")], &format!("Failed: {}", format::clipped(error, 400)));
        }
        if let Some(answer) = side.answer.as_ref().filter(|answer| !answer.text.trim().is_empty()) {
            m.element("details", &[("class", "answer")], |m| {
                m.leaf("summary", &[], "Answer given");
                m.element("p", &[("class", "text"), ("dir", "auto")], |m| excerpt::write(m, &answer.text, &[], ANSWER));
            });
        }
        if side.retrieved.is_empty() {
            m.leaf("p", &[("class", "note")], "Nothing was retrieved.");
        }
        m.element("ol", &[("class", "chunks")], |m| {
            for chunk in &side.retrieved {
                m.element("li", &[], |m| retrieved(m, contrast, chunk, budget));
            }
        });
        if side.more > 0 {
            m.leaf("p", &[("class", "note")], &format!("{} more below these.", format::count(side.more)));
        }
    });
}

/// The other scores in one line: `IoU 41.2 % · nDCG 63.1 % · 412 tokens`.
fn scores(view: &View, metric: &Metric, side: &Side) -> String {
    let chief = format!("{} {}", metric.label(), score(side, metric));
    let others = view
        .metrics
        .iter()
        .filter(|other| *other != metric && ["iou", "ndcg", "judge", "token_f1"].contains(&other.key()))
        .filter_map(|other| {
            Some(format!("{} {}", other.label(), other.unit().value(*side.metrics.get::<Metric>(other)?)))
        });
    let tokens = format!("{} read", format::plural(side.context_tokens, "token"));
    std::iter::once(chief).chain(others).chain([tokens]).collect::<Vec<_>>().join(" · ")
}

fn retrieved(m: &mut Markup, contrast: &Contrast, chunk: &Retrieved, budget: usize) {
    let marks = if chunk.document == contrast.gold.document {
        excerpt::gold_in(&chunk.text, chunk.start, chunk.end, &contrast.gold.spans)
    } else {
        Vec::new()
    };
    let holds = !marks.is_empty() || chunk.gold_share > 0.0;
    let attributes: &[(&str, &str)] =
        if holds { &[("class", "chunk holds"), ("open", "open")] } else { &[("class", "chunk")] };
    m.element("details", attributes, |m| {
        m.element("summary", &[], |m| {
            let path =
                chunk.heading_path.iter().map(|h| h.trim()).filter(|h| !h.is_empty()).collect::<Vec<_>>().join(" › ");
            m.leaf("b", &[], &format!("{}. ", chunk.rank));
            // Without a heading, the first words say best what the chunk is about.
            let opening = || chunk.text.split_whitespace().take(12).collect::<Vec<_>>().join(" ");
            let name = if path.is_empty() { format!("“{}”", format::clipped(&opening(), 60)) } else { path };
            m.leaf("span", &[("class", "path"), ("dir", "auto")], &format::clipped(&name, NAME));
            let mut facts =
                vec![format::plural(chunk.tokens, "token"), format!("score {}", format::decimal(chunk.score, 3))];
            if holds && chunk.gold_share.is_finite() {
                facts.push(format!("{} of the gold", format::percent(chunk.gold_share)));
            } else if chunk.document != contrast.gold.document {
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
        m.element("p", &[("class", "text"), ("dir", "auto")], |m| excerpt::write(m, &chunk.text, &marks, budget));
    });
}
