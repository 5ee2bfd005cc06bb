//! Two nights beside each other: which questions pair up, what the scores did, and what else was different.

mod changes;
mod differences;
mod flips;
mod pairing;

pub use changes::{Changes, Listing};
pub(crate) use differences::compared;
pub use differences::{Difference, differences};
pub(crate) use flips::run_folder;
pub use flips::{DiffSide, QuestionDiff, QuestionDiffs, flips};
pub use pairing::Pairing;

use super::night::NightlyRun;
use pericope_eval::metric::Metric;

/// A night, and an earlier one that it is compared with.
#[derive(Debug, Clone)]
pub struct Compared {
    /// The earlier night.
    pub before: NightlyRun,
    /// Which questions pair up.
    pub pairing: Pairing,
    /// Every cell's metrics on those questions.
    pub differences: Vec<Difference>,
}

impl Compared {
    /// Compares by the given metrics; `alpha` is the least p-value below which a fall counts for a gate.
    #[must_use]
    pub fn new(before: NightlyRun, tonight: &NightlyRun, metrics: &[Metric], alpha: f64, seed: u64) -> Self {
        let pairing = Pairing::between(&before, tonight);
        let differences = differences(&before, tonight, &pairing, metrics, alpha, seed);
        Self { before, pairing, differences }
    }
}
