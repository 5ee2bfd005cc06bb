//! `junit.xml`, `badge.svg` and `metrics.prom`: the comparison for continuous integration, pages and monitoring.

use pericope_eval::config::Experiment;
use pericope_eval::format;
use pericope_eval::outputs::{Colour, OpenMetrics, Outcome, Suite, TestCase, badge, junit, run_figures};
use pericope_eval::record::Summary;

use super::own::Own;
use crate::session::failed_share;
use crate::status::Failure;

const JUNIT: &str = "junit.xml";
const BADGE: &str = "badge.svg";
const METRICS: &str = "metrics.prom";

/// The files, all of which the command may write again.
pub const FILES: [&str; 3] = [JUNIT, BADGE, METRICS];

/// A comparison that is done.
pub struct Done<'a> {
    pub summary: &'a Summary,
    pub experiment: &'a Experiment,
    /// Files that could not be read.
    pub skipped: usize,
    /// When it began (RFC 3339).
    pub started: &'a str,
    pub seconds: f64,
}

/// Writes them into the folder of the comparison.
pub fn write(own: &mut Own, done: &Done<'_>) -> Result<(), Failure> {
    let cases = cases(done);
    let suite = Suite { name: "pericope compare", started: done.started, seconds: done.seconds, cases: &cases };
    own.write(JUNIT, &junit(&suite))?;
    let (message, colour) = verdict(done.summary);
    own.write(BADGE, &badge("chunker", &message, colour))?;
    let mut figures = OpenMetrics::default();
    run_figures(&mut figures, done.summary);
    own.write(METRICS, &figures.finish())
}

/// What the exit status says, as two test cases. Which chunker is best is no matter of right and wrong.
fn cases(done: &Done<'_>) -> Vec<TestCase> {
    let (limit, share) = (done.experiment.limits.max_failed, failed_share(done.summary));
    let case = |name: &str, fails: bool, says: String, value: String| TestCase {
        name: name.to_owned(),
        class: "compare".to_owned(),
        outcome: if fails { Outcome::Failed(says) } else { Outcome::Passed },
        properties: vec![("value", value)],
    };
    let plain = |text: String| text.replace('\u{a0}', " ");
    let unread = format!("{} could not be read", format::plural(done.skipped, "file"));
    let failed = plain(format!(
        "{} failed: {}, {} allowed",
        format::plural(done.summary.failed, "item"),
        format::percent(share),
        format::percent(limit)
    ));
    let mut cases = vec![
        case("files that could not be read", done.skipped > 0, unread, done.skipped.to_string()),
        case("items without a result", share > limit, failed, share.to_string()),
    ];
    let left_out = done.summary.left_out;
    if left_out > 0 {
        let says = plain(format!("{} of the data could not be used", format::plural(left_out, "part")));
        cases.push(case("questions that were left out", true, says, left_out.to_string()));
    }
    cases
}

/// What is recommended, and its score.
fn verdict(summary: &Summary) -> (String, Colour) {
    let Some(verdict) = &summary.verdict else { return ("nothing was compared".to_owned(), Colour::Red) };
    let (primary, name) = (&verdict.primary, &verdict.recommended);
    let cell = summary.cells.iter().find(|cell| cell.chunker == *name && cell.setting() == primary.setting());
    let score = cell.and_then(|cell| cell.metrics.get(&primary.metric));
    let message = match score {
        Some(score) => format!("{name}: {} {}", primary.metric.label(), primary.metric.unit().value(*score)),
        None => name.clone(),
    };
    (message.replace('\u{a0}', " "), Colour::Blue)
}
