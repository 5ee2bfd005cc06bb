use std::cell::Cell;

use crate::budget::{Budget, Reserved};
use crate::cache::Charge;
use crate::config::Price;
use crate::error::LlmError;
use crate::request::Usage;

/// What the tries of one call may cost, and what they have cost.
///
/// A [`Provider`](crate::Provider) begins each try with [`begin`](Account::begin) and says at its end what came of it. A try
/// of which nothing is said is free.
#[derive(Debug)]
pub struct Account<'a> {
    budget: &'a Budget,
    price: Option<Price>,
    /// The most that a try may cost.
    most: f64,
    paid: Cell<f64>,
}

/// One try of a call, with the money that is set aside for it.
#[derive(Debug)]
pub struct Attempt<'a> {
    account: &'a Account<'a>,
    reserved: Reserved<'a>,
}

impl<'a> Account<'a> {
    /// Opens the account of a call that reads at most `prompt` tokens and writes at most `completion`.
    #[must_use]
    pub fn new(budget: &'a Budget, price: Option<Price>, prompt: u64, completion: u64) -> Self {
        let most = price.map_or(0.0, |price| price.of(prompt, completion));
        Self { budget, price, most, paid: Cell::new(0.0) }
    }

    /// Sets aside what a try may cost. Waits while other calls hold it.
    ///
    /// # Errors
    /// [`LlmError::Budget`] where so much is not left; [`LlmError::Cache`].
    pub fn begin(&self) -> Result<Attempt<'_>, LlmError> {
        Ok(Attempt { account: self, reserved: self.budget.reserve(self.most)? })
    }

    /// Returns what all tries so far have cost.
    #[must_use]
    pub fn paid(&self) -> f64 {
        self.paid.get()
    }
}

impl Attempt<'_> {
    /// Charges what the model used.
    ///
    /// # Errors
    /// [`LlmError::Cache`] where it cannot be written down.
    pub fn used(self, usage: Usage) -> Result<(), LlmError> {
        let cost = self.account.price.map_or(0.0, |price| price.of(usage.prompt, usage.completion));
        self.charge(Charge { cost, estimated: usage.estimated })
    }

    /// Charges the most that the try may have cost: the server has begun to answer, or may have, and nobody knows what it
    /// used. It is counted as an estimate.
    ///
    /// # Errors
    /// [`LlmError::Cache`] where it cannot be written down.
    pub fn lost(self) -> Result<(), LlmError> {
        let cost = self.reserved.most();
        self.charge(Charge { cost, estimated: true })
    }

    fn charge(self, charge: Charge) -> Result<(), LlmError> {
        self.account.paid.set(self.account.paid.get() + charge.cost);
        self.reserved.settle(charge)
    }
}
