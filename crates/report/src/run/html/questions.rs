//! The questions on which the chunkers differ most, with what each of them retrieved side by side.

use maud::{Markup, html};
use pericope_eval::format;
use pericope_eval::metric::Metric;

use crate::kit::excerpt::excerpt;
use crate::kit::passage::{Passage, gold_answer, passages};
use crate::kit::{section as wrap, svg};
use crate::run::report::{Contrast, Report, Side};
use crate::run::view::View;

/// Bytes of one chunk's text at most, and what all of them together may take.
const CHUNK: usize = 1_200;
const ALL_CHUNKS: usize = 600_000;
/// Fewer bytes than this say nothing.
const LEAST: usize = 160;
const GOLD: usize = 1_600;
const ANSWER: usize = 800;
/// Characters of a question: enough for any that is sound.
const QUESTION: usize = 600;

pub(super) fn section(report: &Report, view: &View) -> Markup {
    let body = html! {
        @if report.items.is_some() {
            p { a href="items.html" { "All questions and answers, item by item" } }
        }
        @match &view.metric {
            Some(metric) if !report.contrasts.is_empty() => (contrasts(report, view, metric)),
            _ if report.summary.chunkers.len() < 2 => p { "With one chunker there is nothing to set side by side." },
            _ => p { "There is no question on which the chunkers score differently." },
        }
    };
    wrap("questions", "Where the chunkers differ most", body)
}

fn contrasts(report: &Report, view: &View, metric: &Metric) -> Markup {
    let shown: usize = report.contrasts.iter().flat_map(|c| &c.sides).map(|side| side.retrieved.len()).sum();
    let budget = (ALL_CHUNKS / shown.max(1)).clamp(LEAST, CHUNK);
    html! {
        p class="prose" {
            @if let Some(setting) = &view.setting { (setting.cutoff.at()) ", " (setting.mode) }
            ": the " (format::plural(report.contrasts.len(), "question")) " with the widest range of " (metric.label())
            ". The gold answer is " mark { "marked" }
            " in the chunks that hold it; chunks without any of it are folded. Extremes show what can happen, not what \
             usually does."
        }
        @for (i, contrast) in report.contrasts.iter().enumerate() { (question(view, metric, contrast, i == 0, budget)) }
    }
}

fn question(view: &View, metric: &Metric, contrast: &Contrast, open: bool, budget: usize) -> Markup {
    html! {
        details class="question" open=[open.then_some("open")] {
            summary {
                span class="asked" dir="auto" { (format::clipped(&contrast.question, QUESTION)) }
                span class="chips" {
                    @for side in &contrast.sides {
                        @let place = view.place(&side.chunker);
                        span class={ "chip " (svg::class(place, "")) } {
                            (svg::badge(place)) (side.chunker) " " (score(side, metric))
                        }
                    }
                }
            }
            (gold_answer(&contrast.gold, GOLD))
            div class="sides" { @for one in &contrast.sides { (side(view, metric, contrast, one, budget)) } }
            @if contrast.left_out > 0 {
                p class="note" { (format::plural(contrast.left_out, "chunker")) " with scores between these left out." }
            }
        }
        "\n"
    }
}

fn score(side: &Side, metric: &Metric) -> String {
    match side.metrics.get(metric) {
        _ if side.error.is_some() => "failed".to_owned(),
        Some(x) => metric.unit().value(*x),
        None => format::ABSENT.to_owned(),
    }
}

fn side(view: &View, metric: &Metric, contrast: &Contrast, side: &Side, budget: usize) -> Markup {
    let place = view.place(&side.chunker);
    let answer = side.answer.as_ref().filter(|answer| !answer.text.trim().is_empty());
    let gold = &contrast.gold;
    let chunks = side.retrieved.iter().map(|chunk| Passage { chunk, gold, edited: false, in_full: true });
    html! {
        section class={ "side " (svg::class(place, "")) } aria-label=(side.chunker) {
            h3 { (svg::badge(place)) (side.chunker) }
            p class="scores" { (scores(view, metric, side)) }
            @if let Some(error) = &side.error { p class="error" { "Failed: " (format::clipped(error, 400)) } }
            @if let Some(answer) = answer {
                details class="answer" {
                    summary { "Answer given" }
                    p class="text" dir="auto" { (excerpt(&answer.text, &[], ANSWER)) }
                }
            }
            (passages(chunks, side.more, budget))
        }
    }
}

/// The other scores in one line: `IoU 41.2 % · nDCG 63.1 % · 412 tokens`.
fn scores(view: &View, metric: &Metric, side: &Side) -> String {
    let chief = format!("{} {}", metric.label(), score(side, metric));
    let told = [Metric::IOU, Metric::NDCG, Metric::JUDGE, Metric::TOKEN_F1];
    let others = (view.metrics.iter().filter(|other| *other != metric && told.contains(other)))
        .filter_map(|other| Some(format!("{} {}", other.label(), other.unit().value(*side.metrics.get(other)?))));
    let tokens = format!("{} read", format::plural(side.context_tokens, "token"));
    std::iter::once(chief).chain(others).chain([tokens]).collect::<Vec<_>>().join(" · ")
}
