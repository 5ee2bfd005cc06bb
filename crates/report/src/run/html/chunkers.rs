//! The chunkers: what each is, what its cutting amounts to, how large its chunks are.

use crate::kit::markup::Markup;
use crate::kit::svg::{self, SizeRow};
use crate::run::view::View;
use pericope_eval::format;

use crate::kit::section as wrap;
use crate::kit::table::{Head, Row, Value, table};

pub(super) fn section(m: &mut Markup, view: &View) {
    wrap(m, "chunkers", "Chunkers", |m| {
        let rows = &view.summary.chunkers;
        if rows.is_empty() {
            m.leaf("p", &[], "The run has no chunkers.");
            return;
        }
        let sized = rows.iter().any(|row| row.index_bytes.is_some());
        let mut heads = vec![
            Head::words("chunker"),
            Head::words("spec"),
            Head::number("limit, tokens"),
            Head::number("chunks"),
            Head::number("mean words"),
            Head::number("mean tokens"),
            Head::number("longest, tokens"),
            Head::number("segmenting"),
            Head::number("indexing"),
        ];
        if sized {
            heads.push(Head::number("index size"));
        }
        let body: Vec<Row> = rows
            .iter()
            .enumerate()
            .map(|(place, row)| {
                let limit = row.limit.map_or_else(|| "none".to_owned(), format::count);
                let mut values = vec![
                    Value::words(row.shown_spec()),
                    Value::number(limit, row.limit.map_or(f64::INFINITY, |limit| limit as f64)),
                    Value::number(format::count(row.chunks), row.chunks as f64),
                    Value::number(format::mean(row.mean_words), row.mean_words),
                    Value::number(format::mean(row.mean_tokens), row.mean_tokens),
                    Value::number(format::count(row.max_tokens), row.max_tokens as f64),
                    Value::number(format::seconds(row.segment_seconds), row.segment_seconds),
                    Value::number(format::seconds(row.index_seconds), row.index_seconds),
                ];
                if sized {
                    let size = row.index_bytes.map_or_else(|| format::ABSENT.to_owned(), format::bytes);
                    values.push(Value::number(size, row.index_bytes.map_or(f64::NAN, |b| b as f64)));
                }
                Row { head: row.name.clone(), place: Some(place), values, opens: false, data: Vec::new() }
            })
            .collect();
        table(m, "The chunkers and what their cutting amounts to", &heads, &body);
        let sizes: Vec<SizeRow> = rows
            .iter()
            .enumerate()
            .filter_map(|(place, row)| {
                Some(SizeRow {
                    name: &row.name,
                    place,
                    mean: row.mean_tokens,
                    longest: row.max_tokens,
                    limit: row.limit,
                    sizes: row.token_histogram.as_ref()?,
                })
            })
            .collect();
        m.element("div", &[("class", "charts wide")], |m| svg::histograms(m, &sizes));
    });
}
