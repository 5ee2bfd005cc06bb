//! Vectors like those of real sentences, as many as are asked for.
//!
//! A made vector lies between a real one and one of its nearest neighbours, and is moved by the differences of other near
//! pairs: it stays where real vectors are. How far it is moved is chosen so that nearest neighbours are as similar among
//! made vectors as among as many real ones.

use std::fs::File;
use std::io::{BufWriter, Write};
use std::path::Path;

use anyhow::{Context, ensure};
use pericope_util::dot;
use rayon::prelude::*;
use serde_json::{Value, json};
use uuid::Uuid;

use crate::data::{BATCH, DIMENSION, NEAREST, bytes_of};
use crate::vectors::{GenerationId, VectorSet};

const QUERIES: usize = 200;
/// Neighbours of a real vector that it is mixed with.
const NEAR: usize = 16;
/// Differences of near pairs that move a made vector.
const MOVES: usize = 3;
/// Vectors whose neighbours are looked at for a statistic.
const PROBES: usize = 1000;
const SEED: u64 = 20261122;

/// Pseudo-random numbers (SplitMix64).
struct Draw(u64);

impl Draw {
    fn new(seed: u64) -> Self {
        Self(seed)
    }

    fn next(&mut self) -> u64 {
        self.0 = self.0.wrapping_add(0x9e37_79b9_7f4a_7c15);
        let mut z = self.0;
        z = (z ^ (z >> 30)).wrapping_mul(0xbf58_476d_1ce4_e5b9);
        z = (z ^ (z >> 27)).wrapping_mul(0x94d0_49bb_1331_11eb);
        z ^ (z >> 31)
    }

    fn below(&mut self, end: usize) -> usize {
        (self.next() % end.max(1) as u64) as usize
    }

    /// From 0 to 1.
    fn share(&mut self) -> f32 {
        (self.next() >> 40) as f32 / (1u64 << 24) as f32
    }
}

fn normalize(vector: &mut [f32]) {
    let length = dot(vector, vector).sqrt();
    vector.iter_mut().for_each(|value| *value /= length);
}

/// The vectors of an index that `pericope index` made, in the order of their ids.
fn vectors_of(index: &Path) -> anyhow::Result<Vec<Vec<f32>>> {
    let folder = index.join("vectors");
    let names = std::fs::read_dir(&folder).with_context(|| format!("cannot open {}", folder.display()))?;
    let id: GenerationId = names
        .filter_map(|entry| entry.ok()?.file_name().to_str()?.strip_suffix(".generation")?.parse().ok())
        .next()
        .context("the index has no vectors")?;
    let set = VectorSet::open(&folder, id, DIMENSION, None)?.context("the index has no vectors")?;
    let mut ids: Vec<Uuid> = set.all_points()?;
    ids.sort_unstable();
    let mut found = set.vectors_of(&ids)?;
    Ok(ids.iter().filter_map(|id| found.remove(id)).collect())
}

/// The rows with the highest scores, best first, without the row itself.
fn near(rows: &[Vec<f32>], to: &[f32], but: usize, count: usize) -> Vec<(f32, u32)> {
    let mut scores: Vec<(f32, u32)> = rows.iter().zip(0..).map(|(row, at)| (dot(row, to), at)).collect();
    scores.swap_remove(but);
    scores.select_nth_unstable_by(count - 1, |a, b| b.0.total_cmp(&a.0));
    scores.truncate(count);
    scores.sort_unstable_by(|a, b| b.0.total_cmp(&a.0).then(a.1.cmp(&b.1)));
    scores
}

/// The mean similarity of a row to its nearest, to its tenth, and to any other.
fn statistics(rows: &[Vec<f32>]) -> [f32; 3] {
    let step = (rows.len() / PROBES).max(1);
    let probes: Vec<usize> = (0..rows.len()).step_by(step).take(PROBES).collect();
    let sums = probes
        .par_iter()
        .map(|&at| {
            let found = near(rows, &rows[at], at, NEAREST);
            let any = rows.iter().step_by(97).map(|row| dot(row, &rows[at])).sum::<f32>();
            [found[0].0, found[NEAREST - 1].0, any / rows.len().div_ceil(97) as f32]
        })
        .collect::<Vec<_>>();
    let mean = |part: usize| sums.iter().map(|sum| sum[part]).sum::<f32>() / sums.len() as f32;
    [mean(0), mean(1), mean(2)]
}

struct Maker {
    real: Vec<Vec<f32>>,
    near: Vec<Vec<(f32, u32)>>,
    /// How far a vector is moved.
    scale: f32,
}

impl Maker {
    fn pair(&self, draw: &mut Draw) -> (usize, usize) {
        let a = draw.below(self.real.len());
        (a, self.near[a][draw.below(NEAR)].1 as usize)
    }

    fn make(&self, row: usize) -> Vec<f32> {
        let mut draw = Draw::new(SEED ^ (row as u64).wrapping_mul(0xd129_42f0_81f2_c5a7));
        let ((a, b), share) = (self.pair(&mut draw), draw.share());
        let mut vector: Vec<f32> = self.real[a].iter().zip(&self.real[b]).map(|(a, b)| a + share * (b - a)).collect();
        for _ in 0..MOVES {
            let ((c, d), far) = (self.pair(&mut draw), self.scale * (2.0 * draw.share() - 1.0));
            for ((value, c), d) in vector.iter_mut().zip(&self.real[c]).zip(&self.real[d]) {
                *value += far * (c - d);
            }
        }
        normalize(&mut vector);
        vector
    }
}

/// Writes `rows` vectors and the queries into a folder, and says how alike real and made ones are.
pub fn make(sentences: &Path, questions: &Path, rows: usize, into: &Path) -> anyhow::Result<Value> {
    std::fs::create_dir_all(into)?;
    let (real, mut queries) = (vectors_of(sentences)?, vectors_of(questions)?);
    ensure!(real.len() > NEAR && queries.len() >= QUERIES, "too few sentences or questions");
    queries.truncate(QUERIES);
    let near: Vec<_> = (0..real.len()).into_par_iter().map(|at| near(&real, &real[at], at, NEAR)).collect();
    let (count, wanted) = (real.len(), statistics(&real));
    let mut maker = Maker { real, near, scale: 0.0 };
    let mut best = (f32::INFINITY, 0.0, [0.0; 3]);
    for step in 0..=12 {
        maker.scale = step as f32 * 0.1;
        let sample: Vec<Vec<f32>> = (0..count).into_par_iter().map(|row| maker.make(row)).collect();
        let found = statistics(&sample);
        let miss = (found[0] - wanted[0]).abs();
        if miss < best.0 {
            best = (miss, maker.scale, found);
        }
    }
    maker.scale = best.1;
    let mut out = BufWriter::new(File::create(into.join("vectors.f32"))?);
    for from in (0..rows).step_by(BATCH) {
        let batch: Vec<Vec<f32>> =
            (from..(from + BATCH).min(rows)).into_par_iter().map(|row| maker.make(row)).collect();
        batch.iter().try_for_each(|vector| out.write_all(&bytes_of(vector)))?;
    }
    out.flush()?;
    std::fs::write(into.join("queries.f32"), bytes_of(&queries.concat()))?;
    Ok(json!({
        "real": count, "queries": queries.len(), "rows": rows, "scale": maker.scale,
        "similarity": { "real": wanted, "made": best.2 },
    }))
}
