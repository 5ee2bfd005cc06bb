//! The true nearest neighbours, by all scores.

use std::fs::File;
use std::io::{BufReader, Read};
use std::path::Path;

use anyhow::Context;
use pericope_util::dot;
use rayon::prelude::*;
use serde_json::{Value, json};

use crate::data::{BATCH, Data, NEAREST, bytes_of, numbers_of};

/// For each query the score of its tenth neighbour among the first `rows`; kept in a file.
pub fn truth(folder: &Path, rows: usize) -> anyhow::Result<Value> {
    let data = Data::open(folder)?;
    let mut best: Vec<Vec<f32>> = vec![Vec::new(); data.queries.len()];
    data.batches(0..rows, |_, batch| {
        best.par_iter_mut().zip(&data.queries).for_each(|(best, query)| {
            best.extend(batch.chunks_exact(query.len()).map(|row| dot(query, row)));
            best.sort_unstable_by(|a, b| b.total_cmp(a));
            best.truncate(NEAREST);
        });
        Ok(())
    })?;
    let tenth: Vec<f32> = best.iter().filter_map(|scores| scores.last().copied()).collect();
    std::fs::write(folder.join(format!("truth-{rows}.f32")), bytes_of(&tenth))?;
    let mean = |at: usize| best.iter().filter_map(|scores| scores.get(at)).sum::<f32>() / best.len() as f32;
    Ok(json!({ "rows": rows, "first": mean(0), "tenth": mean(NEAREST - 1), "batch": BATCH }))
}

/// What [`truth`] found.
pub fn read(folder: &Path, rows: usize) -> anyhow::Result<Vec<f32>> {
    let path = folder.join(format!("truth-{rows}.f32"));
    let mut bytes = Vec::new();
    let file = File::open(&path).with_context(|| format!("cannot open {}", path.display()))?;
    BufReader::new(file).read_to_end(&mut bytes)?;
    Ok(numbers_of(&bytes))
}
