//! What items cost and took.

use crate::cell::Setting;
use crate::record::{Cell, ChunkerRow, Item, Status};

/// The root of the mean variance of an item's votes.
fn judge_spread(items: &[&Item]) -> Option<f64> {
    let votes = items.iter().filter_map(|item| Some(&item.judgement.as_ref()?.votes)).filter(|votes| votes.len() > 1);
    let variances: Vec<f64> = votes
        .map(|votes| {
            let mean = votes.iter().sum::<f64>() / votes.len() as f64;
            votes.iter().map(|vote| (vote - mean).powi(2)).sum::<f64>() / (votes.len() - 1) as f64
        })
        .collect();
    (!variances.is_empty()).then(|| (variances.iter().sum::<f64>() / variances.len() as f64).sqrt())
}

/// A cell without its means, which need the items of all chunkers.
pub(super) fn cell(row: &ChunkerRow, setting: Setting, items: &[&Item]) -> Cell {
    let done: Vec<&&Item> = items.iter().filter(|i| i.status == Status::Ok).collect();
    // Items of an earlier session come out of a file, which may say anything.
    let tokens: f64 = done.iter().map(|i| i.context_tokens as f64).sum();
    Cell {
        chunker: row.name.clone(),
        cutoff: setting.cutoff,
        context_tokens: if done.is_empty() { 0.0 } else { tokens / done.len() as f64 },
        failed: items.len() - done.len(),
        query_p50_ms: row.query_times.get(&setting.mode).and_then(|t| t.p50_ms),
        query_p95_ms: row.query_times.get(&setting.mode).and_then(|t| t.p95_ms),
        answer_seconds: (row.answer_times.iter())
            .find(|time| time.mode == setting.mode && time.cutoff == setting.cutoff)
            .map(|time| time.seconds),
        cost: items.iter().filter_map(|item| item.cost).reduce(|mut sum, cost| {
            sum += cost;
            sum
        }),
        judge_spread: judge_spread(items),
        mode: setting.mode,
        ..Cell::default()
    }
}
