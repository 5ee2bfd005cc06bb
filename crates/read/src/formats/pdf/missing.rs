//! What of a file could not be read, in words.

use std::collections::BTreeSet;

/// Runs of pages that are named; the others are counted.
const MOST_RUNS: usize = 10;
/// Reasons that are named.
const MOST_REASONS: usize = 3;
/// Longest reason, in characters.
const LONGEST: usize = 200;

/// The pages that could not be read in full, and why.
#[derive(Debug, Default)]
pub(super) struct Missing {
    pages: BTreeSet<u32>,
    reasons: Vec<String>,
}

impl Missing {
    /// Page `page` could not be read in full because of `reason`.
    pub(super) fn add(&mut self, page: u32, reason: &str) {
        self.pages.insert(page);
        let reason: String = reason.chars().take(LONGEST).collect();
        if self.reasons.len() < MOST_REASONS && !self.reasons.contains(&reason) {
            self.reasons.push(reason);
        }
    }

    /// The reasons; `None` where everything could be read.
    pub(super) fn reasons(&self) -> Option<String> {
        (!self.reasons.is_empty()).then(|| self.reasons.join("; "))
    }

    /// A sentence on the pages of a file that has `count` of them; `None` where everything could be read.
    pub(super) fn words(&self, count: usize) -> Option<String> {
        let reasons = self.reasons()?;
        let pages = if self.pages.len() == 1 { "page" } else { "pages" };
        Some(format!("{pages} {} of {count} could not be read in full: {reasons}", self.runs()))
    }

    /// The pages: `3, 7-9`.
    fn runs(&self) -> String {
        let mut runs: Vec<(u32, u32)> = Vec::new();
        for &page in &self.pages {
            match runs.last_mut() {
                Some((_, last)) if *last + 1 == page => *last = page,
                _ => runs.push((page, page)),
            }
        }
        let more: u32 = runs.iter().skip(MOST_RUNS).map(|(first, last)| last - first + 1).sum();
        let name = |&(first, last): &(u32, u32)| {
            if first == last { first.to_string() } else { format!("{first}-{last}") }
        };
        let named = runs.iter().take(MOST_RUNS).map(name).collect::<Vec<_>>().join(", ");
        if more > 0 { format!("{named} and {more} more") } else { named }
    }
}

#[cfg(test)]
mod tests {
    use super::Missing;

    #[test]
    fn pages_are_told_in_runs() {
        let mut missing = Missing::default();
        assert_eq!((missing.words(9), missing.reasons()), (None, None));
        missing.add(3, "it broke");
        assert_eq!(missing.words(9).as_deref(), Some("page 3 of 9 could not be read in full: it broke"));
        for page in [8, 7, 9] {
            missing.add(page, "it fell");
        }
        let expected = "pages 3, 7-9 of 9 could not be read in full: it broke; it fell";
        assert_eq!(missing.words(9).as_deref(), Some(expected));
        for page in (11..60).step_by(2) {
            missing.add(page, &"x".repeat(999));
        }
        let words = missing.words(99).unwrap_or_default();
        assert!(words.contains(" 25 and 17 more of 99 ") && words.len() < 500, "{words}");
    }
}
