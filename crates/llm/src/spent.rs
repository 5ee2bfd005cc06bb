use std::ops::AddAssign;

use serde::{Deserialize, Serialize};

/// The tokens, the money and the time that calls have used. Sums add up.
#[derive(Debug, Clone, Copy, PartialEq, Default, Serialize, Deserialize)]
pub struct Spent {
    /// The number of answers, cached ones included.
    pub calls: u64,
    /// The number of answers that came from the cache.
    pub cached: u64,
    /// Tokens read, for all answers.
    pub prompt_tokens: u64,
    /// Tokens written, for all answers.
    pub completion_tokens: u64,
    /// The price of all answers, whether they were paid for now or by an earlier run.
    pub cost: f64,
    /// The price of the answers that were paid for now, with the tries that broke off on the way to them.
    pub paid: f64,
    /// Seconds of waiting for the answers that were asked for now.
    pub seconds: f64,
}

impl AddAssign for Spent {
    fn add_assign(&mut self, other: Self) {
        self.calls = self.calls.saturating_add(other.calls);
        self.cached = self.cached.saturating_add(other.cached);
        self.prompt_tokens = self.prompt_tokens.saturating_add(other.prompt_tokens);
        self.completion_tokens = self.completion_tokens.saturating_add(other.completion_tokens);
        self.cost += other.cost;
        self.paid += other.paid;
        self.seconds += other.seconds;
    }
}

#[cfg(test)]
mod tests {
    use super::Spent;

    #[test]
    fn sums_end_at_the_highest_number() {
        let mut sum = Spent { prompt_tokens: u64::MAX, completion_tokens: 1, ..Spent::default() };
        sum += Spent { prompt_tokens: 1, completion_tokens: u64::MAX, calls: 1, ..Spent::default() };
        assert_eq!((sum.prompt_tokens, sum.completion_tokens, sum.calls), (u64::MAX, u64::MAX, 1));
    }
}
