//! A collection that is searched, with answers in the form of an embedded index's.

use std::sync::Arc;

use pericope_api::SentenceEncoder;
use pericope_index::{
    Group, Highlighter, Hit, Mode, Passage, Piece, Query, TEXT_ANALYZER, canonical_type, query_words,
};
use pericope_qdrant::{Collection, Error, Filter, Hit as Found, Target, file_type, term_index};

use super::failure;
use crate::status::Failure;

/// Groups need more hits than there are to be groups: so many times as many at first.
const DEPTH: usize = 4;

/// Hits of a document (or of none in particular), each with its neighbours where they were asked for.
pub type Answered = (Option<Group>, Vec<(Hit, Option<Passage>)>);

/// A collection, and what embeds queries for it.
pub struct ServerSearch {
    collection: Collection,
    encoder: Option<Arc<dyn SentenceEncoder>>,
}

impl ServerSearch {
    /// Opens a collection.
    ///
    /// # Errors
    /// Where there is none that can be read, or the server does not answer.
    pub fn open(target: &Target) -> Result<Self, Failure> {
        let collection = Collection::open(target).map_err(failure)?;
        match collection.record().analyzer.as_str() {
            TEXT_ANALYZER => Ok(Self { collection, encoder: None }),
            found => Err(failure(mismatch(&collection, "analyzer", found, TEXT_ANALYZER))),
        }
    }

    /// Name of the embedder that its vectors are made by, where it has any.
    pub fn embedded_by(&self) -> Option<&str> {
        self.collection.record().embedder.as_ref().map(|embedder| embedder.name.as_str())
    }

    /// Embeds queries by `encoder`, which must be the one that the collection was built with.
    ///
    /// # Errors
    /// A usage failure where it is another one.
    pub fn with_encoder(mut self, encoder: Arc<dyn SentenceEncoder>) -> Result<Self, Failure> {
        if let Some(recorded) = &self.collection.record().embedder {
            let fingerprint = encoder.fingerprint();
            if recorded.fingerprint != fingerprint {
                let found = format!("{} ({})", recorded.name, recorded.fingerprint);
                let asked = format!("{} ({fingerprint})", encoder.name());
                return Err(failure(mismatch(&self.collection, "embedder", &found, &asked)));
            }
        }
        self.encoder = Some(encoder);
        Ok(self)
    }

    /// Number of chunks.
    ///
    /// # Errors
    /// What the server says.
    pub fn chunks(&self) -> Result<u64, Failure> {
        self.collection.count().map_err(failure)
    }

    /// The best `query.k` chunks in one nameless group, or, with `per_document`, the best documents with so many chunks
    /// of each; with up to `context` chunks on both sides of every hit.
    ///
    /// # Errors
    /// A usage failure for a mode that the collection does not know; what the server says.
    pub fn find(&self, query: &Query, per_document: Option<usize>, context: usize) -> Result<Vec<Answered>, Failure> {
        let words = query_words(&query.text);
        let mut asked = self.asked(query, &words)?;
        let mut marker = Highlighter::weighted(words.into_iter().map(|word| (word, 1.0)));
        let Some(per_document) = per_document else {
            let found = self.collection.search(&asked).map_err(failure)?;
            let hits = found.iter().enumerate().map(|(i, found)| hit(i + 1, found, &mut marker)).collect();
            return Ok(vec![(None, self.with_context(hits, &found, context)?)]);
        };
        asked.k = query.k.saturating_mul(DEPTH);
        let (found, groups) = loop {
            let found = self.collection.search(&asked).map_err(failure)?;
            let hits = found.iter().enumerate().map(|(i, found)| hit(i + 1, found, &mut marker)).collect();
            let groups = Group::gather(hits, per_document.max(1));
            if found.len() < asked.k || groups.len() >= query.k {
                break (found, groups);
            }
            asked.k = asked.k.saturating_mul(DEPTH);
        };
        let with_hits = |mut group: Group| {
            let hits = std::mem::take(&mut group.hits);
            Ok((Some(group), self.with_context(hits, &found, context)?))
        };
        groups.into_iter().take(query.k).map(with_hits).collect()
    }

    fn asked(&self, query: &Query, words: &[String]) -> Result<pericope_qdrant::Query, Failure> {
        let mode = match query.mode {
            Mode::Bm25 => pericope_qdrant::Mode::Bm25,
            Mode::Dense => pericope_qdrant::Mode::Dense,
            Mode::Hybrid => pericope_qdrant::Mode::Hybrid,
        };
        let mut asked = pericope_qdrant::Query::new(mode, query.k);
        asked.depth = asked.depth.max(query.k.saturating_mul(10));
        asked.sparse = words.iter().map(|word| (term_index(word), 1.0)).collect();
        asked.sparse.sort_unstable_by_key(|(index, _)| *index);
        asked.sparse.dedup_by_key(|(index, _)| *index);
        if let Some(encoder) = self.encoder.as_ref().filter(|_| query.mode != Mode::Bm25) {
            let vectors = encoder.encode(&[&query.text]).map_err(Failure::runtime)?;
            asked.vector = vectors.rows().next().map(<[f32]>::to_vec);
        }
        let filter = query.filter.clone();
        asked.filter = Filter {
            paths: filter.path.into_iter().collect(),
            headings: filter.heading.into_iter().filter(|heading| !heading.trim().is_empty()).collect(),
            file_types: filter.file_type.iter().map(|kind| canonical_type(kind)).collect(),
        };
        Ok(asked)
    }

    /// Each hit with the chunks around it. A hit's rank is its place among `found`, from 1.
    fn with_context(
        &self,
        hits: Vec<Hit>,
        found: &[Found],
        context: usize,
    ) -> Result<Vec<(Hit, Option<Passage>)>, Failure> {
        if context == 0 {
            return Ok(hits.into_iter().map(|hit| (hit, None)).collect());
        }
        let asked: Vec<Found> = hits.iter().filter_map(|hit| found.get(hit.rank.saturating_sub(1))).cloned().collect();
        let windows = self.collection.neighbours(&asked, context as u64).map_err(failure)?;
        Ok(hits.into_iter().zip(windows).map(|(hit, window)| (hit, passage(window))).collect())
    }
}

fn mismatch(collection: &Collection, what: &str, found: &str, asked: &str) -> Error {
    Error::Mismatch {
        collection: collection.name().to_owned(),
        what: what.to_owned(),
        found: found.to_owned(),
        asked: asked.to_owned(),
    }
}

fn hit(rank: usize, found: &Found, marker: &mut Highlighter) -> Hit {
    let (snippet, highlights) = marker.mark(&found.text);
    let kind = match found.file_type.as_str() {
        "" => file_type(&found.document).map_or_else(|| "txt".to_owned(), |ending| canonical_type(&ending)),
        kind => kind.to_owned(),
    };
    Hit {
        rank,
        score: found.score,
        document: found.document.clone(),
        ordinal: place(found.ordinal),
        start: place(found.start),
        end: place(found.end),
        heading_path: found.heading_path.clone(),
        title: found.title.clone(),
        anchor: found.anchor.clone(),
        file_type: kind,
        text: found.text.clone(),
        tokens: place(found.tokens),
        snippet,
        highlights,
    }
}

fn passage(window: Vec<Found>) -> Option<Passage> {
    let mut pieces: Vec<Piece> = window
        .into_iter()
        .map(|one| Piece { start: place(one.start), end: place(one.end), lead: one.lead, text: one.text })
        .collect();
    pieces.sort_by_key(|piece| (piece.start, piece.end));
    Passage::of(pieces)
}

fn place(number: u64) -> usize {
    usize::try_from(number).unwrap_or(usize::MAX)
}
