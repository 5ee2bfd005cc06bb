//! Whether the numbers of a training's options are such that anything can be learnt with them.

use super::options::TrainError;

/// A number: its name, its value, whether it will do, and which ones do, in words.
pub(super) type Number<'a> = (&'a str, f64, bool, &'a str);

/// Which learning rates do.
pub(super) const RATE: &str = "above 0 and below 1";

pub(super) fn is_rate(rate: f64) -> bool {
    rate > 0.0 && rate < 1.0
}

/// The same where a part may stay as it is.
pub(super) const RATE_OR_REST: &str = "0 or above, and below 1";

pub(super) fn may_rest(rate: f64) -> bool {
    (0.0..1.0).contains(&rate)
}

/// Refuses the first that will not do.
pub(super) fn check_numbers(numbers: &[Number<'_>]) -> Result<(), TrainError> {
    match numbers.iter().find(|(_, _, fits, _)| !fits) {
        Some((name, value, _, which)) => Err(TrainError::Options(format!("{name} is {value}: {which}"))),
        None => Ok(()),
    }
}
