use std::fmt;

use serde::{Deserialize, Serialize};

/// What a language model was asked while documents were cut, or their chunks placed in context, and what came of it.
#[derive(Debug, Clone, Copy, PartialEq, Default, Serialize, Deserialize)]
pub struct ModelUse {
    /// The number of things that it was asked about: groups of passages, or chunks.
    pub asked: u64,
    /// Those that had to be asked about once more, since the first reply could not be used.
    pub repaired: u64,
    /// Those without a usable reply: a rule stands in for it.
    pub failed: u64,
    /// Replies, those of the cache included.
    pub calls: u64,
    /// Replies that came from the cache.
    pub cached: u64,
    /// Tokens read, for all replies.
    pub prompt_tokens: u64,
    /// Tokens written, for all replies.
    pub completion_tokens: u64,
    /// The price of all replies, whether they were paid for now or by an earlier run.
    pub price: f64,
}

impl ModelUse {
    /// Returns what came on top of an earlier state.
    #[must_use]
    pub fn since(self, before: Self) -> Self {
        Self {
            asked: self.asked.saturating_sub(before.asked),
            repaired: self.repaired.saturating_sub(before.repaired),
            failed: self.failed.saturating_sub(before.failed),
            calls: self.calls.saturating_sub(before.calls),
            cached: self.cached.saturating_sub(before.cached),
            prompt_tokens: self.prompt_tokens.saturating_sub(before.prompt_tokens),
            completion_tokens: self.completion_tokens.saturating_sub(before.completion_tokens),
            price: self.price - before.price,
        }
    }
}

impl std::ops::AddAssign for ModelUse {
    fn add_assign(&mut self, other: Self) {
        // A server may name any number of tokens.
        self.asked = self.asked.saturating_add(other.asked);
        self.repaired = self.repaired.saturating_add(other.repaired);
        self.failed = self.failed.saturating_add(other.failed);
        self.calls = self.calls.saturating_add(other.calls);
        self.cached = self.cached.saturating_add(other.cached);
        self.prompt_tokens = self.prompt_tokens.saturating_add(other.prompt_tokens);
        self.completion_tokens = self.completion_tokens.saturating_add(other.completion_tokens);
        self.price += other.price;
    }
}

/// `3 asked, 1 of them twice, 0 without a usable reply; 4 replies (2 from the cache), 900 tokens read and 20 written`
impl fmt::Display for ModelUse {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(
            f,
            "{} asked, {} of them twice, {} without a usable reply; {} replies ({} from the cache), {} tokens read and {} \
             written",
            self.asked, self.repaired, self.failed, self.calls, self.cached, self.prompt_tokens, self.completion_tokens
        )
    }
}

#[cfg(test)]
mod tests {
    use super::ModelUse;

    #[test]
    fn sums_are_said_in_one_line() {
        let mut sum = ModelUse { asked: 2, calls: 3, repaired: 1, prompt_tokens: u64::MAX, ..ModelUse::default() };
        sum +=
            ModelUse { asked: 1, calls: 1, cached: 1, failed: 1, prompt_tokens: 7, price: 0.5, ..ModelUse::default() };
        assert_eq!((sum.asked, sum.calls, sum.prompt_tokens, sum.price), (3, 4, u64::MAX, 0.5));
        let before = ModelUse { asked: 2, price: 0.25, ..ModelUse::default() };
        assert_eq!((sum.since(before).asked, sum.since(before).calls, sum.since(before).price), (1, 4, 0.25));
        let said = sum.to_string();
        assert!(
            said.starts_with("3 asked, 1 of them twice, 1 without a usable reply; 4 replies (1 from the cache)"),
            "{said}"
        );
    }
}
