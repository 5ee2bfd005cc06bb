//! The steps of the measurement.

use std::io::Write;
use std::path::Path;
use std::time::{Duration, Instant, SystemTime, UNIX_EPOCH};

use anyhow::{Context, Result, ensure};
use pericope_util::dot;
use serde_json::{Value, json};

use crate::data::{Data, NEAREST};
use crate::exact;
use crate::usage::{Watch, mapped, own, peak, processor};
use crate::ways::{self, Open};

/// What a search has to find of the true neighbours.
const RECALL: f64 = 0.99;
/// How long a reader goes on after it has seen what was written.
const AFTER: Duration = Duration::from_millis(200);

fn now() -> f64 {
    SystemTime::now().duration_since(UNIX_EPOCH).unwrap_or_default().as_secs_f64()
}

fn quantile(times: &mut [f64], share: f64) -> f64 {
    times.sort_unstable_by(f64::total_cmp);
    let at = ((times.len() as f64 * share).ceil() as usize).clamp(1, times.len().max(1)) - 1;
    times.get(at).copied().unwrap_or(f64::NAN)
}

/// Writes the first rows into a new folder.
pub fn build(way: &str, data: &Path, rows: usize, dir: &Path) -> Result<Value> {
    let (way, data, watch, from) = (ways::by_name(way)?, Data::open(data)?, Watch::start(), Instant::now());
    way.write(dir, &data, 0..rows, &mut || {})?;
    Ok(
        json!({ "seconds": from.elapsed().as_secs_f64(), "processor": processor(), "own_mb": watch.end(), "peak_mb": peak() }),
    )
}

/// Opens a folder and asks one query.
pub fn open(way: &str, data: &Path, dir: &Path, depth: usize) -> Result<Value> {
    let (way, data) = (ways::by_name(way)?, Data::open(data)?);
    let mut times = Vec::new();
    let from = Instant::now();
    let mut store = way.open(dir)?;
    for query in &data.queries {
        let asked = if times.is_empty() { from } else { Instant::now() };
        store.search(query, depth)?;
        times.push(asked.elapsed().as_secs_f64() * 1e3);
    }
    let first = times.remove(0);
    Ok(json!({
        "first_ms": first, "p50_ms": quantile(&mut times, 0.5), "p95_ms": quantile(&mut times, 0.95),
        "own_mb": own(), "mapped_mb": mapped(), "peak_mb": peak(),
    }))
}

/// The share of the true neighbours that are found.
fn recall(store: &mut dyn Open, depth: usize, data: &Data, truth: &[f32]) -> Result<f64> {
    let mut hits = 0;
    for (query, tenth) in data.queries.iter().zip(truth) {
        for row in store.search(query, depth)? {
            // A rounding's worth below the tenth counts: others sum in another order.
            hits += usize::from(dot(query, &data.row(row as usize)?) >= tenth - 1e-6);
        }
    }
    Ok(hits as f64 / (truth.len() * NEAREST) as f64)
}

/// The smallest depth that finds enough.
pub fn tune(way: &str, data: &Path, rows: usize, dir: &Path) -> Result<Value> {
    let (truth, way, data) = (exact::read(data, rows)?, ways::by_name(way)?, Data::open(data)?);
    ensure!(truth.len() == data.queries.len(), "the truth is of other queries");
    let (mut store, mut best) = (way.open(dir)?, (0, 0.0));
    for &depth in way.depths() {
        best = (depth, recall(store.as_mut(), depth, &data, &truth)?);
        if best.1 >= RECALL {
            break;
        }
    }
    Ok(json!({ "depth": best.0, "recall": best.1, "enough": best.1 >= RECALL }))
}

/// Asks a query for each number that comes in, and says the milliseconds that it took. The numbers of several such
/// processes are dealt out in turn.
pub fn search(way: &str, data: &Path, dir: &Path, depth: usize) -> Result<Value> {
    let (way, data) = (ways::by_name(way)?, Data::open(data)?);
    let mut store = way.open(dir)?;
    for line in std::io::stdin().lines() {
        let query = data.queries.get(crate::number(&line?)?).context("there is no such query")?;
        let from = Instant::now();
        let found = store.search(query, depth)?;
        let time = from.elapsed().as_secs_f64() * 1e3;
        ensure!(found.len() >= NEAREST, "{} found {}", way.name(), found.len());
        println!("{time}");
        std::io::stdout().flush()?;
    }
    Ok(json!({ "own_mb": own(), "mapped_mb": mapped() }))
}

/// Adds one row for every hundred that are there, and says when it was done.
pub fn add(way: &str, data: &Path, rows: usize, dir: &Path) -> Result<Value> {
    let (way, data, watch, from) = (ways::by_name(way)?, Data::open(data)?, Watch::start(), Instant::now());
    way.write(dir, &data, rows..rows + rows / 100, &mut || {
        println!("ready");
        drop(std::io::stdout().flush());
    })?;
    let (seconds, done) = (from.elapsed().as_secs_f64(), now());
    Ok(json!({ "seconds": seconds, "done": done, "own_mb": watch.end(), "peak_mb": peak() }))
}

/// Searches without a pause while another process adds, until the last of the new rows is found.
pub fn read(way: &str, data: &Path, rows: usize, dir: &Path, depth: usize) -> Result<Value> {
    let (way, data) = (ways::by_name(way)?, Data::open(data)?);
    let last = rows + rows / 100 - 1;
    let (new, limit) = (data.row(last)?, Instant::now() + Duration::from_secs(1500));
    let mut store = match way.open(dir) {
        Ok(store) => store,
        Err(error) => return Ok(json!({ "opened": false, "error": format!("{error:#}") })),
    };
    let (mut times, mut seen, mut until, mut failed) = (Vec::new(), None, None, None);
    for query in data.queries.iter().cycle() {
        let from = Instant::now();
        let found = store.refresh().and_then(|()| store.search(query, depth));
        times.push(from.elapsed().as_secs_f64() * 1e3);
        if let Err(error) = found {
            failed = Some(format!("{error:#}"));
            break;
        }
        if seen.is_none() && store.search(&new, depth)?.first() == Some(&(last as u32)) {
            seen = Some(now());
            until = Some(Instant::now() + AFTER);
        }
        if until.unwrap_or(limit) < Instant::now() {
            break;
        }
    }
    Ok(json!({
        "opened": true, "searches": times.len(), "failed": failed, "seen": seen,
        "p50_ms": quantile(&mut times, 0.5), "max_ms": quantile(&mut times, 1.0),
    }))
}
