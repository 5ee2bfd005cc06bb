//! Expanded hits of any store.

use std::collections::HashMap;

use pericope_api::{Heading, Span};

use super::kind::Expansion;
use super::part::{DEPTH, Found, Part, Run, depth, evidence_depth, rank_weights};
use super::runs::runs;
use crate::{ChunkId, ChunkRecord, Highlighter, Hit, Passage, Query, Ranked, Retriever, StoreError};

/// Which hits a search is to give.
#[derive(Debug, Clone, Copy)]
pub(crate) enum Shape {
    /// The best `k`.
    Hits,
    /// Those of the best `k` documents, of each so many.
    Documents(usize),
}

/// A document that was read.
struct Opened {
    chunks: Vec<(ChunkId, ChunkRecord)>,
    parts: Vec<Part>,
}

/// Returns what is given back in place of the hits of a query, best first.
///
/// # Errors
/// As [`Retriever::rank`] and [`Retriever::chunks_of`].
pub(crate) fn search<R: Retriever + ?Sized>(
    store: &R,
    query: &Query,
    expansion: Expansion,
    shape: Shape,
) -> Result<Vec<Hit>, StoreError> {
    if query.k == 0 {
        return Ok(Vec::new());
    }
    let mut opened: HashMap<String, Opened> = HashMap::new();
    let mut depth = depth(query.k);
    let (ranked, chosen) = loop {
        let ranked = store.rank(&Query { k: depth, ..query.clone() })?;
        let (chosen, is_enough) = choose(store, &ranked, query.k, expansion, shape, &mut opened)?;
        if is_enough || ranked.len() < depth {
            break (ranked, chosen);
        }
        depth = depth.saturating_mul(DEPTH);
    };
    if chosen.is_empty() {
        return Ok(Vec::new());
    }
    let highlighter = store.highlighter(&query.text)?;
    let hits = (1..).zip(&chosen).filter_map(|(rank, run)| {
        let best = ranked.get(run.rank)?;
        hit(rank, best, run, opened.get(&best.document)?, &highlighter)
    });
    Ok(hits.collect())
}

/// The runs of a ranking that are given back, and whether these are all that were asked for.
fn choose<R: Retriever + ?Sized>(
    store: &R,
    ranked: &[Ranked],
    k: usize,
    expansion: Expansion,
    shape: Shape,
    opened: &mut HashMap<String, Opened>,
) -> Result<(Vec<Run>, bool), StoreError> {
    let weights: Vec<Option<f64>> = rank_weights(evidence_depth(k)).take(ranked.len()).collect();
    let mut of_document: HashMap<&str, Vec<Run>> = HashMap::new();
    let mut taken: HashMap<&str, usize> = HashMap::new();
    let mut chosen = Vec::new();
    for (rank, one) in ranked.iter().enumerate() {
        let document = one.document.as_str();
        if !of_document.contains_key(document) {
            if !opened.contains_key(document) {
                let chunks = store.chunks_of(document)?;
                let parts = chunks.iter().map(|(_, chunk)| Part::from(chunk)).collect();
                opened.insert(document.to_owned(), Opened { chunks, parts });
            }
            let Some(page) = opened.get(document) else { continue };
            // A chunk that went meanwhile is in no place.
            let places: HashMap<ChunkId, usize> =
                page.chunks.iter().enumerate().map(|(place, (id, _))| (*id, place)).collect();
            let found: Vec<Found> = (ranked.iter().zip(&weights).enumerate())
                .filter(|(_, (other, _))| other.document == document)
                .filter_map(|(rank, (other, weight))| {
                    Some(Found { rank, part: *places.get(&other.id)?, weight: *weight })
                })
                .collect();
            of_document.insert(document, runs(&page.parts, &found, expansion));
        }
        let is_best = |run: &&Run| run.rank == rank;
        let Some(run) = of_document.get(document).and_then(|runs| runs.iter().find(is_best)) else { continue };
        match shape {
            Shape::Hits => {
                chosen.push(run.clone());
                if chosen.len() == k {
                    return Ok((chosen, true));
                }
            }
            Shape::Documents(per_document) => {
                if !taken.contains_key(document) && taken.len() == k {
                    continue;
                }
                let count = taken.entry(document).or_default();
                if *count < per_document.max(1) {
                    *count += 1;
                    chosen.push(run.clone());
                }
            }
        }
    }
    Ok((chosen, matches!(shape, Shape::Documents(_)) && taken.len() == k))
}

/// A run as a hit: the id, the place and the score of its best chunk, the text and the range of all.
fn hit(rank: usize, best: &Ranked, run: &Run, page: &Opened, highlighter: &Highlighter) -> Option<Hit> {
    let chunks: Vec<&(ChunkId, ChunkRecord)> = run.parts.iter().filter_map(|&at| page.chunks.get(at)).collect();
    let pieces: Vec<ChunkRecord> = chunks.iter().filter_map(|(_, chunk)| within(chunk, run.span)).collect();
    let first = pieces.first()?.clone();
    let heading_path = shared_headings(&pieces).to_vec();
    let passage = Passage::of(pieces)?;
    let ends = passage.positions(passage.whole()).map(|[_, ends]| ends);
    let (snippet, highlights) = highlighter.mark(&passage.text, first.language);
    let chunk = ChunkRecord {
        start: passage.start,
        end: passage.end,
        ends,
        heading_path,
        text: passage.text,
        ordinal: best.ordinal,
        tokens: run.tokens,
        ..first
    };
    let chunks = chunks.into_iter().map(|(id, _)| *id).collect();
    Some(Hit { rank, score: best.score, id: best.id, chunk, snippet, highlights, context: None, chunks })
}

/// The part of a chunk that lies in a span.
fn within(chunk: &ChunkRecord, span: Span) -> Option<ChunkRecord> {
    let common = chunk.span().intersection(&span)?;
    let mut chunk = chunk.clone();
    let cut = common.start - chunk.start;
    if cut > 0 {
        chunk.begins = chunk.begins.map(|begins| begins.behind(chunk.text.get(..cut).unwrap_or_default()));
        chunk.leading = String::new();
    }
    chunk.text = chunk.text.get(cut..common.end - chunk.start)?.to_owned();
    (chunk.start, chunk.end) = (common.start, common.end);
    Some(chunk)
}

/// The headings that all of the chunks stand under, outermost first.
fn shared_headings(chunks: &[ChunkRecord]) -> &[Heading] {
    let Some((first, rest)) = chunks.split_first() else { return &[] };
    let shared = |other: &ChunkRecord, level: usize| {
        let pairs = first.heading_path.iter().zip(&other.heading_path);
        pairs.take(level).take_while(|(one, two)| one == two).count()
    };
    let level = rest.iter().fold(first.heading_path.len(), |level, other| shared(other, level));
    first.heading_path.get(..level).unwrap_or(&[])
}

#[cfg(test)]
mod tests {
    #![allow(clippy::unwrap_used)]
    use super::*;
    use crate::testing::{SOURCE, Shelf};
    use crate::{Expand, Mode};

    fn asked(order: &[usize], k: usize, expand: Expand, tokens: usize) -> Vec<Hit> {
        let query = Query::new("five", Mode::Bm25, k);
        Shelf::new(order).search_expanded(&query, Expansion { expand, tokens }).unwrap()
    }

    #[test]
    fn an_expanded_hit_is_a_piece_of_the_source() {
        let hits = asked(&[2, 1], 5, Expand::Parent, 7);
        assert_eq!(hits.len(), 1, "both are in section H");
        let (hit, chunk) = (&hits[0], &hits[0].chunk);
        assert_eq!((hit.rank, hit.id, chunk.ordinal, hit.score), (1, ChunkId::from_u128(2), 2, 1.0 / 3.0));
        assert_eq!((chunk.start, chunk.end, chunk.text.as_str()), (9, 28, &SOURCE[9..28]));
        assert_eq!((chunk.tokens, chunk.lines(), chunk.leading.as_str()), (6, Some([3, 5]), "\n\n"));
        assert_eq!(chunk.heading_path, ["H"]);
        assert_eq!(hit.chunks, [1, 2, 3].map(ChunkId::from_u128));
        // Marks are those of the whole.
        assert!(hit.highlights.iter().all(|mark| mark.of(&chunk.text).starts_with("five")), "{:?}", hit.highlights);
        // All of the document: what its chunks stand under in common is nothing.
        let whole = asked(&[2], 5, Expand::Parent, 8);
        assert_eq!((whole[0].chunk.text.as_str(), whole[0].chunk.heading_path.len()), (SOURCE, 0));
    }

    #[test]
    fn hits_that_collapse_are_made_up_for() {
        // All of `a`, then `b`.
        let hits = asked(&[0, 1, 2, 3, 5], 2, Expand::Parent, 100);
        assert_eq!(
            hits.iter().map(|hit| (hit.rank, hit.chunk.document.as_str())).collect::<Vec<_>>(),
            [(1, "a"), (2, "b")]
        );
        assert_eq!(asked(&[0, 1, 2, 3, 5], 1, Expand::Parent, 100).len(), 1);
        assert!(asked(&[0], 0, Expand::Parent, 100).is_empty() && asked(&[], 3, Expand::Parent, 100).is_empty());
        // A chunk that is not there any more is no hit.
        assert_eq!(asked(&[8, 1], 3, Expand::Neighbours(1), 100)[0].id, ChunkId::from_u128(1));
    }

    #[test]
    fn groups_hold_expanded_hits() {
        let query = Query::new("five", Mode::Bm25, 2);
        let expansion = Expansion { expand: Expand::Neighbours(1), tokens: 4 };
        let of = |per_document, k| {
            let shelf = Shelf::new(&[0, 2, 5, 7]);
            let groups = shelf.search_grouped_expanded(&Query { k, ..query.clone() }, per_document, expansion).unwrap();
            groups.iter().map(|one| (one.document.clone(), one.hits.len())).collect::<Vec<_>>()
        };
        assert_eq!(of(3, 2), [("a".to_owned(), 2), ("b".to_owned(), 2)]);
        assert_eq!(of(1, 2), [("a".to_owned(), 1), ("b".to_owned(), 1)]);
        assert_eq!(of(3, 1), [("a".to_owned(), 2)]);
    }
}
