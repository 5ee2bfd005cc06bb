//! The search: all codes are looked at, and what they leave open is settled by the exact vectors.

use std::cmp::Reverse;
use std::collections::BinaryHeap;
use std::ops::Range;

use pericope_util::dot;
use rayon::prelude::*;
use uuid::Uuid;

use super::codes::{CodedQuery, normalize};
use super::generation::Part;
use crate::IndexError;

/// Rows that are looked at in one go.
const BLOCK: usize = 4096;
/// Rows whose products are worked out before the first of them is looked at.
const AT_ONCE: usize = 64;
/// Rows from which on several threads look.
const PARALLEL: usize = 32 * BLOCK;

/// A score, ordered. It is never NaN.
#[derive(Clone, Copy, PartialEq)]
struct Score(f32);

impl Eq for Score {}

impl PartialOrd for Score {
    fn partial_cmp(&self, other: &Self) -> Option<std::cmp::Ordering> {
        Some(self.cmp(other))
    }
}

impl Ord for Score {
    fn cmp(&self, other: &Self) -> std::cmp::Ordering {
        self.0.total_cmp(&other.0)
    }
}

/// The highest of the scores that were seen, up to a number of them.
#[derive(Clone)]
struct Highest {
    limit: usize,
    heap: BinaryHeap<Reverse<Score>>,
}

impl Highest {
    fn new(limit: usize) -> Self {
        Self { limit, heap: BinaryHeap::new() }
    }

    /// The lowest of them; below all scores while there are fewer.
    fn last(&self) -> f32 {
        match self.heap.peek() {
            Some(Reverse(score)) if self.heap.len() >= self.limit => score.0,
            _ => f32::NEG_INFINITY,
        }
    }

    fn push(&mut self, score: f32) {
        if self.heap.len() < self.limit {
            self.heap.push(Reverse(Score(score)));
        } else if score > self.last() {
            self.heap.pop();
            self.heap.push(Reverse(Score(score)));
        }
    }
}

/// A row that may be among the best.
#[derive(Clone, Copy)]
struct Candidate {
    part: usize,
    row: usize,
    /// The most that its score can be.
    most: f32,
}

/// What was found so far.
#[derive(Clone)]
struct Found {
    /// The least that the best rows score.
    least: Highest,
    candidates: Vec<Candidate>,
}

impl Found {
    fn new(limit: usize) -> Self {
        Self { least: Highest::new(limit), candidates: Vec::new() }
    }

    /// True where a row that scores at most so much may be among the best.
    #[inline(always)]
    fn may_hold(&self, most: f32) -> bool {
        most >= self.least.last()
    }

    /// Takes a row and the least that it scores.
    fn take(&mut self, least: f32, candidate: Candidate) {
        self.least.push(least);
        self.candidates.push(candidate);
    }

    fn and(mut self, other: Self) -> Self {
        other.least.heap.into_iter().for_each(|Reverse(score)| self.least.push(score.0));
        self.candidates.extend(other.candidates);
        self
    }
}

/// Which rows of a part are looked at.
enum Rows {
    All,
    /// These, ascending.
    Listed(Vec<usize>),
}

impl Rows {
    /// The rows of the ids in `among`, which ascend; all rows without it.
    fn of(part: &Part, among: Option<&[u128]>) -> Result<Self, IndexError> {
        let Some(mut among) = among else { return Ok(Self::All) };
        let ids = part.segment.ids()?;
        let (mut rows, mut at) = (Vec::new(), 0);
        while let (Some((&wanted, others)), Some(rest)) = (among.split_first(), ids.get(at..)) {
            among = others;
            at += ahead(rest, wanted);
            if ids.get(at) == Some(&wanted) {
                rows.push(at);
            }
        }
        Ok(Self::Listed(rows))
    }

    fn count(&self, part: &Part) -> usize {
        match self {
            Self::All => part.segment.rows(),
            Self::Listed(rows) => rows.len(),
        }
    }
}

/// How many of the ascending ids are below one: by steps that double, since it is most often near.
fn ahead(ids: &[u128], wanted: u128) -> usize {
    let mut reach = 1;
    while ids.get(reach - 1).is_some_and(|id| *id < wanted) {
        reach *= 2;
    }
    let from = reach / 2;
    from + ids.get(from..reach.min(ids.len())).unwrap_or_default().partition_point(|id| *id < wanted)
}

/// See [`VectorSet::nearest`](super::VectorSet::nearest).
pub(super) fn nearest(
    parts: &[Part],
    vector: &[f32],
    limit: usize,
    among: Option<&[Uuid]>,
) -> Result<Vec<(Uuid, f32)>, IndexError> {
    let mut query = vector.to_vec();
    normalize(&mut query);
    let among = among.map(|points| {
        let mut ids: Vec<u128> = points.iter().map(Uuid::as_u128).collect();
        ids.sort_unstable();
        ids.dedup();
        ids
    });
    let rows: Vec<Rows> =
        parts.iter().map(|part| Rows::of(part, among.as_deref())).collect::<Result<_, IndexError>>()?;
    let total: usize = parts.iter().zip(&rows).map(|(part, rows)| rows.count(part)).sum();
    if limit == 0 || total == 0 {
        return Ok(Vec::new());
    }
    // Read before the threads start, since what cannot be read is an error.
    parts.iter().try_for_each(|part| part.segment.codes().map(drop))?;
    let coded = CodedQuery::new(&query);
    let blocks = parts.iter().zip(&rows).enumerate().flat_map(|(at, (part, rows))| {
        let count = rows.count(part);
        (0..count).step_by(BLOCK).map(move |from| (at, from..(from + BLOCK).min(count)))
    });
    let look = |mut found: Found, (at, block): (usize, Range<usize>)| -> Result<Found, IndexError> {
        if let (Some(part), Some(rows)) = (parts.get(at), rows.get(at)) {
            scan(&coded, (at, part), rows, block, &mut found)?;
        }
        Ok(found)
    };
    let found = if total < PARALLEL {
        blocks.into_iter().try_fold(Found::new(limit), look)?
    } else {
        let blocks: Vec<_> = blocks.collect();
        let both = |a: Found, b: Found| Ok(a.and(b));
        blocks.into_par_iter().try_fold(|| Found::new(limit), look).try_reduce(|| Found::new(limit), both)?
    };
    settle(parts, &query, limit, found)
}

/// Looks at the codes of a block of rows.
fn scan(
    query: &CodedQuery,
    (at, part): (usize, &Part),
    rows: &Rows,
    block: Range<usize>,
    found: &mut Found,
) -> Result<(), IndexError> {
    let codes = part.segment.codes()?;
    let dimension = codes.codes.len() / part.segment.rows().max(1);
    let of = |rows: Range<usize>| codes.codes.get(rows.start * dimension..rows.end * dimension).unwrap_or_default();
    let mut look = |row: usize, product: i32| {
        if let Some(bound) = codes.bounds.get(row) {
            let (least, most) = query.score(product, *bound);
            // Few rows are deleted, so that comes last.
            if found.may_hold(most) && !part.deleted.holds(row) {
                found.take(least, Candidate { part: at, row, most });
            }
        }
    };
    match rows {
        Rows::All => {
            let mut products = [0; AT_ONCE];
            for from in block.clone().step_by(AT_ONCE) {
                let rows = from..(from + AT_ONCE).min(block.end);
                query.products(of(rows.clone()), &mut products);
                rows.zip(products).for_each(|(row, product)| look(row, product));
            }
        }
        Rows::Listed(rows) => {
            for &row in rows.get(block).unwrap_or_default() {
                let mut product = [0];
                query.products(of(row..row + 1), &mut product);
                look(row, product[0]);
            }
        }
    }
    Ok(())
}

/// Scores the candidates exactly, those first that may score highest, until no other can be among the best.
fn settle(parts: &[Part], query: &[f32], limit: usize, found: Found) -> Result<Vec<(Uuid, f32)>, IndexError> {
    let (least, mut candidates) = (found.least.last(), found.candidates);
    candidates.retain(|candidate| candidate.most >= least);
    candidates.sort_unstable_by(|a, b| b.most.total_cmp(&a.most).then((a.part, a.row).cmp(&(b.part, b.row))));
    let (mut best, mut scored) = (Highest::new(limit), Vec::new());
    let (mut bytes, mut vector) = (Vec::new(), Vec::new());
    for Candidate { part, row, most } in candidates {
        if most < best.last() {
            break;
        }
        let Some(part) = parts.get(part) else { continue };
        part.segment.exact(row, &mut bytes, &mut vector)?;
        let score = dot(query, &vector);
        best.push(score);
        if let Some(id) = part.segment.ids()?.get(row) {
            scored.push((Uuid::from_u128(*id), score));
        }
    }
    let last = best.last();
    scored.retain(|(_, score)| *score >= last);
    Ok(scored)
}
