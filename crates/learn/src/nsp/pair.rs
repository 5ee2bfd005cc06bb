//! Two sentences as one sequence.

/// The ids of `[CLS] first [SEP] second [SEP]`, at most `limit` of them (at least 3), and the place where the second
/// sentence, and segment type 1 with it, begins.
///
/// Of a pair that is too long the longer sentence is cut off at its end until both are of one length, then both are
/// (`longest_first`, as in Hugging Face's tokenizers: of an odd number of tokens the sentence that was longer keeps one
/// more, and of two of one length the second).
///
/// ```
/// let (ids, second) = pericope_learn::nsp::pair(&[5, 6, 7, 8], &[9], 7, (1, 2));
/// assert_eq!((ids, second), (vec![1, 5, 6, 7, 2, 9, 2], 5));
/// ```
#[must_use]
pub fn pair(first: &[u32], second: &[u32], limit: usize, (start, end): (u32, u32)) -> (Vec<u32>, usize) {
    let (a, b) = lengths(first.len(), second.len(), limit.saturating_sub(3));
    let mut ids = Vec::with_capacity(a + b + 3);
    ids.push(start);
    ids.extend(first.iter().take(a));
    ids.push(end);
    let place = ids.len();
    ids.extend(second.iter().take(b));
    ids.push(end);
    (ids, place)
}

/// Returns what is kept of two lengths within a budget.
pub(crate) fn lengths(first: usize, second: usize, budget: usize) -> (usize, usize) {
    let half = budget / 2;
    match (first, second) {
        (a, b) if a.saturating_add(b) <= budget => (a, b),
        (a, b) if a <= b && a <= half => (a, budget - a),
        (a, b) if b < a && b <= half => (budget - b, b),
        (a, b) if a > b => (budget - half, half),
        _ => (half, budget - half),
    }
}

#[cfg(test)]
mod tests {
    use proptest::prelude::*;

    use super::lengths;

    /// The lengths that Hugging Face's tokenizers (BERT's, `truncation=True`, `max_length` the budget and 3) keep.
    #[test]
    fn lengths_by_hand() {
        for (given, budget, kept) in [
            ((3, 4), 7, (3, 4)),
            ((30, 4), 10, (6, 4)),
            ((4, 30), 10, (4, 6)),
            ((30, 30), 10, (5, 5)),
            ((30, 30), 11, (5, 6)),
            ((31, 30), 11, (6, 5)),
            ((30, 31), 11, (5, 6)),
            ((6, 5), 10, (5, 5)),
            ((0, 9), 4, (0, 4)),
            ((9, 9), 0, (0, 0)),
        ] {
            assert_eq!(lengths(given.0, given.1, budget), kept, "{given:?} in {budget}");
        }
    }

    proptest! {
        #[test]
        fn nothing_is_lost_that_fits(a in 0usize..60, b in 0usize..60, budget in 0usize..80) {
            let (x, y) = lengths(a, b, budget);
            prop_assert!(x <= a && y <= b);
            prop_assert_eq!(x + y, (a + b).min(budget));
            // The longer one gives first.
            prop_assert!((x == a || x + 1 >= y) && (y == b || y + 1 >= x));
        }
    }
}
