use std::collections::HashMap;

use pericope_store::{Clause, Query, Terms};
use tantivy::collector::TopDocs;
use tantivy::query::{BooleanQuery, BoostQuery, EnableScoring, Occur, PhraseQuery, Query as TextQuery, TermQuery};
use tantivy::schema::{Field, IndexRecordOption};
use tantivy::{DocAddress, DocSet, Searcher, Term};

use super::{Candidate, Passing, best};
use crate::IndexError;
use crate::engines::{Snapshot, TextIndex};

/// The `depth` chunks that score highest by BM25 (tantivy's, k1 = 1.2, b = 0.75), summed over the clauses and fields.
///
/// Which segments the index happens to consist of, and in which order scores are summed there, must not show: the
/// candidates are scored again, clause by clause in the order of the query, and equal scores are ordered by document.
pub(crate) fn bm25(
    text: &TextIndex,
    snapshot: &Snapshot,
    terms: &Terms,
    query: &Query,
    passing: Option<&Passing>,
    depth: usize,
) -> Result<Vec<(Candidate, f64)>, IndexError> {
    let searcher = &snapshot.searcher;
    let clauses = clauses(text, terms, query);
    let all = usize::try_from(searcher.num_docs()).unwrap_or(usize::MAX);
    if clauses.is_empty() || depth == 0 || all == 0 {
        return Ok(Vec::new());
    }
    let union: Box<dyn TextQuery> =
        Box::new(BooleanQuery::new(clauses.iter().map(|c| (Occur::Should, c.box_clone())).collect()));
    let union = match passing {
        Some(passing) => BooleanQuery::new(vec![(Occur::Must, union), (Occur::Must, passing.query())]),
        None => BooleanQuery::new(vec![(Occur::Must, union)]),
    };
    let mut limit = depth.saturating_add(32).min(all);
    let found = loop {
        let found = searcher.search(&union, &TopDocs::with_limit(limit).order_by_score())?;
        // Chunks that score like the last one that counts, and were cut off, might come before it by their names.
        let last = found.last().map_or(0.0, |f| f.0);
        let tied = found.get(depth - 1).is_some_and(|f| last >= f.0 - f.0.abs() * 1e-5);
        if found.len() < limit || limit == all || !tied {
            break found;
        }
        limit = limit.saturating_mul(2).min(all);
    };
    let addresses: Vec<DocAddress> = found.into_iter().map(|(_, address)| address).collect();
    let scores = score(searcher, &clauses, &addresses)?;
    let mut scored = Vec::with_capacity(addresses.len());
    for address in addresses {
        let candidate = Candidate::at(snapshot, address)?;
        scored.push((candidate, scores.get(&address).copied().unwrap_or(0.0)));
    }
    Ok(best(scored, depth))
}

fn clauses(text: &TextIndex, terms: &Terms, query: &Query) -> Vec<Box<dyn TextQuery>> {
    let fields = text.fields;
    let weighted =
        [(fields.searched(), 1.0), (fields.heading_path, query.heading_weight), (fields.title, query.title_weight)];
    let mut clauses: Vec<Box<dyn TextQuery>> = Vec::new();
    for clause in &terms.clauses {
        for (field, weight) in weighted.into_iter().filter(|&(_, weight)| weight > 0.0) {
            clauses.push(Box::new(BoostQuery::new(in_field(clause, field), weight)));
        }
    }
    clauses
}

fn in_field(clause: &Clause, field: Field) -> Box<dyn TextQuery> {
    match clause {
        Clause::Word(word) => {
            Box::new(TermQuery::new(Term::from_field_text(field, word), IndexRecordOption::WithFreqs))
        }
        Clause::Phrase(words) => {
            let terms = words.iter().map(|(at, word)| (*at, Term::from_field_text(field, word))).collect();
            Box::new(PhraseQuery::new_with_offset(terms))
        }
    }
}

/// The score of each address: the clauses' scores, added up in their order.
fn score(
    searcher: &Searcher,
    clauses: &[Box<dyn TextQuery>],
    addresses: &[DocAddress],
) -> Result<HashMap<DocAddress, f64>, IndexError> {
    let mut ordered = addresses.to_vec();
    ordered.sort_unstable();
    let mut scores = HashMap::with_capacity(ordered.len());
    for clause in clauses {
        let weight = clause.weight(EnableScoring::enabled_from_searcher(searcher))?;
        for group in ordered.chunk_by(|a, b| a.segment_ord == b.segment_ord) {
            let Some(segment) = group.first().map(|a| searcher.segment_reader(a.segment_ord)) else { continue };
            let mut scorer = weight.scorer(segment, 1.0)?;
            for &address in group {
                if scorer.doc() < address.doc_id {
                    scorer.seek(address.doc_id);
                }
                if scorer.doc() == address.doc_id {
                    *scores.entry(address).or_insert(0.0) += f64::from(scorer.score());
                }
            }
        }
    }
    Ok(scores)
}
