//! `pericope search`

use std::path::Path;

use pericope_api::Span;
use pericope_index::{Hit, IndexReader, Mode, Query};
use serde::Serialize;

use crate::args::SearchArgs;
use crate::commands::print_json;
use crate::resources::embedder;
use crate::status::{Failure, Outcome, Status};
use crate::style;

#[derive(Serialize)]
struct Answer<'a> {
    query: &'a str,
    mode: Mode,
    hits: Vec<JsonHit<'a>>,
}

#[derive(Serialize)]
struct JsonHit<'a> {
    rank: usize,
    score: f64,
    document: &'a str,
    start: usize,
    end: usize,
    heading_path: &'a [String],
    text: &'a str,
    title: Option<&'a str>,
    tokens: usize,
}

/// Runs the command.
pub fn run(args: SearchArgs) -> Outcome {
    if args.index.starts_with("qdrant://") {
        return Err(Failure::usage("Qdrant servers cannot be searched yet: name the folder of an embedded index"));
    }
    if args.query.trim().is_empty() {
        return Err(Failure::usage("the query is empty"));
    }
    let mut reader = IndexReader::open(Path::new(&args.index)).map_err(Failure::usage)?;
    let embedded_by = reader.meta().embedder.as_ref().map(|e| e.name.clone());
    let mode: Mode = match (&args.mode, &embedded_by) {
        (Some(mode), _) => mode.parse().map_err(|e: String| Failure::usage(format!("--mode: {e}")))?,
        (None, Some(_)) => Mode::Hybrid,
        (None, None) => Mode::Bm25,
    };
    if let (Some(name), true) = (&embedded_by, mode != Mode::Bm25)
        && let Some(encoder) = embedder(name)?
    {
        reader = reader.with_encoder(encoder).map_err(Failure::usage)?;
    }
    let hits = reader.search(&Query::new(&args.query, mode, args.k)).map_err(|e| match e {
        pericope_index::IndexError::NoVectors { .. } | pericope_index::IndexError::NoEncoder { .. } => {
            Failure::usage(e)
        }
        other => Failure::runtime(other),
    })?;
    if args.json {
        return print_json(&Answer { query: &args.query, mode, hits: hits.iter().map(json).collect() });
    }
    if hits.is_empty() {
        say!("nothing found in {} ({} chunks, {mode})", args.index, reader.chunks());
    }
    for hit in &hits {
        show(hit)?;
    }
    Ok(Status::Done)
}

fn json(hit: &Hit) -> JsonHit<'_> {
    JsonHit {
        rank: hit.rank,
        score: hit.score,
        document: &hit.document,
        start: hit.start,
        end: hit.end,
        heading_path: &hit.heading_path,
        text: &hit.text,
        title: hit.title.as_deref(),
        tokens: hit.tokens,
    }
}

/// Place, heading path and the snippet with the query's words marked.
fn show(hit: &Hit) -> std::io::Result<()> {
    let (bold, soft, mark, plain) = (style("1"), style("2"), style("1;33"), style("0"));
    let path = hit.heading_path.join(" › ");
    say!(
        "{bold}{}. {}{plain} {soft}bytes {}–{} · {} tokens · score {:.3}{plain}",
        hit.rank,
        hit.document,
        hit.start,
        hit.end,
        hit.tokens,
        hit.score
    );
    if !path.is_empty() {
        say!("   {soft}{path}{plain}");
    }
    let mut line = String::new();
    let mut at = hit.snippet.start;
    for found in hit.highlights.iter().filter(|h| hit.snippet.contains(h)) {
        line.push_str(Span::new(at, found.start).of(&hit.text));
        line.push_str(&format!("{mark}{}{plain}", found.of(&hit.text)));
        at = found.end;
    }
    line.push_str(Span::new(at, hit.snippet.end).of(&hit.text));
    let line = line.split_whitespace().collect::<Vec<_>>().join(" ");
    let before = if hit.snippet.start > 0 { "… " } else { "" };
    let after = if hit.snippet.end < hit.text.len() { " …" } else { "" };
    say!("   {before}{line}{after}\n");
    Ok(())
}
