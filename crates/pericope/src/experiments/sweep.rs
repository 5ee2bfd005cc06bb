use std::path::{Path, PathBuf};

use pericope_eval::answer::Ledger;
use pericope_eval::config::Experiment;
use pericope_eval::record::Summary;
use pericope_eval::run::{RunError, RunFolder};
use pericope_eval::sweep::Variant;
use pericope_report::run::{Overview, ReportError, write};

use super::{ExperimentError, Finished, Session};

/// A variant of a sweep that was run.
#[derive(Debug)]
pub struct Ran {
    /// The values that are its own.
    pub label: String,
    /// Where its files are.
    pub folder: PathBuf,
    /// Its figures.
    pub summary: Summary,
}

/// Runs the variants of a sweep, each in a folder of its own below `out`, and writes the report that sets them side by side.
/// They share one budget, and what one asked of a model is not asked again by the next.
///
/// `one` runs the variant of an index. Where it has no result, the sweep ends without one. `wrong` makes an error of `one`'s kind.
///
/// # Errors
/// Those of `one`; [`ExperimentError`] where `out` is held by another run or the report cannot be written.
pub fn sweep<E>(
    variants: &[Variant],
    out: &Path,
    session: Session<'_>,
    mut one: impl FnMut(usize, &Experiment, &Path, Session<'_>, Ledger) -> Result<Option<Finished>, E>,
    wrong: impl Fn(ExperimentError) -> E,
) -> Result<Option<Vec<Ran>>, E> {
    let _held = RunFolder::take(out).map_err(|error| wrong(RunError::from(error).into()))?;
    let not_written = |error: ReportError| wrong(ExperimentError::Report { folder: out.to_owned(), error });
    let mut ran = Vec::with_capacity(variants.len());
    let mut overview = Overview::new(out);
    for (number, variant) in variants.iter().enumerate() {
        let name = format!("{:02}", number + 1);
        let folder = out.join(&name);
        let mut experiment = variant.experiment.clone();
        let mut ledger = Ledger::of_run(&experiment, out, session.resume);
        if number > 0 {
            ledger = ledger.continued();
        }
        experiment.llm.cache.get_or_insert_with(|| out.join("responses.sqlite"));
        let trec = session.trec.map(|folder| folder.join(&name));
        let session = Session { trec: trec.as_deref(), ..session };
        let Some(Finished { report, folder: _held }) = one(number, &experiment, &folder, session, ledger)? else {
            return Ok(None);
        };
        ran.push(Ran { label: variant.label.clone(), folder, summary: report.summary.clone() });
        if variants.len() == 1 {
            write(out, &report).map_err(not_written)?;
        } else {
            overview.add(report).map_err(not_written)?;
        }
    }
    if variants.len() > 1 {
        overview.finish().map_err(not_written)?;
    }
    Ok(Some(ran))
}
