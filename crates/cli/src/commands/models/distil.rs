//! `pericope models distil`

use std::path::PathBuf;
use std::time::Instant;

use pericope_encode::models::Models;
use pericope_encode::{Base, DistilOptions, distil};
use serde::Serialize;

use super::by_kind;
use crate::commands::print_json;
use crate::progress;
use crate::resources::shown;
use crate::status::{Failure, Outcome, Status};

/// The embedder whose vectors are made of MiniLM.
pub(super) const STATIC: &str = "static";

/// Numbers of its vectors.
pub(super) const DIMENSION: usize = 256;

/// The encoder that it is made of.
const BASE: &str = "minilm";

#[derive(Serialize)]
struct Made {
    model: String,
    embedder: String,
    path: String,
    tokens: usize,
    dimension: usize,
    bytes: u64,
    seconds: f64,
}

/// Runs the command.
pub(super) fn run(model: &str, out: Option<PathBuf>, dimension: usize, json: bool, quiet: bool) -> Outcome {
    let (out, embedder) = match out {
        Some(out) => {
            let embedder = format!("{STATIC}:{}", out.display());
            (out, embedder)
        }
        None if model == BASE => (Models::from_env().map_err(by_kind)?.static_folder(), STATIC.to_owned()),
        None => return Err(Failure::usage(format!("name a folder for the static vectors of {model}: --out DIR"))),
    };
    let before = Instant::now();
    let base = Base::open(model).map_err(by_kind)?;
    let bar = progress::bar(base.tokens.vocabulary() as u64, &format!("distilling {model}"), quiet || json);
    let made = distil(&base, &DistilOptions { dimension }, &out, &|done, _| bar.set_position(done as u64));
    bar.finish_and_clear();
    let made = made.map_err(by_kind)?;
    let seconds = before.elapsed().as_secs_f64();
    if json {
        return print_json(&Made {
            model: model.to_owned(),
            embedder,
            path: out.display().to_string(),
            tokens: made.tokens,
            dimension: made.dimension,
            bytes: made.bytes,
            seconds,
        });
    }
    if !quiet {
        tell!(
            "{}: {} tokens, {} numbers each, {:.1} MB, made in {seconds:.0} s; use it with --embedder {embedder}",
            shown(&out),
            made.tokens,
            made.dimension,
            made.bytes as f64 / 1e6,
        );
    }
    Ok(Status::Done)
}
