//! Scores as fixed-point logits.

use pericope_api::{Boundaries, Document, Kind};

use crate::packing::{parts_heading, parts_lead_in};

/// Steps a logit unit.
const SCALE: f64 = (1u64 << 20) as f64;
const CLIP: f64 = 1e-6;

/// Score of a segmenter's hard decision.
const SURE: f64 = 0.95;
const BEFORE_HEADING: f64 = 0.3;
const PARAGRAPH_END: f64 = 0.1;
const SENTENCE_END: f64 = 0.01;
const INSIDE_UNIT: f64 = 1e-7;
const AFTER_HEADING: f64 = 1e-8;
/// What a forced cut between a lead-in and what it leads to costs on top, in logits: less than one more cut at a paragraph's end,
/// more than one more before a heading.
const AFTER_LEAD_IN: f64 = 2.0;

fn logit(p: f64) -> f64 {
    (p / (1.0 - p)).ln()
}

/// Logit units in fixed point.
pub(super) fn fixed(logits: f64) -> i64 {
    (logits * SCALE).round() as i64
}

/// What a cut at a gap of this score earns: positive exactly where `score > threshold`.
fn weight(score: f64, threshold: f64) -> i64 {
    let clipped = |p: f64| if p.is_nan() { CLIP } else { p.clamp(CLIP, 1.0 - CLIP) };
    let earned = fixed(logit(clipped(score)) - logit(clipped(threshold)));
    if score > threshold { earned.max(1) } else { earned.min(0) }
}

/// A cut between pieces of one unit.
pub(super) fn inside_unit() -> i64 {
    fixed(logit(INSIDE_UNIT))
}

/// A cut where the segmenter decided to cut.
pub(super) fn sure() -> i64 {
    weight(SURE, 0.5)
}

fn after_heading() -> i64 {
    fixed(logit(AFTER_HEADING))
}

/// Weights of the gaps after each sentence but the last, from scores.
pub(super) fn from_scores(document: &Document, scores: &[f64], threshold: f64) -> Vec<i64> {
    let mut gaps: Vec<i64> = scores.iter().map(|&score| weight(score, threshold)).collect();
    keep_headings(document, &mut gaps);
    keep_lead_ins(document, &mut gaps);
    gaps
}

/// The same from decisions.
pub(super) fn from_boundaries(document: &Document, boundaries: &Boundaries) -> Vec<i64> {
    let mut gaps: Vec<i64> = (1..document.len()).map(|i| prior(document, i - 1)).collect();
    for &boundary in boundaries.after() {
        if let Some(gap) = gaps.get_mut(boundary - 1) {
            *gap = sure();
        }
    }
    keep_headings(document, &mut gaps);
    gaps
}

/// What a forced cut after sentence `i` costs where no score says where to cut.
pub(super) fn prior(document: &Document, i: usize) -> i64 {
    if parts_heading(document, i) {
        return after_heading();
    }
    let score = match (document.sentences.get(i), document.sentences.get(i + 1)) {
        (Some(_), Some(next)) if matches!(next.kind, Kind::Heading(_)) => BEFORE_HEADING,
        (Some(this), Some(next)) if this.paragraph != next.paragraph => PARAGRAPH_END,
        _ => SENTENCE_END,
    };
    weight(score, 0.5) - after_lead_in(document, i)
}

/// What a cut after sentence `i` costs on top because it follows a lead-in.
fn after_lead_in(document: &Document, i: usize) -> i64 {
    if parts_lead_in(document, i) { fixed(AFTER_LEAD_IN) } else { 0 }
}

/// Makes a forced cut between a lead-in and what it leads to dearer; what the segmenter decided stands.
fn keep_lead_ins(document: &Document, gaps: &mut [i64]) {
    for (i, gap) in gaps.iter_mut().enumerate() {
        if *gap <= 0 {
            *gap -= after_lead_in(document, i);
        }
    }
}

/// Moves what speaks for a cut between a heading and its body to the gap before the heading.
fn keep_headings(document: &Document, gaps: &mut [i64]) {
    for i in (0..gaps.len()).rev() {
        if parts_heading(document, i) {
            if let Some(before) = i.checked_sub(1) {
                gaps[before] = gaps[before].max(gaps[i]);
            }
            gaps[i] = after_heading();
        }
    }
}
