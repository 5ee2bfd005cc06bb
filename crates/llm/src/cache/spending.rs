use rusqlite::{Connection, OptionalExtension, Transaction, TransactionBehavior, params};

use super::store::{Cache, now};
use crate::error::LlmError;

/// Seconds after which a call of a session that says nothing more is taken to have ended without a word.
const LONGEST_CALL: i64 = 3600;

/// The price of a try.
#[derive(Debug, Clone, Copy, PartialEq)]
pub(crate) struct Charge {
    pub(crate) cost: f64,
    /// True where the server did not say what it used.
    pub(crate) estimated: bool,
}

impl Charge {
    pub(crate) const NOTHING: Self = Self { cost: 0.0, estimated: false };
}

/// The room that a budget has for a try.
#[derive(Debug, Clone, Copy, PartialEq)]
pub(crate) enum Room {
    /// It is set aside, in this line of the ledger.
    Reserved(Option<i64>),
    /// Calls under way hold what is needed.
    Held,
    /// Even if they cost nothing, there is too little.
    Lack {
        /// The sum that has been spent.
        spent: f64,
        /// The sum that calls under way have set aside.
        reserved: f64,
    },
}

impl Room {
    /// Returns the room for `most`, where that is in no ledger.
    pub(crate) fn of(spent: f64, reserved: f64, most: f64, limit: Option<f64>) -> Self {
        // Sums of fractions are off by their last digits.
        match limit.map(|limit| limit * (1.0 + 1e-12)) {
            Some(limit) if spent + most > limit => Self::Lack { spent, reserved },
            Some(limit) if spent + reserved + most > limit => Self::Held,
            _ => Self::Reserved(None),
        }
    }
}

/// The ledger: what runs have spent, and what their calls under way may cost. Each change is one transaction, so sessions
/// in several processes see each other's.
impl Cache {
    /// Returns what a run has paid, and the part of it that is an estimate.
    pub(crate) fn paid(&self, run: &str) -> Result<(f64, f64), LlmError> {
        sums(&self.connection(), run).map_err(self.failed())
    }

    /// Sets `most` aside for a try where the limit has room for it.
    pub(crate) fn reserve(&self, run: &str, most: f64, limit: Option<f64>) -> Result<Room, LlmError> {
        self.change(|ledger| {
            let before = now() - LONGEST_CALL;
            count(ledger, run, before)?;
            let (spent, _) = sums(ledger, run)?;
            let reserved: f64 = ledger.query_row(
                "SELECT total(amount) FROM reservations WHERE run = ?1 AND counted = 0",
                [run],
                |row| row.get(0),
            )?;
            let room = Room::of(spent, reserved, most, limit);
            if !matches!(room, Room::Reserved(_)) {
                return Ok(room);
            }
            ledger.execute(
                "INSERT INTO reservations (run, amount, since, counted) VALUES (?1, ?2, ?3, 0)",
                params![run, most, now()],
            )?;
            Ok(Room::Reserved(Some(ledger.last_insert_rowid())))
        })
    }

    /// Takes the reservation `id` of `most` back and adds the charge; returns the sums as [`paid`](Self::paid) does.
    pub(crate) fn settle(&self, run: &str, id: Option<i64>, most: f64, charge: Charge) -> Result<(f64, f64), LlmError> {
        self.change(|ledger| {
            let counted: Option<bool> = ledger
                .query_row(
                    "DELETE FROM reservations WHERE id = ?1 AND run = ?2 RETURNING counted",
                    params![id, run],
                    |row| row.get(0),
                )
                .optional()?;
            // Another session took this one for dead and has counted its most.
            if counted == Some(true) {
                add(ledger, run, Charge { cost: -most, estimated: true })?;
            }
            add(ledger, run, charge)?;
            sums(ledger, run)
        })
    }

    /// Counts what earlier sessions of a run had under way when they ended without a word.
    pub(crate) fn count_interrupted(&self, run: &str) -> Result<(), LlmError> {
        self.change(|ledger| count(ledger, run, i64::MAX))
    }

    /// Sets what a run has paid to nothing.
    pub(crate) fn forget_paid(&self, run: &str) -> Result<(), LlmError> {
        self.change(|ledger| {
            for table in ["spending", "estimates", "reservations"] {
                ledger.execute(&format!("DELETE FROM {table} WHERE run = ?1"), [run])?;
            }
            Ok(())
        })
    }

    /// Does `change` as one transaction, which has the file to itself from its beginning.
    fn change<T>(&self, change: impl FnOnce(&Transaction<'_>) -> rusqlite::Result<T>) -> Result<T, LlmError> {
        let mut connection = self.connection();
        let all = || {
            let transaction = connection.transaction_with_behavior(TransactionBehavior::Immediate)?;
            let result = change(&transaction)?;
            transaction.commit()?;
            Ok(result)
        };
        all().map_err(self.failed())
    }
}

fn sums(ledger: &Connection, run: &str) -> rusqlite::Result<(f64, f64)> {
    let sum = |query: &str| -> rusqlite::Result<f64> {
        let found: Option<f64> = ledger.prepare_cached(query)?.query_row([run], |row| row.get(0)).optional()?;
        // No figure of a damaged file makes a run rich.
        Ok(found.filter(|sum| sum.is_finite()).unwrap_or(0.0).max(0.0))
    };
    Ok((sum("SELECT paid FROM spending WHERE run = ?1")?, sum("SELECT amount FROM estimates WHERE run = ?1")?))
}

fn add(ledger: &Connection, run: &str, charge: Charge) -> rusqlite::Result<()> {
    let write = |query: &str| ledger.prepare_cached(query)?.execute(params![run, charge.cost]);
    if charge.cost != 0.0 {
        write("INSERT INTO spending VALUES (?1, ?2) ON CONFLICT (run) DO UPDATE SET paid = paid + excluded.paid")?;
        if charge.estimated {
            write(
                "INSERT INTO estimates VALUES (?1, ?2) ON CONFLICT (run) DO UPDATE SET amount = amount + excluded.amount",
            )?;
        }
    }
    Ok(())
}

/// Counts the reservations of `run` that were made before a time as spent. Their lines stay until their session, if it is
/// alive after all, settles them.
fn count(ledger: &Connection, run: &str, before: i64) -> rusqlite::Result<()> {
    let lost: f64 = ledger
        .prepare_cached("SELECT total(amount) FROM reservations WHERE run = ?1 AND counted = 0 AND since < ?2")?
        .query_row(params![run, before], |row| row.get(0))?;
    if lost > 0.0 {
        add(ledger, run, Charge { cost: lost, estimated: true })?;
        ledger.execute(
            "UPDATE reservations SET counted = 1 WHERE run = ?1 AND counted = 0 AND since < ?2",
            params![run, before],
        )?;
    }
    Ok(())
}
