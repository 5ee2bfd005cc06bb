//! The scores by kind of question: what is best for whole sections need not be best for single facts.

use std::collections::{BTreeMap, HashMap};
use std::path::Path;

use pericope_eval::data::SquadFile;
use pericope_eval::format::{count, decimal};
use pericope_eval::record::{ITEMS, ItemReader, Status, Summary};
use pericope_util::read_text;
use serde::Serialize;

use crate::resources::shown;
use crate::status::Failure;

/// One kind of question, at the setting that decides.
#[derive(Debug, Serialize)]
pub struct OfKind {
    /// `heading`, `terms` and so on.
    pub kind: String,
    /// Questions of this kind.
    pub questions: usize,
    /// The mean of each chunker, in the metric that decides.
    pub means: BTreeMap<String, f64>,
}

/// The means by kind, in the order of their names; none where the file names no kinds, or nothing was decided.
pub fn by_kind(questions: &Path, run: &Path, summary: &Summary) -> Result<Vec<OfKind>, Failure> {
    let Some(primary) = summary.verdict.as_ref().map(|verdict| &verdict.primary) else { return Ok(Vec::new()) };
    let text = read_text(questions).map_err(|e| Failure::runtime(format!("{}: {e}", shown(questions))))?;
    // A file with articles that cannot be read was run all the same: it has no table by kind.
    let Ok(file) = serde_json::from_str::<SquadFile>(&text) else { return Ok(Vec::new()) };
    let qas = file.data.into_iter().flat_map(|article| article.paragraphs).flat_map(|paragraph| paragraph.qas);
    let kinds: HashMap<String, String> = qas.filter_map(|qa| Some((qa.id, qa.kind?))).collect();
    let mut sums: BTreeMap<&str, BTreeMap<String, (f64, usize)>> = BTreeMap::new();
    for item in ItemReader::open(&run.join(ITEMS)).map_err(Failure::runtime)? {
        let (item, _) = item.map_err(Failure::runtime)?;
        if item.mode != primary.mode || item.cutoff != primary.cutoff {
            continue;
        }
        // As in every mean: what a failed item has no value of is the worst there is.
        let failed = (item.status == Status::Failed).then_some(primary.metric.range().0);
        let value = item.metrics.get(&primary.metric).copied().or(failed).filter(|value| value.is_finite());
        if let (Some(kind), Some(value)) = (kinds.get(&item.question_id), value) {
            let sum = sums.entry(kind).or_default().entry(item.chunker).or_default();
            *sum = (sum.0 + value, sum.1 + 1);
        }
    }
    Ok((sums.into_iter())
        .map(|(kind, sums)| OfKind {
            kind: kind.to_owned(),
            questions: sums.values().map(|(_, n)| *n).max().unwrap_or(0),
            means: sums.into_iter().map(|(chunker, (sum, n))| (chunker, sum / n as f64)).collect(),
        })
        .collect())
}

/// The table of the means, with what is highest in each column marked.
pub fn table(kinds: &[OfKind], summary: &Summary) -> String {
    let metric = summary.verdict.as_ref().map(|verdict| verdict.primary.metric.label()).unwrap_or_default();
    let name = summary.chunkers.iter().map(|row| row.name.chars().count()).max().unwrap_or(0);
    let mut out =
        format!("{metric}, %, by kind of question; *: the highest of its kind, which may be chance\n{:name$}", "");
    let heads: Vec<String> = kinds.iter().map(|kind| format!("{} ({})", kind.kind, count(kind.questions))).collect();
    heads.iter().for_each(|head| out.push_str(&format!("  {head:>width$}", width = head.len().max(6))));
    for row in &summary.chunkers {
        out.push_str(&format!("\n{:name$}", row.name));
        for (kind, head) in kinds.iter().zip(&heads) {
            let shown = kind.means.get(&row.name).map_or_else(
                || "-".to_owned(),
                |mean| {
                    let is_best = kind.means.values().all(|other| other <= mean);
                    format!("{}{}", if is_best { "*" } else { "" }, decimal(100.0 * mean, 1))
                },
            );
            out.push_str(&format!("  {shown:>width$}", width = head.len().max(6)));
        }
    }
    out
}
