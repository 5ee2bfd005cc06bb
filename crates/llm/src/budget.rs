use std::ops::AddAssign;
use std::sync::{Arc, Mutex};

use serde::{Deserialize, Serialize};

use crate::cache::Cache;
use crate::error::LlmError;

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
    /// The price of the answers that were paid for now.
    pub paid: f64,
    /// Seconds of waiting for the answers that were asked for now.
    pub seconds: f64,
}

impl AddAssign for Spent {
    fn add_assign(&mut self, other: Self) {
        self.calls += other.calls;
        self.cached += other.cached;
        self.prompt_tokens += other.prompt_tokens;
        self.completion_tokens += other.completion_tokens;
        self.cost += other.cost;
        self.paid += other.paid;
        self.seconds += other.seconds;
    }
}

/// Counts money, and stops before more is spent than allowed. One budget serves all clients of a run.
///
/// A call reserves the most that it may cost before it is made, and gives back what it did not use. So spending stays
/// within the budget as far as prompts are counted rightly (give the model's `tokenizer`).
#[derive(Debug, Default)]
pub struct Budget {
    limit: Option<f64>,
    state: Mutex<State>,
    /// The cache that keeps what is spent, and the name of the run.
    ledger: Option<(Arc<Cache>, String)>,
}

#[derive(Debug, Default)]
struct State {
    spent: f64,
    reserved: f64,
}

impl Budget {
    /// Allows at most `limit`; `None`: no limit.
    #[must_use]
    pub fn new(limit: Option<f64>) -> Self {
        Self { limit, state: Mutex::default(), ledger: None }
    }

    /// Allows a run that may be interrupted at most `limit`. What it spends is written down in `cache` under the name of
    /// the `run`, call by call. With `resume`, what its earlier sessions spent counts; else it begins with nothing spent.
    ///
    /// # Errors
    /// [`LlmError::Cache`].
    pub fn of_run(limit: Option<f64>, cache: Arc<Cache>, run: &str, resume: bool) -> Result<Self, LlmError> {
        if !resume {
            cache.forget_paid(run)?;
        }
        let state = State { spent: cache.paid(run)?, reserved: 0.0 };
        Ok(Self { limit, state: Mutex::new(state), ledger: Some((cache, run.to_owned())) })
    }

    /// Returns what has been spent.
    #[must_use]
    pub fn spent(&self) -> f64 {
        self.state().spent
    }

    /// Returns the limit.
    #[must_use]
    pub fn limit(&self) -> Option<f64> {
        self.limit
    }

    /// Sets `most` aside for a call.
    ///
    /// # Errors
    /// [`LlmError::Budget`] where so much is not left.
    pub(crate) fn reserve(&self, most: f64) -> Result<Reserved<'_>, LlmError> {
        let mut state = self.state();
        let spent = state.spent + state.reserved;
        if let Some(budget) = self.limit
            && spent + most > budget
        {
            return Err(LlmError::Budget { budget, spent, next: most });
        }
        state.reserved += most;
        Ok(Reserved { budget: self, most, used: 0.0 })
    }

    fn state(&self) -> std::sync::MutexGuard<'_, State> {
        // Two numbers are never half written.
        self.state.lock().unwrap_or_else(std::sync::PoisonError::into_inner)
    }
}

/// Money set aside for one call; goes back when dropped, but for what was used.
pub(crate) struct Reserved<'a> {
    budget: &'a Budget,
    most: f64,
    used: f64,
}

impl Reserved<'_> {
    /// Counts `cost` as spent.
    ///
    /// # Errors
    /// [`LlmError::Cache`] where it cannot be written down.
    pub(crate) fn used(mut self, cost: f64) -> Result<(), LlmError> {
        self.used = cost;
        match &self.budget.ledger {
            Some((cache, run)) if cost > 0.0 => cache.add_paid(run, cost),
            _ => Ok(()),
        }
    }
}

impl Drop for Reserved<'_> {
    fn drop(&mut self) {
        let mut state = self.budget.state();
        state.reserved -= self.most;
        state.spent += self.used;
    }
}

#[cfg(test)]
#[allow(clippy::unwrap_used)]
mod tests {
    use super::Budget;

    #[test]
    fn reservations_count_until_they_are_settled() {
        let budget = Budget::new(Some(1.0));
        let first = budget.reserve(0.75).unwrap();
        assert!(budget.reserve(0.5).is_err());
        first.used(0.25).unwrap();
        assert_eq!(budget.spent(), 0.25);
        drop(budget.reserve(0.5).unwrap());
        assert_eq!(budget.spent(), 0.25);
        assert!(Budget::new(None).reserve(1e9).is_ok());
    }
}
