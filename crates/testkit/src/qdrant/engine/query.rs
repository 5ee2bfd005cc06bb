//! Searching: every vector is looked at.

use std::collections::{BTreeMap, HashMap, HashSet};

use qdrant_client::qdrant::query::Variant;
use qdrant_client::qdrant::{
    Distance, Fusion, PrefetchQuery, Query, QueryPoints, ScoredPoint, VectorInput, vector_input,
};
use tonic::Status;

use super::model::Key;
use super::select::payload;
use super::store::{Store, sparse_vector};

/// The server's constant of reciprocal rank fusion where none is given.
const DEFAULT_RRF_K: u32 = 2;

/// Points with their scores, the best first.
type Ranked = Vec<(Key, f32)>;

impl Store {
    pub fn query(&self, request: QueryPoints) -> Result<Vec<ScoredPoint>, Status> {
        if request.lookup_from.is_some() {
            return Err(Status::unimplemented("the test server looks nothing up elsewhere"));
        }
        let offset = request.offset.unwrap_or(0);
        let limit = request.limit.unwrap_or(10);
        let whole = PrefetchQuery {
            prefetch: request.prefetch,
            query: request.query,
            using: request.using,
            filter: request.filter,
            params: request.params,
            score_threshold: request.score_threshold,
            limit: Some(limit.saturating_add(offset)),
            lookup_from: None,
        };
        let ranked = self.run(&whole)?;
        let skipped = ranked.into_iter().skip(usize::try_from(offset).unwrap_or(usize::MAX));
        let points = skipped.map(|(key, score)| ScoredPoint {
            id: Some(key.to_id()),
            score,
            payload: self
                .points
                .get(&key)
                .map(|stored| payload(stored.payload.clone(), request.with_payload.as_ref()))
                .unwrap_or_default(),
            ..ScoredPoint::default()
        });
        Ok(points.collect())
    }

    fn run(&self, step: &PrefetchQuery) -> Result<Ranked, Status> {
        let lists: Vec<Ranked> = step.prefetch.iter().map(|inner| self.run(inner)).collect::<Result<_, _>>()?;
        let passing: HashSet<&Key> = self.passing(step.filter.as_ref())?.collect();
        let using = step.using.as_deref().unwrap_or("");
        let mut ranked = match step.query.as_ref().and_then(|Query { variant }| variant.as_ref()) {
            Some(Variant::Nearest(vector)) => {
                let prefetched: Option<HashSet<Key>> =
                    (!lists.is_empty()).then(|| lists.into_iter().flatten().map(|(key, _)| key).collect());
                let candidate = |key: &Key| {
                    passing.contains(key) && prefetched.as_ref().is_none_or(|prefetched| prefetched.contains(key))
                };
                self.nearest(vector, using, candidate)?
            }
            Some(Variant::Fusion(fusion)) if *fusion == i32::from(Fusion::Rrf) => fuse(lists, DEFAULT_RRF_K, &[])?,
            Some(Variant::Rrf(rrf)) => fuse(lists, rrf.k.unwrap_or(DEFAULT_RRF_K), &rrf.weights)?,
            _ => return Err(Status::unimplemented("the test server knows nearest and rrf queries only")),
        };
        ranked.retain(|(key, score)| passing.contains(key) && step.score_threshold.is_none_or(|least| *score >= least));
        ranked.truncate(usize::try_from(step.limit.unwrap_or(10)).unwrap_or(usize::MAX));
        Ok(ranked)
    }

    fn nearest(&self, vector: &VectorInput, using: &str, candidate: impl Fn(&Key) -> bool) -> Result<Ranked, Status> {
        let points = self.points.iter().filter(|(key, _)| candidate(key));
        match &vector.variant {
            Some(vector_input::Variant::Dense(query)) => {
                let query = self.dense_vector(using, &query.data)?;
                let distance = self.dense.get(using).map_or(Distance::Cosine, |(_, distance)| *distance);
                let scored = points.filter_map(|(key, stored)| {
                    let vector = stored.dense.get(using)?;
                    Some((key.clone(), measure(distance, &query, vector)))
                });
                let smallest_first = matches!(distance, Distance::Euclid | Distance::Manhattan);
                Ok(sorted(scored.collect(), smallest_first))
            }
            Some(vector_input::Variant::Sparse(query)) => {
                let mut query = sparse_vector(query)?;
                if self.idf(using)? {
                    self.weigh(using, &mut query);
                }
                // As from an inverted index: what shares no term is not found.
                let scored = points.filter_map(|(key, stored)| {
                    let vector = stored.sparse.get(using)?;
                    let shared = || query.iter().filter_map(|(index, q)| vector.get(index).map(|v| q * v));
                    shared().next()?;
                    Some((key.clone(), shared().sum()))
                });
                Ok(sorted(scored.collect(), false))
            }
            _ => Err(Status::unimplemented("the test server compares dense and sparse vectors only")),
        }
    }

    /// Multiplies each term by `ln(1 + (n - df + 0.5) / (df + 0.5))`, `n` being the points that have such a vector.
    fn weigh(&self, using: &str, query: &mut BTreeMap<u32, f32>) {
        let vectors: Vec<_> = self.points.values().filter_map(|stored| stored.sparse.get(using)).collect();
        #[allow(clippy::cast_precision_loss, reason = "as the server computes it")]
        for (index, weight) in query.iter_mut() {
            let n = vectors.len() as f32;
            let df = vectors.iter().filter(|vector| vector.contains_key(index)).count() as f32;
            *weight *= ((n - df + 0.5) / (df + 0.5) + 1.0).ln();
        }
    }
}

fn measure(distance: Distance, a: &[f32], b: &[f32]) -> f32 {
    let pairs = a.iter().zip(b);
    match distance {
        Distance::Euclid => pairs.map(|(x, y)| (x - y) * (x - y)).sum::<f32>().sqrt(),
        Distance::Manhattan => pairs.map(|(x, y)| (x - y).abs()).sum(),
        // Vectors of cosine are at length 1.
        _ => pairs.map(|(x, y)| x * y).sum(),
    }
}

fn sorted(mut ranked: Ranked, smallest_first: bool) -> Ranked {
    ranked.sort_by(|a, b| {
        let order = if smallest_first { a.1.total_cmp(&b.1) } else { b.1.total_cmp(&a.1) };
        order.then_with(|| a.0.cmp(&b.0))
    });
    ranked
}

/// Reciprocal rank fusion as the server does it: place `r` from 0 counts `1 / ((r + 1) / weight + k - 1)`.
fn fuse(lists: Vec<Ranked>, k: u32, weights: &[f32]) -> Result<Ranked, Status> {
    if lists.is_empty() {
        return Err(Status::invalid_argument("Bad request: Cannot fuse without prefetches"));
    }
    if !weights.is_empty() && weights.len() != lists.len() {
        return Err(Status::invalid_argument("Bad request: Number of weights in RRF should match prefetches"));
    }
    let mut scores: HashMap<Key, f32> = HashMap::new();
    for (list, ranked) in lists.into_iter().enumerate() {
        let weight = weights.get(list).copied().unwrap_or(1.0);
        #[allow(clippy::cast_precision_loss, reason = "as the server computes it")]
        for (place, (key, _)) in ranked.into_iter().enumerate() {
            let score = if weight > 0.0 { 1.0 / ((place + 1) as f32 / weight + k as f32 - 1.0) } else { 0.0 };
            *scores.entry(key).or_default() += score;
        }
    }
    Ok(sorted(scores.into_iter().collect(), false))
}
