//! What models were paid, and how far the judges can be relied on.

use crate::kit::markup::Markup;
use crate::run::view::View;
use pericope_eval::format;
use pericope_eval::record::Cost;

use crate::kit::section as wrap;
use crate::kit::table::{Head, Row, Value, table};

pub(super) fn section(m: &mut Markup, view: &View) {
    let paid = view.summary.cells.iter().any(|cell| cell.cost.is_some());
    if !paid && view.summary.judges_agree.is_none() {
        return;
    }
    wrap(m, "costs", "Models: costs and judges", |m| {
        if let Some(agreement) = &view.summary.judges_agree {
            let text = format!(
                "On {} judged by both, the model’s scores and the lexical judge’s have a Pearson correlation of {} and a \
                 Spearman correlation of {}.",
                format::plural(agreement.n, "item"),
                format::decimal(agreement.pearson, 2),
                format::decimal(agreement.spearman, 2)
            );
            m.leaf("p", &[("class", "prose")], &text);
        }
        let spread = view.summary.cells.iter().any(|cell| cell.judge_spread.is_some());
        let mut heads = vec![
            Head::words("chunker"),
            Head::words("mode"),
            Head::words("setting"),
            Head::number("calls"),
            Head::number("from the cache"),
            Head::number("prompt tokens"),
            Head::number("answer tokens"),
            Head::number("price"),
            Head::number("paid now"),
        ];
        if spread {
            heads.push(
                Head::number("judge’s spread").explained("The root of the mean variance of the votes on one item."),
            );
        }
        let mut total = Cost::default();
        let mut rows: Vec<Row> = Vec::new();
        for cell in &view.summary.cells {
            let Some(cost) = cell.cost else { continue };
            total += cost;
            let opens = rows.last().is_none_or(|row| row.head != cell.chunker);
            let mut values = vec![Value::words(&cell.mode), Value::words(cell.cutoff.label())];
            values.extend(figures(&cost));
            if spread {
                let x = cell.judge_spread.unwrap_or(f64::NAN);
                values.push(Value::number(format::decimal(x, 2), x));
            }
            rows.push(Row {
                head: cell.chunker.clone(),
                place: Some(view.place(&cell.chunker)),
                values,
                opens,
                data: Vec::new(),
            });
        }
        if rows.is_empty() {
            return;
        }
        let mut values = vec![Value::words(""), Value::words("")];
        values.extend(figures(&total));
        if spread {
            values.push(Value::words(""));
        }
        rows.push(Row { head: "all".into(), place: None, values, opens: true, data: Vec::new() });
        let caption =
            "What was asked of models for answers and judgements; tokens and price include what came from the cache";
        table(m, caption, &heads, &rows);
    });
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
