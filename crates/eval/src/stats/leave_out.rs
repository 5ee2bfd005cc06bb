//! Whether a difference hangs on one document.

use std::collections::BTreeMap;

use serde::{Deserialize, Serialize};

use super::mean;

/// What a mean difference comes to when the questions of any one document are left out.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
pub struct LeaveOneOut {
    /// Lowest mean difference over all documents left out.
    pub low: f64,
    /// Highest.
    pub high: f64,
    /// The document whose questions move the mean furthest.
    pub document: String,
}

/// Leaves out each document's questions in turn. `documents[i]` is where the answer to question i stands. `None` with
/// fewer than two documents, or lists of different lengths.
#[must_use]
pub fn leave_one_out(differences: &[f64], documents: &[&str]) -> Option<LeaveOneOut> {
    if differences.len() != documents.len() {
        return None;
    }
    let mut groups: BTreeMap<&str, (f64, usize)> = BTreeMap::new();
    for (difference, document) in differences.iter().zip(documents) {
        let group = groups.entry(document).or_default();
        *group = (group.0 + difference, group.1 + 1);
    }
    let (sum, n) = (differences.iter().sum::<f64>(), differences.len());
    let all = mean(differences);
    let without = |(left_out, count): (f64, usize)| (sum - left_out) / (n - count).max(1) as f64;
    let first = groups.iter().filter(|_| groups.len() > 1);
    let moved = first.map(|(document, group)| (*document, without(*group)));
    moved
        .fold(None, |found: Option<(LeaveOneOut, f64)>, (document, value)| {
            let away = (value - all).abs();
            let document = document.to_owned();
            Some(match found {
                None => (LeaveOneOut { low: value, high: value, document }, away),
                Some((before, furthest)) => (
                    LeaveOneOut {
                        low: before.low.min(value),
                        high: before.high.max(value),
                        document: if away > furthest { document } else { before.document },
                    },
                    furthest.max(away),
                ),
            })
        })
        .map(|(found, _)| found)
}

#[cfg(test)]
mod tests {
    #![allow(clippy::unwrap_used)]
    use super::*;

    #[test]
    fn one_document_may_carry_a_difference() {
        let differences = [0.0, 0.1, -0.1, 0.8, 0.7, 0.0];
        let documents = ["a", "b", "b", "c", "c", "d"];
        let found = leave_one_out(&differences, &documents).unwrap();
        assert_eq!(found.document, "c");
        assert!(found.low.abs() < 1e-12);
        assert!((found.high - 1.5 / 4.0).abs() < 1e-12, "without b: {}", found.high);
        assert_eq!(leave_one_out(&differences, &["a"; 6]), None);
        assert_eq!(leave_one_out(&differences, &["a"]), None);
    }
}
