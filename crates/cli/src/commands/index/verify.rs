//! `pericope index --verify DIR`

use std::path::Path;

use pericope_index::verify;
use serde::Serialize;

use crate::commands::print_json;
use crate::resources::shown;
use crate::status::{Outcome, Status};
use crate::stores;

#[derive(Serialize)]
struct Report {
    index: String,
    whole: bool,
    damaged: Vec<Damage>,
    /// Chunks that an earlier version embedded: dense search does not find them.
    chunks_without_vectors: u64,
}

#[derive(Serialize)]
struct Damage {
    file: String,
    /// What was found, and what to do.
    message: String,
}

/// Reads and checks all files of an index.
pub(super) fn run(dir: &Path, json: bool) -> Outcome {
    let verified = verify(dir).map_err(|error| stores::failure(error.into()))?;
    let damaged = verified.damaged.iter().map(|error| Damage {
        file: error.damaged_file().map_or_else(|| shown(dir), |file| shown(&file)),
        message: error.to_string(),
    });
    let report = Report {
        index: shown(dir),
        whole: verified.damaged.is_empty(),
        damaged: damaged.collect(),
        chunks_without_vectors: verified.without_vectors,
    };
    if json {
        print_json(&report)?;
    } else {
        for damage in &report.damaged {
            say!("{}", damage.message);
        }
        if report.whole {
            say!("{} is whole", report.index);
        }
        if report.chunks_without_vectors > 0 {
            say!(
                "{} chunks have no vector, since an earlier version embedded them; run `pericope index` on their files \
                 again, which embeds them",
                report.chunks_without_vectors
            );
        }
    }
    Ok(if report.whole { Status::Done } else { Status::Incomplete })
}
