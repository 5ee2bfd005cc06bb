//! The chunkers' answers against the baseline's, pair by pair.

use maud::{Markup, html};
use pericope_eval::format;
use pericope_eval::record::{JudgeIdentity, PairwiseRow};

use crate::kit::{Head, Row, Value, section as wrap, table};
use crate::run::view::View;

pub(super) fn section(view: &View) -> Markup {
    let rows = &view.summary.pairwise;
    if rows.is_empty() {
        return html! {};
    }
    let heads = [
        Head::words("chunker"),
        Head::words("against"),
        Head::words("mode"),
        Head::words("setting"),
        Head::number("win rate, %"),
        Head::number("95 % interval"),
        Head::number("win/tie/loss"),
        Head::number("changed with the order, %"),
        Head::number("failed"),
    ];
    let mut last = None;
    let body: Vec<Row> = rows
        .iter()
        .map(|row| {
            let opens = last.replace(&row.chunker) != Some(&row.chunker);
            Row::of(view.place(&row.chunker), &row.chunker, values(row)).opens(opens)
        })
        .collect();
    let judge = view.summary.judges.get(JudgeIdentity::PAIRWISE).map(ToString::to_string);
    let body = html! {
        p class="prose" {
            "A model compared each chunker’s answers with the baseline’s, in both orders"
            @if let Some(judge) = judge { " (" (judge) ")" }
            ". A verdict that changed with the order is a tie. A win rate of 50 % means that neither is better; ties count half. "
            "The interval draws documents."
        }
        (table("Answers compared pair by pair", &heads, &body))
    };
    wrap("pairwise", "Answers, pair by pair", body)
}

fn values(row: &PairwiseRow) -> Vec<Value> {
    let percent = |x: f64| format::decimal(100.0 * x, 1);
    let bias = row.position_bias().unwrap_or(f64::NAN);
    vec![
        Value::words(&row.baseline),
        Value::words(&row.mode),
        Value::words(row.cutoff.label()),
        Value::number(percent(row.win_rate), row.win_rate),
        Value::number(format!("{} to {}", percent(row.low), percent(row.high)), row.low),
        Value::number(format!("{}/{}/{}", row.wins, row.ties, row.losses), row.wins as f64),
        Value::number(percent(bias), bias),
        Value::number(format::count(row.failed), row.failed as f64),
    ]
}
