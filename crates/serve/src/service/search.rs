use std::time::Instant;

use pericope::store::{
    ChunkId, ChunkRecord, Expand, Expansion, Filter, Group, Hit, Query, Reranked, Retriever, fit_budget,
};

use super::requests::within;
use super::slot::{Opened, Slot};
use super::state::default_mode;
use super::{
    ContextPart, HitAnswer, HitGroup, LeftOut, Mode, NamedReranker, Offsets, Problem, SearchAnswer, SearchRequest,
    Service,
};

/// Hits of a document that a grouped answer shows.
const PER_DOCUMENT: usize = 3;
/// Characters of a query at most.
pub(super) const LONGEST_QUERY: usize = 2000;
/// Entries of each filter at most.
const MOST_ENTRIES: usize = 32;

impl Service {
    /// Searches an index.
    ///
    /// # Errors
    /// [`Problem`]: 400 for a parameter out of range, a mode that the index has not and a reranker that the service has not, 404
    /// for an index that is not there, 500 or 503 where it cannot be read, 502 where the reranker fails.
    pub fn search(&self, request: &SearchRequest) -> Result<SearchAnswer, Problem> {
        let begun = Instant::now();
        within("k", request.k, 1, 100)?;
        within("context", request.context, 0, 10)?;
        within("expand_tokens", request.expand_tokens, 1, 100_000)?;
        if request.context > 0 && request.expand != Expand::None {
            return Err(Problem::parameter("`context` and `expand` exclude each other"));
        }
        for (name, list) in [("path", &request.path), ("heading", &request.heading), ("type", &request.file_type)] {
            if list.len() > MOST_ENTRIES || list.iter().any(|entry| entry.chars().count() > LONGEST_QUERY) {
                return Err(Problem::parameter(format!(
                    "`{name}` has at most {MOST_ENTRIES} entries of {LONGEST_QUERY} characters"
                )));
            }
        }
        let reranker = self.rerankers.of(request.rerank.as_deref())?;
        let slot = self.slot(request.index.as_deref())?;
        slot.ask(|slot| self.search_in(slot, request, reranker, begun))
    }

    fn search_in(
        &self,
        slot: &Slot,
        request: &SearchRequest,
        reranker: Option<&NamedReranker>,
        begun: Instant,
    ) -> Result<SearchAnswer, Problem> {
        let opened = slot.current();
        let filter = Filter {
            paths: request.path.clone(),
            headings: request.heading.clone(),
            file_types: request.file_type.clone(),
        };
        let (query, mode) = self.query(&opened, &request.q, request.mode, request.k)?;
        let query = query.with_filter(filter);
        let expansion = Expansion { expand: request.expand, tokens: request.expand_tokens }.within(request.budget);
        let store = opened.retriever.as_ref();
        let reranked = reranker.map(|one| Reranked::new(store, one.reranker.as_ref(), self.rerankers.depth(query.k)));
        let store: &dyn Retriever = match &reranked {
            Some(reranked) => reranked,
            None => store,
        };
        let (mut hits, grouped) = match request.group {
            true => {
                let groups = store.search_grouped_expanded(&query, PER_DOCUMENT, expansion)?;
                (groups.into_iter().flat_map(|group: Group| group.hits).collect::<Vec<Hit>>(), true)
            }
            false => (store.search_expanded(&query, expansion)?, false),
        };
        if request.context > 0 {
            opened.retriever.add_context(&mut hits, request.context)?;
        }
        let left_out = request.budget.map(|budget| fit_budget(&mut hits, budget)).unwrap_or_default();
        let left_out = left_out.iter().min().map(|&least| LeftOut { hits: left_out.len(), least_tokens: least });
        let tokens = hits.iter().map(Hit::shown_tokens).sum();
        let name = slot.named.name.as_str();
        let hits: Vec<HitAnswer> = hits.into_iter().map(|hit| self.hit(name, hit, request.offsets)).collect();
        let groups = grouped.then(|| gather(&hits));
        Ok(SearchAnswer {
            query: request.q.clone(),
            mode,
            rerank: reranker.map(|one| one.name.clone()),
            hits,
            groups,
            index: name.to_owned(),
            tokens,
            left_out,
            took_ms: (begun.elapsed().as_secs_f64() * 1e6).round() / 1e3,
        })
    }

    /// Whether a request's hits go through a reranker, which takes longer than the search.
    #[must_use]
    pub fn reranks(&self, request: &SearchRequest) -> bool {
        self.rerankers.of(request.rerank.as_deref()).is_ok_and(|found| found.is_some())
    }

    /// A query with its vector, where the mode asks for one, and the mode.
    pub(super) fn query(
        &self,
        opened: &Opened,
        text: &str,
        mode: Option<Mode>,
        k: usize,
    ) -> Result<(Query, Mode), Problem> {
        if text.trim().is_empty() {
            return Err(Problem::parameter("the query is empty"));
        }
        if text.chars().count() > LONGEST_QUERY {
            return Err(Problem::parameter(format!("the query is longer than {LONGEST_QUERY} characters")));
        }
        let mode = mode.unwrap_or_else(|| default_mode(&self.modes(opened)));
        let query = Query::new(text, mode, k);
        if mode == Mode::Bm25 {
            return Ok((query, mode));
        }
        let encoder = self.encoder(opened)?;
        let embedder = opened.about().meta.embedder.as_ref();
        let (name, fingerprint) =
            embedder.map_or(("", ""), |embedder| (embedder.name.as_str(), embedder.fingerprint.as_str()));
        Ok((query.with_vector(self.vectors.vector(name, encoder.as_ref(), fingerprint, text)?), mode))
    }

    /// A hit as answers show it.
    pub(super) fn hit(&self, index: &str, mut hit: Hit, offsets: Offsets) -> HitAnswer {
        if offsets == Offsets::Chars {
            hit.count_in_chars();
        }
        let snippet = hit.snippet.of(&hit.chunk.text).to_owned();
        let highlights = hit.highlights.iter().map(|found| [found.start, found.end]).collect();
        HitAnswer {
            rank: Some(hit.rank),
            score: Some(hit.score),
            snippet: Some(snippet),
            highlights: Some(highlights),
            context: hit.context.map(ContextPart::from),
            chunks: (!hit.chunks.is_empty()).then_some(hit.chunks),
            ..self.stored(index, hit.id, hit.chunk)
        }
    }

    /// A chunk as answers show it, whoever asked for it.
    pub(super) fn stored(&self, index: &str, id: ChunkId, chunk: ChunkRecord) -> HitAnswer {
        HitAnswer {
            id,
            start: chunk.start,
            end: chunk.end,
            lines: chunk.lines(),
            url: self.addresses.address(index, &chunk.document, chunk.anchor.as_deref()),
            heading_path: chunk.heading_path.iter().map(|heading| heading.as_str().to_owned()).collect(),
            title: chunk.title,
            anchor: chunk.anchor,
            file_type: chunk.file_type,
            ordinal: chunk.ordinal,
            tokens: chunk.tokens,
            document: chunk.document,
            text: chunk.text,
            ..HitAnswer::default()
        }
    }
}

/// Puts hits together by their documents, in the order of their best ones.
fn gather(hits: &[HitAnswer]) -> Vec<HitGroup> {
    let mut groups: Vec<HitGroup> = Vec::new();
    for hit in hits {
        match groups.iter_mut().find(|group| group.document == hit.document) {
            Some(group) => group.hits.push(hit.clone()),
            None => groups.push(HitGroup {
                document: hit.document.clone(),
                title: hit.title.clone(),
                score: hit.score.unwrap_or(0.0),
                hits: vec![hit.clone()],
            }),
        }
    }
    groups
}
