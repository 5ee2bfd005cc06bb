use std::ops::AddAssign;
use std::sync::{Arc, Mutex};

use serde::{Deserialize, Serialize};

use crate::cache::Cache;
use crate::error::LlmError;

/// What calls have used; adds up.
#[derive(Debug, Clone, Copy, PartialEq, Default, Serialize, Deserialize)]
pub struct Spent {
    /// Answers, cached ones included.
    pub calls: u64,
    /// Answers that came from the cache.
    pub cached: u64,
    /// Tokens read, for all answers.
    pub prompt_tokens: u64,
    /// Tokens written, for all answers.
    pub completion_tokens: u64,
    /// What all answers cost at the configured price, whether they were paid for now or by an earlier run.
    pub cost: f64,
    /// What was paid for now.
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

/// What requests that have not been made would use.
#[derive(Debug, Clone, Copy, PartialEq, Default, Serialize, Deserialize)]
pub struct Estimate {
    /// Requests.
    pub requests: u64,
    /// Requests whose answer is in the cache: they cost nothing.
    pub cached: u64,
    /// Tokens that the others would read, estimated.
    pub prompt_tokens: u64,
    /// Most tokens that they may write.
    pub max_completion_tokens: u64,
    /// Cost of the tokens read: no run is cheaper.
    pub cost_at_least: f64,
    /// Cost where every answer is as long as it may be.
    pub cost_at_most: f64,
}

impl AddAssign for Estimate {
    fn add_assign(&mut self, other: Self) {
        self.requests += other.requests;
        self.cached += other.cached;
        self.prompt_tokens += other.prompt_tokens;
        self.max_completion_tokens += other.max_completion_tokens;
        self.cost_at_least += other.cost_at_least;
        self.cost_at_most += other.cost_at_most;
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
    /// Where what is spent is written down, and under which name.
    ledger: Option<(Arc<Cache>, String)>,
}

#[derive(Debug, Default)]
struct State {
    spent: f64,
    reserved: f64,
}

impl Budget {
    /// At most `limit`; `None`: no limit.
    #[must_use]
    pub fn new(limit: Option<f64>) -> Self {
        Self { limit, state: Mutex::default(), ledger: None }
    }

    /// The same for a run that may be interrupted: what it spends is written down in `cache` under the name of the `run`,
    /// call by call. Where it `goes_on`, what its earlier sittings spent counts; else it begins with nothing spent.
    ///
    /// # Errors
    /// [`LlmError::Cache`].
    pub fn of_run(limit: Option<f64>, cache: Arc<Cache>, run: &str, goes_on: bool) -> Result<Self, LlmError> {
        if !goes_on {
            cache.forget_paid(run)?;
        }
        let state = State { spent: cache.paid(run)?, reserved: 0.0 };
        Ok(Self { limit, state: Mutex::new(state), ledger: Some((cache, run.to_owned())) })
    }

    /// What has been spent.
    #[must_use]
    pub fn spent(&self) -> f64 {
        self.state().spent
    }

    /// What may be spent.
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
