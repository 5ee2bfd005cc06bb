use super::error::RerankerSpecError;
use super::spec::RerankerSpec;

/// A spec's settings while a reranker is built from them, with the checks and messages that all share.
pub struct RerankerArgs<'a>(pub(super) &'a RerankerSpec);

impl<'a> RerankerArgs<'a> {
    /// Returns a setting as it is written.
    #[must_use]
    pub fn get(&self, key: &str) -> Option<&'a str> {
        self.0.get(key)
    }

    /// Returns a whole number of at least `least`, if it is given.
    ///
    /// # Errors
    /// [`RerankerSpecError::BadValue`] for anything else.
    pub fn maybe_count(&self, key: &str, least: usize) -> Result<Option<usize>, RerankerSpecError> {
        let Some(text) = self.get(key) else { return Ok(None) };
        let number = text.parse().ok().filter(|number| *number >= least);
        number.map(Some).ok_or_else(|| self.bad(key, text, &format!("a whole number of at least {least}")))
    }

    /// Returns a number in `range`, or `default`.
    ///
    /// # Errors
    /// [`RerankerSpecError::BadValue`] for anything else.
    pub fn number(
        &self,
        key: &str,
        default: f64,
        range: std::ops::RangeInclusive<f64>,
    ) -> Result<f64, RerankerSpecError> {
        let Some(text) = self.get(key) else { return Ok(default) };
        let number = text.parse().ok().filter(|number| range.contains(number));
        number.ok_or_else(|| self.bad(key, text, &format!("a number from {} to {}", range.start(), range.end())))
    }

    /// Returns an error about a value.
    #[must_use]
    pub fn bad(&self, key: &str, value: &str, expected: &str) -> RerankerSpecError {
        RerankerSpecError::BadValue {
            name: self.0.name().to_owned(),
            key: key.to_owned(),
            value: value.to_owned(),
            expected: expected.to_owned(),
        }
    }

    /// Returns an error about something that is missing.
    #[must_use]
    pub fn unavailable(&self, reason: String) -> RerankerSpecError {
        RerankerSpecError::Unavailable { spec: self.0.shown(), reason }
    }
}
