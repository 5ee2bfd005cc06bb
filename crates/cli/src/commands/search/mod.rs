//! `pericope search`

mod answer;
mod args;

pub use args::{SEARCH_EXAMPLES, SearchArgs};

use std::time::Instant;

use pericope::encode::rerankers::RerankerSpec;
use pericope_api::{Reranker, Span};
use pericope_eval::run::{BYTES_PER_TOKEN, Estimate, ModelEstimate, UNLIMITED_CHUNK, rerank_requests};
use pericope_segment::spec::Spec;
use pericope_serve::service::AddressRules;
use pericope_store::{Expansion, Filter, Group, Hit, Mode, Query, Reranked, Retriever};

use self::answer::{Answer, Timing};
use self::args::Offsets;
use crate::commands::{dry_run, print_json};
use crate::project;
use crate::resources::{embedder, reranker, reranker_spec};
use crate::status::{Failure, Outcome, Status};
use crate::stores;
use crate::terminal::{Line, Style, counted, name};

/// Hits of a document that `--group` shows.
const PER_DOCUMENT: usize = 3;

/// The answer to a query.
enum Found {
    Hits(Vec<Hit>),
    Groups(Vec<Group>),
}

impl Found {
    /// All hits, in the order in which they are shown.
    fn hits(&self) -> Vec<&Hit> {
        match self {
            Self::Hits(hits) => hits.iter().collect(),
            Self::Groups(groups) => groups.iter().flat_map(|group| &group.hits).collect(),
        }
    }

    /// The same to be changed, a list a group.
    fn lists(&mut self) -> Vec<&mut Vec<Hit>> {
        match self {
            Self::Hits(hits) => vec![hits],
            Self::Groups(groups) => groups.iter_mut().map(|group| &mut group.hits).collect(),
        }
    }
}

/// Runs the command.
pub fn run(args: SearchArgs) -> Outcome {
    if args.query.trim().is_empty() {
        return Err(Failure::usage("the query is empty"));
    }
    let spec = args.rerank.as_deref().map(reranker_spec).transpose()?;
    // A folder that the flag names is seen from here, and not from the project's.
    let opened = spec.as_ref().filter(|_| !args.dry_run);
    let reranker = opened.map(|(spec, _)| reranker(spec)).transpose()?.flatten();
    let (place, addresses) = match &args.index {
        Some(place) => (place.clone(), AddressRules::default()),
        None => {
            let project = project::required("--in")?;
            let prefix = project.settings()?.url_prefix;
            (project.searched()?, AddressRules { prefix, ..AddressRules::default() })
        }
    };
    let mut index = stores::open(&place)?;
    let embedded_by = index.about().embedder().map(str::to_owned);
    let mode: Mode = match (&args.mode, &embedded_by) {
        (Some(mode), _) => mode.parse().map_err(|e| Failure::usage(format!("--mode: {e}")))?,
        (None, Some(_)) => Mode::Hybrid,
        (None, None) => Mode::Bm25,
    };
    if args.dry_run {
        let asked = embedded_by.as_deref().filter(|_| mode != Mode::Bm25);
        if let Some((spec, _)) = spec.as_ref().filter(|(_, entry)| entry.sends) {
            tell!("--rerank sends the query and up to {} passages to {}", args.rerank_depth.max(args.k), spec.shown());
        }
        let models = spec.iter().filter(|(_, entry)| entry.sends);
        let models = models.map(|(spec, _)| reranked(spec, index.as_ref(), &args)).collect::<Result<Vec<_>, _>>()?;
        let estimate = Estimate { models, ..Estimate::default() };
        return dry_run::embedding(asked, 1, args.query.len().div_ceil(BYTES_PER_TOKEN), estimate, "", args.json);
    }
    if let (Some(name), true) = (&embedded_by, mode != Mode::Bm25)
        && let Some(encoder) = embedder(name, false)?
    {
        index.set_encoder(encoder).map_err(stores::failure)?;
    }
    let rerank = spec.as_ref().filter(|_| reranker.is_some()).map(|(spec, _)| spec.shown());
    let asking = Asking { index: index.as_ref(), reranker: reranker.as_deref(), args: &args };
    let index = index.as_ref();
    let filter =
        Filter { paths: args.path.clone(), headings: args.heading.clone(), file_types: args.file_type.clone() };
    let query = Query::new(&args.query, mode, args.k).with_filter(filter);
    let mut found = asking.find(&query)?;
    if args.offsets == Offsets::Chars && found.hits().iter().any(|hit| hit.chunk.begins.is_none()) {
        return Err(Failure::usage(format!(
            "--offsets chars: {} was written by an earlier version, which counted no characters: `pericope index --rebuild` \
             does",
            index.about().name
        )));
    }
    let timing = match args.timing {
        true => Some(asking.time(&query)?),
        false => None,
    };
    if args.json {
        if args.offsets == Offsets::Chars {
            found.lists().into_iter().flatten().for_each(Hit::count_in_chars);
        }
        return print_json(&Answer::new(&args.query, mode, rerank.as_deref(), &found, &addresses, timing));
    }
    if found.hits().is_empty() {
        let chunks = index.chunks().map_err(stores::failure)?;
        say!("nothing found in {} ({chunks} chunks, {mode})", index.about().name);
    }
    match &found {
        Found::Hits(hits) => hits.iter().try_for_each(|hit| show(hit, args.offsets))?,
        Found::Groups(groups) => {
            for group in groups {
                let title = group.title.as_deref().map(|title| format!(" · {title}")).unwrap_or_default();
                Line::styled(Style::Title, name(&group.document)).and(name(&title)).and("\n").say()?;
                group.hits.iter().try_for_each(|hit| show(hit, args.offsets))?;
            }
        }
    }
    if let Some(timing) = timing {
        tell!(
            "{} runs: p50 {:.2} ms, p95 {:.2} ms ({mode}, {} chunks)",
            timing.runs,
            timing.p50_ms,
            timing.p95_ms,
            index.chunks().map_err(stores::failure)?
        );
    }
    Ok(Status::Done)
}

/// What a service comes to that orders the hits anew, at most. Its answers are not kept: each repetition asks again.
fn reranked(spec: &RerankerSpec, index: &dyn Retriever, args: &SearchArgs) -> Result<ModelEstimate, Failure> {
    let there = usize::try_from(index.chunks().map_err(stores::failure)?).unwrap_or(usize::MAX);
    let passages = args.rerank_depth.max(args.k).min(there);
    let limit = Spec::parse(&index.about().meta.segmenter).ok().and_then(|spec| spec.get("max_tokens")?.parse().ok());
    let each = limit.filter(|&most: &usize| most > 0).unwrap_or(UNLIMITED_CHUNK);
    let searches = if args.timing { args.repeat.saturating_add(1) } else { 1 };
    let calls = searches.saturating_mul(rerank_requests(&spec.to_string(), passages));
    // Every request begins with the query. A token has more letters where words are counted.
    let passages = passages.saturating_mul(each).saturating_mul(2).saturating_mul(searches);
    let prompt_tokens = calls.saturating_mul(args.query.len().div_ceil(BYTES_PER_TOKEN)).saturating_add(passages);
    Ok(ModelEstimate { role: "reranker", model: spec.shown(), calls, prompt_tokens, ..ModelEstimate::default() })
}

/// What is asked, and how.
struct Asking<'a> {
    index: &'a dyn Retriever,
    reranker: Option<&'a dyn Reranker>,
    args: &'a SearchArgs,
}

impl Asking<'_> {
    fn find(&self, query: &Query) -> Result<Found, Failure> {
        let args = self.args;
        let reranked =
            self.reranker.map(|reranker| Reranked::new(self.index, reranker, args.rerank_depth.max(query.k)));
        let index: &dyn Retriever = match &reranked {
            Some(reranked) => reranked,
            None => self.index,
        };
        let expansion = Expansion { expand: args.expand, tokens: args.expand_tokens };
        let mut found = match args.group {
            true => index.search_grouped_expanded(query, PER_DOCUMENT, expansion).map(Found::Groups),
            false => index.search_expanded(query, expansion).map(Found::Hits),
        }
        .map_err(stores::failure)?;
        if args.context > 0 {
            for hits in found.lists() {
                index.add_context(hits, args.context).map_err(stores::failure)?;
            }
        }
        Ok(found)
    }

    /// Asks again and again. The first answer, before this one, has opened the files.
    fn time(&self, query: &Query) -> Result<Timing, Failure> {
        let mut times = Vec::new();
        for _ in 0..self.args.repeat {
            let before = Instant::now();
            self.find(query)?;
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
}

/// Place, heading path and the snippet with the query's words marked; of an expanded hit all of it, and with its neighbours
/// the whole chunk.
fn show(hit: &Hit, offsets: Offsets) -> std::io::Result<()> {
    let chunk = &hit.chunk;
    // As editors and terminals open it.
    let line = chunk.lines().map(|[first, _]| format!(":{first}")).unwrap_or_default();
    let place = format!("{}{line}", chunk.document);
    let anchor = chunk.anchor.as_deref().map(|anchor| format!("#{} · ", name(anchor))).unwrap_or_default();
    let (unit, span) = match (offsets, chunk.chars()) {
        (Offsets::Chars, Some(chars)) => ("characters", chars),
        _ => ("bytes", Span::new(chunk.start, chunk.end)),
    };
    let range = format!("{unit} {}–{}", span.start, span.end);
    let figures = format!("{anchor}{range} · {} · score {:.3}", counted(chunk.tokens as u64, "token"), hit.score);
    let line = Line::styled(Style::Bold, format_args!("{}. {}", hit.rank, name(&place)));
    line.and(" ").and_styled(Style::Soft, figures).say()?;
    let path = chunk.heading_path.join(" › ");
    if !path.is_empty() {
        Line::text("   ").and_styled(Style::Soft, name(&path)).say()?;
    }
    if let Some(context) = &hit.context {
        let within = context.in_text(chunk.span());
        let before = Span::new(0, within.start).of(&context.text);
        let after = Span::new(within.end, context.text.len()).of(&context.text);
        let marked = marked(hit, Span::new(0, chunk.text.len()));
        let lines = Line::styled(Style::Soft, before).and_line(&marked).and_styled(Style::Soft, after);
        return lines.indented(3).and("\n").say();
    }
    if !hit.chunks.is_empty() {
        return marked(hit, Span::new(0, chunk.text.len())).indented(3).and("\n").say();
    }
    let before = if hit.snippet.start > 0 { "   … " } else { "   " };
    let after = if hit.snippet.end < chunk.text.len() { " …" } else { "" };
    Line::text(before).and_line(&marked(hit, hit.snippet).on_one_line()).and(after).and("\n").say()
}

/// A part of the hit's text with the query's words marked.
fn marked(hit: &Hit, part: Span) -> Line {
    let mut line = Line::default();
    let mut at = part.start;
    for found in hit.highlights.iter().filter(|h| part.contains(h)) {
        line = line.and(Span::new(at, found.start).of(&hit.chunk.text));
        line = line.and_styled(Style::Mark, found.of(&hit.chunk.text));
        at = found.end;
    }
    line.and(Span::new(at, part.end).of(&hit.chunk.text))
}
