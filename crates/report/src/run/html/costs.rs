//! What models were paid, and how far the judges can be relied on.

use maud::{Markup, html};
use pericope_eval::format;
use pericope_eval::record::Cost;

use crate::kit::{Head, Row, Value, section as wrap, table};
use crate::run::view::View;

pub(super) fn section(view: &View) -> Markup {
    let rows = rows(view);
    let agreement = view.summary.judges_agree.as_ref();
    if rows.is_empty() && agreement.is_none() {
        return html! {};
    }
    let mut heads = vec![Head::words("chunker"), Head::words("mode"), Head::words("setting")];
    let numbers = ["calls", "from the cache", "prompt tokens", "answer tokens", "price", "paid now"];
    heads.extend(numbers.map(Head::number));
    if has_spread(view) {
        heads.push(Head::number("judge’s spread").explained("The root of the mean variance of the votes on one item."));
    }
    let caption =
        "What was asked of models for answers and judgements; tokens and price include what came from the cache";
    let body = html! {
        @if let Some(agreement) = agreement {
            p class="prose" {
                "On " (format::plural(agreement.n, "item")) " judged by both, the model’s scores and the lexical judge’s have \
                 a Pearson correlation of " (format::decimal(agreement.pearson, 2)) " and a Spearman correlation of "
                (format::decimal(agreement.spearman, 2)) "."
            }
        }
        @if !rows.is_empty() { (table(caption, &heads, &rows)) }
    };
    wrap("costs", "Models: costs and judges", body)
}

fn has_spread(view: &View) -> bool {
    view.summary.cells.iter().any(|cell| cell.judge_spread.is_some())
}

/// A row a cell that cost anything, then their sum.
fn rows(view: &View) -> Vec<Row> {
    let spread = has_spread(view);
    let (mut total, mut rows, mut last) = (Cost::default(), Vec::new(), None);
    for cell in &view.summary.cells {
        let Some(cost) = cell.cost else { continue };
        total += cost;
        let mut values = vec![Value::words(&cell.mode), Value::words(cell.cutoff.label())];
        values.extend(figures(&cost));
        if spread {
            let x = cell.judge_spread.unwrap_or(f64::NAN);
            values.push(Value::number(format::decimal(x, 2), x));
        }
        let opens = last.replace(&cell.chunker) != Some(&cell.chunker);
        rows.push(Row::of(view.place(&cell.chunker), &cell.chunker, values).opens(opens));
    }
    if !rows.is_empty() {
        let mut values = vec![Value::words(""), Value::words("")];
        values.extend(figures(&total));
        values.extend(spread.then(|| Value::words("")));
        rows.push(Row::new("all", values).opens(true));
    }
    rows
}

fn figures(cost: &Cost) -> [Value; 6] {
    let count = |n: u64| Value::number(format::count(usize::try_from(n).unwrap_or(usize::MAX)), n as f64);
    [
        count(cost.calls),
        count(cost.cached),
        count(cost.prompt_tokens),
        count(cost.completion_tokens),
        Value::number(format::decimal(cost.price, 4), cost.price),
        Value::number(format::decimal(cost.paid, 4), cost.paid),
    ]
}
