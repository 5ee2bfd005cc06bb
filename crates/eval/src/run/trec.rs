//! The rankings of a run and its gold in TREC's formats, for other tools to score.

use std::fs::{self, File};
use std::io::{BufWriter, Write};
use std::path::Path;

use super::cut::Cut;
use super::retrieve::Ranking;
use super::score::Scorer;
use super::{Observer, RunError};
use crate::data::Question;
use crate::format::listed_names;
use crate::metrics::trec::{Qrel, RunLine, write_qrels, write_run};

/// Writes `CHUNKER.qrels` and for each mode `CHUNKER.MODE.run` into a folder.
///
/// A document of these files is a chunk: its document's id, `#`, and its place there. Its grade is the gold that it holds, in
/// the units that retrieval is measured in; chunks without gold are in no line. A question whose search failed is in no run.
pub(super) fn write(
    folder: &Path,
    cut: &Cut,
    rankings: &[Ranking],
    questions: &[Question],
    scorer: &Scorer<'_>,
) -> Result<(), RunError> {
    fs::create_dir_all(folder).map_err(RunError::io(folder))?;
    let name = file_name(&cut.name);
    let qrels: Vec<Qrel> = (questions.iter().enumerate())
        .flat_map(|(q, question)| {
            scorer.graded(q, cut).into_iter().map(|(document, ordinal, grade)| Qrel {
                query: question.id.clone(),
                document: scorer.chunk_id(document, ordinal),
                grade: i64::try_from(grade).unwrap_or(i64::MAX),
            })
        })
        .collect();
    save(&folder.join(format!("{name}.qrels")), |out| write_qrels(out, &qrels))?;
    for ranking in rankings {
        let lines: Vec<RunLine> = (questions.iter().zip(&ranking.hits).enumerate())
            .filter(|(q, _)| !ranking.failed.contains_key(q))
            .flat_map(|(_, (question, hits))| {
                hits.iter().map(|hit| RunLine {
                    query: question.id.clone(),
                    document: scorer.chunk_id(hit.document, hit.ordinal),
                    score: hit.score,
                })
            })
            .collect();
        let tag = format!("{}.{}", cut.name, ranking.mode);
        let path = folder.join(format!("{name}.{}.run", file_name(&ranking.mode)));
        save(&path, |out| write_run(out, &lines, &tag))?;
    }
    Ok(())
}

/// Says of whom there are no such files: of chunkers that an earlier session measured, and of retrievers of others.
pub(super) fn note_missing(measured: &[&str], retrievers: &[&str], observer: &dyn Observer) {
    for (names, why) in [
        (measured, "an earlier session measured them; without --resume they are written"),
        (retrievers, "nobody knows all chunks of a retriever of others"),
    ] {
        if !names.is_empty() {
            observer.note(&format!("no TREC files of {}: {why}", listed_names(names)));
        }
    }
}

fn save(path: &Path, write: impl FnOnce(&mut BufWriter<File>) -> std::io::Result<()>) -> Result<(), RunError> {
    let all = || {
        let mut out = BufWriter::new(File::create(path)?);
        write(&mut out)?;
        out.flush()
    };
    all().map_err(RunError::io(path))
}

/// A name that every system takes for a file, another one for every name.
fn file_name(name: &str) -> String {
    let mut out = String::new();
    for c in name.chars() {
        if c.is_ascii_alphanumeric() || c == '-' || c == '_' {
            out.push(c);
        } else {
            out.push_str(&format!("%{:X}", u32::from(c)));
        }
    }
    out
}
