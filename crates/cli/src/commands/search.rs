//! `pericope search`

use std::path::Path;
use std::sync::Arc;
use std::time::Instant;

use pericope_api::{SentenceEncoder, Span};
use pericope_index::{Filter, Group, Hit, IndexError, IndexReader, Mode, Passage, Query};
use pericope_qdrant::Target;
use serde::Serialize;

use crate::args::SearchArgs;
use crate::commands::print_json;
use crate::qdrant::{Answered, ServerSearch};
use crate::resources::embedder;
use crate::status::{Failure, Outcome, Status};
use crate::style;

/// Hits of a document that `--group` shows.
const PER_DOCUMENT: usize = 3;

#[derive(Serialize)]
struct Answer<'a> {
    query: &'a str,
    mode: Mode,
    hits: Vec<JsonHit<'a>>,
    #[serde(skip_serializing_if = "Option::is_none")]
    groups: Option<Vec<JsonGroup<'a>>>,
    #[serde(skip_serializing_if = "Option::is_none")]
    timing: Option<Timing>,
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
    anchor: Option<&'a str>,
    #[serde(rename = "type")]
    file_type: &'a str,
    ordinal: usize,
    tokens: usize,
    snippet: &'a str,
    /// The query's words in `text`: byte ranges.
    highlights: Vec<[usize; 2]>,
    #[serde(skip_serializing_if = "Option::is_none")]
    context: Option<&'a Passage>,
}

#[derive(Serialize)]
struct JsonGroup<'a> {
    document: &'a str,
    title: Option<&'a str>,
    score: f64,
    hits: Vec<JsonHit<'a>>,
}

/// How long the query took, in milliseconds.
#[derive(Serialize)]
struct Timing {
    runs: usize,
    p50_ms: f64,
    p95_ms: f64,
}

/// A hit with what stands around it, where that was asked for.
struct Shown {
    hit: Hit,
    context: Option<Passage>,
}

/// What a search found: hits alone (one nameless group), or those of each document.
struct Found {
    groups: Vec<(Option<Group>, Vec<Shown>)>,
}

/// What is searched.
#[allow(clippy::large_enum_variant)] // there is one of it
enum Index {
    Folder(Box<IndexReader>),
    Server(Box<ServerSearch>, Target),
}

impl Index {
    fn open(place: &str) -> Result<Self, Failure> {
        Ok(match crate::qdrant::target(place)? {
            Some(target) => Self::Server(Box::new(ServerSearch::open(&target)?), target),
            None => Self::Folder(Box::new(IndexReader::open(Path::new(place)).map_err(Failure::usage)?)),
        })
    }

    /// As messages name it: never with a key.
    fn name(&self, args: &SearchArgs) -> String {
        match self {
            Self::Folder(_) => args.index.clone(),
            Self::Server(_, target) => target.to_string(),
        }
    }

    fn embedded_by(&self) -> Option<String> {
        match self {
            Self::Folder(reader) => reader.meta().embedder.as_ref().map(|e| e.name.clone()),
            Self::Server(search, _) => search.embedded_by().map(str::to_owned),
        }
    }

    fn with_encoder(self, encoder: Arc<dyn SentenceEncoder>) -> Result<Self, Failure> {
        Ok(match self {
            Self::Folder(reader) => Self::Folder(Box::new((*reader).with_encoder(encoder).map_err(Failure::usage)?)),
            Self::Server(search, target) => Self::Server(Box::new((*search).with_encoder(encoder)?), target),
        })
    }

    fn chunks(&self) -> Result<u64, Failure> {
        match self {
            Self::Folder(reader) => Ok(reader.chunks()),
            Self::Server(search, _) => search.chunks(),
        }
    }

    fn find(&self, query: &Query, args: &SearchArgs) -> Result<Found, Failure> {
        match self {
            Self::Folder(reader) => find(reader, query, args).map_err(by_kind),
            Self::Server(search, _) => {
                let groups = search.find(query, args.group.then_some(PER_DOCUMENT), args.context)?;
                let shown = |(group, hits): Answered| {
                    let shown = hits.into_iter().map(|(hit, context)| Shown { hit, context });
                    (group, shown.collect())
                };
                Ok(Found { groups: groups.into_iter().map(shown).collect() })
            }
        }
    }
}

/// Runs the command.
pub fn run(args: SearchArgs) -> Outcome {
    if args.query.trim().is_empty() {
        return Err(Failure::usage("the query is empty"));
    }
    let mut index = Index::open(&args.index)?;
    let embedded_by = index.embedded_by();
    let mode: Mode = match (&args.mode, &embedded_by) {
        (Some(mode), _) => mode.parse().map_err(|e: String| Failure::usage(format!("--mode: {e}")))?,
        (None, Some(_)) => Mode::Hybrid,
        (None, None) => Mode::Bm25,
    };
    if let (Some(name), true) = (&embedded_by, mode != Mode::Bm25)
        && let Some(encoder) = embedder(name)?
    {
        index = index.with_encoder(encoder)?;
    }
    let filter = Filter { path: args.path.clone(), heading: args.heading.clone(), file_type: args.file_type.clone() };
    let query = Query::new(&args.query, mode, args.k).with_filter(filter);
    let found = index.find(&query, &args)?;
    let timing = match args.timing {
        true => Some(time(&index, &query, &args)?),
        false => None,
    };
    if args.json {
        return print_json(&answer(&args.query, mode, &found, timing));
    }
    if found.groups.iter().all(|(_, hits)| hits.is_empty()) {
        say!("nothing found in {} ({} chunks, {mode})", index.name(&args), index.chunks()?);
    }
    for (group, hits) in &found.groups {
        if let Some(group) = group {
            let title = group.title.as_deref().map(|title| format!(" · {title}")).unwrap_or_default();
            say!("{}{}{}{title}\n", style("1;4"), group.document, style("0"));
        }
        for shown in hits {
            show(shown)?;
        }
    }
    if let Some(timing) = timing {
        anstream::eprintln!(
            "{} runs: p50 {:.2} ms, p95 {:.2} ms ({mode}, {} chunks)",
            timing.runs,
            timing.p50_ms,
            timing.p95_ms,
            index.chunks()?
        );
    }
    Ok(Status::Done)
}

fn by_kind(error: IndexError) -> Failure {
    match error {
        IndexError::NoVectors { .. } | IndexError::NoEncoder { .. } => Failure::usage(error),
        other => Failure::runtime(other),
    }
}

fn find(reader: &IndexReader, query: &Query, args: &SearchArgs) -> Result<Found, IndexError> {
    let shown = |hits: Vec<Hit>| -> Result<Vec<Shown>, IndexError> {
        let with = |hit: Hit| {
            let context = if args.context > 0 { Some(reader.passage(&hit, args.context)?) } else { None };
            Ok(Shown { hit, context })
        };
        hits.into_iter().map(with).collect()
    };
    if !args.group {
        return Ok(Found { groups: vec![(None, shown(reader.search(query)?)?)] });
    }
    let mut groups = Vec::new();
    for mut group in reader.search_grouped(query, PER_DOCUMENT)? {
        let hits = shown(std::mem::take(&mut group.hits))?;
        groups.push((Some(group), hits));
    }
    Ok(Found { groups })
}

/// Asks again and again. The first answer, before this one, has opened the files.
fn time(index: &Index, query: &Query, args: &SearchArgs) -> Result<Timing, Failure> {
    let mut times = Vec::new();
    for _ in 0..args.repeat {
        let before = Instant::now();
        index.find(query, args)?;
        times.push(before.elapsed().as_secs_f64() * 1e3);
    }
    times.sort_by(f64::total_cmp);
    // The smallest time that so many in a hundred runs did not exceed.
    let percentile = |share: usize| {
        let place = (times.len() * share).div_ceil(100).max(1) - 1;
        times.get(place).copied().unwrap_or(0.0)
    };
    Ok(Timing { runs: times.len(), p50_ms: percentile(50), p95_ms: percentile(95) })
}

fn answer<'a>(query: &'a str, mode: Mode, found: &'a Found, timing: Option<Timing>) -> Answer<'a> {
    let groups: Vec<JsonGroup<'a>> = found
        .groups
        .iter()
        .filter_map(|(group, hits)| {
            let group = group.as_ref()?;
            Some(JsonGroup {
                document: &group.document,
                title: group.title.as_deref(),
                score: group.score,
                hits: hits.iter().map(json).collect(),
            })
        })
        .collect();
    Answer {
        query,
        mode,
        hits: found.groups.iter().flat_map(|(_, hits)| hits.iter().map(json)).collect(),
        groups: found.groups.iter().any(|(group, _)| group.is_some()).then_some(groups),
        timing,
    }
}

fn json(shown: &Shown) -> JsonHit<'_> {
    let hit = &shown.hit;
    JsonHit {
        rank: hit.rank,
        score: hit.score,
        document: &hit.document,
        start: hit.start,
        end: hit.end,
        heading_path: &hit.heading_path,
        text: &hit.text,
        title: hit.title.as_deref(),
        anchor: hit.anchor.as_deref(),
        file_type: &hit.file_type,
        ordinal: hit.ordinal,
        tokens: hit.tokens,
        snippet: hit.snippet.of(&hit.text),
        highlights: hit.highlights.iter().map(|h| [h.start, h.end]).collect(),
        context: shown.context.as_ref(),
    }
}

/// Place, heading path and the snippet with the query's words marked; with its neighbours the whole chunk.
fn show(Shown { hit, context }: &Shown) -> std::io::Result<()> {
    let (bold, soft, plain) = (style("1"), style("2"), style("0"));
    let anchor = hit.anchor.as_deref().map(|anchor| format!("#{anchor}")).unwrap_or_default();
    say!(
        "{bold}{}. {}{anchor}{plain} {soft}bytes {}–{} · {} tokens · score {:.3}{plain}",
        hit.rank,
        hit.document,
        hit.start,
        hit.end,
        hit.tokens,
        hit.score
    );
    let path = hit.heading_path.join(" › ");
    if !path.is_empty() {
        say!("   {soft}{path}{plain}");
    }
    if let Some(context) = context {
        let within = hit.start.saturating_sub(context.start);
        let chunk = Span::new(within, within + hit.text.len());
        let before = context.text.get(..chunk.start).unwrap_or("");
        let after = context.text.get(chunk.end..).unwrap_or("");
        let marked = marked(hit, Span::new(0, hit.text.len()));
        for line in format!("{soft}{before}{plain}{marked}{soft}{after}{plain}").lines() {
            say!("   {line}");
        }
        say!("");
        return Ok(());
    }
    let line = marked(hit, hit.snippet).split_whitespace().collect::<Vec<_>>().join(" ");
    let before = if hit.snippet.start > 0 { "… " } else { "" };
    let after = if hit.snippet.end < hit.text.len() { " …" } else { "" };
    say!("   {before}{line}{after}\n");
    Ok(())
}

/// A part of the hit's text with the query's words marked.
fn marked(hit: &Hit, part: Span) -> String {
    let (mark, plain) = (style("1;33"), style("0"));
    let mut line = String::new();
    let mut at = part.start;
    for found in hit.highlights.iter().filter(|h| part.contains(h)) {
        line.push_str(Span::new(at, found.start).of(&hit.text));
        line.push_str(&format!("{mark}{}{plain}", found.of(&hit.text)));
        at = found.end;
    }
    line.push_str(Span::new(at, part.end).of(&hit.text));
    line
}
