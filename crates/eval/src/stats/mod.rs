//! Paired statistics: chunkers are compared on the same questions, and the documents are the units.
//!
//! Questions of one document share its cuts, so they are not independent: documents are drawn for the intervals, and signs
//! are flipped by document for the p-values. Where every question has a document of its own this is the same as by
//! question. What is chosen where there is a choice:
//!
//! | what | how |
//! | --- | --- |
//! | estimate | mean over the questions: sum of the documents' sums over the number of questions |
//! | interval | 10,000 resamples of documents; percentile from 40 documents on, BCa under 40, both expanded by Student's t ([`Interval`]) |
//! | p-value | exact up to 13 documents that differ, else random sign patterns, as many as the family needs, stopped where p is plainly large ([`permutation_p`]) |
//! | several comparisons | Holm, within one family only ([`holm`]) |
//! | which may be the best | the model confidence set at 90 %, with signs flipped by document ([`confidence_set`]) |
//! | no difference | two one-sided tests ([`equivalent`]) |
//! | what a sample can show | variance by document, level after correction, power 80 % ([`detectable`], [`documents_needed`]) |
//!
//! ```
//! use pericope_eval::stats::compare;
//!
//! let (a, b) = ([0.9, 0.7, 0.8, 1.0, 0.6, 0.9], [0.5, 0.7, 0.4, 0.8, 0.5, 0.3]);
//! let paired = compare(&a, &b, 7).ok_or("no question in common")?;
//! assert!((paired.difference - 1.7 / 6.0).abs() < 1e-12);
//! assert_eq!((paired.wins, paired.ties, paired.losses), (5, 1, 0));
//! // Five differences that are not zero: the exact test cannot go below 2 of 32 sign patterns.
//! assert_eq!(paired.p, 2.0 / 32.0);
//! # Ok::<(), &str>(())
//! ```

mod best;
mod bootstrap;
mod cheapest;
mod clusters;
mod correlation;
mod draws;
mod family;
mod leave_out;
mod normal;
mod paired;
mod permutation;
mod power;
mod table;

pub use best::{SET_LEVEL, confidence_set, p_best};
pub(crate) use bootstrap::quantile;
pub use bootstrap::{Interval, bootstrap_interval, interval_by};
pub use cheapest::{Standing, cheapest_as_good};
pub use clusters::{Clustered, numbered, standard_error};
pub use correlation::{pearson, spearman};
pub(crate) use draws::below;
pub use draws::{Draws, EXACT_UP_TO, Flips, RESAMPLES};
pub use family::holm;
pub use leave_out::{LeaveOneOut, leave_one_out};
pub use paired::{ALPHA, Paired, compare, compare_by, counted, equivalent};
pub use permutation::{permutation_p, resamples_for, smallest_p, smallest_p_of};
pub use power::{detectable, documents_needed};
pub use table::{Replicates, Table};

/// Mean; 0 of nothing.
fn mean(values: &[f64]) -> f64 {
    values.iter().sum::<f64>() / values.len().max(1) as f64
}
