//! Probabilities from log-odds.

/// Log-odds, in single or in double precision.
pub(crate) trait LogOdds {
    /// See [`probability`].
    fn probability(self) -> Self;
}

macro_rules! log_odds {
    ($($number:ty),*) => {
        $(impl LogOdds for $number {
            #[inline]
            fn probability(self) -> Self {
                1.0 / (1.0 + (-self).exp())
            }
        })*
    };
}
log_odds!(f32, f64);

/// The logistic function: 1 / (1 + exp(-x)), in the precision that it is given. Tensors and vectors of the processor have their own.
#[inline]
pub(crate) fn probability<T: LogOdds>(odds: T) -> T {
    odds.probability()
}

#[cfg(test)]
mod tests {
    use super::probability;

    #[test]
    fn log_odds_become_probabilities_in_either_precision() {
        assert_eq!((probability(0.0f32), probability(0.0f64)), (0.5, 0.5));
        assert_eq!((probability(-900.0f64), probability(900.0f64)), (0.0, 1.0));
        assert_eq!((probability(f32::NEG_INFINITY), probability(f32::INFINITY)), (0.0, 1.0));
        assert!((probability(3f64.ln()) - 0.75).abs() < 1e-15 && (probability(3f32.ln()) - 0.75).abs() < 1e-6);
        assert!(probability(f32::NAN).is_nan() && probability(f64::NAN).is_nan());
    }
}
