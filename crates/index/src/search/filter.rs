//! The chunks that a search may find at all.

use std::collections::{BTreeSet, HashMap, HashSet};
use std::sync::Arc;

use pericope_store::{Analyzer, Filter, Language, analyzed, canonical_type};
use tantivy::collector::DocSetCollector;
use tantivy::index::SegmentId;
use tantivy::query::{
    AllQuery, BooleanQuery, ConstScorer, EmptyScorer, EnableScoring, Explanation, Occur, PhraseQuery,
    Query as TextQuery, Scorer, TermQuery, Weight,
};
use tantivy::schema::{Field, IndexRecordOption};
use tantivy::{DocAddress, DocId, DocSet, Score, Searcher, SegmentReader, TERMINATED, TantivyError, Term};
use uuid::Uuid;

use crate::IndexError;
use crate::engines::TextIndex;

/// The chunks that pass a filter, of one searcher.
pub(crate) struct Passing {
    /// Of each segment, in order.
    segments: HashMap<SegmentId, Arc<[DocId]>>,
}

impl Passing {
    /// The chunks that pass; nothing where all do.
    pub fn new(
        text: &TextIndex,
        searcher: &Searcher,
        filter: &Filter,
        analyzer: &dyn Analyzer,
        languages: &[Language],
    ) -> Result<Option<Self>, IndexError> {
        if filter.is_empty() {
            return Ok(None);
        }
        let fields = text.fields;
        let types = filter.file_types.iter().map(|wanted| -> Box<dyn TextQuery> {
            let term = Term::from_field_text(fields.file_type, &canonical_type(wanted));
            Box::new(TermQuery::new(term, IndexRecordOption::Basic))
        });
        // A heading without a word in it is no condition.
        let read =
            filter.headings.iter().flat_map(|heading| languages.iter().map(move |language| (heading, *language)));
        let headings = read.flat_map(|(heading, language)| {
            let words = analyzed(heading, analyzer, language);
            // Above the chunk or in it; an index that was made before the second was kept has the first alone.
            let places = [Some(fields.heading_path), fields.headings_within].into_iter().flatten();
            places.filter_map(|field| holding(&words, field)).collect::<Vec<_>>()
        });
        let lists: [Vec<Box<dyn TextQuery>>; 2] = [types.collect(), headings.collect()];
        let conditions: Vec<Box<dyn TextQuery>> =
            lists.into_iter().filter(|list| !list.is_empty()).map(any_of).collect();
        let mut addresses = None;
        for prefix in &filter.paths {
            let found = below(text, searcher, prefix.strip_prefix("./").unwrap_or(prefix))?;
            addresses.get_or_insert_with(HashSet::new).extend(found);
        }
        if !conditions.is_empty() || addresses.is_none() {
            let all: Box<dyn TextQuery> = match conditions.is_empty() {
                true => Box::new(AllQuery),
                false => Box::new(BooleanQuery::new(conditions.into_iter().map(|c| (Occur::Must, c)).collect())),
            };
            let found = searcher.search(&all, &DocSetCollector)?;
            addresses = Some(match addresses {
                Some(below) => below.intersection(&found).copied().collect(),
                None => found,
            });
        }
        let ordered: BTreeSet<DocAddress> = addresses.unwrap_or_default().into_iter().collect();
        let ordered: Vec<DocAddress> = ordered.into_iter().collect();
        let mut segments = HashMap::new();
        for group in ordered.chunk_by(|a, b| a.segment_ord == b.segment_ord) {
            let Some(first) = group.first() else { continue };
            let id = searcher.segment_reader(first.segment_ord).segment_id();
            segments.insert(id, group.iter().map(|address| address.doc_id).collect());
        }
        Ok(Some(Self { segments }))
    }

    pub fn is_empty(&self) -> bool {
        self.segments.is_empty()
    }

    /// As a clause that scores nothing.
    pub fn query(&self) -> Box<dyn TextQuery> {
        Box::new(Among(self.segments.clone()))
    }

    /// The ids of their vectors.
    pub fn points(&self, searcher: &Searcher) -> Result<Vec<Uuid>, IndexError> {
        let mut points = Vec::with_capacity(self.segments.values().map(|docs| docs.len()).sum());
        for segment in searcher.segment_readers() {
            let Some(docs) = self.segments.get(&segment.segment_id()) else { continue };
            let (high, low) = (segment.fast_fields().u64("point_high")?, segment.fast_fields().u64("point_low")?);
            let id = |&doc| Uuid::from_u64_pair(high.first(doc).unwrap_or(0), low.first(doc).unwrap_or(0));
            points.extend(docs.iter().map(id));
        }
        Ok(points)
    }
}

/// The chunks of which a field holds these words, one after the other; nothing where there is no word.
fn holding(words: &[(usize, String)], field: Field) -> Option<Box<dyn TextQuery>> {
    let terms: Vec<(usize, Term)> = words.iter().map(|(at, word)| (*at, Term::from_field_text(field, word))).collect();
    match terms.as_slice() {
        [] => None,
        [(_, term)] => Some(Box::new(TermQuery::new(term.clone(), IndexRecordOption::Basic))),
        _ => Some(Box::new(PhraseQuery::new_with_offset(terms))),
    }
}

fn any_of(conditions: Vec<Box<dyn TextQuery>>) -> Box<dyn TextQuery> {
    Box::new(BooleanQuery::new(conditions.into_iter().map(|c| (Occur::Should, c)).collect()))
}

/// The chunks of the documents whose ids begin with `prefix`.
fn below(text: &TextIndex, searcher: &Searcher, prefix: &str) -> Result<HashSet<DocAddress>, IndexError> {
    let mut addresses = HashSet::new();
    for (ord, segment) in (0..).zip(searcher.segment_readers()) {
        let inverted = segment.inverted_index(text.fields.document)?;
        let mut ids =
            inverted.terms().range().ge(prefix.as_bytes()).into_stream().map_err(IndexError::io(&text.path))?;
        while ids.advance() && ids.key().starts_with(prefix.as_bytes()) {
            let mut postings = inverted
                .read_postings_from_terminfo(ids.value(), IndexRecordOption::Basic)
                .map_err(IndexError::io(&text.path))?;
            while postings.doc() != TERMINATED {
                let doc = postings.doc();
                if segment.alive_bitset().is_none_or(|alive| alive.is_alive(doc)) {
                    addresses.insert(DocAddress::new(ord, doc));
                }
                postings.advance();
            }
        }
    }
    Ok(addresses)
}

/// Matches given chunks, with a score of 0.
#[derive(Clone)]
struct Among(HashMap<SegmentId, Arc<[DocId]>>);

impl std::fmt::Debug for Among {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        write!(f, "Among({} segments)", self.0.len())
    }
}

impl TextQuery for Among {
    fn weight(&self, _scoring: EnableScoring<'_>) -> tantivy::Result<Box<dyn Weight>> {
        Ok(Box::new(self.clone()))
    }
}

impl Weight for Among {
    fn scorer(&self, reader: &SegmentReader, _boost: Score) -> tantivy::Result<Box<dyn Scorer>> {
        Ok(match self.0.get(&reader.segment_id()) {
            Some(docs) => Box::new(ConstScorer::new(Listed { docs: Arc::clone(docs), at: 0 }, 0.0)),
            None => Box::new(EmptyScorer),
        })
    }

    fn explain(&self, reader: &SegmentReader, doc: DocId) -> tantivy::Result<Explanation> {
        match self.0.get(&reader.segment_id()).is_some_and(|docs| docs.binary_search(&doc).is_ok()) {
            true => Ok(Explanation::new("passes the filter", 0.0)),
            false => Err(TantivyError::InvalidArgument(format!("document {doc} does not pass the filter"))),
        }
    }
}

/// A sorted list as a set of documents.
struct Listed {
    docs: Arc<[DocId]>,
    at: usize,
}

impl DocSet for Listed {
    fn advance(&mut self) -> DocId {
        self.at = self.at.saturating_add(1);
        self.doc()
    }

    fn seek(&mut self, target: DocId) -> DocId {
        self.at += self.docs.get(self.at..).unwrap_or(&[]).partition_point(|&doc| doc < target);
        self.doc()
    }

    fn doc(&self) -> DocId {
        self.docs.get(self.at).copied().unwrap_or(TERMINATED)
    }

    fn size_hint(&self) -> u32 {
        u32::try_from(self.docs.len()).unwrap_or(u32::MAX)
    }
}
