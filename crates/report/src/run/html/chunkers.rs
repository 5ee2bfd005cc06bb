//! The chunkers: what each is, what its cutting amounts to, how large its chunks are.

use maud::{Markup, html};
use pericope_eval::format;
use pericope_eval::record::ChunkerRow;

use crate::kit::svg::{SizeRow, histograms};
use crate::kit::{Head, Row, Value, section as wrap, table};
use crate::run::passages;
use crate::run::view::View;

pub(super) fn section(view: &View) -> Markup {
    let rows = &view.summary.chunkers;
    let sized = rows.iter().any(|row| row.index_bytes.is_some());
    let mut heads = vec![Head::words("chunker"), Head::words("spec")];
    let numbers = ["limit, tokens", "chunks", "mean words", "mean tokens", "longest, tokens", "segmenting", "indexing"];
    heads.extend(numbers.iter().copied().chain(sized.then_some("index size")).map(Head::number));
    let retrievers = passages::any(rows);
    let of_retrievers = passages::HEADS.iter().filter(|_| retrievers);
    heads.extend(of_retrievers.map(|(name, meaning)| Head::number(name).explained(meaning)));
    let body: Vec<Row> = (rows.iter().enumerate())
        .map(|(place, row)| {
            let mut values = values(row, sized);
            let figures = passages::figures(row).into_iter().filter(|_| retrievers);
            values.extend(figures.map(|(shown, key)| Value::number(shown, key)));
            Row::of(place, &row.name, values)
        })
        .collect();
    let sizes: Vec<SizeRow> = (rows.iter().enumerate())
        .filter_map(|(place, row)| {
            let sizes = row.token_histogram.as_ref()?;
            let (mean, longest, limit) = (row.mean_tokens, row.max_tokens, row.limit);
            Some(SizeRow { name: &row.name, place, mean, longest, limit, sizes })
        })
        .collect();
    let body = html! {
        @if rows.is_empty() {
            p { "The run has no chunkers." }
        } @else {
            (table("The chunkers and what their cutting amounts to", &heads, &body))
            div class="charts wide" { (histograms(&sizes)) }
        }
    };
    wrap("chunkers", "Chunkers", body)
}

fn values(row: &ChunkerRow, sized: bool) -> Vec<Value> {
    let limit = row.limit.map_or_else(|| "none".to_owned(), format::count);
    let (segmenting, indexing) =
        (passages::seconds(row, row.segment_seconds), passages::seconds(row, row.index_seconds));
    let mut values = vec![
        Value::words(row.shown_spec()),
        Value::number(limit, row.limit.map_or(f64::INFINITY, |limit| limit as f64)),
        Value::number(format::count(row.chunks), row.chunks as f64),
        Value::number(format::mean(row.mean_words), row.mean_words),
        Value::number(format::mean(row.mean_tokens), row.mean_tokens),
        Value::number(format::count(row.max_tokens), row.max_tokens as f64),
        Value::number(format::seconds(segmenting), segmenting),
        Value::number(format::seconds(indexing), indexing),
    ];
    if sized {
        let size = row.index_bytes.map_or_else(|| format::ABSENT.to_owned(), format::bytes);
        values.push(Value::number(size, row.index_bytes.map_or(f64::NAN, |b| b as f64)));
    }
    values
}
